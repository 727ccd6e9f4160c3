"""The streams that speed is measured on, and how it is measured: best of several, in turns."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

import askwhen as aw


def text_like(n: int, d: int = 47_236, nonzeros: int = 76, seed: int = 0) -> tuple[Any, np.ndarray]:
    """Sparse rows of the shape of RCV1: Zipf-distributed features, unit norm."""
    rng = np.random.default_rng(seed)
    chance = np.cumsum(1.0 / np.arange(1, d + 1) ** 0.8)
    columns = np.searchsorted(chance / chance[-1], rng.random((n, nonzeros)))
    values = np.abs(rng.standard_normal((n, nonzeros)))
    X = sp.csr_matrix((values.ravel(), columns.ravel().astype(np.int32), np.arange(n + 1) * nonzeros), (n, d))
    X.sum_duplicates()
    X.data /= np.repeat(np.sqrt(X.multiply(X).sum(axis=1).A1), np.diff(X.indptr))
    target = rng.standard_normal(d)
    return X, np.where(X @ target > 0, 1.0, -1.0)


def unit_norm(n: int, d: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Dense unit-norm rows whose target switches every 500, as in the drift paper."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    targets = rng.standard_normal((n // 500 + 1, d))[np.arange(n) // 500]
    return X, np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)


WORKLOADS: dict[str, Callable[[], tuple[Any, np.ndarray]]] = {
    "W1": lambda: unit_norm(10_000, 50),
    "W2": lambda: unit_norm(9_298, 256),
    "W3": lambda: text_like(200_000),
    "W4": lambda: unit_norm(100_000, 4),
}


def scale_for(build: Callable[[float], aw.Sampler], X: Any, y: np.ndarray, share: float = 0.1) -> float:
    """The scale that asks for about this share of the labels, by bisection."""
    low, high = 1e-6, 10.0
    for _ in range(18):
        middle = (low * high) ** 0.5
        asked = build(middle).run(X, y, margins=False, trace=False).questions / len(y)
        low, high = (middle, high) if asked < share else (low, middle)
    return float((low * high) ** 0.5)


def best(calls: dict[str, Callable[[], Any]], repeats: int) -> dict[str, float]:
    """The best time of each call in seconds, interleaved."""
    for call in calls.values():
        call()
    times = dict.fromkeys(calls, np.inf)
    for _ in range(repeats):
        for name, call in calls.items():
            start = time.perf_counter()
            call()
            times[name] = min(times[name], time.perf_counter() - start)
    return times
