"""The accuracy until each of many moments, as it is known now: with the answers that came since.

What a moment fixes is the part of a tally that later answers do not change: the number of rounds, the predicted
mistakes, and the bets on rounds that were not asked about. The answers are added from the list of all questions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, LEVELS, SMALLEST_COIN, STANDARD
from ...engine.tally.round_tally import EXPECTED, ROUNDS, UNOBSERVED, Tally, bets_on, stratum_length
from .accuracy import estimates_of
from .tally_views import BLOCKS_OF_WINDOW, TallyView, sums_of, unasked_of, unseen_of


class Stretch(NamedTuple):
    """The fixed part of the rounds from ``first`` to ``last``, the last excluded; ``length`` is that of its strata."""

    first: int
    last: int
    length: int
    unobserved: float
    expected: float
    A: list[float]


class Questions(NamedTuple):
    """All questions, by round: arrays of the same length. ``wrong`` is unused where a question is not ``answered``."""

    round: np.ndarray
    probability: np.ndarray
    level: np.ndarray
    answered: np.ndarray
    wrong: np.ndarray


def stretches_of(tally: Tally, which: int) -> tuple[Stretch, Stretch] | None:
    """All rounds until now, and those of a window; None for a tally that the first release has begun."""
    if not np.array_equal(tally.stakes, STANDARD):
        return None
    count, size = int(tally.count[0]), int(tally.steps[which])
    first = max(count - BLOCKS_OF_WINDOW * size, 0) // size
    found = []
    for start, length, window in (
        (0, stratum_length(int(tally.count[1]), int(tally.steps[0])), None),
        (first * size, size, (which, first)),
    ):
        sums, A = sums_of(tally, window), unasked_of(tally, window)
        found.append(Stretch(start, count, length, float(sums[UNOBSERVED]), float(sums[EXPECTED]), A.tolist()))
    return found[0], found[1]


def known_now(stretches: Sequence[Stretch], questions: Questions, alpha: float) -> np.ndarray:
    """Value, low and high of the accuracy of each stretch, a row each; NaN for a value that is not known yet."""
    order = np.argsort(questions.round, kind="stable")
    round, P, level, answered, wrong = (each[order] for each in questions)
    above, below = np.where(answered, wrong, True), np.where(answered, wrong, False)
    expected = np.append(ERRORS, [0.0] * (level.max(initial=0) + 1 - LEVELS))[level]
    residual = np.where(answered, (wrong - expected) / np.maximum(P, SMALLEST_COIN), 0.0)
    logs = bets_on(P, level, above, below)
    told, lacking = answered.astype(float), (~answered).astype(float)
    columns = np.column_stack([told, told * wrong, lacking, np.zeros(len(told)), np.zeros(len(told)), residual, logs])
    totals = np.vstack([np.zeros(columns.shape[1]), columns.cumsum(axis=0)])
    starts, ends = (np.searchsorted(round, [each[at] for each in stretches]) for at in (0, 1))
    parts = totals[ends] - totals[starts]
    sums = np.zeros((len(stretches), 8))
    sums[:, ROUNDS] = [each.last - each.first for each in stretches]
    sums[:, UNOBSERVED] = [each.unobserved for each in stretches]
    sums[:, 2:] = parts[:, :6]
    sums[:, EXPECTED] = [each.expected for each in stretches]
    A = np.array([each.A for each in stretches]).reshape(len(stretches), len(STANDARD)) - parts[:, 6:]
    unseen = np.zeros(len(stretches))
    for k, (each, start, end) in enumerate(zip(stretches, starts, ends, strict=True)):
        if lacking[start:end].any():
            stratum = (round[start:end] - each.first) // each.length
            counts: list[Any] = [np.bincount(stratum, of[start:end]) for of in (told, lacking, residual)]
            unseen[k] = float(unseen_of(*counts))
    return np.column_stack(estimates_of(TallyView(sums, A, STANDARD, 0, unseen), alpha))
