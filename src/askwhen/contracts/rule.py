"""What a rule provides: parameters that start a state, and the steps that a round calls on that state.

A rule gives a probability; the round tosses the coin u, uniform on [0, 1), and asks if it is below. Nothing that a
rule decides in a round may depend on that round's coin. A round calls, in this order::

    begin_round(rule, time)
    decision = decide(rule, m, q_low, q_high, norm2, u)     # p = m / (1 + q) is the margin, q is within its bounds
    chance = probability(rule, m, q, norm2)                 # decide asks with this probability
    end_round(rule, m, q, asked)                            # asked by the rule, by an audit or by a guard's window
    note_label(rule, right, chance)                         # where a label is told, now or later
    note_update(rule, norm2)                                # where the label has moved the learner, now or later

A rule needs ``decide`` and ``probability``; every other family has a default that does nothing. :func:`toss` is
``decide`` for a rule that has nothing better than its probability. A rule that never decides without q may say so, with
``reads_every_margin = True`` on its class: then ``margins=False`` costs the interval of the accuracy nothing.
"""

from __future__ import annotations

import math
from typing import Any, Protocol

from ..compiled.steps import Family, step
from .learner import State

PASS, ASK, UNDECIDED = 0, 1, 2
"""What a rule says before q is known: UNDECIDED means that q must be computed."""


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


def _zero(rule: Any) -> Any:
    return 0.0


def _no_time(rule: Any) -> Any:
    return math.nan


def _endless(rule: Any, now: float) -> Any:
    return math.inf


begin_round = Family("begin_round", default=_nothing_at)
"""``begin_round(rule, time)``: let the rule's clock tick, in place; time is 0 where the stream has none."""

decide = Family("decide")
"""``decide(rule, m, q_low, q_high, norm2, u)`` -> ASK, PASS, or UNDECIDED where it depends on q between its bounds."""

probability = Family("probability")
"""``probability(rule, m, q, norm2)`` -> the probability of asking in this round; NaN where q is needed and is NaN."""

forbids = Family("forbids", default=_never)
"""``forbids(rule)`` -> whether nothing may be asked in this round, by rule, window or audit."""

end_round = Family("end_round", default=_spend_nothing)
"""``end_round(rule, m, q, asked)``: note whether a label was asked for, in place."""

note_label = Family("note_label", default=_hear_nothing)
"""``note_label(rule, right, chance)``: note whether a told label was predicted, and how likely it was asked for."""

note_update = Family("note_update", default=_nothing_at)
"""``note_update(rule, norm2)``: note that the learner moved on an instance of this squared norm, in place."""

note_class = Family("note_class", default=_nothing_at)
"""``note_class(rule, k)``: note that a class was told for the first time, the k-th of them, in place."""

restart_rule = Family("restart_rule", default=_nothing)
"""``restart_rule(rule)``: set the clock and the memory back after a switch, in place; what was spent stays spent."""

least_chance = Family("least_chance", default=_zero)
"""``least_chance(rule)`` -> a number that no probability of asking is ever below, but for rounds that are forbidden."""

period_length = Family("period_length", default=_zero)
"""``period_length(rule)`` -> the length of the periods that the rule counts time by; 0 where it needs no time."""

last_time = Family("last_time", default=_no_time)
"""``last_time(rule)`` -> the time of the last round, NaN before the first: time must not go back."""


labels_left = Family("labels_left", default=_endless)
"""``labels_left(rule, now)`` -> how many labels may still be asked for; infinite without a budget (Python only)."""


@step
def toss(chance: float, u: float) -> Any:
    """Compare the coin u with the probability of asking: ASK or PASS, or UNDECIDED where that is not known yet."""
    if math.isnan(chance):
        return UNDECIDED
    return ASK if u < chance else PASS


class Rule(Protocol):
    """How likely we ask."""

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the rule reads r."""

    @property
    def needs_margin(self) -> bool:
        """Whether the rule reads p as a distance from a decision boundary."""

    def start(self) -> State:
        """The state before the first round."""
