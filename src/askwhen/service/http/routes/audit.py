"""The audit log. For admins."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from litestar import get
from litestar.params import Parameter
from litestar.types import ASGIApp

from ...use_cases import audit, export_writers
from ..authorization import AnyRequest, authorization_of
from ..streaming import Download

LATEST = 1e11
Time = Annotated[float, Parameter(ge=0.0, le=LATEST)]


@get("/v1/audit", summary="Download the audit log")
async def log(
    request: AnyRequest,
    format: Literal["csv", "ndjson", "json", "parquet"] = "ndjson",
    since: Time = 0.0,
    until: Time = LATEST,
) -> ASGIApp:
    """Who did what, in order of time: access, settings, exports, erasures, reviews; ``since`` and ``until`` in seconds.

    This download is in it, too.
    """
    auth = authorization_of(request)
    holder, coordinator = auth.holder(request, "admin"), auth.coordinator
    await audit.exported(coordinator, 0, "audit", holder.name, format)
    await coordinator.commits.settled()
    names = {number: stream.name for number, stream in coordinator.by_number.items()}
    found = audit.AuditLog(names, since, until, format in ("json", "ndjson"))

    def make(reader: Any) -> Any:
        return export_writers.written(format, audit.COLUMNS, found.chunks(reader))

    return Download(coordinator, make, export_writers.MEDIA[format], f"audit.{format}")


handlers = [log]
