"""Many rounds with immediate answers, counted in a tally: the same bits as round by round, in a third of the time.

Rounds are taken in stretches in which neither a block of the tally ends nor the scale of the margins is updated, that
is at most 64 at a time. Sums stay in registers over a stretch. Where all labels were certain to be asked for, as in
supervised learning, nothing is predicted and nothing is bet: such rounds are only counted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, SMALLEST_COIN, place_of
from ...compiled.frames import lend, new_frame
from ...compiled.steps import borrow, entry, entry_point, step
from .error_model import (
    LABELS,
    learn_label,
    looks_at,
    note_margins,
    rounds_to_look,
    update_limits,
)
from .round_tally import (
    ANSWERED,
    CERTAIN,
    EXPECTED,
    MISTAKES,
    RESIDUAL,
    ROUNDS,
    Tally,
    add_round,
    count_labelled,
    end_block,
    learns_from,
    level_before,
    settle_round,
)

NO_LEVELS = np.zeros(0, np.int8)
_EXACT = 2.0**40


class Rounds(NamedTuple):
    """The rounds to be counted, a column each."""

    probability: Any
    margin: Any
    prediction: Any
    queried: Any
    mistaken: Any
    levels: Any


def note_rounds(tally: Tally, *rounds: Any) -> None:
    """Count rounds with immediate answers, in place; see :func:`note_all`."""
    (_held, address), kind = new_frame(tally)
    note_rounds_at(address, kind, *rounds, NO_LEVELS)


def note_rounds_at(address: int, kind: Any, *rounds: Any) -> None:
    """Count rounds with immediate answers in the tally at an address, in place."""
    entry_point(note_all, kind, *rounds)(address, *rounds)


# More than eight arguments: a compiled step takes numbers one by one, without building a tuple of them.
@entry
def note_all(
    address: Any,
    probability: Any,
    margin: Any,
    prediction: Any,
    queried: Any,
    mistaken: Any,
    floor: float,
    blind: bool,
    levels: Any,
) -> None:
    """Count rounds with immediate answers, in place.

    In ``blind`` rounds the random draw decides whether P is known: each counts as one that was asked about with the
    rule's floor as its probability. The levels of the bets are written to ``levels``, unless it is empty.
    """
    (tally,) = lend(address)
    rounds = Rounds(probability, margin, prediction, queried, mistaken, levels)
    count_many(tally, borrow(rounds), 0, len(margin), place_of(floor), blind)


@step
def count_many(tally: Any, rounds: Any, first: int, end: int, place: int, blind: bool) -> None:
    """Count the rounds from ``first`` to ``end``, with immediate answers, in place; ``place`` is for blind rounds."""
    if blind or tally.log_cost != 0.0:
        count_each(tally, rounds, first, end, place, blind)
        return
    count, size, i = tally.count, tally.steps[0], first
    limits_are_old = False
    while i < end:
        if count[0] - count[1] >= size:
            end_block(tally)
        t = count[0]
        last = min(end, i + min(size - (t - count[1]), rounds_to_look(t)))
        note_margins(tally.model, rounds.margin, i, last, looks_at(t))
        count[0] = t + last - i
        if all_certain(rounds, i, last) and are_multiples(tally.fresh):
            count_certain(tally, rounds, i, last)
            limits_are_old = True
        else:
            if limits_are_old:
                update_limits(tally.model, tally.limits)
                limits_are_old = False
            count_uncertain(tally, rounds, i, last)
        i = last
    if limits_are_old:
        update_limits(tally.model, tally.limits)


@step
def count_each(tally: Any, rounds: Any, first: int, end: int, place: int, blind: bool) -> None:
    """Count rounds one by one, in place."""
    for i in range(first, end):
        outcome = (rounds.prediction[i] > 0, rounds.queried[i], rounds.mistaken[i])
        level = count_labelled(tally, rounds.probability[i], rounds.margin[i], *outcome, place, blind)
        if len(rounds.levels) > 0:
            rounds.levels[i] = level


@step
def all_certain(rounds: Any, first: int, last: int) -> Any:
    """Whether all of these rounds were asked about, with probability 1."""
    found: Any = True
    for i in range(first, last):
        found &= rounds.queried[i] & (rounds.probability[i] == 1.0)
    return found


@step
def are_multiples(fresh: Any) -> Any:
    """Whether rounds that were certain to be asked about can be added to these sums in any order, with the same bits.

    What they add is a multiple of ``ERRORS[0]``, which is a power of two.
    """
    found: Any = True
    for side in range(2):
        for which in (EXPECTED, RESIDUAL):
            parts = fresh[side, which] / ERRORS[0]
            found &= (parts == math.floor(parts)) & (abs(parts) < _EXACT)
    return found


@step
def count_certain(tally: Any, rounds: Any, first: int, last: int) -> None:
    """Count rounds that were certain to be asked about, and their labels, in place, after their margins."""
    positive = wrong = false = 0
    for i in range(first, last):
        is_positive, is_wrong = rounds.prediction[i] > 0, rounds.mistaken[i]
        positive += is_positive
        wrong += is_wrong
        false += is_positive & is_wrong
    add_certain(tally.fresh[0], last - first - positive, wrong - false)
    add_certain(tally.fresh[1], positive, false)
    n = int(tally.model[LABELS])
    tally.model[LABELS] += last - first
    for i in range(first, last):
        if learns_from(1.0, n + i - first):
            learn_label(tally.model, rounds.margin[i], (rounds.prediction[i] > 0) != rounds.mistaken[i])
        if len(rounds.levels) > 0:
            rounds.levels[i] = 0


@step
def add_certain(fresh: Any, n: int, wrong: int) -> None:
    """Count n rounds that were certain to be asked about, and their labels, of which so many were wrong, in place."""
    fresh[ROUNDS] += n
    fresh[ANSWERED] += n
    fresh[MISTAKES] += wrong
    fresh[CERTAIN] += wrong
    fresh[EXPECTED] += n * ERRORS[0]
    fresh[RESIDUAL] += wrong - n * ERRORS[0]


@step
def count_uncertain(tally: Any, rounds: Any, first: int, last: int) -> None:
    """Count rounds, and the labels among them that were asked for, in place, after their margins."""
    for i in range(first, last):
        P, raw = rounds.probability[i], rounds.margin[i]
        positive, asked, place = rounds.prediction[i] > 0, rounds.queried[i], place_of(P)
        level = level_before(tally, P, raw, positive)
        add_round(tally, place, level, positive, asked, P >= SMALLEST_COIN)
        if asked:
            settle_round(tally, 1, P, raw, place, level, positive, rounds.mistaken[i])
        if len(rounds.levels) > 0:
            rounds.levels[i] = level
