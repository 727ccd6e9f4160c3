"""Decimal numbers in text, read exactly: the double nearest to what is written, as Python's ``float`` does.

Lemire, "Number parsing at a gigabyte per second", 2021 (after Eisel): the digits as an integer w, times 128 bits of the
power of five, decide the double in all but a few cases. Those (more than 19 digits, subnormal numbers, words such as
``nan``) are left to Python.

==========  ==========================================================
w, e        the number is w 10^e
HIGH, LOW   the first 128 bits of 5^e, for e = -342 .. 308
==========  ==========================================================
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.steps import apart, step

SMALLEST, LARGEST = -342, 308

_U = np.uint64
_MASK32, _ALL = _U(0xFFFFFFFF), _U(0xFFFFFFFFFFFFFFFF)


def _powers_of_five() -> tuple[np.ndarray, np.ndarray]:
    found = []
    for e in range(SMALLEST, LARGEST + 1):
        power = 5 ** abs(e)
        bits = power.bit_length()
        if e >= 0:
            value = power << (128 - bits) if bits <= 128 else power >> (bits - 128)
        else:
            z = bits - 1 if power == 1 << (bits - 1) else bits  # the smallest with 2^z >= power
            value = (1 << (z + 127 if e >= -27 else 2 * z + 128)) // power + 1
            value >>= max(value.bit_length() - 128, 0)
        found.append(value)
    high = np.array([value >> 64 for value in found], np.uint64)
    return high, np.array([value & (2**64 - 1) for value in found], np.uint64)


HIGH, LOW = _powers_of_five()

EXACT = 10.0 ** np.arange(23)
"""Powers of ten that are doubles."""


@step
def product(a: Any, b: Any) -> Any:
    """The high and the low 64 bits of a b."""
    a0, a1, b0, b1 = a & _MASK32, a >> _U(32), b & _MASK32, b >> _U(32)
    low, mid0, mid1, high = a0 * b0, a1 * b0, a0 * b1, a1 * b1
    mid = mid0 + (low >> _U(32)) + (mid1 & _MASK32)
    return high + (mid >> _U(32)) + (mid1 >> _U(32)), (mid << _U(32)) | (low & _MASK32)


@step
def leading_zeros(w: Any) -> Any:
    """Number of zero bits before the first 1 of w; w must not be 0."""
    n = 0
    if w >> _U(32) == 0:
        n += 32
        w <<= _U(32)
    if w >> _U(48) == 0:
        n += 16
        w <<= _U(16)
    if w >> _U(56) == 0:
        n += 8
        w <<= _U(8)
    if w >> _U(60) == 0:
        n += 4
        w <<= _U(4)
    if w >> _U(62) == 0:
        n += 2
        w <<= _U(2)
    if w >> _U(63) == 0:
        n += 1
    return n


@apart
def nearest(w: Any, e: int, high: Any, low: Any, bits: Any) -> Any:
    """Write the double nearest to w 10^e to bits, as an integer; False if Python must read this number."""
    if e < SMALLEST or e > LARGEST:
        return False
    zeros = leading_zeros(w)
    w <<= _U(zeros)
    place = e - SMALLEST
    top, bottom = product(w, high[place])
    if top & (_ALL >> _U(55)) == _ALL >> _U(55):
        more, _ = product(w, low[place])
        bottom += more
        if more > bottom:
            top += _U(1)
    upper = top >> _U(63)
    shift = upper + _U(9)
    mantissa = top >> shift
    power = ((217706 * e) >> 16) + 63 + np.int64(upper) - zeros + 1023
    if power <= 0:
        return False
    if bottom <= _U(1) and -4 <= e <= 23 and mantissa & _U(3) == _U(1) and mantissa << shift == top:
        mantissa &= ~_U(1)  # halfway between two doubles: to the even one
    mantissa += mantissa & _U(1)
    mantissa >>= _U(1)
    if mantissa >= _U(1 << 53):
        mantissa = _U(1 << 52)
        power += 1
    if power >= 2047:
        return False
    bits[0] = (mantissa & _U((1 << 52) - 1)) | (_U(power) << _U(52))
    return True
