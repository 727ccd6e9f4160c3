"""What several classes remember of their labels, class by class: sums of fixed size for precision, recall and F.

The bets are those of :mod:`askwhen.engine.stakes`, on two kinds of events. A *false* prediction of class c is a mistake
in a round in which c was predicted: rounds and answers are summed by the predicted class. A *missed* c is a round with
the label c in which another class was predicted: there its probability is taken to be e / (k - 1), where e is that of a
mistake, so that answers are summed by the predicted class as if the label had been another one, and what a label of c
changes is summed by that label.

==========  ==========================================================
cells       unasked rounds by predicted class, place and level
false       logarithms of what answers did to the wealth that bets on false predictions, by predicted class
others      the same for a class that was neither predicted nor told, by predicted class
missed      what is to be added for the class that was told, where it was not predicted, by label
sums        by class: rounds with it predicted, those in which nothing could be asked, answers, false predictions seen,
            missed ones seen, predicted mistakes, their weighted difference from answers; and for missed ones the
            weighted number of those seen, by label, and minus the weighted predictions, by predicted class
==========  ==========================================================
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.frames import lend, new_frame
from ..compiled.steps import apart, borrow, entry, entry_point, step
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..linalg.vectors import LARGEST, all_within
from .error_model import SHRINK, level_at
from .stakes import CHANCES, ERRORS, HALVINGS, LEVELS, PLACES, SMALLEST_COIN, STAKES, STANDARD, bet, place_of, stake

ROUNDS, UNOBSERVED, ANSWERED, FALSE, MISSED, EXPECTED, RESIDUAL, SEEN, UNSEEN = range(9)


class ClassTally(NamedTuple):
    """See above."""

    cells: Any
    false: Any
    others: Any
    missed: Any
    sums: Any
    growth: Any
    loss: Any
    factors: Any


KEPT = ("cells", "false", "others", "missed", "sums")
"""What is kept in files."""


def new_class_tally(k: int) -> ClassTally:
    """Nothing has happened to any of k classes."""
    false, others, missed = (np.zeros((k, STAKES)) for _ in range(3))
    cells, sums, factors = np.zeros((k, PLACES * LEVELS)), np.zeros((k, 9)), np.zeros(STAKES)
    return ClassTally(cells, false, others, missed, sums, np.exp(STANDARD), -np.expm1(STANDARD), factors)


@is_sound.of(ClassTally)
def _is_sound(tally: ClassTally) -> Any:
    weights = LARGEST_COUNT / SMALLEST_COIN
    return (
        all_within(tally.cells, 0.0, LARGEST_COUNT)
        and all(all_within(each, -LARGEST, LARGEST) for each in (tally.false, tally.others, tally.missed))
        and all_within(tally.sums[:, :EXPECTED], 0.0, LARGEST_COUNT)
        and all_within(tally.sums[:, EXPECTED:], -weights, weights)
    )


def level_of_certainty(certainty: float, labels: float) -> int:
    """The level of a prediction that is right with this probability, after so many labels."""
    return int(level_at((1.0 - certainty) * labels / (labels + SHRINK)))


@step
def count_class(tally: Any, predicted: int, P: float, level: int, asked: bool) -> None:
    """Count a round in which a class was predicted, in place."""
    sums = tally.sums[predicted]
    sums[ROUNDS] += 1.0
    if P > 0.0:
        sums[EXPECTED] += ERRORS[level]
    else:
        sums[UNOBSERVED] += 1.0
    if not asked:
        tally.cells[predicted, place_of(P) * LEVELS + level] += 1.0


def settle_class(tally: ClassTally, predicted: int, label: int, P: float, level: int) -> None:
    """Count an answer, in place."""
    told = (predicted, label, P, level)
    (_held, address), kind = new_frame(tally)
    entry_point(settle_label, kind, *told)(address, *told)


@entry
def settle_label(address: Any, predicted: int, label: int, P: float, level: int) -> None:
    """Count the label of a round in which a class was predicted with probability P of being asked about, in place."""
    (tally,) = lend(address)
    settle_one_class(tally, predicted, label, P, level)


@apart
def settle_one_class(tally: Any, predicted: int, label: int, P: float, level: int) -> None:
    """The same, for a tally that is lent."""
    k, place, wrong = len(tally.sums), place_of(P), predicted != label
    P = max(P, SMALLEST_COIN)
    e = ERRORS[level]
    small, f = e / max(k - 1, 1), tally.factors
    bet(f, tally.growth, tally.loss, P, place, level, wrong, wrong)
    for j in range(len(f)):
        tally.false[predicted, j] += math.log(f[j])
    stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, False)
    stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, False)
    for j in range(len(f)):
        log = math.log(f[j])
        tally.others[predicted, j] += log
        if wrong:
            tally.missed[label, j] -= log
    sums = tally.sums
    sums[predicted, ANSWERED] += 1.0
    sums[predicted, RESIDUAL] += ((1.0 if wrong else 0.0) - e) / P
    sums[predicted, UNSEEN] -= small / P
    if wrong:
        sums[predicted, FALSE] += 1.0
        sums[label, MISSED] += 1.0
        sums[label, SEEN] += 1.0 / P
        stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, True)
        stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, True)
        for j in range(len(f)):
            tally.missed[label, j] += math.log(f[j])


def note_classes(tally: ClassTally, *rounds: Any) -> None:
    """Count rounds that were told at once, in place; see :func:`note_all_classes`."""
    (_held, address), kind = new_frame(tally)
    entry_point(note_all_classes, kind, *rounds)(address, *rounds)


@entry
def note_all_classes(address: Any, predicted: Any, label: Any, probability: Any, queried: Any, levels: Any) -> None:
    """Count rounds that were told at once, in place."""
    (tally,) = lend(address)
    predicted, label, probability = borrow(predicted), borrow(label), borrow(probability)
    queried, levels = borrow(queried), borrow(levels)
    for i in range(len(predicted)):
        count_class(tally, predicted[i], probability[i], int(levels[i]), queried[i])
        if queried[i]:
            settle_one_class(tally, predicted[i], int(label[i]), probability[i], int(levels[i]))


def doubt_class(tally: ClassTally, predicted: int, P: float, level: int) -> None:
    """Count a question without an answer as what is worst for every bound, in place."""
    asked = (predicted, float(P), level)
    (_held, address), kind = new_frame(tally)
    entry_point(doubt_label, kind, *asked)(address, *asked)


@entry
def doubt_label(address: Any, predicted: int, P: float, level: int) -> None:
    """The same, in place."""
    (tally,) = lend(address)
    k, f, place = len(tally.sums), tally.factors, place_of(P)
    P = max(P, SMALLEST_COIN)
    bet(f, tally.growth, tally.loss, P, place, level, True, False)
    for j in range(len(f)):
        tally.false[predicted, j] += math.log(f[j])
    small = ERRORS[level] / max(k - 1, 1)
    stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, True)
    stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, False)
    for j in range(len(f)):
        tally.others[predicted, j] += math.log(f[j])
