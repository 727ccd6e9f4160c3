"""Scales, ticks and numbers as a chart shows them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

Format = Callable[[float, float], str]
"""Writes a tick, given its value and the step between ticks."""

_STEPS = (1.0, 2.0, 5.0, 10.0)


def nice_step(span: float, count: int) -> float:
    """The smallest of 1, 2, 5 times a power of ten that cuts a span into at most ``count`` parts.

    Examples
    --------
    >>> nice_step(45312, 6)
    10000.0
    """
    raw = span / max(count, 1)
    power = 10.0 ** math.floor(math.log10(raw))
    return next(step * power for step in _STEPS if raw <= step * power * (1 + 1e-9))


def ticks(low: float, high: float, count: int, *, whole: bool = False) -> tuple[list[float], float]:
    """The round numbers between two ends, about ``count`` of them, and the step between them.

    Examples
    --------
    >>> ticks(0, 45312, 6)
    ([0.0, 10000.0, 20000.0, 30000.0, 40000.0], 10000.0)
    """
    step = nice_step(high - low, count)
    step = max(step, 1.0) if whole else step
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [k * step for k in range(first, last + 1)], step


def ratio_ticks(low: float, high: float) -> list[float]:
    """1, 2, 5 times the powers of ten between two positive ends, for a logarithmic scale."""
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    marks = (step * 10.0**power for power in powers for step in _STEPS[:3])
    return [mark for mark in marks if low * (1 - 1e-9) <= mark <= high * (1 + 1e-9)]


def powers_of_ten(low: float, high: float) -> list[float]:
    """The powers of ten between two positive ends, for a long logarithmic scale.

    Examples
    --------
    >>> powers_of_ten(0.5, 200)
    [1.0, 10.0, 100.0]
    """
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [10.0**power for power in powers if low * (1 - 1e-9) <= 10.0**power <= high * (1 + 1e-9)]


def widened(low: float, high: float, count: int = 5) -> tuple[float, float]:
    """The ends moved out to the next ticks; ends that are equal or unknown are made to differ."""
    if not (math.isfinite(low) and math.isfinite(high)):
        return 0.0, 1.0
    if not high > low:
        low, high = (low - abs(low) / 10, high + abs(high) / 10) if low else (0.0, 1.0)
    step = nice_step(high - low, count)
    return math.floor(low / step + 1e-9) * step, math.ceil(high / step - 1e-9) * step


@dataclass(frozen=True)
class Scale:
    """A straight or logarithmic map from numbers to places."""

    low: float
    high: float
    start: float
    end: float
    log: bool = False

    def __call__(self, values: np.ndarray | float) -> np.ndarray:
        """The places of numbers, clipped to the ends."""
        v, low, high = np.asarray(values, float), self.low, self.high
        if self.log:
            v, low, high = np.log(np.maximum(v, low)), math.log(low), math.log(high)
        return self.start + (self.end - self.start) * np.clip((v - low) / (high - low), 0.0, 1.0)

    def at(self, value: float) -> float:
        """The place of one number."""
        return float(self(value))


def decimals(step: float) -> int:
    """Number of decimals that distinguish numbers which differ by a step."""
    return min(max(0, -math.floor(math.log10(step) + 1e-9)), 12)


def plain(value: float, step: float) -> str:
    """A number with thousands separators and as many decimals as the step needs."""
    if step < 1e-4 or abs(value) >= 1e9:
        return f"{value:.4g}"
    return f"{value:,.{decimals(step)}f}".replace("-", "\N{MINUS SIGN}")


def percent(value: float, step: float) -> str:
    """A share in percent with as many decimals as the step needs."""
    return f"{value:.{decimals(100 * step)}%}"


def share(value: float) -> str:
    """A share as the text of a report gives it, in percent.

    Examples
    --------
    >>> share(0.8699), share(float("nan"))
    ('87.0%', 'unknown')
    """
    return f"{value:.1%}" if math.isfinite(value) else "unknown"


def wanted(value: float) -> str:
    """A share that is a setting, in percent and without needless digits.

    Examples
    --------
    >>> wanted(0.1), wanted(0.025)
    ('10%', '2.5%')
    """
    return f"{100 * value:.4g}%"


def count(value: float) -> str:
    """A whole number with thousands separators."""
    return f"{value:,.0f}"


def measure(value: float) -> str:
    """A number of any size in four digits."""
    return f"{value:.4g}".replace("-", "\N{MINUS SIGN}") if math.isfinite(value) else "unknown"


def loss(value: float) -> str:
    """A squared error in four digits, zeros included.

    Examples
    --------
    >>> loss(0.497)
    '0.4970'
    """
    return f"{value:#.4g}".rstrip(".") if math.isfinite(value) else "unknown"


def ends(n: int, most: int) -> np.ndarray:
    """Where groups of neighbours end so that ``n`` things fall into at most ``most`` groups.

    Examples
    --------
    >>> ends(10, 4).tolist()
    [3, 6, 9, 10]
    """
    size = max(1, -(-n // most))
    return np.append(np.arange(size, n, size), n)


def extent(*arrays: np.ndarray | Sequence[float]) -> tuple[float, float]:
    """The least and the greatest finite number; NaN where there is none."""
    values = np.concatenate([np.ravel(np.asarray(array, float)) for array in arrays])
    values = values[np.isfinite(values)]
    return (float(values.min()), float(values.max())) if len(values) else (math.nan, math.nan)
