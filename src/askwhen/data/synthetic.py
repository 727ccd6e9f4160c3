"""Synthetic streams: pure functions of their sizes and a seed.

==========  ==========================================================
u           the target: labels are the sign of u.x, or u.x itself with noise
==========  ==========================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from ..errors import InputError
from ..validation import check_count, check_number, check_positive, check_seed


def switching(n: int = 10_000, d: int = 50, every: int = 500, seed: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian instances whose Gaussian target is drawn again every ``every`` rounds.

    Moroshko, Crammer 2014, section 6.

    Parameters
    ----------
    n, d : int
        Number of instances, and their dimension.
    every : int, default 500
        Number of rounds that a target lasts.
    seed : int, optional
        Random seed.

    Examples
    --------
    >>> import askwhen as aw
    >>> X, y = aw.data.switching(n=1000, d=10, every=250, seed=1)
    >>> X.shape, sorted(set(y.tolist()))
    ((1000, 10), [-1.0, 1.0])
    """
    _check("switching", n=n, d=d, every=every)
    rng = _rng("switching", seed)
    X = rng.standard_normal((n, d))
    targets = rng.standard_normal((-(-n // every), d))
    return X, _signs((X * targets[np.arange(n) // every]).sum(axis=1))


def drifting(
    n: int = 10_000, d: int = 50, turn: float = 0.01, seed: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian instances whose target turns by ``turn`` radians in every round, towards a direction that changes too.

    Parameters
    ----------
    n, d : int
        Number of instances, and their dimension.
    turn : float, default 0.01
        Angle by which the target turns in a round, in radians.
    seed : int, optional
        Random seed.
    """
    _check("drifting", n=n, d=d)
    check_number("drifting", "turn", turn, "a finite number of at least 0", 0.0, open_low=False, open_high=True)
    rng = _rng("drifting", seed)
    X = rng.standard_normal((n, d))
    y = np.empty(n)
    u, asides = _unit(rng.standard_normal(d)), rng.standard_normal((n // 100 + 1, d))
    for t in range(n):
        y[t] = X[t] @ u
        aside = asides[t // 100]
        across = aside - (aside @ u) * u
        u = np.cos(turn) * u + np.sin(turn) * _unit(across)
    return X, _signs(y)


def spherical(
    n: int = 100_000,
    d: int = 4,
    at: int | None = None,
    sigma: float = 0.4,
    regression: bool = False,
    seed: int | None = None,
    truth: bool = False,
) -> tuple[np.ndarray, ...]:
    """Instances on the unit sphere, and a target on it that is drawn again once.

    Kravchik 2014. A label is +1 with probability (1 + u.x) / 2; for regression it is u.x with Gaussian noise that is
    clipped at two standard deviations.

    Parameters
    ----------
    n, d : int
        Number of instances, and their dimension.
    at : int, optional
        The round of the switch; by default uniform between 0.2 n and 0.8 n.
    sigma : float, default 0.4
        The noise of a regression.
    regression : bool, default False
        Whether labels are numbers.
    seed : int, optional
        Random seed.
    truth : bool, default False
        Whether to return u.x of every round too, which the best predictor knows.
    """
    _check("spherical", n=n, d=d)
    check_positive("spherical", "sigma", sigma)
    if at is not None:
        check_number("spherical", "at", at, f"a round from 0 to {n}", 0.0, n, open_low=False)
    rng = _rng("spherical", seed)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    at = int(rng.uniform(0.2, 0.8) * n) if at is None else at
    targets = rng.standard_normal((2, d))
    targets /= np.linalg.norm(targets, axis=1, keepdims=True)
    p = (X * targets[(np.arange(n) >= at).astype(int)]).sum(axis=1)
    if regression:
        y = p + np.clip(sigma * rng.standard_normal(n), -2 * sigma, 2 * sigma)
    else:
        y = _signs((1 + p) / 2 - rng.random(n))
    return (X, y, p) if truth else (X, y)


def regrouped(X: Any, classes: Any, every: int = 500, seed: int | None = None) -> tuple[Any, np.ndarray]:
    """Instances of several classes in a random order; some classes are +1, and other ones every ``every`` rounds.

    Moroshko, Crammer 2014, section 5. Neither side is ever empty.

    Parameters
    ----------
    X : array or CSR
        Instances.
    classes : array
        The class of each.
    every : int, default 500
        Number of rounds that a grouping lasts.
    seed : int, optional
        Random seed.

    Examples
    --------
    >>> import askwhen as aw
    >>> digits = aw.data.load("digits")
    >>> X, y = aw.data.regrouped(digits.X, digits.y, seed=1)
    >>> X.shape, sorted(set(y.tolist()))
    ((1797, 64), [-1.0, 1.0])
    """
    _check("regrouped", every=every)
    rng = _rng("regrouped", seed)
    known, places = np.unique(np.asarray(classes), return_inverse=True)
    if len(known) < 2 or len(places) != X.shape[0]:
        raise InputError(
            f"classes must be two or more, one for each row of X, got {len(known)} in {len(places)}.", owner="regrouped"
        )
    order = rng.permutation(len(places))
    groups = rng.random((-(-len(places) // every), len(known))) < 0.5
    for group in groups:
        while group.all() or not group.any():
            group[:] = rng.random(len(known)) < 0.5
    return X[order], np.where(groups[np.arange(len(places)) // every, places[order]], 1.0, -1.0)


def noisy_linear(
    n: int = 10_000, d: int = 20, noise: float = 0.1, seed: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Gaussian instances and one target; this share of the labels is turned over.

    Parameters
    ----------
    n, d : int
        Number of instances, and their dimension.
    noise : float, default 0.1
        The share of labels that are flipped.
    seed : int, optional
        Random seed.
    """
    _check("noisy_linear", n=n, d=d)
    check_number("noisy_linear", "noise", noise, "a number from 0 to 1", 0.0, 1.0, open_low=False)
    rng = _rng("noisy_linear", seed)
    X = rng.standard_normal((n, d))
    y = _signs(X @ rng.standard_normal(d))
    return X, np.where(rng.random(n) < noise, -y, y)


def zipf_text(
    n: int = 10_000, d: int = 47_236, words: int = 76, noise: float = 0.05, seed: int | None = None
) -> tuple[sp.csr_matrix, np.ndarray]:
    """Sparse rows like texts: so many different words of d, the k-th most frequent with frequency 1/k, of unit norm.

    Labels come from a target on the words; the share ``noise`` of them is flipped.

    Parameters
    ----------
    n, d : int
        Number of instances, and their dimension.
    words : int
        Number of different words in a row.
    noise : float
        The share of labels that are flipped.
    seed : int, optional
        Random seed.
    """
    _check("zipf_text", n=n, d=d, words=words)
    check_number("zipf_text", "noise", noise, "a number from 0 to 1", 0.0, 1.0, open_low=False)
    rng = _rng("zipf_text", seed)
    words = min(words, d)
    chances = np.cumsum(1.0 / np.arange(1, d + 1))
    indices = np.empty((n, words), np.int32)
    for i in range(n):
        found: Any = np.zeros(0, np.int64)
        while len(found) < words:
            more = np.searchsorted(chances, rng.random(2 * words) * chances[-1])
            found = np.concatenate([found, more])
            found = found[np.sort(np.unique(found, return_index=True)[1])]
        indices[i] = np.sort(found[:words])
    data = rng.lognormal(0.0, 0.5, (n, words))
    data /= np.linalg.norm(data, axis=1, keepdims=True)
    X = sp.csr_matrix((data.ravel(), indices.ravel(), np.arange(n + 1) * words), (n, d))
    y = _signs(X @ rng.standard_normal(d))
    return X, np.where(rng.random(n) < noise, -y, y)


def _check(owner: str, **counts: Any) -> None:
    for name, count in counts.items():
        check_count(owner, name, count)


def _rng(owner: str, seed: int | None) -> np.random.Generator:
    check_seed(owner, seed)
    return np.random.default_rng(seed)


def _unit(v: np.ndarray) -> np.ndarray:
    return np.asarray(v / max(float(np.linalg.norm(v)), 1e-300))


def _signs(p: np.ndarray) -> np.ndarray:
    return np.where(p > 0, 1.0, -1.0)
