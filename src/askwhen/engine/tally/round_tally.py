"""The tally of a sampler: sums of fixed size, from which its accuracy is estimated however long the stream is.

Every asked label carries the probability P with which it was asked. The mistake of its round, minus its predicted
probability and weighted by 1/P, estimates the mistakes of all rounds. It also changes the wealth of the bets in
:mod:`askwhen.betting`, whose bounds hold at any time, however often you look. :mod:`askwhen.evaluate`
computes estimates and intervals from both. A tally has

- sums since the first round: unasked rounds in ``cells``, by side, place and level; the logarithms of the wealth from
  answers, by side and stake, in ``logs``; and ``sums``. Side 0 is for rounds in which -1 was predicted, side 1 for +1,
  since their mistakes are false negatives and false positives;
- sums of recent rounds, for each of several windows: a ring of eleven blocks, each a tenth of the window long, both
  sides together;
- ``strata``: answers, forgotten questions and the weighted difference of the answers by side and stretch of time, since
  the first round, so that answers can stand for questions of the same time that have none. There are up to 32 equally
  long strata; when more are needed, each is joined with its neighbour;
- ``now``, ``product`` and ``fresh``: the current block of the shortest window, which is added to all other sums when it
  ends. Logarithms are slow, so factors of the wealth are first multiplied in ``product``.

A label that comes late is counted in the blocks of its round, as long as they are in the ring.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, LEVELS, PLACES, SMALLEST_COIN, STAKES, STANDARD, bet, place_of
from ...compiled.lanes import at, put
from ...compiled.steps import apart, entry, step
from ...contracts.learner import LARGEST_COUNT, is_sound
from ...linalg.vectors import LARGEST, all_within, clear
from ...logistic import sigmoid
from .error_model import (
    LABELS,
    SHRINK,
    boundary,
    count_label,
    is_sound_model,
    learn_label,
    level_at,
    level_of,
    log_odds,
    looks_at,
    new_model,
    note_margin,
    set_limits,
    update_limits,
)

WINDOWS = (1_000, 5_000, 20_000)
"""Lengths of the windows of recent rounds whose accuracy is estimated; each may include up to a tenth more rounds."""

BLOCKS = 11
ROUNDS, UNOBSERVED, ANSWERED, MISTAKES, FORGOTTEN, CERTAIN, EXPECTED, RESIDUAL = range(8)
"""Indices in sums: rounds; rounds in which nothing could be asked; answers; mistakes among them; questions that will
never be answered; mistakes in rounds that were certain to be asked about, which need no bet; the sum of the predicted
probabilities of a mistake; and the weighted difference of the answers from these."""

CELLS = PLACES * LEVELS
_SUMS = 8
_FIRST_LABELS, _SKIPPED_BITS = 1000, 7
"""Where every label is asked for, the error model learns the first thousand, and then one in eight, which suffices."""

STRATA = 32
"""Largest number of equally long stretches of time for which answers are counted since the first round."""

IN_STRATUM = (ANSWERED, FORGOTTEN, RESIDUAL)
"""The sums of a stratum, in the order of its numbers."""

_FACTORS = 1e200
"""A product is turned into a logarithm before it leaves the range from 1e-200 to this, so that it cannot overflow."""


class Tally(NamedTuple):
    """See above. count = (rounds, the first round of the current block, the number of its ``touched`` cells).

    ``steps`` has the length of each window's blocks, and ``touched`` the cells of the current block that are not 0.

    ``growth`` and ``loss`` are e^c and 1 - e^c of the stakes c. ``log_cost`` is ln of the ratio of the cost of a false
    positive to that of a false negative.
    """

    cells: Any
    logs: Any
    sums: Any
    now: Any
    touched: Any
    product: Any
    carried: Any
    fresh: Any
    block_cells: Any
    block_logs: Any
    block_sums: Any
    strata: Any
    stakes: Any
    growth: Any
    loss: Any
    factors: Any
    model: Any
    limits: Any
    count: Any
    steps: Any
    log_cost: float


DERIVED = ("growth", "loss", "factors", "limits", "steps", "touched")
"""Arrays that are computed from the others, and not stored in files."""


LATER = ("strata",)
"""Arrays that files of earlier versions lack; there they begin with zeros."""


def new_tally(windows: tuple[int, ...] = WINDOWS, log_cost: float = 0.0, stakes: np.ndarray = STANDARD) -> Tally:
    """A tally before the first round, with windows of these lengths: each a multiple of the first, or below 10."""
    W = len(windows)
    cells, now, touched = np.zeros((2, CELLS)), np.zeros(2 * CELLS, np.uint16), np.zeros(2 * CELLS, np.int64)
    wealth = [np.zeros((2, STAKES)) for _ in range(2)]
    blocks = np.zeros((W, BLOCKS, CELLS), np.uint16), np.zeros((W, BLOCKS, STAKES)), np.zeros((W, BLOCKS, _SUMS))
    steps = np.array([max(window // 10, 1) for window in windows], np.int64)
    limits = np.zeros(LEVELS - 1)
    set_limits(limits, 0.0)
    return Tally(
        cells,
        wealth[0],
        np.zeros((2, _SUMS)),
        now,
        touched,
        np.ones((2, STAKES)),
        wealth[1],
        np.zeros((2, _SUMS)),
        *blocks,
        np.zeros((2, STRATA, len(IN_STRATUM))),
        stakes.copy(),
        np.exp(stakes),
        -np.expm1(stakes),
        np.zeros(STAKES),
        new_model(),
        limits,
        np.zeros(3, np.int64),
        steps,
        float(log_cost),
    )


def complete(tally: Tally) -> None:
    """Compute the ``DERIVED`` arrays, in place, after the others were read from a file."""
    tally.growth[:], tally.loss[:] = np.exp(tally.stakes), -np.expm1(tally.stakes)
    update_limits(tally.model, tally.limits)
    touched = np.flatnonzero(tally.now)
    tally.touched[: len(touched)], tally.count[2] = touched, len(touched)


@is_sound.of(Tally)
def _is_sound(tally: Tally) -> Any:
    largest = LARGEST_COUNT / SMALLEST_COIN
    sums = (tally.sums, tally.fresh, tally.block_sums)
    return (
        all_within(tally.cells, 0.0, LARGEST_COUNT)
        and all(all_within(each[..., :EXPECTED], 0.0, LARGEST_COUNT) for each in sums)
        and all(all_within(each[..., EXPECTED:], -largest, largest) for each in sums)
        and all(all_within(each, -LARGEST, LARGEST) for each in (tally.logs, tally.carried, tally.block_logs))
        and all_within(tally.product, 1.0 / LARGEST, LARGEST)
        and all_within(np.abs(tally.stakes), 1e-9, 2.0)
        and bool((np.sign(tally.stakes) == np.sign(STANDARD)).all())
        and is_sound_model(tally.model)
        and all_within(tally.count, 0, LARGEST_COUNT)
        and all_within(tally.strata[..., :2], 0.0, LARGEST_COUNT)
        and all_within(tally.strata[..., 2], -largest, largest)
        and tally.count[1] == first_of_block(int(tally.count[0]), int(tally.steps[0]))
    )


def first_of_block(count: int, size: int) -> int:
    """The first round of the current block of this size; a full block ends only when the next round begins."""
    return max(count - 1, 0) // size * size


@step
def stratum_length(ended: int, step: int) -> Any:
    """Number of rounds in a stratum, after this many rounds in blocks of ``step`` that have ended."""
    length = step
    while ended > STRATA * length:
        length *= 2
    return length


@step
def join_strata(strata: Any) -> None:
    """Join each stratum with its neighbour, in place, so that the second half is free."""
    for side in range(2):
        for s in range(STRATA // 2):
            for i in range(strata.shape[2]):
                strata[side, s, i] = strata[side, 2 * s, i] + strata[side, 2 * s + 1, i]
        for s in range(STRATA // 2, STRATA):
            for i in range(strata.shape[2]):
                strata[side, s, i] = 0.0


@apart
def end_block(tally: Any) -> None:
    """Add the current block of the shortest window to all other sums, and begin the next, in place."""
    count, steps = tally.count[0], tally.steps
    last, length = count - 1, stratum_length(count, steps[0])
    if length > stratum_length(tally.count[1], steps[0]):
        join_strata(tally.strata)
    stretch = last // length
    for side in range(2):
        fresh, stratum = tally.fresh[side], tally.strata[side, stretch]
        stratum[0] += fresh[ANSWERED]
        stratum[1] += fresh[FORGOTTEN]
        stratum[2] += fresh[RESIDUAL]
        add_sums(tally.sums[side], fresh)
    has_bets = take_logs(tally.carried[0], tally.product[0]), take_logs(tally.carried[1], tally.product[1])
    for w in range(len(steps)):  # a division takes as long as ten additions: one for each window is enough
        slot = last // steps[w] % BLOCKS
        sums, logs, cells = tally.block_sums[w, slot], tally.block_logs[w, slot], tally.block_cells[w, slot]
        for side in range(2):
            add_sums(sums, tally.fresh[side])
            if has_bets[side]:
                add_all(logs, tally.carried[side])
        for j in range(tally.count[2]):
            cell = tally.touched[j]
            cells[cell % CELLS] += tally.now[cell]
    for side in range(2):
        clear(tally.fresh[side])
        if has_bets[side]:
            add_all(tally.logs[side], tally.carried[side])
            clear(tally.carried[side])
    for j in range(tally.count[2]):
        cell = tally.touched[j]
        tally.cells[cell // CELLS, cell % CELLS] += tally.now[cell]
        tally.now[cell] = 0
    tally.count[1], tally.count[2] = count, 0
    for w in range(len(steps)):
        if count % steps[w] == 0:
            slot = count // steps[w] % BLOCKS
            clear(tally.block_logs[w, slot])
            clear(tally.block_sums[w, slot])
            block = tally.block_cells[w, slot]
            for i in range(len(block)):
                block[i] = 0


@step
def add_all(sums: Any, more: Any) -> None:
    """Add one array to another, in place."""
    for i in range(len(sums)):
        sums[i] += more[i]


@step
def add_sums(sums: Any, more: Any) -> None:
    """Add the eight sums of a block to others, in place."""
    for first in range(0, _SUMS, 4):
        i = np.uint64(first)
        put(sums, i, at(sums, i) + at(more, i))


@step
def take_logs(carried: Any, product: Any) -> Any:
    """Move the logarithms of the products to ``carried``, in place; return whether any product was not 1."""
    changed = 0
    for j in range(len(product)):  # mostly none: a loop without branches finds that out at once
        changed += 1 if (product[j] != 1.0) | (carried[j] != 0.0) else 0
    if changed > 0:
        for j in range(len(product)):
            if product[j] != 1.0 or carried[j] != 0.0:
                carried[j] += math.log(product[j])
                product[j] = 1.0
    return changed > 0


@step
def note_round(tally: Any, P: float, place: int, raw: float, positive: bool, asked: bool) -> Any:
    """Count a round with this raw margin, whose prediction is ``positive`` or not, in place; return its bet's level.

    The raw margin is measured from 0, even where costs have moved the boundary.
    """
    if not math.isnan(raw):
        note_margin(tally.model, raw, 1.0, looks_at(tally.count[0]))
    level = level_before(tally, P, raw, positive)
    count_round(tally, place, level, positive, asked, P >= SMALLEST_COIN)
    return level


@step
def level_before(tally: Any, P: float, raw: float, positive: bool) -> Any:
    """The level of a round's bet, from its margin: 0 where P is 1, so that nothing is bet, or the margin unknown."""
    return level_of(tally.model, tally.limits, raw, positive) if P < 1.0 and not math.isnan(raw) else 0


