"""The steps that the round calls on a rule, whichever rule it is."""

from __future__ import annotations

import math
from typing import Any

from ..compiling import step
from .adaptive_margin import adaptive_scale
from .bbq import ask_by_uncertainty
from .margin import ask_by_margin, margin_probability
from .state import ADAPTIVE, ALWAYS, ASK, BBQ, FIXED, PASS


@step
def decide(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    """ASK, PASS, or UNDECIDED where the decision depends on q between its bounds."""
    kind, value, memory = rule.kind, rule.value, rule.memory
    if kind == ALWAYS:
        return ASK
    if kind == FIXED:
        return ASK if u < value else PASS
    if kind == BBQ:
        return ask_by_uncertainty(value, memory[0], q_low, q_high)
    scale = adaptive_scale(value, memory[1], memory[2], norm2) if kind == ADAPTIVE else value
    return ask_by_margin(scale, m, q_low, q_high, u)


@step
def probability(rule: Any, m: float, q: float, norm2: float) -> Any:
    """The probability of asking in this round, before its coin is seen; NaN where it depends on an unknown q."""
    kind, value, memory = rule.kind, rule.value, rule.memory
    if kind == ALWAYS:
        return 1.0
    if kind == FIXED:
        return value
    if math.isnan(q):
        return math.nan
    if kind == BBQ:
        return 1.0 if ask_by_uncertainty(value, memory[0], q, q) == ASK else 0.0
    scale = adaptive_scale(value, memory[1], memory[2], norm2) if kind == ADAPTIVE else value
    return margin_probability(scale, m / (1.0 + q))


@step
def begin_round(rule: Any) -> None:
    """Let the rule's clock tick, in place."""
    rule.memory[0] += 1.0


@step
def note_update(rule: Any, norm2: float) -> None:
    """Tell the rule that the learner moved on an instance of this squared norm, in place."""
    rule.memory[1] += 1.0
    rule.memory[2] = max(rule.memory[2], norm2)


@step
def restart_rule(rule: Any) -> None:
    """Set the clock and the memory back, in place."""
    rule.memory[:] = 0.0
