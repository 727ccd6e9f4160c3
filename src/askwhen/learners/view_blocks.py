"""The blocks of a row of several views, and the drift levels of the experts on each block.

The views are those of :mod:`askwhen.contracts.views`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..contracts.views import Layout
from ..linalg.vectors import all_finite, all_within

LINEAR, CURVED, DEVIATION, RANKS = "linear", "curved", "deviation", "ranks"
LEVELS = {
    LINEAR: (1e5, 1e2, 1e1, 1e0),
    CURVED: (1e5, 1e2, 1e1),
    DEVIATION: (1e5, 1e2, 1e1),
    RANKS: (1e5, 1e2, 1e1),
}

SCORED = 0.05
"""Only experts with at least this share of the largest weight are scored in every round."""

FADE = (math.exp(-1.0 / 3.0), math.exp(-1.0 / 30.0))
"""Factors by which the sums of recent labels fade in a round, for tau = 3 and 30."""

LIMIT = 1e6
"""The largest |z|^2: beyond it, rounding in the matrices, in single precision, would hide what was learnt."""

_LARGEST = 1e20
"""Largest entry of a matrix in a file."""


def blocks_of(layout: Layout) -> dict[str, tuple[int, int]]:
    """The begin and end of each block in the row; a block without features has no experts."""
    _, linear, deviation, ranks, _, width = layout
    return {
        LINEAR: (linear, deviation),
        CURVED: (0, deviation),
        DEVIATION: (linear, ranks if ranks > deviation else linear),
        RANKS: (ranks, width),
    }


def levels_of(layout: Layout) -> dict[str, tuple[float, ...]]:
    """The drift levels of each block."""
    return {name: LEVELS[name] if stop > start else () for name, (start, stop) in blocks_of(layout).items()}


def one_of(layout: Layout) -> int:
    """The index of the feature 1 in the linear block."""
    return layout.d


def is_sound_matrices(block: Any) -> bool:
    """Whether no variance is negative, up to rounding, and no covariance larger than its two variances allow."""
    if not (all_finite(block.w) and all_within(block.Q, -_LARGEST, _LARGEST) and all_within(block.drift, 0.0, 1.0)):
        return False
    variances = np.diagonal(block.Q, axis1=1, axis2=2).astype(float)
    largest = np.sqrt(np.maximum(variances, 0.0).max(axis=1, initial=0.0))[:, None, None]
    roots = np.sqrt(np.maximum(variances, 0.0)) + 1e-3 * largest[:, :, 0]
    return bool((variances >= -1e-3 * largest[:, :, 0] ** 2).all()) and all_within(
        np.abs(block.Q) - roots[:, :, None] * roots[:, None, :], -2.0 * _LARGEST, 1e-3
    )


def matrix_bytes(layout: Layout) -> int:
    """Number of bytes of the matrices."""
    return sum(4 * len(LEVELS[name]) * (stop - start) ** 2 for name, (start, stop) in blocks_of(layout).items())
