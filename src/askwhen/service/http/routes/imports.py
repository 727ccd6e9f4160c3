"""Imports of files: what their columns are taken for, where instances come from, and taking them back."""

from __future__ import annotations

import asyncio

from litestar import get, post

from ...use_cases import withdrawing
from ...use_cases.import_columns import Dialect, ImportColumns, Looked, columns_of, dialect_of
from ...use_cases.withdrawing import Source, Withdraw, Withdrawal
from ..authorization import AnyRequest, authorization_of
from ..request_body import read
from ..request_checks import ROLE


@post(
    "/v1/streams/{name:str}/columns", status_code=200, opt={ROLE: "producer"}, summary="Look at the columns of a file"
)
async def looked_at(request: AnyRequest, name: str, data: Looked) -> ImportColumns:
    """What each column of the first rows is taken for, and what it would be used for. Nothing is stored."""
    stream, _ = authorization_of(request).stream(request, name, "producer")
    return await asyncio.to_thread(columns_of, stream, data.records)


@post("/page/dialect/{name:str}", include_in_schema=False, status_code=200)
async def dialect(request: AnyRequest, name: str, suffix: str = "csv") -> Dialect:
    """The encoding of a file, what separates its values, and whether it has names, by its first bytes."""
    auth = authorization_of(request)
    auth.stream(request, name, "producer")
    return dialect_of(await read(auth, request), suffix)


@get("/v1/streams/{name:str}/sources", summary="List where waiting instances come from")
async def sources(request: AnyRequest, name: str) -> list[Source]:
    """The sources of instances in the backlog, such as files, newest first."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, ("producer", "reviewer"))
    return await withdrawing.sources(auth.coordinator, stream)


@post("/v1/streams/{name:str}/withdraw", status_code=200, opt={ROLE: "producer"}, summary="Take instances back")
async def withdrawn(request: AnyRequest, name: str, data: Withdraw) -> Withdrawal:
    """Those of a source, or by ids, that have no answer: they leave the backlog, and open questions are dropped."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "producer")
    return await withdrawing.withdraw(auth.coordinator, stream, data, holder.name)


handlers = [looked_at, dialect, sources, withdrawn]
