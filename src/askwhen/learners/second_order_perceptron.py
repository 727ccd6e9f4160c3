"""The second-order Perceptron.

Cesa-Bianchi, Conconi, Gentile 2005; Cesa-Bianchi, Gentile, Zaniboni 2006, Figure 3. The recursion is in
:mod:`askwhen.second_order`, with c = infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from .. import second_order
from ..validation import check_choice, check_positive


@dataclass(frozen=True)
class SecondOrderPerceptron:
    """A Perceptron that whitens what it has learnt: p = v'(A + xx')^-1 x with A = bI + sum of xx' over the updates.

    Parameters
    ----------
    b : float, default 1.0
        The size of A before the first round; a large b predicts as the Perceptron.
    update : {"mistake", "queried"}, default "mistake"
        Learn from mistaken questions only, as in the paper, or from every label asked for.

    References
    ----------
    Cesa-Bianchi, Conconi, Gentile: A second-order Perceptron algorithm, 2005.
    """

    b: float = 1.0
    update: str = "mistake"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(self, "b", self.b)
        check_choice(self, "update", self.update, ("mistake", "queried"))

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round."""
        return second_order.start(d, self.b, math.inf, self.update == "queried")
