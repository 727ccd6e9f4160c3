"""Ezukwoke, Zareian: passive-aggressive learners, active and with kernels, compared with support vector machines.

The training part is learnt once in a random order, and the last hypothesis is evaluated on the test part. C is the best
of four by progressive validation on the head, and delta of the active versions is matched to a fifth of the labels
there.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..algorithms import algorithm
from ..data import load
from ..evaluate.comparison.comparing import half_width
from ..evaluate.comparison.rate_matching import matched
from ..papers import paper
from ..system.extras import needs_extra
from ..weights.kernels import Gaussian
from .outcome import (
    ExperimentResult,
    NumberText,
    Play,
    ResultTable,
    holds,
    is_here,
    listed,
    none_here,
    plus_minus,
    share_shown,
)

SETS = ("a9a", "w8a", "mushrooms", "svmguide1", "spambase")
C_GRID = (0.01, 0.1, 1.0, 10.0)
SHARE, HEAD, MOST_IN_KERNEL = 0.2, 2000, 8000


def study(play: Play, size: str) -> ExperimentResult:
    """Accuracy, labels, time and support vectors on five data sets."""
    repeats, most = {"tiny": (1, 400), "quick": (5, 2000), "full": (5, 1 << 30)}[size]
    wanted = ("svmguide1",) if size == "tiny" else SETS
    here = [name for name in wanted if is_here(name)]
    if not here:
        raise none_here("pa-svm", wanted)
    kernels = f"Versions with a kernel, and SVC, see at most {min(most, MOST_IN_KERNEL):,} training instances"
    remarks = [
        "The paper holds no measurements; what it proposes is measured here.",
        f"Means over {repeats} orders, with 95 % intervals. C of PA-I and PA-II is the best of {listed(C_GRID)}, and "
        f"delta of the active versions asks for a fifth of the labels, both on the first {HEAD:,} instances; the "
        f"parameters shown are those of the first order. LinearSVC and SVC are as scikit-learn sets them. {kernels}"
        f"{'' if most > MOST_IN_KERNEL else ', as do the others'}.",
        "Seconds are those of the run shown, while another one ran at the same time: compare them within a table only.",
        *(
            f"{name} is left out: its files are not in the folder that ASKWHEN_DATA names."
            for name in wanted
            if name not in here
        ),
    ]
    cells = {
        f"{name} of {k}, {kernel}": partial(_cell, name, k, most, kernel)
        for name in here
        for k in range(repeats)
        for kernel in (False, True)
    }
    played = play(cells)
    tables = []
    for name in here:
        rows = []
        for kernel in (False, True):
            runs = [played[f"{name} of {k}, {kernel}"] for k in range(repeats)]
            for each in runs[0]:
                numbers = ("accuracy", "labels", "seconds", "support")
                found = {what: np.array([run[each][what] for run in runs], float) for what in numbers}
                rows.append(
                    [
                        each,
                        plus_minus(found["accuracy"].mean(), float(half_width(found["accuracy"])), 2),
                        share_shown(found["labels"].mean()),
                        NumberText(f"{found['seconds'].mean():.3g}", found["seconds"].mean()),
                        _count(found["support"]),
                        runs[0][each]["parameters"],
                    ]
                )
        tables.append(
            ResultTable(name, ["", "test accuracy", "labels", "seconds", "support vectors", "parameters"], rows)
        )
    return ExperimentResult(tables, {}, remarks, _claims(tables))


def _claims(tables: list[ResultTable]) -> dict[str, str]:
    """What the paper proposes: a fifth of the labels costs little."""
    claims = {}
    for table in tables:
        accuracy = {row[0]: float(row[1].split()[0]) for row in table.rows}
        for name in ("PA", "PA-I", "PA-II"):
            near = accuracy[f"{name}-ACTIVE"] >= accuracy[name] - 3.0
            claims[f"{table.title}: {name}-ACTIVE is within 3 points of {name}"] = holds(near)
    return claims


def _count(values: np.ndarray) -> str:
    return "" if np.isnan(values).any() else NumberText(f"{values.mean():,.0f}", values.mean())


def _parts(name: str, seed: int, most: int) -> tuple[Any, Any, Any, Any]:
    """Training and test parts, scaled by the training part, with a feature that is always 1.

    PA has no intercept of its own. A fifth is for testing where the set has no part for it.
    """
    data, rng = load(name), np.random.default_rng(seed)
    X, y, X_test, y_test = data.X, data.y, data.X_test, data.y_test
    order = rng.permutation(len(y))
    if X_test is None:
        cut = len(y) // 5
        X_test, y_test, order = X[order[:cut]], y[order[:cut]], order[cut:]
    order = order[:most]
    X, y = X[order], y[order]
    if sp.issparse(X):
        X, X_test = (sp.csr_matrix(sp.hstack([part, np.ones((part.shape[0], 1))])) for part in (X, X_test))
        return X, y, X_test, y_test
    mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
    X, X_test = ((part - mean) / deviation / np.sqrt(X.shape[1]) for part in (X, X_test))
    X, X_test = (np.column_stack([part, np.ones(len(part))]) for part in (X, X_test))
    return X, y, X_test, y_test


def _cell(name: str, seed: int, most: int, kernel: bool) -> dict[str, dict[str, Any]]:
    with needs_extra("sklearn", "this experiment", "reproduce"):
        from sklearn.svm import SVC, LinearSVC

    X, y, X_test, y_test = _parts(name, seed, min(most, MOST_IN_KERNEL) if kernel else most)
    spread = float(np.mean(sp.csr_matrix(X).multiply(X).sum(axis=1)))
    gaussian = Gaussian(1.0 / spread) if kernel else None
    found: dict[str, dict[str, Any]] = {}
    for base in ("PA", "PA-I", "PA-II"):
        fixed = {} if base == "PA" else {"C": _best_c(base, X[:HEAD], y[:HEAD], gaussian)}
        active = f"{base}-ACTIVE"
        scaled = matched(algorithm(active), X[:HEAD], y[:HEAD], SHARE, fixed, kernel=gaussian)
        for each, given in ((base, fixed), (active, scaled)):
            started = time.perf_counter()
            sampler = paper(each, kernel=gaussian, seed=seed, **given)
            labels = sampler.run(X, y, trace=False).questions / len(y)
            seconds = time.perf_counter() - started
            accuracy = float(np.mean(sampler.predict(X_test) == y_test))
            support = len(sampler.support[1]) if kernel else float("nan")
            facts = _facts(accuracy, labels, seconds, support)
            shown = " ".join(f"{key}={value:.4g}" for key, value in given.items())
            found[f"{each}, kernel" if kernel else each] = facts | {"parameters": shown}
    peer = SVC(gamma=1.0 / spread) if kernel else LinearSVC()
    started = time.perf_counter()
    peer.fit(X, y)
    seconds = time.perf_counter() - started
    support = float(peer.n_support_.sum()) if kernel else float("nan")
    found["SVC" if kernel else "LinearSVC"] = _facts(float(peer.score(X_test, y_test)), 1.0, seconds, support)
    return found


def _facts(accuracy: float, labels: float, seconds: float, support: float) -> dict[str, Any]:
    return {"accuracy": accuracy, "labels": labels, "seconds": seconds, "support": support, "parameters": ""}


def _best_c(name: str, X: Any, y: np.ndarray, kernel: Any) -> float:
    mistakes = {C: paper(name, kernel=kernel, seed=0, C=C).run(X, y, trace=False).mistakes for C in C_GRID}
    return min(mistakes, key=mistakes.__getitem__)
