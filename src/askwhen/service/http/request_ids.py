"""An id for each request, in the reply and in every log line that belongs to it."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterable
from contextvars import ContextVar

HEADER = b"x-request-id"

present: ContextVar[str | None] = ContextVar("request", default=None)
"""The id of the current request, also in the threads that it starts."""

_sane = re.compile(rb"[A-Za-z0-9._:@/+=-]{1,100}").fullmatch
_first, _numbers = secrets.token_hex(6), itertools.count(1)


def named(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The id that a request brings, where it is safe to log, or a new one."""
    for name, value in headers:
        if name == HEADER and _sane(value):
            return value.decode()
    return f"{_first}-{next(_numbers):x}"
