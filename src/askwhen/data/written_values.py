"""How single values are written in tables: what stands for a missing one, plain numbers, true and false."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

_ANY_CASE = ("na", "n/a", "nan", "-nan", "null", "none", "nat", "<na>")
_MARKS = ("", "?", "-", "--", ".", "#NA", "#N/A", "#N/A N/A", "-1.#IND", "-1.#QNAN", "1.#IND", "1.#QNAN")
MISSING = frozenset(
    [*_MARKS, *(f(text) for text in _ANY_CASE for f in (str.lower, str.upper, str.title)), "NaN", "NaT"]
)
"""Texts that stand for a missing value, without the blanks around them."""

NULLS = [*sorted(MISSING), *(" " * n for n in range(1, 9))]
"""The same as a parser of CSV takes them, which compares whole values."""

FLAGS = (("false", "true"), ("no", "yes"), ("n", "y"), ("off", "on"))
"""Words for 0 and 1, in lower case."""

_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?|[+-]?(inf|infinity)", re.IGNORECASE | re.ASCII)
CODE = re.compile(r"[+-]?0\d+", re.ASCII)
"""Digits that are no number: the zero in front would be lost."""


def is_missing(text: str | None) -> bool:
    """Whether a text stands for a missing value."""
    return text is None or text.strip() in MISSING


def is_number(text: str) -> bool:
    """Whether a text is a number that Python and other programs read alike."""
    return _NUMBER.fullmatch(text.strip()) is not None


def are_numbers(texts: Iterable[str]) -> bool:
    """Whether there are numbers among texts, and besides them nothing but missing values."""
    present = [text for text in map(str.strip, texts) if text not in MISSING]
    return bool(present) and all(map(_NUMBER.fullmatch, present))


def number_in(text: str | None) -> float:
    """The number that a text is, where true is 1 and false is 0, or NaN."""
    if text is None or not is_number(text):
        return {"true": 1.0, "false": 0.0}.get((text or "").strip().lower(), math.nan)
    return float(text)


def is_list(text: str) -> bool:
    """Whether a text is a list of numbers, as programs write arrays into tables of text: in brackets, or a long one."""
    parts = _parts(text)
    return (_inside(text) is not None or len(parts) >= _LONG) and all(map(is_number, parts))


def list_in(text: str | None) -> list[float]:
    """The numbers of a list that is written as text; empty where it is missing."""
    return [] if is_missing(text) else [float(part) for part in _parts(text or "")]


_BRACKETS = ("[]", "{}", "()")
_LONG = 16
"""So many numbers in a row are a list without brackets too, such as the brightness of the points of an image."""


def _inside(text: str) -> str | None:
    """What is in the brackets around a text, or None."""
    text = text.strip()
    return text[1:-1] if text[:1] + text[-1:] in _BRACKETS else None


def _parts(text: str) -> list[str]:
    inside = _inside(text)
    return (text if inside is None else inside).replace(",", " ").replace(";", " ").split()


def as_text(value: Any) -> str | None:
    """A value of a record as the text of a category; whole numbers have no point."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)
