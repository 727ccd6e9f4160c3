"""From online to batch for several classes: the updates of a run are learnt again, one after the other.

``random`` and ``last`` are single hypotheses. ``average`` averages the weights of every class. ``vote`` lets every
hypothesis predict a class, for which all updates are learnt again in every call of ``predict``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.learner import grow, restart, weights
from ..engine.batch_run import margins, seen_rows
from ..engine.engine import Engine
from ..engine.inputs.instance_checks import all_canonical, check_instances
from ..engine.round.each_class import EachState
from ..engine.round.rounds import relearn_row
from ..engine.round.step_table import ENTER, NOT_READY
from ..linalg.rows import Rows, part_of, row, shape_of, size
from ..linalg.vectors import all_finite
from ..sampler import Sampler
from ..snapshot import engine_state
from ..weights.kernels import Kernel
from .models import FACTS, ReplayedHypotheses, SingleHypothesis, check_arrays, last, random_pick, replayed
from .replay import Run, rows_at


def _hypotheses(engine: Engine, events: Rows, facts: dict[str, np.ndarray]) -> Iterator[float]:
    """Learn every update again, in place; yields the number of rounds that each hypothesis was in use."""
    y, updated, switched, lived = (facts[name] for name in FACTS)
    how = ENTER if isinstance(engine.learner, EachState) else 0
    yield lived[0]
    for e in range(len(y)):
        if updated[e]:
            _relearn(engine, part_of(events, e, e + 1), float(y[e]), how)
        if switched[e]:
            restart(engine.learner)
        yield lived[e + 1]


def _relearn(engine: Engine, event: Rows, y: float, how: int) -> None:
    (_held, rows), _ = new_frame(event)
    while True:
        address, kind = engine.session.learner_alone(engine)
        if entry_point(relearn_row, kind, 0, 1.0, 1)(address, rows, y, how) != NOT_READY:
            return
        engine.learner = grow(engine.learner, size(row(event, 0)), engine.draws.randomness)


class ClassVote(ReplayedHypotheses):
    """The class that most hypotheses predict; margins are shares of the votes."""

    def margins(self, X: Any) -> np.ndarray:
        """The share of the votes for every class."""
        engine = copy.deepcopy(self.sampler).engine
        rows = check_instances("margins", X, engine.form)
        found = np.zeros((shape_of(rows)[0], len(engine.places)))
        each = np.arange(len(found))
        for rounds in _hypotheses(engine, self.events, self.facts):
            if rounds > 0.0:
                found[each, margins(engine, rows).argmax(axis=1)] += rounds
        return np.asarray(found / self.facts["lived"].sum())


class ClassAverage:
    """The mean of every class's weights over all hypotheses; margins are w.x."""

    def __init__(self, sampler: Sampler, W: np.ndarray) -> None:
        self.sampler = sampler
        self._W = W

    def margins(self, X: Any) -> np.ndarray:
        """W.x of every class."""
        self.sampler.margins(X)  # raises for what no hypothesis could predict
        engine = self.sampler.engine
        seen = seen_rows(engine.prepare, all_canonical("margins", check_instances("margins", X, engine.form)))
        return np.asarray(rows_at(seen, np.arange(shape_of(seen)[0])) @ self._W.T)

    def dump(self) -> engine_state.Content:
        """The whole model as a header and arrays."""
        header, arrays = engine_state.dump(self.sampler.engine, [])
        return header, arrays | {"average.W": self._W}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        """Make it from what ``dump`` returned."""
        engine, W = engine_state.restore(header, arrays, kernel)[0], arrays["average.W"]
        check_arrays(W.dtype == np.float64, W.shape == (len(engine.places), engine.dimension), all_finite(W))
        return cls(Sampler.of(engine), W)


def _vote(run: Run) -> ClassVote:
    return ClassVote(*replayed(run))


def _average(run: Run) -> ClassAverage:
    start, events, facts = replayed(run)
    engine = copy.deepcopy(start).engine
    total: Any = 0.0
    for rounds in _hypotheses(engine, events, facts):
        total = total + rounds * weights(engine.learner)
    return ClassAverage(start, np.asarray(total / facts["lived"].sum()))


MAKERS: dict[str, Callable[[Run], Any]] = {"average": _average, "vote": _vote, "random": random_pick, "last": last}
MODELS: dict[str, Any] = {"Single": SingleHypothesis, "ClassVote": ClassVote, "ClassAverage": ClassAverage}
"""By the names that files have for them."""
