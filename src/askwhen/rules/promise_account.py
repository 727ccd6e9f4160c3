"""The account of a promise: how many delivered labels may be wrong, whatever the stream does.

A label that is delivered without asking is the model's prediction; S' of them are wrong. Every stake c > 0 bets that
S' is large, with the bets of :mod:`askwhen.betting`:

==========  ==========================================================
P, e        the probability of asking in a round, and the predicted probability of a mistake there
x           whether the prediction of the round is wrong, 0 or 1; determined before its random draw
k           e^c
a           what an unasked round adds to L; depends on P, e and c
b_x         what an asked round adds to L: ln[(1 - (1 - P) e^(a + c x)) / P]
L           the sum of these, for each stake
D           number of labels delivered so far
N           floor(error D) + 1, the least number of wrong labels that would break the promise
==========  ==========================================================

The wealth exp(c S' + L) of a stake is a martingale that starts at 1: mistakes of asked rounds are not in S', since the
person's label is delivered there. The stakes have fixed weights w that sum to 1, so by Ville's inequality the sum of
w exp(c S' + L) ever exceeds 1/alpha with probability at most alpha. A whole number S of wrong labels at which it is
above 1/alpha is therefore excluded, at all times: **S' is at most the largest S at which it is not**.

While a question waits for its answer, its round is not in D, and L holds b_1, the smallest b. A round that is withheld
has the factor 1 and is in neither S' nor D.

``standing`` is alpha w exp(c N + L): the promise is kept where it adds up to more than 1. The products are multiplied
round by round, and computed again from L now and then, since L is a sum of logarithms and does not lose digits.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..betting import HALVINGS, SMALLEST_COIN, STANDARD, log_weights, unasked
from ..compiled.steps import apart, step

STAKES = HALVINGS
"""Number of stakes: 1, 1/2, 1/4, .."""

KEPT = 1.0 + 1e-6
"""What ``standing`` must add up to, so that rounding cannot turn a broken promise into a kept one."""

_LARGEST_LOG = 600.0
_WRONG_PER_STAKE, _POWER = 25.0, 3.0
_FIRST_MISTAKES = 7.0  # that many wrong labels cannot be excluded before anything was asked

ROUNDS, DELIVERED, UNASKED, ASKED, ANSWERED, WRONG, WITHHELD, FORGOTTEN, REPLACED, CORRECTED = range(10)
EXPECTED, ALLOWED, ERROR, GIVEN = range(10, 14)
SUMS = 14
"""Indices in the sums: rounds; labels delivered, and those among them without asking; questions, answers, and answers
that differ from the prediction; rounds withheld; questions dropped; unasked labels found wrong and replaced; answers
that were corrected. The estimate of S'; N; and the promised share. Labels that people gave although no question was
asked, since it was known or for free; and how many sums there are."""

IS_OPEN, P, E, MARGIN, FORM, ROUND, IS_WITHHELD, IS_CERTAIN = range(8)
"""Indices of the facts of a round: whether its question is open; P and e; m / (1 + q) and q; its number; whether it is
withheld; and whether it is asked about in any case, as in a detector's window."""

IS_ELSEWHERE = IS_WITHHELD
"""Index, of a label that is about to be told, of whether its question is settled by another account."""

BUCKETS, BUCKET = 16, 128
"""Open questions are counted by age, in so many buckets of so many rounds."""


class PromiseState(NamedTuple):
    """See above, :mod:`askwhen.rules.promise_policy` and :mod:`askwhen.rules.promise`.

    L is ``logs`` plus the logarithm of ``product``. ``factors`` are e^a, e^b_0 and e^b_1 of the last round, whose facts
    are in ``last``; ``told`` are those of an earlier round whose label is about to be told. ``hope`` is, for each
    bucket, what answers that agree with the prediction would add to L, and ``hoped`` how many there are. The last row
    of ``factors`` is for what is computed on the way.
    """

    most: float
    rate: float
    length: float
    within: float
    alpha: float
    growth: Any
    loss: Any
    weights: Any
    logs: Any
    product: Any
    standing: Any
    factors: Any
    last: Any
    told: Any
    hope: Any
    hoped: Any
    sums: Any
    model: Any
    plan: Any
    recent: Any
    histogram: Any


