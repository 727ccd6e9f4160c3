"""Ezukwoke, Zareian: passive-aggressive learners, active and with kernels, beside support vector machines.

One pass over the training part in a random order, the last hypothesis on the test part; C is the best of four by
progressive validation on the head, and delta of the active versions is matched to a fifth of the labels there.
"""

from __future__ import annotations

import time
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from ..algorithms import algorithm
from ..data import load
from ..errors import InputError
from ..evaluate.comparing import half_width
from ..evaluate.matching import matched
from ..kernels import Gaussian
from ..papers import paper
from .outcome import Outcome, Play, Table, percent, plus_minus

SETS = ("a9a", "w8a", "mushrooms", "svmguide1", "spambase")
C_GRID = (0.01, 0.1, 1.0, 10.0)
SHARE, HEAD, MOST_IN_KERNEL = 0.2, 2000, 8000


def study(play: Play, size: str) -> Outcome:
    """Accuracy, labels, time and support vectors on five data sets."""
    repeats, most = {"tiny": (1, 400), "quick": (2, 2000), "full": (5, 1 << 30)}[size]
    wanted = ("svmguide1",) if size == "tiny" else SETS
    here, remarks = [], ["The paper gives no figures of its own; what it proposes is measured here."]
    for name in wanted:
        try:
            load(name)
            here.append(name)
        except InputError:
            remarks.append(f"{name} is not here, and left out.")
    remarks.append(f"Versions with a kernel, and SVC, see at most {min(most, MOST_IN_KERNEL):,} training instances.")
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
                found = {what: np.array([run[each][what] for run in runs], float) for what in runs[0][each]}
                rows.append(
                    [
                        each,
                        plus_minus(found["accuracy"].mean(), float(half_width(found["accuracy"])), 2),
                        percent(found["labels"].mean()),
                        f"{found['seconds'].mean():.3g}",
                        "" if np.isnan(found["support"]).any() else f"{found['support'].mean():,.0f}",
                    ]
                )
        tables.append(Table(name, ["", "test accuracy", "labels", "seconds", "support vectors"], rows))
    return Outcome(tables, {}, remarks, _claims(tables))


def _claims(tables: list[Table]) -> dict[str, bool]:
    """What the paper proposes: a fifth of the labels costs little."""
    claims = {}
    for table in tables:
        accuracy = {row[0]: float(row[1].split()[0]) for row in table.rows}
        for name in ("PA", "PA-I", "PA-II"):
            near = accuracy[f"{name}-ACTIVE"] >= accuracy[name] - 3.0
            claims[f"{table.title}: {name}-ACTIVE is within 3 points of {name}, with a fifth of the labels"] = near
    return claims


def _parts(name: str, seed: int, most: int) -> tuple[Any, Any, Any, Any]:
    """Training and test parts, scaled by the training part; a fifth is for testing where the set has no part for it."""
    data, rng = load(name), np.random.default_rng(seed)
    X, y, X_test, y_test = data.X, data.y, data.X_test, data.y_test
    order = rng.permutation(len(y))
    if X_test is None:
        cut = len(y) // 5
        X_test, y_test, order = X[order[:cut]], y[order[:cut]], order[cut:]
    order = order[:most]
    X, y = X[order], y[order]
    if sp.issparse(X):
        return X, y, X_test, y_test
    mean, deviation = X.mean(axis=0), np.maximum(X.std(axis=0), 1e-12)
    X, X_test = ((part - mean) / deviation / np.sqrt(X.shape[1]) for part in (X, X_test))
    return X, y, X_test, y_test


def _cell(name: str, seed: int, most: int, kernel: bool) -> dict[str, dict[str, float]]:
    from sklearn.svm import SVC, LinearSVC

    X, y, X_test, y_test = _parts(name, seed, min(most, MOST_IN_KERNEL) if kernel else most)
    spread = float(np.mean(sp.csr_matrix(X).multiply(X).sum(axis=1)))
    gaussian = Gaussian(1.0 / spread) if kernel else None
    found: dict[str, dict[str, float]] = {}
    for base in ("PA", "PA-I", "PA-II"):
        letters = {} if base == "PA" else {"C": _best_c(base, X[:HEAD], y[:HEAD], gaussian)}
        active = f"{base}-ACTIVE"
        scaled = matched(algorithm(active), X[:HEAD], y[:HEAD], SHARE, letters, kernel=gaussian)
        for each, given in ((base, letters), (active, scaled)):
            started = time.perf_counter()
            sampler = paper(each, kernel=gaussian, seed=seed, **given)
            labels = sampler.run(X, y, trace=False).questions / len(y)
            seconds = time.perf_counter() - started
            accuracy = float(np.mean(sampler.predict(X_test) == y_test))
            support = len(sampler.support[1]) if kernel else float("nan")
            found[f"{each}, kernel" if kernel else each] = _facts(accuracy, labels, seconds, support)
    peer = SVC(gamma=1.0 / spread) if kernel else LinearSVC()
    started = time.perf_counter()
    peer.fit(X, y)
    seconds = time.perf_counter() - started
    support = float(peer.n_support_.sum()) if kernel else float("nan")
    found["SVC" if kernel else "LinearSVC"] = _facts(float(peer.score(X_test, y_test)), 1.0, seconds, support)
    return found


def _facts(accuracy: float, labels: float, seconds: float, support: float) -> dict[str, float]:
    return {"accuracy": accuracy, "labels": labels, "seconds": seconds, "support": support}


def _best_c(name: str, X: Any, y: np.ndarray, kernel: Any) -> float:
    mistakes = {C: paper(name, kernel=kernel, seed=0, C=C).run(X, y, trace=False).mistakes for C in C_GRID}
    return min(mistakes, key=mistakes.__getitem__)
