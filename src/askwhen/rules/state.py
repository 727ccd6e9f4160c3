"""The state that the rules of this package share, and the table of each rule's steps.

A round is compiled for the types of its states. With a type for each rule it would be compiled again for each of them,
which takes seconds; so these rules share :class:`RuleState`, whose ``kind`` says which rule it belongs to. Each rule
registers its steps in its own file with :func:`new_kind`, and :func:`by_kind` combines them into one step, a chain of
comparisons that the compiler inlines.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import Family, step
from ..validation import check_number

LOG_SCALE, DEBT, RATE, TIME, PERIOD, SPENT, ROUNDS, EXPECTED = range(8)
LEAD, HAZARD, RIGHT, ANSWERS, WEIGHT, CHANCE = range(8, 14)
"""Indices in the ``spending`` of a budget; see :mod:`askwhen.rules.budget`. The last six exist only with
``spread=True``; WEIGHT and CHANCE are those of the last round."""

_steps: dict[str, dict[int, Callable[..., Any]]] = {}
_kinds = itertools.count()


def new_kind(**steps: Callable[..., Any]) -> int:
    """Register the steps of a rule, and return the number that identifies its states.

    Either ``threshold(rule, norm2, u)``, the distance below which the random draw u asks, and
    ``chance(rule, m, q, norm2)``, the probability of asking before the floor, for a rule that compares a distance with
    a threshold. Or ``decide`` and ``probability``, as :mod:`askwhen.contracts.rule` describes them. Any other family of
    that module may be given by its name as well.
    """
    kind = next(_kinds)
    for name, function in steps.items():
        _steps.setdefault(name, {})[kind] = function
    return kind


def by_kind(name: str, default: Callable[..., Any] | None = None) -> Callable[..., Any]:
    """A function that calls the step which the rule of a state has registered under this name, or the default."""
    registered = sorted(_steps[name].items(), reverse=True)
    found = registered.pop(0)[1] if default is None else default
    for kind, function in registered:
        found = _either(kind, _as_step(function), _as_step(found))
    return found


def _as_step(function: Callable[..., Any]) -> Callable[..., Any]:
    return function if isinstance(function, Family) else step(function)


def _either(kind: int, function: Callable[..., Any], otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def choose(rule: Any, *args: Any) -> Any:
        return function(rule, *args) if rule.kind == kind else otherwise(rule, *args)

    return choose


def by_draw(threshold: Callable[..., Any], chance: Callable[..., Any]) -> dict[str, Callable[..., Any]]:
    """Further steps for ``new_kind``, of a rule whose threshold depends on nothing but the draw and its parameters."""
    threshold_, chance_ = step(threshold), step(chance)

    def thresholds(rule: Any, u: Any, out: Any) -> Any:
        for i in range(len(u)):
            out[i] = math.inf if u[i] < rule.floor else threshold_(rule, 0.0, u[i])
        return True

    def chances(rule: Any, p: Any, out: Any) -> None:
        for i in range(len(p)):
            out[i] = max(chance_(rule, p[i], 0.0, 0.0), rule.floor)

    return {"thresholds": thresholds, "chances": chances}


class RuleState(NamedTuple):
    """value is the rule's one parameter, memory = (t, K, X2), and spending are the numbers that a budget updates.

    t counts rounds from 1 since the last restart, K the updates since then, and X2 is the largest squared norm among
    the updated instances. A negative ``floor`` is a share of a budget's rate. ``per`` is the length of a budget's
    period, or 0; ``most`` is the total number of labels of a budget. ``length`` is the number of rounds of a budget,
    infinite where that is not known.
    """

    kind: int
    value: float
    floor: float
    per: float
    most: float
    length: float
    by_uncertainty: bool
    memory: Any
    spending: Any


# Nine parameters, since one type of state serves all rules; all but the first three are for budgets.
def new_state(
    kind: int,
    value: float,
    floor: float,
    per: float = 0.0,
    by_uncertainty: bool = False,
    first_scale: float = 1.0,
    most: float = math.inf,
    length: float = math.inf,
    places: int = 8,
) -> RuleState:
    """The state of a rule before the first round; ``places`` is the length of ``spending``."""
    spending = np.zeros(places)
    spending[LOG_SCALE], spending[TIME] = math.log(first_scale), math.nan
    numbers = (float(value), float(floor), float(per), float(most), float(length))
    return RuleState(kind, *numbers, by_uncertainty, np.zeros(3), spending)


def check_floor(owner: Any, floor: Any) -> None:
    """Refuse a floor that is not a probability."""
    check_number(owner, "floor", floor, "a number from 0 to 1", 0.0, 1.0, open_low=False)
