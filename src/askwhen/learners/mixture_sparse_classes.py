"""Mixture for several classes and instances with many features: the experts of :mod:`askwhen.learners.word_classes`.

Margins, the best class, the gap and the losses of experts are as in :mod:`askwhen.learners.mixture_classes`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import UPDATED, grow, is_sound, learn, quadratic, ready, restart, score, weights, widen
from ..linalg.rows import size
from ..linalg.vectors import SOUND, TOO_LARGE, measure
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
from .mixing import is_mixture, register_mixture, shift_weights, weigh_alike
from .mixture_sparse import LIMIT
from .word_classes import (
    forget_classes,
    has_room_for_words,
    is_sound_classes,
    learn_word_classes,
    mixed_lines,
    new_lines,
    note_word_gains,
    score_word_classes,
    with_room,
)
from .word_experts import EXPERTS, margin_for_loss_of_words, margin_of_words

_Q, _LOSS = 0, 1


class SeveralDiagonalState(NamedTuple):
    """The experts' lines, as in :mod:`askwhen.learners.word_classes`; m and gain by expert and class."""

    lines: Any
    taken: Any
    where: Any
    used: Any
    mix: Any
    m: Any
    mean: Any
    seen: Any
    gain: Any
    best: Any
    opened: Any
    margins: Any
    multi: bool


register_mixture(SeveralDiagonalState)
register_classes(SeveralDiagonalState)


def start_several_diagonal(d: int, opened: int, multi: bool = False) -> SeveralDiagonalState:
    """The state before the first round, for ``opened`` classes or labels; 0 means open classes."""
    k = opened or FIRST_SLOTS
    mix, best = np.full(EXPERTS, 1.0 / EXPERTS), np.zeros(1, np.int64)
    m, gain, seen = np.zeros((EXPERTS, k)), np.zeros((EXPERTS, k)), np.zeros((2, EXPERTS))
    known, margins = np.array([opened]), np.zeros(k)
    return SeveralDiagonalState(*new_lines(d, k), mix, m, np.zeros(k), seen, gain, best, known, margins, multi)


@widen.of(SeveralDiagonalState)
def _widen(state: SeveralDiagonalState, slots: int) -> SeveralDiagonalState:
    lines, m, gain = (repeat_last(array, slots, 1) for array in (state.lines, state.m, state.gain))
    margins, mean = np.zeros(slots), repeat_last(state.mean, slots)
    return state._replace(lines=lines, m=m, gain=gain, mean=mean, margins=margins)


@is_sound.of(SeveralDiagonalState)
def _is_sound(state: SeveralDiagonalState) -> Any:
    lines = is_sound_classes(state.lines, state.taken, state.where, state.used)
    return lines and is_mixture(state.mix) and is_opened(state)


@ready.of(SeveralDiagonalState)
def _ready(state: Any, x: Any) -> Any:
    return has_room_for_words(state.lines, state.used, size(x))


@grow.of(SeveralDiagonalState)
def _grow(state: SeveralDiagonalState, entries: int, randomness: Any) -> SeveralDiagonalState:
    lines, taken = with_room(state.lines, state.taken, state.used, entries)
    return state._replace(lines=lines, taken=taken)


@score.of(SeveralDiagonalState)
def _score(state: Any, x: Any) -> Any:
    seen, m, mean, mix = state.seen, state.m, state.mean, state.mix
    norm2, status = measure(x, len(state.where))
    if status == SOUND and norm2 > LIMIT:
        status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    score_word_classes(state.lines, state.taken, state.where, x, 0, m, seen[_Q])
    for j in range(len(mean)):
        p = 0.0
        for e in range(EXPERTS):
            p += mix[e] * margin_of_words(e, m[e, j], seen[_Q, e], 1.0, False)
        mean[j] = p
    gap = choose(mean, state.best, state.opened[0], state.multi)
    m_ = max(0.5 * gap * (1.0 + _form(state)), TINY)
    return m_, norm2, SOUND if gap <= 2.0 + 1e-9 else TOO_LARGE


@step
def _form(state: Any) -> Any:
    """The weighted mean of the two q."""
    mix, q = state.mix, state.seen[_Q]
    return (mix[2] * q[2] + mix[3] * q[3]) / (mix[2] + mix[3])


@quadratic.of(SeveralDiagonalState)
def _quadratic(state: Any, x: Any) -> Any:
    return _form(state)


@learn.of(SeveralDiagonalState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    c, k, seen = int(y), len(state.mean), state.seen
    for e in range(EXPERTS):
        for j in range(k):
            state.margins[j] = margin_for_loss_of_words(e, state.m[e, j], 1.0, False)
        seen[_LOSS, e] = loss_by_gap(state.margins, c, state.multi)
    shift_weights(state.mix, seen[_LOSS])
    for j in range(k):
        note_word_gains(state.gain, state.m, seen[_Q], j, 1.0 if is_labelled(c, j, state.multi) else -1.0)
    learn_word_classes(state.lines, state.taken, state.where, state.used, x, 0, state.gain)
    return UPDATED


@restart.of(SeveralDiagonalState)
def _restart(state: Any) -> None:
    forget_classes(state.lines, state.taken, state.where, state.used)
    weigh_alike(state.mix)


@weights.of(SeveralDiagonalState)
def _weights(state: SeveralDiagonalState) -> Any:
    return mixed_lines(state.lines, state.where, int(state.opened[0]), state.mix)
