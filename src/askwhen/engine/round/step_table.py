"""Learners and drift detectors as the round calls them: the address of a state, and the addresses of its steps.

The round is compiled once for all learners and detectors. For each of them only the few steps below are compiled, out
of the families of :mod:`askwhen.contracts`.

==========  ==========================================================
look_at     m, |x|^2, a status, q, and an upper bound of q; q is NaN where it was not requested and has a bound
form_at     q, computed later where ``look_at`` has left it out
learn_at    learn a label right after look_at
==========  ==========================================================
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, NamedTuple, cast

import numba
import numpy as np

from ...compiled.by_address import ADDRESS, address_of, calling
from ...compiled.frames import LentType, new_frame
from ...compiled.steps import borrow, by_address, type_of
from ...contracts.drift import NoDrift, absorb_label, begin, has_room_for, take_due, watch, watches, window_period
from ...contracts.learner import (
    UNCHANGED,
    State,
    arrive,
    best_class,
    enter,
    experts,
    foresee,
    hear,
    learn,
    learns,
    leave,
    note_experts,
    open_class,
    quadratic,
    quadratic_bound,
    ready,
    restart,
    score,
    score_lasting,
    write_margins,
)
from ...linalg.rows import example_rows, row
from ...linalg.vectors import SOUND

NOT_READY = 3
"""A status besides SOUND, UNSOUND and TOO_LARGE: a state must grow, in Python, before this row can be taken."""

FORM, LIVE, PEEK, ENTER = 1, 2, 4, 8
"""Flags of ``look_at``, which are added up. FORM: compute q. LIVE: the row does not belong to a run. PEEK: only score;
nothing will be learnt. ENTER: the row is new, so the learner may write its own features into it, see ``enter``."""


class LearnerCalls(NamedTuple):
    """Addresses of a learner's state and of its steps; 0 for steps that are never called."""

    state: int
    look: int
    form: int
    learn: int
    restart: int
    note: int
    leave: int
    best: int = 0
    margins: int = 0
    opens: int = 0


class DriftCalls(NamedTuple):
    """Addresses of a detector's state and of its steps, 0 without a detector; and the result of ``watches``."""

    state: int
    room: int
    begin: int
    watch: int
    absorb: int
    due: int
    watches: bool


@by_address
def look_at(learner: Any, rows: Any, i: int, how: int) -> Any:
    """(m, |x|^2, status, q, bound of q) of row i."""
    x = row(rows, i)
    if how & LIVE == 0:
        arrive(learner, i)
        foresee(learner, rows, i)
    if how & ENTER != 0:
        enter(learner, x)
    m, norm2, status = score(learner, x)
    if status == SOUND and how & PEEK == 0 and not ready(learner, x):
        status = NOT_READY
    if status != SOUND:
        return 0.0, 0.0, int(status), 0.0, 0.0
    bound = quadratic_bound(learner, norm2)
    q = quadratic(learner, x) if how & FORM != 0 or bound == 0.0 else math.nan
    return float(m), float(norm2), int(status), float(q), float(bound)


@by_address
def look_lasting_at(learner: Any, rows: Any, i: int, how: int) -> Any:
    """As ``look_at`` for a model that only predicts: (m, 0, status, q, q) of row i."""
    m, q, status = score_lasting(learner, row(rows, i))
    return float(m), 0.0, int(status), float(q), float(q)


@by_address
def form_at(learner: Any, rows: Any, i: int) -> Any:
    """The quadratic form q of row i."""
    return float(quadratic(learner, row(rows, i)))


# Nine arguments: it is called by its address, with the scalars that ``call_learn`` declares.
@by_address
def learn_at(
    learner: Any, rows: Any, i: int, norm2: float, m: float, q: float, y: float, mistaken: bool, chance: float
) -> Any:
    """Learn a label, in place, right after m and q of row i were computed; return the result of ``learn``."""
    if not learns(learner, mistaken):
        return UNCHANGED
    hear(learner, y, chance)
    return int(learn(learner, row(rows, i), norm2, m, q, y))


@by_address
def leave_at(learner: Any) -> Any:
    """Notify the learner that a round has ended, in place."""
    leave(learner)
    return True


@by_address
def restart_at(learner: Any) -> Any:
    """Forget everything that was learnt, in place."""
    restart(learner)
    return True


@by_address
def note_at(learner: Any, record: Any, i: int) -> Any:
    """Write the weight of each expert of a mixture to row i of the record, in place."""
    note_experts(learner, borrow(record), i)
    return True


@by_address
def best_at(learner: Any) -> Any:
    """The best class of the row that ``look_at`` saw last."""
    return int(best_class(learner))


@by_address
def margins_at(learner: Any, record: Any, i: int) -> Any:
    """Write the margins of all classes, for the row that ``look_at`` saw last, to row i of the record, in place."""
    write_margins(learner, borrow(record), i)
    return True


@by_address
def opens_at(learner: Any) -> Any:
    """Open a class for a new label, in place, and return its number, or -1 if there is no spare slot."""
    return int(open_class(learner))


@by_address
def room_at(drift: Any, rows: Any, i: int) -> Any:
    """Whether the detector has enough memory to take row i."""
    return bool(has_room_for(drift, row(rows, i)))


