"""LASEC, the last-step adaptive classifier for drifting targets.

Moroshko, Crammer 2014, Figure 1. The recursion is in :mod:`askwhen.weights.second_order`.

The paper starts at D_0 = bc/(c - b) I, which is exactly Q = (D_0^-1 + I/c) = I/b before the first round.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import InputError
from ..validation import check_choice, check_number
from ..weights.choose_form import check_form, second_order_state
from ..weights.kernels import AnyKernel


@dataclass(frozen=True)
class Lasec:
    """A second-order Perceptron for drifting targets: every update adds I/c to its uncertainty Q.

    Parameters
    ----------
    b : float
        How strongly the first target is held near zero, 0 < b < c.
    c : float
        How strongly targets are held together from update to update: small for fast drift, infinity for the
        second-order Perceptron.
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
    Moroshko, Crammer: Selective sampling with drift, 2014.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.Lasec(b=1.0, c=300.0), aw.MarginRule(0.05), seed=7)
    >>> ask = sampler.ask([0.6, 0.8])
    >>> ask.query
    True
    >>> sampler.tell(ask, +1)
    >>> sampler.ask([0.6, 0.8]).prediction
    1
    """

    b: float
    c: float
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
        check_number(self, "c", self.c, "a positive number, perhaps infinity", 0.0)
        if not self.b < self.c:
            raise InputError(f"b must be smaller than c, got b={self.b!r} and c={self.c!r}.", owner="Lasec")
        check_choice(self, "update", self.update, ("mistake", "queried"))
        check_form(self, self.kernel, self.budget, self.evict, self.form)

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round."""
        return second_order_state(self, d, sparse, self.c)