@step
def allowed(error: float, delivered: float) -> Any:
    """N, the least number of wrong labels that breaks the promise; 0.29 * 100 is a little less than 29."""
    return math.floor(error * delivered + 1e-9) + 1.0


@step
def write_factors(state: Any, chance: float, e: float) -> None:
    """Write e^a, e^b_0 and e^b_1 of a round with this probability and prediction, in place."""
    growth, loss, factors = state.growth, state.loss, state.factors
    chance = max(chance, SMALLEST_COIN)
    left = 1.0 - chance
    for j in range(STAKES):
        k = growth[j]
        one = unasked(k, loss[j], chance, e)
        factors[0, j] = one
        factors[1, j] = max(1.0 - left * one, 1e-200) / chance
        factors[2, j] = max(1.0 - left * one * k, 1e-200) / chance


@step
def write_ones(state: Any) -> None:
    """Write the factors of a round that is asked about for certain, in place."""
    for i in range(3):
        for j in range(STAKES):
            state.factors[i, j] = 1.0


@step
def is_lost(wealth: Any) -> Any:
    """Whether no probability below 1 keeps the promise: a question whose answer disagrees leaves still less."""
    a = b = 0.0
    for j in range(0, STAKES, 2):
        a += wealth[j]
        b += wealth[j + 1]
    return a + b < KEPT


@step
def keeps(state: Any, wealth: Any, delivered: float) -> Any:
    """Whether both outcomes of this round's draw keep the promise, with this ``standing`` and number of labels before.

    Unasked, its label is delivered. Asked, the answer may disagree, and nothing is delivered before it comes.
    """
    growth, factors, sums = state.growth, state.factors, state.sums
    grows = allowed(sums[ERROR], delivered + 1.0) > allowed(sums[ERROR], delivered)
    a = b = c = d = 0.0
    for j in range(0, STAKES, 2):
        f, g = wealth[j] * factors[0, j], wealth[j + 1] * factors[0, j + 1]
        a += f * growth[j] if grows else f
        b += g * growth[j + 1] if grows else g
        c += wealth[j] * factors[2, j]
        d += wealth[j + 1] * factors[2, j + 1]
    return a + b >= KEPT and c + d >= KEPT


@step
def deliver(state: Any) -> None:
    """Count one more delivered label, in place."""
    sums = state.sums
    sums[DELIVERED] += 1.0
    now = allowed(sums[ERROR], sums[DELIVERED])
    if now > sums[ALLOWED]:
        sums[ALLOWED] = now
        for j in range(STAKES):
            state.standing[j] *= state.growth[j]


@step
def take_unasked(state: Any) -> None:
    """Add a to L, in place."""
    for j in range(STAKES):
        state.product[j] *= state.factors[0, j]
        state.standing[j] *= state.factors[0, j]


@step
def take_answer(state: Any, wrong: bool) -> None:
    """Add b_x to L, in place."""
    if wrong:  # seldom, and the factor may be so small that products of several would vanish
        for j in range(STAKES):
            state.logs[j] += math.log(state.factors[2, j])
            state.standing[j] *= state.factors[2, j]
    else:
        for j in range(STAKES):
            state.product[j] *= state.factors[1, j]
            state.standing[j] *= state.factors[1, j]


@step
def bucket_of(state: Any, number: float) -> Any:
    """The bucket of an open question by the number of its round; -1 where it has been open for too long."""
    now, then = int(state.sums[ROUNDS]) // BUCKET, int(number) // BUCKET
    return then % BUCKETS if now - then < BUCKETS else -1


@apart
def hold(state: Any) -> None:
    """Let the question of the last round wait: L holds b_1, ``hope`` what an agreeing answer would add; in place."""
    state.last[IS_OPEN] = 0.0
    take_answer(state, True)
    at = bucket_of(state, state.last[ROUND])
    for j in range(STAKES):
        state.hope[at, j] += math.log(state.factors[1, j]) - math.log(state.factors[2, j])
    state.hoped[at] += 1.0


