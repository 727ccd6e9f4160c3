"""The pages and their files."""

from __future__ import annotations

import html
from typing import Any

from litestar import Response, get

from ...errors import AskwhenError
from ..api.door import Asked, door_of
from ..errors import NotFoundError
from . import answered_routes, overview_routes, review_routes, sign_in
from .assets import HEADERS, all_assets, policy
from .view import source_of

TITLES = {
    "home": "Streams",
    "label": "Label",
    "review": "Review",
    "dashboard": "Dashboard",
    "form": "New stream",
    "import": "Import",
    "tokens": "Tokens",
}
SHARED = ("shell.js", "dom.js", "api.js")
PARTS = {
    "label": ("instance.js", "keys.js", "outbox.js", "desk.js", "holds.js", "search.js", "help.js"),
    "review": ("instance.js", "keys.js", "search.js"),
    "dashboard": ("charts.js", "figures.js"),
    "import": ("readers.js", "labels.js"),
    "home": ("settings.js",),
}
"""The modules that a page needs, told to the browser at once, so that it does not find them one after the other."""

_assets = all_assets()


def _shell(request: Asked, view: str, name: str | None = None) -> Response[bytes]:
    """A page: an empty frame that its module fills."""
    title = TITLES[view] if name is None else f"{TITLES[view]} {name}"
    modules = [*SHARED, f"{view}.js", *PARTS.get(view, ())]
    links = "".join(f'<link rel="modulepreload" href="/page/{each}">' for each in modules)
    signed, sources = _known(request, name)
    body = _assets["shell.html"].body.decode()
    for place, text in (("title", html.escape(title)), ("view", view), ("signed", signed), ("links", links)):
        body = body.replace(f"{{{{{place}}}}}", text)
    headers = HEADERS | {"Content-Security-Policy": policy(sources), "Cache-Control": "no-store"}
    return Response(body.encode(), media_type="text/html; charset=utf-8", headers=headers)


def _known(request: Asked, name: str | None) -> tuple[str, list[str]]:
    """Whether the request is of somebody who may see the stream, and from where its images may come."""
    if name is None:
        return "yes", []
    try:
        stream, _ = door_of(request).stream(request, name)
    except AskwhenError:
        return "no", []
    return "yes", [place for place in stream.settings.view.media if source_of(place)]


@get("/", include_in_schema=False)
async def home(request: Asked) -> Response[bytes]:
    """The streams."""
    return _shell(request, "home")


@get("/new", include_in_schema=False)
async def form(request: Asked) -> Response[bytes]:
    """A form that makes a stream."""
    return _shell(request, "form")


@get("/tokens", include_in_schema=False)
async def tokens(request: Asked) -> Response[bytes]:
    """Who may do what."""
    return _shell(request, "tokens")


@get("/label/{name:str}", include_in_schema=False)
async def label(request: Asked, name: str) -> Response[bytes]:
    """Questions and answers."""
    return _shell(request, "label", name)


@get("/review/{name:str}", include_in_schema=False)
async def review(request: Asked, name: str) -> Response[bytes]:
    """What answers were, and what is right."""
    return _shell(request, "review", name)


@get("/dashboard/{name:str}", include_in_schema=False)
async def dashboard(request: Asked, name: str) -> Response[bytes]:
    """How a stream does."""
    return _shell(request, "dashboard", name)


@get("/import/{name:str}", include_in_schema=False)
async def importing(request: Asked, name: str) -> Response[bytes]:
    """A file of instances."""
    return _shell(request, "import", name)


@get("/page/{file:str}", include_in_schema=False)
async def asset(request: Asked, file: str) -> Response[bytes]:
    """A file of the page."""
    found = _assets.get(file)
    if found is None:
        raise NotFoundError("there is no such file.", owner="page")
    headers = HEADERS | {"Cache-Control": "no-cache", "ETag": found.tag, "Vary": "Accept-Encoding"}
    if request.headers.get("if-none-match") == found.tag:
        return Response(b"", status_code=304, headers=headers, media_type=found.media)
    if "gzip" in request.headers.get("accept-encoding", ""):
        return Response(found.packed, headers=headers | {"Content-Encoding": "gzip"}, media_type=found.media)
    return Response(found.body, headers=headers, media_type=found.media)


handlers: list[Any] = [
    *(home, form, tokens, label, review, dashboard, importing, asset),
    sign_in.router,
    answered_routes.guess,
    overview_routes.seen,
    overview_routes.followed,
    review_routes.listed,
    review_routes.rows,
]
