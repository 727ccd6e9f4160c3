"""The Randomized Budget Perceptron.

Cavallanti, Cesa-Bianchi, Gentile 2007.

==========  ==========================================================
w           weights, the sum of y x over the stored instances
B           the budget: the largest number of stored instances
==========  ==========================================================

On a mistake w += y x, and x is stored. If B instances are already stored, one of them, chosen uniformly at random, is
dropped first. It is the Perceptron on an :class:`askwhen.weights.expansion.Expansion` with a budget.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..validation import check_count
from ..weights.expansion import check_kernel, new_expansion
from ..weights.kernels import AnyKernel, Linear
from .perceptron import PerceptronState, start


@dataclass(frozen=True)
class BudgetPerceptron:
    """A Perceptron that stores at most ``budget`` instances, and drops a random one when they are too many.

    Parameters
    ----------
    budget : int
        B in the paper: the largest number of stored instances.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn with this Mercer kernel.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget Perceptron, 2007.
    """

    budget: int
    kernel: AnyKernel | None = None
    evict: str = "random"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count(self, "budget", self.budget)
        check_kernel(self, self.kernel, None, self.evict)

    def start(self, d: int, sparse: bool) -> PerceptronState:
        """The state before the first round."""
        return start(new_expansion(d, sparse, self.kernel or Linear(), self.budget, self.evict), 0.0)
