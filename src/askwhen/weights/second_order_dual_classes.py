"""The dual form of the second-order recursion for several classes: one triangle and one set of stored instances.

G, alpha and v of :mod:`askwhen.weights.second_order_dual` depend only on the instances; every class has its own
coefficients, and for the linear kernel its own weight vector. A round costs O(n^2 + k n) with n stored instances and k
classes, and has the bits of one learner for each class.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    UPDATED,
    arrive,
    grow,
    is_sound,
    learn,
    ready,
    restart,
    score,
    weights,
    widen,
)
from ..errors import InputError
from ..linalg.vectors import add_scaled, all_finite, clear, inner, look
from .class_slots import FIRST_SLOTS, TINY, choose, is_labelled, is_opened, repeat_last
from .expansion import HELD, is_linear, keep, place_to_fill
from .instance_store import at
from .second_order_classes import register_shared
from .second_order_dual import DualState, absorb_at, form, take_out


class SharedDualState(NamedTuple):
    """``one`` has G, the instances, and the weights of a class without labels; ``coef`` has equal slices by class."""

    one: DualState
    coef: Any
    primal: Any
    m: Any
    mean: Any
    own: Any
    best: Any
    opened: Any
    multi: bool


register_shared(SharedDualState)


def share_dual(one: DualState, opened: int, multi: bool) -> SharedDualState:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes."""
    k, known, best = opened or FIRST_SLOTS, np.array([opened]), np.zeros(1, np.int64)
    primal = np.zeros((k, len(one.w.primal)))
    return SharedDualState(one, np.zeros(0), primal, np.zeros(k), np.zeros(k), np.zeros(1), best, known, multi)


@step
def coef_of(state: Any, j: int) -> Any:
    """The coefficients of class j."""
    n = len(state.one.w.slots)
    return state.coef[j * n : (j + 1) * n]


@step
def look_at_classes(state: Any, x: Any) -> None:
    """Write the m of every class, after the kernel values are known, in place."""
    w = state.one.w
    held = w.counts[HELD]
    for j in range(len(state.m)):
        if is_linear(w):
            state.m[j] = look(state.primal[j], x)[0]
        else:
            state.m[j] = inner(coef_of(state, j)[:held], w.row[:held])


@score.of(SharedDualState)
def _score(state: Any, x: Any) -> Any:
    own, kxx, status = score(state.one, x)
    state.own[0] = own
    look_at_classes(state, x)
    gap = choose(state.m, state.best, state.opened[0], state.multi)
    return max(0.5 * gap, TINY), kxx, status


@learn.of(SharedDualState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    one = state.one
    w = one.w
    place = place_to_fill(w)
    own = state.own[0]
    if place < w.counts[HELD]:
        take_out(one, place)
        drop_from_classes(state, place)
        own, _, _ = look(w, x)
        look_at_classes(state, x)
        q = form(one, x)
    absorb_at(one, place, x, own, q, -1.0)
    move_classes(state, place, x, q, int(y))
    keep(w, place, x, w.coef[place])
    one.numbers[0] += 1.0 / one.c
    return UPDATED


@apart
def drop_from_classes(state: Any, s: int) -> None:
    """Remove the instance at index s from every class, in place, right after it was removed from ``one``."""
    w = state.one.w
    held = w.counts[HELD]
    g = state.one.v[:held]
    for j in range(len(state.m)):
        coef = coef_of(state, j)
        share = coef[s] / g[s]
        for i in range(held):
            coef[i] -= share * g[i]
            if is_linear(w):
                add_scaled(state.primal[j], -share * g[i], at(w.store, w.slots[i]))
        coef[s] = 0.0


@apart
def move_classes(state: Any, place: int, x: Any, q: float, c: int) -> None:
    """Let every class learn x as the instance at index ``place``, in place, right after ``one`` has."""
    w, alpha = state.one.w, state.one.numbers[0]
    held, v = w.counts[HELD], state.one.v
    for j in range(len(state.m)):
        coef = coef_of(state, j)
        gain = ((1.0 if is_labelled(c, j, state.multi) else -1.0) - state.m[j]) / (1.0 + q)
        for i in range(held):
            coef[i] += gain * v[i]
        coef[place] = gain * alpha
        if is_linear(w):
            for i in range(held):
                if i != place:
                    add_scaled(state.primal[j], gain * v[i], at(w.store, w.slots[i]))
            add_scaled(state.primal[j], gain * alpha, x)


@restart.of(SharedDualState)
def _restart(state: Any) -> None:
    restart(state.one)
    for j in range(len(state.m)):
        clear(state.primal[j])


@arrive.of(SharedDualState)
def _arrive(state: Any, i: int) -> None:
    arrive(state.one, i)


@ready.of(SharedDualState)
def _ready(state: Any, x: Any) -> Any:
    return ready(state.one, x)


@grow.of(SharedDualState)
def _grow(state: SharedDualState, entries: int, randomness: np.random.Generator) -> SharedDualState:
    one, k = grow(state.one, entries, randomness), len(state.m)
    before = state.coef.reshape(k, -1)
    after = np.zeros((k, len(one.w.slots)))
    after[:, : before.shape[1]] = before
    return state._replace(one=one, coef=after.reshape(-1))


@widen.of(SharedDualState)
def _widen(state: SharedDualState, slots: int) -> SharedDualState:
    coef = repeat_last(state.coef.reshape(len(state.m), -1), slots).reshape(-1)
    primal, m, mean = (repeat_last(array, slots) for array in (state.primal, state.m, state.mean))
    return state._replace(coef=coef, primal=primal, m=m, mean=mean)


@is_sound.of(SharedDualState)
def _is_sound(state: SharedDualState) -> Any:
    whole = is_sound(state.one) and len(state.coef) == len(state.m) * len(state.one.w.slots)
    return whole and all_finite(state.coef, state.primal) and is_opened(state)


@weights.of(SharedDualState)
def _weights(state: SharedDualState) -> Any:
    if not is_linear(state.one.w):
        raise InputError("a learner with a kernel that is not linear has no weight vector.", owner="weights")
    return state.primal[: int(state.opened[0])].copy()
