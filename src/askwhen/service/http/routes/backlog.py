"""The backlog of a stream."""

from __future__ import annotations

from litestar import get

from ...use_cases import backlog
from ...use_cases.backlog import BacklogProgress
from ..authorization import AnyRequest, authorization_of


@get("/v1/streams/{name:str}/backlog", summary="Show progress through the backlog")
async def progress(request: AnyRequest, name: str, annotator: str | None = None) -> BacklogProgress:
    """What waits, how many questions are to come, and how long they take: an annotator's own time, or that of all."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    if not (auth.is_open or holder.has("reviewer", "producer")):
        annotator = holder.name  # the pace of others is not shown
    return await backlog.progress(auth.coordinator, stream, annotator)


handlers = [progress]
