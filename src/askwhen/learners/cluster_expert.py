"""An expert for several classes that takes each class for a cluster of directions: linear discriminants, row by row.

Least squares needs many labels of every class; means need a few. One matrix holds how rows differ from the mean of
their own class, in all classes together, so that a round costs O(D^2 + k D), as for other experts.

==========  ==========================================================
mu_j, n_j   mean and number of the labelled rows of class j; n is the sum of n_j
P           (2 I + sum (x - mu)(x - mu)')^-1, over all labelled rows x, mu the mean of the row's own class
h_j         mu_j' P mu_j
delta_j     (x - mu_j)' P (x - mu_j) = x'Px - 2 mu_j'Px + h_j
s_j         proportional to (1 + delta_j)^(-n/2) over the classes with a label, with sum 1
m_j         2 s_j - 1
==========  ==========================================================

On a label c, with w = n_c / (n_c + 1), v = x - mu_c and g = Pv: P -= gg' w / (1 + w v'g), so h_j -= (g.mu_j)^2 w / (1 +
w v'g) for all j; then mu_c += v / (n_c + 1), and h_c is computed again.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import LARGEST_COUNT
from ..linalg.single import product_in_single, take_square_in_single
from ..linalg.vectors import LARGEST, all_within, clear, inner
from ..weights.class_slots import repeat_last

NAME = "clusters"
CLUSTERS_BEGIN = 0.5
FIRST_PRECISION = 0.5
"""P before the first label, times I."""


class ClusterBlock(NamedTuple):
    """mu and h by class, n, P (lower triangle), and room for a row in both precisions.

    The part of the row begins at ``start``, and ``first`` is the number of the expert. P has no rows where there is no
    such expert.
    """

    means: Any
    h: Any
    counts: Any
    P: Any
    g: Any
    v: Any
    wide: Any
    start: int
    first: int


def new_clusters(k: int, D: int, start: int, first: int) -> ClusterBlock:
    """The expert before the first label, for k classes and D features; none if D is 0."""
    k = k if D else 0
    P = (FIRST_PRECISION * np.eye(D)).astype(np.float32)
    single = (np.zeros(D, np.float32), np.zeros(D, np.float32))
    return ClusterBlock(np.zeros((k, D)), np.zeros(k), np.zeros(k), P, *single, np.zeros(D), start, first)


@apart
def score_clusters(block: Any, m: Any, x: Any, single: Any) -> None:
    """Write m by class, in place."""
    D = len(block.P)
    here, g, wide = x[block.start : block.start + D], block.g, block.wide
    product_in_single(block.P, single[block.start : block.start + D], g)
    for f in range(D):
        wide[f] = g[f]
    q, n, top = inner(wide, here), 0.0, -math.inf
    for j in range(len(m)):
        n += block.counts[j]
    for j in range(len(m)):
        if block.counts[j] > 0.0:
            delta = max(q - 2.0 * inner(block.means[j], wide) + block.h[j], 0.0)
            m[j] = -0.5 * n * math.log1p(delta)
            top = max(top, m[j])
    total = 0.0
    for j in range(len(m)):
        m[j] = math.exp(m[j] - top) if block.counts[j] > 0.0 else 0.0
        total += m[j]
    for j in range(len(m)):
        m[j] = 2.0 * m[j] / total - 1.0 if total > 0.0 else 0.0


@apart
def learn_clusters(block: Any, x: Any, c: int) -> None:
    """Learn the label c, in place."""
    D, mean, n = len(block.P), block.means[c], block.counts[c]
    here, g, v, wide = x[block.start : block.start + D], block.g, block.v, block.wide
    for f in range(D):
        v[f] = here[f] - mean[f]
    if n > 0.0:
        w = n / (n + 1.0)
        product_in_single(block.P, v, g)
        q = 0.0
        for f in range(D):
            wide[f] = g[f]
            q += wide[f] * v[f]
        taken = w / (1.0 + w * max(q, 0.0))
        for j in range(len(block.h)):
            if block.counts[j] > 0.0:
                along = inner(block.means[j], wide)
                block.h[j] -= taken * along * along
        shrink = np.float32(math.sqrt(taken))
        for f in range(D):
            g[f] *= shrink
        take_square_in_single(block.P, g, 0.0)
    block.counts[c] = n + 1.0
    for f in range(D):
        mean[f] += v[f] / (n + 1.0)
        v[f] = mean[f]
    product_in_single(block.P, v, g)
    for f in range(D):
        wide[f] = g[f]
    block.h[c] = inner(mean, wide)


@step
def begin_clusters(mix: Any, direction: int, clusters: int) -> None:
    """Give clusters their share of the weight that begins on directions, in place; both are numbers of experts."""
    total = 0.0
    for e in range(direction, clusters + 1):
        total += mix[e]
    for e in range(direction, clusters):
        mix[e] = (1.0 - CLUSTERS_BEGIN) * total / (clusters - direction)
    mix[clusters] = CLUSTERS_BEGIN * total


@step
def loss_by_squares(p: Any, counts: Any, c: int) -> Any:
    """Half the sum of (p_j -+ 1)^2 over the classes that have a label, of which c is the last one."""
    total = 0.0
    for j in range(len(p)):
        if j == c or counts[j] > 0.0:
            off = p[j] - (1.0 if j == c else -1.0)
            total += off * off
    return 0.5 * total


@step
def forget_clusters(block: Any) -> None:
    """Forget every label, in place."""
    clear(block.h)
    clear(block.counts)
    for j in range(len(block.means)):
        clear(block.means[j])
    for f in range(len(block.P)):
        clear(block.P[f])
        block.P[f, f] = FIRST_PRECISION


def widen_clusters(block: ClusterBlock, slots: int) -> ClusterBlock:
    """The same expert for more classes; the last slot has no label yet."""
    if not len(block.P):
        return block
    means, h, counts = (repeat_last(array, slots) for array in (block.means, block.h, block.counts))
    return block._replace(means=means, h=h, counts=counts)


def is_sound_clusters(block: ClusterBlock, k: int, D: int) -> bool:
    """Whether the expert of a file is possible, for so many classes and features."""
    if block.means.shape != (k, D) or block.P.shape != (D, D) or {len(block.h), len(block.counts)} != {k}:
        return False
    scratch = {len(block.g), len(block.v), len(block.wide)} == {D}
    sound = all_within(block.means, -LARGEST, LARGEST) and all_within(block.h, -LARGEST, LARGEST)
    counted = all_within(block.counts, 0.0, LARGEST_COUNT) and bool((block.counts == np.trunc(block.counts)).all())
    matrix = all_within(block.P, -1.0, 1.0) and bool((np.diagonal(block.P) >= -1e-3).all())
    return scratch and sound and counted and matrix
