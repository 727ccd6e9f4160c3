"""What a sampler remembers of its labels, to say how accurate it is: sums of fixed size, whatever the stream's length.

Every asked label carries the probability P with which it was asked, so mistakes weighted by 1/P estimate the mistakes
of all rounds. For bounds that hold at every round at once, the same mistakes are summed for a grid of stakes gamma:

==========  ==========================================================
gamma_j     2^-j, j = 1 .. 16: a stake
high        sum of -ln(1 - gamma_j / P) over asked mistakes with P > gamma_j
low         sum of ln(1 + gamma_j / P) over asked mistakes
rounds      how many rounds had P in (2^-(j+1), 2^-j], at place j; smaller ones at place 16, and P = 0 at the last
==========  ==========================================================

Logarithms are slow: factors are multiplied up in ``up`` and ``down``, and their logarithm is added to ``high`` and
``low`` before they leave the range of floating point. :func:`totals` has the sums.

Each is kept apart for rounds in which -1 and +1 was predicted (rows 0 and 1), since the mistakes are then false
negatives and false positives. :mod:`askwhen.evaluate` turns the sums into estimates and intervals.

The last rounds are kept one by one, for the accuracy of late; a label that comes late finds its round there.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.frames import lend, new_frame
from ..compiled.steps import apart, borrow, entry, entry_point, step
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..linalg.vectors import LARGEST, all_within

STAKES = 16
UNOBSERVED = STAKES + 1
"""The place of rounds in which nothing could be asked."""

RECENT = 5000
"""Of how many of the last rounds the accuracy can be told; a tenth more are kept one by one."""

UNASKED, OPEN, RIGHT, WRONG = 0, 1, 2, 3
"""What is known of a round."""

HALVES = 0.5 ** np.arange(1, STAKES + 1)
"""The stakes: powers of two, so that multiplying by them is exact."""

SMALLEST_COIN = 2.0**-53
"""The smallest probability of asking that there is: coins are multiples of 2^-53, and the coin 0 always asks."""

WEIGHTED, MISTAKES, ANSWERED, FORGOTTEN = range(4)


class Tally(NamedTuple):
    """Row 0 is for predictions of -1, row 1 for +1. sums = (weighted mistakes, mistakes, answered, forgotten).

    ``chance``, ``status`` and ``side`` hold the last rounds, round t at place t modulo their length.
    """

    rounds: Any
    high: Any
    low: Any
    up: Any
    down: Any
    sums: Any
    chance: Any
    status: Any
    side: Any


def new_tally(length: int = RECENT + RECENT // 10) -> Tally:
    """Nothing has happened; so many rounds will be kept one by one."""
    high, low = np.zeros((2, STAKES)), np.zeros((2, STAKES))
    status, side = np.zeros(length, np.int8), np.zeros(length, np.int8)
    up, down = np.ones((2, STAKES)), np.ones((2, STAKES))
    return Tally(np.zeros((2, STAKES + 2)), high, low, up, down, np.zeros((2, 4)), np.zeros(length), status, side)


@is_sound.of(Tally)
def _is_sound(tally: Tally) -> Any:
    return (
        all_within(tally.side, 0, 1)
        and all_within(tally.status, UNASKED, WRONG)
        and all_within(tally.chance, 0.0, 1.0)
        and all_within(tally.rounds, 0.0, LARGEST_COUNT)
        and all_within(tally.sums, 0.0, LARGEST_COUNT / SMALLEST_COIN)
        and all_within(tally.high, 0.0, LARGEST)
        and all_within(tally.low, 0.0, LARGEST)
        and all_within(tally.up, 1.0 / LARGEST, 1.0)
        and all_within(tally.down, 1.0, LARGEST)
    )


def totals(tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """The sums ``high`` and ``low``, with the factors that have not been added to them yet."""
    return tally.high - np.log(tally.up), tally.low + np.log(tally.down)


@step
def stakes_above(P: float) -> Any:
    """How many of the stakes 1/2, 1/4, .. are at least P; a place of its own where P is 0."""
    if not P > 0.0:  # and where a damaged file has made it no number
        return UNOBSERVED
    if P < 2.0**-STAKES:
        return STAKES
    fraction, exponent = math.frexp(P)
    return 1 - exponent if fraction == 0.5 else -exponent


@step
def note_round(tally: Any, t: int, P: float, side: int, status: int) -> None:
    """Count round t, in which ``side`` was predicted, in place."""
    tally.rounds[side, stakes_above(P)] += 1.0
    keep_round(tally, t, P, side, status)


@step
def keep_round(tally: Any, t: int, P: float, side: int, status: int) -> None:
    """Keep round t among the last ones, in place."""
    here = t % len(tally.chance)
    tally.chance[here] = P
    tally.status[here] = status
    tally.side[here] = side


@step
def note_label(tally: Any, P: float, side: int, mistaken: bool) -> None:
    """Count an asked label, in place."""
    sums = tally.sums[side]
    sums[ANSWERED] += 1.0
    if mistaken:
        sums[MISTAKES] += 1.0
        sums[WEIGHTED] += 1.0 / max(P, SMALLEST_COIN)
        stake(tally.high[side], tally.low[side], tally.up[side], tally.down[side], P)


@apart
def stake(high: Any, low: Any, up: Any, down: Any, P: float) -> None:
    """Stake on a mistake that was asked about with probability P, in place."""
    whole, full = 1.0 / max(P, SMALLEST_COIN), 0
    for j in range(STAKES):  # without branches, so that several are done at once
        share = whole * HALVES[j]
        up[j] *= 1.0 - share if share < 1.0 else 1.0
        down[j] *= 1.0 + share
        full |= (up[j] < 1e-200) | (down[j] > 1e200)
    if full:
        carry_over(high, low, up, down)


@apart
def carry_over(high: Any, low: Any, up: Any, down: Any) -> None:
    """Add the logarithms of factors that would soon leave the range of floating point, in place."""
    for j in range(STAKES):
        if up[j] < 1e-200:
            high[j] -= math.log(up[j])
            up[j] = 1.0
        if down[j] > 1e200:
            low[j] += math.log(down[j])
            down[j] = 1.0


@entry
def stake_on_doubt(high: Any, P: float) -> None:
    """Count a question without an answer as a mistake in the upper bound, in place."""
    share = 1.0 / max(P, SMALLEST_COIN)
    for j in range(STAKES):
        share *= 0.5
        if share < 1.0:
            high[j] -= math.log1p(-share)


@step
def settle_round(tally: Any, t: int, now: int, P: float, side: int, mistaken: bool) -> None:
    """Count the label of round t, which was asked before round ``now``, in place."""
    note_label(tally, P, side, mistaken)
    if now - t <= len(tally.chance):
        tally.status[t % len(tally.chance)] = WRONG if mistaken else RIGHT


def forget_round(tally: Tally, P: float, side: int) -> None:
    """Count a question that will never be answered as a possible mistake, in place."""
    tally.sums[side, FORGOTTEN] += 1.0
    stake_on_doubt(tally.high[side], P)


def note_rounds(tally: Tally, first: int, *told: Any) -> None:
    """Count rounds that were told at once, from round ``first`` on, in place; see :func:`note_all`."""
    (_held, address), kind = new_frame(tally)
    note_rounds_at(address, kind, first, *told)


def note_rounds_at(address: int, kind: Any, first: int, *told: Any) -> None:
    """The same for a tally in a frame."""
    entry_point(note_all, kind, first, *told)(address, first, *told)


@entry
def note_all(
    address: Any, first: int, probability: Any, prediction: Any, queried: Any, mistaken: Any, floor: float
) -> None:
    """Count rounds that were told at once, from round ``first`` on, in place.

    A probability that was not computed is at least the rule's floor, and counts as that.
    """
    (tally,) = lend(address)
    probability, prediction = borrow(probability), borrow(prediction)
    queried, mistaken = borrow(queried), borrow(mistaken)
    n = len(probability)
    known, place = -1.0, 0  # many rules ask with the same probability again and again
    for i in range(n):
        P = probability[i]
        if math.isnan(P):
            P = floor
        if known != P:
            known, place = P, stakes_above(P)
        side = 1 if prediction[i] > 0 else 0
        tally.rounds[side, place] += 1.0
        status = UNASKED
        if queried[i]:
            status = WRONG if mistaken[i] else RIGHT
            note_label(tally, P, side, mistaken[i])
        if i >= n - len(tally.chance):  # later rounds would take the places of earlier ones
            keep_round(tally, first + i, P, side, status)


def note_window(window: Tally, tally: Tally, first: int, last: int) -> None:
    """Count the rounds from first to last, the last excluded, of those that a tally keeps one by one, in place."""
    (_held, address), kind = new_frame(window, tally)
    entry_point(note_kept, kind, first, last)(address, first, last)


@entry
def note_kept(address: Any, first: int, last: int) -> None:
    """Count the rounds from first to last, the last excluded, of the second tally in the first, in place."""
    window, tally = lend(address)
    for t in range(first, last):
        here = t % len(tally.chance)
        P, side, status = tally.chance[here], tally.side[here], tally.status[here]
        note_round(window, 0, P, side, UNASKED)
        if status == OPEN:
            stake_on_doubt(window.high[side], P)
        elif status != UNASKED:
            note_label(window, P, side, status == WRONG)
