"""Winnow, with weights on the probability simplex.

Littlestone 1989; Cesa-Bianchi, Gentile, Zaniboni 2006, section 3 (its Figure 4 is Figure 1 with this update).

==========  ==========================================================
w           weights, positive with sum 1; w = 1/d before the first round
eta         the learning rate
theta       logarithms of the unnormalised weights
==========  ==========================================================

On a mistake: w_i *= exp(eta y x_i), then w is normalised. The state has theta and exp(theta_i - shift) with their sum,
so that a sparse row costs O(nnz) exponentials. The shift follows the largest theta, so that no exponential overflows;
a label that would make theta itself overflow is refused.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts.learner import REFUSED, UPDATED, epoch, is_sound, learn, restart, scale, score
from ..linalg.rows import position, size, value
from ..linalg.vectors import all_within, look, total
from ..validation import check_positive
from ..weights.expansion import check_no_kernel

_LARGEST_THETA = 1e300
_LARGEST_SUM = 1e80


class WinnowState(NamedTuple):
    """w is not normalised: w_i = exp(theta_i - shift); numbers = (shift, sum of w)."""

    theta: Any
    w: Any
    numbers: Any
    eta: float


@score.of(WinnowState)
def _score(state: Any, x: Any) -> Any:
    m, norm2, status = look(state.w, x)
    return m / state.numbers[1], norm2, status


@learn.of(WinnowState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    theta, w, numbers, eta = state.theta, state.w, state.numbers, state.eta
    for j in range(size(x)):
        if not abs(theta[position(x, j)] + eta * y * value(x, j)) <= _LARGEST_THETA:
            return REFUSED
    for j in range(size(x)):
        i = position(x, j)
        theta[i] += eta * y * value(x, j)
        w[i] = math.exp(theta[i] - numbers[0])
    numbers[1] = total(w)
    if not 1.0 / _LARGEST_SUM < numbers[1] < _LARGEST_SUM:
        numbers[0] = np.max(theta)
        for i in range(len(theta)):
            w[i] = math.exp(theta[i] - numbers[0])
        numbers[1] = total(w)
    return UPDATED


@restart.of(WinnowState)
def _restart(state: Any) -> None:
    for i in range(len(state.w)):
        state.theta[i], state.w[i] = 0.0, 1.0
    state.numbers[0] = 0.0
    state.numbers[1] = len(state.w)


@scale.of(WinnowState)
def _scale(state: Any) -> Any:
    return 1.0 / state.numbers[1]


@epoch.of(WinnowState)
def _epoch(state: Any) -> Any:
    return state.numbers[0]


@is_sound.of(WinnowState)
def _is_sound(state: WinnowState) -> Any:
    """Whether a state from a file is possible; the sum of the weights is a divisor, and must be positive."""
    shift, together = state.numbers
    return (
        all_within(state.theta, -_LARGEST_THETA, _LARGEST_THETA)
        and all_within(shift, -_LARGEST_THETA, _LARGEST_THETA)
        and all_within(state.w, 0.0, _LARGEST_SUM)
        and all_within(together, 1.0 / _LARGEST_SUM, _LARGEST_SUM)
    )


@dataclass(frozen=True)
class Winnow:
    """Multiplicative updates: on a mistake, ``w_i *= exp(eta y x_i)``, then w is normalised to sum 1.

    Parameters
    ----------
    eta : float
        The learning rate, positive.
    kernel : None
        There is no kernel form: the weights are products, not a sum of instances.

    References
    ----------
    Littlestone: Mistake bounds and logarithmic linear-threshold learning algorithms, 1989.
    """

    eta: float
    kernel: None = None

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self, "eta", self.eta)
        check_no_kernel(self, self.kernel)

    def start(self, d: int, sparse: bool) -> WinnowState:
        """The state before the first round."""
        return WinnowState(np.zeros(d), np.ones(d), np.array([0.0, float(d)]), float(self.eta))
