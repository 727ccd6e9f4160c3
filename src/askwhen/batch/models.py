"""Combinations of the hypotheses of a run: one of them, their average, or a vote among all.

A vote stores what each update changed; where hypotheses are not vectors it stores the updates, and learns them again.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from ..compiled.steps import entry_point
from ..contracts.abilities import KernelLearner, provides
from ..contracts.kinds import Kinds
from ..contracts.learner import LARGEST_COUNT
from ..contracts.sampler import Parts
from ..contracts.views import Layout
from ..engine.batch_run import margins, seen_rows
from ..engine.engine import Engine
from ..engine.inputs.instance_checks import all_canonical, check_instances
from ..engine.state_arrays import copy_state
from ..errors import InputError, SnapshotError
from ..learners import AutoLasec, Mixture, Perceptron
from ..linalg.rows import DenseRows, Rows, SparseRows, example_rows, part_of, shape_of
from ..linalg.vectors import all_finite, all_within
from ..rules import Always
from ..sampler import Sampler
from ..snapshot import engine_state
from ..weights.expansion import HELD, Expansion
from ..weights.instance_store import DenseStore, SparseStore, Store
from ..weights.kernels import Kernel, Linear
from .change_log import kernel_rows
from .replay import Changes, Follower, HypothesisMean, Run, followed, rows_at, stacked

_MARGINS = 1 << 22  # largest number of margins, hypotheses times rows, in memory at once


class SingleHypothesis:
    """One hypothesis, or an average of them: a sampler that only predicts."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def margins(self, X: Any) -> np.ndarray:
        """The margins of the sampler."""
        return self.sampler.margins(X)

    def dump(self) -> engine_state.Content:
        """The whole model as a header and arrays."""
        return engine_state.dump(self.sampler.engine, [])

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        """Make it from what ``dump`` returned."""
        return cls(Sampler.of(engine_state.restore(header, arrays, kernel, given=[AveragedMixture])[0]))


def last(run: Run) -> SingleHypothesis:
    """The hypothesis after the last round."""
    for block in run.blocks():
        run.play(block)
    return SingleHypothesis(run.sampler)


def random_pick(run: Run) -> SingleHypothesis:
    """A hypothesis picked uniformly at random."""
    picked = None
    for block in run.blocks():
        n = len(block.labels)
        chances = 1.0 / np.arange(run.rounds + 1, run.rounds + n + 1)
        accepted = np.flatnonzero(run.rng.random(n) < chances)
        if len(accepted):  # the last of them is the pick so far
            at = int(accepted[-1])
            if at > 0:
                run.play(block.cut(0, at))
            picked = copy.deepcopy(run.sampler)
            block = block.cut(at, n)
        run.play(block)
    if picked is None or run.rng.random() < 1.0 / (run.rounds + 1):
        picked = run.sampler
    return SingleHypothesis(picked)


@dataclass(frozen=True)
class AveragedMixture:
    """Predicts with one vector over the views of ``Mixture``, of these kinds and this version."""

    kinds: Kinds | None = None
    version: int = 1

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def layout(self, d: int, sparse: bool) -> Layout | None:
        """The layout of the mixture."""
        return Mixture(kinds=self.kinds, version=self.version).layout(d, sparse)

    def start_views(self, layout: Layout) -> Any:
        """The state for rows of this layout."""
        return Perceptron().start(layout.width, False)

    def start(self, d: int, sparse: bool) -> Any:
        """The state for instances that are too wide for several views."""
        return Perceptron().start(d, sparse)


def _predictor(engine: Engine, w: Any, kernel: Any = None) -> Sampler:
    """A sampler that predicts with the weights w, or w(empty weights), and prepares instances as the engine does."""
    mixture = engine.parts.learner
    if isinstance(mixture, Mixture):
        learner: Any = AveragedMixture(mixture.kinds, mixture.version)
    else:
        learner = Perceptron(kernel=kernel)
    parts = Parts(learner, Always(), None, engine.parts.prepare, None)
    made = Engine(parts, engine.seed)
    made.begin("online_to_batch", "X", engine.shape.d, engine.shape.sparse)
    made.prepare = copy_state(engine.prepare)
    made.learner = made.learner._replace(w=w(made.learner.w) if callable(w) else w)
    return Sampler.of(made)


