"""The steps that a round calls on the rules of this package, which share one state.

The default ``decide`` compares a distance with a threshold, |p| < theta, in exactly the same form with and without
bounds on q, so that rounding cannot make the two disagree; with bounds the result is often known before q is.
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from pathlib import Path
from typing import Any

from ..compiled.steps import step
from ..contracts import rule as contract
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..contracts.rule import ASK, PASS, UNDECIDED
from ..linalg.vectors import LARGEST, all_within
from .budget import is_sound_spending
from .state import TIME, RuleState, by_kind

for _module in pkgutil.iter_modules([str(Path(__file__).parent)]):
    if _module.name != "deciding":
        importlib.import_module(f"{__package__}.{_module.name}")  # which registers the steps of a rule

_threshold, _chance = step(by_kind("threshold")), step(by_kind("chance"))


def _compare(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    """ASK, PASS, or UNDECIDED where the decision depends on q between its bounds."""
    if u < rule.floor:
        return ASK
    theta = _threshold(rule, norm2, u)
    if abs(m) / (1.0 + q_low) < theta:
        return ASK
    if abs(m) / (1.0 + q_high) >= theta:
        return PASS
    return UNDECIDED


def _chance_or_floor(rule: Any, m: float, q: float, norm2: float) -> Any:
    """The probability of asking, before the random draw is seen; NaN where it depends on an unknown q."""
    if math.isnan(q):
        return 1.0 if rule.floor == 1.0 else math.nan
    return max(_chance(rule, m, q, norm2), rule.floor)


def _allow(rule: Any) -> Any:
    return False


def _no_time(rule: Any, time: float) -> None:
    return


def _no_cost(rule: Any, m: float, q: float, asked: bool) -> None:
    return


def _ignore_label(rule: Any, right: bool, chance: float) -> None:
    return


def _ignore_class(rule: Any, k: int) -> None:
    return


_begin_round = step(by_kind("begin_round", _no_time))


@contract.begin_round.of(RuleState)
def _tick(rule: Any, time: float) -> None:
    """Advance the clock of the rule, in place."""
    _begin_round(rule, time)
    rule.memory[0] += 1.0


@contract.note_update.of(RuleState)
def _note_update(rule: Any, norm2: float) -> None:
    """Note that an instance of this squared norm updated the learner, in place."""
    rule.memory[1] += 1.0
    rule.memory[2] = max(rule.memory[2], norm2)


@contract.note_many.of(RuleState)
def _note_many(rule: Any, rounds: int, updates: int, norm2: float) -> None:
    """Note rounds and updates, in place."""
    rule.memory[0] += rounds
    rule.memory[1] += updates
    rule.memory[2] = max(rule.memory[2], norm2)


@contract.restart_rule.of(RuleState)
def _restart_rule(rule: Any) -> None:
    """Reset the clock and the memory, in place; the budget spent is not reset."""
    memory = rule.memory
    for i in range(len(memory)):
        memory[i] = 0.0


@contract.period_length.of(RuleState)
def _period_length(rule: Any) -> Any:
    return rule.per


@contract.last_time.of(RuleState)
def _last_time(rule: Any) -> Any:
    return float(rule.spending[TIME])


def _no_thresholds(rule: Any, u: Any, out: Any) -> Any:
    return False


def _no_chances(rule: Any, p: Any, out: Any) -> None:
    return


def _floor(rule: RuleState) -> float:
    return max(rule.floor, 0.0)


def _endless(rule: RuleState, now: float) -> float:
    return math.inf


_own_arrays = by_kind("is_sound", is_sound_spending)


@is_sound.of(RuleState)
def _is_sound(rule: RuleState) -> Any:
    counts = all_within(rule.memory[:2], 0.0, LARGEST_COUNT) and all_within(rule.memory[2], 0.0, LARGEST)
    return counts and _own_arrays(rule)


for _family, _default in (
    (contract.decide, _compare),
    (contract.probability, _chance_or_floor),
    (contract.forbids, _allow),
    (contract.end_round, _no_cost),
    (contract.note_label, _ignore_label),
    (contract.note_class, _ignore_class),
    (contract.least_chance, _floor),
    (contract.labels_left, _endless),
    (contract.thresholds, _no_thresholds),
    (contract.chances, _no_chances),
):
    _family.of(RuleState)(by_kind(_family.__name__, _default))
