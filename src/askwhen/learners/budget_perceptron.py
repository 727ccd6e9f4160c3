"""The Randomized Budget Perceptron.

Cavallanti, Cesa-Bianchi, Gentile 2007.

==========  ==========================================================
w           weights, the sum of y x over the instances kept
B           the budget: how many instances are kept at most
==========  ==========================================================

On a mistake w += y x, and x is kept. When B are kept already, one of them, chosen uniformly at random, is dropped
first. Slots are chosen by draws of their own, so that they never shift the coins; draws wait in the state, because a
compiled step does not draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..contracts import UPDATED, grow, learn, ready, restart, score
from ..linalg import add_scaled, look
from ..support import Store, at, empty_store, fits, put, regrow
from ..validation import check_count

_DRAWS = 256
_FIRST_CAPACITY = 16


class BudgetPerceptronState(NamedTuple):
    """w = sum of labels[s] at(store, s) over the first kept[0] slots; draws[drawn[0]:] are still to be used."""

    w: Any
    store: Store
    labels: Any
    kept: Any
    draws: Any
    drawn: Any
    budget: int


@score.of(BudgetPerceptronState)
def _score(state: Any, x: Any) -> Any:
    return look(state.w, x)


@learn.of(BudgetPerceptronState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    slot = state.kept[0]
    if slot < state.budget:
        state.kept[0] += 1
    else:
        slot = int(state.draws[state.drawn[0]] * state.budget)
        state.drawn[0] += 1
        add_scaled(state.w, -state.labels[slot], at(state.store, slot))
    add_scaled(state.w, y, x)
    put(state.store, slot, x)
    state.labels[slot] = y
    return UPDATED


@restart.of(BudgetPerceptronState)
def _restart(state: Any) -> None:
    state.w[:] = 0.0
    state.kept[0] = 0


@ready.of(BudgetPerceptronState)
def _ready(state: Any, x: Any) -> Any:
    slot = min(state.kept[0], state.budget - 1)
    return fits(state.store, slot, x) and state.drawn[0] < len(state.draws)


@grow.of(BudgetPerceptronState)
def _grow(state: Any, room: int, randomness: Any) -> Any:
    kept = int(state.kept[0])
    capacity = len(state.labels)
    if kept == capacity:
        capacity = min(state.budget, max(_FIRST_CAPACITY, 2 * capacity))
    labels = np.zeros(capacity)
    labels[:kept] = state.labels[:kept]
    state = state._replace(store=regrow(state.store, np.arange(kept), capacity, room), labels=labels)
    if state.drawn[0] == len(state.draws):
        state = state._replace(draws=randomness.random(_DRAWS), drawn=np.zeros(1, np.int64))
    return state


@dataclass(frozen=True)
class BudgetPerceptron:
    """A Perceptron that keeps at most ``budget`` instances and drops a random one to make room.

    Parameters
    ----------
    budget : int
        B in the paper: how many instances are kept at most.

    References
    ----------
    Cavallanti, Cesa-Bianchi, Gentile: Tracking the best hyperplane with a simple budget Perceptron, 2007.
    """

    budget: int

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        check_count(self, "budget", self.budget)

    def start(self, d: int, sparse: bool) -> BudgetPerceptronState:
        """The state before the first round."""
        return BudgetPerceptronState(
            np.zeros(d),
            empty_store(d, sparse),
            np.zeros(0),
            np.zeros(1, np.int64),
            np.zeros(0),
            np.zeros(1, np.int64),
            int(self.budget),
        )
