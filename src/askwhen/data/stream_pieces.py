"""A stream in pieces: arrays, or chunks that are read one after the other and never held together."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..errors import InputError

_ROWS = 1 << 16  # of a shuffled pass at once


class Piece(NamedTuple):
    """Instances, their labels, their times or None, which chunk of a stream they are, counted from 0, and advice."""

    X: Any
    y: Any
    times: Any = None
    chunk: int | None = None
    advice: Any = None

    @contextlib.contextmanager
    def named(self) -> Iterator[None]:
        """Name the chunk in whatever is refused inside."""
        try:
            yield
        except InputError as error:
            if self.chunk is None:
                raise
            raise error.in_chunk(self.chunk) from error


def pieces_of(
    owner: str, X: Any, y: Any = None, times: Any = None, passes: int = 1, seed: Any = None
) -> Iterator[Piece]:
    """The pieces of a stream.

    With y, X is a matrix: one piece, and then for each further pass pieces of a new order of its rows. Without y, X is
    an iterable of chunks ``(X, y)``, ``(X, y, times)`` or ``(X, y, times, advice)``; a further pass reads it again, and
    shuffles inside chunks.
    """
    if isinstance(y, str):
        raise InputError(f"y must be labels, got {y!r}; give other arguments by name.", owner=owner)
    if y is None:
        _check_chunks(owner, X, times, passes)
        return _chunks(owner, X, passes, np.random.default_rng(seed))
    return _arrays(X, y, times, passes, np.random.default_rng(seed))


def _check_chunks(owner: str, X: Any, times: Any, passes: int) -> None:
    if isinstance(X, (np.ndarray, str, bytes, dict)) or sp.issparse(X) or not isinstance(X, Iterable):
        raise InputError(
            f"y must be given, or X must be an iterable of (X, y) chunks, got {type(X).__name__}.", owner=owner
        )
    if times is not None:
        raise InputError("times of a stream of chunks come with them, as (X, y, times).", owner=owner)
    if passes > 1 and iter(X) is X:
        raise InputError(
            f"a {type(X).__name__} can be read only once; for passes={passes} give arrays, a list of chunks, "
            "or any iterable that begins afresh.",
            owner=owner,
        )


def _arrays(X: Any, y: Any, times: Any, passes: int, rng: np.random.Generator) -> Iterator[Piece]:
    yield Piece(X, y, times)
    if passes > 1:
        X, y = X.tocsr() if sp.issparse(X) else np.asarray(X), np.asarray(y)
    for _ in range(passes - 1):
        order = rng.permutation(len(y))
        for first in range(0, len(y), _ROWS):
            here = order[first : first + _ROWS]
            yield Piece(X[here], y[here])


def _chunks(owner: str, chunks: Iterable[Any], passes: int, rng: np.random.Generator) -> Iterator[Piece]:
    for again in range(passes):
        k = -1
        for k, chunk in enumerate(chunks):
            if not isinstance(chunk, (tuple, list)) or len(chunk) not in (2, 3, 4):
                what = f"{len(chunk)} parts" if isinstance(chunk, (tuple, list)) else type(chunk).__name__
                raise InputError(f"every chunk must be (X, y) or (X, y, times), got {what}.", owner=owner)
            X, y, times, advice = (*chunk, None, None)[:4]
            yield _shuffled(X, y, k, rng) if again else Piece(X, y, times, k, advice)
        if k < 0:
            raise InputError("the stream holds no chunk.", owner=owner)


def _shuffled(X: Any, y: Any, chunk: int, rng: np.random.Generator) -> Piece:
    X, y = X.tocsr() if sp.issparse(X) else np.asarray(X), np.asarray(y)
    order = rng.permutation(len(y))
    return Piece(X[order], y[order], None, chunk)