def _sum_of(X: Any, coef: np.ndarray) -> Callable[[Expansion], Expansion]:
    """A function that fills an empty expansion with these instances."""

    def fill(w: Expansion) -> Expansion:
        k, counts = len(coef), w.counts.copy()
        counts[HELD] = k
        store: Store = DenseStore(np.ascontiguousarray(X))
        squares = X.multiply(X).sum(axis=1) if sp.issparse(X) else (X * X).sum(axis=1)
        if sp.issparse(X):
            bounds = np.column_stack([X.indptr[:-1], X.indptr[1:]]).astype(np.int64)
            store = SparseStore(X.data, X.indices.astype(np.uint32), bounds, np.array([len(X.data)]))
        primal = np.asarray(X.T @ coef) if len(w.primal) else w.primal
        norms = np.asarray(squares, float).reshape(-1)
        return w._replace(
            store=store, norms=norms, slots=np.arange(k), coef=coef, row=np.zeros(k), primal=primal, counts=counts
        )

    return fill


def _average(run: Run) -> SingleHypothesis:
    mean, learner = HypothesisMean(), run.engine.parts.learner
    if isinstance(learner, Mixture) and learner.kinds is not None:
        raise InputError(
            "instances of several kinds have no averaged weights; take 'last', 'random' or 'vote'.",
            owner="online_to_batch",
        )
    learnt = followed(run, mean.take)
    mean.close(run.rounds + 1)
    w, kernel = mean.total / (run.rounds + 1), _kernel_of(run.engine)
    if not learnt.is_dual:
        return SingleHypothesis(_predictor(run.engine, w))
    X = learnt.matrix()
    if isinstance(kernel, Linear):
        return SingleHypothesis(_predictor(run.engine, np.asarray(X.T @ w)))
    return SingleHypothesis(_predictor(run.engine, _sum_of(X, w), kernel))


def _kernel_of(engine: Engine) -> Any:
    learner = engine.parts.learner
    return (learner.kernel if provides(learner, KernelLearner) else None) or Linear()


