"""Asking at random, whatever the margin.

Cesa-Bianchi, Gentile, Zaniboni 2006, section 4: the baseline that margin-based asking is compared with.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..validation import check_number
from .state import ALWAYS, FIXED, RuleState, check_floor, new_state


@dataclass(frozen=True)
class Always:
    """Ask in every round: supervised learning.

    Parameters
    ----------
    floor : float, default 0.0
        As in every rule, and without effect here.
    """

    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(ALWAYS, 1.0, self.floor)


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
        return new_state(FIXED, self.rate, self.floor)
