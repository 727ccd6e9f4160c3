"""Passive-aggressive learning: PA, PA-I and PA-II.

Crammer, Dekel, Keshet, Shalev-Shwartz, Singer 2006; Ezukwoke, Zareian, Algorithms 1 and 2.

==========  ==========================================================
w           weights; the margin is p = w.x
l           hinge loss, max(0, 1 - y p)
tau         step length: l/|x|^2, min(C, l/|x|^2), l/(|x|^2 + 1/(2C))
C           aggressiveness of PA-I and PA-II
==========  ==========================================================

Whenever an asked label has l > 0, mistaken or not: w += tau y x. An instance without direction (|x| = 0, or so small
that |x|^2 loses its digits) changes nothing. The three step lengths are one formula:
tau = min(limit, l / (|x|^2 + slack)).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from ..contracts.learner import REFUSED, UNCHANGED, UPDATED, learn, learns, restart, score
from ..linalg.vectors import NO_DIRECTION, add_scaled, clear, look
from ..validation import check_positive
from ..weights.expansion import check_kernel, new_weights
from ..weights.kernels import AnyKernel

_LONGEST_STEP = 1e290  # |tau x|^2: a longer one would bring the weights near overflow


class PassiveAggressiveState(NamedTuple):
    """w, and the two numbers in which PA, PA-I and PA-II differ."""

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
    if loss <= 0.0 or norm2 < NO_DIRECTION:
        return UNCHANGED
    tau = min(state.limit, loss / (norm2 + state.slack))
    if not tau * (tau * norm2) <= _LONGEST_STEP:
        return REFUSED
    add_scaled(state.w, tau * y, x)
    return UPDATED


@restart.of(PassiveAggressiveState)
def _restart(state: Any) -> None:
    clear(state.w)


@dataclass(frozen=True)
class PassiveAggressive:
    """PA: move w just far enough that the asked label is predicted with margin 1.

    Parameters
    ----------
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.
    """

    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(new_weights(d, sparse, self.kernel, self.budget, self.evict), math.inf, 0.0)


@dataclass(frozen=True)
class PassiveAggressive1:
    """PA-I: as PA, but never step further than tau = C.

    Parameters
    ----------
    C : float
        Aggressiveness, positive.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.
    """

    C: float
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self, "C", self.C)
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(new_weights(d, sparse, self.kernel, self.budget, self.evict), float(self.C), 0.0)


@dataclass(frozen=True)
class PassiveAggressive2:
    """PA-II: as PA, with steps softened to ``tau = l / (|x|^2 + 1/(2C))``.

    Parameters
    ----------
    C : float
        Aggressiveness, positive.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.
    """

    C: float
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_positive(self, "C", self.C)
        check_kernel(self, self.kernel, self.budget, self.evict)

    def start(self, d: int, sparse: bool) -> PassiveAggressiveState:
        """The state before the first round."""
        return PassiveAggressiveState(
            new_weights(d, sparse, self.kernel, self.budget, self.evict), math.inf, 0.5 / float(self.C)
        )
