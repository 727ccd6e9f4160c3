"""The data of the charts and tables of a run: its windows and rounds, joined until they are few enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..evaluate.comparison.baselines import MAJORITY, MEAN
from ..evaluate.comparison.plans import SMALLEST
from ..evaluate.progress import ASKED, UPDATED, Progress
from ..trace.trace import Trace
from .scales import count, ends, loss, nice_step, share


@dataclass(frozen=True, eq=False)
class Windows:
    """Neighbouring windows joined: arrays with one number for each group.

    ``score`` is the accuracy in each group alone and ``so_far`` that until its end, both the mean squared error for a
    regressor; ``value``, ``low`` and ``high`` are the estimate from the asked labels, and ``baseline`` is the score of
    predicting the majority, or the mean, so far in each group.
    """

    begins: np.ndarray
    rounds: np.ndarray
    score: np.ndarray
    so_far: np.ndarray
    value: np.ndarray
    low: np.ndarray
    high: np.ndarray
    baseline: np.ndarray
    asked: np.ndarray
    updated: np.ndarray
    switches: np.ndarray
    joined: int

    @property
    def spans(self) -> list[str]:
        """The first and the last round of each group, counted from 1."""
        return [f"{count(a + 1)} to {count(b)}" for a, b in zip(self.begins, self.rounds, strict=True)]


def windows_of(progress: Progress, most: int) -> Windows:
    """The windows of a run, joined into at most so many groups.

    A last group of fewer than 50 rounds joins the one before it, unless the others are as small: its score is mostly
    noise.
    """
    stops = ends(len(progress.rounds), most)
    sizes = np.diff(progress.rounds[stops - 1], prepend=0)
    if len(stops) > 1 and sizes[-1] < SMALLEST <= sizes[0]:
        stops = np.delete(stops, -2)
    starts = np.append(0, stops[:-1])
    sizes = np.diff(progress.rounds, prepend=0)
    regression = progress.estimate is None
    alone = progress.windows.squared_error if regression else progress.windows.accuracy
    so_far = progress.running.squared_error if regression else progress.running.accuracy
    rounds = progress.rounds[stops - 1]
    curve = progress.curve
    unknown = np.full(len(stops), np.nan)
    edges = np.append(0, rounds)
    simple = progress.baseline_windows.get(MEAN if regression else MAJORITY, np.zeros(0))
    counts = np.add.reduceat(progress.counts.sum(axis=1), starts, axis=0)
    return Windows(
        begins=edges[:-1],
        rounds=rounds,
        score=np.add.reduceat(alone * sizes, starts) / np.diff(edges),
        so_far=so_far[stops - 1],
        value=unknown if curve is None else curve.value[stops - 1],
        low=unknown if curve is None else curve.low[stops - 1],
        high=unknown if curve is None else curve.high[stops - 1],
        baseline=np.add.reduceat(simple * sizes, starts) / np.diff(edges) if len(simple) else unknown,
        asked=counts[:, ASKED],
        updated=counts[:, UPDATED],
        switches=np.histogram(np.asarray(progress.switches, float), edges)[0],
        joined=int(stops[0]),
    )


def window_rows(windows: Windows, regression: bool) -> tuple[list[str], list[list[str]]]:
    """The heads and the rows of the table of windows."""
    shown = loss if regression else share
    known = "squared error" if regression else "accuracy"
    heads = ["rows", known, f"{known} so far", "estimate so far", "interval", "asked", "share", "updates", "switches"]
    rows = []
    for k, span in enumerate(windows.spans):
        interval = f"{share(windows.low[k])} to {share(windows.high[k])}"
        estimate = [] if regression else [share(windows.value[k]), interval]
        size = windows.rounds[k] - windows.begins[k]
        numbers = [count(windows.asked[k]), share(windows.asked[k] / size), count(windows.updated[k])]
        scores = [shown(windows.score[k]), shown(windows.so_far[k])]
        rows.append([span, *scores, *estimate, *numbers, count(windows.switches[k])])
    return [head for head in heads if not regression or head not in ("estimate so far", "interval")], rows


def questions_of(progress: Progress, trace: Trace, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Numbers of rounds, and of the labels asked for until then."""
    if len(trace.queried) == trace.rounds:
        rounds = np.append(0, ends(trace.rounds, most))
        return rounds, np.append(0, np.cumsum(trace.queried))[rounds]
    windows = windows_of(progress, most)
    return np.append(0, windows.rounds), np.append(0, np.cumsum(windows.asked))


def weights_of(trace: Trace, most: int) -> tuple[np.ndarray, np.ndarray]:
    """The drift weights, averaged over stretches of rounds, and where these end."""
    stops = ends(len(trace.drift_weights), most)
    starts = np.append(0, stops[:-1])
    weights = np.nan_to_num(trace.drift_weights, nan=0.0, posinf=0.0, neginf=0.0)
    return stops, np.add.reduceat(weights, starts, axis=0) / np.diff(np.append(0, stops))[:, None]


@dataclass(frozen=True, eq=False)
class Margins:
    """Histograms of the margins of asked and of unasked rounds, as shares of each group.

    ``computed`` is the number of known margins, ``outside`` the number of those beyond the edges.
    """

    edges: np.ndarray
    asked: np.ndarray
    unasked: np.ndarray
    computed: int
    outside: int


def margins_of(trace: Trace, bins: int = 40) -> Margins | None:
    """The histograms of a trace, or None where no margin is known."""
    known = np.isfinite(trace.margin)
    if not known.any() or len(trace.queried) != len(trace.margin):
        return None
    margin, asked = trace.margin[known], trace.queried[known]
    low, high = np.quantile(margin, [0.005, 0.995])
    if high - low > 0.5 * (margin.max() - margin.min()):  # no outliers
        low, high = margin.min(), margin.max()
    if not high > low:
        low, high = low - max(0.5, abs(low) / 10), high + max(0.5, abs(high) / 10)
    step = nice_step(float(high - low), bins)
    edges = step * np.arange(np.floor(low / step + 1e-9), np.ceil(high / step - 1e-9) + 1)

    def shares(values: np.ndarray) -> np.ndarray:
        return np.histogram(values, edges)[0] / max(len(values), 1)

    outside = int(np.count_nonzero((margin < edges[0]) | (margin > edges[-1])))
    return Margins(edges, shares(margin[asked]), shares(margin[~asked]), len(margin), outside)
