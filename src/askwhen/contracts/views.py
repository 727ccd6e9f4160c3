"""Several views of one instance, side by side in one row: what a learner with a ``layout`` sees.

==============  ==========================================================
z               the prepared instance, d numbers
phi(v)          sqrt(2/64) (cos(Omega v), sin(Omega v)) with 32 random frequencies: a curved function of v is a linear
                one of phi(v)
delta           how far z is from the running mean of late
u               the prepared ranks of the features among the instances of late
f               what labels have been told in the last few rounds; the learner writes it, see ``write_told``
==============  ==========================================================

The row is phi(z), z, 1, delta, phi(u), u, 1, f. Zeros fill it up after the first 1, after delta and at the end, so that
each stretch begins at a multiple of eight.
"""

from __future__ import annotations

from typing import NamedTuple

WAVES = 32
"""How many random frequencies phi has; each gives a cosine and a sine."""

TOLD = 2
"""How many numbers tell of the labels of late."""

_LARGEST_DEVIATION = 64
"""Beyond so many features delta is left out: its matrices would cost more than they bring."""


def _eights(n: int) -> int:
    return -8 * (-n // 8)


class Layout(NamedTuple):
    """Where each stretch of the row begins: phi(z) at 0; ``told`` is the place of f, and ``width`` the end."""

    d: int
    linear: int
    deviation: int
    ranks: int
    told: int
    width: int


def layout_of(d: int, told_numbers: int = TOLD) -> Layout:
    """The row of instances with d features, and of so many numbers that tell of the labels of late."""
    linear = 2 * WAVES
    deviation = linear + _eights(d + 1)
    ranks = deviation + (_eights(d) if d <= _LARGEST_DEVIATION else 0)
    told = ranks + 2 * WAVES + d + 1
    return Layout(d, linear, deviation, ranks, told, ranks + 2 * WAVES + _eights(d + 1 + told_numbers))
