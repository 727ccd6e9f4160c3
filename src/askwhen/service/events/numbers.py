"""Numbers as labels: texts that are equal where the numbers are, and how far two may be apart to agree."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ...errors import InputError

NUMBERS = "numbers"
"""The setting for labels that are numbers."""


def written(number: float) -> str:
    """A number as the text that is read as the same number again."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(float(number))


def read(text: str) -> float:
    """The number that a text writes; other texts are refused."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"the label must be a number, got {text[:100]!r}.", owner="label", parameter="label")
    return number


def differ(first: str, second: str, within: float) -> bool:
    """Whether two numbers are farther apart than is allowed."""
    return abs(float(first) - float(second)) > within


def agreed(given: Sequence[str], within: float, all_of_them: bool) -> str | None:
    """The median of some numbers, if more than half of them, or all, lie around it within so much; else None.

    Two numbers do if they are not farther apart.
    """
    numbers = sorted(map(float, given))
    middle = len(numbers) // 2
    median = numbers[middle] if len(numbers) % 2 else (numbers[middle - 1] + numbers[middle]) / 2.0
    near = [each for each in numbers if abs(each - median) <= within / 2.0]
    enough = len(near) == len(numbers) if all_of_them else 2 * len(near) > len(numbers)
    return written(median) if enough else None
