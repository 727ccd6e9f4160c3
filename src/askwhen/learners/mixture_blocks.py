"""A block of experts of the mixture for two labels or numbers: the second-order recursion in single precision.

The symbols are those of :mod:`askwhen.learners.mixture_state`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart
from ..linalg.single import product_in_single, take_square_in_single
from ..linalg.vectors import clear, inner
from .lookahead import form_of

SCORE, FORM, LOSS = range(3)
"""The rows of ``seen``: m, q and the loss by expert."""


class Block(NamedTuple):
    """Experts on one part of the row, from ``start`` on: row e of w, Q (its lower triangle), g and 1/c.

    ``one`` is the index of the feature 1 in that part, and ``first`` the number of the first expert.
    """

    w: Any
    Q: Any
    g: Any
    drift: Any
    start: int
    one: int
    first: int


@apart
def score_block(block: Any, scored: Any, seen: Any, x: Any, single: Any, ahead: Any, before: int) -> None:
    """Compute m and q of the scored experts; of the features up to ``before``, q may have been computed ahead."""
    stop = block.start + block.w.shape[1]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e = block.first + i
        if scored[e]:
            seen[SCORE, e] = inner(block.w[i], v)
            seen[FORM, e] = max(form_of(ahead, block.Q[i], e, in_single, before), 0.0)


# Seven arguments, the values of one label: it is called once for each block.
@apart
def learn_block(block: Any, scored: Any, seen: Any, x: Any, single: Any, shift: float, y: float) -> None:
    """Let every expert learn, in place; compute m and q of those not scored, and first shift w by the labels' mean.

    A matrix is read and changed before the next one is read, while it is still in the processor's cache.
    """
    stop = block.start + block.w.shape[1]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e, g = block.first + i, block.g[i]
        product_in_single(block.Q[i], in_single, g)
        if not scored[e]:
            q = 0.0
            for j in range(len(g)):
                q += g[j] * v[j]
            seen[SCORE, e] = inner(block.w[i], v)
            seen[FORM, e] = max(q, 0.0)
        if shift != 0.0:
            block.w[i, block.one] -= shift
            seen[SCORE, e] -= shift
        w = block.w[i]
        gain, shrink = (y - seen[SCORE, e]) / (1.0 + seen[FORM, e]), np.float32(1.0 / math.sqrt(1.0 + seen[FORM, e]))
        for j in range(len(w)):
            w[j] += gain * g[j]
            g[j] *= shrink
        take_square_in_single(block.Q[i], g, block.drift[i])


@apart
def restart_block(block: Any) -> None:
    """Forget everything, in place."""
    for i in range(len(block.drift)):
        clear(block.w[i])
        for j in range(block.w.shape[1]):
            clear(block.Q[i, j])
            block.Q[i, j, j] = 1.0
