"""Estimates of the accuracy over all rounds, from the labels that were asked for.

Before the random draw of every round the probability of a mistake is predicted; where a label is given, the difference
from that prediction, weighted by 1/P, corrects it. The sum estimates the mistakes of all rounds, without bias if every
question is answered. Questions without an answer never count as right: answers of the same time stand for them, and the
intervals of :mod:`askwhen.evaluate.estimation.confidence` take them for right and for wrong. The intervals hold at any
time, however often you look.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...contracts.sampler import Counting
from ...engine.engine import Waiting
from ...engine.tally.error_model import log_cost_of
from ...engine.tally.label_tally import LabelTally
from ...engine.tally.many_rounds import note_rounds
from ...engine.tally.round_tally import WINDOWS, Tally, new_tally
from ...errors import InputError
from ...trace.trace import Trace
from ...validation import check_count, check_number
from . import sentences
from .by_class import ClassAccuracy, by_class, by_label_of, taken_for
from .by_kind import by_kind
from .estimate import Cost, Estimate, estimated, why_unknown
from .sample_size import Needed, needed_labels
from .tally_views import TallyView, as_if_answered, sides_of, window_of

RECENT = 5_000
"""Default number of last rounds for the recent accuracy."""

_LARGEST_WINDOW = 600_000
_POINTS = (0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001)


@dataclass(frozen=True)
class Accuracy:
    """Estimated accuracy of a sampler or a trace.

    Attributes
    ----------
    overall, recent : Estimate
        The accuracy over all rounds, and over the last ones.
    windows : dict of int to Estimate
        The accuracy over the last 1,000, 5,000 and 20,000 rounds. Each window's interval covers its true value during
        the whole window with this confidence; that is not the probability that all windows of a long life do.
    f_measure, precision, recall : Estimate
        Of the label +1, over all rounds; unknown where there are several classes.
    classes : dict of label to ClassAccuracy
        Precision, recall and F of every class, where a sampler has several. Empty for a trace, which has no labels.
    confusion : list of lists of Estimate, or None
        For a sampler of several classes, at most 127: in row a and column b, the share of label b among the rounds in
        which a was predicted. Each cell has its own interval.
    cost : Cost or None
        Mean cost of a round, where the sampler has ``costs``.
    rounds, questions, answered, unanswered : int
        Number of rounds played, of labels asked for, of questions answered, and of those open or forgotten.
    waiting : int
        Number of the questions that are open, and can still be answered.
    unobserved : float
        Share of the rounds in which nothing could be asked, because a budget was spent.
    confidence : float
        Probability that an interval covers its true value at all times, however often you look.
    """

    overall: Estimate
    recent: Estimate
    f_measure: Estimate
    precision: Estimate
    recall: Estimate
    rounds: int
    questions: int
    answered: int
    unanswered: int
    unobserved: float
    confidence: float
    windows: dict[int, Estimate] = field(default_factory=dict)
    waiting: int = 0
    cost: Cost | None = None
    classes: dict[Any, ClassAccuracy] = field(default_factory=dict)
    confusion: list[list[Estimate]] | None = field(default=None, repr=False)
    counted: TallyView | None = field(default=None, repr=False, compare=False)
    spent: bool = field(default=False, repr=False, compare=False)

    def needed(self, width: float) -> Needed:
        """Number of further labels until the interval of the overall accuracy should have this width (0.04: 4 points).

        ``needed(0.04).by_rule`` is for asking as before, ``.at_random`` for asking at random at the same rate; None
        where no number of labels is enough, or the budget of the rule is spent. Both assume that the stream continues
        as it was: they are expectations, not guarantees.
        """
        check_number("needed", "width", width, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
        if self.counted is None:
            return Needed(None, None)
        found = needed_labels(self.counted, self.questions, float(width), 1.0 - self.confidence)
        return found._replace(by_rule=None) if self.spent else found

    @property
    def target(self) -> float | None:
        """The next smaller width to aim at: plus or minus 10, 5, 2, 1, 0.5, 0.2 or 0.1 points; None below that."""
        width = self.overall.high - self.overall.low
        return next((2.0 * points for points in _POINTS if 2.0 * points < 0.9 * width), None)

    def advice(self) -> str:
        """What to do to know the accuracy better: first answer what waits, then ask for more labels."""
        return sentences.advice(self)

    def sentence(self) -> str:
        """The overall accuracy in a sentence, with what it is estimated from and what it assumes."""
        return sentences.of_accuracy(self)

    def __str__(self) -> str:
        return (
            f"accuracy {self.overall} over {self.rounds} rounds, {self.recent} over the last {self.recent.rounds}, "
            f"from {self.answered} labels at {self.confidence:.0%} confidence"
        )


@dataclass(frozen=True, eq=False)
class Curve:
    """The overall accuracy over time: arrays of the same length.

    Attributes
    ----------
    rounds : array of int
        Number of rounds played.
    value, low, high : array of float
        The estimate after these rounds, NaN where it was not known yet, and its interval.
    """

    rounds: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def accuracy(source: Trace | Counting, *, confidence: float = 0.95, recent: int = RECENT) -> Accuracy:
    """Estimate the accuracy of a sampler, or of a run, from the labels that it asked for.

    Unasked labels are never used, even where a simulation knows them. Give the rule a ``floor`` or the sampler an
    ``Audit``: where the probability of asking is nearly 0 little can be known, and the interval is wide.

    Parameters
    ----------
    source : Trace, or any sampler
        The trace of a run, or a sampler, with all rounds of its life. Answers of the same time stand for questions that
        are open or forgotten, and the interval allows for these to be right or wrong. With several classes, precision,
        recall and F are in ``classes``.
    confidence : float, default 0.95
        Probability that an interval covers the true value at all times, however often you look.
    recent : int, default 5000
        Number of last rounds for the recent accuracy, up to a tenth more: 1,000, 5,000 or 20,000 for a sampler, any
        number for a trace.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((20000, 10))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> trace = aw.Sampler(seed=7).run(X, y)
    >>> found = aw.evaluate.accuracy(trace)
    >>> found.overall.low < 1 - trace.mistakes / trace.rounds < found.overall.high
    True
    """
    check_number("accuracy", "confidence", confidence, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count("accuracy", "recent", recent)
    alpha = 1.0 - float(confidence)
    if isinstance(source, Trace):
        _check_trace(source)
        if recent > _LARGEST_WINDOW:
            raise InputError(f"recent must be at most {_LARGEST_WINDOW:,}, got {recent}.", owner="accuracy")
        found = AccuracyCollector(None if recent in WINDOWS else int(recent))
        found.add(source, 0, source.rounds)
        return found.report(alpha, int(recent))
    if not isinstance(source, Counting):
        raise InputError(f"source must be a Sampler or a Trace, got {type(source).__name__}.", owner="accuracy")
    if getattr(source, "tasks", None):
        raise InputError("this sampler has tasks; use sampler.tasks[j], or the traces of the run.", owner="accuracy")
    if source.classes is None:
        raise InputError(_REGRESSOR, owner="accuracy")
    check_window("accuracy", recent)
    tally, _, questions, waiting = source.tally()
    window = window_of(tally, WINDOWS.index(recent), waiting)
    report = _report(tally, questions, waiting, alpha, window, getattr(source, "costs", None))
    most = getattr(getattr(source, "rule", None), "most", None)
    report = replace(report, spent=most is not None and questions >= most)
    by_label = source.class_tally() if hasattr(source, "class_tally") else None
    if by_label is None:
        return report
    labels, unknown = source.classes, Estimate(math.nan, 0.0, 1.0, math.nan, report.rounds)
    negative, positive = sides_of(tally, waiting)
    overall = negative + positive
    report = replace(report, precision=unknown, recall=unknown, f_measure=unknown)
    if isinstance(by_label, LabelTally):
        return replace(report, classes=dict(zip(labels, by_label_of(by_label, alpha, overall), strict=True)))
    classes = dict(zip(labels, by_class(by_label, alpha, len(labels), overall), strict=True))
    return replace(report, classes=classes, confusion=taken_for(by_label, alpha, len(labels), overall))


def overall_accuracy(source: Counting, confidence: float = 0.95) -> Estimate:
    """``accuracy(source).overall``, without all else: with many classes, their precision and recall take a second."""
    tally, _, _, waiting = source.tally()
    negative, positive = sides_of(tally, waiting)
    return _estimate(negative + positive, 1.0 - confidence)


def check_window(owner: str, recent: Any) -> None:
    """Raise for a window that samplers do not store."""
    if recent not in WINDOWS:
        windows = ", ".join(f"{window:,}" for window in WINDOWS[:-1])
        raise InputError(f"recent must be {windows} or {WINDOWS[-1]:,} for a sampler, got {recent}.", owner=owner)


def accuracy_curve(trace: Trace, *, confidence: float = 0.95, points: int = 200) -> Curve:
    """The overall accuracy of a trace at evenly spread rounds, with its interval.

    Parameters
    ----------
    trace : Trace
        A run, with all its rounds.
    confidence : float, default 0.95
        Confidence of the interval, which holds however often you look.
    points : int, default 200
        Number of evenly spread rounds at which it is computed.
    """
    level = "a number strictly between 0 and 1"
    check_number("accuracy_curve", "confidence", confidence, level, 0.0, 1.0, open_high=True)
    check_count("accuracy_curve", "points", points)
    _check_trace(trace)
    found = AccuracyCollector()
    before = 0
    for until in np.unique(np.linspace(0, trace.rounds, min(int(points), trace.rounds) + 1).astype(int)[1:]).tolist():
        found.add(trace, before, until)
        found.mark()
        before = until
    return found.curve(1.0 - confidence)


class AccuracyCollector:
    """Collects rounds of a trace, for estimates of the accuracy at any of the marks set on the way.

    In addition to the windows of a sampler there may be one of another length.
    """

    def __init__(self, window: int | None = None) -> None:
        self.rounds = 0
        self._window = window
        self._tallies: list[Tally] = []
        self._questions = 0
        self._costs: tuple[float, float] | None = None
        self._marks: list[TallyView] = []

    def add(self, trace: Trace, first: int, last: int) -> None:
        """Add some rounds of a trace, which must follow those added before."""
        if not self._tallies:
            self._costs = trace.costs
            lengths = [WINDOWS] + ([] if self._window is None else [(self._window,)])
            self._tallies = [new_tally(windows, log_cost_of(trace.costs)) for windows in lengths]
        here = slice(first, last)
        predicted = np.ones(last - first, np.int8) if trace.several else trace.signs[here]
        rounds = (trace.probability[here], trace.margin[here], predicted, trace.queried[here], trace.mistaken[here])
        for tally in self._tallies:
            note_rounds(tally, *rounds, trace.floor, trace.blind)
        self.rounds += last - first
        self._questions += int(np.count_nonzero(trace.queried[here]))

    def mark(self) -> None:
        """Store the current overall accuracy as a point of the curve."""
        negative, positive = sides_of(self._tallies[0])
        self._marks.append(negative + positive)

    def curve(self, alpha: float) -> Curve:
        """The overall accuracy at every mark."""
        if not self._marks:
            return Curve(*(np.zeros(0) for _ in range(4)))
        sums, A = (np.array([getattr(mark, name) for mark in self._marks]) for name in ("sums", "A"))
        all_marks = TallyView(sums, A, self._marks[0].stakes)
        return Curve(all_marks.rounds.astype(int), *estimates_of(all_marks, alpha))

    def report(self, alpha: float, recent: int) -> Accuracy:
        """All estimates from these rounds."""
        if not self._tallies:
            self._tallies = [new_tally(), new_tally((recent,))]
        window = window_of(self._tallies[-1], 0 if recent not in WINDOWS else WINDOWS.index(recent))
        return _report(self._tallies[0], self._questions, [], alpha, window, self._costs)


_REGRESSOR = "accuracy is for classifiers; use evaluate.progressive for the error of a regressor."


def _check_trace(trace: Trace) -> None:
    if not isinstance(trace, Trace):
        raise InputError(f"trace must be a Trace, got {type(trace).__name__}.", owner="accuracy_curve")
    if trace.rounds > len(trace.queried):
        raise InputError("this trace holds only counts; run with trace=True.", owner="accuracy")
    if trace.rounds and trace.signs.dtype.kind == "f" and not trace.several:
        raise InputError(_REGRESSOR, owner="accuracy")


def estimates_of(found: TallyView, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Values, NaN where they are not known yet, and both ends of the intervals, of many sums at once."""
    fewest, largest = found.mistakes(alpha)
    low, high = 1.0 - largest / found.rounds, 1.0 - fewest / found.rounds
    known = [not why_unknown(*each) for each in zip(found.answered, low, high, strict=True)]
    return np.where(known, np.clip(_point(found), low, high), np.nan), low, high


