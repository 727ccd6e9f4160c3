"""Several classes with any learner of two labels: one copy of it for each class, played as one learner.

Second-order learners share one matrix between the classes instead: see :mod:`askwhen.weights.second_order_classes`,
in dual form :mod:`askwhen.weights.second_order_dual_classes`, and for AutoLasec
:mod:`askwhen.learners.auto_lasec_classes`.

==========  ==========================================================
m_j, q_j    m and q of the learner of class j, p_j = m_j / (1 + q_j)
z           half the gap between the two largest p_j, which stands for the margin; the round's m is z (1 + q) with the q
            of the best class. A rule that asks by uncertainty is given the m and q of the most uncertain class
signs       whether each learner predicted +1 when the round was played: a label is +1 for its class and -1 for the
            others, and is a mistake of a learner that predicted otherwise
==========  ==========================================================

The learners are called by their addresses, so that these steps are compiled once for all learners.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ...compiled.by_address import POINTER, address_of
from ...compiled.frames import LentType, new_frame
from ...compiled.steps import by_address
from ...contracts.learner import REFUSED, UNCHANGED, UPDATED, Learner, State, grow, is_sound, ready, weights, widen
from ...learners.auto_lasec import AutoState
from ...learners.auto_lasec_classes import share_levels
from ...linalg.vectors import SOUND
from ...weights.choose_form import check_memory, fitting, matrix_bytes
from ...weights.class_slots import FIRST_SLOTS, TINY, choose, is_labelled, is_opened, register_classes, repeat_last
from ...weights.second_order import FullState, RootState
from ...weights.second_order_classes import share
from ...weights.second_order_dual import DualState
from ...weights.second_order_dual_classes import share_dual
from ..state_arrays import copy_state
from .advised import AdvisedState, advised_calls
from .step_table import (
    ENTER,
    FORM,
    NOT_READY,
    LearnerCalls,
    best_at,
    call_learn,
    call_leave,
    call_look,
    call_restart,
    learner_calls,
    margins_at,
    opens_at,
    predicting,
)

_NO_MARGINS = np.zeros((0, 0))


class EachState(NamedTuple):
    """A learner's state for each class and each spare slot; ``full`` marks those that must grow first."""

    learners: tuple[Any, ...]
    m: Any
    q: Any
    mean: Any
    norm2: Any
    signs: Any
    full: Any
    best: Any
    opened: Any
    by_uncertainty: bool
    multi: bool


class EachCalls(NamedTuple):
    """The same by addresses: of every learner's state, and of the steps that all of them share."""

    states: Any
    look: int
    learn: int
    restart: int
    leave: int
    m: Any
    q: Any
    mean: Any
    norm2: Any
    signs: Any
    full: Any
    best: Any
    opened: Any
    by_uncertainty: bool
    multi: bool


register_classes(EachState)
register_classes(EachCalls)


