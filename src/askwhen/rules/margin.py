"""Margin-based asking.

Cesa-Bianchi, Gentile, Zaniboni 2006, Figures 1 and 3; Moroshko, Crammer 2014, Figure 1 (a is the scale there);
Ezukwoke, Zareian, Algorithm 2 (delta).

==========  ==========================================================
p           margin, p = m / (1 + q)
b           scale: the probability of asking is b / (b + |p|)
u           the round's coin, uniform on [0, 1)
theta       b (1 - u) / u: asking with that probability is asking iff |p| < theta
==========  ==========================================================

Everything compares |p| with theta and nothing compares u with a probability, so that every path through the code
decides alike. With bounds on q the comparison is often settled before q is known.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..compiling import step
from ..validation import check_number
from .state import ASK, MARGIN, PASS, UNDECIDED, RuleState, new_state


@step
def ask_by_margin(b: float, m: float, q_low: float, q_high: float, u: float) -> Any:
    """ASK, PASS or UNDECIDED for every q between the bounds; never UNDECIDED where they agree."""
    theta = b * (1.0 - u) / u if u > 0.0 else math.inf
    if m == 0.0 or abs(m) / (1.0 + q_low) < theta:
        return ASK
    if abs(m) / (1.0 + q_high) >= theta:
        return PASS
    return UNDECIDED


@step
def margin_probability(b: float, p: float) -> Any:
    """B / (b + |p|), which is 1 for p = 0 and for an infinite b."""
    if p == 0.0 or b == math.inf:
        return 1.0
    return b / (b + abs(p))


@dataclass(frozen=True)
class MarginRule:
    """Ask with probability scale / (scale + |p|): surely at the boundary, seldom far from it.

    Parameters
    ----------
    scale : float
        b, a or delta in the papers; positive, and infinity always asks.
    """

    scale: float

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "scale", self.scale, "a positive number, perhaps infinity", 0.0)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(MARGIN, self.scale)
