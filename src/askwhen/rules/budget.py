"""Rule: ask within a budget. The user gives the number or share of labels, and the rule steers itself to spend it.

Not from a paper. The rule asks with probability min(1, g ((1 - l) 1.3 A G + l rate)), where G = exp(-(p / s)^2) is a
Gaussian weight, and adjusts:

==========  ==========================================================
s           the scale. ln s += 0.2 (rate - G): after a while G alone would ask at the rate
A           the hazard: the sum of G since the last question, this round included. It spreads questions out in time
l           the ignorance of the learner: clip((0.7 - H/V) / 0.1, 0, 1). Where it hardly does better than chance, its
            margins mean nothing, and the rule asks at random
H, V        right answers and all answers, weighted by 1/probability, at most 20; both fade by .995 with every label
g           the multiplier, ((B - D) / (B + D))^1.5
D           the debt: labels spent beyond what the budget has allowed for so far, and beyond the lead
B           the slack. The multiplier is 1 without debt, 0 from D = B on, and infinite (always ask) from D = -B on
L           the lead: how far spending may run ahead at the beginning, when there is most to learn, 200 rate e^(-t/300);
            for k classes k/2 times as far, at most five times
==========  ==========================================================

With ``spread=False`` it is min(1, g G), the rule of the first release.

**By rate.** Every round allows for ``rate`` labels. B = max(240 rate, 7) - 1, and D never leaves [-B - 1, B + 1]: in
*every* run of rounds that begins after the first thousand, whatever the instances and the margins are, the labels spent
differ from the rate by less than max(500 rate, 15). That holds for all random draws.

**By rate, of a known length n.** At most ceil(rate n) labels are asked for, so the lead must come out of these: it is
at most 0.35 times what the rate allows for in the remaining rounds, and the slack at most 1 + 0.2 times that. One
label is reserved gradually (D + (1 - rate) t/n), so that a question can still be asked in the last rounds. The
constants were chosen on slices of 111 to 1,000 rows of four streams.

**By time.** Every period, a length of time in the instances' time stamps, allows for ``count`` labels. The part that
may be spent so far grows with the elapsed share of the period, or with the share of the instances expected from earlier
periods, whichever is larger: most instances may come within an hour. D counts from the period's beginning, and once
``count`` labels are spent the probability is 0 until it ends.

Where the probability is 0 because the budget is spent, floors and audits do not apply: nothing is observed there, and
the estimate of the accuracy counts these rounds as possible mistakes.

A regressor has no boundary to ask near. With ``by="uncertainty"`` 1/q takes the place of p: it is small where the
instance is unlike all that was learnt; l is 0.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import LARGEST_COUNT
from ..contracts.rule import ASK, PASS, UNDECIDED, toss
from ..errors import InputError
from ..linalg.vectors import all_finite, all_within
from ..validation import LARGEST_TIME, check_choice, check_count, check_flag, check_number
from .focused import gaussian_threshold, gaussian_weight
from .state import (
    ANSWERS,
    CHANCE,
    DEBT,
    EXPECTED,
    HAZARD,
    LEAD,
    LOG_SCALE,
    PERIOD,
    RATE,
    RIGHT,
    ROUNDS,
    SPENT,
    TIME,
    WEIGHT,
    RuleState,
    check_floor,
    new_kind,
    new_state,
)

LARGEST_LOG = 650.0
"""Largest absolute value of the logarithm of a budget's scale."""

_GAIN = 0.2
_FIRST_SCALE = 0.3
_FIRST_RATE = 0.1
_PACE_MEMORY = 500.0
_LEAD, _LEAD_ROUNDS = 200.0, 300.0
_POWER = 1.5
_LEAD_OF_REST, _SLACK_OF_REST = 0.35, 0.2
_FLOOR = 0.2
_MOST_LEADING = 10
_LEAD_FADE = math.exp(-1.0 / _LEAD_ROUNDS)
_HAZARD = 1.3
_CHANCE_LEVEL, _KNOWS = 0.6, 0.7
_FADE, _LARGEST_WEIGHT = 0.995, 20.0
_FIRST_ANSWERS, _FIRST_ACCURACY = 20.0, 0.75