class _ChangeLogVote:
    """The majority of all hypotheses: their margins are running sums over the rows of changes."""

    def __init__(self, sampler: Sampler, rows: Any, whole: np.ndarray, lived: np.ndarray) -> None:
        self.sampler = sampler
        self._rows = rows
        self._whole = whole
        self._lived = lived

    def margins(self, X: Any) -> np.ndarray:
        engine = self.sampler.engine
        self.sampler.margins(X)  # raises for what no hypothesis could predict
        seen = seen_rows(engine.prepare, all_canonical("margins", check_instances("margins", X, engine.form)))
        n, k = shape_of(seen)[0], len(self._lived)
        size = max(1, _MARGINS // k)
        found = np.empty(n)
        with self.sampler.turn:  # all calls use the scratch arrays of one sum, so only one at a time
            for first in range(0, n, size):
                last = min(n, first + size)
                found[first:last] = self._votes(part_of(seen, first, last), last - first)
        return np.asarray(found / self._lived.sum())

    def _votes(self, seen: Rows, n: int) -> np.ndarray:
        w = self.sampler.engine.learner.w
        if isinstance(w, Expansion):
            columns = np.empty((n, int(w.counts[HELD])))
            step = entry_point(kernel_rows, w, example_rows(self.sampler.engine.sees_sparse), columns)
            step(w, seen, columns)
        else:
            columns = rows_at(seen, np.arange(n))
        changes = columns @ self._rows.T
        p = changes.toarray() if sp.issparse(changes) else np.asarray(changes)
        starts = np.flatnonzero(self._whole)
        if len(starts) < len(self._whole):
            for a, b in itertools.pairwise([*starts.tolist(), len(self._whole)]):
                np.cumsum(p[:, a:b], axis=1, out=p[:, a:b])
        return np.asarray(np.where(p > 0.0, 1.0, -1.0) @ self._lived)

    def dump(self) -> engine_state.Content:
        header, arrays = engine_state.dump(self.sampler.engine, [])
        sparse = sp.issparse(self._rows)
        own = {"whole": self._whole, "lived": self._lived}
        if sparse:
            own |= {"data": self._rows.data, "indices": self._rows.indices, "indptr": self._rows.indptr}
        else:
            own["rows"] = self._rows
        return header | {"columns": self._rows.shape[1]}, arrays | {f"vote.{name}": own[name] for name in own}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        engine = engine_state.restore(header, arrays, kernel, given=[AveragedMixture])[0]
        own = {name.removeprefix("vote."): array for name, array in arrays.items() if name.startswith("vote.")}
        rows, whole, lived = own.get("rows"), own["whole"], own["lived"]
        w = engine.learner.w
        shape = (len(lived), int(w.counts[HELD]) if isinstance(w, Expansion) else engine.dimension)
        if rows is None:
            check_arrays(own["indices"].dtype.kind == "i", own["indptr"].dtype.kind == "i")
            rows = sp.csr_matrix((own["data"], own["indices"], own["indptr"]), shape)
            rows.check_format(full_check=True)
        values: Any = rows.data if sp.issparse(rows) else rows
        check_arrays(
            rows.shape == shape and header["columns"] == shape[1],
            values.dtype == np.float64 and all_finite(values),
            whole.shape == lived.shape and whole.dtype == np.bool_ and whole[:1].all(),
            are_lives(lived),
        )
        return cls(Sampler.of(engine), rows, whole, lived)


def _vote(run: Run) -> _ChangeLogVote | _ReplayVote:
    if isinstance(run.engine.parts.learner, (AutoLasec, Mixture)):
        return _replay(run)
    found: list[Changes] = []
    learnt = followed(run, found.append)
    births = np.concatenate([changes.births for changes in found])
    whole = np.concatenate([changes.whole for changes in found])
    columns = found[-1].rows.shape[1]
    for changes in found:
        changes.rows.resize(changes.rows.shape[0], columns)
    rows = sp.vstack([changes.rows for changes in found], "csr")
    if rows.nnz == rows.shape[0] * columns:
        rows = rows.toarray()
    sampler = _predictor(run.engine, np.zeros(run.engine.dimension))
    if learnt.is_dual:
        sampler = _predictor(run.engine, _sum_of(learnt.matrix(), np.zeros(columns)), _kernel_of(run.engine))
    return _ChangeLogVote(sampler, rows, whole, np.diff(births, append=run.rounds + 1).astype(float))


class ReplayedHypotheses:
    """Hypotheses that are reconstructed in order, by learning all updates again in every call.

    ``sampler`` is that before the first round, with the preparation after the last; the events are the rounds with an
    update or a switch, as the learner saw them.
    """

    def __init__(self, sampler: Sampler, events: Rows, facts: dict[str, np.ndarray]) -> None:
        self.sampler = sampler
        self.events = events
        self.facts = facts

    def dump(self) -> engine_state.Content:
        """The whole model as a header and arrays."""
        header, arrays = engine_state.dump(self.sampler.engine, [])
        own = self.facts | {f"events.{name}": value for name, value in self.events._asdict().items() if name != "d"}
        return header, arrays | {f"vote.{name}": value for name, value in own.items()}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        """Make it from what ``dump`` returned."""
        engine = engine_state.restore(header, arrays, kernel, given=[AveragedMixture])[0]
        own = {name.removeprefix("vote.events."): array for name, array in arrays.items()}
        facts = {name: arrays[f"vote.{name}"] for name in FACTS}
        y, updated, switched, lived = (facts[name] for name in FACTS)
        n, values = len(y), own["data" if engine.sees_sparse else "X"]
        labels = [-1.0, 1.0] if engine.answers is None else np.arange(len(engine.places))
        check_arrays(
            values.dtype == np.float64 and all_finite(values),
            y.dtype == np.float64 and bool(np.isin(y, labels).all()),
            updated.dtype == switched.dtype == np.bool_,
            are_lives(lived),
            [fact.shape for fact in facts.values()] == [(n,), (n,), (n,), (n + 1,)],
        )
        events: Rows = DenseRows(values)
        if engine.sees_sparse:
            check_arrays(own["indices"].dtype == np.uint32, own["indptr"].dtype.kind == "i", own["indptr"].ndim == 1)
            check_arrays(values.ndim == 1, values.shape == own["indices"].shape)
            events = all_canonical("load", SparseRows(values, own["indices"], own["indptr"], engine.dimension))
        check_arrays(shape_of(events) == (n, engine.dimension))
        return cls(Sampler.of(engine), events, facts)


class _ReplayVote(ReplayedHypotheses):
    """The majority of hypotheses of two labels that cannot be written as vectors."""

    def margins(self, X: Any) -> np.ndarray:
        engine = copy.deepcopy(self.sampler).engine
        rows = check_instances("margins", X, engine.form)
        y, updated, switched, lived = (self.facts[name] for name in FACTS)
        follower = Follower(engine)
        found = lived[0] * np.where(margins(engine, rows) > 0.0, 1.0, -1.0)
        for e in range(len(y)):
            here = slice(e, e + 1)
            for _ in follower.follow(part_of(self.events, e, e + 1), y[here], updated[here], switched[here], e):
                pass
            if lived[e + 1] > 0.0:
                engine.learner = follower.learner
                found += lived[e + 1] * np.where(margins(engine, rows) > 0.0, 1.0, -1.0)
        return np.asarray(found / lived.sum())


FACTS = ("y", "updated", "switched", "lived")


def are_lives(lived: np.ndarray) -> bool:
    """Whether these numbers can be the rounds that each hypothesis was in use."""
    floats = lived.dtype == np.float64 and lived.ndim == 1
    return floats and all_within(lived, 0.0, LARGEST_COUNT) and bool(lived.sum() > 0.0)


def check_arrays(*sound: Any) -> None:
    """Raise for arrays from a file that no run could have written."""
    if not all(sound):
        raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")


def _replay(run: Run) -> _ReplayVote:
    return _ReplayVote(*replayed(run))


def replayed(run: Run) -> tuple[Sampler, Rows, dict[str, np.ndarray]]:
    """Play a run: the sampler before it, with the preparation after it, and the rounds with an update or a switch."""
    start, events, births = None, [], [np.zeros(1, np.int64)]
    facts: dict[str, list[np.ndarray]] = {name: [] for name in FACTS[:3]}
    for block in run.blocks():
        if start is None:
            start = copy.deepcopy(run.sampler)
        rows, trace = run.play(block)
        switched = trace.switched
        rounds = np.flatnonzero(trace.updated | switched)
        events.append(rows_at(rows, rounds))
        births.append(run.rounds - trace.rounds + 1 + rounds)
        for name, flags in zip(facts, (block.labels, trace.updated, switched), strict=True):
            facts[name].append(flags[rounds])
    assert start is not None
    start.engine.prepare = copy_state(run.engine.prepare)
    joined = {name: np.concatenate(found) for name, found in facts.items()}
    joined["lived"] = np.diff(np.concatenate(births), append=run.rounds + 1).astype(float)
    return start, check_instances("online_to_batch", stacked(events), run.engine.sees_sparse), joined


MAKERS: dict[str, Callable[[Run], Any]] = {"average": _average, "vote": _vote, "random": random_pick, "last": last}
MODELS: dict[str, Any] = {"_Single": SingleHypothesis, "_Vote": _ChangeLogVote, "_Replay": _ReplayVote}
"""By the names that files have for them."""
