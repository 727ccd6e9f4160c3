"""Rows of a Parquet file as NDJSON, read by another process with limits on its memory and time."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import tempfile
from collections.abc import AsyncIterator
from typing import IO

from ...errors import InputError
from ...system.extras import needs_extra
from ..errors import TooLargeError
from . import parquet_child

PIECE = 1 << 20


class Unpacker:
    """Unpacks one file at a time, so that the limit on memory holds for all of them together."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(1)

    async def rows(self, parts: AsyncIterator[bytes]) -> IO[bytes]:
        """A temporary file with the rows of the Parquet file that comes in these parts, a JSON object on each line."""
        with needs_extra("data", "the import of a Parquet file", "import"):
            import pyarrow  # noqa: F401, the child needs it
        rows = tempfile.TemporaryFile()  # noqa: SIM115 (closed by ``pieces``)
        try:
            with tempfile.TemporaryFile() as packed:
                async for part in parts:
                    packed.write(part)
                packed.seek(0)
                async with self._turns:
                    await _convert(packed, rows)
        except BaseException:
            rows.close()
            raise
        rows.seek(0)
        return rows


async def _convert(packed: IO[bytes], rows: IO[bytes]) -> None:
    command = (sys.executable, "-P", parquet_child.__file__)
    child = await asyncio.create_subprocess_exec(*command, stdin=packed, stdout=rows, stderr=asyncio.subprocess.PIPE)
    try:
        _, errors = await child.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            child.kill()
        raise
    if child.returncode == 0:
        return
    if child.returncode == parquet_child.NO_PARQUET:
        raise InputError(
            f"the file cannot be read as Parquet: {errors.decode(errors='replace').strip().rstrip('.')}.",
            owner="import",
        )
    raise TooLargeError(
        f"the table, unpacked, must be at most {parquet_child.OUTPUT:,} bytes; split the file.", owner="import"
    )


async def pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    """The content of a file, which is closed at the end."""
    with file:
        while part := file.read(PIECE):
            yield part
