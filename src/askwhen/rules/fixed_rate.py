"""Rules: ask in every round, or at random with a fixed probability, independently of the margin.

Cesa-Bianchi, Gentile, Zaniboni 2006, section 4: the baseline that margin-based asking is compared with.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

from ..validation import check_number
from .state import RuleState, by_draw, check_floor, new_kind, new_state


def _everything(rule: Any, norm2: float, u: float) -> Any:
    return math.inf


def _surely(rule: Any, m: float, q: float, norm2: float) -> Any:
    return 1.0


def _by_draw(rule: Any, norm2: float, u: float) -> Any:
    return math.inf if u < rule.value else 0.0


def _rate(rule: Any, m: float, q: float, norm2: float) -> Any:
    return max(rule.value, rule.floor)


def _one(rule: RuleState) -> float:
    return 1.0


def _least(rule: RuleState) -> float:
    return max(rule.floor, rule.value)


_ALWAYS = new_kind(threshold=_everything, probability=_surely, least_chance=_one, **by_draw(_everything, _surely))
_FIXED = new_kind(threshold=_by_draw, probability=_rate, least_chance=_least, **by_draw(_by_draw, _rate))


@dataclass(frozen=True)
class Always:
    """Ask in every round: supervised learning.

    Parameters
    ----------
    floor : float, default 0.0
        Accepted as by every rule; has no effect here.
    """

    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_ALWAYS, 1.0, self.floor)


@dataclass(frozen=True)
class FixedRate:
    """Ask with the same probability in every round.

    Parameters
    ----------
    rate : float
        The probability of asking, between 0 and 1.
    floor : float, default 0.0
        Never ask with a smaller probability than this.
    """

    rate: float
    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number(self, "rate", self.rate, "a number from 0 to 1", 0.0, 1.0, open_low=False)
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_FIXED, self.rate, self.floor)
