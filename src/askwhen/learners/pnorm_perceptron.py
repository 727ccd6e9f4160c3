"""The p-norm Perceptron, of the general additive family.

Grove, Littlestone, Schuurmans 2001; Cesa-Bianchi, Gentile, Zaniboni 2006, section 3.

==========  ==========================================================
theta       sum of y x over the updates
w           w_i = sign(theta_i) |theta_i|^(p-1) / ||theta||_p^(p-2)
p           the norm, p >= 2; p = 2 is the Perceptron, bit for bit
==========  ==========================================================

To learn a sparse row with O(nnz) powers, the state has sign(theta_i) (|theta_i| / unit)^(p-1) and
part_i = (|theta_i| / unit)^p, so that the weights are factor times the former with
factor = unit / (sum of the parts)^((p-2)/p). The unit stays near the largest |theta_i|, so that no power overflows or
vanishes; for p = 2 it is 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import UPDATED, epoch, is_sound, learn, restart, scale, score
from ..linalg.rows import position, size
from ..linalg.vectors import add_scaled, all_finite, clear, look, total
from ..validation import check_number
from ..weights.expansion import check_no_kernel

_LARGEST_PART = 1e100


class PNormPerceptronState(NamedTuple):
    """numbers = (unit, factor); the weights are factor w."""

    theta: Any
    w: Any
    part: Any
    numbers: Any
    p: float


@step
def link(state: Any, i: int) -> None:
    """Compute w and part of feature i from its theta, in place."""
    a = abs(state.theta[i]) / state.numbers[0]
    power = a ** (state.p - 1.0)
    state.w[i] = power if state.theta[i] > 0.0 else -power
    state.part[i] = a * power


@score.of(PNormPerceptronState)
def _score(state: Any, x: Any) -> Any:
    m, norm2, status = look(state.w, x)
    return state.numbers[1] * m, norm2, status


@learn.of(PNormPerceptronState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    theta, part, numbers, p = state.theta, state.part, state.numbers, state.p
    add_scaled(theta, y, x)
    for j in range(size(x)):
        link(state, position(x, j))
    parts = total(part)
    if p > 2.0 and not 1.0 / _LARGEST_PART < parts < _LARGEST_PART:
        unit = 0.0
        for i in range(len(theta)):
            unit = max(unit, abs(theta[i]))
        numbers[0] = unit if unit > 0.0 else 1.0
        for i in range(len(theta)):
            link(state, i)
        parts = total(part)
    numbers[1] = numbers[0] / parts ** ((p - 2.0) / p) if parts > 0.0 else 1.0
    return UPDATED


@restart.of(PNormPerceptronState)
def _restart(state: Any) -> None:
    clear(state.theta)
    clear(state.w)
    clear(state.part)
    for i in range(len(state.numbers)):
        state.numbers[i] = 1.0


@scale.of(PNormPerceptronState)
def _scale(state: Any) -> Any:
    return state.numbers[1]


@epoch.of(PNormPerceptronState)
def _epoch(state: Any) -> Any:
    return state.numbers[0]


@is_sound.of(PNormPerceptronState)
def _is_sound(state: PNormPerceptronState) -> Any:
    """Whether a state from a file is possible; the unit is a divisor, and must be positive."""
    return all_finite(state.theta, state.w, state.part, state.numbers) and bool((state.numbers > 0.0).all())


@dataclass(frozen=True)
class PNormPerceptron:
    """A Perceptron whose weights follow the p-norm of what it learnt: between the Perceptron and Winnow.

    Parameters
    ----------
    p : float
        The norm, at least 2; 2 is the Perceptron, 2 ln d behaves like Winnow.
    kernel : None
        There is no kernel form: the weights are powers of a sum of instances.

    References
    ----------
    Grove, Littlestone, Schuurmans: General convergence results for linear discriminant updates, 2001.
    """

    p: float
    kernel: None = None

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number(self, "p", self.p, "a finite number of at least 2", 2.0, open_low=False, open_high=True)
        check_no_kernel(self, self.kernel)

    def start(self, d: int, sparse: bool) -> PNormPerceptronState:
        """The state before the first round."""
        return PNormPerceptronState(np.zeros(d), np.zeros(d), np.zeros(d), np.ones(2), float(self.p))