@apart
def note_blind_round(tally: Any, place: int, positive: bool, asked: bool) -> Any:
    """Count a round whose margin is computed only if it is asked about, in place; return the level of its bet."""
    sums, fresh, n = tally.sums, tally.fresh, tally.model[LABELS]
    wrong = rounds = 0.0
    for side in range(2):
        rounds += sums[side, ROUNDS] + fresh[side, ROUNDS]
        wrong += sums[side, EXPECTED] + fresh[side, EXPECTED] + sums[side, RESIDUAL] + fresh[side, RESIDUAL]
    level = level_at(wrong / max(rounds, 1.0) * n / (n + SHRINK))
    count_round(tally, place, level, positive, asked, True)
    return level


@step
def count_round(tally: Any, place: int, level: int, positive: bool, asked: bool, observed: bool) -> None:
    """Count a round, and in its cell if it was not asked about, in place; ``observed`` if it could have been asked."""
    count = tally.count
    if count[0] - count[1] >= tally.steps[0]:
        end_block(tally)
    count[0] += 1
    add_round(tally, place, level, positive, asked, observed)


@step
def add_round(tally: Any, place: int, level: int, positive: bool, asked: bool, observed: bool) -> None:
    """Add a round to the sums of the current block, in place."""
    fresh = tally.fresh[1 if positive else 0]
    fresh[ROUNDS] += 1.0
    if observed:
        fresh[EXPECTED] += ERRORS[level]
    else:
        fresh[UNOBSERVED] += 1.0
    if not asked:
        note_cell(tally, cell_of(place, level, positive))


