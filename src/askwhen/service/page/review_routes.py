"""What reviewers are shown; and files that a browser cannot read, as lines."""

from __future__ import annotations

import asyncio
import io
from typing import Annotated

import msgspec
from litestar import Response, get, post
from litestar.params import Parameter

from ...errors import InputError
from ...system.extras import needs_extra
from ..api.door import Asked, door_of
from ..api.problems import too_large
from .reviewing import Reviewables, Which, to_review

LARGEST_FILE, LARGEST_TABLE = 64 << 20, 256 << 20


@get("/v1/streams/{name:str}/review", summary="List questions for a reviewer")
async def listed(
    request: Asked,
    name: str,
    which: Which = "disputed",
    after: Annotated[int, Parameter(ge=-1, le=2**53)] = -1,
    limit: Annotated[int, Parameter(ge=1, le=100)] = 10,
) -> Reviewables:
    """Disputed or corrected ones, or a random share; each with its single answers. ``after`` is ``next`` of before."""
    door = door_of(request)
    stream, _ = door.stream(request, name, "reviewer")
    return await to_review(door.desk, stream, which, after, limit)


@post("/page/rows/{name:str}", include_in_schema=False, status_code=200, request_max_body_size=LARGEST_FILE)
async def rows(request: Asked, name: str) -> Response[bytes]:
    """The rows of a Parquet file as NDJSON: the one format of instances that a browser cannot read by itself."""
    door_of(request).stream(request, name, "producer")
    body = await request.body()
    return Response(await asyncio.to_thread(_lines, body), media_type="application/x-ndjson")


def _lines(content: bytes) -> bytes:
    with needs_extra("data", "the import of a Parquet file", "import"):
        import pyarrow
        import pyarrow.parquet

    try:
        file = pyarrow.parquet.ParquetFile(io.BytesIO(content))
        groups = [file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups)]
        if sum(groups) > LARGEST_TABLE:
            raise too_large("the table, unpacked,", LARGEST_TABLE)
        table = file.read()
    except (pyarrow.ArrowException, OSError) as error:
        raise InputError(f"the file is no Parquet: {error}.", owner="import") from error
    encode = msgspec.json.Encoder(enc_hook=str).encode
    return b"".join(encode(row) + b"\n" for part in table.to_batches(1_000) for row in part.to_pylist())
