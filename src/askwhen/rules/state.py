"""What a rule is inside a step: plain data, so that one compiled loop serves all rules."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..contracts.learner import LARGEST_COUNT, is_sound
from ..linalg.vectors import LARGEST, all_finite, all_within
from ..validation import LARGEST_TIME, check_number

ALWAYS, FIXED, MARGIN, ADAPTIVE, BBQ, FOCUSED, BUDGET, SPREAD = range(8)
"""The kinds of rules; a budget that spreads its questions is one of its own."""

LOG_SCALE, DEBT, RATE, TIME, PERIOD, SPENT, ROUNDS, EXPECTED = range(8)
LEAD, HAZARD, RIGHT, HEARD, BELL, CHANCE = range(8, 14)
"""Places in a budget's spending; see :mod:`askwhen.rules.budget`. The last six are there if it spreads: BELL and CHANCE
are those of the round that was decided last."""


LARGEST_LOG = 650.0
"""The largest size of the logarithm of a budget's scale."""


class RuleState(NamedTuple):
    """value is the rule's one parameter, memory = (t, K, X2), and spending is what a budget keeps track of.

    t counts rounds from 1 since the last restart, K the updates since then, and X2 is the largest squared norm among
    the updated instances. A negative ``floor`` is a share of a budget's rate. ``per`` is the length of a budget's
    period, or 0; ``most`` is how many labels a budget has in all. ``length`` is how many rounds a budget is
    for, infinite where that is not known.
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


def new_state(
    kind: int,
    value: float,
    floor: float,
    per: float = 0.0,
    by_uncertainty: bool = False,
    first_scale: float = 1.0,
    most: float = math.inf,
    length: float = math.inf,
) -> RuleState:
    """A rule that has seen no round."""
    spending = np.zeros(14 if kind == SPREAD else 8)
    spending[LOG_SCALE], spending[TIME] = math.log(first_scale), math.nan
    numbers = (float(value), float(floor), float(per), float(most), float(length))
    return RuleState(kind, *numbers, by_uncertainty, np.zeros(3), spending)


@is_sound.of(RuleState)
def _is_sound(rule: RuleState) -> Any:
    """The rate is a share, up to rounding: as a floor it becomes a probability, and that a place in the tally."""
    spending, time = rule.spending, rule.spending[TIME]
    return (
        all_within(rule.memory[:2], 0.0, LARGEST_COUNT)
        and all_within(rule.memory[2], 0.0, LARGEST)
        and all_within(spending[LOG_SCALE], -LARGEST_LOG, LARGEST_LOG)
        and all_within(spending[RATE], 0.0, 1.0 + 1e-9)
        and (math.isnan(time) or abs(time) <= LARGEST_TIME)
        and all_within(spending[[SPENT, ROUNDS, EXPECTED]], 0.0, LARGEST_COUNT)
        and all_finite(spending[[DEBT, PERIOD]])
        and (rule.kind != SPREAD or _is_heard(spending))
    )


def _is_heard(spending: np.ndarray) -> bool:
    """Whether what spreads the questions is sound; the share of right answers becomes a probability."""
    right, heard = spending[RIGHT], spending[HEARD]
    counts = all_within(spending[[LEAD, HAZARD, RIGHT, HEARD]], 0.0, LARGEST_COUNT)
    return counts and all_within(spending[[BELL, CHANCE]], 0.0, 1.0) and bool(0.0 < heard >= right)


def check_floor(owner: Any, floor: Any) -> None:
    """Refuse a floor that is no probability."""
    check_number(owner, "floor", floor, "a number from 0 to 1", 0.0, 1.0, open_low=False)
