"""The compiled round: score the instance, decide by a random draw whether to ask, learn the label, watch for drift.

``ask``, ``tell`` and ``run`` of a sampler all go through here.

==========  ==========================================================
m, q        p = m / (1 + q) is the margin, r = q / (1 + q) the uncertainty
u           the random draw of the round, uniform on [0, 1)
by_rule     whether the learner may learn the label: the rule asked, or an audit that is learnt from
period      the window of the switch detector that the question belongs to, or 0
asked       whether the label is asked for, by the rule, an audit or a window
chance      the probability of that
edge        the margin of the boundary between the predictions: 0, unless mistakes have different costs
status      SOUND if the row was taken; else why not: UNSOUND, TOO_LARGE, NOT_READY, LABEL_REFUSED, TOO_MANY_CLASSES
==========  ==========================================================

When a switch is declared, the restart follows at the end of that round: after the label, if it was asked for and comes
in time, and at the latest when the next round begins.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...betting import place_of
from ...compiled.frames import lend
from ...compiled.steps import borrow, entry, step
from ...contracts.learner import REFUSED, UNCHANGED, UPDATED
from ...contracts.rule import (
    ASK,
    UNDECIDED,
    ask_surely,
    begin_round,
    decide,
    end_round,
    forbids,
    judge,
    note_class,
    note_label,
    note_update,
    probability,
    restart_rule,
)
from ...linalg.vectors import SOUND, TOO_LARGE
from ...rules.audit import audits
from ..tally.error_model import LABELS, boundary, most_certain
from ..tally.round_tally import certainty_of, count_labelled_not_inlined, counts_in_rounds, note_round, settle_round
from .step_table import (
    ENTER,
    FORM,
    LIVE,
    NOT_READY,
    PEEK,
    call_absorb,
    call_begin,
    call_best,
    call_due,
    call_form,
    call_learn,
    call_leave,
    call_look,
    call_margins,
    call_note,
    call_opens,
    call_restart,
    call_room,
    call_watch,
)

LABEL_REFUSED = 4
"""A status: the learner cannot learn this label without overflow."""

TOO_MANY_CLASSES = 5
"""A status: the label would open more classes than are allowed."""

BY_ITSELF, NOT_ASKED, IS_ASKED, FOR_FREE = -1, 0, 1, 2
"""Who decides whether a round asks: the rule, an earlier decision with its probability, or the caller at no cost."""


class RoundContext(NamedTuple):
    """The states that a round reads and changes; ``learner`` and ``drift`` are addresses, see ``step_table``.

    ``known`` limits the certainty: the answers that are copies, the number of labels, and the least certainty.
    """

    learner: Any
    rule: Any
    audit: Any
    drift: Any
    tally: Any
    known: Any
    regression: bool


class Record(NamedTuple):
    """The random draws of ``run_rounds``, and the arrays it writes its results to: one entry for each round."""

    coin: Any
    margin: Any
    probability: Any
    prediction: Any
    queried: Any
    updated: Any
    mistaken: Any
    switched: Any
    experts: Any
    best: Any


def new_record(n: int, experts: int = 0, several: bool = False) -> Record:
    """Arrays for the results of n rounds, cut out of one block: to allocate each would cost more than short runs do.

    Only switches are set, to none: loops write everything else.
    """
    block = np.empty(29 * n, np.uint8)
    numbers = block[: 24 * n].view(np.float64).reshape(3, n)
    flags = block[24 * n :].reshape(5, n)
    coin, margin, chance = numbers
    queried, updated, mistaken, switched = (flags[i].view(np.bool_) for i in range(1, 5))
    switched[:] = False
    prediction, mixture = flags[0].view(np.int8), np.zeros((n, experts))
    best = np.zeros(n if several else 0, np.int64)
    return Record(coin, margin, chance, prediction, queried, updated, mistaken, switched, mixture, best)


@step
def restart_if_due(context: Any) -> Any:
    """Restart learner and rule, in place, if a switch was declared; return whether it was."""
    learner, drift = context.learner, context.drift
    if drift.state == 0 or not call_due(drift.due, drift.state):
        return False
    call_restart(learner.restart, learner.state)
    restart_rule(context.rule)
    return True


@step
def margin(m: float, q: float) -> Any:
    """P = m / (1 + q), which keeps the sign of m where the quotient would underflow to 0."""
    p = m / (1.0 + q)
    return p if p != 0.0 else math.copysign(5e-324, m) if m != 0.0 else 0.0


@step
def beyond(m: float, q: float, edge: float) -> Any:
    """The m of an instance at the same distance from a boundary at 0."""
    return m if edge == 0.0 else m - edge * (1.0 + q)


@step
def look_checked(context: Any, rows: int, i: int, how: int) -> Any:
    """Result of ``look`` for row i; a margin that is not finite is refused, since other packages write learners too."""
    learner = context.learner
    m, norm2, status, q, q_high = call_look(learner.look, learner.state, rows, i, how)
    if status == SOUND and not abs(m) < math.inf:
        status = TOO_LARGE
    return m, norm2, status, q, q_high


# Eight arguments, the values of one round, as those of ``settle``: it is inlined into ``ask_round`` and ``run_rounds``.
@step
def open_round(context: Any, rows: int, i: int, time: float, u: float, how: int, decided: int, given: float) -> Any:
    """Begin a round on row i, in place: (status, m, q, |x|^2, asked, by_rule, period, chance, switched, edge).

    q and chance are NaN where q was not needed. If the status is not SOUND, nothing was changed. ``decided`` says who
    decides; ``given`` is the probability of an earlier decision. A round that asks for free is not counted by the rule.
    """
    learner, rule, drift = context.learner, context.rule, context.drift
    has_detector = drift.state != 0
    how |= ENTER | FORM if drift.watches else ENTER
    m, norm2, status, q, q_high = look_checked(context, rows, i, how)
    if status == SOUND and has_detector and not call_room(drift.room, drift.state, rows, i):
        status = NOT_READY
    if status == SOUND and restart_if_due(context):
        m, norm2, status, q, q_high = look_checked(context, rows, i, how)
    if status != SOUND:
        return status, 0.0, 0.0, 0.0, False, False, 0, 0.0, False, 0.0
    edge = boundary(context.tally.model, context.tally.log_cost)
    if edge != 0.0 and math.isnan(q):
        q = call_form(learner.form, learner.state, rows, i)
    period = call_begin(drift.begin, drift.state) if has_detector else 0
    begin_round(rule, time)
    low, high = (0.0, q_high) if math.isnan(q) else (q, q)
    decision = UNDECIDED
    while decision == UNDECIDED:  # at most twice: with q known, every rule decides
        decision = decide(rule, beyond(m, q, edge), low, high, norm2, u)
        if decision == UNDECIDED:
            q = call_form(learner.form, learner.state, rows, i)
            low = high = q
    by_rule = decision == ASK
    asked = by_rule
    if forbids(rule):
        period = 0
    else:
        if audits(context.audit, u):
            asked = True
            by_rule = by_rule or context.audit.learns
        asked = asked or period > 0
        if period > 0:
            ask_surely(rule)
    near = beyond(m, q, edge)
    chance = chance_of(context, near, q, norm2, period)
    if decided == BY_ITSELF:
        end_round(rule, near, q, asked)
    elif decided == FOR_FREE:
        asked, by_rule, chance = True, True, 1.0
    else:
        asked, by_rule, chance = decided == IS_ASKED, True, given
        end_round(rule, near, q, asked)
    if learner.leave != 0:
        call_leave(learner.leave, learner.state)
    switched = call_watch(drift.watch, drift.state, rows, i, m, q) if has_detector else False
    return SOUND, m, q, norm2, asked, by_rule, period, chance, switched, edge


@step
def chance_of(context: Any, m: float, q: float, norm2: float, period: int) -> Any:
    """The probability that this round asks, by the rule, an audit or a window."""
    if period > 0:
        return 1.0
    chance, rate = probability(context.rule, m, q, norm2), context.audit.rate
    return chance if rate == 0.0 or forbids(context.rule) else min(chance + rate, 1.0)


# Eleven arguments, the values of one round: it is inlined into ``tell_round`` and ``run_rounds``.
@step
def settle(
    context: Any,
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
    """Learn an asked label, in place, right after m and q of row i were computed; return the result of ``learn``."""
    learner, drift = context.learner, context.drift
    outcome = UNCHANGED
    if by_rule:
        outcome = call_learn(learner.learn, learner.state, rows, i, norm2, m, q, y, mistaken, chance)
        if outcome == UPDATED:
            note_update(context.rule, norm2)
        if outcome == REFUSED:
            return outcome
    note_label(context.rule, not judge(context.rule, y, mistaken), chance)
    if drift.state != 0:
        call_absorb(drift.absorb, drift.state, rows, i, y, mistaken, by_rule, period)
    return outcome


BY_RULE, SWITCHED, LEVEL, PERIOD = 1, 2, 4, 64
"""Bits of a question's marks: two flags, above them the level of its bet, and above that the period."""