@step
def cell_of(place: int, level: int, positive: bool) -> Any:
    """The cell that counts unasked rounds of this place, level and side."""
    return (CELLS if positive else 0) + place * LEVELS + level


@step
def note_cell(tally: Any, cell: int) -> None:
    """Count an unasked round in its cell of the current block, in place."""
    if tally.now[cell] == 0:
        tally.touched[tally.count[2]] = cell
        tally.count[2] += 1
    tally.now[cell] += 1


@step
def certainty_of(tally: Any, raw: float, positive: bool) -> Any:
    """Probability that a prediction at this raw margin is right, by the error model."""
    log = log_odds(tally.model, raw)
    return sigmoid(log if positive else -log)


@apart
def settle_round(
    tally: Any, ago: int, P: float, raw: float, place: int, level: int, positive: bool, wrong: bool
) -> None:
    """Count the label of the round that is ``ago`` rounds back, 1 for the last one, in place; ``wrong`` if mistaken."""
    if learns_from(P, int(count_label(tally.model, tally.limits))):
        learn_label(tally.model, raw, positive != wrong)
    settle_bet(tally, ago, P, place, level, positive, wrong)


@step
def learns_from(P: float, n: int) -> Any:
    """Whether the error model learns a label that was asked for with this probability, after n labels."""
    return P < 1.0 or until_learnt(n) == 0


