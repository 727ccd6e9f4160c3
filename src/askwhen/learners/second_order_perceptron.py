"""The second-order Perceptron.

Cesa-Bianchi, Conconi, Gentile 2005; Cesa-Bianchi, Gentile, Zaniboni 2006, Figure 3. The recursion is in
:mod:`askwhen.weights.second_order`, with c = infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..validation import check_choice, check_number
from ..weights.choose_form import check_form, second_order_state
from ..weights.kernels import AnyKernel


@dataclass(frozen=True)
class SecondOrderPerceptron:
    """A Perceptron on whitened instances: p = v'(A + xx')^-1 x with A = bI + sum of xx' over the updates.

    Parameters
    ----------
    b : float, default 1.0
        The size of A before the first round; a large b predicts as the Perceptron.
    update : {"mistake", "queried"}, default "mistake"
        Learn from mistaken questions only, as in the paper, or from every label asked for.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores.
    evict : {"random", "oldest"}, default "random"
        Which stored instance is dropped for a new one when the budget is full.
    form : {"auto", "primal", "dual"}, default "auto"
        Without a kernel: store a d x d matrix ("primal"), or the learnt instances ("dual"). "auto" takes the dual form
        for sparse instances of more than 2,048 features, and for dense ones of more than 11,585, whose matrix would
        take more than 1 GiB; ``sampler.form`` shows which.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile: A second-order Perceptron algorithm, 2005.
    """

    b: float = 1.0
    update: str = "mistake"
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"
    form: str = "auto"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = True
    matrices: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number(self, "b", self.b, "a number from 1e-100 to 1e100", 1e-100, 1e100, open_low=False)
        check_choice(self, "update", self.update, ("mistake", "queried"))
        check_form(self, self.kernel, self.budget, self.evict, self.form)

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round."""
        return second_order_state(self, d, sparse, math.inf)
