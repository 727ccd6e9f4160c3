"""Regularised least squares, the learner of BBQ.

Cesa-Bianchi, Gentile, Orabona 2009; Kravchik 2014. The recursion is in :mod:`askwhen.second_order`, with c = infinity;
every asked label is learnt.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .. import second_order
from ..errors import InputError
from ..validation import check_choice, check_positive


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

    References
    ----------
    Cesa-Bianchi, Gentile, Orabona: Robust bounds for classification via selective sampling, 2009.
    """

    b: float = 1.0
    update: str = "queried"
    regression: bool = False

    has_uncertainty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(self, "b", self.b)
        check_choice(self, "update", self.update, ("mistake", "queried"))
        if not isinstance(self.regression, bool):
            raise InputError(f"LeastSquares: regression must be True or False, got {self.regression!r}.")
        if self.regression and self.update == "mistake":
            raise InputError("LeastSquares: update must be 'queried' for regression, which has no mistakes.")

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round."""
        return second_order.start(d, self.b, math.inf, self.update == "queried")