@step
def still_due(rule: Any) -> Any:
    """Number of labels that the rate allows for in the remaining rounds; infinite where their number is not known."""
    left = rule.length - rule.spending[ROUNDS]
    return rule.value * left if left >= 0.0 else math.inf


@step
def slack(rule: Any) -> Any:
    """B, the slack: how far spending may be off before the rule must ask, or must not."""
    if rule.per > 0.0:
        return max(0.25 * rule.value, 1.0)
    return min(max(240.0 * rule.value, 7.0) - 1.0, 1.0 + _SLACK_OF_REST * still_due(rule))


@step
def debt(rule: Any) -> Any:
    """D, the debt: labels spent beyond what the budget has allowed for so far, and beyond the lead."""
    spending = rule.spending
    if rule.per > 0.0:
        return spending[DEBT]
    lead = spending[LEAD] if rule.kind == _SPREAD else _LEAD * rule.value * math.exp(-spending[ROUNDS] / _LEAD_ROUNDS)
    reserve = (1.0 - rule.value) * spending[ROUNDS] / rule.length if spending[ROUNDS] <= rule.length else 0.0
    return spending[DEBT] + reserve - min(lead, _LEAD_OF_REST * still_due(rule))


@step
def accrue(rule: Any, time: float) -> None:
    """Let the budget allow for one more round, or for the time that has passed, in place."""
    spending = rule.spending
    if rule.per == 0.0:
        spending[RATE] = rule.value
        spending[DEBT] -= rule.value
        spending[ROUNDS] += 1.0
        if rule.kind == _SPREAD:
            spending[LEAD] *= _LEAD_FADE
        return
    period = math.floor(time / rule.per)
    if math.isnan(spending[TIME]):
        spending[RATE], spending[PERIOD] = _FIRST_RATE, period
    else:
        allowed = min(rule.value * (time - spending[TIME]) / rule.per, 1.0)
        spending[RATE] += (allowed - spending[RATE]) / min(rule.memory[0] + 1.0, _PACE_MEMORY)
    if period != spending[PERIOD]:
        arrived, expected = spending[ROUNDS], spending[EXPECTED]
        spending[EXPECTED] = arrived if expected == 0.0 else 0.5 * (expected + arrived)
        spending[PERIOD], spending[SPENT], spending[ROUNDS] = period, 0.0, 0.0
    spending[TIME] = time
    spending[ROUNDS] += 1.0
    due = time / rule.per - period
    if spending[EXPECTED] > 0.0:
        spending[RATE] = min(rule.value / spending[EXPECTED], 1.0)
        due = max(due, min(spending[ROUNDS] / spending[EXPECTED], 1.0))
    spending[DEBT] = spending[SPENT] - rule.value * due


@step
def is_spent(rule: Any) -> Any:
    """Whether the budget forbids a question now."""
    if rule.per > 0.0:
        return rule.spending[SPENT] + 1.0 > rule.value
    return debt(rule) >= slack(rule) or rule.spending[SPENT] >= min(rule.most, whole_share(rule))


@step
def whole_share(rule: Any) -> Any:
    """The most labels that the rate allows for over the whole length; infinite after it, or where it is not known."""
    if rule.length == math.inf or rule.spending[ROUNDS] > rule.length:
        return math.inf
    return math.ceil((rule.value - 1e-9) * rule.length) + 0.0  # 0.1 * 30 is a little more than 3


@step
def takes_all(rule: Any) -> Any:
    """Whether the budget allows for all labels."""
    return rule.per == 0.0 and rule.value >= 1.0


@step
def pull(rule: Any) -> Any:
    """The logarithm of the multiplier g, infinite where the rule must ask; used with ``spread=False``."""
    D, B = debt(rule), slack(rule)
    if D <= -B or takes_all(rule):
        return math.inf
    if D >= B:
        return -math.inf
    return _POWER * math.log((B - D) / (B + D))


@step
def budget_floor(rule: Any) -> Any:
    """The floor of this round: a number, or a share of the rate."""
    return rule.floor if rule.floor >= 0.0 else -rule.floor * rule.spending[RATE]


@step
def distance(rule: Any, m: float, q: float) -> Any:
    """The distance that is compared with the threshold: |p|, or 1/q."""
    if rule.by_uncertainty:
        return 1.0 / q if q > 0.0 else math.inf
    return abs(m) / (1.0 + q)


