"""The Modified Perceptron.

Blum, Frieze, Kannan, Vempala 1998; used against drift by Crammer, Mansour, Even-Dar, Vaughan 2010.

==========  ==========================================================
w           weights; the margin is p = w.x
k           number of updates so far
==========  ==========================================================

The first update sets w = y x/|x|; later ones reflect: w -= 2 (w.x) x/|x|^2. A label that is told late moves w only
if y w.x <= 0 still. An instance without direction (|x|^2 = 0) moves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts import UNCHANGED, UPDATED, learn, restart, score
from ..linalg import add_scaled, look


class ModifiedPerceptronState(NamedTuple):
    """w after k updates."""

    w: Any
    k: Any


@score.of(ModifiedPerceptronState)
def _score(state: Any, x: Any) -> Any:
    return look(state.w, x)


@learn.of(ModifiedPerceptronState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    if norm2 == 0.0 or y * m > 0.0:
        return UNCHANGED
    if state.k[0] == 0:
        add_scaled(state.w, y / math.sqrt(norm2), x)
    else:
        add_scaled(state.w, -2.0 * m / norm2, x)
    state.k[0] += 1
    return UPDATED


@restart.of(ModifiedPerceptronState)
def _restart(state: Any) -> None:
    state.w[:] = 0.0
    state.k[0] = 0


@dataclass(frozen=True)
class ModifiedPerceptron:
    """A Perceptron of constant norm: on a mistake it reflects w, w -= 2 (w.x) x/|x|^2.

    References
    ----------
    Blum, Frieze, Kannan, Vempala: A polynomial-time algorithm for learning noisy linear threshold functions, 1998.
    """

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def start(self, d: int, sparse: bool) -> ModifiedPerceptronState:
        """The state before the first round."""
        return ModifiedPerceptronState(np.zeros(d), np.zeros(1, np.int64))
