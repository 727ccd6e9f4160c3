"""Rule: margin-based asking, with probability b / (b + |p|).

Cesa-Bianchi, Gentile, Zaniboni 2006, Figures 1 and 3; Moroshko, Crammer 2014, Figure 1 (a is the scale there);
Ezukwoke, Zareian, Algorithm 2 (delta).

==========  ==========================================================
p           margin, p = m / (1 + q)
b           scale: the probability of asking is b / (b + |p|)
u           the random draw of the round, uniform on [0, 1)
theta       b (1 - u) / u: asking with that probability is asking iff |p| < theta
==========  ==========================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..compiled.steps import step
from ..validation import check_number
from .state import RuleState, by_draw, check_floor, new_kind, new_state


@step
def margin_threshold(b: float, u: float) -> Any:
    """Theta, never 0: at p = 0 the rule always asks."""
    return max(b * (1.0 - u) / u, 5e-324) if u > 0.0 else math.inf


@step
def margin_probability(b: float, p: float) -> Any:
    """B / (b + |p|), which is 1 for p = 0 and for an infinite b."""
    if p == 0.0 or b == math.inf:
        return 1.0
    return b / (b + abs(p))


def _threshold(rule: Any, norm2: float, u: float) -> Any:
    return margin_threshold(rule.value, u)


def _chance(rule: Any, m: float, q: float, norm2: float) -> Any:
    return margin_probability(rule.value, m / (1.0 + q))


_MARGIN = new_kind(threshold=_threshold, chance=_chance, **by_draw(_threshold, _chance))


@dataclass(frozen=True)
class MarginRule:
    """Ask with probability ``scale / (scale + |p|)``: surely at the boundary, seldom far from it.

    Parameters
    ----------
    scale : float
        b, a or delta in the papers; positive, and infinity always asks.
    floor : float, default 0.0
        Never ask with a smaller probability than this; 0 is the paper.
    """

    scale: float
    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "scale", self.scale, "a positive number, perhaps infinity", 0.0)
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_MARGIN, self.scale, self.floor)