class Marks(NamedTuple):
    """What must be known about a round when its label comes later."""

    by_rule: bool
    period: int
    switched: bool
    level: int


def _packed(by_rule: bool, period: int, switched: bool, level: int) -> int:
    """The marks of a round, packed into one number."""
    return (BY_RULE if by_rule else 0) + (SWITCHED if switched else 0) + LEVEL * level + PERIOD * period


def _unpacked(marks: int) -> Any:
    """The marks of a round, unpacked: (by_rule, period, switched, level)."""
    return marks & BY_RULE != 0, marks // PERIOD, marks & SWITCHED != 0, marks % PERIOD // LEVEL


marked, unmarked = step(_packed), step(_unpacked)


def packed_marks(marks: Marks) -> int:
    """Marks packed into the number that is stored with an open question."""
    return _packed(*marks)


def read_marks(number: int) -> Marks:
    """Marks from the number that is stored with an open question."""
    return Marks(*_unpacked(number))


@step
def limited(certainty: float, answers: float, known: Any) -> Any:
    """The certainty of a prediction within its limits."""
    return min(max(certainty, known[2]), most_certain(answers - known[0], known[1]))


@entry
def ask_round(address: Any, rows: int, first: int, time: float, u: float, decided: int, given: float) -> Any:
    """Play a live round on the first row, in place: (status, p, r, chance, asked, marks, certainty, raw, best)."""
    (context,) = lend(address)
    found = open_round(context, rows, first, time, u, first + FORM + LIVE, decided, given)
    status, m, q, _, asked, by_rule, period, chance, switched, edge = found
    p, level, certainty = margin(beyond(m, q, edge), q), first, 0.0
    raw = p + edge
    if status == SOUND and not context.regression:
        level += note_round(context.tally, chance, place_of(chance), raw, p > 0.0, asked)
        certainty = limited(certainty_of(context.tally, raw, p > 0.0), context.tally.model[LABELS], context.known)
    learner, best = context.learner, first - 1
    if learner.best != 0:
        best = call_best(learner.best, learner.state)
    if switched and not asked:
        restart_if_due(context)
    return status, p, q / (1.0 + q), chance, asked, marked(by_rule, period, switched, level), certainty, raw, best


