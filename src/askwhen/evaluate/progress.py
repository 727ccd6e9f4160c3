"""The results of a run over a stream: counts by window, and the scores computed from them.

==========  ==========================================================
tp, fp      predictions of +1 that were right, and wrong
fn, tn      predictions of -1 that were wrong, and right
F           2 tp / (2 tp + fp + fn)
micro       a ratio of counts summed over the tasks
macro       the mean of a ratio over the tasks in which it is defined
==========  ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from . import bounds

TP, FP, FN, TN, ASKED, UPDATED, ERROR = range(7)
"""Columns of the counts of every window and task; ERROR sums the squared errors of a regressor."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Arrays with one number for every window of rounds, or for all rounds until the end of that window.

    A ratio is NaN where it is undefined: precision where +1 was never predicted, recall where it never was the label,
    F where both. For a regressor every ratio but ``squared_error`` is NaN; for a classifier ``squared_error`` is NaN.

    Attributes
    ----------
    accuracy : array
        Share of rounds with a right prediction.
    precision, recall, f_measure : array
        Of the label +1; over several tasks from summed counts (micro).
    macro_precision, macro_recall, macro_f_measure : array
        Means over the tasks in which they are defined.
    question_rate : array
        Share of rounds whose label was asked for.
    updates : array
        Number of updates of the learner.
    squared_error : array
        The mean squared error of a regressor.
    """

    accuracy: np.ndarray
    precision: np.ndarray
    recall: np.ndarray
    f_measure: np.ndarray
    macro_precision: np.ndarray
    macro_recall: np.ndarray
    macro_f_measure: np.ndarray
    question_rate: np.ndarray
    updates: np.ndarray
    squared_error: np.ndarray


class Refitted(NamedTuple):
    """What a model that is refitted again and again would have had on the same rows.

    Attributes
    ----------
    name : str
        The model, and how its labels are asked for.
    score : float
        Its accuracy; for a regressor, its mean squared error.
    labels : int
        Number of labels asked for.
    refits : int
        Number of fits.
    """

    name: str
    score: float
    labels: int
    refits: int


@dataclass(frozen=True, eq=False)
class PromiseHistory:
    """How a promise on delivered labels stood after each chunk of a stream; arrays with one number for each of them.

    Attributes
    ----------
    error, confidence : float
        The share of errors that was promised at the end, and the confidence.
    rounds, questions : array of int
        Number of rounds of this stream, and of labels asked for in them.
    delivered, wrong : array of int
        Number of labels of this stream that were delivered, and of those among them that were wrong.
    certified, estimated : array of float
        The largest share of all labels delivered so far that may be wrong, with the given confidence, and an estimate
        of that share; those of earlier streams count too.
    """

    error: float
    confidence: float
    rounds: np.ndarray
    questions: np.ndarray
    delivered: np.ndarray
    wrong: np.ndarray
    certified: np.ndarray
    estimated: np.ndarray


@dataclass(frozen=True, eq=False)
class AdviserProgress:
    """How good an adviser was in a run over a stream, all labels counted; arrays with one number for each window.

    Attributes
    ----------
    name : str
        The adviser.
    rounds, right : array of int
        Number of rounds in which it said something, and of those in which it was right.
    found : AdviserAccuracy
        What is known of it from the asked labels, see :func:`askwhen.evaluate.advisers`; earlier streams count too.
    """

    name: str
    rounds: np.ndarray
    right: np.ndarray
    found: Any

    @property
    def accuracy(self) -> float:
        """Share of these rounds in which it was right; NaN without any."""
        return float(self.right.sum() / self.rounds.sum()) if self.rounds.any() else float("nan")

    @property
    def windows(self) -> np.ndarray:
        """The same for each window alone."""
        return _ratio(self.right, self.rounds)


@dataclass(frozen=True, eq=False)
class Progress:
    """The results of a run over a stream.

    Attributes
    ----------
    rounds : array of int
        Number of rounds played at the end of each window.
    running, windows : Scores
        Scores until the end of each window, and of each window alone; over several tasks, from summed counts.
    counts : array
        The numbers behind the scores: one row for each window, task and count (tp, fp, fn, tn, questions, updates,
        squared error).
    switches : list of int
        The rounds in which a switch was declared; a list for each task where there are several.
    estimate : Accuracy or None
        The accuracy as estimated from the asked labels, which is what you would know live; a list for several tasks,
        None for a regressor.
    curve : Curve or None
        The same at the end of each window.
    error, error_bound : float
        The share of mistakes, and an upper bound on the expected error of a hypothesis picked uniformly from those
        before each round, which fails with probability delta if the examples are independent. Arrays for several
        tasks. For a regressor the mean squared error, without a bound.
    holdout_error, holdout_bound : float or None
        The same for the last hypothesis, on held-out instances.
    several : bool
        Whether there are several tasks: y was a matrix.
    delta : float
        The probability with which each of the bounds and of the estimate's intervals may fail.
    baselines : dict
        The accuracy of simple rules on the same stream, by name: "majority so far" (the label that was more frequent
        in all rounds before), "last label told" (the last label that the sampler was given) and, with
        ``everything=True``, "all labels" (the same learner, given every label). Arrays for several tasks; for a
        regressor mean squared errors, with "mean so far" in place of the majority.
    baseline_counts : dict
        The counts behind them: right predictions, or summed squared errors, a row for each window and task.
    classes : list or None
        The classes, where there are several.
    confusion : array or None
        With several classes, the number of rounds by label (rows) and predicted class (columns).
    unpredicted : array or None
        With several classes, the number of rounds by label in which no class was known yet that could be predicted.
    confusion_of_two : array or None
        With two labels, the number of rounds by label (rows) and prediction (columns), each in the order -1, +1.
    costs : (float, float) or None
        Costs of a false positive and of a false negative, where the sampler has them.
    cost, baseline_costs : float or None, dict
        With costs, the mean cost of a round, and the mean cost of always predicting -1, or +1.
    label_variance, r_squared : float or None
        For a regressor: the variance of the labels, and the share of it that is explained, 1 - error / variance.
    order_warning : str or None
        A warning if the labels come sorted or in blocks, which makes any accuracy look too good. None otherwise, and
        for a regressor.
    refitted : list of Refitted
        With ``baselines=True``, models of scikit-learn that are refitted again and again, with as many labels as the
        sampler has asked for: what one would have had otherwise.
    left_out : list of str
        Which of these models were left out, and why.
    promise : PromiseHistory or None
        With a ``PromiseRule``, how the promise stood after each chunk of the stream.
    advisers : list of AdviserProgress
        How good each adviser was, the best first by what is known from the asked labels.
    """

    rounds: np.ndarray
    counts: np.ndarray
    switches: Any
    estimate: Any
    curve: Any
    delta: float
    several: bool
    holdout_error: Any = None
    holdout_bound: Any = None
    baseline_counts: dict[str, np.ndarray] = field(default_factory=dict)
    order_warning: str | None = None
    classes: list[Any] | None = None
    confusion: np.ndarray | None = None
    unpredicted: np.ndarray | None = None
    costs: tuple[float, float] | None = None
    label_variance: Any = None
    refitted: list[Refitted] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    promise: PromiseHistory | None = None
    advisers: list[AdviserProgress] = field(default_factory=list)

    @property
    def confusion_of_two(self) -> np.ndarray | None:
        """Number of rounds by label (rows) and prediction (columns), -1 first; None unless there are two labels."""
        if self.estimate is None or self.classes is not None or self.several:
            return None
        tp, fp, fn, tn = self.counts.sum(axis=(0, 1))[: TN + 1].astype(int).tolist()
        return np.array([[tn, fp], [fn, tp]])

    @property
    def cost(self) -> float | None:
        """Mean cost of a round, over all rounds; None without costs."""
        confusion = self.confusion_of_two
        if self.costs is None or confusion is None:
            return None
        return float(self.costs[0] * confusion[0, 1] + self.costs[1] * confusion[1, 0]) / float(confusion.sum())

    @property
    def baseline_costs(self) -> dict[str, float]:
        """Mean cost of a round if the same label were always predicted; empty without costs."""
        confusion = self.confusion_of_two
        if self.costs is None or confusion is None:
            return {}
        negative, positive = (confusion.sum(axis=1) / confusion.sum()).tolist()
        return {"always -1": self.costs[1] * positive, "always +1": self.costs[0] * negative}

    @property
    def r_squared(self) -> Any:
        """Share of the labels' variance that a regressor explains; None for a classifier, or for equal labels."""
        if self.label_variance is None or not np.all(np.asarray(self.label_variance) > 0.0):
            return None
        return 1.0 - self.error / self.label_variance

    @property
    def running(self) -> Scores:
        """Scores until the end of each window."""
        return self._scored(self.counts.cumsum(axis=0), self.rounds)

    @property
    def windows(self) -> Scores:
        """Scores of each window alone."""
        return self._scored(self.counts, np.diff(self.rounds, prepend=0))

    def _scored(self, counts: np.ndarray, rounds: np.ndarray) -> Scores:
        """Scores from counts; precision, recall and F are those of +1, so with several classes they are NaN."""
        found = _scores(counts, rounds)
        if self.classes is None:
            return found
        ratios = [f"{kind}{name}" for kind in ("", "macro_") for name in ("precision", "recall", "f_measure")]
        return replace(found, **dict.fromkeys(ratios, np.full(len(rounds), np.nan)))

    @property
    def error(self) -> Any:
        """The share of mistakes; the mean squared error of a regressor."""
        total = self.counts.sum(axis=0)
        return self._each((total[:, FP] + total[:, FN] + total[:, ERROR]) / self.rounds[-1])

    @property
    def error_bound(self) -> Any:
        """Upper bound on the expected error of a uniformly picked hypothesis; it fails with probability delta."""
        if self.estimate is None:
            return None
        total = self.counts.sum(axis=0)
        mistakes = total[:, FP] + total[:, FN]
        return self._each(bounds.progressive_validation(mistakes, int(self.rounds[-1]), self.delta))

    @property
    def baselines(self) -> dict[str, Any]:
        """Accuracy of each simple rule; for a regressor, its mean squared error."""
        totals = {name: counts.sum(axis=0) for name, counts in self.baseline_counts.items()}
        return {name: self._each(total / self.rounds[-1]) for name, total in totals.items()}

    @property
    def baseline_windows(self) -> dict[str, np.ndarray]:
        """The same for each window alone, averaged over the tasks."""
        sizes = np.diff(self.rounds, prepend=0)
        return {name: counts.mean(axis=1) / sizes for name, counts in self.baseline_counts.items()}

    def _each(self, values: np.ndarray) -> Any:
        return values if self.several else float(values[0])

    def __str__(self) -> str:
        n, last = int(self.rounds[-1]), self.running
        asked = f"{last.question_rate[-1]:.1%} asked, {int(last.updates[-1])} updates"
        if self.estimate is None:
            return f"mean squared error {last.squared_error[-1]:.4g} over {n} rounds, {asked}"
        overall, F = f"accuracy {last.accuracy[-1]:.1%} over {n} rounds", f"F {last.f_measure[-1]:.3f}"
        if self.several:
            macro = f"{last.macro_f_measure[-1]:.3f} (macro)"
            return f"{overall}, tasks: {self.counts.shape[1]}, {F} (micro) {macro}, {asked}"
        at_most = f"error at most {min(self.error_bound, 1.0):.1%} at {1 - self.delta:.0%} confidence"
        estimated = f"estimated from the asked labels {self.estimate.overall}"
        if self.classes is not None:
            return f"{overall}, {estimated}; {len(self.classes)} classes, {at_most}, {asked}"
        return f"{overall}, {estimated}; {F}, {at_most}, {asked}, {len(self.switches)} switches"


