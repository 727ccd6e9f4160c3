"""Decisions as messages of a JetStream stream, and refused events as messages of dead-letter subjects.

``nats://host:4222/DECISIONS?subject=decisions&dead=dead`` writes decisions of the partition clicks.0 to the subject
decisions.clicks.0, numbered from 0. After a kill, what the subject has already is left out, by the number of its last
message; what was on its way then has the same ``Nats-Msg-Id``, so that the server drops it within the stream's
duplicate window, and readers drop it by its number.
"""

from __future__ import annotations

import asyncio
from typing import Any

import nats.js.errors

from ...data.files import perhaps
from ...errors import InputError
from ..errors import StoreError
from ..stores.records import Counts
from .nats_server import NatsAddress, NatsConnection
from .numbered_decisions import NumberedDecisions, headers_of, last_number

_AT_ONCE = 1_000


class NatsSink:
    """Subjects of decisions.

    Parameters
    ----------
    address : str
        As nats://host:4222/STREAM?subject=BEGINNING&dead=BEGINNING.
    """

    def __init__(self, address: str) -> None:
        self._address = NatsAddress(address, ("subject", "dead"))
        self.keeps_refused = "dead" in self._address.own
        self._connection: Any = None
        self._subjects: list[str] = []
        self._done: list[int] = []
        self._lines = NumberedDecisions(Counts(), 0)

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse subjects that belong to another store, and find out which decisions they have already."""
        self._connection, own = self._address.connected(), self._address.own
        first = _subject_of(self._connection, self._address.stream, own.get("subject"))
        self._subjects = [f"{each}.{partition}" for each in (first, own.get("dead")) if each]
        self._lines = NumberedDecisions(counts, waiting)
        self._done = []
        for subject in self._subjects:
            self._done.append(self._last(subject))
            self._lines.check(self._done[-1], f"the subject {subject}")

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided."""
        messages, letters = self._lines.take(body, self._done[0], self._done[1] if self.keeps_refused else None)
        wanted: list[tuple[str, int, bytes, dict[str, str]]] = [
            (self._subjects[0], each.number, each.value, {}) for each in messages
        ]
        wanted += [(self._subjects[-1], n, each.given or b"", headers_of(n, each)) for n, each in letters]
        with self._connection.errors():
            for start in range(0, len(wanted), _AT_ONCE):
                self._connection.do(self._written(wanted[start : start + _AT_ONCE]))

    async def _written(self, messages: list[tuple[str, int, bytes, dict[str, str]]]) -> None:
        """Write messages in order, and wait until the server has stored all of them."""
        sent = []
        for subject, number, value, headers in messages:
            named = headers | {"Nats-Msg-Id": f"{subject}/{number}"}
            sent.append(await self._connection.jetstream.publish_async(subject, value, headers=named))
        await asyncio.gather(*sent)

    def _last(self, subject: str) -> int:
        """The number of the last message of a subject, or -1."""
        do, jetstream = self._connection.do, self._connection.jetstream
        with self._connection.errors():
            try:
                stream = do(jetstream.find_stream_name_by_subject(subject))
            except nats.js.errors.NotFoundError:
                stream = None
            if stream is not None:
                try:
                    found = do(jetstream.get_last_msg(stream, subject))
                except nats.js.errors.NotFoundError:
                    return -1
                is_dead = self.keeps_refused and subject == self._subjects[-1]
                return last_number(found.data, found.headers, is_dead, f"the subject {subject}")
        raise StoreError(f"no stream of the server has the subject {subject}: make one that does.", owner="keyed")

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()


def _subject_of(connection: NatsConnection, stream: str, given: str | None) -> str:
    """The beginning of the subjects of an output: what is given, or that of the stream's only subject."""
    subjects = connection.about(stream).config.subjects or []
    if given:
        return given
    if len(subjects) == 1 and subjects[0].endswith(".>"):
        return str(subjects[0].removesuffix(".>"))
    raise InputError(
        f"say under which subjects of the stream {stream} decisions go, as in ?subject=decisions"
        f"{perhaps('decisions', subjects)}.",
        owner="keyed",
    )
