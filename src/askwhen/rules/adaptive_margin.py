"""Rule: margin-based asking with a scale that tunes itself.

Cesa-Bianchi, Gentile, Zaniboni 2006, Figure 2.

==========  ==========================================================
K           number of updates so far
X'          max(largest norm among the updated instances, |x|)
b           beta X'^2 sqrt(1 + K), the scale of this round
==========  ==========================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..compiled.steps import step
from ..validation import check_positive
from .margin import margin_probability, margin_threshold
from .state import RuleState, check_floor, new_kind, new_state


@step
def adaptive_scale(beta: float, K: float, X2: float, norm2: float) -> Any:
    """The scale b of this round, from the squared norms."""
    return beta * max(X2, norm2) * math.sqrt(1.0 + K)


def _threshold(rule: Any, norm2: float, u: float) -> Any:
    return margin_threshold(adaptive_scale(rule.value, rule.memory[1], rule.memory[2], norm2), u)


def _chance(rule: Any, m: float, q: float, norm2: float) -> Any:
    scale = adaptive_scale(rule.value, rule.memory[1], rule.memory[2], norm2)
    return margin_probability(scale, m / (1.0 + q))


_ADAPTIVE = new_kind(threshold=_threshold, chance=_chance)


@dataclass(frozen=True)
class AdaptiveMarginRule:
    """Ask with probability ``b / (b + |p|)``, where b grows with the updates made so far.

    Parameters
    ----------
    beta : float
        Positive; any constant keeps the guarantee, larger ones ask more.
    floor : float, default 0.0
        Never ask with a smaller probability than this; 0 is the paper.
    """

    beta: float
    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_positive(self, "beta", self.beta)
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_ADAPTIVE, self.beta, self.floor)