# More than eight arguments: a compiled step takes numbers one by one, without building a tuple of them.
@entry
def tell_round(
    address: Any,
    rows: int,
    y: float,
    mistaken: bool,
    marks: int,
    ago: int,
    chance: float,
    positive: bool,
    raw: float,
) -> Any:
    """Learn and count the label of the question asked ``ago`` rounds back, with this raw margin, in place.

    Returns the status, and whether the learner was updated.
    """
    (context,) = lend(address)
    by_rule, period, switched, level = unmarked(marks)
    learner, drift, i = context.learner, context.drift, ago - ago
    m, norm2, status, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE)
    if status == SOUND and drift.state != 0 and not call_room(drift.room, drift.state, rows, i):
        status = NOT_READY
    if status != SOUND:
        return status, False
    outcome = settle(context, rows, i, norm2, m, q, y, mistaken, by_rule, period, chance)
    if outcome == REFUSED:
        return LABEL_REFUSED, False
    if not context.regression:
        settle_round(context.tally, ago, chance, raw, place_of(chance), level, positive, mistaken)
    if switched:
        restart_if_due(context)
    return SOUND, outcome == UPDATED


# One long loop on purpose: its parts share nearly all of its local values.
@entry
def run_rounds(
    address: Any,
    rows: int,
    y: Any,
    times: Any,
    first: int,
    every_margin: bool,
    floor: float,
    blind: bool,
    given: Any,
    places: Any,
    record: Any,
) -> Any:
    """Play rounds from ``first`` on, in place, until a row cannot be taken: (its number, the status).

    With open classes, ``places`` has the class number of each label, or -1 until its class is opened. The rounds are
    ``blind`` if the random draw decides whether their margins are computed; their probability of asking is not below
    the floor. They are counted here only if the next round depends on the counts; see ``note_rounds``.
    """
    (context,) = lend(address)
    learner, regression, place = context.learner, context.regression, place_of(floor)
    counts = counts_in_rounds(context.tally) and not regression
    y, times, given, u, record = borrow(y), borrow(times), borrow(given), borrow(record.coin), borrow(record)
    places = borrow(places)
    n = len(y)
    timed = len(times) > 0
    how = FORM if every_margin else 0
    for i in range(first, n):
        time = times[i] if timed else 0.0
        found = open_round(context, rows, i, time, u[i], how, BY_ITSELF, 0.0)
        status, m, q, norm2, asked, by_rule, period, chance, switched, edge = found
        if status != SOUND:
            return i, status
        prediction = 1.0 if beyond(m, q, edge) > 0.0 else -1.0
        label = y[i]
        mistaken = not regression and prediction != label
        if learner.best != 0:
            if len(places) > 0:
                label = float(places[int(y[i])])
            record.best[i] = call_best(learner.best, learner.state)
            mistaken = label < 0.0 or record.best[i] != label
        if asked and math.isnan(q):
            q = call_form(learner.form, learner.state, rows, i)
            chance = chance_of(context, beyond(m, q, edge), q, norm2, period)
        p = margin(beyond(m, q, edge), q)
        record.margin[i] = p
        record.probability[i] = chance
        record.prediction[i] = prediction
        record.queried[i] = asked
        record.mistaken[i] = mistaken
        record.switched[i] = switched
        if learner.note != 0:
            call_note(learner.note, learner.state, record.experts, i)
        outcome = UNCHANGED
        labelled = asked or (len(given) > 0 and given[i])
        if labelled and learner.best != 0 and label < 0.0:
            label = float(call_opens(learner.opens, learner.state))
            if label < 0.0:
                return i, TOO_MANY_CLASSES
            places[int(y[i])] = int(label)
            note_class(context.rule, int(label) + 1)
        if asked:
            outcome = settle(context, rows, i, norm2, m, q, label, mistaken, by_rule, period, chance)
            if outcome == REFUSED:
                return i, LABEL_REFUSED
        elif labelled:
            if math.isnan(q):
                q = call_form(learner.form, learner.state, rows, i)
            if call_learn(learner.learn, learner.state, rows, i, norm2, m, q, label, mistaken, 1.0) == REFUSED:
                return i, LABEL_REFUSED
        record.updated[i] = outcome == UPDATED
        if counts:
            count_labelled_not_inlined(context.tally, chance, p, prediction > 0.0, asked, mistaken, place, blind)
        if switched:
            restart_if_due(context)
    return n, SOUND


