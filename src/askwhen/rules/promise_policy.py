"""The policy of a promise: how likely a prediction is wrong, and with which probability to ask about it.

==========  ==========================================================
d           the distance from the boundary, |p|; for numbers 1/q, which is small where the instance is unlike all others
z           ln of d over its running mean, clipped to [-8, 8]
e           the probability that the prediction is wrong: a logistic regression on 1, -z, side (which of two labels is
            predicted) and max(z, 0), shrunk to 1/2 with the weight of ten labels, within [1e-4, 1/2]
V, K        sums of v = e (1 - e) (1 - P) / P and of v / P over the rounds to come: how uncertain the number of wrong
            labels among them is, and how skewed
U_c         the number of wrong labels that the bets of the stake c alone do not exclude, (-ln(alpha w) - L) / c
P(e)        sqrt(nu mu e (1 - e) / (1 - mu e)), at most 1; 1 where mu e >= 1
==========  ==========================================================

The rounds to come will move U_c by about sum (1 - P) e + 0.7 c V + 0.5 c^2 K. By the cumulants of the bets, the factors
would be 1/2 and 1/6; the e are estimates, so there is some more room. P(e) minimises the number of questions subject to
min_c U_c <= error D at the end of these rounds, with nu = c/2 for the best c: instances that are likely wrong are all
asked about, and sure ones audited in proportion to sqrt(e). Every 50 rounds, and every 200 after a thousand, mu is
found by bisection, so that this holds after as many rounds again, at least 500, if the e of the last 2,000 rounds come
again. Where the number of rounds is known, it looks four times as far, at most to the last one.

A label near the boundary teaches more than others. So the rule asks at least with the probability G = exp(-(d/s)^2), d
in units of its mean, where ln s += 0.05 (0.8 mean max(P(e), 0.7 e) - G): of G alone, four fifths as many questions
would come as of P(e), and mostly about the same instances. Where many errors are allowed P(e) is small, and a learner
that gets no labels would be worse than the e that it is planned with.

With a budget as well, a round whose question could not be paid is withheld. Tokens arrive at the rate; a question takes
one. The fewer there are, the less likely must a question be for its round to be taken. Where the number of rounds is
known, so is that of the questions. Three fifths of them are asked as they come, since labels are worth most early;
then rounds are withheld whose P(e) is above a threshold, which is such that the questions last to the end if the e of
the last rounds come again. Rounds in which nothing below certainty keeps the promise are taken in any case.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import apart, step
from ..logistic import COVARIANCE, END, FEATURES, dot, move, sigmoid
from .promise_account import (
    ALLOWED,
    ASKED,
    DELIVERED,
    ERROR,
    KEPT,
    ROUNDS,
    STAKES,
    allowed,
    hopeful,
    number_hoped,
)

LEAST = 0.002
"""The least probability of asking in a round that is not withheld."""

VARIANCES = np.array([4.0, 16.0, 1.0, 4.0])
"""The first variances of the weights of the features."""

LABELS, MEAN, SEEN = range(END, END + 3)
"""Indices in the model after the weights and their covariances: labels learnt, the mean of d, and rounds in it."""

LOG_MU, MU, NU, TOKENS, OWED, LOG_SCALE, MEAN_CHANCE = range(7)
"""Indices in the plan: ln mu; mu; nu; tokens, or that threshold; how many questions late answers have caused, less
those of rounds withheld for them; ln s; and the mean of max(P(e), 0.7 e)."""

RECENT, BINS = 2000, 48
PERIOD, LONG_PERIOD, FIRST_ROUNDS = 50, 200, 1000
"""The plan is made again after so many rounds, and after so many more once there were a thousand."""

_LEAST_E, _LARGEST_E = 1e-4, 0.5
_SHRINK = 10.0
_MOST_LIKE_IT = 10.0
_LARGEST_Z = 8.0
_LONGEST_MEAN = 2000.0
_OF_V, _OF_K = 0.7, 0.5
_AHEAD, _TIMES_AS_FAR = 500.0, 4.0
_STEPS = 7
_STEPS_FROM_FAR = 20
_NEAR = 0.5
_LARGEST_LOG_MU, _SMALLEST = 14.0, 1e-300
_LOG_LEAST_E = math.log(_LEAST_E)
_PER_BIN = BINS / (math.log(_LARGEST_E) - math.log(_LEAST_E))
CENTRES = np.exp(_LOG_LEAST_E + (np.arange(BINS) + 0.5) / _PER_BIN)
_SPREADS = CENTRES * (1.0 - CENTRES)
_MOST_TOKENS, _EARLY, _AGAIN, _ALL = 20.0, 0.6, 2, 2.0
_FOR_LEARNING, _OF_E, _GAIN, _MEAN_GAIN, _FIRST_LABELS, _LARGEST_LOG_SCALE = 0.8, 0.7, 0.05, 0.005, 20.0, 10.0


def new_model() -> np.ndarray:
    """The model of e before the first label."""
    model = np.zeros(END + 3)
    model[:2] = -2.0, 1.0
    model[COVARIANCE : COVARIANCE + FEATURES**2 : FEATURES + 1] = VARIANCES
    return model


def new_plan() -> np.ndarray:
    """A plan before the first round: ask about everything."""
    return np.array([_LARGEST_LOG_MU, math.exp(_LARGEST_LOG_MU), 1.0, _MOST_TOKENS, 0.0, 0.0, 0.5])


@step
def distance_of(state: Any, p: float, q: float) -> Any:
    """The distance d of a margin, or of a number with this quadratic form."""
    if state.within > 0.0:
        return 1.0 / q if q > 0.0 else 0.0
    return abs(p)


@step
def standing_of(state: Any, d: float) -> Any:
    """The z of a distance d: how far it is from the boundary, compared with others."""
    mean = state.model[MEAN]
    if not (mean > 0.0 and d < math.inf):
        return 0.0
    return min(max(math.log(max(d / mean, 1e-30)), -_LARGEST_Z), _LARGEST_Z)


@step
def features_of(state: Any, p: float, q: float) -> Any:
    """The features of a margin, or of a number with this quadratic form."""
    z = standing_of(state, distance_of(state, p, q))
    side = 0.0 if state.within > 0.0 else 1.0 if p > 0.0 else -1.0
    return 1.0, -z, side, max(z, 0.0)


@step
def predicted(state: Any, p: float, q: float) -> Any:
    """The probability e that a prediction is wrong."""
    n = state.model[LABELS]
    s = (sigmoid(dot(state.model, features_of(state, p, q))) * n + 0.5 * _SHRINK) / (n + _SHRINK)
    return min(max(s, _LEAST_E), _LARGEST_E)


@step
def learn(state: Any, p: float, q: float, wrong: bool, chance: float) -> None:
    """Learn whether the prediction at this margin was wrong, in place."""
    like_it = min(1.0 / chance, _MOST_LIKE_IT)
    move(state.model, features_of(state, p, q), VARIANCES, 1.0 if wrong else 0.0, like_it)
    state.model[1] = max(state.model[1], 0.0)
    state.model[LABELS] += 1.0


@step
def note_distance(state: Any, d: float) -> None:
    """Add a distance to the running mean, in place."""
    model = state.model
    if d < 1e100:
        model[SEEN] += 1.0
        model[MEAN] += (d - model[MEAN]) / min(model[SEEN], _LONGEST_MEAN)


@step
def chance_at(mu: float, nu: float, e: float, spread: float) -> Any:
    """P(e), where ``spread`` is e (1 - e)."""
    left = 1.0 - mu * e
    return max(min(math.sqrt(nu * mu * spread / left), 1.0), LEAST) if left > 0.0 else 1.0


@step
def wanted(state: Any, e: float) -> Any:
    """The probability of asking by the plan, P(e)."""
    return chance_at(state.plan[MU], state.plan[NU], e, e * (1.0 - e))


@step
def focused(state: Any, d: float, chance: float, e: float) -> Any:
    """The larger of P(e) and G, in place: the scale of G follows."""
    plan, mean = state.plan, state.model[MEAN]
    if state.model[LABELS] < _FIRST_LABELS or not mean > 0.0:
        return chance
    near = d / mean / math.exp(plan[LOG_SCALE])
    G = math.exp(-min(near * near, 700.0))
    plan[MEAN_CHANCE] += _MEAN_GAIN * (max(chance, _OF_E * e) - plan[MEAN_CHANCE])
    step_up = _GAIN * (_FOR_LEARNING * plan[MEAN_CHANCE] - G)
    plan[LOG_SCALE] = min(max(plan[LOG_SCALE] + step_up, -_LARGEST_LOG_SCALE), _LARGEST_LOG_SCALE)
    return max(chance, G)


@step
def note_prediction(state: Any, e: float) -> None:
    """Add e to those of the last rounds, in place."""
    n = int(state.sums[ROUNDS])
    at = n % RECENT
    if n > RECENT:
        state.histogram[state.recent[at]] -= 1.0
    found = min(max(int((math.log(e) - _LOG_LEAST_E) * _PER_BIN), 0), BINS - 1)
    state.recent[at] = found
    state.histogram[found] += 1.0


@apart
def write_bounds(state: Any, on_the_way: float) -> None:
    """Write U_c for each stake into the last row of the factors, as if all answers on their way agreed."""
    sums, bounds, N = state.sums, state.factors[3], state.sums[ALLOWED]
    if on_the_way > 0.0:
        hopeful(state, on_the_way, bounds)
        N = allowed(sums[ERROR], sums[DELIVERED] + on_the_way)
    for j in range(STAKES):
        standing = bounds[j] if on_the_way > 0.0 else state.standing[j]
        bounds[j] = N - math.log(max(standing, _SMALLEST)) / 0.5**j


@step
def foresee(state: Any, log_mu: float, ahead: float, on_the_way: float) -> Any:
    """The wrong labels not excluded after so many rounds more, beyond those that are promised; and the best c."""
    mu, nu, sums = math.exp(log_mu), state.plan[NU], state.sums
    paid = state.plan[TOKENS] if is_paced(state) else _ALL
    wrong = V = K = total = withheld = 0.0
    for i in range(BINS):
        n = state.histogram[i]
        if n > 0.0:
            total += n
            chance = chance_at(mu, nu, CENTRES[i], _SPREADS[i])
            if chance > paid:
                withheld += n
            else:
                left = (1.0 - chance) * n
                wrong += left * CENTRES[i]
                V += left * _SPREADS[i] / chance
                K += left * _SPREADS[i] / (chance * chance)
    share, least, best = ahead / max(total, 1.0), math.inf, 1.0
    for j in range(STAKES):
        c = 0.5**j
        bound = state.factors[3, j] + share * c * (_OF_V * V + _OF_K * c * K)
        if bound < least:
            least, best = bound, c
    due = sums[ERROR] * (sums[DELIVERED] + on_the_way + ahead - share * withheld)
    return least + share * wrong - due, best


@step
def is_paced(state: Any) -> Any:
    """Whether a budget is spread over a known number of rounds."""
    return state.rate < 1.0 and state.length < math.inf


@apart
def largest_paid(state: Any, ahead: float) -> Any:
    """The largest probability such that the rounds below it, of so many, take no more questions than are left."""
    mu, nu, total = state.plan[MU], state.plan[NU], 0.0
    if state.sums[ASKED] < _EARLY * state.most:
        return _ALL
    for i in range(BINS):
        total += state.histogram[i]
    left = max(state.most - state.sums[ASKED], 0.0) * total / ahead
    for i in range(BINS):
        n = state.histogram[i]
        if n > 0.0:
            chance = chance_at(mu, nu, CENTRES[i], _SPREADS[i])
            left -= n * chance
            if left < 0.0:
                return chance
    return _ALL


def planned_questions(state: Any, rounds: float) -> float:
    """How many of so many further rounds would be asked about by a plan that looks ahead to the last of them."""
    state = state._replace(factors=state.factors.copy())
    write_bounds(state, 0.0)
    low, high, total = -_LARGEST_LOG_MU, _LARGEST_LOG_MU, state.histogram.sum()
    for _ in range(_STEPS_FROM_FAR):
        middle = 0.5 * (low + high)
        if foresee(state, middle, rounds, 0.0)[0] > 0.0:
            low = middle
        else:
            high = middle
    mu, nu, share = math.exp(high), state.plan[NU], 0.0
    for n, e, spread in zip(state.histogram, CENTRES, _SPREADS, strict=True):
        share += float(n) * max(float(chance_at(mu, nu, e, spread)), _OF_E * float(e)) if n > 0.0 else 0.0
    return rounds * share / max(float(total), 1.0)


@step
def is_due(rounds: int) -> Any:
    """Whether the plan is made again before this round, counted from 1."""
    return rounds % PERIOD == 1 and (rounds < FIRST_ROUNDS or rounds % LONG_PERIOD == 1)


@step
def look_ahead(state: Any) -> None:
    """Find mu and nu for the next rounds, and where a budget is paced, the threshold, in place."""
    rounds, on_the_way = state.sums[ROUNDS], number_hoped(state)
    ahead, left = max(rounds, _AHEAD), max(state.length - rounds, 1.0)
    if state.length < math.inf:
        ahead = min(_TIMES_AS_FAR * ahead, left)
    write_bounds(state, on_the_way)
    find_mu(state, ahead, on_the_way)
    if is_paced(state):
        for _ in range(_AGAIN):
            state.plan[TOKENS] = largest_paid(state, left)
            find_mu(state, ahead, on_the_way)
        state.plan[TOKENS] = largest_paid(state, left)


@apart
def find_mu(state: Any, ahead: float, on_the_way: float) -> None:
    """Find mu and nu for so many rounds, in place."""
    plan = state.plan
    low, high = plan[LOG_MU] - _NEAR, plan[LOG_MU] + _NEAR
    while low > -_LARGEST_LOG_MU and foresee(state, low, ahead, on_the_way)[0] <= 0.0:
        low, high = low - 4.0 * _NEAR, low
    while high < _LARGEST_LOG_MU and foresee(state, high, ahead, on_the_way)[0] > 0.0:
        low, high = high, high + 4.0 * _NEAR
    for _ in range(_STEPS):
        middle = 0.5 * (low + high)
        if foresee(state, middle, ahead, on_the_way)[0] > 0.0:
            low = middle
        else:
            high = middle
    plan[LOG_MU] = min(max(high, -_LARGEST_LOG_MU), _LARGEST_LOG_MU)
    plan[MU] = math.exp(plan[LOG_MU])
    plan[NU] = 0.5 * foresee(state, plan[LOG_MU], ahead, on_the_way)[1]


@step
def pays(state: Any, chance: float) -> Any:
    """Whether the budget, if there is one, lets a round be taken that asks with this probability."""
    if state.sums[ASKED] >= state.most:
        return False
    if state.rate >= 1.0:
        return True
    tokens, kept = state.plan[TOKENS], 0.0
    for j in range(STAKES):
        kept += state.standing[j]
    if state.length < math.inf:
        return kept < KEPT or chance <= tokens
    needed = 1.0 + (_MOST_TOKENS - 1.0) * chance if kept >= KEPT else 1.0
    return tokens >= needed


@step
def earn(state: Any) -> None:
    """Let the tokens of a round arrive, in place."""
    if state.rate < 1.0 and state.length == math.inf:
        state.plan[TOKENS] = min(state.plan[TOKENS] + state.rate, _MOST_TOKENS)
