"""How many mistakes were made in all, from those that were seen, at every round at once.

Round i is a mistake (e_i = 1) or not; which, is settled before its coin is tossed. It is asked about with probability
P_i, and q_i says whether it was. For a stake gamma below every P_i::

    U_t = product of (1 - gamma q_i e_i / P_i) (1 - gamma)^-e_i
    L_t = product of (1 + gamma q_i e_i / P_i) (1 + gamma)^-e_i

are martingales that start at 1, whatever the instances, the labels, the drift and the rule: given the past, a mistaken
round multiplies them by numbers of mean 1, and any other round by 1. By Ville's inequality neither ever exceeds 1/alpha
with probability more than alpha. Solved for M_t, the number of mistakes so far::

    M_t <= (sum over seen mistakes of -ln(1 - gamma/P_i) + ln 1/alpha) / -ln(1 - gamma)
    M_t >= (sum over seen mistakes of  ln(1 + gamma/P_i) - ln 1/alpha) /  ln(1 + gamma)

at all rounds at once. So it holds for the moving running mean, and needs no model of how labels come about. The stakes
2^-1 .. 2^-16 share alpha: an average of martingales is one. A round with P_i <= gamma is not staked on; it counts as a
possible mistake, and so does a round in which nothing may be asked (P_i = 0), and a question without an answer.

References: Howard, Ramdas, McAuliffe, Sekhon 2021 (confidence sequences); Waudby-Smith, Ramdas 2024 (betting). The
exponents that make the running mistake count exact for probabilities that change from round to round are ours.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..engine.tally import STAKES

_GAMMA = 0.5 ** np.arange(1, STAKES + 1)
_UP = -np.log1p(-_GAMMA)
_DOWN = np.log1p(_GAMMA)
_STEPS = 50


def most(high: np.ndarray, rounds: np.ndarray, alpha: float) -> Any:
    """Upper bound on the number of mistakes, by U above, from the sums of a tally, or of many along leading axes."""
    total = rounds.sum(axis=-1)
    unstaked = total[..., None] - np.cumsum(rounds, axis=-1)[..., :STAKES]
    return _largest(lambda M: _UP * (M[..., None] - unstaked) - high, alpha, total)


def least(low: np.ndarray, rounds: np.ndarray, alpha: float) -> Any:
    """Lower bound on the number of mistakes, by L above."""
    total = rounds.sum(axis=-1)
    return total - _largest(lambda right: low - _DOWN * (total - right)[..., None], alpha, total)


def _largest(logs: Any, alpha: float, total: Any) -> Any:
    """The largest M from 0 to total at which the mean of exp(logs(M)), which grows with M, is at most 1/alpha."""
    bound = np.log(STAKES / alpha)
    left, right = np.zeros_like(total), np.array(total)
    fits = _log_sum(logs(right)) <= bound
    for _ in range(_STEPS):
        middle = 0.5 * (left + right)
        below = _log_sum(logs(middle)) <= bound
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return np.where(fits, total, right)


def _log_sum(logs: np.ndarray) -> Any:
    largest = logs.max(axis=-1)
    return largest + np.log(np.exp(logs - largest[..., None]).sum(axis=-1))
