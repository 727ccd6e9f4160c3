"""The account of one adviser: how often it is right, in the rounds in which it said something before the random draw.

The random draw that asks for a label serves every account: that of the sampler, of each adviser, and of each
comparison. An account is a tally of its own, see :mod:`askwhen.engine.tally.round_tally`, with its own model of
mistakes, which reads the log odds that the adviser states. A comparison counts the rounds in which two predictions
differ, see :mod:`askwhen.engine.tally.paired_rounds`.

==========  ==========================================================
stated      by tenth of the stated probability: rounds, the sum of what was stated, answers, and the sums of 1/P of the
            answers and of those among them that were right
at          the number of rounds that an account or a comparison has counted, before a round
==========  ==========================================================
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ...betting import SMALLEST_COIN, place_of
from ...compiled.frames import lend, new_frame
from ...compiled.steps import entry, entry_point
from .class_tally import ClassTally, count_class, doubt_class, new_class_tally, note_classes, settle_class
from .many_rounds import note_rounds_at
from .paired_rounds import BOTH, compare_rounds, settle_one
from .round_tally import Tally, forget_round, new_tally, note_round, settle_round

BINS = 10
ROUNDS, STATED, ANSWERED, WEIGHT, RIGHT = range(5)
"""Indices in ``stated``."""


class Account:
    """The counts of one adviser; ``classes`` is that of every class, where these are known from the start."""

    def __init__(self, k: int) -> None:
        self.tally: Tally = new_tally()
        self.classes: ClassTally | None = new_class_tally(k) if k else None
        self.stated = np.zeros((BINS, 5))
        self._frame: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_frame": None}

    @property
    def at(self) -> int:
        """Number of rounds counted."""
        return int(self.tally.count[0])

    def frame(self) -> tuple[int, Any]:
        """The address of the tally for compiled steps, and its type."""
        if self._frame is None or self._frame[0] is not self.tally:
            self._frame = self.tally, new_frame(self.tally)
        (_held, address), kind = self._frame[1]
        return address, kind

    def count(self, P: float, raw: float, positive: bool, asked: bool, p: float) -> int:
        """Count a round in which it said something; return the level of its bet."""
        address, kind = self.frame()
        given = (P, raw, positive, asked)
        if p == p:
            bin_ = self.stated[bin_of(p)]
            bin_[ROUNDS] += 1.0
            bin_[STATED] += p
        return int(entry_point(count_said, kind, *given)(address, *given))

    def settle(self, ago: int, P: float, raw: float, level: int, positive: bool, wrong: bool, p: float) -> None:
        """Count the label of such a round."""
        address, kind = self.frame()
        given = (ago, P, raw, level, positive, wrong)
        entry_point(settle_said, kind, *given)(address, *given)
        if p == p:
            bin_, weight = self.stated[bin_of(p)], 1.0 / max(P, SMALLEST_COIN)
            bin_[ANSWERED] += 1.0
            bin_[WEIGHT] += weight
            bin_[RIGHT] += 0.0 if wrong else weight

    def forget(self, ago: int, P: float, level: int, positive: bool) -> None:
        """Count a question about such a round that will never be answered."""
        forget_round(self.tally, ago, P, level, positive)

    def count_class(self, label: int, P: float, level: int, asked: bool) -> None:
        """Count a round by class."""
        if self.classes is not None:
            count_class(self.classes, label, P, level, asked)

    def settle_class(self, label: int, y: int, P: float, level: int) -> None:
        """Count a label by class."""
        if self.classes is not None:
            settle_class(self.classes, label, y, P, level)

    def doubt_class(self, label: int, P: float, level: int) -> None:
        """Count a question by class that will never be answered."""
        if self.classes is not None:
            doubt_class(self.classes, label, P, level)

    # More than eight arguments: they are the columns of a table.
    def note(
        self,
        two: bool,
        P: np.ndarray,
        raw: np.ndarray,
        label: np.ndarray,
        asked: np.ndarray,
        wrong: np.ndarray,
        y: np.ndarray,
        stated: np.ndarray,
    ) -> None:
        """Count rounds in which it said something, with immediate answers. ``two`` if there are two labels."""
        address, kind = self.frame()
        predicted = np.where(label > 0, 1, -1).astype(np.int8) if two else np.ones(len(label), np.int8)
        levels = np.zeros(len(label), np.int8)
        note_rounds_at(address, kind, P, raw, predicted, asked, wrong, 0.0, False, levels)
        if self.classes is not None:
            note_classes(self.classes, label, y, P, asked, levels)
        says = stated == stated
        bins = np.minimum((stated[says] * BINS).astype(int), BINS - 1)
        weight = np.where(asked[says], 1.0 / np.maximum(P[says], SMALLEST_COIN), 0.0)
        columns = (np.ones(len(bins)), stated[says], asked[says].astype(float), weight, weight * ~wrong[says])
        np.add.at(self.stated, bins, np.column_stack(columns))


def bin_of(p: float) -> int:
    """The bin of a stated probability."""
    return min(int(p * BINS), BINS - 1)


@entry
def count_said(address: Any, P: float, raw: float, positive: bool, asked: bool) -> Any:
    """Count a round in an adviser's tally, in place; return the level of its bet."""
    (tally,) = lend(address)
    return note_round(tally, P, place_of(P), raw, positive, asked)


