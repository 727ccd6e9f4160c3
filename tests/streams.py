"""Small streams that between them meet what the algorithms must survive. All are pure functions of a seed."""

import itertools

import numpy as np


def noisy(seed, n=240, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X @ rng.standard_normal(d) + 0.5 * rng.standard_normal(n) > 0, 1.0, -1.0)


def separable(seed, n=240, d=6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    w = rng.standard_normal(d)
    w /= np.linalg.norm(w)
    score = X @ w
    X += np.outer(np.sign(score) * 0.2, w)
    return X, np.where(score > 0, 1.0, -1.0)


def drifting(seed, n=240, d=6, every=60):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    targets = rng.standard_normal((n // every + 1, d))[np.arange(n) // every]
    return X, np.where((X * targets).sum(axis=1) > 0, 1.0, -1.0)


def sparse(seed, n=240, d=12):
    rng = np.random.default_rng(seed)
    X = np.where(rng.random((n, d)) < 0.25, rng.standard_normal((n, d)), 0.0)
    return X, np.where(X @ rng.standard_normal(d) + 0.1 * rng.standard_normal(n) > 0, 1.0, -1.0)


def adversarial(seed, n=240, d=6):
    """Few directions again and again, zero rows, labels that contradict what was just learnt, mixed sizes."""
    rng = np.random.default_rng(seed)
    base = np.vstack([np.eye(d), np.ones((1, d)), rng.standard_normal((2, d)), np.zeros((1, d))])
    X = base[rng.integers(len(base), size=n)] * 10.0 ** rng.integers(-2, 3, size=(n, 1))
    return X, np.where(np.arange(n) % 2 == 0, 1.0, -1.0)


def switching_sphere(seed, n=600, d=3, at=300, noise=None):
    """The simulation of the switch slides, small: unit instances, E[y] = u.x, then v.x with v = -u."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = rng.standard_normal(d)
    u /= np.linalg.norm(u)
    mean = X @ u * np.where(np.arange(n) < at, 1.0, -1.0)
    if noise is not None:
        return X, mean + np.clip(rng.normal(0.0, noise / 2, n), -noise, noise)
    return X, np.where(rng.random(n) < (1 + mean) / 2, 1.0, -1.0)


STREAMS = {f.__name__: f for f in (noisy, separable, drifting, sparse, adversarial)}


def every_sequence_of_coins(X, y, make):
    """Every sequence of asked and not asked: its probability, the sampler after it, and what it predicted."""
    for asked in itertools.product([True, False], repeat=len(X)):
        made, chance, predicted = make(), 1.0, []
        for x, label, query in zip(X, y, asked, strict=True):
            made.engine.draws.ahead[:] = [0.0 if query else 1.0 - 1e-12]
            ask = made.ask(x)
            chance *= ask.probability if query else 1.0 - ask.probability
            if chance == 0.0:
                break
            predicted.append(ask.prediction)
            if ask.query:
                made.tell(ask, label)
        if chance > 0.0:
            yield chance, made, predicted
