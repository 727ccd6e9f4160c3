"""Mixture for instances with many features, mostly text: the four experts of :mod:`askwhen.learners.word_experts`.

Instances have unit norm, and a bias at the end. Weights of experts are as in :mod:`askwhen.learners.mixing`. The
mixture's p is the weighted mean of the p_e, and its q that of the two q_e.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import UPDATED, hear, is_sound, learn, quadratic, restart, score, weights
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, lines_of_zeros, measure
from .label_scale import CENTRE, REACH, clipped, forget_scale, is_sound_scale, loss_of, new_scale, spread_of, take_label
from .mixing import is_mixture, register_mixture, shift_weights, weigh_alike
from .word_experts import (
    EXPERTS,
    forget_lines,
    is_sound_lines,
    learn_words,
    margin_for_loss_of_words,
    margin_of_words,
    score_words,
)

LIMIT = 1e6
"""The largest |x|^2; longer instances are refused, and must be scaled first."""

_M, _LOSS, _Q = range(3)


class DiagonalState(NamedTuple):
    """lines = (w, w, w, w, G, G, 10 - D, 10 - D) by feature; ``seen`` = (m by expert, losses, (0, 0, q, q))."""

    lines: Any
    mix: Any
    seen: Any
    labels: Any
    regression: bool


register_mixture(DiagonalState)


def start_diagonal(d: int, regression: bool) -> DiagonalState:
    """The state before the first round."""
    mix, seen = np.full(EXPERTS, 1.0 / EXPERTS), np.zeros((3, EXPERTS))
    return DiagonalState(lines_of_zeros(d), mix, seen, new_scale(regression), regression)


@is_sound.of(DiagonalState)
def _is_sound(state: DiagonalState) -> Any:
    scale = is_sound_scale(state.labels, state.regression)
    return is_sound_lines(state.lines) and is_mixture(state.mix) and scale


@score.of(DiagonalState)
def _score(state: Any, x: Any) -> Any:
    """Compute all m and q while reading the row once, and the mixture's m."""
    lines, seen = state.lines, state.seen
    norm2, status = measure(x, len(lines))
    if status == SOUND and norm2 > LIMIT:
        status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    score_words(lines, x, 0, norm2, seen[_M], seen[_Q])
    m = mixed(state)
    return m, norm2, SOUND if abs(m) <= LARGEST else TOO_LARGE


@quadratic.of(DiagonalState)
def _quadratic(state: Any, x: Any) -> Any:
    return mixed_form(state)


@step
def mixed_form(state: Any) -> Any:
    """The weighted mean of the two q."""
    mix, q = state.mix, state.seen[_Q]
    return (mix[2] * q[2] + mix[3] * q[3]) / (mix[2] + mix[3])


@step
def mixed(state: Any) -> Any:
    """The mixture's m."""
    mix, m, q, labels = state.mix, state.seen[_M], state.seen[_Q], state.labels
    spread = spread_of(labels) if state.regression else 1.0
    reach = labels[REACH] / spread
    p = mix[0] * margin_of_words(0, m[0], q[0], reach, state.regression)
    p += mix[1] * margin_of_words(1, m[1], q[1], reach, state.regression)
    p += mix[2] * clipped(m[2] / (1.0 + q[2]), reach) + mix[3] * clipped(m[3] / (1.0 + q[3]), reach)
    return (labels[CENTRE] + spread * p) * (1.0 + mixed_form(state))


@hear.of(DiagonalState)
def _hear(state: Any, y: float, chance: float) -> None:
    if state.regression:
        take_label(state.labels, y, chance)


@learn.of(DiagonalState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    labels, seen = state.labels, state.seen
    reach = 1.0
    if state.regression:
        spread = spread_of(labels)
        reach = labels[REACH] / spread
        y = clipped((y - labels[CENTRE]) / spread, reach)
    losses = seen[_LOSS]
    for e in range(EXPERTS):
        losses[e] = loss_of(margin_for_loss_of_words(e, seen[_M, e], reach, state.regression), y, 1.0)
    shift_weights(state.mix, losses)
    learn_words(state.lines, x, 0, seen[_M], seen[_Q], y, state.regression)
    return UPDATED


@restart.of(DiagonalState)
def _restart(state: Any) -> None:
    forget_lines(state.lines)
    weigh_alike(state.mix)
    forget_scale(state.labels, state.regression)


@weights.of(DiagonalState)
def _weights(state: DiagonalState) -> Any:
    return state.lines[:, :EXPERTS] @ state.mix
