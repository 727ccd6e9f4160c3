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
from ..compiled.steps import borrow, entry, step
from ..contracts.learner import REFUSED, UNCHANGED, UPDATED
from ..contracts.rule import (
    ASK,
    UNDECIDED,
    begin_round,
    decide,
    end_round,
    forbids,
    note_label,
    note_update,
    probability,
    restart_rule,
)
from ..linalg.vectors import SOUND
from ..rules.audit import audits
from .players import (
    ENTER,
    FORM,
    LIVE,
    NOT_READY,
    PEEK,
    call_absorb,
    call_begin,
    call_due,
    call_form,
    call_learn,
    call_leave,
    call_look,
    call_note,
    call_restart,
    call_room,
    call_watch,
)
from .tally import OPEN, UNASKED, note_round, settle_round

LABEL_REFUSED = 4
"""A verdict: the learner cannot learn this label without overflow."""


class Board(NamedTuple):
    """All that a round is played on; ``learner`` and ``drift`` are addresses, see :mod:`askwhen.engine.players`."""

    learner: Any
    rule: Any
    audit: Any
    drift: Any
    tally: Any


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
    """Arrays to record n rounds in, cut out of one block: many small ones cost more than the rounds themselves."""
    block = np.zeros(29 * n, np.uint8)
    numbers = block[: 24 * n].view(np.float64).reshape(3, n)
    flags = block[24 * n :].reshape(5, n)
    coin, margin, chance = numbers
    queried, updated, mistaken, switched = (flags[i].view(np.bool_) for i in range(1, 5))
    prediction, mixture = flags[0].view(np.int8), np.zeros((n, experts))
    return Record(coin, margin, chance, prediction, queried, updated, mistaken, switched, mixture)


@step
def restart_if_due(board: Any) -> Any:
    """Start afresh, in place, where a switch has been declared; return whether it was."""
    learner, drift = board.learner, board.drift
    if drift.state == 0 or not call_due(drift.due, drift.state):
        return False
    call_restart(learner.restart, learner.state)
    restart_rule(board.rule)
    return True


@step
def margin(m: float, q: float) -> Any:
    """P = m / (1 + q), which has the sign of m even where it would underflow."""
    p = m / (1.0 + q)
    return p if p != 0.0 else math.copysign(5e-324, m) if m != 0.0 else 0.0


@step
def open_round(board: Any, rows: int, i: int, time: float, u: float, how: int) -> Any:
    """Begin a round on row i, in place: (verdict, m, q, |x|^2, asked, by_rule, period, chance, switched).

    q and chance are NaN where q was not needed. Any verdict but SOUND means that nothing was changed.
    """
    learner, rule, drift = board.learner, board.rule, board.drift
    guarded = drift.state != 0
    how |= ENTER | FORM if drift.watches else ENTER
    m, norm2, verdict, q, q_high = call_look(learner.look, learner.state, rows, i, how)
    if verdict == SOUND and guarded and not call_room(drift.room, drift.state, rows, i):
        verdict = NOT_READY
    if verdict == SOUND and restart_if_due(board):
        m, norm2, verdict, q, q_high = call_look(learner.look, learner.state, rows, i, how)
    if verdict != SOUND:
        return verdict, 0.0, 0.0, 0.0, False, False, 0, 0.0, False
    period = call_begin(drift.begin, drift.state) if guarded else 0
    begin_round(rule, time)
    low, high = (0.0, q_high) if math.isnan(q) else (q, q)
    decision = UNDECIDED
    while decision == UNDECIDED:  # at most twice: a rule is decided once q is known
        decision = decide(rule, m, low, high, norm2, u)
        if decision == UNDECIDED:
            q = call_form(learner.form, learner.state, rows, i, True, False)
            low = high = q
    by_rule = decision == ASK
    asked = by_rule
    if forbids(rule):
        period = 0
    else:
        if audits(board.audit, u):
            asked = True
            by_rule = by_rule or board.audit.learns
        asked = asked or period > 0
    chance = chance_of(board, m, q, norm2, period)
    end_round(rule, m, q, asked)
    if learner.leave != 0:
        call_leave(learner.leave, learner.state)
    switched = call_watch(drift.watch, drift.state, rows, i, m, q) if guarded else False
    return SOUND, m, q, norm2, asked, by_rule, period, chance, switched


