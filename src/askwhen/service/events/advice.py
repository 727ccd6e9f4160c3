"""Advice from outside, as the log and the backlog have it: what each adviser says of an instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import msgspec

from ..errors import StoreError


class Said(msgspec.Struct, frozen=True, omit_defaults=True):
    """What an adviser says: a ``label``, also with a ``confidence``; or ``shares``, the probability of each label."""

    label: str | None = None
    confidence: float | None = None
    shares: dict[str, float] | None = None

    @property
    def named(self) -> tuple[str, float | None]:
        """The label that it names, or that has the largest probability, and what it states of that."""
        if self.shares is None:
            return self.label or "", self.confidence
        best = max(self.shares, key=self.shares.__getitem__)  # the first among equals, as the library has it
        return best, self.shares[best]

    def renamed(self, now: Callable[[str], str]) -> Said:
        """The same with other names of labels; what becomes one label has the sum of the probabilities."""
        if self.shares is None:
            return Said(None if self.label is None else now(self.label), self.confidence)
        shares: dict[str, float] = {}
        for label, share in self.shares.items():
            name = now(label)
            shares[name] = shares[name] + share if name in shares else share
        return Said(shares=shares)


Advice = dict[str, Said]
"""What is said of an instance, by adviser; who says nothing is left out."""


class GivenAdvice(NamedTuple):
    """Advice with the last event at the time when it was given, whose names of labels it has."""

    seq: int
    said: Advice


_decoder = msgspec.json.Decoder(tuple[int, Advice])


def packed(given: GivenAdvice | None) -> str | None:
    """Advice as the backlog stores it."""
    return None if given is None else msgspec.json.encode(tuple(given)).decode()


def unpacked(stored: str | None) -> GivenAdvice | None:
    """Stored advice."""
    if stored is None:
        return None
    try:
        return GivenAdvice(*_decoder.decode(stored))
    except msgspec.MsgspecError as error:
        raise StoreError(f"the advice of an instance in the backlog cannot be read: {error}.", owner="serve") from error
