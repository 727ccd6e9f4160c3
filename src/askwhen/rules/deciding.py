"""The steps that the round calls on our own rules: plain data, so that one compiled round serves all of them.

A budget that spreads its questions compares the coin u with the probability of asking. Every other rule but BBQ
compares a distance with a threshold, |p| < theta, on every path through the code, so that all of them decide alike;
with bounds on q the comparison is often settled before q is known.
"""

from __future__ import annotations

import math
from typing import Any

from ..compiled.steps import step
from ..contracts.rule import (
    ASK,
    PASS,
    UNDECIDED,
    begin_round,
    decide,
    end_round,
    forbids,
    last_time,
    least_chance,
    note_class,
    note_label,
    note_update,
    period_length,
    probability,
    restart_rule,
    toss,
)
from .adaptive_margin import adaptive_scale
from .bbq import ask_by_uncertainty
from .budget import (
    accrue,
    budget_floor,
    budget_probability,
    budget_threshold,
    distance,
    hear_label,
    is_spent,
    lead_further,
    spend,
    spread_probability,
)
from .focused import bell, bell_threshold
from .margin import margin_probability, margin_threshold
from .state import ADAPTIVE, ALWAYS, BBQ, BUDGET, CHANCE, FIXED, FOCUSED, SPENT, SPREAD, TIME, RuleState


@step
def threshold(rule: Any, norm2: float, u: float) -> Any:
    """The distance below which this coin asks, for every rule but BBQ and a budget."""
    kind, value, memory = rule.kind, rule.value, rule.memory
    if kind == ALWAYS:
        return math.inf
    if kind == FIXED:
        return math.inf if u < value else 0.0
    if kind == FOCUSED:
        return bell_threshold(value, -math.log(u)) if u > 0.0 else math.inf
    scale = adaptive_scale(value, memory[1], memory[2], norm2) if kind == ADAPTIVE else value
    return margin_threshold(scale, u)


@forbids.of(RuleState)
def _forbids(rule: Any) -> Any:
    """Whether nothing may be asked in this round, by rule, window or audit."""
    return rule.kind >= BUDGET and is_spent(rule)


@decide.of(RuleState)
def _decide(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    """ASK, PASS, or UNDECIDED where the decision depends on q between its bounds."""
    if rule.kind >= BUDGET:
        if rule.spending[SPENT] >= rule.most:
            return PASS
        if q_low != q_high:
            return UNDECIDED  # a budget steers by the margin of every round
        if is_spent(rule):
            return PASS
        if rule.kind == SPREAD:
            return toss(spread_probability(rule, distance(rule, m, q_low)), u)
        return ASK if u < budget_floor(rule) or distance(rule, m, q_low) < budget_threshold(rule, u) else PASS
    if u < rule.floor:
        return ASK
    if rule.kind == BBQ:
        return ask_by_uncertainty(rule.value, rule.memory[0], q_low, q_high)
    theta = threshold(rule, norm2, u)
    if abs(m) / (1.0 + q_low) < theta:
        return ASK
    if abs(m) / (1.0 + q_high) >= theta:
        return PASS
    return UNDECIDED


@probability.of(RuleState)
def _probability(rule: Any, m: float, q: float, norm2: float) -> Any:
    """The rule's probability of asking in this round, before its coin is seen; NaN where it depends on an unknown q."""
    kind, value, memory = rule.kind, rule.value, rule.memory
    if kind == ALWAYS:
        return 1.0
    if kind == FIXED:
        return max(value, rule.floor)
    if kind >= BUDGET and is_spent(rule):
        return 0.0
    if math.isnan(q):
        return 1.0 if rule.floor == 1.0 else math.nan
    if kind == BBQ:
        chance = 1.0 if ask_by_uncertainty(value, memory[0], q, q) == ASK else 0.0
    elif kind == SPREAD:
        return rule.spending[CHANCE]  # as decided: the same bits, without two exponentials
    elif kind == BUDGET:
        chance = max(budget_probability(rule, distance(rule, m, q)), budget_floor(rule))
    elif kind == FOCUSED:
        chance = bell(m / (1.0 + q), value)
    else:
        scale = adaptive_scale(value, memory[1], memory[2], norm2) if kind == ADAPTIVE else value
        chance = margin_probability(scale, m / (1.0 + q))
    return max(chance, rule.floor)


@begin_round.of(RuleState)
def _begin_round(rule: Any, time: float) -> None:
    """Let the rule's clock tick, in place."""
    if rule.kind >= BUDGET:
        accrue(rule, time)
    rule.memory[0] += 1.0


@end_round.of(RuleState)
def _end_round(rule: Any, m: float, q: float, asked: bool) -> None:
    """Tell the rule whether a label was asked for, by itself, by a window or by an audit, in place."""
    if rule.kind >= BUDGET:
        spend(rule, distance(rule, m, q), asked)


@note_label.of(RuleState)
def _note_label(rule: Any, right: bool, chance: float) -> None:
    """Tell the rule whether a told label was predicted, in place."""
    if rule.kind == SPREAD:
        hear_label(rule, right, chance)


@note_update.of(RuleState)
def _note_update(rule: Any, norm2: float) -> None:
    """Tell the rule that the learner moved on an instance of this squared norm, in place."""
    rule.memory[1] += 1.0
    rule.memory[2] = max(rule.memory[2], norm2)


@note_class.of(RuleState)
def _note_class(rule: Any, k: int) -> None:
    lead_further(rule, k)


@restart_rule.of(RuleState)
def _restart_rule(rule: Any) -> None:
    """Set the clock and the memory back, in place; what was spent stays spent."""
    memory = rule.memory
    for i in range(len(memory)):
        memory[i] = 0.0


@least_chance.of(RuleState)
def _least_chance(rule: Any) -> Any:
    if rule.kind == ALWAYS:
        return 1.0
    return max(rule.floor, rule.value) if rule.kind == FIXED else max(rule.floor, 0.0)


@period_length.of(RuleState)
def _period_length(rule: Any) -> Any:
    return rule.per


@last_time.of(RuleState)
def _last_time(rule: Any) -> Any:
    return float(rule.spending[TIME])
