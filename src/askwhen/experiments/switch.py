"""Kravchik 2014: one switch in a stream on the unit sphere, found by a detector that watches over BBQ.

T = 100,000, d = 4, kappa 0.7, L0 400, K 6, delta 0.05; the switch is uniform between 0.2 T and 0.8 T, and the noise of
the regression is clipped at two standard deviations, Z. Errors count every round.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..data import spherical
from ..papers import paper
from ..report.figures import histogram_figure
from .outcome import Outcome, Play, Table

NAMES = {"optimum": "", "BBQ": "BBQ", "detector": "BBQ-SWITCH", "detector, no extra": "BBQ-SWITCH-FREE"}
SIGMA, KAPPA, AT_ONCE = 0.4, 0.7, 5
PUBLISHED: dict[bool, dict[str, tuple[float, float | None, int | None]]] = {
    False: {
        "optimum": (28.81, 0.15, None),
        "BBQ": (35.76, 4.57, 12_640),
        "detector": (29.57, 0.60, 28_000),
        "detector, no extra": (29.70, 0.48, 14_844),
    },
    True: {
        "optimum": (0.1473, None, None),
        "BBQ": (0.2821, 0.0629, None),
        "detector": (0.1602, 0.0083, None),
        "detector, no extra": (0.1629, 0.0061, None),
    },
}
"""Error (percent of the rounds, or mean squared), its standard deviation, labels."""


def classification(play: Play, size: str) -> Outcome:
    """The tables and histograms of the classification part."""
    return _study(play, size, regression=False)


def regression(play: Play, size: str) -> Outcome:
    """Those of the regression part."""
    return _study(play, size, regression=True)


def _study(play: Play, size: str, regression: bool) -> Outcome:
    repeats, rounds = {"tiny": 4, "quick": 20, "full": 100}[size], 100_000
    blocks = [range(first, min(first + AT_ONCE, repeats)) for first in range(0, repeats, AT_ONCE)]
    played = play({f"runs {block}": partial(_runs, block, rounds, regression) for block in blocks})
    runs = [run for block in blocks for run in played[f"runs {block}"]]
    return _told(runs, regression, rounds)


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


def _told(runs: list[dict[str, Any]], regression: bool, rounds: int) -> Outcome:
    errors = {name: np.array([run[name]["error"] for run in runs]) for name in NAMES}
    written = "{:.4f}" if regression else "{:.2f} %"
    rows, claims = [], {}
    for name, (error, deviation, labels) in PUBLISHED[regression].items():
        asked = None if name == "optimum" else np.array([run[name]["labels"] for run in runs])
        rows.append(
            [
                name,
                written.format(error) + ("" if deviation is None else f" ({deviation:g})"),
                f"{written.format(errors[name].mean())} ({errors[name].std(ddof=1):.2g})",
                "" if labels is None else f"{labels:,}",
                "" if asked is None else f"{asked.mean():,.0f} ({asked.std(ddof=1):,.0f})",
            ]
        )
        off = float(abs(errors[name].mean() - error))
        if deviation is None:  # the slides give none
            claims[f"{name}: error as published, to three digits"] = off <= 0.0005
        else:
            claims[f"{name}: error within two published deviations"] = off <= 2 * deviation
    columns = ["", "published error (deviation)", "measured", "published labels", "measured (deviation)"]
    tables = [Table("Errors and labels", columns, rows)]
    figures, lines = {}, []
    for name in ("detector", "detector, no extra"):
        counts = [len(run[name]["switches"]) for run in runs]
        false = sum(_false(run, name) for run in runs)
        delays = [_delay(run, name) for run in runs]
        found = [delay for delay in delays if delay is not None]
        numbers = ", ".join(f"{counts.count(k)} runs with {k}" for k in sorted(set(counts)))
        middle = f"{np.median(found):,.0f}" if found else "none"
        lines.append([name, numbers, str(false), f"{len(found)} of {len(runs)}", middle])
        claims[f"{name}: no false detection"] = false == 0
        figures[f"delay-{name.replace(', ', '-').replace(' ', '-')}"] = histogram_figure(
            {name: found}, title=f"Rounds from the switch to its detection: {name}", across="rounds", up="runs"
        )
    columns = ["", "detections", "false (published: none)", "runs that found the switch", "median delay"]
    tables.append(Table("Detections", columns, lines))
    return Outcome(tables, figures, [], claims)


def _false(run: dict[str, Any], name: str) -> int:
    """Detections before the switch, and all but one after it."""
    before = sum(bool(at < run["at"]) for at in run[name]["switches"])
    return int(before + max(len(run[name]["switches"]) - before - 1, 0))


def _delay(run: dict[str, Any], name: str) -> int | None:
    """Rounds from the switch to the first detection after it."""
    return next((at - run["at"] for at in run[name]["switches"] if at >= run["at"]), None)
