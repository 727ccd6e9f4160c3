"""The scale at which an algorithm asks for a wanted share of a stream's labels, by bisection."""

from __future__ import annotations

import math
from typing import Any

from ..algorithms import Algorithm
from ..errors import InputError
from ..prepare import Prepare

_STEPS = 24
_NEAR = 0.005  # relative to the wanted share
_FARTHEST = 40.0


def matched(
    algorithm: Algorithm,
    X: Any,
    y: Any,
    share: float,
    letters: dict[str, Any] | None = None,
    *,
    prepare: Prepare | None = None,
    seed: int | None = 0,
) -> dict[str, Any]:
    """All letters of the algorithm, with the scale at which it asks for this share of the labels of a stream.

    The more scale, the more is asked, but for coins and for what is learnt on the way; where no scale gives the share,
    that of the nearest is taken.
    """
    scale = algorithm.scale
    if scale is None:
        raise InputError(f"matched: {algorithm.name} asks for every label.")
    given = algorithm.usual() | dict(letters or {})
    if scale == "rate":
        return given | {scale: share}
    tried: dict[float, float] = {}

    def asked(z: float) -> float:
        sampler = algorithm.build(given | {scale: _value(scale, z)}, prepare=prepare, seed=seed)
        tried[z] = float(sampler.run(X, y, margins=False, trace=False).questions) / len(y)
        return tried[z]

    low, high = -1.0, 1.0
    while asked(low) > share and low > -_FARTHEST:
        low, high = 2.0 * low, low
    while asked(high) < share and high < _FARTHEST:
        low, high = high, 2.0 * high if high > 0.0 else 0.5 * high
    for _ in range(_STEPS):
        if min(abs(found - share) for found in tried.values()) <= _NEAR * share:
            break
        z = 0.5 * (low + high)
        low, high = (z, high) if asked(z) < share else (low, z)
    best = min(tried, key=lambda z: abs(tried[z] - share))
    return given | {scale: _value(scale, best)}


def _value(scale: str, z: float) -> float:
    """The letter: any positive number, or one below 1 for kappa."""
    return 1.0 / (1.0 + math.exp(-z)) if scale == "kappa" else math.exp(z)
