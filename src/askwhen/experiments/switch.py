"""Kravchik 2014: one switch in a stream on the unit sphere, found by a detector that monitors BBQ.

T = 100,000, d = 4, kappa 0.7, L0 400, K 6, delta 0.05; the switch is uniform between 0.2 T and 0.8 T, and the noise of
the regression is clipped at two standard deviations, Z. Errors count every round.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..data import spherical
from ..papers import paper
from ..report.figures import histogram_figure
from .outcome import ExperimentResult, NumberText, Play, ResultTable, holds

FREE = "detector, no extra questions"
NAMES = {"optimum": "", "BBQ": "BBQ", "detector": "BBQ-SWITCH", FREE: "BBQ-SWITCH-FREE"}
SIGMA, KAPPA, AT_ONCE = 0.4, 0.7, 5


class Published(NamedTuple):
    """Error (percent of the rounds, or mean squared) and labels, each with its standard deviation if there is one."""

    error: float
    error_deviation: float
    labels: int | None = None
    labels_deviation: int | None = None


PUBLISHED = {
    False: {
        "optimum": Published(28.81, 0.15),
        "BBQ": Published(35.76, 4.57, 12_640),
        "detector": Published(29.57, 0.60, 28_000, 873),
        FREE: Published(29.70, 0.48, 14_844, 899),
    },
    True: {
        "optimum": Published(0.1473, 0.0005),
        "BBQ": Published(0.2821, 0.0629, 12_640),
        "detector": Published(0.1602, 0.0083, 28_000, 616),
        FREE: Published(0.1629, 0.0061, 14_986, 748),
    },
}
"""The numbers of the slides, where 28,000 is approximate."""


def classification(play: Play, size: str) -> ExperimentResult:
    """The tables and histograms of the classification part."""
    return _study(play, size, regression=False)


def regression(play: Play, size: str) -> ExperimentResult:
    """The tables and histograms of the regression part."""
    return _study(play, size, regression=True)


def _study(play: Play, size: str, regression: bool) -> ExperimentResult:
    repeats, rounds = {"tiny": 4, "quick": 20, "full": 100}[size], 100_000
    blocks = [range(first, min(first + AT_ONCE, repeats)) for first in range(0, repeats, AT_ONCE)]
    played = play({f"runs {block}": partial(_runs, block, rounds, regression) for block in blocks})
    runs = [run for block in blocks for run in played[f"runs {block}"]]
    return _result(runs, regression, rounds)


def _runs(seeds: range, rounds: int, regression: bool) -> list[dict[str, Any]]:
    found = []
    for seed in seeds:
        at = int(np.random.default_rng([seed, 1]).uniform(0.2, 0.8) * rounds)
        X, y, p = spherical(rounds, 4, at, SIGMA, regression, seed, truth=True)
        best = np.mean((p - y) ** 2) if regression else 100 * np.mean(np.where(p > 0, 1, -1) != y)
        run: dict[str, Any] = {"optimum": {"error": float(best)}, "at": at}
        for name, algorithm in list(NAMES.items())[1:]:
            more: dict[str, Any] = {"regression": True} if regression else {}
            if regression and algorithm != "BBQ":
                more["Z"] = 2 * SIGMA
            trace = paper(algorithm, kappa=KAPPA, seed=seed, **more).run(X, y)
            error = np.mean((trace.prediction - y) ** 2) if regression else 100 * trace.mistakes / rounds
            switches = trace.switches.tolist()
            run[name] = {"error": float(error), "labels": trace.questions, "switches": switches}
        found.append(run)
    return found


def _result(runs: list[dict[str, Any]], regression: bool, rounds: int) -> ExperimentResult:
    kind = "regression" if regression else "classification"
    rows, claims = [], {}
    for name, published in PUBLISHED[regression].items():
        error = np.array([run[name]["error"] for run in runs])
        labels = np.array([run[name].get("labels", 0) for run in runs])
        row = [name, _error(regression, published.error, published.error_deviation)]
        row += [_error(regression, error.mean(), error.std(ddof=1))]
        row += ["" if published.labels is None else _labels(published.labels, published.labels_deviation)]
        row += ["" if name == "optimum" else _labels(labels.mean(), labels.std(ddof=1))]
        rows.append(row)
        near = abs(error.mean() - published.error) <= 2 * published.error_deviation
        claims[f"{name}: error within two published deviations"] = holds(near)
        if published.labels is not None and published.labels_deviation is not None:
            near = abs(labels.mean() - published.labels) <= 2 * published.labels_deviation
            claims[f"{name}: labels within two published deviations"] = holds(near)
    error_is = "mean squared error" if regression else "error"
    columns = ["", f"published {error_is}", f"measured {error_is}", "published labels", "measured labels"]
    tables = [ResultTable("Errors and labels, with standard deviations in brackets", columns, rows)]
    figures, lines = {}, []
    for name in ("detector", FREE):
        counts = [len(run[name]["switches"]) for run in runs]
        false = sum(_false(run, name) for run in runs)
        delays = [_delay(run, name) for run in runs]
        found = [delay for delay in delays if delay is not None]
        numbers = ", ".join(f"{k} in {counts.count(k)} runs" for k in sorted(set(counts)))
        middle = NumberText(f"{np.median(found):,.0f}", float(np.median(found))) if found else "none"
        lines.append([name, numbers, str(false), f"{len(found)} of {len(runs)}", middle])
        claims[f"{name}: no false detection"] = holds(false == 0)
        missed = f", {len(runs) - len(found)} of {len(runs)} runs found none" if len(found) < len(runs) else ""
        figures[f"delay-{name.replace(', ', '-').replace(' ', '-')}"] = histogram_figure(
            {f"{len(found)} runs": found},
            title=f"Rounds from the switch to its detection, {kind}, {name}{missed}",
            across="rounds",
            up="runs",
        )
    columns = ["", "detections", "false (published: none)", "runs that found the switch", "median delay"]
    tables.append(ResultTable("Detections", columns, lines))
    remarks = [f"{len(runs)} runs of {rounds:,} rounds; the switch is uniform between a fifth and four fifths of them."]
    return ExperimentResult(tables, figures, remarks, claims)


def _error(regression: bool, mean: float, deviation: float) -> NumberText:
    text = f"{mean:.4f} ({deviation:.4f})" if regression else f"{mean:.2f} % ({deviation:.2f})"
    return NumberText(text, mean, deviation)


def _labels(mean: float, deviation: float | None) -> NumberText:
    return (
        NumberText(f"{mean:,.0f}", mean)
        if deviation is None
        else NumberText(f"{mean:,.0f} ({deviation:,.0f})", mean, deviation)
    )


def _false(run: dict[str, Any], name: str) -> int:
    """Detections before the switch, and all but one after it."""
    before = sum(bool(at < run["at"]) for at in run[name]["switches"])
    return int(before + max(len(run[name]["switches"]) - before - 1, 0))


def _delay(run: dict[str, Any], name: str) -> int | None:
    """Rounds from the switch to the first detection after it."""
    return next((at - run["at"] for at in run[name]["switches"] if at >= run["at"]), None)
