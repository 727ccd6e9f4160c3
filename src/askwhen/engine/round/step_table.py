"""The learner and the drift guard as the round sees them: the address of a state, and of the steps that it calls.

The round is compiled once for all learners and guards; each of them compiles only its own few steps, below, out of the
families of :mod:`askwhen.contracts`.

==========  ==========================================================
look_at     m, |x|^2, a verdict, q, and its upper bound; q is NaN where it was not wanted and has a bound
form_at     q, or NaN where it is wanted only if the label is learnt, and it is not
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
    write_margins,
)
from ...linalg.rows import example_rows, row
from ...linalg.vectors import SOUND

NOT_READY = 3
"""A verdict beside SOUND, UNSOUND and TOO_LARGE: a state must grow in Python before this row can be taken."""

FORM, LIVE, PEEK, ENTER = 1, 2, 4, 8
"""How an instance is looked at, added up: q is wanted; it is no row of a run; it is only scored, and nothing learnt; it
has just come, so that the learner writes to the row what it knows of this moment."""


class LearnerCalls(NamedTuple):
    """Addresses: of the learner's state, and of its steps; 0 for steps that are never called."""

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
    """Addresses: of the guard's state, 0 where there is none, and of its steps; and what ``watches`` says."""

    state: int
    room: int
    begin: int
    watch: int
    absorb: int
    due: int
    watches: bool


@by_address
def look_at(learner: Any, rows: Any, i: int, how: int) -> Any:
    """(m, |x|^2, verdict, q, bound of q) of row i."""
    x = row(rows, i)
    if how & LIVE == 0:
        arrive(learner, i)
    if how & ENTER != 0:
        enter(learner, x)
    m, norm2, verdict = score(learner, x)
    if verdict == SOUND and how & PEEK == 0 and not ready(learner, x):
        verdict = NOT_READY
    if verdict != SOUND:
        return 0.0, 0.0, int(verdict), 0.0, 0.0
    bound = quadratic_bound(learner, norm2)
    q = quadratic(learner, x) if how & FORM != 0 or bound == 0.0 else math.nan
    return float(m), float(norm2), int(verdict), float(q), float(bound)


@by_address
def form_at(learner: Any, rows: Any, i: int) -> Any:
    """The quadratic form q of row i."""
    return float(quadratic(learner, row(rows, i)))


@by_address
def learn_at(
    learner: Any, rows: Any, i: int, norm2: float, m: float, q: float, y: float, mistaken: bool, chance: float
) -> Any:
    """Learn a label, in place, right after m and q of row i were computed; return what ``learn`` returned."""
    if not learns(learner, mistaken):
        return UNCHANGED
    hear(learner, y, chance)
    return int(learn(learner, row(rows, i), norm2, m, q, y))


@by_address
def leave_at(learner: Any) -> Any:
    """Tell the learner that a round has passed, in place."""
    leave(learner)
    return True


@by_address
def restart_at(learner: Any) -> Any:
    """Forget everything that was learnt, in place."""
    restart(learner)
    return True


@by_address
def note_at(learner: Any, record: Any, i: int) -> Any:
    """Note in row i of the record how much each expert of a mixture is trusted, in place."""
    note_experts(learner, borrow(record), i)
    return True


@by_address
def best_at(learner: Any) -> Any:
    """The class that was found best for the row that was looked at last."""
    return int(best_class(learner))


@by_address
def margins_at(learner: Any, record: Any, i: int) -> Any:
    """Write the margins of all classes for the row that was looked at last to row i of the record, in place."""
    write_margins(learner, borrow(record), i)
    return True


@by_address
def opens_at(learner: Any) -> Any:
    """The number of a class that is told for the first time, in place, or -1 if there is no room."""
    return int(open_class(learner))


@by_address
def room_at(drift: Any, rows: Any, i: int) -> Any:
    """Whether the guard can take row i without memory that is not there yet."""
    return bool(has_room_for(drift, row(rows, i)))


@by_address
def begin_at(drift: Any) -> Any:
    """Start the guard's round, in place; the period whose window it belongs to, or 0."""
    begin(drift)
    return int(window_period(drift))


@by_address
def watch_at(drift: Any, rows: Any, i: int, m: float, q: float) -> Any:
    """Whether this round's margin declares a switch."""
    return bool(watch(drift, row(rows, i), m, q))


@by_address
def absorb_at(drift: Any, rows: Any, i: int, y: float, mistaken: bool, by_rule: bool, period: int) -> Any:
    """Give a told label to the guard, in place."""
    absorb_label(drift, row(rows, i), y, mistaken, by_rule, period)
    return True


@by_address
def due_at(drift: Any) -> Any:
    """Whether the guard wants a restart; asking takes the wish back, so that it is followed once."""
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
_NOBODY = DriftCalls(0, 0, 0, 0, 0, 0, False)


_known: dict[Any, tuple[int, ...]] = {}


def learner_calls(learner: State, sparse: bool, guarded: bool, what: Any = None) -> tuple[LearnerCalls, np.ndarray]:
    """A learner for rounds on rows of this form, and the block that must be held as long as it is called."""
    (block, state), kind = new_frame(learner)
    key = kind, sparse, guarded
    if key not in _known:
        lent, rows = LentType(kind.states[0]), _lent_rows(sparse)
        _known[key] = (
            address_of(look_at, lent, rows, 0, 0, what=what),
            address_of(form_at, lent, rows, 0, what=what) if type(learner) in quadratic_bound else 0,
            address_of(learn_at, lent, rows, 0, 0.0, 0.0, 0.0, 0.0, True, 0.0, what=what),
            address_of(restart_at, lent, what=what) if guarded else 0,
            address_of(note_at, lent, _NO_RECORD, 0, what=what) if len(experts(learner)) else 0,
            address_of(leave_at, lent, what=what) if type(learner) in leave else 0,
            address_of(best_at, lent, what=what) if type(learner) in best_class else 0,
            address_of(margins_at, lent, _NO_RECORD, 0, what=what) if type(learner) in write_margins else 0,
            address_of(opens_at, lent, what=what) if type(learner) in open_class else 0,
        )
    return LearnerCalls(state, *_known[key]), block


def drift_calls(drift: State, sparse: bool, what: Any = None) -> tuple[DriftCalls, np.ndarray | None]:
    """A drift guard for rounds on rows of this form, and the block that must be held as long as it is called."""
    if isinstance(drift, NoDrift):
        return _NOBODY, None
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
