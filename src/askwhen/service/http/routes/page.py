"""The pages and their files."""

from __future__ import annotations

import html
import re
from typing import Any

import msgspec
from litestar import Response, get

from ....errors import AskwhenError
from ...errors import NotFoundError
from ...events.instance_display import source_of
from ..authorization import AnyRequest, authorization_of
from . import dashboard as dashboard_routes
from . import guesses as guess_routes
from . import review as review_routes
from . import sign_in
from .assets import HEADERS, all_assets, policy

TITLES = {
    "home": "Streams",
    "label": "Label",
    "review": "Review",
    "browse": "Browse",
    "dashboard": "Dashboard",
    "form": "New stream",
    "change": "Settings",
    "import": "Import",
    "tokens": "Tokens",
    "me": "You",
    "invitation": "Invitation",
}
SHARED = ("api.js", "dom.js", "shell.js")
ASKING = (
    *(
        "instance.js",
        "highlight.js",
        "keys.js",
        "scroll.js",
        "help.js",
        "label_panel.js",
        "label_field.js",
        "label_search.js",
        "colours.js",
    ),
    *("remark.js", "guidelines.js"),
)
PARTS = {
    "home": ("exports.js",),
    "label": ("first.js", "outbox.js", "question_buffer.js", "holds.js", "tally.js", "remaining.js", *ASKING),
    "review": ASKING,
    "browse": ("fields.js", "instance.js", "highlight.js", "browse_one.js", "label_field.js"),
    "form": ("fields.js", "instance.js", "highlight.js"),
    "change": (
        *("fields.js", "settings.js", "label_settings.js", "colours.js", "guidelines.js"),
        *("instance.js", "highlight.js", "label_field.js"),
    ),
    "dashboard": ("charts.js", "figures.js", "plain.js", "specialists.js", "remaining.js", "label_field.js"),
    "import": (
        "readers.js",
        "columns.js",
        "labels.js",
        "sending.js",
        "withdrawals.js",
        "fields.js",
        "instance.js",
        "label_field.js",
    ),
    "tokens": ("twice.js", "devices.js"),
    "me": ("twice.js", "devices.js"),
}
"""The modules that a page needs, preloaded, so that the browser does not discover them one after the other."""

EARLY = {"label": "first.js"}
"""Modules that run as soon as they are loaded, before the rest of the page."""

_assets = all_assets()
_PLACES = re.compile(r"{{(\w+)}}")


async def _shell(request: AnyRequest, view: str, name: str | None = None) -> Response[bytes]:
    """A page: a frame that its module fills, with the session and the stream."""
    title = TITLES[view] if name is None else f"{TITLES[view]} {name}"
    root = authorization_of(request).options.root
    links = "".join(f'<link rel="modulepreload" href="{root}/page/{each}">' for each in (*SHARED, *PARTS.get(view, ())))
    if view in EARLY:
        links += f'<script type="module" async src="{root}/page/{EARLY[view]}"></script>'
    known, sources = await _known(request, name)
    signed = "no" if name is not None and known["stream"] is None else "yes"
    inside = msgspec.json.encode(known).decode().replace("<", "\\u003c")
    body = _assets["shell.html"].body.decode()
    parts = {"title": html.escape(title), "root": root, "view": view, "signed": signed, "links": links, "known": inside}
    made = _PLACES.sub(lambda found: parts[found[1]], body)
    headers = HEADERS | {"Content-Security-Policy": policy(sources), "Cache-Control": "no-store"}
    return Response(made.encode(), media_type="text/html", headers=headers)


async def _known(request: AnyRequest, name: str | None) -> tuple[dict[str, Any], list[str]]:
    """The session, the stream if the user may see it, and the sources of its images."""
    known: dict[str, Any] = {"session": sign_in.Session(False), "stream": None}
    auth = authorization_of(request)
    try:
        known["session"] = await sign_in.session(request)
        if name is None:
            return known, []
        stream, holder = auth.stream(request, name)
        await auth.coordinator.commits.settled()
    except AskwhenError:
        return known, []
    known["stream"] = dashboard_routes.steady_of(request).stream(holder, stream)
    return known, [place for place in stream.settings.view.media if source_of(place)]


@get("/", include_in_schema=False)
async def home(request: AnyRequest, archived: str | None = None) -> Response[bytes]:
    """The streams; ``archived`` is read by the page."""
    return await _shell(request, "home")


@get("/new", include_in_schema=False)
async def form(request: AnyRequest, like: str | None = None) -> Response[bytes]:
    """A form that makes a stream; ``like`` is read by the page."""
    return await _shell(request, "form")


@get("/tokens", include_in_schema=False)
async def tokens(request: AnyRequest) -> Response[bytes]:
    """The tokens."""
    return await _shell(request, "tokens")


@get("/me", include_in_schema=False)
async def me(request: AnyRequest) -> Response[bytes]:
    """One's own page."""
    return await _shell(request, "me")


@get("/invitation", include_in_schema=False)
async def invitation(request: AnyRequest) -> Response[bytes]:
    """An invitation; its secret is in the part of the address that only the page reads."""
    return await _shell(request, "invitation")


@get("/label/{name:str}", include_in_schema=False)
async def label(request: AnyRequest, name: str) -> Response[bytes]:
    """Questions and answers."""
    return await _shell(request, "label", name)


@get("/review/{name:str}", include_in_schema=False)
async def review(request: AnyRequest, name: str) -> Response[bytes]:
    """Answers, and the reviewer's decision."""
    return await _shell(request, "review", name)


@get("/browse/{name:str}", include_in_schema=False)
async def browse(
    request: AnyRequest,
    name: str,
    search: str = "",
    status: str = "",
    label: str = "",
    prediction: str = "",
    person: str = "",
    source: str = "",
    flagged: str = "",
    changed: str = "",
    since: str = "",
    until: str = "",
    least: str = "",
    most: str = "",
    sort: str = "",
) -> Response[bytes]:
    """The table of instances; the page reads the parameters."""
    return await _shell(request, "browse", name)


@get("/dashboard/{name:str}", include_in_schema=False)
async def dashboard(request: AnyRequest, name: str) -> Response[bytes]:
    """The dashboard of a stream."""
    return await _shell(request, "dashboard", name)


@get("/change/{name:str}", include_in_schema=False)
async def changing(request: AnyRequest, name: str) -> Response[bytes]:
    """A form that changes the settings of a stream."""
    return await _shell(request, "change", name)


@get("/import/{name:str}", include_in_schema=False)
async def importing(request: AnyRequest, name: str) -> Response[bytes]:
    """A file of instances."""
    return await _shell(request, "import", name)


@get("/page/{file:str}", include_in_schema=False)
async def asset(request: AnyRequest, file: str) -> Response[bytes]:
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
    *(home, form, tokens, me, invitation, label, review, browse, dashboard, changing, importing, asset),
    sign_in.router,
    guess_routes.guess,
    dashboard_routes.seen,
    dashboard_routes.followed,
    review_routes.listed,
    review_routes.counts,
    review_routes.rows,
]
