"""The kinds of features of an instance, each of which is prepared in its own way.

==========  ==========================================================
numbers     measurements, counts, dates, true and false, and categories with one place for each value
vectors     embeddings, of which only the direction matters
words       counts of words, and categories with very many values: a wide, sparse part
==========  ==========================================================

An instance has its features in this order: all numbers, then the vectors, one after the other, then all words.
"""

from __future__ import annotations

from typing import NamedTuple


class Kinds(NamedTuple):
    """The number of features of each kind; ``vectors`` has the length of each vector."""

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
