"""Passive-aggressive learning: PA, PA-I and PA-II.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006; Ezukwoke, Zareian, Algorithms 1 and 2.

==========  ==========================================================
w           weights; the margin is p = w.x
l           hinge loss, max(0, 1 - y p)
tau         step length: l/|x|^2, min(C, l/|x|^2), l/(|x|^2 + 1/(2C))
C           aggressiveness of PA-I and PA-II
==========  ==========================================================

Whenever an asked label has l > 0, mistaken or not: w += tau y x. An instance without direction (|x|^2 = 0) moves
nothing. The three step lengths are one formula, tau = min(limit, l / (|x|^2 + slack)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts import UNCHANGED, UPDATED, learn, learns, restart, score
from ..linalg import add_scaled, look
from ..validation import check_positive


class PassiveAggressiveState(NamedTuple):
    """w, and the two numbers that tell PA, PA-I and PA-II apart."""

    w: Any
    limit: float
    slack: float


@score.of(PassiveAggressiveState)
def _score(state: Any, x: Any) -> Any:
    return look(state.w, x)


@learns.of(PassiveAggressiveState)
def _learns(state: Any, mistaken: bool) -> Any:
    return True


@learn.of(PassiveAggressiveState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    loss = 1.0 - y * m
    if loss <= 0.0 or norm2 == 0.0:
        return UNCHANGED
    tau = min(state.limit, loss / (norm2 + state.slack))
    add_scaled(state.w, tau * y, x)
    return UPDATED


@restart.of(PassiveAggressiveState)
def _restart(state: Any) -> None:
    state.w[:] = 0.0


@dataclass(frozen=True)
class PassiveAggressive:
    """PA: move w just far enough that the asked label is predicted with margin 1."""

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(np.zeros(d), math.inf, 0.0)


@dataclass(frozen=True)
class PassiveAggressive1:
    """PA-I: as PA, but never step further than tau = C.

    Parameters
    ----------
    C : float
        Aggressiveness, positive.
    """

    C: float

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self, "C", self.C)

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(np.zeros(d), float(self.C), 0.0)


@dataclass(frozen=True)
class PassiveAggressive2:
    """PA-II: as PA, with steps softened to tau = l / (|x|^2 + 1/(2C)).

    Parameters
    ----------
    C : float
        Aggressiveness, positive.
    """

    C: float

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self, "C", self.C)

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(np.zeros(d), math.inf, 0.5 / float(self.C))
