"""How does a round grow with what it is given? Microseconds per round, and the exponent that fits them.

    python benchmarks/growth.py [--quick] [--json OUT] [--figure OUT.svg]

Against the dimension d, the number of rounds n, the non-zeros of a sparse row, the instances that a kernel learner
keeps, and the number of tasks over one stream. The exponent is the slope of the logarithms over the upper half of the
range, where fixed costs no longer show: 1 is linear, 0 is free. Each point is the best of several.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import askwhen as aw
from askwhen.report.figures import FigureLine, line_figure
from workloads import best, text_like, unit_norm

Points = dict[int, float]


def timed(build: Callable[[], aw.Sampler], X: Any, y: Any, repeats: int, **more: bool) -> float:
    """Microseconds per round."""
    return best({"": lambda: build().run(X, y, **more)}, repeats)[""] / len(y) * 1e6


def lasec() -> aw.Sampler:
    return aw.Sampler(aw.Lasec(1.0, 300.0), aw.Always(), seed=0)


def perceptron() -> aw.Sampler:
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)


def by_dimension(build: Callable[[], aw.Sampler], most: int, repeats: int, work: float) -> Points:
    found = {}
    for d in (4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
        if d <= most:
            power = 1 if build is perceptron else 2
            X, y = unit_norm(int(min(max(work / d**power, 200), 100_000)), d)
            found[d] = timed(build, X, y, repeats)
    return found


def by_rounds(most: int, repeats: int) -> Points:
    """Time per round of ever longer streams, cut from one array."""
    X, y = unit_norm(most, 4)
    sizes = [10**k for k in range(4, 9) if 10**k <= most]
    return {n: timed(perceptron, X[:n], y[:n], repeats, trace=False) for n in sizes}


def by_nonzeros(repeats: int) -> Points:
    found = {}
    for nonzeros in (8, 16, 32, 64, 128, 256, 512):
        X, y = text_like(max(2_000, 400_000 // nonzeros), nonzeros=nonzeros)
        found[nonzeros] = timed(perceptron, X, y, repeats)
    return found


def by_support(repeats: int, most: int) -> Points:
    """A kernel Perceptron that asks at random, so that it soon stores all that its budget allows."""
    found: Points = {}
    budget = 64
    while budget <= most:
        X, _ = unit_norm(4 * budget + 2_000, 20)
        y = np.random.default_rng(1).choice([-1.0, 1.0], len(X))
        sampler = aw.Sampler(aw.Perceptron(kernel=aw.Gaussian(1.0), budget=budget), aw.Always(), seed=0)
        first = len(X) - 2_000
        sampler.run(X[:first], y[:first], trace=False)
        assert len(sampler.support[1]) == budget
        goes_on = partial(sampler.run, X[first:], y[first:], trace=False)
        found[budget] = best({"": goes_on}, repeats)[""] / 2_000 * 1e6
        budget *= 2
    return found


def by_tasks(repeats: int) -> Points:
    X, _ = text_like(4_000)
    targets = np.random.default_rng(0).standard_normal((X.shape[1], 64))
    Y = np.where(X @ targets > 0, 1.0, -1.0)
    return {k: timed(perceptron, X, Y[:, :k], repeats, trace=False) for k in (1, 2, 4, 8, 16, 32, 64)}


def exponent(points: Points) -> float:
    """The slope of the logarithms over the upper half of the range."""
    x, y = np.log(list(points)), np.log(list(points.values()))
    upper = len(x) // 2
    return float(np.polyfit(x[upper:], y[upper:], 1)[0])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter ranges, best of two")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--figure", type=Path)
    options = parser.parse_args()
    repeats, quick = (2, True) if options.quick else (5, False)
    studies: dict[str, tuple[str, Callable[[], Points]]] = {
        "dimension, Perceptron": ("1", lambda: by_dimension(perceptron, 512 if quick else 4096, repeats, 2e6)),
        "dimension, LASEC": ("2", lambda: by_dimension(lasec, 512 if quick else 4096, repeats, 5e7)),
        "rounds, Perceptron": ("0", lambda: by_rounds(10**6 if quick else 10**7, repeats)),
        "non-zeros, Perceptron": ("1", lambda: by_nonzeros(repeats)),
        "kept instances, kernel Perceptron": ("1", lambda: by_support(repeats, 512 if quick else 4096)),
        "tasks, Perceptron": ("1", lambda: by_tasks(repeats)),
    }
    found, exponents = {}, {}
    print("| microseconds per round against | expected exponent | fitted | points |\n|---|---:|---:|---|")
    for name, (expected, study) in studies.items():
        found[name] = study()
        exponents[name] = exponent(found[name])
        points = ", ".join(f"{x:,}: {y:.3g}" for x, y in found[name].items())
        print(f"| {name} | {expected} | {exponents[name]:.2f} | {points} |", flush=True)
    if options.json is not None:
        options.json.write_text(json.dumps({"points": found, "exponents": exponents}, indent=1))
    if options.figure is not None:
        lines = [
            FigureLine(f"{name}: {exponents[name]:.2f}", list(points), list(points.values()))
            for name, points in found.items()
        ]
        title = "Time of a round against what grows, and the exponent that fits"
        across, up = "dimension, rounds, non-zeros, kept instances, or tasks", "microseconds per round"
        figure = line_figure(lines, title=title, across=across, up=up, shares=False, log=True, log_up=True)
        options.figure.write_text(figure)


if __name__ == "__main__":
    main()