@step
def chance_of(board: Any, m: float, q: float, norm2: float, period: int) -> Any:
    """The probability that this round asks, by the rule, an audit or a window."""
    if period > 0:
        return 1.0
    chance, rate = probability(board.rule, m, q, norm2), board.audit.rate
    return chance if rate == 0.0 or forbids(board.rule) else min(chance + rate, 1.0)


@step
def settle(
    board: Any,
    rows: int,
    i: int,
    norm2: float,
    m: float,
    q: float,
    y: float,
    mistaken: bool,
    by_rule: bool,
    period: int,
    chance: float,
) -> Any:
    """Learn an asked label, in place, right after m and q of row i were computed; return what ``learn`` returned."""
    learner, drift = board.learner, board.drift
    outcome = UNCHANGED
    if by_rule:
        outcome = call_learn(learner.learn, learner.state, rows, i, norm2, m, q, y, mistaken, chance)
        if outcome == UPDATED:
            note_update(board.rule, norm2)
        if outcome == REFUSED:
            return outcome
    note_label(board.rule, not mistaken, chance)
    if drift.state != 0:
        call_absorb(drift.absorb, drift.state, rows, i, y, mistaken, by_rule, period)
    return outcome


BY_RULE, SWITCHED, PERIOD = 1, 2, 4
"""What a question keeps of its round, in one number: two flags, and above them the period."""


@step
def marked(by_rule: bool, period: int, switched: bool) -> Any:
    """What must be known of a round when its label comes late, packed into one number."""
    return (BY_RULE if by_rule else 0) + (SWITCHED if switched else 0) + PERIOD * period


@step
def unmarked(marks: int) -> Any:
    """The packed number taken apart again: (by_rule, period, switched)."""
    return marks & BY_RULE != 0, marks // PERIOD, marks & SWITCHED != 0


@entry
def ask_round(address: Any, rows: int, t: int, time: float, u: float) -> Any:
    """Round t on the first row, live and in place: (verdict, p, r, chance, asked, marks); see :func:`marked`."""
    (board,) = lend(address)
    first = t - t  # constants would be other types, and all of the round compiled once more
    found = open_round(board, rows, first, time, u, first + FORM + LIVE)
    verdict, m, q, _, asked, by_rule, period, chance, switched = found
    if verdict == SOUND:
        note_round(board.tally, t, chance, 1 if m > 0.0 else 0, OPEN if asked else UNASKED)
    if switched and not asked:
        restart_if_due(board)
    return verdict, margin(m, q), q / (1.0 + q), chance, asked, marked(by_rule, period, switched)


@entry
def tell_round(
    address: Any,
    rows: int,
    y: float,
    mistaken: bool,
    marks: int,
    t: int,
    now: int,
    chance: float,
    positive: bool,
) -> Any:
    """Settle the question of round t before round ``now``, in place: the verdict, and whether the learner moved."""
    (board,) = lend(address)
    by_rule, period, switched = unmarked(marks)
    learner, drift, i = board.learner, board.drift, t - t
    m, norm2, verdict, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE)
    if verdict == SOUND and drift.state != 0 and not call_room(drift.room, drift.state, rows, i):
        verdict = NOT_READY
    if verdict != SOUND:
        return verdict, False
    outcome = settle(board, rows, i, norm2, m, q, y, mistaken, by_rule, period, chance)
    if outcome == REFUSED:
        return LABEL_REFUSED, False
    settle_round(board.tally, t, now, chance, 1 if positive else 0, mistaken)
    if switched:
        restart_if_due(board)
    return SOUND, outcome == UPDATED


