"""From online to batch: one classifier out of all the hypotheses that a run went through.

"Batch learning via online prediction". f_1 .. f_n are the hypotheses before each round, f_n+1 the one after the
last; most of them are the same one, which survives until the next update.

==========  ==========================================================
random      f_T with T uniform on 1 .. n + 1 (Theorem 1: its expected error is the expected share of mistakes)
vote        the majority of all f_t; at most twice the error of the random pick
average     the mean of their weight vectors
last        f_n+1
==========  ==========================================================

T is drawn as the stream is read: f_t takes the place of the pick with probability 1/t. Votes and averages come from
the log of changes that :mod:`askwhen.hypotheses` writes.
"""

from __future__ import annotations

import copy
import itertools
import os
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from . import persistence, snapshot
from .compiling import entry_point
from .contracts import Parts
from .data.pieces import pieces_of
from .engine import Engine, example_rows, seen_rows
from .errors import InputError, SnapshotError
from .expansion import HELD, Expansion
from .following import Changes, Follower, Mean, Run, followed, stacked, taken
from .hypotheses import kernel_rows
from .kernels import Kernel, Linear
from .learners import AutoLasec, Perceptron
from .linalg import DenseRows, SparseRows
from .rules import Always
from .sampler import Sampler
from .states import copy_state
from .support import DenseStore, SparseStore, Store
from .validation import (
    Rows,
    all_canonical,
    check_choice,
    check_count,
    check_instances,
    check_labels,
    check_seed,
    part_of,
    shape_of,
    short,
)

_MARGINS = 1 << 22  # of all hypotheses on some rows at once


def online_to_batch(
    sampler: Sampler,
    X: Any,
    y: Any = None,
    how: str = "average",
    *,
    passes: int = 1,
    times: Any = None,
    seed: int | None = None,
) -> BatchClassifier:
    """Run a copy of the sampler over labelled instances and make one classifier of all its hypotheses.

    The sampler itself stays as it is. Labels are looked at as in ``run``: only those that its rule asks for are learnt.

    Parameters
    ----------
    sampler : Sampler
        A classifier, fresh or not: its hypothesis now is the first one.
    X, y : arrays, or a stream
        Instances and labels -1 and +1. Without y, X is an iterable of ``(X, y)`` chunks, or ``(X, y, times)``, which is
        read once and never held in memory.
    how : {"average", "vote", "random", "last"}, default "average"
        The mean of the weight vectors, the majority of the predictions, a hypothesis picked uniformly at random, or
        the last one. Memory beside the sampler's own: none that grows for "random" and "last"; a vector (in dual form
        every learnt instance with a number) for "average"; for "vote", with k updates, the changes of each of them:
        O(k nnz) for first-order learners, O(k d) or in dual form O(k^2) for second-order ones.
    passes : int, default 1
        How often the instances are gone through; from the second time on in a new random order (of the rows of each
        chunk, for a stream).
    times : array, optional
        When each instance came, for a rule that allows for labels by time.
    seed : int, optional
        Seeds the pick and the order of further passes; by default the sampler's own seed.

    Returns
    -------
    BatchClassifier
        With ``predict``, ``decision_function``, ``save`` and ``load``.

    Notes
    -----
    A ``Prepare`` that standardises moves in every round. Votes and averages are taken over the learner's hypotheses
    with the preparation as it is at the end; "random" keeps the one that its round had.

    ``AutoLasec`` predicts with a quadratic form for each drift level, so its hypotheses are no vectors: the average is
    that of ``sampler.weights`` (in dual form of its coefficients), and a vote learns all updates again for every call
    of ``predict``, O(k d^2) for each instance.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((2000, 5))
    >>> y = np.where(X[:, 0] + 0.5 * X[:, 1] > 0, 1, -1)
    >>> sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7)
    >>> model = aw.online_to_batch(sampler, X[:1000], y[:1000], "vote")
    >>> bool((model.predict(X[1000:]) == y[1000:]).mean() > 0.95)
    True
    """
    if not isinstance(sampler, Sampler):
        raise InputError(f"online_to_batch: sampler must be a Sampler, got {type(sampler).__name__}.")
    check_choice("online_to_batch", "how", how, tuple(_MAKERS))
    check_count("online_to_batch", "passes", passes)
    check_seed("online_to_batch", seed)
    if sampler.tasks:
        raise InputError("online_to_batch: this sampler has tasks; give one of sampler.tasks.")
    if sampler.learner.regression:
        raise InputError(f"online_to_batch: needs a classifier, got the regressor {short(sampler.learner)}.")
    sampler = copy.deepcopy(sampler)
    engine = sampler._engine
    if passes > 1 and engine.needs_time:
        raise InputError(f"online_to_batch: passes must be 1, since {short(sampler.rule)} allows for labels by time.")
    seed = engine.seed if seed is None else seed
    order, pick = np.random.SeedSequence(seed).spawn(2)
    run = Run(sampler, pieces_of("online_to_batch", X, y, times, int(passes), order), np.random.default_rng(pick))
    return BatchClassifier(_MAKERS[how](run), how, run)


