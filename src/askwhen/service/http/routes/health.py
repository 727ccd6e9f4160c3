"""Health checks, metrics, and the description of the API."""

from __future__ import annotations

import msgspec
from litestar import Response, get

from ...errors import StoppingError
from ...use_cases.steady_figures import is_for
from ..authorization import AnyRequest, authorization_of, seen_by
from ..openapi import page


class Health(msgspec.Struct):
    """Health of the service; ``set_aside`` is the number of streams that were stopped because their model failed."""

    status: str
    streams: int
    set_aside: int = 0


@get("/healthz", summary="Check that the service is alive")
async def alive(request: AnyRequest) -> Health:
    """200 as long as the service can commit."""
    auth = getattr(request.app.state, "auth", None)
    if auth is None or auth.coordinator.broken is not None:
        raise StoppingError("the service is starting or stopping.", owner="serve")
    return Health("ok", len(auth.coordinator.by_number), len(auth.coordinator.set_aside))


@get("/readyz", summary="Check that the service is ready")
async def ready(request: AnyRequest) -> Health:
    """200 once everything is recovered, while the database answers and the service is not stopping."""
    found: Health = await alive.fn(request)
    if request.app.state.auth.coordinator.stopping.is_set():
        raise StoppingError("the service is stopping.", owner="serve")
    if not await request.app.state.probe.answers():
        raise StoppingError("the database does not answer.", owner="serve")
    return found


@get("/metrics", summary="Counts for Prometheus")
async def metrics(request: AnyRequest) -> Response[bytes]:
    """Names and numbers, no contents. Needs any token, where tokens are required.

    A token for some streams sees the metrics of these, and none of the service itself. Who only annotates sees none of
    streams with gold questions, which their counts leave out.
    """
    auth = authorization_of(request)
    holder = auth.identify(request)
    hidden = frozenset(each.number for each in auth.coordinator.by_number.values() if is_for(holder, each))
    accepted = request.headers.get("accept", "")
    body, media = await request.app.state.metrics.written(accepted, seen_by(auth, holder), hidden)
    return Response(body, headers={"Content-Type": media})


@get("/openapi.json", include_in_schema=False)
async def document(request: AnyRequest) -> Response[bytes]:
    """The OpenAPI document."""
    return Response(msgspec.json.encode(request.app.state.description()), media_type="application/json")


@get("/docs", include_in_schema=False)
async def docs(request: AnyRequest) -> Response[str]:
    """The same as a page."""
    return Response(page(request.app.state.description()), media_type="text/html")


handlers = [alive, ready, metrics, document, docs]
