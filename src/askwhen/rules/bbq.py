"""The BBQ rule: ask while the learner is uncertain.

Cesa-Bianchi, Gentile, Orabona 2009, as in Kravchik 2014.

==========  ==========================================================
r           uncertainty, r = q / (1 + q)
t           rounds since the last restart, from 1
kappa       asks iff r > t^-kappa
==========  ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from ..compiled.steps import step
from ..contracts.rule import ASK, PASS, UNDECIDED
from ..validation import check_number
from .state import RuleState, check_floor, new_kind, new_state


@step
def ask_by_uncertainty(kappa: float, t: int, q_low: float, q_high: float) -> Any:
    """ASK, PASS or UNDECIDED for every q between the bounds; never UNDECIDED where they agree."""
    theta = t**-kappa
    if q_low / (1.0 + q_low) > theta:
        return ASK
    if q_high / (1.0 + q_high) <= theta:
        return PASS
    return UNDECIDED


def _decide(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    return ASK if u < rule.floor else ask_by_uncertainty(rule.value, rule.memory[0], q_low, q_high)


def _chance(rule: Any, m: float, q: float, norm2: float) -> Any:
    return 1.0 if ask_by_uncertainty(rule.value, rule.memory[0], q, q) == ASK else 0.0


_BBQ = new_kind(decide=_decide, chance=_chance)


@dataclass(frozen=True)
class BBQRule:
    """Ask iff the uncertainty r exceeds t^-kappa: deterministic, with fewer questions as rounds go by.

    Parameters
    ----------
    kappa : float
        Between 0 and 1, both excluded; larger asks more.
    floor : float, default 0.0
        Ask with this probability where the rule would not ask; 0 is the paper.
    """

    kappa: float
    floor: float = 0.0

    needs_uncertainty: ClassVar[bool] = True
    needs_margin: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_number(self, "kappa", self.kappa, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
        check_floor(self, self.floor)

    def start(self) -> RuleState:
        """The state before the first round."""
        return new_state(_BBQ, self.kappa, self.floor)