class BatchClassifier:
    """A classifier out of all the hypotheses of a run, as scikit-learn expects a fitted one.

    It is never trained again: ``fit`` and ``clone`` give itself, so that cross-validation would only predict.

    Attributes
    ----------
    how : str
        "average", "vote", "random" or "last".
    rounds, questions, updates, mistakes : int
        What the run took: over all passes.
    hypotheses : int
        How many different ones it went through.
    classes_ : array
        -1 and +1.
    """

    def __init__(self, model: Any, how: str, run: Any) -> None:
        self.how = how
        self.rounds, self.questions, self.updates, self.mistakes = (int(count) for count in run.counts)
        self.hypotheses = int(run.hypotheses)
        self.classes_ = np.array([-1, 1])
        self.n_features_in_ = int(model.sampler._engine.shape.d)
        self._model = model

    def __repr__(self) -> str:
        return f"<BatchClassifier: {self.how} of {self.hypotheses} hypotheses from {self.rounds} rounds>"

    def decision_function(self, X: Any) -> np.ndarray:
        """Positive for +1: w.x of an average, the margin of one hypothesis, or the share of votes for +1 less the rest.

        The margin of a second-order hypothesis is w.x / (1 + q), so thresholds do not carry over to its averages.
        """
        return self._model.margins(X)  # type: ignore[no-any-return]

    def predict(self, X: Any) -> np.ndarray:
        """The labels, -1 or +1; a tied vote is -1, as a margin of 0 is."""
        return np.where(self.decision_function(X) > 0.0, 1, -1)

    def score(self, X: Any, y: Any) -> float:
        """The share of these instances that are predicted right."""
        found = self.predict(X)
        return float(np.mean(found == check_labels("score", y, len(found), False)))

    def fit(self, X: Any = None, y: Any = None) -> Self:
        """Itself: it is fitted already, and scikit-learn's tools may not train it again."""
        return self

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def __sklearn_clone__(self) -> Self:
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, InputTags, Tags, TargetTags

        tags = Tags("classifier", TargetTags(required=True), input_tags=InputTags(sparse=True))
        tags.classifier_tags = ClassifierTags(multi_class=False)
        return tags

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """None: what it is made of is not to be changed."""
        return {}

    def set_params(self, **params: Any) -> Self:
        """Itself, without parameters; there are none to set."""
        if params:
            raise InputError(f"set_params: a batch classifier has no parameters, got {', '.join(params)}.")
        return self

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file. A crash leaves the old file whole."""
        header, arrays = self._model.dump()
        counts = [self.rounds, self.questions, self.updates, self.mistakes]
        about = {"kind": type(self._model).__name__, "how": self.how, "counts": counts, "hypotheses": self.hypotheses}
        snapshot.write(path, {"batch": about, "model": header}, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None) -> BatchClassifier:
        """What ``save`` wrote; a learner with a ``Kernel`` of the user's own needs the same one again here."""
        header, arrays = snapshot.read(path)
        try:
            about = header["batch"]
            model = _MODELS[about["kind"]].restore(header["model"], arrays, kernel)
            return cls(model, about["how"], _Counts(about["counts"], about["hypotheses"]))
        except SnapshotError:
            raise
        except (KeyError, IndexError, TypeError, ValueError) as error:
            raise SnapshotError("load: the file holds no batch classifier that this version can read.") from error


class _Counts:
    """What a file says of the run."""

    def __init__(self, counts: list[int], hypotheses: int) -> None:
        self.counts = counts
        self.hypotheses = hypotheses


class _Single:
    """One hypothesis, or an average of them: a sampler that only predicts."""

    def __init__(self, sampler: Sampler) -> None:
        self.sampler = sampler

    def margins(self, X: Any) -> np.ndarray:
        return self.sampler.margins(X)

    def dump(self) -> persistence.Content:
        return persistence.dump(self.sampler._engine, [])

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        return cls(_sampler_of(persistence.restore(header, arrays, kernel)[0]))


def _last(run: Run) -> _Single:
    for part in run.parts():
        run.play(part)
    return _Single(run.sampler)


