"""Many rounds with immediate answers, counted in a tally: the same bits as round by round, in a third of the time.

Rounds are taken in stretches in which neither a block of the tally ends nor the scale of the margins is updated, that
is at most 64 at a time. Sums stay in registers over a stretch. Where all labels were certain to be asked for, as in
supervised learning, nothing is predicted and nothing is bet: such rounds are only counted.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, LEVELS, SMALLEST_COIN, place_of
from ...compiled.frames import lend, new_frame
from ...compiled.scratch import scratch
from ...compiled.steps import apart, borrow, entry, entry_point, step
from ...linalg.vectors import clear
from .error_model import (
    LABELS,
    learn_label,
    level_of,
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
    UNOBSERVED,
    Tally,
    add_round,
    cell_of,
    count_labelled,
    end_block,
    level_before,
    note_cell,
    settle_round,
    until_learnt,
)

NO_LEVELS = np.zeros(0, np.int8)

_MANY = 8
"""From so many unasked rounds in a row on, they are counted together."""

_EXACT = 2.0**40
_INEXACT = 1 << 40
_PARTS = np.where(ERRORS % ERRORS[0] == 0.0, ERRORS / ERRORS[0], _INEXACT).astype(np.int64)
"""The probability of a mistake of each level as a multiple of the first; some are no multiples."""


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
    P, queried = rounds.probability[first:last], rounds.queried[first:last]
    others = 0
    for i in range(len(P)):
        others += 0 if queried[i] and P[i] == 1.0 else 1
    return others == 0


@step
def is_multiple(total: float) -> Any:
    """Whether multiples of ``ERRORS[0]``, a power of two, can be added to this sum in any order, with the same bits."""
    parts = total / ERRORS[0]
    return parts == math.floor(parts) and abs(parts) < _EXACT


@step
def are_multiples(fresh: Any) -> Any:
    """Whether rounds that were certain to be asked about can be added to these sums in any order."""
    found: Any = True
    for side in range(2):
        found &= is_multiple(fresh[side, EXPECTED]) & is_multiple(fresh[side, RESIDUAL])
    return found


@step
def count_certain(tally: Any, rounds: Any, first: int, last: int) -> None:
    """Count rounds that were certain to be asked about, and their labels, in place, after their margins."""
    predicted, mistaken, margins = rounds.prediction[first:last], rounds.mistaken[first:last], rounds.margin[first:last]
    positive = wrong = false = 0
    for i in range(last - first):
        is_positive, is_wrong = 1 if predicted[i] > 0 else 0, 1 if mistaken[i] else 0
        positive += is_positive
        wrong += is_wrong
        false += is_positive & is_wrong
    add_certain(tally.fresh[0], last - first - positive, wrong - false)
    add_certain(tally.fresh[1], positive, false)
    n = int(tally.model[LABELS])
    tally.model[LABELS] += last - first
    i = until_learnt(n)
    while i < last - first:
        learn_label(tally.model, margins[i], (predicted[i] > 0) != mistaken[i])
        i += 1 + until_learnt(n + i + 1)
    if len(rounds.levels) > 0:
        clear(rounds.levels[first:last])


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
    i = first
    while i < last:
        end = i
        while end < last and not rounds.queried[end]:
            end += 1
        if end - i >= _MANY:
            count_unasked(tally, rounds, i, end)
        else:
            end = min(end + 1, last)
            for j in range(i, end):
                count_one(tally, rounds, j)
        i = end


@step
def count_one(tally: Any, rounds: Any, i: int) -> None:
    """Count a round, and its label if it was asked for, in place, after its margin."""
    P, raw = rounds.probability[i], rounds.margin[i]
    positive, asked, place = rounds.prediction[i] > 0, rounds.queried[i], place_of(P)
    level = level_before(tally, P, raw, positive)
    add_round(tally, place, level, positive, asked, P >= SMALLEST_COIN)
    if asked:
        settle_round(tally, 1, P, raw, place, level, positive, rounds.mistaken[i])
    if len(rounds.levels) > 0:
        rounds.levels[i] = level


@apart
def count_unasked(tally: Any, rounds: Any, first: int, last: int) -> None:
    """Count rounds that were not asked about, at most 64, in place, after their margins.

    No answer between them changes the error model, so that the processor finds the cells of several at once.
    """
    P, raw, predicted = rounds.probability[first:last], rounds.margin[first:last], rounds.prediction[first:last]
    model, limits, cells = tally.model, tally.limits, scratch()[: last - first]
    positive = unobserved = false = parts = false_parts = 0
    for i in range(len(P)):
        is_positive, is_lost = predicted[i] > 0, 0 if P[i] >= SMALLEST_COIN else 1
        level = level_of(model, limits, raw[i], is_positive)
        level = level if (P[i] < 1.0) & (raw[i] == raw[i]) else 0
        cells[i] = cell_of(place_of(P[i]), level, is_positive)
        part = int((1 - is_lost) * _PARTS[level])
        positive += 1 if is_positive else 0
        unobserved += is_lost
        parts += part
        false += is_lost if is_positive else 0
        false_parts += part if is_positive else 0
    negative, other = tally.fresh[0], tally.fresh[1]
    negative[ROUNDS] += len(P) - positive
    negative[UNOBSERVED] += unobserved - false
    other[ROUNDS] += positive
    other[UNOBSERVED] += false
    if parts < _INEXACT and is_multiple(negative[EXPECTED]) and is_multiple(other[EXPECTED]):
        negative[EXPECTED] += (parts - false_parts) * ERRORS[0]
        other[EXPECTED] += false_parts * ERRORS[0]
    else:
        for i in range(len(P)):
            if P[i] >= SMALLEST_COIN:
                tally.fresh[1 if predicted[i] > 0 else 0, EXPECTED] += ERRORS[cells[i] % LEVELS]
    for i in range(len(cells)):
        note_cell(tally, cells[i])
    if len(rounds.levels) > 0:
        for i in range(len(cells)):
            rounds.levels[first + i] = cells[i] % LEVELS
