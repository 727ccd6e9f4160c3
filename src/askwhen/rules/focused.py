"""Rule: margin-based asking with a Gaussian weight, without a heavy tail.

Not from a paper. The papers' b / (b + |p|) falls off slowly: at ten times its scale it still asks one time in eleven,
and most labels are spent far from the boundary. A Gaussian weight spends them near it.

==========  ==========================================================
p           margin
s           scale: the probability of asking is exp(-(p / s)^2)
theta       s sqrt(-ln u): asking with that probability is asking iff |p| < theta
==========  ==========================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..compiled.steps import step
from ..validation import check_positive
from .state import RuleState, by_draw, check_floor, new_kind, new_state


@step
def gaussian_weight(p: float, s: float) -> Any:
    """exp(-(p/s)^2)."""
    z = p / s
    return math.exp(-z * z)


@step
def gaussian_threshold(s: float, log_odds: float) -> Any:
    """Theta: gaussian_weight(p, s) e^a > u iff |p| < theta, with log_odds = a - ln u; 0 where no p is asked about."""
    return s * math.sqrt(log_odds) if log_odds > 0.0 else 0.0


def _threshold(rule: Any, norm2: float, u: float) -> Any:
    return gaussian_threshold(rule.value, -math.log(u)) if u > 0.0 else math.inf


def _chance(rule: Any, m: float, q: float, norm2: float) -> Any:
    return gaussian_weight(m / (1.0 + q), rule.value)


_FOCUSED = new_kind(threshold=_threshold, chance=_chance, **by_draw(_threshold, _chance))


@dataclass(frozen=True)
class FocusedRule:
    """Ask with probability exp(-(p / scale)^2): surely at the boundary, hardly ever far from it.

    Parameters
    ----------
    scale : float
        The margin at which one label in e is asked for; positive.
    floor : float, default 0.0
        Never ask with a smaller probability than this.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.Lasec(b=1.0, c=300.0), aw.FocusedRule(0.1, floor=0.01), seed=7)
    """

    scale: float
    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(self, "scale", self.scale)
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_FOCUSED, self.scale, self.floor)