@step
def until_learnt(n: int) -> Any:
    """Number of labels, after n that were certain to be asked for, before the next one that the error model learns."""
    return 0 if n < _FIRST_LABELS else -n & _SKIPPED_BITS


@step
def settle_bet(tally: Any, ago: int, P: float, place: int, level: int, positive: bool, wrong: bool) -> None:
    """Count the label as ``settle_round`` does, without the error model, in place."""
    certain = P == 1.0 and place == 0 and level < LEVELS
    if not certain:
        bet(tally.factors, tally.growth, tally.loss, P, place, level, wrong, wrong)
    expected = ERRORS[level] if level < LEVELS else 0.0
    residual = ((1.0 if wrong else 0.0) - expected) / max(P, SMALLEST_COIN)
    side = 1 if positive else 0
    if tally.count[0] - ago >= tally.count[1]:
        add_label(tally.fresh[side], wrong, certain, residual)
        if not certain:
            multiply_up(tally, side)
    else:
        settle_late(tally, ago, side, wrong, certain, residual)


@step
def add_label(sums: Any, wrong: bool, certain: bool, residual: float) -> None:
    """Count a label, in place."""
    sums[ANSWERED] += 1.0
    sums[MISTAKES] += 1.0 if wrong else 0.0
    sums[CERTAIN] += 1.0 if wrong and certain else 0.0
    sums[RESIDUAL] += residual


@apart
def multiply_up(tally: Any, side: int) -> None:
    """Multiply the wealth of the current block by the factors of an answer, in place."""
    product, factors, full = tally.product[side], tally.factors, 0
    for j in range(len(product)):
        product[j] *= factors[j]
        full |= (product[j] < 1.0 / _FACTORS) | (product[j] > _FACTORS)
    if full:
        for j in range(len(product)):
            tally.carried[side, j] += math.log(product[j])
            product[j] = 1.0


