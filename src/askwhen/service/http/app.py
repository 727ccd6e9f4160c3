"""The ASGI application: routes, middleware, and background tasks around a coordinator."""

from __future__ import annotations

import warnings
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

import msgspec
from litestar import Litestar
from litestar.exceptions import HTTPException, LitestarDeprecationWarning
from litestar.openapi.config import OpenAPIConfig

import askwhen

from ...errors import AskwhenError
from ..runtime.background import run_in_background
from ..runtime.coordinator import Coordinator
from ..use_cases.accuracy_history import recording
from ..use_cases.adviser_reports import AdviserReports
from ..use_cases.erasing import retain
from ..use_cases.label_studio.inbox import receiving
from ..use_cases.listing import Listings
from ..use_cases.recent_activity import RecentActivity
from ..use_cases.steady_figures import SteadyFigures
from ..use_cases.webhook_delivery.addresses import networks_of
from ..use_cases.webhook_delivery.alarms import watch
from ..use_cases.webhook_delivery.delivery import delivering
from ..use_cases.webhook_delivery.queue_alarms import watch_queues
from .authorization import Authorization
from .middleware.body_timeout import BodyTimeout
from .middleware.fast_path import FastPath
from .middleware.request_metrics import RequestCounts, RequestMonitor, RequestRecorder
from .middleware.root_path import RootPath, checked_root
from .middleware.security_headers import SecurityHeaders
from .middleware.tracing import Spans
from .monitoring.database_probe import Probe
from .monitoring.metrics import Metrics
from .openapi import described
from .openid.provider import Provider
from .options import Options
from .parquet_unpacker import Unpacker
from .problems import answered
from .request_checks import admit
from .routes import audit as audit_routes
from .routes import backlog as backlog_routes
from .routes import browse as browse_routes
from .routes import exports as export_routes
from .routes import gold as gold_routes
from .routes import health as health_routes
from .routes import imports as import_routes
from .routes import instances as instance_routes
from .routes import invitations as invitation_routes
from .routes import label_studio as label_studio_routes
from .routes import labels as label_routes
from .routes import notifications as notification_routes
from .routes import openid as openid_routes
from .routes import own_page as own_page_routes
from .routes import page as page_routes
from .routes import people as people_routes
from .routes import questions as question_routes
from .routes import sign_ins as sign_in_routes
from .routes import streams as stream_routes
from .routes import tokens as token_routes
from .routes import webhooks as webhook_routes

_HANDLED: tuple[type[Exception], ...] = (
    AskwhenError,
    HTTPException,
    RecursionError,
    UnicodeError,
    msgspec.MsgspecError,
    Exception,
)

_HANDLERS: list[Any] = [
    stream_routes.router,
    instance_routes.played,
    instance_routes.advised,
    *backlog_routes.handlers,
    *import_routes.handlers,
    *browse_routes.handlers,
    question_routes.router,
    label_routes.router,
    gold_routes.router,
    question_routes.progress,
    token_routes.router,
    invitation_routes.router,
    sign_in_routes.router,
    *people_routes.handlers,
    own_page_routes.router,
    notification_routes.router,
    openid_routes.router,
    webhook_routes.router,
    *export_routes.handlers,
    *audit_routes.handlers,
    *health_routes.handlers,
    label_studio_routes.router,
    *page_routes.handlers,
]


def create_app(started: Callable[[], Coordinator], options: Options, spans: Spans | None = None) -> Any:
    """The service as an ASGI application.

    Parameters
    ----------
    started : callable
        Gives the coordinator, which has recovered everything; it is closed at the end.
    options : Options
        Limits and features.
    spans : Spans, optional
        Exports a span for every request to OpenTelemetry.
    """
    requests = RequestCounts()
    app = _routed(started, options, requests, spans)
    own = {route.path.split("/")[1] for route in app.routes}
    recorder = RequestRecorder(requests, options.access_log, spans)
    all_others = RequestMonitor(SecurityHeaders(BodyTimeout(app, options.slowest)), recorder)
    fast = FastPath(all_others, app.state, recorder, options.slowest)
    return RootPath(fast, checked_root(options.root, own), options.behind_proxy)


def _routed(
    started: Callable[[], Coordinator], options: Options, requests: RequestCounts, spans: Spans | None
) -> Litestar:

    @asynccontextmanager
    async def life(app: Litestar) -> AsyncIterator[None]:
        coordinator = started()
        app.state.auth = Authorization(coordinator, options)
        app.state.activity, app.state.unpacker = RecentActivity(), Unpacker()
        app.state.listings = Listings(coordinator)
        provider = app.state.provider = None if options.openid is None else Provider(options.openid)
        app.state.advisers, app.state.steady = AdviserReports(), SteadyFigures()
        app.state.metrics, app.state.probe = Metrics(coordinator, requests, app.state.advisers), Probe(coordinator)
        try:
            async with (
                delivering(coordinator, networks_of(options.webhook_networks), options.mail),
                run_in_background(watch(coordinator), watch_queues(coordinator), retain(coordinator)),
                recording(coordinator) as app.state.history,
                receiving(coordinator) as app.state.inbox,
            ):
                yield
        finally:
            if provider is not None:
                await provider.close()
            await app.state.metrics.close()
            await app.state.probe.close()
            await coordinator.close()
            if spans is not None:
                await spans.close()

    app = Litestar(
        route_handlers=_HANDLERS,
        lifespan=[life],
        guards=[admit],
        exception_handlers=dict.fromkeys(_HANDLED, answered),
        openapi_config=None,  # any other value adds pages of the framework that load scripts from other hosts
        request_max_body_size=options.largest_body,
        logging_config=None,
        debug=False,
    )
    # Made when it is first asked for, since that takes as long as a tenth of a start.
    app.state.description = cache(lambda: described(msgspec.json.decode(framework_document()), options.root))
    return app


@cache
def framework_document() -> bytes:
    """The OpenAPI document that the framework makes, from an application that is never served.

    This takes longer than everything else at a start, and is the same for all applications of a process.
    """
    config = OpenAPIConfig(title="askwhen", version=askwhen.__version__)
    with warnings.catch_warnings(category=LitestarDeprecationWarning, action="ignore"):  # as when the service starts
        made = Litestar(_HANDLERS, openapi_config=config, logging_config=None)
        return msgspec.json.encode(made.openapi_schema.to_schema())