def _ratio(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(a, b, out=np.full(np.shape(b), np.nan), where=b > 0))


def _mean_over_tasks(values: np.ndarray) -> np.ndarray:
    known = ~np.isnan(values)
    return _ratio(np.where(known, values, 0.0).sum(axis=1), known.sum(axis=1).astype(float))


def _scores(counts: np.ndarray, rounds: np.ndarray) -> Scores:
    """Scores from counts of windows and tasks."""

    def ratios(c: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        tp, fp, fn = c[..., TP], c[..., FP], c[..., FN]
        return _ratio(tp, tp + fp), _ratio(tp, tp + fn), _ratio(2 * tp, 2 * tp + fp + fn)

    micro = counts.sum(axis=1)
    labels = micro[:, : TN + 1].sum(axis=1)
    decisions = rounds * float(counts.shape[1])
    precision, recall, f_measure = ratios(micro)
    macro_precision, macro_recall, macro_f_measure = (_mean_over_tasks(values) for values in ratios(counts))
    return Scores(
        accuracy=_ratio(micro[:, TP] + micro[:, TN], labels),
        precision=precision,
        recall=recall,
        f_measure=f_measure,
        macro_precision=macro_precision,
        macro_recall=macro_recall,
        macro_f_measure=macro_f_measure,
        question_rate=micro[:, ASKED] / decisions,
        updates=micro[:, UPDATED].astype(int),
        squared_error=np.where(labels > 0, np.nan, micro[:, ERROR] / decisions),
    )
