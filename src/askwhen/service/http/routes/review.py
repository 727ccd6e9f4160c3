"""Questions for reviewers; and Parquet files as lines."""

from __future__ import annotations

from typing import Annotated

from litestar import get, post
from litestar.params import Parameter
from litestar.response import Stream

from ...use_cases.review_queue import Counts, Reviewables, Which, counted, to_review
from ..authorization import AnyRequest, authorization_of
from ..parquet_unpacker import pieces

LARGEST_FILE = 64 << 20
"""Bytes of a Parquet file."""


@get("/v1/streams/{name:str}/review", summary="List questions for a reviewer")
async def listed(
    request: AnyRequest,
    name: str,
    which: Which = "disputed",
    after: Annotated[int, Parameter(ge=-1, le=2**53)] = -1,
    limit: Annotated[int, Parameter(ge=1, le=100)] = 10,
) -> Reviewables:
    """Disputed or corrected ones, those that everybody skipped, or a random sample, with answers and comments.

    ``after`` is ``next`` of the last page.
    """
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await to_review(auth.coordinator, stream, which, after, limit)


@get("/v1/streams/{name:str}/review/counts", summary="Count questions for a reviewer")
async def counts(request: AnyRequest, name: str) -> Counts:
    """The number of questions in each list."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await counted(auth.coordinator, stream)


@post("/page/rows/{name:str}", include_in_schema=False, status_code=200, request_max_body_size=LARGEST_FILE)
async def rows(request: AnyRequest, name: str) -> Stream:
    """The rows of a Parquet file as NDJSON: the one format of instances that a browser cannot read by itself."""
    authorization_of(request).stream(request, name, "producer")
    return Stream(pieces(await request.app.state.unpacker.rows(request.stream())), media_type="application/x-ndjson")