@step
def budget_threshold(rule: Any, u: float) -> Any:
    """The distance below which the random draw u asks; used with ``spread=False``."""
    if u == 0.0:
        return math.inf
    return gaussian_threshold(math.exp(rule.spending[LOG_SCALE]), pull(rule) - math.log(u))


@step
def budget_probability(rule: Any, z: float) -> Any:
    """The probability of asking at distance z, before floor and cap."""
    log_multiplier = pull(rule)
    if log_multiplier == math.inf:
        return 1.0
    z /= math.exp(rule.spending[LOG_SCALE])
    return math.exp(min(log_multiplier - z * z, 0.0))


@step
def multiplier(rule: Any) -> Any:
    """The multiplier g: above 1 where too little was spent so far, infinite where the rule must ask."""
    D, B = debt(rule), slack(rule)
    if D <= -B or takes_all(rule):
        return math.inf
    odds = max(B - D, 0.0) / (B + D)
    return odds * math.sqrt(odds)


@step
def spread_probability(rule: Any, z: float) -> Any:
    """The probability of asking at distance z with ``spread=True``; it and G are stored, in place."""
    spending, g = rule.spending, multiplier(rule)
    near = gaussian_weight(z, math.exp(spending[LOG_SCALE]))
    spending[WEIGHT] = near
    near *= _HAZARD * (spending[HAZARD] + near)
    if not rule.by_uncertainty:
        ignorance = (_KNOWS - spending[RIGHT] / spending[ANSWERS]) / (_KNOWS - _CHANCE_LEVEL)
        near += min(max(ignorance, 0.0), 1.0) * (spending[RATE] - near)
    chance = max(min(g * near, 1.0), budget_floor(rule)) if g < math.inf else 1.0
    spending[CHANCE] = chance
    return chance


@step
def note_answer(rule: Any, right: bool, chance: float) -> None:
    """Note whether a label was predicted right, in place."""
    spending = rule.spending
    weight = min(1.0 / chance, _LARGEST_WEIGHT)
    spending[RIGHT] = _FADE * spending[RIGHT] + (weight if right else 0.0)
    spending[ANSWERS] = _FADE * spending[ANSWERS] + weight


@step
def spend(rule: Any, z: float, asked: bool) -> None:
    """Update the spending and the scale after a round, in place."""
    spending = rule.spending
    if spending[SPENT] >= rule.most:
        return  # nothing will be asked again, so there is nothing to steer
    if rule.kind == _SPREAD:
        near = gaussian_weight(z, math.exp(spending[LOG_SCALE])) if is_spent(rule) else spending[WEIGHT]
        spending[HAZARD] = 0.0 if asked else spending[HAZARD] + near
    else:
        near = gaussian_weight(z, math.exp(spending[LOG_SCALE]))
    step_up = _GAIN * (spending[RATE] - near)
    spending[LOG_SCALE] = min(max(spending[LOG_SCALE] + step_up, -LARGEST_LOG), LARGEST_LOG)
    if asked:
        spending[DEBT] += 1.0
        spending[SPENT] += 1.0


@step
def lead_further(rule: Any, k: int) -> None:
    """Extend the remaining lead when the k-th class is opened, in place."""
    if rule.per == 0.0 and 2 < k <= _MOST_LEADING:
        rule.spending[LEAD] *= k / (k - 1.0)