def _estimate(found: TallyView, alpha: float) -> Estimate:
    """Estimated accuracy of these rounds."""
    rounds = int(found.rounds)
    if rounds == 0:
        return Estimate(math.nan, 0.0, 1.0, math.nan, 0, 0, 0)
    fewest, largest = found.mistakes(alpha)
    low, high = 1.0 - float(largest) / rounds, 1.0 - float(fewest) / rounds
    return estimated(float(_point(found)), low, high, rounds, found.answered, found.unanswered, found.is_whole)


def _point(found: TallyView) -> Any:
    """Estimated accuracy of the rounds that could be asked about."""
    observed = found.rounds - found.unobserved
    return np.where(observed > 0.0, 1.0 - found.estimate / np.maximum(observed, 1.0), np.nan)


def _report(
    tally: Tally,
    questions: int,
    waiting: Iterable[Waiting],
    alpha: float,
    recent: TallyView,
    costs: tuple[float, float] | None,
) -> Accuracy:
    negative, positive = sides_of(tally, waiting)
    both = negative + positive
    windows = {length: _estimate(window_of(tally, w, waiting), alpha) for w, length in enumerate(WINDOWS)}
    precision, recall, f_measure, cost = by_kind(negative, positive, alpha, costs)
    return Accuracy(
        overall=_estimate(both, alpha),
        recent=_estimate(recent, alpha),
        f_measure=f_measure,
        precision=precision,
        recall=recall,
        rounds=int(both.rounds),
        questions=questions,
        answered=int(both.answered),
        unanswered=int(both.unanswered),
        unobserved=float(both.unobserved / both.rounds) if both.rounds else 0.0,
        confidence=1.0 - alpha,
        windows=windows,
        waiting=int(both.open),
        cost=cost,
        counted=as_if_answered(tally, waiting),
    )
