"""Confidence bounds on the total number of mistakes, from the asked rounds only; valid however often you look.

:mod:`askwhen.betting` has the bets: for each stake c the wealth W = exp(c S - A) is a martingale that
starts at 1, whatever the instances, the labels, the drift and the rule, where S is the number of all mistakes and A is
known. So is a mixture of stakes with fixed weights, which by Ville's inequality ever exceeds 1/alpha with probability
at most alpha. Solved for S, that bounds the mistakes at all times simultaneously, without a model of how labels come
about.

Rounds in which +1 was predicted and those in which -1 was have separate bets, so the product of their wealths is a
martingale too, for every pair of stakes. A mixture of pairs encloses false positives and false negatives in one region,
and with them whatever grows with both alike: the F-measure, costs.

References: Howard, Ramdas, McAuliffe, Sekhon 2021 (confidence sequences); Waudby-Smith, Ramdas 2024 (betting). The
wealth that counts unseen mistakes exactly, with a prediction of each as control variate, is ours.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...betting import HALVINGS, log_weights

_STEPS = 50
_NEAR = {-1: 0.2, 0: 0.6, 1: 0.2}
"""Weight of a pair of stakes by the distance of their places."""

_GRID = 129


def most(A: np.ndarray, stakes: np.ndarray, total: Any, alpha: float) -> Any:
    """Upper bound on the number of mistakes among ``total``; A may have leading axes, for many sums at once."""
    c, bound = stakes[:HALVINGS], -np.log(alpha)
    start = log_weights(c) - A[..., :HALVINGS]
    return _largest(lambda S: _log_sum(start + c * S[..., None]) <= bound, np.asarray(total, float))


def least(A: np.ndarray, stakes: np.ndarray, total: Any, alpha: float) -> Any:
    """Lower bound on the number of mistakes among ``total``."""
    c, bound, total = stakes[HALVINGS:], -np.log(alpha), np.asarray(total, float)
    start = log_weights(c) - A[..., HALVINGS:]
    return total - _largest(lambda right: _log_sum(start + c * (total - right)[..., None]) <= bound, total)


def evidence(A: np.ndarray, stakes: np.ndarray, S: float) -> Any:
    """Logarithm of the wealth of the bets on more than S mistakes, if there were only S."""
    c = stakes[HALVINGS:]
    return _log_sum(log_weights(c) - A[..., HALVINGS:] + c * S)


def both_kinds(
    A: tuple[np.ndarray, np.ndarray], stakes: np.ndarray, totals: tuple[float, float], alpha: float
) -> tuple[np.ndarray, np.ndarray]:
    """Upper and lower corners of the region of possible pairs (false positives, false negatives).

    A and the totals are those of the rounds in which +1 and -1 was predicted. A quantity that grows with both kinds of
    mistakes has its bounds at one of the corners: the region is cut into strips, each replaced by its far corner.
    """
    above = _corners([each[:HALVINGS] for each in A], stakes[:HALVINGS], totals, alpha / 2.0, above=True)
    below = _corners([each[HALVINGS:] for each in A], stakes[HALVINGS:], totals, alpha / 2.0, above=False)
    return above, below


def _corners(A: list[np.ndarray], c: np.ndarray, totals: tuple[float, float], alpha: float, above: bool) -> np.ndarray:
    first = np.concatenate([np.arange(max(-d, 0), HALVINGS - max(d, 0)) for d in _NEAR])
    second = np.concatenate([np.arange(max(d, 0), HALVINGS - max(-d, 0)) for d in _NEAR])
    weights = np.exp(log_weights(c))[first] * np.concatenate(
        [np.full(HALVINGS - abs(d), share) for d, share in _NEAR.items()]
    )
    start = np.log(weights / weights.sum()) - A[0][first] - A[1][second]
    bound = -np.log(alpha)

    def fits(x: Any, y: Any) -> Any:
        return _log_sum(start + c[first] * np.asarray(x)[..., None] + c[second] * np.asarray(y)[..., None]) <= bound

    if above:
        end = _largest(lambda x: fits(x, 0.0 * x), np.array(totals[0]))
        x = np.linspace(0.0, float(end), _GRID)
        y = _largest(lambda y: fits(x, y), np.full(_GRID, totals[1]))
        return np.column_stack([np.append(x[1:], x[-1]), y])
    end = totals[0] - _largest(lambda left: fits(totals[0] - left, 0.0 * left + totals[1]), np.array(totals[0]))
    x = np.linspace(float(end), totals[0], _GRID)
    y = totals[1] - _largest(lambda left: fits(x, totals[1] - left), np.full(_GRID, totals[1]))
    return np.column_stack([np.append(x[:1], x[:-1]), y])


def _largest(fits: Callable[[Any], Any], total: Any) -> Any:
    """The largest number from 0 to total that fits, by bisection; rounded up, so that bounds stay valid."""
    left, right = np.zeros_like(total), np.array(total)
    whole = fits(right)
    for _ in range(_STEPS):
        middle = 0.5 * (left + right)
        below = fits(middle)
        left, right = np.where(below, middle, left), np.where(below, right, middle)
    return np.where(whole, total, right)


def _log_sum(logs: np.ndarray) -> Any:
    largest = logs.max(axis=-1)
    return largest + np.log(np.exp(logs - largest[..., None]).sum(axis=-1))
