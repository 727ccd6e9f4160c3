"""The row that a learner with a ``layout`` sees: several views of one instance, side by side.

==============  ==========================================================
z               the prepared instance, d numbers
phi(v)          sqrt(2/64) (cos(Omega v), sin(Omega v)) with 32 random frequencies: a curved function of v is a linear
                one of phi(v)
delta           difference of z from its recent running mean
u               the prepared ranks of the features among recent instances
f               summary of the labels of the last few rounds; the learner writes it, see ``enter``
==============  ==========================================================

The row is phi(z), z, 1, delta, phi(u), u, 1, f. Zeros pad it after the first 1, after delta and at the end, so that
phi(z), delta and phi(u) begin at multiples of eight.
"""

from __future__ import annotations

from typing import NamedTuple

WAVES = 32
"""Number of random frequencies of phi; each gives a cosine and a sine."""

RECENT_LABELS = 2
"""Number of entries of f for two labels."""

_LARGEST_DEVIATION = 64
"""With more features than this, delta is left out: its matrices would cost more than they bring."""


def _eights(n: int) -> int:
    return -8 * (-n // 8)


class Layout(NamedTuple):
    """The offset of each part of the row: phi(z) begins at 0; ``told`` is the offset of f, and ``width`` the end."""

    d: int
    linear: int
    deviation: int
    ranks: int
    told: int
    width: int


def layout_of(d: int, told_numbers: int = RECENT_LABELS) -> Layout:
    """The layout of instances with d features, whose f has ``told_numbers`` entries."""
    linear = 2 * WAVES
    deviation = linear + _eights(d + 1)
    ranks = deviation + (_eights(d) if d <= _LARGEST_DEVIATION else 0)
    told = ranks + 2 * WAVES + d + 1
    return Layout(d, linear, deviation, ranks, told, ranks + 2 * WAVES + _eights(d + 1 + told_numbers))
