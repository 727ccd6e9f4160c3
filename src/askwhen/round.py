"""The round, compiled: score, probability, coin, learn, drift. ``ask``, ``tell`` and ``run`` all go through here.

==========  ==========================================================
m, q        p = m / (1 + q) is the margin, r = q / (1 + q) the uncertainty
u           the round's coin, uniform on [0, 1)
by_rule     whether the rule asked (a window of the switch detector may ask too)
period      the window the question belongs to, or 0
==========  ==========================================================

A restart that a switch made due is applied at the end of its round: after the label, where one was asked for and comes
in time, and when the next round begins at the latest.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from .compiling import Family, borrow, step
from .contracts import (
    REFUSED,
    UNCHANGED,
    UPDATED,
    arrive,
    learn,
    learns,
    quadratic,
    quadratic_bound,
    ready,
    restart,
    score,
)
from .drift.switch import NoDrift, SwitchState, absorb_label, begin, take_due, watch, window_period
from .linalg import SOUND, row
from .rules.deciding import begin_round, decide, note_update, probability, restart_rule
from .rules.state import ASK, UNDECIDED

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


def new_record(n: int) -> Record:
    """Room for n rounds, in one block: many small ones cost more page faults than the rounds themselves."""
    block = np.zeros(29 * n, np.uint8)
    numbers = block[: 24 * n].view(np.float64).reshape(3, n)
    flags = block[24 * n :].reshape(5, n)
    coin, margin, chance = numbers
    return Record(coin, margin, chance, flags[0].view(np.int8), *(flags[i].view(np.bool_) for i in range(1, 5)))


watches = Family("watches")
"""watches(drift) -> whether the drift guard needs the margin of every round."""


@watches.of(NoDrift)
def _watches_nothing(drift: Any) -> Any:
    return False


@watches.of(SwitchState)
def _watches_switch(drift: Any) -> Any:
    return True


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
def open_round(learner: Any, rule: Any, drift: Any, x: Any, u: float, every_margin: bool) -> Any:
    """Begin a round, in place: (verdict, m, q, |x|^2, by_rule, period, switched), with q = NaN where not needed.

    Any verdict but SOUND means that nothing was changed.
    """
    m, norm2, verdict = score(learner, x)
    if verdict == SOUND and not (ready(learner, x) and ready(drift, x)):
        verdict = NOT_READY
    if verdict != SOUND:
        return verdict, 0.0, 0.0, 0.0, False, 0, False
    if restart_if_due(learner, rule, drift):
        m, norm2, verdict = score(learner, x)
        if verdict != SOUND:
            return verdict, 0.0, 0.0, 0.0, False, 0, False
    begin(drift)
    begin_round(rule)
    q = math.nan
    q_high = quadratic_bound(learner, norm2)
    decision = UNDECIDED
    if q_high > 0.0 and not (every_margin or watches(drift)):
        decision = decide(rule, m, 0.0, q_high, norm2, u)
    if decision == UNDECIDED:
        q = quadratic(learner, x)
        decision = decide(rule, m, q, q, norm2, u)
    switched = watch(drift, x, m, q)
    return SOUND, m, q, norm2, decision == ASK, window_period(drift), switched


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
    absorb_label(drift, x, y, by_rule, period)
    return outcome


@step
def ask_round(learner: Any, rule: Any, drift: Any, x: Any, u: float) -> Any:
    """One live round, in place: (verdict, p, r, probability, by_rule, period, switched)."""
    learner, rule, drift, x = borrow(learner), borrow(rule), borrow(drift), borrow(x)
    verdict, m, q, norm2, by_rule, period, switched = open_round(learner, rule, drift, x, u, True)
    chance = 1.0 if period > 0 else probability(rule, m, q, norm2)
    if switched and not by_rule and period == 0:
        restart_if_due(learner, rule, drift)
    return verdict, margin(m, q), q / (1.0 + q), chance, by_rule, period, switched


@step
def tell_round(
    learner: Any,
    rule: Any,
    drift: Any,
    x: Any,
    y: float,
    mistaken: bool,
    by_rule: bool,
    period: int,
    switched: bool,
) -> Any:
    """Settle a question, in place: the verdict, and whether the learner moved."""
    learner, rule, drift, x = borrow(learner), borrow(rule), borrow(drift), borrow(x)
    if not (ready(learner, x) and ready(drift, x)):
        return NOT_READY, False
    m, norm2, verdict = score(learner, x)
    if verdict != SOUND:
        return verdict, False
    q = quadratic(learner, x)
    outcome = settle(learner, rule, drift, x, norm2, m, q, y, mistaken, by_rule, period)
    if outcome == REFUSED:
        return LABEL_REFUSED, False
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
    first: int,
    every_margin: bool,
    regression: bool,
    record: Any,
) -> Any:
    """Rounds from ``first`` on, in place, until one cannot be taken: (its number, the verdict)."""
    learner, rule, drift, rows = borrow(learner), borrow(rule), borrow(drift), borrow(rows)
    y, u, record = borrow(y), borrow(record.coin), borrow(record)
    n = len(y)
    for i in range(first, n):
        x = row(rows, i)
        arrive(learner, i)
        verdict, m, q, norm2, by_rule, period, switched = open_round(learner, rule, drift, x, u[i], every_margin)
        if verdict != SOUND:
            return i, verdict
        prediction = 1.0 if m > 0.0 else -1.0
        mistaken = not regression and prediction != y[i]
        asked = by_rule or period > 0
        if asked and math.isnan(q) and learns(learner, mistaken):
            q = quadratic(learner, x)
        record.margin[i] = margin(m, q)
        record.probability[i] = 1.0 if period > 0 else probability(rule, m, q, norm2)
        record.prediction[i] = prediction
        record.queried[i] = asked
        record.mistaken[i] = mistaken
        record.switched[i] = switched
        outcome = UNCHANGED
        if asked:
            outcome = settle(learner, rule, drift, x, norm2, m, q, y[i], mistaken, by_rule, period)
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
