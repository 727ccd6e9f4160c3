"""The tally of several labels at once: for each label, sums of the rounds that predicted it and of those that did not.

A mistake about one label is bet on as :mod:`askwhen.betting` says, with the predicted probability of a
mistake about any of them. Row 2 j is for rounds in which label j was not predicted, row 2 j + 1 for those in which it
was.

==========  ==========================================================
cells       unasked rounds by row, place and level
logs        logarithms of what answers did to the wealth, by row
sums        by row: rounds, those in which nothing could be asked, answers, mistakes seen, predicted mistakes, and their
            weighted difference from answers
==========  ==========================================================
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, LEVELS, PLACES, SMALLEST_COIN, STAKES, STANDARD, bet, place_of
from ...compiled.frames import lend, new_frame
from ...compiled.steps import apart, borrow, entry, entry_point
from ...contracts.learner import LARGEST_COUNT, is_sound
from ...linalg.vectors import LARGEST, all_within

ROUNDS, UNOBSERVED, ANSWERED, WRONG, EXPECTED, RESIDUAL = range(6)


class LabelTally(NamedTuple):
    """See above."""

    cells: Any
    logs: Any
    sums: Any
    growth: Any
    loss: Any
    factors: Any


STORED = ("cells", "logs", "sums")
"""Arrays that are stored in files."""


def new_label_tally(labels: int) -> LabelTally:
    """A tally before the first round, for this many labels."""
    rows = 2 * labels
    cells, logs, sums = np.zeros((rows, PLACES * LEVELS)), np.zeros((rows, STAKES)), np.zeros((rows, 6))
    return LabelTally(cells, logs, sums, np.exp(STANDARD), -np.expm1(STANDARD), np.zeros(STAKES))


@is_sound.of(LabelTally)
def _is_sound(tally: LabelTally) -> Any:
    weights = LARGEST_COUNT / SMALLEST_COIN
    return (
        all_within(tally.cells, 0.0, LARGEST_COUNT)
        and all_within(tally.logs, -LARGEST, LARGEST)
        and all_within(tally.sums[:, :EXPECTED], 0.0, LARGEST_COUNT)
        and all_within(tally.sums[:, EXPECTED:], -weights, weights)
    )


@apart
def count_all(tally: Any, predicted: int, P: float, level: int, asked: bool) -> None:
    """Count a round in which a set of labels was predicted, in place."""
    for j in range(len(tally.sums) // 2):
        row = 2 * j + ((predicted >> j) & 1)
        sums = tally.sums[row]
        sums[ROUNDS] += 1.0
        if P > 0.0:
            sums[EXPECTED] += ERRORS[level]
        else:
            sums[UNOBSERVED] += 1.0
        if not asked:
            tally.cells[row, place_of(P) * LEVELS + level] += 1.0


@apart
def settle_all(tally: Any, predicted: int, labels: int, P: float, level: int) -> None:
    """Count the labels of a round, in place."""
    place, f, e = place_of(P), tally.factors, ERRORS[level]
    P = max(P, SMALLEST_COIN)
    for j in range(len(tally.sums) // 2):
        wrong, row = ((predicted ^ labels) >> j) & 1 == 1, 2 * j + ((predicted >> j) & 1)
        bet(f, tally.growth, tally.loss, P, place, level, wrong, wrong)
        for i in range(len(f)):
            tally.logs[row, i] += math.log(f[i])
        sums = tally.sums[row]
        sums[ANSWERED] += 1.0
        sums[WRONG] += 1.0 if wrong else 0.0
        sums[RESIDUAL] += ((1.0 if wrong else 0.0) - e) / P


@entry
def note_label_rounds(address: Any, predicted: Any, labels: Any, probability: Any, queried: Any, levels: Any) -> None:
    """Count rounds with immediate answers, in place."""
    (tally,) = lend(address)
    predicted, labels, probability = borrow(predicted), borrow(labels), borrow(probability)
    queried, levels = borrow(queried), borrow(levels)
    for i in range(len(predicted)):
        count_all(tally, predicted[i], probability[i], int(levels[i]), queried[i])
        if queried[i]:
            settle_all(tally, predicted[i], int(labels[i]), probability[i], int(levels[i]))


@entry
def count_labels_at(address: Any, predicted: int, P: float, level: int, asked: bool) -> None:
    """Call ``count_all`` for the tally at an address."""
    (tally,) = lend(address)
    count_all(tally, predicted, P, level, asked)


@entry
def settle_labels_at(address: Any, predicted: int, labels: int, P: float, level: int) -> None:
    """Call ``settle_all`` for the tally at an address."""
    (tally,) = lend(address)
    settle_all(tally, predicted, labels, P, level)


@entry
def doubt_labels_at(address: Any, predicted: int, P: float, level: int) -> None:
    """Count an unanswered question as the worst case for every bound, in place."""
    (tally,) = lend(address)
    place, f = place_of(P), tally.factors
    P = max(P, SMALLEST_COIN)
    bet(f, tally.growth, tally.loss, P, place, level, True, False)
    for j in range(len(tally.sums) // 2):
        for i in range(len(f)):
            tally.logs[2 * j + ((predicted >> j) & 1), i] += math.log(f[i])


def _at(step: Any, tally: LabelTally, *args: Any) -> None:
    (_held, address), kind = new_frame(tally)
    entry_point(step, kind, *args)(address, *args)


def count_labels(tally: LabelTally, predicted: int, P: float, level: int, asked: bool) -> None:
    """Count a round in which a set of labels was predicted, in place."""
    _at(count_labels_at, tally, predicted, P, level, asked)


def settle_labels(tally: LabelTally, predicted: int, labels: int, P: float, level: int) -> None:
    """Count the labels of a round, in place."""
    _at(settle_labels_at, tally, predicted, labels, P, level)


def doubt_labels(tally: LabelTally, predicted: int, P: float, level: int) -> None:
    """Count an unanswered question as the worst case for every bound, in place."""
    _at(doubt_labels_at, tally, predicted, float(P), level)


def note_labels(tally: LabelTally, *rounds: Any) -> None:
    """Count rounds with immediate answers, in place."""
    _at(note_label_rounds, tally, *rounds)
