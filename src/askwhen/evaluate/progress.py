"""What a run over a stream came to: counts by window, and the scores made of them.

==========  ==========================================================
tp, fp      predictions of +1, right and wrong
fn, tn      predictions of -1, wrong and right
F           2 tp / (2 tp + fp + fn)
micro       a ratio of counts summed over the tasks
macro       the mean of a ratio over the tasks in which it is defined
==========  ==========================================================
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import bounds

TP, FP, FN, TN, ASKED, UPDATED, ERROR = range(7)
"""What is counted in every window and task; ERROR sums squared errors of a regressor."""


@dataclass(frozen=True, eq=False)
class Scores:
    """Arrays with one number for every window of rounds, or for everything until its end.

    A ratio is NaN where it is undefined: precision where +1 was never predicted, recall where it was never right, F
    where neither. All but ``squared_error`` is NaN for a regressor, which alone has that one.

    Attributes
    ----------
    accuracy : array
        The share of rounds that were predicted right.
    precision, recall, f_measure : array
        Of the label +1; over several tasks from summed counts (micro).
    macro_precision, macro_recall, macro_f_measure : array
        Means over the tasks in which they are defined.
    question_rate : array
        The share of rounds whose label was asked for.
    updates : array
        How often the learner moved.
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


@dataclass(frozen=True, eq=False)
class Progress:
    """What a run over a stream came to.

    Attributes
    ----------
    rounds : array of int
        How many rounds had been played at the end of each window.
    running, windows : Scores
        Until the end of each window, and in each window alone; over many tasks, summed over them.
    counts : array
        The numbers behind the scores: one row for each window, task and count (tp, fp, fn, tn, questions, updates,
        squared error).
    switches : list of int
        The rounds in which a switch was declared; a list for each task where there are several.
    estimate : Accuracy or None
        What the asked labels alone say of the accuracy; a list for several tasks, None for a regressor.
    curve : Curve or None
        The same at the end of each window.
    error, error_bound : float
        The share of mistakes, and what the expected error of a hypothesis picked uniformly from those before each
        round exceeds with probability delta, if the examples are independent. Arrays for several tasks. For a
        regressor the mean squared error, without a bound.
    holdout_error, holdout_bound : float or None
        The same of the last hypothesis on held-out instances.
    several : bool
        Whether there are several tasks: y was a matrix.
    delta : float
        The probability with which each of the bounds and of the estimate's intervals may fail.
    baselines : dict
        What simple rules would have come to on the same stream, by name: "majority so far" (the label that was more
        frequent in all rounds before), "last label told" (to the sampler) and, where it was asked for, "all labels"
        (the same learner, told everything). Accuracies, arrays for several tasks; for a regressor mean squared
        errors, with "mean so far" in place of the majority.
    baseline_counts : dict
        The numbers behind them: right predictions, or summed squared errors, a row for each window and task.
    classes : list or None
        The classes, where there are several.
    confusion : array or None
        With several classes, how often each label (rows) was predicted as each class (columns), all rounds counted.
    unpredicted : array or None
        With several classes, how often each label came while no class was known that could be predicted.
    confusion_of_two : array or None
        With two labels, how often -1 and +1 (rows) were predicted as -1 and +1 (columns), all rounds counted.
    costs : (float, float) or None
        What a false positive and a false negative cost, where the sampler was told.
    cost, baseline_costs : float or None, dict
        With costs, what a round cost on average, and what it would have cost always to predict -1, or +1.
    label_variance, r_squared : float or None
        Of a regressor: the variance of the labels, and the share of it that predictions explain, 1 - error / variance.
    order_warning : str or None
        One sentence where the labels come sorted or in blocks, so that any accuracy looks too good. None for a
        regressor.
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

    @property
    def confusion_of_two(self) -> np.ndarray | None:
        """How often -1 and +1 (rows) were predicted as -1 and +1 (columns); None where there are not two labels."""
        if self.estimate is None or self.classes is not None or self.several:
            return None
        tp, fp, fn, tn = self.counts.sum(axis=(0, 1))[: TN + 1].astype(int).tolist()
        return np.array([[tn, fp], [fn, tp]])

    @property
    def cost(self) -> float | None:
        """What mistakes cost, on average in a round, all rounds counted; None without costs."""
        confusion = self.confusion_of_two
        if self.costs is None or confusion is None:
            return None
        return float(self.costs[0] * confusion[0, 1] + self.costs[1] * confusion[1, 0]) / float(confusion.sum())

    @property
    def baseline_costs(self) -> dict[str, float]:
        """What a round would have cost, had the same label always been predicted; empty without costs."""
        confusion = self.confusion_of_two
        if self.costs is None or confusion is None:
            return {}
        negative, positive = (confusion.sum(axis=1) / confusion.sum()).tolist()
        return {"always -1": self.costs[1] * positive, "always +1": self.costs[0] * negative}

    @property
    def r_squared(self) -> Any:
        """The share of the labels' variance that a regressor explains; None for a classifier, or if all are equal."""
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
        """Scores from counts; precision, recall and F are of +1, and so of no use with several classes."""
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
        """The accuracy of each simple rule; its mean squared error beside a regressor."""
        totals = {name: counts.sum(axis=0) for name, counts in self.baseline_counts.items()}
        return {name: self._each(total / self.rounds[-1]) for name, total in totals.items()}

    @property
    def baseline_windows(self) -> dict[str, np.ndarray]:
        """The same in each window alone, over all tasks."""
        sizes = np.diff(self.rounds, prepend=0)
        return {name: counts.mean(axis=1) / sizes for name, counts in self.baseline_counts.items()}

    def _each(self, values: np.ndarray) -> Any:
        return values if self.several else float(values[0])

    def __str__(self) -> str:
        n, last = int(self.rounds[-1]), self.running
        asked = f"{last.question_rate[-1]:.1%} asked, {int(last.updates[-1])} updates"
        if self.estimate is None:
            return f"mean squared error {last.squared_error[-1]:.4g} over {n} rounds, {asked}"
        told, F = f"accuracy {last.accuracy[-1]:.1%} over {n} rounds", f"F {last.f_measure[-1]:.3f}"
        if self.several:
            macro = f"{last.macro_f_measure[-1]:.3f} (macro)"
            return f"{told}, tasks: {self.counts.shape[1]}, {F} (micro) {macro}, {asked}"
        at_most = f"error at most {min(self.error_bound, 1.0):.1%} at {1 - self.delta:.0%} confidence"
        alone = f"by the asked labels alone {self.estimate.overall}"
        if self.classes is not None:
            return f"{told}, {alone}; {len(self.classes)} classes, {at_most}, {asked}"
        return f"{told}, {alone}; {F}, {at_most}, {asked}, {len(self.switches)} switches"


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
