"""An engine without a learner of its own: it decides whether to ask, given margins that come from elsewhere.

It has the rule, the random draws, the tally and the open questions. Classifiers of other libraries use it, so that
budgets, audits and the estimate of the accuracy are those of a sampler.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..contracts.learner import UPDATED, State, learn, learns, quadratic, restart, score
from ..linalg.rows import Row
from ..linalg.vectors import SOUND
from ..trace.trace import Ask
from .engine import Engine


class GivenMargins(NamedTuple):
    """Takes the place of a learner's state: numbers = (m, q, |x|^2), written before every round."""

    numbers: Any


@score.of(GivenMargins)
def _score_given(state: Any, x: Any) -> Any:
    return state.numbers[0], state.numbers[2], SOUND


@quadratic.of(GivenMargins)
def _quadratic_given(state: Any, x: Any) -> Any:
    return state.numbers[1]


@learns.of(GivenMargins)
def _learns_given(state: Any, mistaken: bool) -> Any:
    return True


@learn.of(GivenMargins)
def _learn_given(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    return UPDATED


@restart.of(GivenMargins)
def _restart_given(state: Any) -> None:
    return


class Decider(Engine):
    """An engine whose margins are given to it, round by round; ``labels`` is how many labels they decide between."""

    labels = 2

    @property
    def least_certainty(self) -> float:
        """The least probability of a predicted label, the likeliest of all."""
        return 1.0 / self.labels if self.answers is None else super().least_certainty

    @property
    def number_of_labels(self) -> int:
        """Number of labels between which the margins decide."""
        return self.labels if self.answers is None else super().number_of_labels

    def begin(self, owner: str, name: str, d: int, sparse: bool, learner: State = None) -> None:
        """Make the states for instances of this dimension and form; later instances must agree."""
        super().begin(owner, name, d, sparse, GivenMargins(np.zeros(3)))

    @property
    def numbers(self) -> np.ndarray:
        """The m, q and |x|^2 of the last round."""
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
