"""Regularised least squares, the learner of BBQ.

Cesa-Bianchi, Gentile, Orabona 2009; Kravchik 2014. The recursion is in :mod:`askwhen.weights.second_order`, with
c = infinity; every asked label is learnt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import InputError
from ..validation import check_choice, check_number
from ..weights.choose_form import check_form, second_order_state
from ..weights.kernels import AnyKernel


@dataclass(frozen=True)
class LeastSquares:
    """Regularised least squares on the asked labels: p = v'(A + xx')^-1 x with A = bI + sum of xx'.

    Parameters
    ----------
    b : float, default 1.0
        The regularisation: the size of A before the first round.
    update : {"mistake", "queried"}, default "queried"
        Learn from every label asked for, as in the papers, or from mistaken questions only.
    regression : bool, default False
        Labels are numbers, and the prediction is the margin itself.
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
    Cesa-Bianchi, Gentile, Orabona: Robust bounds for classification via selective sampling, 2009.
    """

    b: float = 1.0
    update: str = "queried"
    regression: bool = False
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "random"
    form: str = "auto"

    has_uncertainty: ClassVar[bool] = True
    matrices: ClassVar[int] = 1

    def __post_init__(self) -> None:
        check_number(self, "b", self.b, "a number from 1e-100 to 1e100", 1e-100, 1e100, open_low=False)
        check_choice(self, "update", self.update, ("mistake", "queried"))
        check_form(self, self.kernel, self.budget, self.evict, self.form)
        if not isinstance(self.regression, bool):
            raise InputError(f"regression must be True or False, got {self.regression!r}.", owner="LeastSquares")
        if self.regression and self.update == "mistake":
            raise InputError("update must be 'queried' for regression, which has no mistakes.", owner="LeastSquares")

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round."""
        return second_order_state(self, d, sparse, math.inf)
