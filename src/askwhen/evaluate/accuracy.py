"""The accuracy of all rounds, honestly, from the labels that were asked for.

Mistakes weighted by 1/P estimate the mistakes of all rounds without bias; the intervals of
:mod:`askwhen.evaluate.confidence` hold at every round at once, so that one may look as often as one likes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contracts.sampler import Counting
from ..engine.tally import (
    ANSWERED,
    FORGOTTEN,
    MISTAKES,
    RECENT,
    UNOBSERVED,
    WEIGHTED,
    Tally,
    new_tally,
    note_rounds,
    note_window,
    stake_on_doubt,
    totals,
)
from ..errors import InputError
from ..trace.trace import Trace
from ..validation import check_count, check_number
from .confidence import least, most


@dataclass(frozen=True)
class Estimate:
    """A number between 0 and 1 with an interval that holds at every round at once.

    ``value`` is the estimate, kept inside the interval; ``unbiased`` is what it was before that.
    """

    value: float
    low: float
    high: float
    unbiased: float
    rounds: int

    def __str__(self) -> str:
        known = "unknown" if math.isnan(self.value) else f"{self.value:.1%}"
        return f"{known} ({self.low:.1%} to {self.high:.1%})"


@dataclass(frozen=True)
class Accuracy:
    """What a sampler or a trace says of itself.

    Attributes
    ----------
    overall, recent : Estimate
        The accuracy over all rounds, and over the last ones.
    f_measure, precision, recall : Estimate
        Of the label +1, over all rounds.
    rounds, questions, answered, unanswered : int
        How many rounds were played and labels asked for, answered, and open or forgotten.
    unobserved : float
        The share of the rounds in which nothing could be asked, because a budget was spent.
    confidence : float
        Each interval covers its true value at all rounds at once with this probability.
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

    def __str__(self) -> str:
        return (
            f"accuracy {self.overall} over {self.rounds} rounds, {self.recent} over the last {self.recent.rounds}, "
            f"from {self.answered} labels at {self.confidence:.0%} confidence"
        )


@dataclass(frozen=True, eq=False)
class Curve:
    """The overall accuracy as it was after so many rounds: arrays of the same length."""

    rounds: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray


