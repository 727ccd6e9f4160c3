"""Precision, recall and F of every class, and the confusion of classes, from the labels that were asked for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...betting import STANDARD, all_unasked
from ...engine.tally.class_tally import ANSWERED, EXPECTED, FALSE, RESIDUAL, ROUNDS, UNOBSERVED, UNSEEN, ClassTally
from ...engine.tally.label_tally import LabelTally
from .by_kind import by_kind
from .estimate import Estimate, estimated
from .tally_views import TallyView


@dataclass(frozen=True)
class ClassAccuracy:
    """How well one class is distinguished from the others, over all rounds.

    Attributes
    ----------
    precision, recall, f_measure : Estimate
        Of this class against the others.
    predicted : int
        Number of rounds in which it was predicted.
    answered : int
        Number of these rounds whose label was given.
    """

    precision: Estimate
    recall: Estimate
    f_measure: Estimate
    predicted: int
    answered: int

    def __str__(self) -> str:
        return f"precision {self.precision}, recall {self.recall}, F {self.f_measure}"


@lru_cache(32)
def _table(share: float) -> np.ndarray:
    return all_unasked(STANDARD, share).reshape(-1, len(STANDARD))


def by_class(tally: ClassTally, alpha: float, n: int, overall: TallyView) -> list[ClassAccuracy]:
    """The first n classes, in order; each interval holds at all times, however often you look, with 1 - alpha.

    Answers are not counted by class and time, so those of all times stand for the questions without one, whose number
    is in ``overall``.
    """
    sums, seen, missed_by = tally.sums, tally.seen.sum(axis=0), tally.missed.sum(axis=0)
    A_false = tally.cells @ _table(1.0) - tally.false
    A_other = _of_others(tally)
    found = []
    for c in range(n):
        rest = sums.sum(axis=0) - sums[c]
        positive = _view(sums[c], sums[c, FALSE], sums[c, EXPECTED], sums[c, RESIDUAL], A_false[c], overall)
        expected, residual = tally.share * rest[EXPECTED], rest[UNSEEN] + seen[c, 1]
        A = A_other.sum(axis=0) - A_other[c] - missed_by[c]
        negative = _view(rest, seen[c, 0], expected, residual, A, overall)
        precision, recall, f_measure, _ = by_kind(negative, positive, alpha, None)
        counts = int(sums[c, ROUNDS]), int(sums[c, ANSWERED])
        found.append(ClassAccuracy(precision, recall, f_measure, *counts))
    return found


def taken_for(tally: ClassTally, alpha: float, n: int, overall: TallyView) -> list[list[Estimate]] | None:
    """Share of each label among the rounds in which each of the first n classes was predicted.

    None where there are so many classes that answers are not counted by pairs.
    """
    if len(tally.missed) == 1:
        return None
    sums, seen, own = tally.sums[:n], tally.seen[:n, :n], np.arange(n)
    A = _of_others(tally)[:n, None] - tally.missed[:n, :n]
    A[own, own] = (tally.cells @ _table(1.0) - tally.false)[:n]
    events, residual = seen[:, :, 0].copy(), sums[:, None, UNSEEN] + seen[:, :, 1]
    expected = np.repeat(tally.share * sums[:, None, EXPECTED], n, axis=1)
    events[own, own], expected[own, own], residual[own, own] = sums[:, FALSE], sums[:, EXPECTED], sums[:, RESIDUAL]
    cells = _view(np.repeat(sums[:, None], n, axis=1), events, expected, residual, A, overall)
    rounds, observed = cells.rounds, cells.rounds - cells.unobserved
    fewest, largest = cells.mistakes(alpha)
    with np.errstate(invalid="ignore", divide="ignore"):
        low, value, high = fewest / rounds, cells.estimate / observed, largest / rounds
    low[own, own], value[own, own], high[own, own] = 1.0 - high[own, own], 1.0 - value[own, own], 1.0 - low[own, own]
    return [
        [
            estimated(value[a, b], low[a, b], high[a, b], rounds[a, b], cells.answered[a, b], None, overall.is_whole)
            if rounds[a, b] > 0
            else Estimate(math.nan, 0.0, 1.0, math.nan, 0, 0)
            for b in range(n)
        ]
        for a in range(n)
    ]


def by_label_of(tally: LabelTally, alpha: float, overall: TallyView) -> list[ClassAccuracy]:
    """Each of several labels that may apply at once; as ``by_class``."""
    A, found = tally.cells @ _table(1.0) - tally.logs, []
    for j in range(len(tally.sums) // 2):
        negative, positive = (
            _view(sums, sums[FALSE], sums[EXPECTED], sums[RESIDUAL], A[2 * j + side], overall)
            for side, sums in enumerate(tally.sums[2 * j : 2 * j + 2])
        )
        precision, recall, f_measure, _ = by_kind(negative, positive, alpha, None)
        counts = int(positive.rounds), int(positive.answered)
        found.append(ClassAccuracy(precision, recall, f_measure, *counts))
    return found


def _of_others(tally: ClassTally) -> np.ndarray:
    """A of the bets on a class that was neither predicted nor the label, by predicted class."""
    return np.asarray(tally.cells @ _table(tally.share) - tally.others)


def _view(
    rounds: np.ndarray,
    seen: np.ndarray,
    expected: np.ndarray,
    residual: np.ndarray,
    A: np.ndarray,
    overall: TallyView,
) -> TallyView:
    """A view of some rounds: the events seen and expected in them, and the corrections of the expectation."""
    none = np.zeros_like(seen)
    counts = [rounds[..., ROUNDS], rounds[..., UNOBSERVED], rounds[..., ANSWERED], seen, none, none, expected, residual]
    unseen = residual * (float(overall.unanswered) / max(float(overall.answered), 1.0))
    return TallyView(np.stack(counts, axis=-1), A, STANDARD, None, unseen, overall.is_whole)
