"""A program that reads a Parquet file from its standard input and writes its rows as NDJSON.

It runs in a separate process with a limit on its memory: a file of 300 bytes can expand to gigabytes, which neither its
size nor its metadata reveal. It imports nothing of askwhen, so that it starts quickly.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

MEMORY, SECONDS, OUTPUT, BATCH = 1 << 30, 120, 256 << 20, 1_000
"""Bytes of memory, seconds of processor time, bytes of output, and rows that are read at a time."""

NO_PARQUET, TOO_LARGE = 3, 4
"""Exit statuses; the standard error has the reason of the first."""


def limit() -> None:
    """Set the limits of this process."""
    import resource

    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS))


def lines(file: Any) -> Iterator[bytes]:
    """Each row of a Parquet file as a line of JSON."""
    import msgspec
    import pyarrow.parquet

    encode = msgspec.json.Encoder(enc_hook=str).encode
    for batch in pyarrow.parquet.ParquetFile(file, pre_buffer=False).iter_batches(BATCH, use_threads=False):
        for row in batch.to_pylist():
            yield encode(row) + b"\n"


def main() -> int:
    """Read, write, and return an exit status."""
    limit()
    left = OUTPUT
    try:
        for line in lines(sys.stdin.buffer):
            left -= len(line)
            if left < 0:
                return TOO_LARGE
            sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()
    except MemoryError:
        return TOO_LARGE
    except Exception as error:
        print(f"{error}"[:300], file=sys.stderr)
        return NO_PARQUET
    return 0


if __name__ == "__main__":
    sys.exit(main())