def accuracy(source: Trace | Counting, *, confidence: float = 0.95, recent: int = RECENT) -> Accuracy:
    """How accurate a sampler is, or was during a run, from the labels that it asked for.

    Unasked labels are never looked at, also where a simulation knows them. Give the rule a ``floor`` or the sampler an
    ``Audit``: where the probability of asking is nearly 0 nothing can be known, and the interval says so by its width.

    Parameters
    ----------
    source : Trace, or any sampler
        What happened in a run, or a sampler with all rounds of its life; questions that are still open, or were
        forgotten, count as both right and wrong in the interval. Of several classes (``OneVsRest``), only ``overall``
        and ``recent`` mean anything.
    confidence : float, default 0.95
        The probability with which an interval covers the true value at all rounds at once.
    recent : int, default 5000
        Over how many of the last rounds the recent accuracy goes, up to a tenth more; a sampler remembers 5,000.

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
        found = Collected(keep=int(recent) + max(int(recent) // 10, 1))
        found.add(source, 0, source.rounds)
        return found.report(alpha, int(recent))
    if not isinstance(source, Counting):
        raise InputError(f"source must be a Sampler or a Trace, got {type(source).__name__}.", owner="accuracy")
    if getattr(source, "tasks", None):
        raise InputError("this sampler has tasks; use sampler.tasks[j], or the traces of the run.", owner="accuracy")
    if source.classes is None:
        raise InputError(
            "a regressor makes no mistakes to count; use evaluate.progressive for its error.", owner="accuracy"
        )
    if recent > RECENT:
        raise InputError(f"recent must be at most {RECENT} for a sampler, got {recent}.", owner="accuracy")
    tally, now, questions, waiting = source.tally()
    return _report(tally, now, now, questions, waiting, alpha, int(recent))


def accuracy_curve(trace: Trace, *, confidence: float = 0.95, points: int = 200) -> Curve:
    """The overall accuracy of a trace after 1/points, 2/points .. of its rounds, with its interval."""
    level = "a number strictly between 0 and 1"
    check_number("accuracy_curve", "confidence", confidence, level, 0.0, 1.0, open_high=True)
    check_count("accuracy_curve", "points", points)
    _check_trace(trace)
    found = Collected(keep=1)
    before = 0
    for until in np.unique(np.linspace(0, trace.rounds, min(int(points), trace.rounds) + 1).astype(int)[1:]).tolist():
        found.add(trace, before, until)
        found.mark()
        before = until
    return found.curve(1.0 - confidence)


class Collected:
    """What rounds said of the accuracy, as they came: for estimates at any of the marks that were set on the way."""

    def __init__(self, keep: int = RECENT + RECENT // 10) -> None:
        self.rounds = 0
        self._tally = new_tally(keep)
        self._now = 0
        self._questions = 0
        self._marks: list[tuple[int, _Side]] = []

    def add(self, trace: Trace, first: int, last: int) -> None:
        """Some rounds of a trace, which must follow the last ones."""
        here = slice(first, last)
        predicted = np.ones(last - first, np.int8) if trace.several else trace.prediction[here]
        answers = (predicted, trace.queried[here], trace.mistaken[here])
        note_rounds(self._tally, trace.start + first, trace.probability[here], *answers, trace.floor)
        self.rounds += last - first
        self._now = trace.start + last
        self._questions += int(np.count_nonzero(trace.queried[here]))

    def mark(self) -> None:
        """Remember where the overall accuracy stands."""
        self._marks.append((self.rounds, _of_both(self._tally)))

    def curve(self, alpha: float) -> Curve:
        """The overall accuracy at every mark."""
        at, sides = np.array([n for n, _ in self._marks]), [side for _, side in self._marks]
        both = _Side(*(np.array([getattr(side, name) for side in sides]) for name in vars(sides[0])))
        fewest, largest = _mistakes(both, alpha)
        low, high = 1.0 - largest / at, 1.0 - fewest / at
        return Curve(at, np.clip(_unbiased(both, at), low, high), low, high)

    def report(self, alpha: float, recent: int) -> Accuracy:
        """Everything that these rounds say."""
        return _report(self._tally, self.rounds, self._now, self._questions, [], alpha, recent)


def _check_trace(trace: Trace) -> None:
    if not isinstance(trace, Trace):
        raise InputError(f"trace must be a Trace, got {type(trace).__name__}.", owner="accuracy_curve")
    if trace.rounds > len(trace.queried):
        raise InputError("this trace kept only its counts; run with trace=True.", owner="accuracy")
    if trace.rounds and trace.prediction.dtype.kind == "f" and not trace.several:
        raise InputError(
            "a regressor makes no mistakes to count; use evaluate.progressive for its error.", owner="accuracy"
        )


@dataclass
class _Side:
    """The sums of a tally, with open questions as possible mistakes."""

    rounds: np.ndarray
    high: np.ndarray
    low: np.ndarray
    sums: np.ndarray
    open: Any

    def __add__(self, other: _Side) -> _Side:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Side(*(a + b for a, b in pairs))


def _sides(tally: Tally, waiting: Iterable[tuple[float, int]] = ()) -> list[_Side]:
    high, low = totals(tally)
    sides = [_Side(tally.rounds[s].copy(), high[s], low[s], tally.sums[s].copy(), 0) for s in (0, 1)]
    for P, s in waiting:
        stake_on_doubt(sides[s].high, P)
        sides[s].open += 1
    return sides


def _of_both(tally: Tally) -> _Side:
    negative, positive = _sides(tally)
    return negative + positive


def _mistakes(side: _Side, alpha: float) -> Any:
    """The fewest and the most mistakes there can have been."""
    seen, right = side.sums[..., MISTAKES], side.sums[..., ANSWERED] - side.sums[..., MISTAKES]
    fewest = np.maximum(least(side.low, side.rounds, alpha / 2.0), seen)
    return fewest, np.minimum(most(side.high, side.rounds, alpha / 2.0), side.rounds.sum(axis=-1) - right)


def _estimate(side: _Side, alpha: float, rounds: int) -> Estimate:
    """The accuracy of these rounds."""
    if rounds == 0:
        return Estimate(math.nan, 0.0, 1.0, math.nan, 0)
    fewest, largest = _mistakes(side, alpha)
    return _inside(_unbiased(side, rounds), float(1.0 - largest / rounds), float(1.0 - fewest / rounds), rounds)


def _unbiased(side: _Side, rounds: Any) -> Any:
    """The estimate over the rounds that could be asked about, with mean the accuracy over these."""
    return 1.0 - side.sums[..., WEIGHTED] / np.maximum(rounds - side.rounds[..., UNOBSERVED], 1.0)


def _inside(unbiased: float, low: float, high: float, rounds: int) -> Estimate:
    value = unbiased if math.isnan(unbiased) else float(min(max(unbiased, low), high))
    return Estimate(value, float(low), float(high), float(unbiased), rounds)


def _report(
    tally: Tally, rounds: int, now: int, questions: int, waiting: list[tuple[float, int]], alpha: float, recent: int
) -> Accuracy:
    negative, positive = _sides(tally, waiting)
    both = negative + positive
    sums = both.sums
    precision, recall, f_measure = _of_positives(negative, positive, alpha, rounds)
    return Accuracy(
        overall=_estimate(both, alpha, rounds),
        recent=_recent(tally, rounds, now, recent, alpha),
        f_measure=f_measure,
        precision=precision,
        recall=recall,
        rounds=rounds,
        questions=questions,
        answered=int(sums[ANSWERED]),
        unanswered=int(sums[FORGOTTEN]) + both.open,
        unobserved=float(both.rounds[UNOBSERVED]) / rounds if rounds else 0.0,
        confidence=1.0 - alpha,
    )


def _of_positives(negative: _Side, positive: _Side, alpha: float, rounds: int) -> tuple[Estimate, Estimate, Estimate]:
    """Precision, recall and F of +1: with n predictions of +1, all fall as false positives and negatives rise."""
    n = float(positive.rounds.sum())
    (fp_low, fp_high), (fn_low, fn_high) = (_mistakes(side, alpha / 2.0) for side in (positive, negative))
    fp, fn = positive.sums[WEIGHTED], negative.sums[WEIGHTED]
    few, many = _mistakes(positive, alpha)

    def ratio(a: float, b: float) -> float:
        return a / b if b > 0.0 else math.nan

    def interval(unbiased: float, low: float, high: float) -> Estimate:
        return _inside(unbiased, 0.0 if math.isnan(low) else low, 1.0 if math.isnan(high) else high, rounds)

    precision = interval(ratio(n - fp, n), ratio(n - many, n), ratio(n - few, n))
    recall = interval(
        ratio(n - fp, n - fp + fn), ratio(n - fp_high, n - fp_high + fn_high), ratio(n - fp_low, n - fp_low + fn_low)
    )
    f_measure = interval(
        ratio(2 * (n - fp), 2 * n - fp + fn),
        ratio(2 * (n - fp_high), 2 * n - fp_high + fn_high),
        ratio(2 * (n - fp_low), 2 * n - fp_low + fn_low),
    )
    return precision, recall, f_measure


def _recent(tally: Tally, rounds: int, now: int, recent: int, alpha: float) -> Estimate:
    """The accuracy of the last rounds, between ``recent`` and a tenth more.

    Windows begin at every tenth of their length. The k-th beginning has its own share of alpha, 6 / (pi k)^2, so that
    all windows of the stream's life hold at once.
    """
    step = max(recent // 10, 1)
    k = max(rounds - recent, 0) // step
    n = rounds - k * step
    window = new_tally(1)
    note_window(window, tally, now - n, now)
    return _estimate(_of_both(window), alpha * 6.0 / (math.pi * (k + 1)) ** 2, n)
