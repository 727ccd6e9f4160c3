"""The stream of the service that is fed: requests that are sent again, and its events."""

from __future__ import annotations

import contextlib
import logging
import time
from collections.abc import Iterator, Sequence
from typing import Any

import httpx
import msgspec

from ..client.errors import ConflictError, ServiceError, UnreachableError
from ..client.exchange import RetryPolicy
from ..client.messages import refusal
from ..client.stream_calls import StreamCalls
from ..client.sync import SyncTransport
from ..errors import InputError
from .errors import StoreError
from .service_questions import stream_address

_TIMEOUT, _RETRIES, _PAUSE = 30.0, 8, 0.2
_QUIET, _LAST_QUIET, _LONGEST = 0.5, 3.0, 2.0
"""Seconds without an event after which the service is assumed to have no more, for now and for good, and seconds after
which the events that have come are passed on."""
_AT_ONCE, _MOST_BYTES = 500, 1 << 20
"""Instances in a request, and their bytes, at most."""
_REFUSED = (400, 413, 422)
"""Statuses of instances that the service will never take."""
log = logging.getLogger("askwhen.keyed")


class FedStream:
    """A stream of the service; where it is away, overloaded or paused, requests are sent again."""

    def __init__(self, address: str, token: str | None, patient: bool) -> None:
        base, name = stream_address(address, "a feed goes")
        self._calls, self._patient = StreamCalls(name), patient
        self._transport = SyncTransport(base, token or None, RetryPolicy(None if patient else _RETRIES), _TIMEOUT)

    def check(self) -> None:
        """Refuse a stream that does not exist, before anything is claimed."""
        with _service_errors():
            self._transport.call(self._calls.facts())

    def decide(self, bodies: Sequence[bytes]) -> list[dict[str, Any]]:
        """The replies to instances, in order."""
        found: list[dict[str, Any]] = []
        while len(found) < len(bodies):
            size = 0
            part: list[bytes] = []
            for body in bodies[len(found) : len(found) + _AT_ONCE]:
                size += len(body) + 1
                if part and size > _MOST_BYTES:
                    break
                part.append(body)
            found += self._sent(part)
        return found

    def _sent(self, part: Sequence[bytes]) -> list[dict[str, Any]]:
        call, pause, tries = self._calls.play(b"\n".join(part) + b"\n"), _PAUSE, 0
        while True:
            try:
                lines = self._transport.call(call).rstrip("\n").split("\n")
                replies = [msgspec.json.decode(line) for line in lines]
                errors = (each["error"] for each in replies if "error" in each)
                for error in errors:
                    if error["status"] not in _REFUSED:  # it is about the stream, which is paused, say
                        raise refusal(error["status"], error)
                if len(replies) != len(part):
                    raise UnreachableError("the service answered fewer instances than were sent.", owner="feed")
                return replies
            except (ConflictError, UnreachableError) as problem:
                tries += 1
                if not self._patient and (isinstance(problem, ConflictError) or tries > _RETRIES):
                    raise StoreError(problem.sentence, owner="feed") from problem
                if tries == 1:
                    log.warning("the service does not accept instances: %s", problem.sentence)
                time.sleep(pause)
                pause = min(2.0 * pause, 10.0)
            except (ServiceError, InputError) as problem:
                raise StoreError(problem.sentence, owner="feed") from problem

    def events(self, after: int, kinds: str, most: int) -> list[tuple[int, str, dict[str, Any]]]:
        """At most so many events after a number: their numbers, kinds and facts."""
        found: list[tuple[int, str, dict[str, Any]]] = []
        number, kind = 0, ""
        request = self._calls.events(after, kinds, timeout=_QUIET if self._patient else _LAST_QUIET)
        began = time.monotonic()
        try:
            with _service_errors(), self._transport.streamed(request) as response:
                for line in response.iter_lines():
                    if line.startswith("id: "):
                        number = int(line[4:])
                    elif line.startswith("event: "):
                        kind = line[7:]
                    elif line.startswith("data: "):
                        found.append((number, kind, msgspec.json.decode(line[6:])))
                        if len(found) >= most or time.monotonic() - began > _LONGEST:
                            break
        except StoreError as error:
            cause = error.__cause__.__cause__ if error.__cause__ is not None else None
            if not isinstance(cause, httpx.ReadTimeout) and not (
                self._patient and isinstance(cause, httpx.TransportError)
            ):
                raise
        return found

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


@contextlib.contextmanager
def _service_errors() -> Iterator[None]:
    """Raise StoreError for an error of the client."""
    try:
        yield
    except (ServiceError, InputError) as error:
        raise StoreError(error.sentence, owner="feed") from error