@entry
def run_rounds(
    address: Any,
    rows: int,
    y: Any,
    times: Any,
    first: int,
    every_margin: bool,
    regression: bool,
    given: Any,
    record: Any,
) -> Any:
    """Rounds from ``first`` on, in place, until one cannot be taken: (its number, the verdict)."""
    (board,) = lend(address)
    learner = board.learner
    y, times, given, u, record = borrow(y), borrow(times), borrow(given), borrow(record.coin), borrow(record)
    n = len(y)
    timed = len(times) > 0
    how = FORM if every_margin else 0
    for i in range(first, n):
        time = times[i] if timed else 0.0
        verdict, m, q, norm2, asked, by_rule, period, chance, switched = open_round(board, rows, i, time, u[i], how)
        if verdict != SOUND:
            return i, verdict
        prediction = 1.0 if m > 0.0 else -1.0
        mistaken = not regression and prediction != y[i]
        if asked and math.isnan(q):
            q = call_form(learner.form, learner.state, rows, i, False, mistaken)
            chance = chance_of(board, m, q, norm2, period)
        record.margin[i] = margin(m, q)
        record.probability[i] = chance
        record.prediction[i] = prediction
        record.queried[i] = asked
        record.mistaken[i] = mistaken
        record.switched[i] = switched
        if learner.note != 0:
            call_note(learner.note, learner.state, record.experts, i)
        outcome = UNCHANGED
        if asked:
            outcome = settle(board, rows, i, norm2, m, q, y[i], mistaken, by_rule, period, chance)
            if outcome == REFUSED:
                return i, LABEL_REFUSED
        elif len(given) > 0 and given[i]:
            if math.isnan(q):
                q = call_form(learner.form, learner.state, rows, i, True, False)
            if call_learn(learner.learn, learner.state, rows, i, norm2, m, q, y[i], mistaken, 1.0) == REFUSED:
                return i, LABEL_REFUSED
        record.updated[i] = outcome == UPDATED
        if switched:
            restart_if_due(board)
    return n, SOUND


@entry
def learn_rows(address: Any, rows: int, y: Any, first: int, regression: bool) -> Any:
    """Learn labels that nobody asked for, from row ``first`` on, in place: (how many are learnt, the verdict)."""
    (learner,) = lend(address)
    y = borrow(y)
    for i in range(first, len(y)):
        m, norm2, verdict, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE + ENTER)
        if verdict != SOUND:
            return i, verdict
        mistaken = not regression and (m > 0.0) != (y[i] > 0.0)
        if call_learn(learner.learn, learner.state, rows, i, norm2, m, q, y[i], mistaken, 1.0) == REFUSED:
            return i, LABEL_REFUSED
    return len(y), SOUND


@entry
def score_rows(address: Any, rows: int, n: int, p: Any) -> Any:
    """Write the margins of n rows to p; stop at the first that cannot be scored: (its number, the verdict)."""
    (learner,) = lend(address)
    p = borrow(p)
    for i in range(n):
        m, _, verdict, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE + PEEK + ENTER)
        if verdict != SOUND:
            return i, verdict
        p[i] = margin(m, q)
    return n, SOUND


@entry
def score_row(address: Any, rows: int) -> Any:
    """(verdict, m, q, |x|^2) of the first row."""
    (learner,) = lend(address)
    m, norm2, verdict, q, _ = call_look(learner.look, learner.state, rows, 0, FORM + LIVE)
    return verdict, m, q, norm2


@entry
def learn_row(address: Any, rows: int, y: float, mistaken: bool) -> Any:
    """Learn a label of the first row, in place: the verdict, and whether the learner moved."""
    (learner,) = lend(address)
    m, norm2, verdict, q, _ = call_look(learner.look, learner.state, rows, 0, FORM + LIVE)
    if verdict != SOUND:
        return verdict, False
    outcome = call_learn(learner.learn, learner.state, rows, 0, norm2, m, q, y, mistaken, 1.0)
    if outcome == REFUSED:
        verdict = LABEL_REFUSED
    return verdict, outcome == UPDATED
