"""A learner in one file: the mean of the instances of each label, weighed against each other.

==========  ==========================================================
w           the mean of y x over the labels that were learnt
count       how many there were
==========  ==========================================================
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from askwhen.contracts.learner import UPDATED, is_sound, learn, learns, restart, score
from askwhen.linalg.vectors import add_scaled, all_finite, clear, look, shrink


class MeanState(NamedTuple):
    w: Any
    count: Any


@score.of(MeanState)
def _score(state, x):
    return look(state.w, x)


@learns.of(MeanState)
def _learns(state, mistaken):
    return True


@learn.of(MeanState)
def _learn(state, x, norm2, m, q, y):
    state.count[0] += 1.0
    shrink(state.w, 1.0 - 1.0 / state.count[0])
    add_scaled(state.w, y / state.count[0], x)
    return UPDATED


@restart.of(MeanState)
def _restart(state):
    clear(state.w)
    state.count[0] = 0.0


@is_sound.of(MeanState)
def _is_sound(state):
    return all_finite(state.w) and 0.0 <= state.count[0] < 1e15


@dataclass(frozen=True)
class MeanLearner:
    """Weights are the mean of y x."""

    @property
    def regression(self):
        return False

    @property
    def has_uncertainty(self):
        return False

    def start(self, d, sparse):
        return MeanState(np.zeros(d), np.zeros(1))
