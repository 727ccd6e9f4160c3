"""Decisions on margins that come from elsewhere: rule, coins, tally and open questions, without a learner.

Several classes, and classifiers of other libraries, share one rule and one coin in a round; a decider plays that round
as a sampler plays its own, so that budgets, audits and the estimate of the accuracy are the same.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contracts.learner import UPDATED, State, learn, learns, quadratic, restart, score
from ..linalg.rows import Row
from ..linalg.vectors import SOUND
from ..trace.trace import Ask
from .engine import Engine


class Given(NamedTuple):
    """Stands for a learner where a decision is made on margins from elsewhere: numbers = (m, q, |x|^2)."""

    numbers: Any


@score.of(Given)
def _score_given(state: Any, x: Any) -> Any:
    return state.numbers[0], state.numbers[2], SOUND


@quadratic.of(Given)
def _quadratic_given(state: Any, x: Any) -> Any:
    return state.numbers[1]


@learns.of(Given)
def _learns_given(state: Any, mistaken: bool) -> Any:
    return True


@learn.of(Given)
def _learn_given(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    return UPDATED


@restart.of(Given)
def _restart_given(state: Any) -> None:
    return


class Decider(Engine):
    """An engine whose margins are given to it, round by round."""

    def begin(self, owner: str, name: str, d: int, sparse: bool, learner: State = None) -> None:
        """Get ready for instances of this dimension and form; later ones must agree."""
        super().begin(owner, name, d, sparse, Given(np.zeros(3)))

    @property
    def numbers(self) -> np.ndarray:
        """What the last round was decided on: m, q and |x|^2."""
        found: np.ndarray = self.learner.numbers
        return found

    def decide(self, x: Row, time: float, m: float, q: float = 0.0, norm2: float = 1.0) -> Ask:
        """Play one round on these numbers."""
        self.learner.numbers[:] = m, q, norm2
        return self.ask(x, time)

    def settle(self, number: int, y: float) -> None:
        """Count the label of the question that round ``number`` asked."""
        self.tell(self.pending[number], y)

    def drop(self, number: int) -> None:
        """Drop the question that round ``number`` asked."""
        self.forget(self.pending[number])
