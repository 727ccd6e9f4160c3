"""The kinds of features of an instance, each of which is prepared in its own way.

==========  ==========================================================
numbers     measurements, counts, dates, true and false, and categories with one place for each value
vectors     embeddings, of which only the direction matters
words       counts of words, and categories with very many values: a wide, sparse part
==========  ==========================================================

An instance has its features in this order: all numbers, then the vectors, one after the other, then all words.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import scipy.sparse as sp

from ..errors import InputError


class Kinds(NamedTuple):
    """The number of features of each kind, in this order.

    Parameters
    ----------
    numbers : int, default 0
        Number of features that are numbers: measurements, true and false, categories with one place for each value.
    vectors : tuple of int, optional
        The length of each vector: embeddings, of which only the direction matters.
    words : int, default 0
        Number of features that are counts of words, or of names with very many values.

    Examples
    --------
    >>> import askwhen as aw
    >>> aw.Kinds(numbers=2, vectors=(384,), words=1024).d
    1410
    """

    numbers: int = 0
    vectors: tuple[int, ...] = ()
    words: int = 0

    @property
    def first_word(self) -> int:
        """The index of the first feature that is a word."""
        return self.numbers + sum(self.vectors)

    @property
    def d(self) -> int:
        """Number of all features."""
        return self.first_word + self.words


class MixedRows(sp.csr_matrix):  # type: ignore[misc]
    """Instances of several kinds as a CSR matrix that knows its ``kinds``; they follow it into rows and copies."""

    kinds: Kinds = Kinds()

    @classmethod
    def of(cls, X: Any, kinds: Kinds) -> MixedRows:
        """A matrix of instances with these kinds of features; its arrays are shared."""
        found = cls(X)
        found.kinds = kinds
        return found

    def __getitem__(self, key: Any) -> Any:
        """Some rows, which are of the same kinds; anything else is without kinds."""
        found = super().__getitem__(key)
        if isinstance(found, MixedRows) and found.shape[1] == self.shape[1]:
            found.kinds = self.kinds
        return found

    def copy(self) -> MixedRows:
        """A copy, of the same kinds."""
        return MixedRows.of(super().copy(), self.kinds)


def kinds_of(X: Any) -> Kinds | None:
    """The kinds of features that a matrix knows, or None."""
    found = getattr(X, "kinds", None)
    return found if isinstance(found, Kinds) and found.d else None


def check_kinds(owner: str, kinds: Any) -> Kinds:
    """Kinds of features, given as ``Kinds`` or as a list of the same, as files hold them."""
    try:
        numbers, vectors, words = kinds
        found = Kinds(numbers, tuple(vectors), words)
        counts = [*found.vectors, numbers, words]
        sound = all(type(n) is int and 0 <= n < 1 << 31 for n in counts) and 0 not in found.vectors and found.d > 0
    except (TypeError, ValueError):
        sound = False
    if not sound:
        raise InputError.about(owner, "kinds", "Kinds(numbers, vectors, words) with at least one feature", kinds)
    return found
