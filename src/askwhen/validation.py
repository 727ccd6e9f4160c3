"""Validation of parameters when they are given, and of instances and labels before a round.

Compiled steps do not check their arguments. A check either returns what the steps need or raises an error that names
the parameter, what was expected and what was given.
"""

from __future__ import annotations

import dataclasses
import math
import numbers
from typing import Any

import numpy as np

from .errors import InputError


def name_of(owner: Any) -> str:
    """The name of this object in an error message."""
    return owner if isinstance(owner, str) else type(owner).__name__


def short(part: Any) -> str:
    """A learner, rule or drift detector as Python code, without parameters that have their default."""
    given = [
        f"{field.name}={getattr(part, field.name)!r}"
        for field in dataclasses.fields(part)
        if getattr(part, field.name) != field.default
    ]
    return f"{type(part).__name__}({', '.join(given)})"


def check_number(
    owner: Any,
    name: str,
    value: Any,
    expected: str,
    low: float = -math.inf,
    high: float = math.inf,
    *,
    open_low: bool = True,
    open_high: bool = False,
) -> None:
    """Raise unless a parameter is a number between low and high (``open_`` ends excluded)."""
    if isinstance(value, numbers.Real) and not isinstance(value, bool):
        number = as_float(value)
        above = number > low if open_low else number >= low
        below = number < high if open_high else number <= high
        if above and below:
            return
    raise InputError.about(name_of(owner), name, expected, value)


def check_positive(owner: Any, name: str, value: Any) -> None:
    """Raise unless a parameter is a positive finite number."""
    check_number(owner, name, value, "a positive finite number", 0.0, open_high=True)


def check_count(owner: Any, name: str, value: Any) -> None:
    """Raise unless a parameter is a whole number from 1 to 2^31 - 1, the largest count of rounds."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or not 1 <= int(value) < 2**31:
        raise InputError.about(name_of(owner), name, "a whole number from 1 to 2^31 - 1", value)


def check_flag(owner: Any, name: str, value: Any) -> None:
    """Raise unless a parameter is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InputError.about(name_of(owner), name, "True or False", value)


def check_seed(owner: Any, seed: Any) -> None:
    """Raise unless a seed is None or a whole number of at least 0."""
    if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
        raise InputError.about(name_of(owner), "seed", "a whole number of at least 0", seed)


def as_float(value: Any) -> float:
    """A real number as a float; NaN where it is too large for one."""
    try:
        return float(value)
    except OverflowError:
        return math.nan


def check_choice(owner: Any, name: str, value: Any, choices: tuple[str, ...]) -> None:
    """Raise unless a parameter is one of the choices."""
    if not isinstance(value, str) or value not in choices:
        listed = " or ".join(repr(choice) for choice in choices)
        raise InputError.about(name_of(owner), name, listed, value)


LARGEST_TIME = 1e15
