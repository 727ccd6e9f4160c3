"""The Perceptron and the Shifting Perceptron.

Rosenblatt 1958; Cesa-Bianchi, Gentile, Zaniboni 2006, Figure 1; Cavallanti, Cesa-Bianchi, Gentile 2007 (Shifting).

==========  ==========================================================
w           weights; the margin is p = w.x
k           number of updates so far
lam         lambda of the Shifting Perceptron; 0 is the Perceptron
==========  ==========================================================

On a mistake: w = (1 - lam / (lam + k)) w + y x.

An update costs O(nnz), not O(d): the weights are stored up to a scale, and only the scale shrinks. Where it becomes
tiny, the weights are multiplied by it once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts.learner import LARGEST_COUNT, UPDATED, epoch, is_sound, learn, restart, scale, score
from ..linalg.vectors import add_scaled, all_within, clear, look, shrink
from ..validation import check_number
from ..weights.expansion import check_kernel, new_weights, weights_are_sound
from ..weights.kernels import AnyKernel

_SMALLEST_SCALE = 1e-50


class PerceptronState(NamedTuple):
    """The weights are scale w after k updates."""

    w: Any
    scale: Any
    k: Any
    lam: float


@score.of(PerceptronState)
def _score(state: Any, x: Any) -> Any:
    m, norm2, status = look(state.w, x)
    return state.scale[0] * m, norm2, status


@learn.of(PerceptronState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    w, scale, k = state.w, state.scale, state.k
    if state.lam > 0.0 and k[0] > 0:
        scale[0] *= k[0] / (state.lam + k[0])
        if scale[0] < _SMALLEST_SCALE:
            shrink(w, scale[0])
            scale[0] = 1.0
    add_scaled(w, y / scale[0], x)
    k[0] += 1
    return UPDATED


@restart.of(PerceptronState)
def _restart(state: Any) -> None:
    clear(state.w)
    state.scale[0] = 1.0
    state.k[0] = 0


@scale.of(PerceptronState)
def _scale(state: Any) -> Any:
    return state.scale[0]


@epoch.of(PerceptronState)
def _epoch(state: Any) -> Any:
    return 1.0 if state.lam > 0.0 and state.k[0] > 1 and state.scale[0] == 1.0 else 0.0  # 1 where w was shrunk


@is_sound.of(PerceptronState)
def _is_sound(state: PerceptronState) -> Any:
    counted = all_within(state.k, 0, LARGEST_COUNT) and all_within(state.scale, _SMALLEST_SCALE, 1.0)
    return counted and weights_are_sound(state.w)


def start(w: Any, lam: float) -> PerceptronState:
    """The state before the first round, with these weights."""
    return PerceptronState(w, np.ones(1), np.zeros(1, np.int64), float(lam))


@dataclass(frozen=True)
class Perceptron:
    """The classical Perceptron: on a mistake, w += y x.

    Parameters
    ----------
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=0)
    >>> sampler.ask([1.0, -2.0]).prediction
    -1
    """

    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> PerceptronState:
        """The state before the first round."""
        return start(new_weights(d, sparse, self.kernel, self.budget, self.evict), 0.0)


@dataclass(frozen=True)
class ShiftingPerceptron:
    """A Perceptron that shrinks its old weights: on a mistake, w = (1 - shift / (shift + k)) w + y x.

    Parameters
    ----------
    shift : float
        lambda in the paper: how fast the past fades; 0 is the Perceptron.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget Perceptron, 2007.
    """

    shift: float
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number(self, "shift", self.shift, "a finite number of at least 0", 0.0, open_low=False, open_high=True)
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> PerceptronState:
        """The state before the first round."""
        return start(new_weights(d, sparse, self.kernel, self.budget, self.evict), self.shift)
