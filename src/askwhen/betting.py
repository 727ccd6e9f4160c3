"""The bets behind the confidence interval of the accuracy: how a round changes the wealth of each stake c of a grid.

==========  ==========================================================
x           whether the round is a mistake, 0 or 1; determined before its random draw
P           the probability of asking
e           the probability of a mistake as it was predicted before the draw; any prediction is valid
c           a stake: positive ones bound the number of mistakes from above, negative ones from below
k           e^c
a           the term that an unasked round adds to the logarithm of the wealth, besides c x
b_x         the term that an asked round adds
==========  ==========================================================

With b_x = ln[(1 - (1 - P) e^(a + c x)) / P] the two outcomes of the draw have mean 1, for either x and any a chosen
before it, so the wealth is a martingale: ln W = c S - A. S counts all mistakes, seen or not; A is known, minus the sum
of a over unasked rounds and of b_x - c x over asked ones. The best a has a closed form, :func:`unasked`.

Unasked rounds are counted in cells, by P rounded down (*place*) and e rounded (*level*): a is that of the cell, which
is valid since any a is, as long as the rounded P is not above P. P = 0 has its own place, where a round counts as
a mistake for the upper bound and as none for the lower one.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .compiled.steps import apart, step

HALVINGS = 16
STAKES = 2 * HALVINGS
"""Number of stakes: those for the upper bound come first, then those for the lower one."""

PLACES = 34
"""Number of places, that is of rounded probabilities: 1, 2^-1/2, 1/2, .. 2^-16, and 0 for all smaller ones."""

CHANCES = np.append(np.sqrt(0.5) ** (np.arange(PLACES - 1) % 2) * 0.5 ** (np.arange(PLACES - 1) // 2), 0.0)
"""The rounded probability of each place."""

ERRORS = np.array([1 / 256, 1 / 64, 1 / 32, 1 / 16, 1 / 8, 3 / 16, 1 / 4, 3 / 8, 1 / 2, 0.7, 0.9])
"""The rounded probability of a mistake of each level."""

LEVELS = len(ERRORS)
EARLIER = 15
"""The level of a question that the first release asked: a = 0, but where P is not above 1 - 1/k, a = -c."""

SMALLEST_COIN = 2.0**-53
"""The smallest probability of asking in practice: draws are multiples of 2^-53, and a draw of 0 always asks."""

_FRACTION = (1 << 52) - 1
_ROOT = int(CHANCES[1:2].view(np.int64)[0]) & _FRACTION
"""The bits of the fraction of a number, and those of the root of 1/2."""

STANDARD = np.concatenate([0.5 ** np.arange(HALVINGS), -(0.5 ** np.arange(HALVINGS))])
"""The stakes of every tally but those of the first release: 1, 1/2, 1/4, .. above, and the same below."""

FIRST_RELEASE = np.concatenate([-np.log1p(-(0.5 ** np.arange(1, 17))), -np.log1p(0.5 ** np.arange(1, 17))])
"""The stakes of what the first release has counted: with a = 0 they give its martingales."""


@step
def place_of(P: float) -> Any:
    """The place of the largest probability in ``CHANCES`` that is not above P."""
    if not P >= 2.0**-16:  # written so that NaN, from a damaged file, ends here too
        return PLACES - 1
    bits = np.float64(P).view(np.int64)  # reading exponent and fraction of the float is faster than any logarithm
    return 2 * (1023 - (bits >> 52)) - (1 if bits & _FRACTION >= _ROOT else 0)


@step
def unasked(k: float, loss: float, P: float, e: float) -> Any:
    """e^a for the best a; ``loss`` is 1 - k, passed separately since it is small and 1 - k would lose digits.

    The value is 2 / (B + sqrt(B^2 - 4 k (1 - P))) with B = (1 - P)(1 + k) + P (1 - e + e k). The term under the root is
    written in another form, in which nothing cancels.
    """
    mean, left = 1.0 - e * loss, 1.0 - P
    B = left * (1.0 + k) + P * mean
    root = left * loss * loss + P * left * loss * (1.0 + k) * (1.0 - 2.0 * e) + P * P * mean * mean
    return 2.0 / (B + math.sqrt(max(root, 0.0)))


@step
def stake(factors: Any, growth: Any, loss: Any, first: int, P: float, rounded: float, e: float, wrong: bool) -> None:
    """Write e^(b_x - c x) of an asked round, x being ``wrong``, for half of the stakes, from ``first`` on."""
    left = 1.0 - P
    for j in range(first, first + HALVINGS):
        k = growth[j]
        grown = k if wrong else 1.0
        rest = 1.0 - left * grown * unasked(k, loss[j], rounded, e)
        factors[j] = max(rest, 1e-300) / (P * grown)  # never 0, since its logarithm is taken


@step
def stake_as_before(factors: Any, growth: Any, first: int, P: float, wrong: bool) -> None:
    """The same for a question of the first release."""
    left = 1.0 - P
    for j in range(first, first + HALVINGS):
        grown = growth[j] if wrong else 1.0
        factors[j] = (1.0 - left * grown) / (P * grown) if left * growth[j] < 1.0 else 1.0


@apart
def bet(factors: Any, growth: Any, loss: Any, P: float, place: int, level: int, above: bool, below: bool) -> None:
    """Write e^(b_x - c x) of an asked round: x is ``above`` for the stakes above, and ``below`` for those below."""
    P = max(P, SMALLEST_COIN)
    if level == EARLIER:
        stake_as_before(factors, growth, 0, P, above)
        stake_as_before(factors, growth, HALVINGS, P, below)
        return
    rounded, e = CHANCES[place], ERRORS[level]
    stake(factors, growth, loss, 0, P, rounded, e, above)
    stake(factors, growth, loss, HALVINGS, P, rounded, e, below)


def all_unasked(stakes: np.ndarray, share: float = 1.0) -> np.ndarray:
    """-a for every place, level and stake: what an unasked round adds to A; with a share of the predicted mistakes."""
    k, loss = np.exp(stakes), -np.expm1(stakes)
    P, e = CHANCES[:, None, None], share * ERRORS[:, None]
    mean, left = 1.0 - e * loss, 1.0 - P
    root = left * loss * loss + P * left * loss * (1.0 + k) * (1.0 - 2.0 * e) + P * P * mean * mean
    return np.asarray(np.log(0.5 * (left * (1.0 + k) + P * mean + np.sqrt(np.maximum(root, 0.0)))))


_POWER = 3.5


def log_weights(stakes: np.ndarray) -> np.ndarray:
    """Logarithms of the weights of stakes, largest at 2^-5 and 2^-6, which suit thousands of rounds."""
    place = -np.log2(np.abs(stakes))
    weights = (1.0 + np.maximum(np.maximum(5.0 - place, 0.5 * (place - 6.0)), 0.0)) ** -_POWER
    return np.asarray(np.log(weights / weights.sum(axis=-1, keepdims=True)))
