"""The Randomized Budget Perceptron.

Cavallanti, Cesa-Bianchi, Gentile 2007.

==========  ==========================================================
w           weights, the sum of y x over the instances kept
B           the budget: how many instances are kept at most
==========  ==========================================================

On a mistake w += y x, and x is kept. When B are kept already, one of them, chosen uniformly at random, is dropped
first. It is the Perceptron on an :class:`askwhen.weights.expansion.Expansion` with a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..validation import check_count
from ..weights.expansion import check_kernel, new_expansion
from ..weights.kernels import Linear
from .perceptron import PerceptronState, start


@dataclass(frozen=True)
class BudgetPerceptron:
    """A Perceptron that keeps at most ``budget`` instances and drops a random one to make room.

    Parameters
    ----------
    budget : int
        B in the paper: how many instances are kept at most.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn with this Mercer kernel.
    evict : {"random", "oldest"}, default "random"
        Which kept instance makes room for a new one.

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget Perceptron, 2007.
    """

    budget: int
    kernel: Any = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count(self, "budget", self.budget)
        check_kernel(self, self.kernel, None, self.evict)

    def start(self, d: int, sparse: bool) -> PerceptronState:
        """The state before the first round."""
        return start(new_expansion(d, sparse, self.kernel or Linear(), self.budget, self.evict), 0.0)
