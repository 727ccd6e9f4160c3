"""The probability of asking that a rule would give to a margin, without playing a round."""

from __future__ import annotations

from typing import Any

from ...compiled.frames import lend
from ...compiled.steps import entry
from ...contracts.rule import begin_round, decide, forbids, probability

_NEVER = 1.0
"""A random draw at which only what is certain is asked."""


@entry
def chance_at(address: Any, time: float, p: float) -> Any:
    """The probability of asking about margin p in the next round of a copy of a rule, in place.

    It is 1 where the rule would have to ask and cannot pay for it.
    """
    (rule,) = lend(address)
    begin_round(rule, time)
    decide(rule, p, 0.0, 0.0, 0.0, _NEVER)
    return 1.0 if forbids(rule) else probability(rule, p, 0.0, 0.0)
