"""Progressive validation: predict each row before learning its label, and count the mistakes, over any stream.

"Batch learning via online prediction", section 3. Since every prediction is made before its label is learnt, the
mistakes of a run bound the error of its hypotheses without a held-out set: see
:func:`askwhen.evaluate.bounds.progressive_validation`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..contracts.abilities import CalledAdviser, LearningAdviser, provides
from ..data.stream_pieces import Piece, pieces_of
from ..engine.inputs.argument_checks import dimensions_of, one_column
from ..engine.inputs.instance_checks import check_instances
from ..engine.inputs.two_labels import NO_PAIR, check_numbers, signs_of
from ..errors import InputError
from ..linalg.rows import DenseRows, shape_of
from ..sampler import Sampler
from ..trace.trace import Trace
from ..validation import check_count, check_flag, check_number
from . import bounds
from .comparison.baselines import EVERYTHING, ClassBaselines, LabelNumbering, TaskBaselines, fully_labelled, labels_of
from .comparison.label_order import LabelOrder
from .comparison.model_rows import HeldRows
from .comparison.refitted_runs import check_can_have_baselines, with_refitted
from .estimation.accuracy import RECENT, Accuracy, AccuracyCollector, Curve, accuracy
from .estimation.advisers import AdviserAccuracy, advisers
from .estimation.promise_history import PromiseRecorder
from .estimation.said_right import SaidRight, said_right
from .progress import AdviserProgress, Progress

_HOLDOUT = "progressive, holdout"


def progressive(
    sampler: Sampler,
    X: Any,
    y: Any = None,
    *,
    times: Any = None,
    window: int = 1000,
    delta: float = 0.05,
    holdout: Any = None,
    margins: bool = True,
    watch: Callable[[Any], None] | None = None,
    before: Trace | None = None,
    everything: bool = False,
    baselines: bool = False,
) -> Progress:
    """Run the sampler over a labelled stream and report its results, window by window.

    This is a simulation: all labels are known and every mistake is counted, while the sampler learns only from the
    labels it asks for. ``estimate`` and ``curve`` use only the asked labels, which is what you would know live, so that
    the estimate can be compared with the truth.

    Parameters
    ----------
    sampler : Sampler
        The sampler to run. It continues from its current state; rounds are counted from the beginning of this stream.
    X, y : arrays, or a stream
        Instances and labels; a matrix of labels for several tasks; classes, where the sampler has them. Without y, X is
        an iterable of ``(X, y)`` chunks, or ``(X, y, times)`` or ``(X, y, times, advice)``, which is read once and
        never held in memory. If a chunk is invalid, the earlier ones have been played.
    times : array, optional
        Time of each instance, for a rule with a budget per period of time.
    window : int, default 1000
        Number of rounds in a window; the last window may have fewer.
    delta : float, default 0.05
        Probability that a bound fails.
    holdout : (X, y), optional
        Labelled instances that are only predicted, after the last round.
    margins : bool, default True
        As in ``run``: False is faster, but widens the intervals of ``estimate``, since some probabilities are unknown.
    watch : callable, optional
        Called with the trace of every chunk, or with a list of traces for several tasks.
    before : Trace, optional
        Trace of the same classifier's rounds just before this stream, to be counted too.
    everything : bool, default False
        Whether to run the same learner over the stream a second time, given every label, for the baseline "all
        labels". The sampler must not have played a round.
    baselines : bool, default False
        Whether to play what one would have done otherwise, as ``refitted``: logistic regression and gradient boosting
        (of scikit-learn; ridge regression for numbers), refitted whenever their labels have grown by about 15 %, with
        as many labels as the sampler has asked for, at random and by margin. The rows are then held in memory.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((5000, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> progress = aw.evaluate.progressive(aw.Sampler(seed=7), X, y, window=500)
    >>> progress.windows.accuracy[0] < progress.windows.accuracy[-1]
    np.True_
    >>> progress.error < progress.error_bound
    True
    >>> progress.baselines["majority so far"] < 0.6 < 1 - progress.error
    True
    """
    # The parameters are public.
    if not isinstance(sampler, Sampler):
        raise InputError(f"sampler must be a Sampler, got {type(sampler).__name__}.", owner="progressive")
    check_count("progressive", "window", window)
    check_number("progressive", "delta", delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    regression, classes = bool(sampler.learner.regression), None
    if sampler.engine.classes is not None:
        classes = LabelNumbering(sampler.engine.classes)
    if classes is not None and (holdout is not None or before is not None):
        raise InputError("holdout and before are for two labels or numbers.", owner="progressive")
    held = None if holdout is None else _checked_holdout(holdout, sampler)
    check_flag("progressive", "everything", everything)
    check_flag("progressive", "baselines", baselines)
    if baselines:
        check_can_have_baselines("progressive", sampler)
    held_rows = HeldRows() if baselines else None
    other = fully_labelled("progressive", sampler) if everything else None
    found = _ProgressCounter(int(window), regression, classes)
    recorder = PromiseRecorder.of(sampler)
    if before is not None:
        if regression or before.start + before.rounds != sampler.round:
            raise InputError(
                "before must be the trace of a classifier's rounds just before this stream.", owner="progressive"
            )
        found.add([before], labels_of(before)[:, None], several=False)
    for given in pieces_of("progressive", X, y, times):
        piece = given._replace(y=one_column(given.y))
        if held is not None:
            _check_fits(held, piece)
        with piece.named():  # the fully labelled sampler first: if it raises, the sampler is unchanged
            several = bool(sampler.tasks) or dimensions_of("run", piece.y) == 2
            if held_rows is not None:
                if several:
                    raise InputError("baselines are for one task, and y has several columns.", owner="progressive")
                held_rows.add(piece.X, piece.y)
            baseline = _played(other, _plain(piece), several, margins=False) if other is not None else []
            traces = _played(sampler, piece, several, margins)
            if piece.advice:
                said = said_right("progressive", sampler.engine, piece.advice | traces[0].advice, piece.y)
                found.note_advisers(said, traces[0].rounds)
        labels = _labels(traces, piece, classes, regression)
        found.add(traces, labels, several=several, baseline=baseline)
        if recorder is not None and not several:
            recorder.add(traces[0], piece.y)
        if watch is not None:
            watch(traces if several else traces[0])
    progress = found.progress(float(delta), *_held_out(sampler, held, float(delta)))
    if found.advisers:
        known = advisers(sampler, confidence=1.0 - float(delta))
        progress = replace(progress, advisers=found.advisers_in(known, len(progress.rounds)))
    if recorder is not None and not progress.several:
        progress = replace(progress, promise=recorder.history())
    if held_rows is not None:
        progress = with_refitted("progressive", progress, sampler, *held_rows.all())
    if (
        classes is None or int(progress.rounds[-1]) != sampler.round
    ):  # per-class estimates cover the whole life of the sampler
        return progress
    all_time = accuracy(sampler, confidence=1.0 - float(delta))
    estimate = replace(progress.estimate, classes=all_time.classes, confusion=all_time.confusion)
    return replace(progress, estimate=estimate)


def _labels(traces: list[Trace], piece: Piece, classes: LabelNumbering | None, regression: bool) -> np.ndarray:
    """The labels of a piece, a column for each task: -1 and +1, numbers, or the numbers of classes."""
    if classes is None and not regression:
        return np.column_stack([labels_of(trace) for trace in traces])
    labels = np.asarray(piece.y if classes is None else classes.numbers(piece.y), float)
    return labels.reshape(traces[0].rounds, len(traces))


def _played(sampler: Sampler, piece: Piece, several: bool, margins: bool) -> list[Trace]:
    if several:
        return sampler.run_tasks(piece.X, piece.y, piece.times, margins=margins)
    advice = None if sampler.engine.advisers is None else piece.advice
    return [sampler.run(piece.X, piece.y, piece.times, margins=margins, advice=advice)]


def _plain(piece: Piece) -> Piece:
    """A piece without advisers that learn or are called: those advise one sampler only."""
    if not piece.advice:
        return piece
    objects = (LearningAdviser, CalledAdviser)
    said = {name: each for name, each in piece.advice.items() if not any(provides(each, kind) for kind in objects)}
    return piece._replace(advice=said)


class _ProgressCounter:
    """Counts by window, updated chunk by chunk."""

    def __init__(self, window: int, regression: bool, classes: LabelNumbering | None = None) -> None:
        self._window = window
        self._classes = classes
        self._confusion = np.zeros((0, 0), np.int64)
        self._unpredicted = np.zeros(0, np.int64)
        self._spread = _RunningVariance()
        self._costs: tuple[float, float] | None = None
        self._regression = regression
        self._several = False
        self._done = 0
        self._counts: list[np.ndarray] = []
        self._simple: list[TaskBaselines | ClassBaselines] = []
        self._baselines: dict[str, list[np.ndarray]] = {}
        self._order = LabelOrder()
        self._rounds: list[int] = []
        self._collected: list[AccuracyCollector] = []
        self._switches: list[list[int]] = []
        self._begins: int | None = None
        self.advisers: dict[str, list[np.ndarray]] = {}

    def note_advisers(self, said: Mapping[str, SaidRight], n: int) -> None:
        """Count the next rounds of advisers by window, before ``add`` counts those of the sampler."""
        window = (self._done + np.arange(n)) // self._window
        for name, (spoke, right) in said.items():
            counts = self.advisers.setdefault(name, [])
            first, last = int(window[0]), int(window[-1])
            counts.extend(np.zeros(2, np.int64) for _ in range(last + 1 - len(counts)))
            for at in range(first, last + 1):
                here = window == at
                counts[at] += np.array([(spoke & here).sum(), (spoke & right & here).sum()])

    def advisers_in(self, known: Mapping[str, AdviserAccuracy], windows: int) -> list[AdviserProgress]:
        """The advisers that were counted, in the order of what is known of them."""
        found = []
        for name in (each for each in known if each in self.advisers):
            counts = np.zeros((windows, 2), np.int64)
            counts[: len(self.advisers[name])] = self.advisers[name]
            found.append(AdviserProgress(name, counts[:, 0], counts[:, 1], known[name]))
        return found

    def add(self, traces: list[Trace], labels: np.ndarray, several: bool, baseline: Sequence[Trace] = ()) -> None:
        """Add the next rounds of each task and their labels, with the same rounds of the fully labelled sampler."""
        if self._begins is None:
            self._begins, self._several = traces[0].start, several
            several_classes = self._classes is not None
            self._simple = [ClassBaselines() if several_classes else TaskBaselines(self._regression) for _ in traces]
            self._collected = [AccuracyCollector() for _ in traces]
            self._switches = [[] for _ in traces]
        for found, trace in zip(self._switches, traces, strict=True):
            found.extend((trace.switches - self._begins).tolist())
        if self._classes is not None:
            self._add_confusion(self._classes, traces[0].prediction, labels[:, 0].astype(int))
        if self._regression:
            self._spread.add(labels)
        self._costs = traces[0].costs
        scores = self._scores(traces, labels, baseline)
        if not self._regression:
            self._order.add(labels)
        n, first = traces[0].rounds, 0
        while first < n:
            last = min(n, first + self._window - self._done % self._window)
            if self._done % self._window == 0:
                self._open(len(traces), list(scores))
            for j, trace in enumerate(traces):
                self._counts[-1][j] += _window_counts(trace, labels[first:last, j], first, last, self._regression)
                if not self._regression:
                    self._collected[j].add(trace, first, last)
            for name, values in scores.items():
                self._baselines[name][-1] += values[first:last].sum(axis=0)
            self._done += last - first
            self._rounds[-1] = self._done
            first = last
            if self._done % self._window == 0:
                self._close()

    def _add_confusion(self, classes: LabelNumbering, prediction: np.ndarray, given: np.ndarray) -> None:
        """Count these labels by predicted class, and those for which no class could be predicted yet."""
        predicted, k = classes.numbers(prediction), len(classes.labels)
        known = predicted >= 0
        self._confusion = np.pad(self._confusion, (0, k - len(self._confusion)))
        np.add.at(self._confusion, (given[known], predicted[known]), 1)
        self._unpredicted = np.pad(self._unpredicted, (0, k - len(self._unpredicted)))
        np.add.at(self._unpredicted, given[~known], 1)

    def _scores(self, traces: list[Trace], labels: np.ndarray, baseline: Sequence[Trace]) -> dict[str, np.ndarray]:
        """Score of each baseline: a row for each round, a column for each task."""
        simple = [
            rules.scores(y, trace.queried) for rules, y, trace in zip(self._simple, labels.T, traces, strict=True)
        ]
        found = {name: np.column_stack([scores[name] for scores in simple]) for name in simple[0]}
        if baseline:
            if self._regression:
                each = [(trace.prediction - y) ** 2 for trace, y in zip(baseline, labels.T, strict=True)]
            else:
                each = [~trace.mistaken for trace in baseline]
            found[EVERYTHING] = np.column_stack(each)
        return found

    def _open(self, tasks: int, baselines: list[str]) -> None:
        self._counts.append(np.zeros((tasks, 7)))
        self._rounds.append(0)
        for name in baselines:
            self._baselines.setdefault(name, []).append(np.zeros(tasks))

    def _close(self) -> None:
        if not self._regression:
            for collected in self._collected:
                collected.mark()

    def progress(self, delta: float, holdout_error: Any, holdout_bound: Any) -> Progress:
        if self._done % self._window:
            self._close()
        estimates: list[Accuracy] = []
        curves: list[Curve] = []
        if not self._regression:
            estimates = [collected.report(delta, RECENT) for collected in self._collected]
            curves = [collected.curve(delta) for collected in self._collected]
        return Progress(
            rounds=np.array(self._rounds),
            counts=np.array(self._counts),
            switches=self._switches if self._several else self._switches[0],
            estimate=None if self._regression else estimates if self._several else estimates[0],
            curve=None if self._regression else curves if self._several else curves[0],
            delta=delta,
            several=self._several,
            holdout_error=holdout_error,
            holdout_bound=holdout_bound,
            baseline_counts={name: np.array(counts) for name, counts in self._baselines.items()},
            order_warning=None if self._regression else self._order.warning(),
            classes=None if self._classes is None else self._classes.labels,
            confusion=None if self._classes is None else self._confusion,
            unpredicted=None if self._classes is None else self._unpredicted,
            costs=None if self._several else self._costs,
            label_variance=self._spread.variance(self._several) if self._regression else None,
        )


class _RunningVariance:
    """Variance of the labels of each task, updated chunk by chunk.

    Chunks are merged by their means (Chan, Golub, LeVeque 1979), since a difference of sums of squares would lose
    digits where the mean is large.
    """

    def __init__(self) -> None:
        self._n = 0
        self._mean: np.ndarray | float = 0.0
        self._squares: np.ndarray | float = 0.0

    def add(self, labels: np.ndarray) -> None:
        """Add labels, a column for each task."""
        n, mean = len(labels), labels.mean(axis=0)
        together, gap = self._n + n, mean - self._mean
        self._squares = self._squares + ((labels - mean) ** 2).sum(axis=0) + gap**2 * self._n * n / together
        self._mean, self._n = self._mean + gap * n / together, together

    def variance(self, several: bool) -> np.ndarray | float:
        """Mean squared distance from the mean, of each task or of the only one."""
        found = np.atleast_1d(self._squares / self._n)
        return found if several else float(found[0])


def _window_counts(trace: Trace, y: np.ndarray, first: int, last: int, regression: bool) -> np.ndarray:
    here = slice(first, last)
    asked, updated = np.count_nonzero(trace.queried[here]), np.count_nonzero(trace.updated[here])
    if regression:
        return np.array([0, 0, 0, 0, asked, updated, ((trace.prediction[here] - y) ** 2).sum()])
    mistaken = trace.mistaken[here]
    positive = np.zeros(len(mistaken), np.bool_) if trace.several else trace.signs[here] > 0
    tp, fp = np.count_nonzero(positive & ~mistaken), np.count_nonzero(positive & mistaken)
    fn, tn = np.count_nonzero(~positive & mistaken), np.count_nonzero(~positive & ~mistaken)
    return np.array([tp, fp, fn, tn, asked, updated, 0.0])


def _checked_holdout(holdout: Any, sampler: Sampler) -> tuple[Any, np.ndarray]:
    if not isinstance(holdout, (tuple, list)) or len(holdout) != 2:
        raise InputError(f"holdout must be a pair (X, y), got {type(holdout).__name__}.", owner="progressive")
    rows = check_instances(_HOLDOUT, holdout[0])
    values = rows.X if isinstance(rows, DenseRows) else rows.data
    if not np.isfinite(values).all():
        raise InputError("X must hold finite numbers only.", owner=_HOLDOUT)
    y = np.asarray(one_column(holdout[1]))
    _held_labels(sampler, y, shape_of(rows)[0])
    return holdout[0], y


def _held_labels(sampler: Sampler, y: np.ndarray, n: int) -> np.ndarray:
    """Held-out labels as the engine has them: -1 and +1, or numbers."""
    columns, samplers = y.T if y.ndim == 2 else [y], sampler.tasks or [sampler]
    if sampler.learner.regression:
        found = [check_numbers(_HOLDOUT, column, n) for column in columns]
    else:
        pairs = [each.engine.pair for each in samplers] if len(samplers) == len(columns) else [NO_PAIR] * len(columns)
        found = [signs_of(_HOLDOUT, column, n, pair)[0] for column, pair in zip(columns, pairs, strict=True)]
    return np.column_stack(found) if y.ndim == 2 else found[0]


def _check_fits(holdout: tuple[Any, np.ndarray], piece: Piece) -> None:
    """Raise if held-out instances have other columns than the stream, before any of it is played."""
    for name, held, played in (
        ("X", np.shape(holdout[0]), np.shape(piece.X)),
        ("y", holdout[1].shape, np.shape(piece.y)),
    ):
        if held[1:] != played[1:]:
            shapes = f"columns as the stream, {played[1:]}, got {held[1:]}"
            raise InputError(f"{name} must have the same {shapes}.", owner=_HOLDOUT)


def _held_out(sampler: Sampler, holdout: tuple[Any, np.ndarray] | None, delta: float) -> tuple[Any, Any]:
    """Error of the last hypothesis on held-out instances, and an upper bound on its expected error."""
    if holdout is None:
        return None, None
    X, y = holdout[0], _held_labels(sampler, holdout[1], len(holdout[1]))
    found = np.column_stack([task.margins(X) for task in sampler.tasks]) if y.ndim == 2 else sampler.margins(X)
    if sampler.learner.regression:
        return ((found - y) ** 2).mean(axis=0), None
    mistakes = np.count_nonzero(np.where(found > 0.0, 1, -1) != y, axis=0)
    return mistakes / len(y), bounds.hold_out(mistakes, len(y), delta)