@apart
def settle_late(tally: Any, ago: int, side: int, wrong: bool, certain: bool, residual: float) -> None:
    """Count a label of an earlier block, in those blocks of its round that are still in the ring, in place."""
    add_label(tally.sums[side], wrong, certain, residual)
    if not certain:
        add_logs(tally.logs[side], tally.factors)
    last, place, steps = tally.count[0] - 1, tally.count[0] - ago, tally.steps
    stratum = tally.strata[side, max(place, 0) // stratum_length(tally.count[1], steps[0])]
    stratum[0] += 1.0
    stratum[2] += residual
    for w in range(len(steps)):
        block = place // steps[w]
        if place >= 0 and last // steps[w] - block < BLOCKS:
            add_label(tally.block_sums[w, block % BLOCKS], wrong, certain, residual)
            if not certain:
                add_logs(tally.block_logs[w, block % BLOCKS], tally.factors)


@step
def add_logs(logs: Any, factors: Any) -> None:
    """Add the logarithms of these factors, in place."""
    for j in range(len(logs)):
        logs[j] += math.log(factors[j])


def doubted(tally: Tally, P: np.ndarray, level: np.ndarray) -> np.ndarray:
    """Logarithms of the factors of unanswered questions, a row each: a mistake for upper bounds, none for lower."""
    out = np.zeros((len(P), STAKES))
    doubt_all(tally.growth, tally.loss, P, level, out)
    return out


def bets_on(P: np.ndarray, level: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """Logarithms of the factors of questions, a row each, with the standard stakes; mistakes by each kind of stakes."""
    out = np.zeros((len(P), STAKES))
    bet_all(np.exp(STANDARD), -np.expm1(STANDARD), P, level, above, below, out)
    return out


@entry
def bet_all(growth: Any, loss: Any, P: Any, level: Any, above: Any, below: Any, out: Any) -> None:
    """Write the logarithms of the factors of questions to ``out``."""
    for i in range(len(P)):
        bet(out[i], growth, loss, P[i], place_of(P[i]), level[i], above[i], below[i])
        for j in range(out.shape[1]):
            out[i, j] = math.log(out[i, j])


@entry
def doubt_all(growth: Any, loss: Any, P: Any, level: Any, out: Any) -> None:
    """Write the logarithms of the factors of unanswered questions to ``out``."""
    for i in range(len(P)):
        bet(out[i], growth, loss, P[i], place_of(P[i]), level[i], True, False)
        for j in range(out.shape[1]):
            out[i, j] = math.log(out[i, j])


def forget_round(tally: Tally, ago: int, P: float, level: int, positive: bool) -> None:
    """Count a question that will never be answered as a possible mistake, in place."""
    logs, side = doubted(tally, np.array([P]), np.array([level]))[0], int(positive)
    tally.logs[side] += logs
    last, place, begun = int(tally.count[0]) - 1, int(tally.count[0]) - ago, int(tally.count[1])
    is_late = place < begun  # otherwise the end of the current block adds it to the other sums
    if is_late:
        tally.sums[side, FORGOTTEN] += 1.0
        tally.strata[side, max(place, 0) // stratum_length(begun, int(tally.steps[0])), 1] += 1.0
    else:
        tally.fresh[side, FORGOTTEN] += 1.0
    for w, size in enumerate(tally.steps.tolist()):
        block = place // size
        if place >= 0 and last // size - block < BLOCKS:
            tally.block_logs[w, block % BLOCKS] += logs
            tally.block_sums[w, block % BLOCKS, FORGOTTEN] += is_late


@step
def counts_in_rounds(tally: Any) -> Any:
    """Whether rounds must be counted one by one: with costs, every answer may move the boundary of the next round."""
    return tally.log_cost != 0.0


@apart
def count_labelled_not_inlined(
    tally: Any, P: float, p: float, positive: bool, asked: bool, wrong: bool, place: int, blind: bool
) -> None:
    """Call ``count_labelled`` without inlining it: inlined, it would slow down rounds that do not need it."""
    count_labelled(tally, P, p, positive, asked, wrong, place, blind)


@step
def count_labelled(
    tally: Any, P: float, p: float, positive: bool, asked: bool, wrong: bool, place: int, blind: bool
) -> Any:
    """Count a round, and its label if it was asked for, in place; return its level. ``place`` is for blind rounds."""
    raw = p + boundary(tally.model, tally.log_cost)
    if blind:
        level = note_blind_round(tally, place, positive, asked)
        if asked:
            note_margin(tally.model, raw, 1.0 / P, True)
    else:
        place = place_of(P)
        level = note_round(tally, P, place, raw, positive, asked)
    if asked:
        settle_round(tally, 1, P, raw, place, level, positive, wrong)
    return level
