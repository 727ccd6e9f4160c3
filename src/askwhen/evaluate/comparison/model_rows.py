"""Instances as other packages' models take them: numbers standardised, vectors and words at unit norm.

Numbers are standardised by the mean and standard deviation of the rows that were seen until a model is fitted, and
clipped at ten standard deviations. Vectors and words need no statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...contracts.kinds import Kinds, MixedRows, kinds_of
from ...engine.inputs.instance_checks import check_instances
from ...linalg.rows import DenseRows

_MOST_NUMBERS = 400
"""A sparse matrix without kinds that has more features than this holds words."""
_FARTHEST = 10.0

Scaling = Callable[[np.ndarray], np.ndarray]
"""Standardises numbers."""


@dataclass(frozen=True, eq=False)
class ModelRows:
    """Instances in three parts: numbers as they came, vectors at unit norm, and words (CSR) at unit norm."""

    numbers: np.ndarray
    vectors: np.ndarray
    words: Any

    @classmethod
    def of(cls, owner: str, X: Any) -> ModelRows:
        """The parts of a matrix of instances, by the kinds that it knows."""
        found = check_instances(owner, X)
        matrix = found.X if isinstance(found, DenseRows) else sp.csr_matrix(X, dtype=float)
        n, d = matrix.shape
        kinds = kinds_of(X) or (Kinds(words=d) if sp.issparse(matrix) and d > _MOST_NUMBERS else Kinds(numbers=d))
        numbers = _dense(matrix[:, : kinds.numbers])
        vectors, at = [], kinds.numbers
        for length in kinds.vectors:
            vectors.append(_unit(_dense(matrix[:, at : at + length])))
            at += length
        words = _unit_rows(sp.csr_matrix(matrix[:, kinds.first_word :]))
        return cls(numbers, np.hstack([np.zeros((n, 0)), *vectors]), words)

    @property
    def dense_features(self) -> int:
        """Number of features that are numbers or belong to a vector."""
        return int(self.numbers.shape[1] + self.vectors.shape[1])

    @property
    def is_numbers(self) -> bool:
        """Whether there are neither vectors nor words."""
        return not (self.vectors.shape[1] or self.words.shape[1])

    def taken(self, order: Any) -> ModelRows:
        """The same rows in another order."""
        return ModelRows(self.numbers[order], self.vectors[order], self.words[order])

    def scaling(self, seen: int) -> Scaling:
        """The standardisation of numbers by the first rows, so many as were seen."""
        with np.errstate(over="ignore", invalid="ignore"):
            mean, spread = self.numbers[:seen].mean(axis=0), self.numbers[:seen].std(axis=0)
        spread = np.where(spread > 0.0, spread, 1.0)

        def scaled(numbers: np.ndarray) -> np.ndarray:
            with np.errstate(over="ignore", invalid="ignore"):
                return np.asarray(np.nan_to_num((numbers - mean) / spread).clip(-_FARTHEST, _FARTHEST))

        return scaled

    def words_in(self, at: Any) -> np.ndarray:
        """The words that some of these rows have: a linear model that is fitted to them gives all others no weight."""
        return np.unique(self.words[at].indices)

    def linear(self, at: Any, scaling: Scaling, words: np.ndarray) -> Any:
        """These rows as a linear model takes them, with these words only: sparse where rows have words."""
        dense = np.hstack([scaling(self.numbers[at]), self.vectors[at]])
        if not self.words.shape[1]:
            return dense
        return sp.hstack([sp.csr_matrix(dense), self.words[at][:, words]], format="csr")

    def varying(self, at: Any) -> np.ndarray:
        """The numbers and parts of vectors that differ among these rows: trees cannot split on any other."""
        dense = np.hstack([self.numbers[at], self.vectors[at]])
        return np.flatnonzero((dense != dense[0]).any(axis=0))

    def trees(self, at: Any, features: np.ndarray) -> np.ndarray:
        """These rows as trees take them: some numbers and parts of vectors, without scaling; one at least."""
        dense = np.hstack([self.numbers[at], self.vectors[at]])
        return dense[:, features if len(features) else [0]]


class HeldRows:
    """Instances and labels of a stream, held while its chunks go by."""

    def __init__(self) -> None:
        self._X: list[Any] = []
        self._y: list[np.ndarray] = []

    def add(self, X: Any, y: Any) -> None:
        """Hold a copy of a chunk."""
        rows = check_instances("hold", X)
        self._X.append(rows.X.copy() if isinstance(rows, DenseRows) else X.copy())
        self._y.append(np.array(y))

    def all(self) -> tuple[Any, np.ndarray]:
        """All instances, which know the kinds of the first chunk, and all labels."""
        kinds = kinds_of(self._X[0])
        X = sp.vstack(self._X, format="csr") if sp.issparse(self._X[0]) else np.vstack(self._X)
        return X if kinds is None else MixedRows.of(X, kinds), np.concatenate(self._y)

    def holding(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same chunks, each held before it goes on."""
        for chunk in chunks:
            self.add(chunk[0], chunk[1])
            yield chunk


def _dense(part: Any) -> np.ndarray:
    return np.asarray(part.toarray() if sp.issparse(part) else part, float)


def _unit(part: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(part, axis=1, keepdims=True)
    return part / np.where(lengths > 0.0, lengths, 1.0)


def _unit_rows(words: Any) -> Any:
    lengths = np.sqrt(words.multiply(words).sum(axis=1)).A1 if words.shape[1] else np.ones(words.shape[0])
    return sp.diags(1.0 / np.where(lengths > 0.0, lengths, 1.0)).dot(words).tocsr()
