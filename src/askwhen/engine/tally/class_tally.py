"""The tally of several classes: sums from which precision, recall, F and the confusion matrix are estimated.

The bets are those of :mod:`askwhen.betting`, on two kinds of events. A *false* prediction of class c is a
mistake in a round in which c was predicted: rounds and answers are summed by the predicted class. A *missed* c is a
round with the label c in which another class was predicted: there its probability is taken to be a fixed share of that
of a mistake, so that answers are summed by the predicted class as if the label had been another one, and what a label
of c changes is summed by the predicted class and that label. With many classes it is summed by the label alone.

==========  ==========================================================
cells       unasked rounds by predicted class, place and level
false       logarithms of what answers did to the wealth that bets on false predictions, by predicted class
others      the same for a class that was neither predicted nor the label, by predicted class
missed      the correction of that for the class of the label, where it was not predicted, by predicted class and label
seen        number of labels of a class where another one was predicted, and their weighted number, likewise
sums        by predicted class: rounds, those in which nothing could be asked, answers, false predictions seen,
            predicted mistakes, their weighted difference from answers, and minus the weighted predictions
share       the share of a mistake's probability that is attributed to each of the other classes
==========  ==========================================================

With open classes, the last row is for rounds before the first class was opened, and some rows before it are spare.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import CHANCES, ERRORS, HALVINGS, LEVELS, PLACES, SMALLEST_COIN, STAKES, STANDARD, bet, place_of, stake
from ...compiled.frames import lend, new_frame
from ...compiled.steps import apart, borrow, entry, entry_point, step
from ...contracts.learner import LARGEST_COUNT, is_sound
from ...linalg.vectors import LARGEST, all_within

ROUNDS, UNOBSERVED, ANSWERED, FALSE, EXPECTED, RESIDUAL, UNSEEN = range(7)

MOST_PAIRED = 128
"""With more rows than this, answers are not summed by pairs of classes, which take 4 MB at this size."""

OPEN_SHARE = 0.25
"""The ``share`` for open classes, whose final number is not known."""


class ClassTally(NamedTuple):
    """See above."""

    cells: Any
    false: Any
    others: Any
    missed: Any
    seen: Any
    sums: Any
    growth: Any
    loss: Any
    factors: Any
    share: float


STORED = ("cells", "false", "others", "missed", "seen", "sums")
"""Arrays that are stored in files."""


def new_class_tally(k: int, appear: bool = False) -> ClassTally:
    """A tally before the first round, for k classes, or of k rows for open classes."""
    pairs = k if k <= MOST_PAIRED else 1
    false, others, missed, seen = (np.zeros(shape) for shape in (*2 * [(k, STAKES)], (pairs, k, STAKES), (pairs, k, 2)))
    cells, sums, factors = np.zeros((k, PLACES * LEVELS)), np.zeros((k, 7)), np.zeros(STAKES)
    share = OPEN_SHARE if appear else 1.0 / max(k - 1, 1)
    logs = (np.exp(STANDARD), -np.expm1(STANDARD))
    return ClassTally(cells, false, others, missed, seen, sums, *logs, factors, share)


def widen_class_tally(tally: ClassTally, rows: int) -> ClassTally:
    """The same tally with more rows before the last one; where pairs become too many, they are added up by label."""
    wider = new_class_tally(rows, appear=True)
    k = len(tally.sums)
    places = np.r_[np.arange(k - 1), rows - 1]
    for name in ("cells", "false", "others", "sums"):
        getattr(wider, name)[places] = getattr(tally, name)
    for name in ("missed", "seen"):
        old, new = getattr(tally, name), getattr(wider, name)
        if len(new) > 1:
            new[np.ix_(places, places)] = old
        else:
            new[:, places] = old.sum(axis=0)
    return wider


@is_sound.of(ClassTally)
def _is_sound(tally: ClassTally) -> Any:
    weights = LARGEST_COUNT / SMALLEST_COIN
    return (
        all_within(tally.cells, 0.0, LARGEST_COUNT)
        and all(all_within(each, -LARGEST, LARGEST) for each in (tally.false, tally.others, tally.missed))
        and all_within(tally.seen, 0.0, weights)
        and all_within(tally.sums[:, :EXPECTED], 0.0, LARGEST_COUNT)
        and all_within(tally.sums[:, EXPECTED:], -weights, weights)
    )


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
    answer = (predicted, label, P, level)
    (_held, address), kind = new_frame(tally)
    entry_point(settle_label, kind, *answer)(address, *answer)


@entry
def settle_label(address: Any, predicted: int, label: int, P: float, level: int) -> None:
    """Count the label of a round in which a class was predicted with probability P of being asked about, in place."""
    (tally,) = lend(address)
    settle_one_class(tally, predicted, label, P, level)


@apart
def settle_one_class(tally: Any, predicted: int, label: int, P: float, level: int) -> None:
    """Count the label of a round in a tally inside compiled code, in place."""
    place, wrong, pair = place_of(P), predicted != label, predicted if len(tally.missed) > 1 else 0
    P = max(P, SMALLEST_COIN)
    e = ERRORS[level]
    small, f = tally.share * e, tally.factors
    bet(f, tally.growth, tally.loss, P, place, level, wrong, wrong)
    for j in range(len(f)):
        tally.false[predicted, j] += math.log(f[j])
    stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, False)
    stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, False)
    for j in range(len(f)):
        log = math.log(f[j])
        tally.others[predicted, j] += log
        if wrong:
            tally.missed[pair, label, j] -= log
    sums = tally.sums
    sums[predicted, ANSWERED] += 1.0
    sums[predicted, RESIDUAL] += ((1.0 if wrong else 0.0) - e) / P
    sums[predicted, UNSEEN] -= small / P
    if wrong:
        sums[predicted, FALSE] += 1.0
        tally.seen[pair, label, 0] += 1.0
        tally.seen[pair, label, 1] += 1.0 / P
        stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, True)
        stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, True)
        for j in range(len(f)):
            tally.missed[pair, label, j] += math.log(f[j])


def note_classes(tally: ClassTally, *rounds: Any) -> None:
    """Count rounds with immediate answers, in place; see :func:`note_all_classes`."""
    (_held, address), kind = new_frame(tally)
    entry_point(note_all_classes, kind, *rounds)(address, *rounds)


@entry
def note_all_classes(address: Any, predicted: Any, label: Any, probability: Any, queried: Any, levels: Any) -> None:
    """Count rounds with immediate answers, in place."""
    (tally,) = lend(address)
    predicted, label, probability = borrow(predicted), borrow(label), borrow(probability)
    queried, levels = borrow(queried), borrow(levels)
    for i in range(len(predicted)):
        count_class(tally, predicted[i], probability[i], int(levels[i]), queried[i])
        if queried[i]:
            settle_one_class(tally, predicted[i], int(label[i]), probability[i], int(levels[i]))


def doubt_class(tally: ClassTally, predicted: int, P: float, level: int) -> None:
    """Count an unanswered question as the worst case for every bound, in place."""
    asked = (predicted, float(P), level)
    (_held, address), kind = new_frame(tally)
    entry_point(doubt_label, kind, *asked)(address, *asked)


@entry
def doubt_label(address: Any, predicted: int, P: float, level: int) -> None:
    """Count an unanswered question in the tally at an address, as the worst case, in place."""
    (tally,) = lend(address)
    f, place = tally.factors, place_of(P)
    P = max(P, SMALLEST_COIN)
    bet(f, tally.growth, tally.loss, P, place, level, True, False)
    for j in range(len(f)):
        tally.false[predicted, j] += math.log(f[j])
    small = tally.share * ERRORS[level]
    stake(f, tally.growth, tally.loss, 0, P, CHANCES[place], small, True)
    stake(f, tally.growth, tally.loss, HALVINGS, P, CHANCES[place], small, False)
    for j in range(len(f)):
        tally.others[predicted, j] += math.log(f[j])