def _random(run: Run) -> _Single:
    picked = None
    for part in run.parts():
        n = len(part.labels)
        chances = 1.0 / np.arange(run.rounds + 1, run.rounds + n + 1)
        accepted = np.flatnonzero(run.rng.random(n) < chances)
        if len(accepted):  # the last of them is what stays
            at = int(accepted[-1])
            if at > 0:
                run.play(part.cut(0, at))
            picked = copy.deepcopy(run.sampler)
            part = part.cut(at, n)
        run.play(part)
    if picked is None or run.rng.random() < 1.0 / (run.rounds + 1):
        picked = run.sampler
    return _Single(picked)


def _predictor(engine: Engine, w: Any, kernel: Any = None) -> Sampler:
    """A sampler that predicts with these weights and prepares as the engine does; w has made its kept instances."""
    parts = Parts(Perceptron(kernel=kernel), Always(), None, engine.parts.prepare, None)
    made = Engine(parts, engine.seed)
    made.begin("online_to_batch", "X", engine.shape.d, engine.shape.sparse)
    made.prepare = copy_state(engine.prepare)
    made.learner = made.learner._replace(w=w(made.learner.w) if callable(w) else w)
    return _sampler_of(made)


def _sampler_of(engine: Engine) -> Sampler:
    sampler = Sampler.__new__(Sampler)
    sampler._own(engine)
    return sampler


def _sum_of(X: Any, coef: np.ndarray) -> Callable[[Expansion], Expansion]:
    """Fills an empty expansion with these instances."""

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


def _average(run: Run) -> _Single:
    mean = Mean()
    kept = followed(run, mean.take)
    mean.close(run.rounds + 1)
    w, kernel = mean.total / (run.rounds + 1), _kernel_of(run.engine)
    if not kept.is_dual:
        return _Single(_predictor(run.engine, w))
    X = kept.matrix()
    if isinstance(kernel, Linear):
        return _Single(_predictor(run.engine, np.asarray(X.T @ w)))
    return _Single(_predictor(run.engine, _sum_of(X, w), kernel))


def _kernel_of(engine: Engine) -> Any:
    return getattr(engine.parts.learner, "kernel", None) or Linear()