def _decide(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    if rule.spending[SPENT] >= rule.most:
        return PASS
    if q_low != q_high:
        return UNDECIDED  # a budget steers by the margin of every round
    if is_spent(rule):
        return PASS
    if rule.kind == _SPREAD:
        return toss(spread_probability(rule, distance(rule, m, q_low)), u)
    return ASK if u < budget_floor(rule) or distance(rule, m, q_low) < budget_threshold(rule, u) else PASS


def _probability(rule: Any, m: float, q: float, norm2: float) -> Any:
    if is_spent(rule):
        return 0.0
    if math.isnan(q):
        return 1.0 if rule.floor == 1.0 else math.nan
    if rule.kind == _SPREAD:
        return rule.spending[CHANCE]  # stored by decide: the same bits, without computing two exponentials again
    return max(max(budget_probability(rule, distance(rule, m, q)), budget_floor(rule)), rule.floor)


def _end_round(rule: Any, m: float, q: float, asked: bool) -> None:
    spend(rule, distance(rule, m, q), asked)


def _labels_left(rule: RuleState, now: float) -> float:
    spent = float(rule.spending[SPENT])
    if rule.per > 0.0:
        return rule.value - (spent if rule.spending[PERIOD] == math.floor(now / rule.per) else 0.0)
    return rule.most - spent


def labels_by(rate: float, rounds: int, classes: int = 2) -> float:
    """About how many labels a rule by rate has spent after so many rounds, its lead included."""
    lead = _LEAD * rate * math.exp(-rounds / _LEAD_ROUNDS) * min(max(classes, 2), _MOST_LEADING) / 2.0
    return min(rate * rounds + lead, float(rounds))


def is_sound_spending(rule: RuleState) -> bool:
    """Whether the spending of a file is possible. The rate must not exceed 1: it becomes a floor, and so an index."""
    spending, time = rule.spending, rule.spending[TIME]
    return (
        all_within(spending[LOG_SCALE], -LARGEST_LOG, LARGEST_LOG)
        and all_within(spending[RATE], 0.0, 1.0 + 1e-9)
        and (math.isnan(time) or abs(time) <= LARGEST_TIME)
        and all_within(spending[[SPENT, ROUNDS, EXPECTED]], 0.0, LARGEST_COUNT)
        and all_finite(spending[[DEBT, PERIOD]])
    )


def _is_sound_spread(rule: RuleState) -> bool:
    """Whether the spending of a file is possible with ``spread=True``; the share of right answers must be at most 1."""
    spending, right, answers = rule.spending, rule.spending[RIGHT], rule.spending[ANSWERS]
    counts = all_within(spending[[LEAD, HAZARD, RIGHT, ANSWERS]], 0.0, LARGEST_COUNT)
    return (
        is_sound_spending(rule)
        and counts
        and all_within(spending[[WEIGHT, CHANCE]], 0.0, 1.0)
        and bool(0.0 < answers >= right)
    )


_SHARED: dict[str, Any] = {
    "decide": _decide,
    "probability": _probability,
    "forbids": is_spent,
    "begin_round": accrue,
    "end_round": _end_round,
    "labels_left": _labels_left,
}
_BUDGET = new_kind(**_SHARED)
_SPREAD = new_kind(**_SHARED, is_sound=_is_sound_spread, note_label=note_answer, note_class=lead_further)


def seconds(owner: Any, name: str, value: Any) -> float:
    """A time span or a point in time as a number; numbers stay as they are."""
    if isinstance(value, datetime.timedelta):
        value = value.total_seconds()
    elif isinstance(value, np.timedelta64):
        try:
            value = float(value / np.timedelta64(1, "s"))
        except TypeError:
            raise InputError(
                f"{name} must not be in months or years, got {value!r}.", owner=type(owner).__name__
            ) from None
    check_number(owner, name, value, "a number of seconds or a timedelta, above 0", 0.0, open_high=True)
    return float(value)


@dataclass(frozen=True)
class BudgetRule:
    """Ask near the boundary, and spend a given budget of labels.

    Use ``BudgetRule(0.1)`` for a tenth of the rounds, or ``BudgetRule(per=86400, count=50)`` for 50 labels a day by the
    instances' time stamps, which ``ask(x, time=...)`` and ``run(X, y, times=...)`` then need.

    Parameters
    ----------
    rate : float, optional
        The share of the rounds that may be asked about, between 0 and 1. It is held within 10 % (or 15 labels) in
        every window of 5,000 rounds, and never exceeded by more.
    per : number or timedelta, optional
        The length of a period, in the unit of the time stamps (seconds for dates). Periods start at its multiples:
        days at midnight UTC.
    count : int, optional
        Largest number of labels in each period; it is never exceeded.
    floor : float, optional
        Never ask with a smaller probability than this, unless the budget is spent; at most the rate. By default a
        fifth of the rate: enough for an unbiased estimate of the accuracy.
    by : {"margin", "uncertainty"}, default "margin"
        Ask near the decision boundary, or where the learner is uncertain (for regressors).
    most : int, optional
        With a rate: largest number of labels in total; it is never exceeded.
    spread : bool, default True
        Spread the questions out in time, and ask at random as long as the learner does hardly better than chance.
        False is the rule of the first release; samplers saved by that release continue to use it.
    length : int, optional
        With a rate: the number of rounds, where that is known, as for a file. Then at most ``ceil(rate * length)``
        labels are asked for in these rounds. Without it the rule asks more often than the rate at first:
        ``BudgetRule(0.1)`` asks about some 41 of the first 300 rounds. Rounds beyond the length are played as those of
        an endless stream.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((5000, 10))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> trace = aw.Sampler(aw.AutoLasec(), aw.BudgetRule(0.05), seed=7).run(X, y)
    >>> 225 <= trace.questions <= 275
    True
    """

    rate: float | None = None
    per: Any = None
    count: int | None = None
    floor: float | None = None
    by: str = "margin"
    most: int | None = None
    spread: bool = True
    length: int | None = None

    reads_every_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_choice(self, "by", self.by, ("margin", "uncertainty"))
        check_flag(self, "spread", self.spread)
        if self.rate is not None:
            if self.per is not None or self.count is not None:
                raise InputError("give either rate, or per and count.", owner="BudgetRule")
            check_number(self, "rate", self.rate, "a number above 0 and at most 1", 0.0, 1.0)
            if self.floor is not None:
                check_number(self, "floor", self.floor, "a number from 0 to the rate", 0.0, self.rate, open_low=False)
            for name in ("most", "length"):
                if getattr(self, name) is not None:
                    check_count(self, name, getattr(self, name))
        elif self.length is not None:
            raise InputError("length goes with a rate; a budget by time has its count.", owner="BudgetRule")
        elif self.most is not None:
            raise InputError("most goes with a rate; a budget by time has its count.", owner="BudgetRule")
        elif self.per is None or self.count is None:
            raise InputError("give rate, or both per and count.", owner="BudgetRule")
        else:
            seconds(self, "per", self.per)
            check_count(self, "count", self.count)
        if self.floor is not None:
            check_floor(self, self.floor)

    @property
    def needs_margin(self) -> bool:
        """Whether the rule reads p as a distance from a decision boundary."""
        return self.by == "margin"

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the rule reads r."""
        return self.by == "uncertainty"

    def with_length(self, rounds: int) -> BudgetRule:
        """The same budget for this number of rounds."""
        return replace(self, length=rounds)

    def resized(self, state: RuleState) -> RuleState:
        """The state of a budget of another length, with the length of this one."""
        return state._replace(length=math.inf if self.length is None else float(self.length))

    def following(self, state: RuleState, asked: int) -> RuleState:
        """The state of this budget where it takes the place of another one in the middle of a stream.

        What that one has learnt of the stream stays; its debts do not. ``asked`` labels count towards ``most``.
        """
        made, former = self.start(), state.spending
        if len(former) == len(made.spending):
            learnt = [HAZARD, RIGHT, ANSWERS, WEIGHT, CHANCE]
            made.spending[learnt] = former[learnt]
            is_rate = made.per == 0.0 and state.per == 0.0
            made.spending[LEAD] = former[LEAD] * made.value / state.value if is_rate else 0.0
        made.spending[LOG_SCALE] = former[LOG_SCALE]
        made.spending[SPENT] = asked if made.per == 0.0 else 0.0
        made.memory[:] = state.memory
        return made

    def start(self) -> RuleState:
        """The state before the first round."""
        kind, floor = _SPREAD if self.spread else _BUDGET, -_FLOOR if self.floor is None else self.floor
        by_uncertainty = self.by == "uncertainty"
        most, length = (math.inf if given is None else given for given in (self.most, self.length))
        value, per = self.rate, 0.0
        if self.rate is None:
            value, per = self.count, seconds(self, "per", self.per)
        state = new_state(
            kind, value or 0.0, floor, per, by_uncertainty, _FIRST_SCALE, most, length, CHANCE + 1 if self.spread else 8
        )
        if self.spread:
            answers = _FIRST_ANSWERS / (self.rate or _FIRST_RATE)
            state.spending[[LEAD, RIGHT, ANSWERS]] = _LEAD * (self.rate or 0.0), _FIRST_ACCURACY * answers, answers
        return state
