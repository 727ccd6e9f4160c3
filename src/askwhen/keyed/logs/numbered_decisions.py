"""Decisions of a partition, numbered from 0, for outputs in which a message can come twice.

There is one decision or refusal for each instance and each refused event, so that numbers follow from the counts of the
store, whatever the commits were.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import msgspec

from ..decisions import PublishedLine, published_lines
from ..errors import StoreError
from ..stores.records import Counts


class _Numbered(msgspec.Struct, gc=False):
    number: int


_NUMBERS = msgspec.json.Decoder(_Numbered)


class DecisionMessage(NamedTuple):
    """A message of the output log."""

    number: int
    key: str
    value: bytes


class NumberedDecisions:
    """Turns lines of decisions into numbered messages, and leaves out those that an output has already.

    Parameters
    ----------
    counts : Counts
        The events that the store has seen.
    waiting : int
        Number of its decisions that will be published again.
    """

    def __init__(self, counts: Counts, waiting: int) -> None:
        self._total = counts.instances + counts.refused
        self._next = self._total - waiting

    def check(self, last: int, where: str) -> None:
        """Refuse an output whose last number this store has not reached."""
        if last >= self._total:
            raise StoreError(
                f"{where} has decision {last}, and this store has made {self._total}: give another output, to which "
                "the decisions that are still in the store are written.",
                owner="keyed",
            )

    def take(
        self, body: bytes, done: int, dead: int | None
    ) -> tuple[list[DecisionMessage], list[tuple[int, PublishedLine]]]:
        """The messages of a commit, above the number ``done``, and its refused events above ``dead``.

        Where ``dead`` is None, refusals are messages like others.
        """
        lines = body.splitlines()
        messages: list[DecisionMessage] = []
        letters: list[tuple[int, PublishedLine]] = []
        for number, (line, about) in enumerate(zip(lines, published_lines(lines), strict=True), self._next):
            if about.refused is not None and dead is not None:
                if number > dead:
                    letters.append((number, about))
            elif number > done:
                messages.append(DecisionMessage(number, about.key, b'{"number":%d,' % number + line[1:]))
        self._next += len(lines)
        return messages, letters


def headers_of(number: int, refused: PublishedLine) -> dict[str, str]:
    """The headers of a refused event."""
    return {"reason": refused.refused or "", "number": str(number), "event": str(refused.event)}


def last_number(value: bytes | None, headers: dict[str, Any] | None, is_dead: bool, where: str) -> int:
    """The number of the last message of an output, which must be a decision or a refused event."""
    try:
        if is_dead:
            return int((headers or {})["number"])
        return _NUMBERS.decode(value or b"").number
    except (msgspec.MsgspecError, UnicodeDecodeError, LookupError, ValueError, TypeError) as error:
        raise StoreError(
            f"the last message of {where} is not a decision: give an output that has nothing else.", owner="keyed"
        ) from error
