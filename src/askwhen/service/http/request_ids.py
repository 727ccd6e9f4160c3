"""A name for each request, in the reply and in every line of the log that it makes."""

from __future__ import annotations

import itertools
import re
import secrets
from collections.abc import Iterable
from contextvars import ContextVar

HEADER = b"x-request-id"

present: ContextVar[str | None] = ContextVar("request", default=None)
"""The name of the request that is being answered; threads that it starts know it too."""

_sane = re.compile(rb"[A-Za-z0-9._:@/+=-]{1,100}").fullmatch
_first, _numbers = secrets.token_hex(6), itertools.count(1)


def named(headers: Iterable[tuple[bytes, bytes]]) -> str:
    """The name that a request brings, where it is one that can go into a log, or a new one."""
    for name, value in headers:
        if name == HEADER and _sane(value):
            return value.decode()
    return f"{_first}-{next(_numbers):x}"