@by_address
def begin_at(drift: Any) -> Any:
    """Begin the detector's round, in place; return the period whose window it belongs to, or 0."""
    begin(drift)
    return int(window_period(drift))


@by_address
def watch_at(drift: Any, rows: Any, i: int, m: float, q: float) -> Any:
    """Whether this round's margin declares a switch."""
    return bool(watch(drift, row(rows, i), m, q))


@by_address
def absorb_at(drift: Any, rows: Any, i: int, y: float, mistaken: bool, by_rule: bool, period: int) -> Any:
    """Pass a label to the detector, in place."""
    absorb_label(drift, row(rows, i), y, mistaken, by_rule, period)
    return True


@by_address
def due_at(drift: Any) -> Any:
    """Whether the detector has requested a restart; the request is cleared, so that it is followed once."""
    return bool(take_due(drift))


_FLAG, _INT, _FLOAT = numba.types.boolean, numba.types.int64, numba.types.float64
_LOOK = cast(Any, numba.types.Tuple)([_FLOAT, _FLOAT, _INT, _FLOAT, _FLOAT])

call_look = calling(_LOOK, ADDRESS, _INT, _INT)
call_form = calling(_FLOAT, ADDRESS, _INT)
call_learn = calling(_INT, ADDRESS, _INT, _FLOAT, _FLOAT, _FLOAT, _FLOAT, _FLAG, _FLOAT)
call_leave = calling(_FLAG)
call_best = calling(_INT)
call_opens = calling(_INT)
call_margins = calling(_FLAG, None, _INT)
call_restart = calling(_FLAG)
call_note = calling(_FLAG, None, _INT)
call_room = calling(_FLAG, ADDRESS, _INT)
call_begin = calling(_INT)
call_watch = calling(_FLAG, ADDRESS, _INT, _FLOAT, _FLOAT)
call_absorb = calling(_FLAG, ADDRESS, _INT, _FLOAT, _FLAG, _FLAG, _INT)
call_due = calling(_FLAG)

_NO_RECORD = np.zeros((0, 0))
_NO_DETECTOR = DriftCalls(0, 0, 0, 0, 0, 0, False)


_known: dict[Any, tuple[int, ...]] = {}


def learner_calls(
    learner: State, sparse: bool, has_detector: bool, what: Any = None
) -> tuple[LearnerCalls, np.ndarray]:
    """Addresses of a learner and its steps, for rows of this form, and the block that must stay alive meanwhile.

    The step that restarts the learner is compiled only if the sampler ``has_detector``.
    """
    (block, state), kind = new_frame(learner)
    key = kind, sparse, has_detector
    if key not in _known:
        lent, rows = LentType(kind.states[0]), _lent_rows(sparse)
        _known[key] = (
            address_of(look_at, lent, rows, 0, 0, what=what),
            address_of(form_at, lent, rows, 0, what=what) if type(learner) in quadratic_bound else 0,
            address_of(learn_at, lent, rows, 0, 0.0, 0.0, 0.0, 0.0, True, 0.0, what=what),
            address_of(restart_at, lent, what=what) if has_detector else 0,
            address_of(note_at, lent, _NO_RECORD, 0, what=what) if len(experts(learner)) else 0,
            address_of(leave_at, lent, what=what) if type(learner) in leave else 0,
            address_of(best_at, lent, what=what) if type(learner) in best_class else 0,
            address_of(margins_at, lent, _NO_RECORD, 0, what=what) if type(learner) in write_margins else 0,
            address_of(opens_at, lent, what=what) if type(learner) in open_class else 0,
        )
    return LearnerCalls(state, *_known[key]), block


def predicting(calls: LearnerCalls, learner: State, sparse: bool, what: Any = None) -> LearnerCalls:
    """The calls with the ``look`` of a model that goes on predicting without labels, where a learner has one."""
    if type(learner) not in score_lasting:
        return calls
    (_block, _state), kind = new_frame(learner)
    lent, rows = LentType(kind.states[0]), _lent_rows(sparse)
    return calls._replace(look=address_of(look_lasting_at, lent, rows, 0, 0, what=what))


def drift_calls(drift: State, sparse: bool, what: Any = None) -> tuple[DriftCalls, np.ndarray | None]:
    """Addresses of a detector and its steps, for rows of this form, and the block that must stay alive meanwhile."""
    if isinstance(drift, NoDrift):
        return _NO_DETECTOR, None
    (block, state), kind = new_frame(drift)
    key = kind, sparse
    if key not in _known:
        lent, rows = LentType(kind.states[0]), _lent_rows(sparse)
        _known[key] = (
            address_of(room_at, lent, rows, 0, what=what),
            address_of(begin_at, lent, what=what),
            address_of(watch_at, lent, rows, 0, 0.0, 0.0, what=what),
            address_of(absorb_at, lent, rows, 0, 0.0, True, True, 0, what=what),
            address_of(due_at, lent, what=what),
        )
    room, opens, watch_, absorb, due = _known[key]
    return DriftCalls(state, room, opens, watch_, absorb, due, bool(watches(drift))), block


@cache
def _lent_rows(sparse: bool) -> LentType:
    return LentType(type_of(example_rows(sparse)))
