"""Long differences of samplers, compressed by zstd: a store spends longer on writing them than that takes.

Experts that have learnt the same labels have equal entries in many places, so that a young sampler becomes a fifth as
long. One that has learnt from many instances has mostly random bits in its entries and hardly becomes shorter.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..system.extras import needs_extra

SHORTEST = 512
"""Fewer words than this are stored as they are: they are written faster than they are compressed."""
_LEVEL = 1


@functools.cache
def _codec() -> Any:
    with needs_extra("keyed", "a store of large samplers", "keyed"):
        import pyarrow
    return pyarrow.Codec("zstd", _LEVEL)


def compress_words(words: np.ndarray) -> bytes:
    """Words as compressed bytes."""
    found: bytes = _codec().compress(words, asbytes=True)
    return found


def decompress_words(stored: memoryview, n: int) -> np.ndarray:
    """The inverse of ``compress_words``; ValueError or OSError if they are not exactly ``n`` words."""
    content = _codec().decompress(stored, 8 * n, asbytes=True)
    return np.frombuffer(content, np.int64, n)
