"""AutoLasec for several classes that learn every asked label: one matrix for each drift level, shared by all classes.

As in :mod:`askwhen.weights.second_order_classes`, the recursion of every drift level depends only on the instances, and
a class has a weight vector for each level. Margins, the gap and the losses of the levels are those of
:mod:`askwhen.learners.mixture_classes`; with two classes this is :mod:`askwhen.learners.auto_lasec` bit for bit.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import UPDATED, is_sound, learn, quadratic, restart, score, weights, widen
from ..linalg.vectors import SOUND, all_finite, clear, dot, inner, look
from ..weights.class_slots import (
    FIRST_SLOTS,
    TINY,
    choose,
    is_labelled,
    is_opened,
    loss_by_gap,
    register_classes,
    repeat_last,
)
from .auto_lasec import SEEN_M, SEEN_P, SEEN_Q, AutoState, drifting, root
from .label_scale import clipped
from .mixing import register_mixture, shift_weights


class AutoClassesState(NamedTuple):
    """``auto`` has the matrices, and the weights of a class without labels; weights and m by level and class."""

    auto: AutoState
    weights: Any
    m: Any
    mean: Any
    best: Any
    opened: Any
    mix: Any
    margins: Any
    multi: bool


register_mixture(AutoClassesState)
register_classes(AutoClassesState)


def share_levels(auto: AutoState, opened: int, multi: bool) -> AutoClassesState:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes."""
    k, (E, d) = opened or FIRST_SLOTS, auto.w.shape
    best, known = np.zeros(1, np.int64), np.array([opened])
    numbers = (np.zeros((E, k, d)), np.zeros((E, k)), np.zeros(k))
    return AutoClassesState(auto, *numbers, best, known, auto.mix.copy(), np.zeros(k), multi)


@score.of(AutoClassesState)
def _score(state: Any, x: Any) -> Any:
    m, seen, mix, mean = state.m, state.auto.seen, state.mix, state.mean
    _, norm2, status = score(state.auto, x)
    if status != SOUND:
        return 0.0, 0.0, status
    clear(mean)
    q = 0.0
    for e in range(len(mix)):
        for j in range(len(mean)):
            w = state.weights[e, j]
            m[e, j] = look(w, x)[0] if e == 0 else dot(w, x)
            mean[j] += mix[e] * clipped(m[e, j] / (1.0 + seen[SEEN_Q, e]), 1.0)
        q += mix[e] * seen[SEEN_Q, e]
    gap = choose(mean, state.best, state.opened[0], state.multi)
    return max(0.5 * gap * (1.0 + q), TINY), norm2, SOUND


@quadratic.of(AutoClassesState)
def _quadratic(state: Any, x: Any) -> Any:
    return inner(state.mix, state.auto.seen[SEEN_Q])


@step
def move_level(state: Any, e: int, g: Any, q: float, c: int) -> None:
    """Let every class learn a label of class c at one level, in place."""
    for j in range(len(state.mean)):
        target = 1.0 if is_labelled(c, j, state.multi) else -1.0
        gain, w = (target - state.m[e, j]) / (1.0 + q), state.weights[e, j]
        for i in range(len(w)):
            w[i] += gain * g[i]


@learn.of(AutoClassesState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the levels by their losses, then let every level learn, in place."""
    c, seen, mix = int(y), state.auto.seen, state.mix
    for e in range(len(mix)):
        for j in range(len(state.mean)):
            state.margins[j] = clipped(state.m[e, j] / (1.0 + seen[SEEN_Q, e]), 1.0)
        seen[SEEN_P, e] = loss_by_gap(state.margins, c, state.multi)
    shift_weights(mix, seen[SEEN_P])
    first = root(state.auto)
    learn(first, x, norm2, seen[SEEN_M, 0], seen[SEEN_Q, 0], -1.0)
    move_level(state, 0, first.g, seen[SEEN_Q, 0], c)
    for e in range(1, len(mix)):
        level = drifting(state.auto, e)
        form = quadratic(level, x)
        move_level(state, e, level.g, form, c)
        learn(level, x, norm2, seen[SEEN_M, e], form, -1.0)
    return UPDATED


@restart.of(AutoClassesState)
def _restart(state: Any) -> None:
    restart(state.auto)
    for e in range(len(state.mix)):
        state.mix[e] = 1.0 / len(state.mix)
        for j in range(len(state.mean)):
            clear(state.weights[e, j])


@widen.of(AutoClassesState)
def _widen(state: AutoClassesState, slots: int) -> AutoClassesState:
    more, m = repeat_last(state.weights, slots, 1), repeat_last(state.m, slots, 1)
    return state._replace(weights=more, m=m, mean=repeat_last(state.mean, slots), margins=np.zeros(slots))


@is_sound.of(AutoClassesState)
def _is_sound(state: AutoClassesState) -> Any:
    return is_sound(state.auto._replace(mix=state.mix)) and all_finite(state.weights) and is_opened(state)


@weights.of(AutoClassesState)
def _weights(state: AutoClassesState) -> Any:
    return np.tensordot(state.mix, state.weights[:, : int(state.opened[0])], 1)