@apart
def release(state: Any, number: float, agrees: bool) -> None:
    """The question of an earlier round waits no more: its hope ends, and where it ``agrees``, comes true, in place."""
    at = bucket_of(state, number)
    for j in range(STAKES):
        rise = math.log(state.factors[1, j]) - math.log(state.factors[2, j])
        if at >= 0:
            state.hope[at, j] -= rise
        if agrees:
            state.logs[j] += rise
            state.standing[j] *= math.exp(rise)
    if at >= 0:
        state.hoped[at] -= 1.0
        if state.hoped[at] == 0.0:
            for j in range(STAKES):
                state.hope[at, j] = 0.0


@step
def age(state: Any) -> None:
    """Stop hoping for answers to questions that have been open longer than there are buckets for, in place."""
    rounds = int(state.sums[ROUNDS])
    if rounds % BUCKET == 0:
        at = rounds // BUCKET % BUCKETS
        state.hoped[at] = 0.0
        for j in range(STAKES):
            state.hope[at, j] = 0.0


@step
def number_hoped(state: Any) -> Any:
    """Number of questions whose answers may be on their way."""
    found = 0.0
    for i in range(BUCKETS):
        found += state.hoped[i]
    return found


@step
def is_full(state: Any, on_the_way: float) -> Any:
    """Whether so many questions wait that more would be asked only because little is known yet."""
    return on_the_way > _FIRST_MISTAKES / state.sums[ERROR] + 0.25 * state.sums[ANSWERED]


@apart
def hopeful(state: Any, number: float, out: Any) -> None:
    """Write the ``standing`` that there would be if all answers on their way agreed."""
    sums = state.sums
    more = allowed(sums[ERROR], sums[DELIVERED] + number) - sums[ALLOWED]
    for j in range(STAKES):
        rise = 0.0
        for i in range(BUCKETS):
            rise += state.hope[i, j]
        out[j] = state.standing[j] * math.exp(min(rise + more * math.log(state.growth[j]), _LARGEST_LOG))


@apart
def refresh(state: Any) -> None:
    """Compute ``standing`` again from L, in place."""
    sums = state.sums
    sums[ALLOWED] = allowed(sums[ERROR], sums[DELIVERED])
    for j in range(STAKES):
        state.logs[j] += math.log(state.product[j])
        state.product[j] = 1.0
        log = math.log(state.alpha) + state.weights[j] + math.log(state.growth[j]) * sums[ALLOWED] + state.logs[j]
        state.standing[j] = math.exp(min(log, _LARGEST_LOG))


def stakes() -> np.ndarray:
    """The stakes."""
    return np.array(STANDARD[:STAKES])


def first_weights(length: float, error: float) -> np.ndarray:
    """Logarithms of the weights of the stakes: where the length is known, largest where that horizon needs it."""
    if length == math.inf:
        return log_weights(stakes())
    best = min(max(math.log2(error * length / _WRONG_PER_STAKE), 0.0), STAKES - 1.0)
    weights = (1.0 + np.abs(np.arange(STAKES) - best)) ** -_POWER
    return np.asarray(np.log(weights / weights.sum()))


def log_factors(chance: float, e: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """a, b_0 and b_1 of a round, for each stake."""
    c = stakes()
    k, loss = np.exp(c), -np.expm1(c)
    P_, left = max(chance, SMALLEST_COIN), 1.0 - max(chance, SMALLEST_COIN)
    one = np.array([unasked(*each, P_, e) for each in zip(k, loss, strict=True)])
    b = [np.log(np.maximum(1.0 - left * one * grown, 1e-200) / P_) for grown in (1.0, k)]
    return np.log(one), b[0], b[1]


def wealth_logs(state: PromiseState) -> np.ndarray:
    """L for each stake, the open question of the last round included."""
    found = state.logs + np.log(state.product)
    return np.asarray(found + np.log(state.factors[2]) if state.last[IS_OPEN] else found)


def most_wrong(logs: np.ndarray, weights: np.ndarray, alpha: float, largest: float) -> int:
    """The largest number of wrong labels, up to ``largest``, that L and the weights do not exclude, by halving."""
    c, start, bound = stakes(), logs + weights, -math.log(alpha) + 1e-9

    def fits(S: int) -> bool:
        each = start + c * S
        top = each.max()
        return bool(top + np.log(np.exp(each - top).sum()) <= bound)

    low, high = 0, int(largest)
    if fits(high):
        return high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low
