"""The interface of a rule: parameters that start a state, and the steps that a round calls on that state.

A rule gives a probability; the round draws u, uniform on [0, 1), and asks if u is below it. The probability must not
depend on the u of the same round. A round calls, in this order::

    begin_round(rule, time)
    decision = decide(rule, m, q_low, q_high, norm2, u)     # p = m / (1 + q) is the margin, q is within its bounds
    ask_surely(rule)                                        # only if a detector's window asks in any case
    chance = probability(rule, m, q, norm2)                 # decide asks with this probability
    end_round(rule, m, q, asked)                            # asked by the rule, an audit or a detector's window
    wrong = judge(rule, y, mistaken)                        # when the label arrives, now or later
    note_label(rule, not wrong, chance)
    note_update(rule, norm2)                                # if the label has updated the learner

A rule needs ``decide`` and ``probability``; every other family has a default that does nothing. :func:`toss` is
``decide`` for a rule that compares its probability with u. A rule that never decides without q may say so, with
``reads_every_margin = True`` on its class: then ``margins=False`` does not widen the interval of the accuracy.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

from ..compiled.steps import Family, step
from .learner import State

PASS, ASK, UNDECIDED = 0, 1, 2
"""Results of ``decide``; UNDECIDED means that q must be computed first."""


def _nothing_at(rule: Any, number: float) -> None:
    return


def _nothing(rule: Any) -> None:
    return


def _spend_nothing(rule: Any, m: float, q: float, asked: bool) -> None:
    return


def _hear_nothing(rule: Any, right: bool, chance: float) -> None:
    return


def _never(rule: Any) -> Any:
    return False


def _as_it_is(rule: Any, y: float, mistaken: bool) -> Any:
    return mistaken


def _zero(rule: Any) -> Any:
    return 0.0


def _no_time(rule: Any) -> Any:
    return math.nan


def _endless(rule: Any, now: float) -> Any:
    return math.inf


def _unknown(rule: Any, u: Any, out: Any) -> Any:
    return False


def _unchanged(rule: Any, p: Any, out: Any) -> None:
    return


def _nothing_many(rule: Any, rounds: int, updates: int, norm2: float) -> None:
    return


begin_round = Family("begin_round", default=_nothing_at)
"""``begin_round(rule, time)``: advance the rule's clock, in place; time is 0 where the stream has none."""

decide = Family("decide")
"""``decide(rule, m, q_low, q_high, norm2, u)`` -> ASK, PASS, or UNDECIDED where it depends on q between its bounds."""

probability = Family("probability")
"""``probability(rule, m, q, norm2)`` -> the probability of asking in this round; NaN where q is needed and is NaN."""

forbids = Family("forbids", default=_never)
"""``forbids(rule)`` -> whether nothing may be asked in this round, not even by a window or an audit."""

end_round = Family("end_round", default=_spend_nothing)
"""``end_round(rule, m, q, asked)``: note whether a label was asked for, in place."""

ask_surely = Family("ask_surely", default=_nothing)
"""``ask_surely(rule)``: note that this round is asked about in any case, whatever the draw, in place."""

judge = Family("judge", default=_as_it_is)
"""``judge(rule, y, mistaken)`` -> whether the rule takes a prediction for wrong; by default if it is not the label."""

note_label = Family("note_label", default=_hear_nothing)
"""``note_label(rule, right, chance)``: note whether a label was predicted, and the probability of asking for it."""

note_update = Family("note_update", default=_nothing_at)
"""``note_update(rule, norm2)``: note that an instance of this squared norm updated the learner, in place."""

note_class = Family("note_class", default=_nothing_at)
"""``note_class(rule, k)``: note that the k-th class was opened, in place."""

restart_rule = Family("restart_rule", default=_nothing)
"""``restart_rule(rule)``: reset the clock and the memory after a switch, in place; the budget spent is not reset."""

least_chance = Family("least_chance", default=_zero)
"""``least_chance(rule)`` -> a lower bound of the probability of asking, except in rounds that are forbidden."""

period_length = Family("period_length", default=_zero)
"""``period_length(rule)`` -> the length of the periods of a budget by time; 0 where the rule needs no time."""

last_time = Family("last_time", default=_no_time)
"""``last_time(rule)`` -> the time of the last round, NaN before the first: time must not go back."""


thresholds = Family("thresholds", default=_unknown)
"""``thresholds(rule, u, out)``: write the distance ``|p|`` below which each of the random draws u asks -> True.

Only for a rule that decides by that alone, floor included, whatever rounds have brought: such rounds are played in one
loop, and the rule is told of them by ``note_many``. Others return False."""

chances = Family("chances", default=_unchanged)
"""``chances(rule, p, out)``: write the probability of asking at each of the margins p, for a rule with thresholds."""

note_many = Family("note_many", default=_nothing_many)
"""``note_many(rule, rounds, updates, norm2)``: note rounds whose questions were decided by thresholds, in place.

So many instances updated the learner; norm2 is the largest of their squared norms, or 0."""

labels_left = Family("labels_left", default=_endless)
"""``labels_left(rule, now)`` -> number of labels that the budget still allows; infinite without one (Python only)."""


@step
def toss(chance: float, u: float) -> Any:
    """Compare u with the probability of asking: ASK or PASS, or UNDECIDED where the probability is not known yet."""
    if math.isnan(chance):
        return UNDECIDED
    return ASK if u < chance else PASS


class Rule(Protocol):
    """A rule, which gives the probability of asking: a dataclass of parameters."""

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the rule reads r."""

    @property
    def needs_margin(self) -> bool:
        """Whether the rule reads p as a distance from a decision boundary."""

    def start(self) -> State:
        """The state before the first round."""
