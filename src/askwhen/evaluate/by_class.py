"""Precision, recall and F of every class, from the labels that were asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ..engine.class_tally import (
    ANSWERED,
    EXPECTED,
    FALSE,
    MISSED,
    RESIDUAL,
    ROUNDS,
    SEEN,
    UNOBSERVED,
    UNSEEN,
    ClassTally,
)
from ..engine.stakes import STANDARD, all_unasked
from .counted import Counted
from .estimate import Estimate, by_kind


@dataclass(frozen=True)
class ClassAccuracy:
    """How well one class is told from the others, over all rounds.

    ``predicted`` says in how many rounds it was, ``answered`` how many of them were answered.
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


def by_class(tally: ClassTally, alpha: float) -> list[ClassAccuracy]:
    """Every class, in their order; each interval holds at every round at once with probability 1 - alpha."""
    sums, k = tally.sums, len(tally.sums)
    share = 1.0 / max(k - 1, 1)
    A_false = tally.cells @ _table(1.0) - tally.false
    A_other = tally.cells @ _table(share) - tally.others  # by predicted class, for any class but that one
    found = []
    for c in range(k):
        rest = sums.sum(axis=0) - sums[c]
        mistakes = [sums[c, FALSE], 0.0, 0.0, sums[c, EXPECTED], sums[c, RESIDUAL]]
        false = [sums[c, ROUNDS], sums[c, UNOBSERVED], sums[c, ANSWERED], *mistakes]
        missing = [sums[c, MISSED], 0.0, 0.0, share * rest[EXPECTED], rest[UNSEEN] + sums[c, SEEN]]
        missed = [rest[ROUNDS], rest[UNOBSERVED], rest[ANSWERED], *missing]
        A_missed = A_other.sum(axis=0) - A_other[c] - tally.missed[c]
        positive, negative = (Counted(np.array(f), A, STANDARD) for f, A in ((false, A_false[c]), (missed, A_missed)))
        precision, recall, f_measure, _ = by_kind(negative, positive, alpha, None)
        counts = int(sums[c, ROUNDS]), int(sums[c, ANSWERED])
        found.append(ClassAccuracy(precision, recall, f_measure, *counts))
    return found
