"""The blocks of a row of several views, and the drift levels of the experts on each block.

The views are those of :mod:`askwhen.contracts.views`.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..contracts.views import LARGEST_CURVED, Layout
from ..linalg.rows import beginning, position, size
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, UNSOUND, all_finite, all_within, inner
from .word_experts import EXPERTS

LINEAR, CURVED, DEVIATION, RANKS, DIRECTION = "linear", "curved", "deviation", "ranks", "direction"
LEVELS = {
    LINEAR: (1e5, 1e2, 1e1, 1e0),
    CURVED: (1e5, 1e2, 1e1),
    DEVIATION: (1e5, 1e2, 1e1),
    RANKS: (1e5, 1e2, 1e1),
    DIRECTION: (1e5, 1e2, 1e1, 1e0),
}

WIDE_LEVELS = {LINEAR: (1e5,), DIRECTION: (1e5, 1e1)}
"""The drift levels of blocks with more than ``WIDE`` features: fewer, since a matrix costs the square of that."""

WIDE = 512

STILLEST = 1e5
"""The drift level of experts that forget least."""

NOTHING_LASTS = np.zeros(0, np.bool_)
"""The experts that a saved model of release 0.1 predicts with: it has no weights of their own for that."""

SCORED = 0.05
"""Only experts with at least this share of the largest weight are scored in every round."""

FADE = (math.exp(-1.0 / 3.0), math.exp(-1.0 / 30.0))
"""Factors by which the sums of recent labels fade in a round, for tau = 3 and 30."""

LIMIT = 1e6
"""The largest |z|^2: beyond it, rounding in the matrices, in single precision, would hide what was learnt."""

_LARGEST = 1e20
"""Largest entry of a matrix in a file."""


@step
def take_in_single(state: Any, x: Any) -> Any:
    """Copy everything before the words to ``state.single``; return |z|^2, and whether the row can be scored."""
    dense, single = beginning(x, state.width), state.single
    if len(dense) < state.width:  # a row from a file
        return 0.0, UNSOUND
    of_numbers = len(state.linear.drift) > 0
    block = state.linear if of_numbers else state.direction
    z = dense[block.start : block.start + block.one + 1]
    norm2 = inner(z, z)
    if not norm2 <= LARGEST:
        return 0.0, UNSOUND
    if norm2 > LIMIT:
        return 0.0, TOO_LARGE
    for j in range(len(dense)):
        single[j] = dense[j]
    return norm2, SOUND


@step
def begins_before(words: Any, offset: int) -> Any:
    """Whether a row has features before those that are learnt one by one, which only a row from a file has."""
    return size(words) > 0 and position(words, 0) < offset


def blocks_of(layout: Layout) -> dict[str, tuple[int, int]]:
    """The begin and end of each block in the row; a block without features has no experts."""
    linear, deviation, ranks, direction = layout.linear, layout.deviation, layout.ranks, layout.direction
    return {
        LINEAR: (linear, deviation),
        CURVED: (0, deviation if linear > 0 else 0),
        DEVIATION: (linear, ranks if ranks > deviation else linear),
        RANKS: (ranks, direction),
        DIRECTION: (direction, layout.width),
    }


def ones_of(layout: Layout) -> dict[str, int]:
    """The index of the feature 1 of each block, within the row."""
    one = layout.linear + layout.d
    return {LINEAR: one, CURVED: one, DEVIATION: one, RANKS: layout.told - 1, DIRECTION: layout.one}


def levels_of(layout: Layout) -> dict[str, tuple[float, ...]]:
    """The drift levels of each block."""
    return {name: _levels(name, stop - start) for name, (start, stop) in blocks_of(layout).items()}


def _levels(name: str, D: int) -> tuple[float, ...]:
    """The drift levels of a block of D features."""
    return () if D == 0 else WIDE_LEVELS[name] if D > WIDE else LEVELS[name]


def lasts_of(layout: Layout, clusters: bool = False) -> np.ndarray:
    """Which experts a saved model predicts with: the stillest of each block but deviation, and those on words.

    ``clusters`` says whether there is the expert of :mod:`askwhen.learners.cluster_expert`, which lasts.
    """
    found = []
    for name, levels in levels_of(layout).items():
        found += [name != DEVIATION and c == STILLEST for c in levels]
    return np.array(found + [True] * (clusters + (EXPERTS if layout.lines else 0)), np.bool_)


def is_alike(layout: Layout) -> bool:
    """Whether all experts begin with the same weight: where there are numbers only, and not too many for every view."""
    return layout.first == 0 and 0 < layout.d <= LARGEST_CURVED


def is_sound_blocks(blocks: Any, experts: int) -> bool:
    """Whether the matrices of all blocks of a file are possible, and are those of so many experts."""
    first = 0
    for block in blocks:
        if {len(block.w), len(block.Q), len(block.g)} != {len(block.drift)} or block.first != first:
            return False
        first += len(block.drift)
    return first == experts and all(map(_is_sound_matrices, blocks))


def is_lasting(blocks: Any, lasts: np.ndarray, others: int) -> bool:
    """Whether a file names the right experts as those that last, or none; the ``others`` behind blocks all do."""
    found = []
    for i, block in enumerate(blocks):
        found += [i != list(LEVELS).index(DEVIATION) and drift == 1.0 / STILLEST for drift in block.drift.tolist()]
    return len(lasts) == 0 or np.array_equal(lasts, found + [True] * others)


def _is_sound_matrices(block: Any) -> bool:
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
    levels = levels_of(layout)
    return sum(4 * len(levels[name]) * (stop - start) ** 2 for name, (start, stop) in blocks_of(layout).items())
