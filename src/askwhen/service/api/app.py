"""The application: a desk behind a door."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import msgspec
from litestar import Litestar
from litestar.exceptions import HTTPException
from litestar.openapi.config import OpenAPIConfig

import askwhen

from ...errors import AskwhenError
from ..desk import Desk
from ..page import routes as page_routes
from ..page.history import recording
from ..page.today import Days
from . import health_routes, instance_routes, out_routes, question_routes, stream_routes, token_routes
from .description import described
from .door import Door
from .options import Options
from .problems import answered

_HANDLED: tuple[type[Exception], ...] = (
    AskwhenError,
    HTTPException,
    RecursionError,
    UnicodeError,
    msgspec.MsgspecError,
    Exception,
)


def create_app(started: Callable[[], Desk], options: Options) -> Litestar:
    """The service as an ASGI application.

    Parameters
    ----------
    started : callable
        Gives the desk, which has recovered everything; it is closed at the end.
    options : Options
        Limits and manners.
    """

    @asynccontextmanager
    async def life(app: Litestar) -> AsyncIterator[None]:
        desk = started()
        app.state.door = Door(desk, options)
        app.state.days = Days()
        try:
            async with recording(desk) as app.state.history:
                yield
        finally:
            await desk.close()

    app = Litestar(
        route_handlers=[
            stream_routes.router,
            instance_routes.played,
            question_routes.router,
            token_routes.router,
            *out_routes.handlers,
            *health_routes.handlers,
            *page_routes.handlers,
        ],
        lifespan=[life],
        exception_handlers=dict.fromkeys(_HANDLED, answered),
        openapi_config=OpenAPIConfig(
            title="askwhen", version=askwhen.__version__, path="/framework", render_plugins=[]
        ),
        request_max_body_size=options.largest_body,
        logging_config=None,
        debug=False,
    )
    app.state.description = described(app.openapi_schema.to_schema())
    return app
