"""The Modified Perceptron.

Blum, Frieze, Kannan, Vempala 1998; used against drift by Crammer, Mansour, Even-Dar, Vaughan 2010.

==========  ==========================================================
w           weights; the margin is p = w.x
k           number of updates so far
==========  ==========================================================

The first update sets w = y x/|x|; later ones reflect: w -= 2 (w.x) x/|x|^2. A label that arrives late updates w only
if y w.x <= 0 still holds. An instance without direction (|x| = 0, or so small that |x|^2 loses its digits) changes
nothing. Where a budget has dropped all of w, the next update is a first one again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts.learner import LARGEST_COUNT, UNCHANGED, UPDATED, is_sound, learn, restart, score
from ..linalg.vectors import NO_DIRECTION, add_scaled, all_within, clear, is_zero, look
from ..weights.expansion import check_kernel, new_weights, weights_are_sound
from ..weights.kernels import AnyKernel


class ModifiedPerceptronState(NamedTuple):
    """w after k updates."""

    w: Any
    k: Any


@score.of(ModifiedPerceptronState)
def _score(state: Any, x: Any) -> Any:
    return look(state.w, x)


@learn.of(ModifiedPerceptronState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    if norm2 < NO_DIRECTION or y * m > 0.0:
        return UNCHANGED
    if state.k[0] == 0 or (m == 0.0 and is_zero(state.w)):
        add_scaled(state.w, y / math.sqrt(norm2), x)
    else:
        add_scaled(state.w, -2.0 * m / norm2, x)
    state.k[0] += 1
    return UPDATED


@restart.of(ModifiedPerceptronState)
def _restart(state: Any) -> None:
    clear(state.w)
    state.k[0] = 0


@is_sound.of(ModifiedPerceptronState)
def _is_sound(state: ModifiedPerceptronState) -> Any:
    return all_within(state.k, 0, LARGEST_COUNT) and weights_are_sound(state.w)


@dataclass(frozen=True)
class ModifiedPerceptron:
    """A Perceptron of constant norm: on a mistake it reflects w, ``w -= 2 (w.x) x/|x|^2``.

    Parameters
    ----------
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.

    References
    ----------
    Blum, Frieze, Kannan, Vempala: A polynomial-time algorithm for learning noisy linear threshold functions, 1998.
    """

    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> ModifiedPerceptronState:
        """The state before the first round."""
        w = new_weights(d, sparse, self.kernel, self.budget, self.evict)
        return ModifiedPerceptronState(w, np.zeros(1, np.int64))