@entry
def learn_rows(address: Any, rows: int, y: Any, first: int, regression: bool) -> Any:
    """Learn unsolicited labels from row ``first`` on, in place: (the number of learnt rows, the status)."""
    (learner,) = lend(address)
    y = borrow(y)
    for i in range(first, len(y)):
        m, norm2, status, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE + ENTER)
        if status != SOUND:
            return i, status
        mistaken = not regression and (m > 0.0) != (y[i] > 0.0)
        if call_learn(learner.learn, learner.state, rows, i, norm2, m, q, y[i], mistaken, 1.0) == REFUSED:
            return i, LABEL_REFUSED
    return len(y), SOUND


@entry
def relearn_row(address: Any, rows: int, y: float, how: int) -> Any:
    """Learn a label of the first row, as the learner has seen it, once more, in place; return the status."""
    (learner,) = lend(address)
    m, norm2, status, q, _ = call_look(learner.look, learner.state, rows, 0, FORM + LIVE + how)
    if status == SOUND:
        call_learn(learner.learn, learner.state, rows, 0, norm2, m, q, y, True, 1.0)
    return status


@entry
def score_rows(address: Any, rows: int, n: int, p: Any) -> Any:
    """Write the margins of n rows to p, one for each row or one for each class; stop at a row that cannot be scored.

    Returns the number of that row, and the status.
    """
    (learner,) = lend(address)
    p = borrow(p)
    for i in range(n):
        m, _, status, q, _ = call_look(learner.look, learner.state, rows, i, FORM + LIVE + PEEK + ENTER)
        if status != SOUND:
            return i, status
        if learner.margins != 0:
            call_margins(learner.margins, learner.state, p, i)
        else:
            p[i, 0] = margin(m, q)
    return n, SOUND