@entry
def settle_said(address: Any, ago: int, P: float, raw: float, level: int, positive: bool, wrong: bool) -> None:
    """Count the label of a round in an adviser's tally, in place."""
    (tally,) = lend(address)
    settle_round(tally, ago, P, raw, place_of(P), level, positive, wrong)


class Comparison:
    """The rounds in which two predictions differ: of the sampler and an adviser, or of two advisers."""

    def __init__(self, several: bool) -> None:
        self.tally: Tally = new_tally((1000,))
        self.sizes = np.zeros(2)
        self.rounds = 0
        self.several = several
        self._one = _OneRound()
        self._frame: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"_frame": None}

    def _address(self) -> tuple[int, Any]:
        if self._frame is None or self._frame[0] is not self.tally:
            self._frame = self.tally, new_frame(self.tally)
        (_held, address), kind = self._frame[1]
        return address, kind

    def note(self, a: Any, b: Any, differs: Any, P: Any, asked: Any, answered: Any, wrong: Any, other: Any) -> int:
        """Count rounds with immediate answers; return the levels of the last one."""
        address, kind = self._address()
        self.rounds += len(a)
        given = (self.sizes, a, b, differs, P, asked, answered, wrong, other, self.several)
        return int(entry_point(compare_rounds, kind, *given)(address, *given))

    def count(self, a: float, b: float, differs: bool, P: float, asked: bool) -> tuple[int, int]:
        """Count a round; return its place, -1 if they do not differ, and the levels of its bets."""
        levels = self.note(*self._one.filled(a, b, differs, P, asked))
        return int(self.tally.count[0]) - 1 - self.several if differs else -1, levels

    def settle(self, place: int, levels: int, P: float, wrong: bool, other: bool) -> None:
        """Count the label of a round in which they differ."""
        address, kind = self._address()
        given = (int(self.tally.count[0]) - place, P, levels, wrong, other, self.several)
        entry_point(settle_one, kind, *given)(address, *given)

    def bets(self, place: int, levels: int, P: float) -> Iterator[tuple[int, float, int, bool]]:
        """The open bets of a question about such a round."""
        ago = int(self.tally.count[0]) - place
        yield ago, P, levels % BOTH, True
        if self.several:
            yield ago - 1, P, levels // BOTH, False

    def forget(self, place: int, levels: int, P: float) -> None:
        """Count a question about such a round that will never be answered."""
        for bet in self.bets(place, levels, P):
            forget_round(self.tally, *bet)


class _OneRound:
    """Arrays of one round."""

    def __init__(self) -> None:
        self._numbers = [np.zeros(1) for _ in range(3)]
        self._flags = [np.zeros(1, np.bool_) for _ in range(5)]

    def filled(self, a: float, b: float, differs: bool, P: float, asked: bool) -> tuple[np.ndarray, ...]:
        """The arguments of ``note`` for a round whose label is not told yet."""
        (first, second, chance), flags = self._numbers, self._flags
        first[0], second[0], chance[0], flags[0][0], flags[1][0] = a, b, P, differs, asked
        return first, second, flags[0], chance, *flags[1:]
