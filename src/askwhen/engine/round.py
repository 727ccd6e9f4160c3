"""The round, compiled: score, probability, coin, learn, drift. ``ask``, ``tell`` and ``run`` all go through here.

==========  ==========================================================
m, q        p = m / (1 + q) is the margin, r = q / (1 + q) the uncertainty
u           the round's coin, uniform on [0, 1)
by_rule     whether the learner may learn the label: the rule asked, or an audit that is learnt from
period      the window of the switch detector that the question belongs to, or 0
asked       whether the label is asked for, by the rule, an audit or a window
chance      the probability of that
==========  ==========================================================

A restart that a switch made due is applied at the end of its round: after the label, where one was asked for and comes
in time, and when the next round begins at the latest.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.frames import lend
from ..compiled.steps import borrow, step
from ..contracts.drift import absorb_label, begin, has_room_for, take_due, watch, watches, window_period
from ..contracts.learner import (
    REFUSED,
    UNCHANGED,
    UPDATED,
    arrive,
    learn,
    learns,
    note_experts,
    quadratic,
    quadratic_bound,
    ready,
    restart,
    score,
)
from ..linalg.rows import row
from ..linalg.vectors import SOUND
from ..rules.audit import audits
from ..rules.deciding import begin_round, decide, end_round, forbids, note_update, probability, restart_rule
from ..rules.state import ASK, UNDECIDED
from .tally import OPEN, UNASKED, note_round, settle_round

NOT_READY = 3
"""A verdict beside SOUND, UNSOUND and TOO_LARGE: a state must grow in Python before this row can be taken."""

LABEL_REFUSED = 4
"""A verdict: the learner cannot learn this label without overflow."""


class Record(NamedTuple):
    """The coins of ``run_rounds``, and where it writes what happened: one entry for each round."""

    coin: Any
    margin: Any
    probability: Any
    prediction: Any
    queried: Any
    updated: Any
    mistaken: Any
    switched: Any
    experts: Any


def new_record(n: int, experts: int = 0) -> Record:
    """Room for n rounds, in one block: many small ones cost more page faults than the rounds themselves."""
    block = np.zeros(29 * n, np.uint8)
    numbers = block[: 24 * n].view(np.float64).reshape(3, n)
    flags = block[24 * n :].reshape(5, n)
    coin, margin, chance = numbers
    queried, updated, mistaken, switched = (flags[i].view(np.bool_) for i in range(1, 5))
    prediction, mixture = flags[0].view(np.int8), np.zeros((n, experts))
    return Record(coin, margin, chance, prediction, queried, updated, mistaken, switched, mixture)


@step
def restart_if_due(learner: Any, rule: Any, drift: Any) -> Any:
    """Start afresh, in place, where a switch has been declared; return whether it was."""
    if not take_due(drift):
        return False
    restart(learner)
    restart_rule(rule)
    return True


@step
def margin(m: float, q: float) -> Any:
    """P = m / (1 + q), which has the sign of m even where it would underflow."""
    p = m / (1.0 + q)
    return p if p != 0.0 else math.copysign(5e-324, m) if m != 0.0 else 0.0


@step
def open_round(learner: Any, rule: Any, drift: Any, x: Any, time: float, u: float, every_margin: bool) -> Any:
    """Begin a round, in place: (verdict, m, q, |x|^2, asked, by_rule, period, chance, switched).

    q and chance are NaN where q was not needed. Any verdict but SOUND means that nothing was changed.
    """
    m, norm2, verdict = score(learner, x)
    if verdict == SOUND and not (ready(learner, x) and has_room_for(drift, x)):
        verdict = NOT_READY
    if verdict != SOUND:
        return verdict, 0.0, 0.0, 0.0, False, False, 0, 0.0, False
    if restart_if_due(learner, rule, drift):
        m, norm2, verdict = score(learner, x)
        if verdict != SOUND:
            return verdict, 0.0, 0.0, 0.0, False, False, 0, 0.0, False
    begin(drift)
    begin_round(rule, time)
    q = math.nan
    q_high = quadratic_bound(learner, norm2)
    decision = UNDECIDED
    if q_high > 0.0 and not (every_margin or watches(drift)):
        decision = decide(rule, m, 0.0, q_high, norm2, u)
    if decision == UNDECIDED:
        q = quadratic(learner, x)
        decision = decide(rule, m, q, q, norm2, u)
    by_rule, period = decision == ASK, 0
    asked = by_rule
    if not forbids(rule):
        period = window_period(drift)
        if audits(rule, u):
            asked = True
            by_rule = by_rule or rule.audit_learns
        asked = asked or period > 0
    chance = chance_of(rule, m, q, norm2, period)
    end_round(rule, m, q, asked)
    switched = watch(drift, x, m, q)
    return SOUND, m, q, norm2, asked, by_rule, period, chance, switched


@step
def chance_of(rule: Any, m: float, q: float, norm2: float, period: int) -> Any:
    """The probability that this round asks, by the rule, an audit or a window."""
    if period > 0:
        return 1.0
    chance = probability(rule, m, q, norm2)
    return chance if rule.audit == 0.0 or forbids(rule) else min(chance + rule.audit, 1.0)


@step
def settle(
    learner: Any,
    rule: Any,
    drift: Any,
    x: Any,
    norm2: float,
    m: float,
    q: float,
    y: float,
    mistaken: bool,
    by_rule: bool,
    period: int,
) -> Any:
    """Learn an asked label, in place, right after m and q of x were computed; return what ``learn`` returned."""
    outcome = UNCHANGED
    if by_rule and learns(learner, mistaken):
        outcome = learn(learner, x, norm2, m, q, y)
        if outcome == UPDATED:
            note_update(rule, norm2)
        if outcome == REFUSED:
            return outcome
    absorb_label(drift, x, y, mistaken, by_rule, period)
    return outcome


BY_RULE, SWITCHED, PERIOD = 1, 2, 4
"""What a question keeps of its round, in one number: two flags, and above them the period."""


@step
def marked(by_rule: bool, period: int, switched: bool) -> Any:
    """What a question keeps of its round."""
    return (BY_RULE if by_rule else 0) + (SWITCHED if switched else 0) + PERIOD * period


@step
def unmarked(marks: int) -> Any:
    """(by_rule, period, switched) of a question."""
    return marks & BY_RULE != 0, marks // PERIOD, marks & SWITCHED != 0


@step
def ask_round(states: Any, x: Any, t: int, time: float, u: float) -> Any:
    """Round t, live and in place: (verdict, p, r, chance, asked, marks), for the marks see :func:`marked`."""
    learner, rule, drift, tally = lend(states)
    x = borrow(x)
    always = u >= 0.0  # a constant would be another type, and all of the round compiled once more
    verdict, m, q, _, asked, by_rule, period, chance, switched = open_round(learner, rule, drift, x, time, u, always)
    if verdict == SOUND:
        note_round(tally, t, chance, 1 if m > 0.0 else 0, OPEN if asked else UNASKED)
    if switched and not asked:
        restart_if_due(learner, rule, drift)
    return verdict, margin(m, q), q / (1.0 + q), chance, asked, marked(by_rule, period, switched)


@step
def tell_round(
    states: Any,
    x: Any,
    y: float,
    mistaken: bool,
    marks: int,
    t: int,
    now: int,
    chance: float,
    positive: bool,
) -> Any:
    """Settle the question of round t before round ``now``, in place: the verdict, and whether the learner moved."""
    learner, rule, drift, tally = lend(states)
    x = borrow(x)
    by_rule, period, switched = unmarked(marks)
    if not (ready(learner, x) and has_room_for(drift, x)):
        return NOT_READY, False
    m, norm2, verdict = score(learner, x)
    if verdict != SOUND:
        return verdict, False
    q = quadratic(learner, x)
    outcome = settle(learner, rule, drift, x, norm2, m, q, y, mistaken, by_rule, period)
    if outcome == REFUSED:
        return LABEL_REFUSED, False
    settle_round(tally, t, now, chance, 1 if positive else 0, mistaken)
    if switched:
        restart_if_due(learner, rule, drift)
    return SOUND, outcome == UPDATED


@step
def run_rounds(
    learner: Any,
    rule: Any,
    drift: Any,
    rows: Any,
    y: Any,
    times: Any,
    first: int,
    every_margin: bool,
    regression: bool,
    record: Any,
) -> Any:
    """Rounds from ``first`` on, in place, until one cannot be taken: (its number, the verdict)."""
    learner, rule, drift, rows = borrow(learner), borrow(rule), borrow(drift), borrow(rows)
    y, times, u, record = borrow(y), borrow(times), borrow(record.coin), borrow(record)
    n = len(y)
    timed = len(times) > 0
    for i in range(first, n):
        x = row(rows, i)
        arrive(learner, i)
        time = times[i] if timed else 0.0
        verdict, m, q, norm2, asked, by_rule, period, chance, switched = open_round(
            learner, rule, drift, x, time, u[i], every_margin
        )
        if verdict != SOUND:
            return i, verdict
        prediction = 1.0 if m > 0.0 else -1.0
        mistaken = not regression and prediction != y[i]
        if asked and math.isnan(q) and learns(learner, mistaken):
            q = quadratic(learner, x)
            chance = chance_of(rule, m, q, norm2, period)
        record.margin[i] = margin(m, q)
        record.probability[i] = chance
        record.prediction[i] = prediction
        record.queried[i] = asked
        record.mistaken[i] = mistaken
        record.switched[i] = switched
        note_experts(learner, record.experts, i)
        outcome = UNCHANGED
        if asked:
            outcome = settle(learner, rule, drift, x, norm2, m, q, y[i], mistaken, by_rule, int(period))
            if outcome == REFUSED:
                return i, LABEL_REFUSED
        record.updated[i] = outcome == UPDATED
        if switched:
            restart_if_due(learner, rule, drift)
    return n, SOUND


@step
def score_rows(learner: Any, rows: Any, n: int, p: Any) -> Any:
    """Write the margins of n rows to p; stop at the first that cannot be scored: (its number, the verdict)."""
    learner, rows, p = borrow(learner), borrow(rows), borrow(p)
    for i in range(n):
        x = row(rows, i)
        m, _, verdict = score(learner, x)
        if verdict != SOUND:
            return i, verdict
        p[i] = margin(m, quadratic(learner, x))
    return n, SOUND


class Given(NamedTuple):
    """Stands for a learner where a decision is made on margins from elsewhere: numbers = (m, q, |x|^2)."""

    numbers: Any


@score.of(Given)
def _score_given(state: Any, x: Any) -> Any:
    return state.numbers[0], state.numbers[2], SOUND


@quadratic.of(Given)
def _quadratic_given(state: Any, x: Any) -> Any:
    return state.numbers[1]


@learns.of(Given)
def _learns_given(state: Any, mistaken: bool) -> Any:
    return True


@learn.of(Given)
def _learn_given(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    return UPDATED


@restart.of(Given)
def _restart_given(state: Any) -> None:
    return


@ready.of(Given)
def _ready_given(state: Any, x: Any) -> Any:
    return True


@step
def score_row(learner: Any, x: Any) -> Any:
    """(verdict, m, q, |x|^2) of one row."""
    learner, x = borrow(learner), borrow(x)
    m, norm2, verdict = score(learner, x)
    if verdict == SOUND and not ready(learner, x):
        verdict = NOT_READY
    return (verdict, m, quadratic(learner, x), norm2) if verdict == SOUND else (verdict, 0.0, 0.0, 0.0)


@step
def learn_row(learner: Any, x: Any, y: float, mistaken: bool) -> Any:
    """Learn a label of one row, in place: the verdict, and whether the learner moved."""
    learner, x = borrow(learner), borrow(x)
    if not ready(learner, x):
        return NOT_READY, False
    m, norm2, verdict = score(learner, x)
    if verdict != SOUND or not learns(learner, mistaken):
        return verdict, False
    outcome = learn(learner, x, norm2, m, quadratic(learner, x), y)
    return (LABEL_REFUSED, False) if outcome == REFUSED else (SOUND, outcome == UPDATED)
