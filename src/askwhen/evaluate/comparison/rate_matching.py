"""Finds by bisection the hyperparameter at which an algorithm asks for a given share of the labels."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...algorithms import Algorithm
from ...errors import InputError
from ...prepare import Prepare

_STEPS = 16
_NEAR = 0.005  # relative to the wanted share
_FARTHEST = 32.0
_SEEDS = 3


def matched(
    algorithm: Algorithm,
    X: Any,
    y: Any,
    share: float,
    hyperparameters: dict[str, Any] | None = None,
    *,
    prepare: Prepare | None = None,
    kernel: Any = None,
    seed: int = 0,
    classes: Any = None,
) -> dict[str, Any]:
    """All hyperparameters of the algorithm, with the scale at which it asks for this share of the labels of a stream.

    The share grows with the scale, apart from chance and from what is learnt on the way, so it is the mean over three
    seeds, beginning with ``seed``. If no scale gives the share exactly, the nearest one that was tried is taken.
    """
    # As many parameters as Algorithm.build, whose arguments it passes on.
    scale = algorithm.scale
    if scale is None:
        raise InputError(f"{algorithm.name} asks for every label.", owner="matched")
    given = algorithm.usual() | dict(hyperparameters or {})
    if scale == "rate":
        return given | {scale: share}

    def asked(z: float, seeds: int) -> float:
        """Share of labels asked for, averaged over this many seeds."""
        found = 0
        for k in range(seeds):
            tried = given | {scale: _value(scale, z)}
            sampler = algorithm.build(tried, prepare=prepare, kernel=kernel, seed=seed + k, classes=classes)
            found += sampler.run(X, y, margins=False, trace=False).questions
        return found / (seeds * len(y))

    low, high = -1.0, 1.0
    while asked(low, 1) > share and low > -_FARTHEST:
        low, high = 2.0 * low, low
    while asked(high, 1) < share and high < _FARTHEST:
        low, high = high, 2.0 * high if high > 0.0 else 0.5 * high
    first = _bisected(lambda z: asked(z, 1), share, low, high)
    reach = 0.1 * (high - low)  # other seeds need another scale, but not by much
    best = _bisected(lambda z: asked(z, _SEEDS), share, first - reach, first + reach)
    return given | {scale: _value(scale, best)}


def _bisected(asked: Callable[[float], float], share: float, low: float, high: float) -> float:
    """The place, of those tried, where an increasing function comes nearest to the share."""
    tried: dict[float, float] = {}
    for _ in range(_STEPS):
        z = 0.5 * (low + high)
        tried[z] = asked(z)
        if abs(tried[z] - share) <= _NEAR * share:
            break
        low, high = (z, high) if tried[z] < share else (low, z)
    return min(tried, key=lambda z: abs(tried[z] - share))


def _value(scale: str, z: float) -> float:
    """The scale as a positive number, or as one below 1 for kappa, from its place on the whole line."""
    return 1.0 / (1.0 + math.exp(-z)) if scale == "kappa" else math.exp(z)
