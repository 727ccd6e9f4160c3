"""The real streams of the benchmarks, from the folder that ASKWHEN_DATA names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from askwhen.data import load, switching

Stream = tuple[Any, np.ndarray]
ROWS = 10_000
"""Longer streams are cut here."""


def _signs(truth: Any) -> np.ndarray:
    return np.where(truth, 1.0, -1.0)


def _cut(name: str) -> Stream:
    data = load(name)
    return data.X[:ROWS], data.y[:ROWS]


def _shuffled(name: str, rng: np.random.Generator) -> Stream:
    data = load(name)
    X = data.X.toarray() if sp.issparse(data.X) else data.X
    order = rng.permutation(len(data.y))[:ROWS]
    return X[order], data.y[order]


def elec2(rng: np.random.Generator) -> Stream:
    """Electricity prices, half-hourly; they drift."""
    return _cut("elec2")


def usenet2(rng: np.random.Generator) -> Stream:
    """Messages of a user whose interests change every 300."""
    return _cut("usenet2")


def spam(rng: np.random.Generator) -> Stream:
    """The spam corpus in full, 39,916 words; it drifts."""
    return _cut("spam")


def a9a(rng: np.random.Generator) -> Stream:
    """Census incomes, shuffled."""
    return _shuffled("a9a", rng)


def w8a(rng: np.random.Generator) -> Stream:
    """Web pages, shuffled; 3 % are positive."""
    return _shuffled("w8a", rng)


def mushrooms(rng: np.random.Generator) -> Stream:
    """Edible or poisonous, shuffled."""
    return _shuffled("mushrooms", rng)


def spambase(rng: np.random.Generator) -> Stream:
    """Word frequencies of mails, shuffled."""
    return _shuffled("spambase", rng)


def svmguide1(rng: np.random.Generator) -> Stream:
    """Astroparticles, shuffled."""
    return _shuffled("svmguide1", rng)


def usps(rng: np.random.Generator) -> Stream:
    """Digits; which of them are positive changes every 500."""
    found = load("usps")
    X, digits = np.vstack([found.X, found.X_test]), np.concatenate([found.y, found.y_test])
    order = rng.permutation(len(digits))
    digits = digits[order]
    y = np.empty(len(digits))
    for start in range(0, len(y), 500):
        part = slice(start, start + 500)
        y[part] = _signs(np.isin(digits[part], rng.permutation(10)[:5]))
    return X[order], y


def _topic(name: str, topic: str) -> Stream:
    data = load(name)
    return data.X[:ROWS], data.y[:ROWS, data.names.index(topic)]


def rcv1(rng: np.random.Generator) -> Stream:
    """News, 47,236 words; about companies or not."""
    return _topic("rcv1", "CCAT")


def reuters(rng: np.random.Generator) -> Stream:
    """Reuters-21578 in order of date; about earnings or not; words are hashed."""
    return _topic("reuters", "earn")


def digits(rng: np.random.Generator) -> Stream:
    """Small images, odd or even, shuffled."""
    X, y = _shuffled("digits", rng)
    return X, _signs(y % 2 > 0)


def synthetic(rng: np.random.Generator) -> Stream:
    """Moroshko and Crammer's: Gaussian instances, 50 features, a new target every 500."""
    return switching(seed=int(rng.integers(2**31)))


DRIFTING: dict[str, Callable[[np.random.Generator], Stream]] = {
    f.__name__: f for f in (elec2, usenet2, spam, usps, synthetic)
}
STILL: dict[str, Callable[[np.random.Generator], Stream]] = {
    f.__name__: f for f in (a9a, w8a, mushrooms, spambase, svmguide1, rcv1, reuters, digits)
}