class _Vote:
    """The majority of all hypotheses: their margins are running sums over the rows of changes."""

    def __init__(self, sampler: Sampler, rows: Any, whole: np.ndarray, lived: np.ndarray) -> None:
        self.sampler = sampler
        self._rows = rows
        self._whole = whole
        self._lived = lived

    def margins(self, X: Any) -> np.ndarray:
        engine = self.sampler._engine
        self.sampler.margins(X)  # refuses what no hypothesis could predict
        seen = seen_rows(engine.prepare, all_canonical("margins", check_instances("margins", X, engine.form)))
        n, k = shape_of(seen)[0], len(self._lived)
        size = max(1, _MARGINS // k)
        found = np.empty(n)
        with self.sampler._lock:  # both predict in the scratch arrays of one sum
            for first in range(0, n, size):
                last = min(n, first + size)
                found[first:last] = self._votes(part_of(seen, first, last), last - first)
        return np.asarray(found / self._lived.sum())

    def _votes(self, seen: Rows, n: int) -> np.ndarray:
        w = self.sampler._engine.learner.w
        if isinstance(w, Expansion):
            columns = np.empty((n, int(w.counts[HELD])))
            step = entry_point(kernel_rows, w, example_rows(self.sampler._engine.shape.sparse), columns)
            step(w, seen, columns)
        else:
            columns = taken(seen, np.arange(n))
        changes = columns @ self._rows.T
        p = changes.toarray() if sp.issparse(changes) else np.asarray(changes)
        starts = np.flatnonzero(self._whole)
        if len(starts) < len(self._whole):
            for a, b in itertools.pairwise([*starts.tolist(), len(self._whole)]):
                np.cumsum(p[:, a:b], axis=1, out=p[:, a:b])
        return np.asarray(np.where(p > 0.0, 1.0, -1.0) @ self._lived)

    def dump(self) -> persistence.Content:
        header, arrays = persistence.dump(self.sampler._engine, [])
        sparse = sp.issparse(self._rows)
        own = {"whole": self._whole, "lived": self._lived}
        if sparse:
            own |= {"data": self._rows.data, "indices": self._rows.indices, "indptr": self._rows.indptr}
        else:
            own["rows"] = self._rows
        return header | {"columns": self._rows.shape[1]}, arrays | {f"vote.{name}": own[name] for name in own}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        own = {name.removeprefix("vote."): array for name, array in arrays.items() if name.startswith("vote.")}
        rows = own.get("rows")
        if rows is None:
            shape = (len(own["lived"]), header["columns"])
            rows = sp.csr_matrix((own["data"], own["indices"], own["indptr"]), shape)
            rows.check_format(full_check=True)
        if rows.shape != (len(own["lived"]), header["columns"]) or own["whole"].shape != own["lived"].shape:
            raise SnapshotError("load: the snapshot's arrays contradict each other.")
        return cls(_sampler_of(persistence.restore(header, arrays, kernel)[0]), rows, own["whole"], own["lived"])


def _vote(run: Run) -> _Vote | _Replay:
    if isinstance(run.engine.parts.learner, AutoLasec):
        return _replay(run)
    found: list[Changes] = []
    kept = followed(run, found.append)
    births = np.concatenate([changes.births for changes in found])
    whole = np.concatenate([changes.whole for changes in found])
    columns = found[-1].rows.shape[1]
    for changes in found:
        changes.rows.resize(changes.rows.shape[0], columns)
    rows = sp.vstack([changes.rows for changes in found], "csr")
    if rows.nnz == rows.shape[0] * columns:
        rows = rows.toarray()
    sampler = _predictor(run.engine, np.zeros(run.engine.dimension))
    if kept.is_dual:
        sampler = _predictor(run.engine, _sum_of(kept.matrix(), np.zeros(columns)), _kernel_of(run.engine))
    return _Vote(sampler, rows, whole, np.diff(births, append=run.rounds + 1).astype(float))


class _Replay:
    """The majority of hypotheses that are no vectors: all updates are learnt again for every call.

    ``sampler`` is as it was before the first round, but for its preparation; the events are the rounds that updated or
    switched, as the learner saw them.
    """

    def __init__(self, sampler: Sampler, events: Rows, facts: dict[str, np.ndarray]) -> None:
        self.sampler = sampler
        self._events = events
        self._facts = facts

    def margins(self, X: Any) -> np.ndarray:
        engine = copy.deepcopy(self.sampler)._engine
        rows = check_instances("margins", X, engine.form)
        y, updated, switched, lived = (self._facts[name] for name in _FACTS)
        follower = Follower(engine)
        found = lived[0] * np.where(engine.margins(rows) > 0.0, 1.0, -1.0)
        for e in range(len(y)):
            here = slice(e, e + 1)
            for _ in follower.follow(part_of(self._events, e, e + 1), y[here], updated[here], switched[here], e):
                pass
            if lived[e + 1] > 0.0:
                engine.learner = follower.learner
                found += lived[e + 1] * np.where(engine.margins(rows) > 0.0, 1.0, -1.0)
        return np.asarray(found / lived.sum())

    def dump(self) -> persistence.Content:
        header, arrays = persistence.dump(self.sampler._engine, [])
        own = self._facts | {f"events.{name}": value for name, value in self._events._asdict().items() if name != "d"}
        return header, arrays | {f"vote.{name}": value for name, value in own.items()}

    @classmethod
    def restore(cls, header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Self:
        engine = persistence.restore(header, arrays, kernel)[0]
        own = {name.removeprefix("vote.events."): array for name, array in arrays.items()}
        facts = {name: arrays[f"vote.{name}"] for name in _FACTS}
        n = len(facts["y"])
        events: Rows = DenseRows(own.get("X"))
        if engine.shape.sparse:
            parts = SparseRows(own["data"], own["indices"], own["indptr"], engine.dimension)
            events = all_canonical("load", parts)
        lengths = [len(facts[name]) for name in _FACTS]
        if shape_of(events) != (n, engine.dimension) or lengths != [n, n, n, n + 1]:
            raise SnapshotError("load: the snapshot's arrays contradict each other.")
        return cls(_sampler_of(engine), events, facts)


_FACTS = ("y", "updated", "switched", "lived")


def _replay(run: Run) -> _Replay:
    start, events, births = None, [], [np.zeros(1, np.int64)]
    facts: dict[str, list[np.ndarray]] = {name: [] for name in _FACTS[:3]}
    for part in run.parts():
        if start is None:
            start = copy.deepcopy(run.sampler)
        rows, trace = run.play(part)
        switched = trace.switched
        rounds = np.flatnonzero(trace.updated | switched)
        events.append(taken(rows, rounds))
        births.append(run.rounds - trace.rounds + 1 + rounds)
        for name, flags in zip(facts, (part.labels, trace.updated, switched), strict=True):
            facts[name].append(flags[rounds])
    assert start is not None
    start._engine.prepare = copy_state(run.engine.prepare)
    joined = {name: np.concatenate(found) for name, found in facts.items()}
    joined["lived"] = np.diff(np.concatenate(births), append=run.rounds + 1).astype(float)
    return _Replay(start, check_instances("online_to_batch", stacked(events), run.engine.shape.sparse), joined)


_MAKERS: dict[str, Callable[[Run], Any]] = {"average": _average, "vote": _vote, "random": _random, "last": _last}
_MODELS: dict[str, Any] = {model.__name__: model for model in (_Single, _Vote, _Replay)}
