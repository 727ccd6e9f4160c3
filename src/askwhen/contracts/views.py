"""The row that a learner with a ``layout`` sees: several views of one instance, side by side.

==============  ==========================================================
z               the prepared numbers, d of them
phi(v)          sqrt(2/64) (cos(Omega v), sin(Omega v)) with 32 random frequencies: a curved function of v is a linear
                one of phi(v)
delta           difference of z from its recent running mean
u               the prepared ranks of the numbers among recent instances
f               summary of the labels of the last few rounds; the learner writes it, see ``enter``
direction       v / norm(v) of each vector; a wide instance of numbers is also seen as one vector
words           the counts of words, scaled to length 1
==============  ==========================================================

The row is phi(z), z, 1, delta, phi(u), u, 1, f, the directions, 1, the words, 1. Zeros pad it after the first 1, after
delta, after f and after the directions, so that every block of features begins at a multiple of eight. Parts that there
are none of take no place. With words the row is sparse, and everything before them is stored in full.
"""

from __future__ import annotations

from typing import NamedTuple

from .kinds import Kinds

WAVES = 32
"""Number of random frequencies of phi; each gives a cosine and a sine."""

RECENT_LABELS = 2
"""Number of entries of f for two labels."""

_LARGEST_DEVIATION = 64
"""With more numbers than this, delta is left out: its matrices would cost more than they bring."""

LARGEST_CURVED = 400
"""With more numbers than this, only z is seen, and the direction, which is learnt feature by feature too."""


def _eights(n: int) -> int:
    return -8 * (-n // 8)


class Layout(NamedTuple):
    """The offset of each part of the row: phi(z) begins at 0, and ``told`` is the offset of f.

    ``direction`` is the offset of the directions, ``one`` that of their 1, and ``width`` the end of everything before
    the words. ``vectors`` are the lengths of the vectors, of which the first begins at feature ``first`` of the
    instance, and ``words`` is the number of words.
    """

    d: int
    linear: int
    deviation: int
    ranks: int
    told: int
    direction: int
    one: int
    width: int
    first: int = 0
    vectors: tuple[int, ...] = ()
    words: int = 0

    @property
    def features(self) -> int:
        """Number of features of an instance."""
        seen_twice = self.first == 0 and self.d > 0
        return self.d + (0 if seen_twice else sum(self.vectors)) + self.words

    @property
    def lines(self) -> int:
        """Number of features that are also learnt one by one: words, or a wide direction of numbers, and a 1."""
        if self.words == 0:
            return self.d + 1 if self.d > LARGEST_CURVED and self.first == 0 and self.vectors else 0
        return self.words + 1

    @property
    def lines_at(self) -> int:
        """The offset of the first of these features."""
        return self.width if self.words else self.direction

    @property
    def dimension(self) -> int:
        """Number of features of the row."""
        return self.width + (self.words + 1 if self.words else 0)


def layout_of(d: int, told_numbers: int = RECENT_LABELS, direction: bool = False) -> Layout:
    """The layout of instances of d numbers, whose f has ``told_numbers`` entries.

    With ``direction`` they are also seen as one vector.
    """
    return _with_directions(_of_numbers(d, told_numbers), 0, (d,) if direction else (), 0)


def layout_of_kinds(kinds: Kinds, told_numbers: int = RECENT_LABELS) -> Layout:
    """The layout of instances of several kinds."""
    return _with_directions(_of_numbers(kinds.numbers, told_numbers), kinds.numbers, kinds.vectors, kinds.words)


def _of_numbers(d: int, told_numbers: int) -> Layout:
    """The layout of the views of d numbers."""
    if d == 0:
        return Layout(*(0,) * 8)
    if d > LARGEST_CURVED:
        width = _eights(d + 1)
        return Layout(d, 0, width, width, width, width, width, width)
    linear = 2 * WAVES
    deviation = linear + _eights(d + 1)
    ranks = deviation + (_eights(d) if d <= _LARGEST_DEVIATION else 0)
    told = ranks + 2 * WAVES + d + 1
    width = ranks + 2 * WAVES + _eights(d + 1 + told_numbers)
    return Layout(d, linear, deviation, ranks, told, width, width, width)


def _with_directions(numbers: Layout, first: int, vectors: tuple[int, ...], words: int) -> Layout:
    """The layout with a part for the directions of vectors, if there are any."""
    one = numbers.width + sum(vectors)
    width = numbers.width + _eights(sum(vectors) + 1) if vectors else numbers.width
    return numbers._replace(one=one, width=width, first=first, vectors=vectors, words=words)