def start_classes(learner: Learner, d: int, sparse: bool, opened: int, by_uncertainty: bool, multi: bool) -> State:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes.

    ``learner`` is one for two labels.
    """
    k = opened or FIRST_SLOTS
    one = learner.start(d, sparse)
    if isinstance(one, (RootState, FullState)) and one.queried:
        return share(one, opened, multi)
    if isinstance(one, DualState) and one.queried:
        return share_dual(one, opened, multi)
    if isinstance(one, AutoState) and one.queried:
        return share_levels(one, opened, multi)
    fits = fitting(learner, d, sparse, k)
    check_memory(fits, d, k * matrix_bytes(fits, d, sparse))
    learners = tuple(fits.start(d, sparse) for _ in range(k))
    m, q, mean, norm2 = np.zeros((4, k))
    signs, full = np.zeros((2, k), np.bool_)
    best, known = np.zeros(1, np.int64), np.array([opened])
    return EachState(learners, m, q, mean, norm2, signs, full, best, known, by_uncertainty, multi)


@by_address
def look_each(each: Any, rows: Any, i: int, how: int) -> Any:
    """(z (1 + q), |x|^2, status, q, q) of row i of the rows at the address ``rows``."""
    worst = SOUND
    for j in range(len(each.states)):
        m, norm2, status, q, _ = call_look(each.look, each.states[j], rows, i, how | FORM)
        each.full[j] = status == NOT_READY
        if status != SOUND and status != NOT_READY:
            return 0.0, 0.0, int(status), 0.0, 0.0
        worst = max(worst, status)
        each.m[j], each.q[j], each.norm2[j], each.mean[j] = m, q, norm2, m / (1.0 + q)
        if how & ENTER != 0:
            each.signs[j] = m > 0.0
    if worst == NOT_READY:
        return 0.0, 0.0, int(worst), 0.0, 0.0
    gap = choose(each.mean, each.best, each.opened[0], each.multi)
    j = max(each.best[0], 0)
    if each.multi:
        j = 0
        for other in range(len(each.states)):
            if abs(each.mean[other]) < abs(each.mean[j]):
                j = other
    m = 0.5 * gap * (1.0 + each.q[j])
    if each.by_uncertainty:
        for other in range(len(each.states)):
            if each.q[other] > each.q[j]:
                j = other
        m = abs(each.m[j])
    return float(max(m, TINY)), float(each.norm2[j]), int(SOUND), float(each.q[j]), float(each.q[j])


# More than eight arguments: a compiled step takes numbers one by one, without building a tuple of them.
@by_address
def learn_each(
    each: Any, rows: Any, i: int, norm2: float, m: float, q: float, y: float, mistaken: bool, chance: float
) -> Any:
    """Let every learner learn a label of class y, in place, right after ``look_each``."""
    found = UNCHANGED
    for j in range(len(each.states)):
        own = is_labelled(int(y), j, each.multi)
        label = (each.norm2[j], each.m[j], each.q[j], 1.0 if own else -1.0, each.signs[j] != own, chance)
        outcome = call_learn(each.learn, each.states[j], rows, i, *label)
        if outcome == REFUSED:
            return int(outcome)
        if outcome == UPDATED:
            found = UPDATED
    return int(found)


@by_address
def restart_each(each: Any) -> Any:
    """Forget everything that was learnt, in place."""
    for j in range(len(each.states)):
        call_restart(each.restart, each.states[j])
    return True


@by_address
def leave_each(each: Any) -> Any:
    """Tell every learner that a round has passed, in place."""
    for j in range(len(each.states)):
        call_leave(each.leave, each.states[j])
    return True


def calls_of(
    learner: State, sparse: bool, has_detector: bool, what: Any = None, lasting: bool = False
) -> tuple[LearnerCalls, Any]:
    """Addresses of a learner and its steps, for rows of this form, and the memory that must stay alive meanwhile.

    If ``lasting``, the learner only predicts: no further labels come.
    """
    if isinstance(learner, AdvisedState):
        return advised_calls(learner, sparse, has_detector, what, lasting)
    if not isinstance(learner, EachState):
        calls, held = learner_calls(learner, sparse, has_detector, what)
        return (predicting(calls, learner, sparse, what) if lasting else calls), held
    found = [learner_calls(each, sparse, has_detector, what) for each in learner.learners]
    first = found[0][0]
    states = np.array([calls.state for calls, _ in found])
    each = EachCalls(states, first.look, first.learn, first.restart, first.leave, *learner[1:])
    (block, address), kind = new_frame(each)
    lent = LentType(kind.states[0])
    calls = LearnerCalls(
        address,
        look=address_of(look_each, lent, POINTER, 0, 0),
        form=0,
        learn=address_of(learn_each, lent, POINTER, 0, 0.0, 0.0, 0.0, 0.0, True, 0.0),
        restart=address_of(restart_each, lent) if has_detector else 0,
        note=0,
        leave=address_of(leave_each, lent) if first.leave else 0,
        best=address_of(best_at, lent),
        margins=address_of(margins_at, lent, _NO_MARGINS, 0),
        opens=address_of(opens_at, lent),
    )
    return calls, (block, found)


@ready.of(EachState)
def _ready(state: Any, x: Any) -> Any:
    return not state.full.any()


@grow.of(EachState)
def _grow(state: EachState, entries: int, randomness: np.random.Generator) -> EachState:
    grown = (
        grow(each, entries, randomness) if full else each for each, full in zip(state.learners, state.full, strict=True)
    )
    return state._replace(learners=tuple(grown), full=np.zeros_like(state.full))


@widen.of(EachState)
def _widen(state: EachState, slots: int) -> EachState:
    more = tuple(copy_state(state.learners[-1]) for _ in range(slots - len(state.learners)))
    arrays: dict[str, Any] = {
        name: repeat_last(getattr(state, name), slots) for name in ("m", "q", "mean", "norm2", "signs", "full")
    }
    return state._replace(learners=state.learners + more, **arrays)


@is_sound.of(EachState)
def _is_sound(state: EachState) -> Any:
    return all(map(is_sound, state.learners)) and is_opened(state)


@weights.of(EachState)
def _weights(state: EachState) -> Any:
    return np.array([weights(each) for each in state.learners[: int(state.opened[0])]])
