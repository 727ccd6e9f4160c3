"""A request to the service and its retries, without I/O: :mod:`.sync` and :mod:`.async_` send and sleep.

A client sends an :class:`HttpRequest` and reports the response, or the error of the connection, to :class:`Attempts`,
which says how long to sleep before the next attempt, or that there is none.
"""

from __future__ import annotations

import contextlib
import random
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import httpx

from .errors import UnreachableError
from .messages import UNAVAILABLE, json_bytes

_FIRST_PAUSE, _LONGEST_PAUSE = 0.1, 10.0
_MOST_DOUBLINGS = 7
"""Enough to exceed the longest pause. Without a limit, 2.0**attempt overflows for a client that never gives up."""

Reply = httpx.Response | httpx.TransportError


class HttpRequest(NamedTuple):
    """A request: method, path, and keyword arguments of ``httpx.Client.request``."""

    method: str
    path: str
    options: dict[str, Any]

    @classmethod
    def of(cls, method: str, path: str, **options: Any) -> HttpRequest:
        """Make a request; ``json`` is encoded here, since httpx would send NaN, which is not JSON."""
        if "json" in options:
            options["content"] = json_bytes(options.pop("json"))
            options["headers"] = {"Content-Type": "application/json"}
        return cls(method, path, options)


class RetryPolicy(NamedTuple):
    """The number of retries of a request, and the pauses before them.

    Attributes
    ----------
    retries : int or None
        Number of retries; None retries until the service answers.
    jitter : bool
        Whether pauses vary at random, so that many clients do not return at the same moment.
    on_failure : callable, optional
        Called before each pause with the number of failed attempts.
    """

    retries: int | None
    jitter: bool = True
    on_failure: Callable[[int], None] | None = None


class Attempts:
    """The attempts to get a response to one request."""

    def __init__(self, policy: RetryPolicy) -> None:
        self._policy = policy
        self._failed = 0
        self._reply: Reply | None = None

    def pause_after(self, reply: Reply) -> float | None:
        """Seconds to sleep before the next attempt; None if the reply is final.

        Raises UnreachableError if the last attempt got no response.
        """
        self._reply = reply
        retries = self._policy.retries
        is_last = retries is not None and self._failed >= retries
        if isinstance(reply, httpx.Response):
            if is_last or reply.status_code not in UNAVAILABLE:
                return None
        elif is_last:
            raise unreachable(reply) from reply
        self._failed += 1
        if self._policy.on_failure is not None:
            self._policy.on_failure(self._failed)
        pause = min(_FIRST_PAUSE * 2.0 ** min(self._failed - 1, _MOST_DOUBLINGS), _LONGEST_PAUSE)
        return pause * (0.5 + random.random()) if self._policy.jitter else pause

    @property
    def response(self) -> httpx.Response:
        """The final response, after ``pause_after`` has returned None."""
        assert isinstance(self._reply, httpx.Response)
        return self._reply


def unreachable(error: httpx.TransportError) -> UnreachableError:
    """The error to raise if the service sends no response."""
    return UnreachableError(
        f"the service cannot be reached: {str(error).rstrip('.') or type(error).__name__}.", owner="Client"
    )


@contextlib.contextmanager
def transport_errors_mapped() -> Iterator[None]:
    """Raise UnreachableError for an error of the connection in this block."""
    try:
        yield
    except httpx.TransportError as error:
        raise unreachable(error) from error
