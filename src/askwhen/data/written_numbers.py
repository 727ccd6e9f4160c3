"""Numbers as people write them: with a decimal comma, marks between thousands, % or the sign of a currency.

All values of a column are written in one way:

=========  ===========================================================
decimal    "." or ",", the mark before decimals
sign       "%" or a currency, which every value has but 0; or ""
=========  ===========================================================

Thousands may have blanks, apostrophes, or the other one of point and comma between them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

SIGNS = ("%", "$", "€", "£", "¥")
_BLANKS = " \u00a0\u202f"
NUMERIC = re.compile(rf"[\d.,'\u2019%$€£¥{_BLANKS}eE+-]*\d[\d.,'\u2019%$€£¥{_BLANKS}eE+-]*", re.ASCII)
"""Texts that may be numbers, by their characters."""


def _digits(decimal: str, between: str) -> re.Pattern[str]:
    """Digits without a sign, with the mark before decimals and those between thousands."""
    whole = rf"(?:[1-9]\d{{0,2}}(?P<mark>[{between}'\u2019{_BLANKS}])\d{{3}}(?:(?P=mark)\d{{3}})*|\d+)"
    return re.compile(rf"{whole}(?:[{decimal}]\d*)?|[{decimal}]\d+", re.ASCII)


_DIGITS = {".": _digits(".", ","), ",": _digits(",", ".")}
_PARTS = re.compile(
    rf"(?P<before>[+-]?)(?P<front>[$€£¥]?)[{_BLANKS}]*(?P<inside>[+-]?)(?P<digits>[^%$€£¥]*?)"
    rf"[{_BLANKS}]*(?P<behind>[%$€£¥]?)"
)


class NumberForm(NamedTuple):
    """How the numbers of a column are written."""

    decimal: str
    sign: str = ""

    def number(self, text: str | None) -> float:
        """The number that a text is, NaN if it is not one that is written so."""
        found = _PARTS.fullmatch((text or "").strip())
        if found is None or (found["before"] and found["inside"]) or (found["front"] and found["behind"]):
            return math.nan
        if _DIGITS[self.decimal].fullmatch(found["digits"]) is None:
            return math.nan
        marks = {self.decimal: "."}
        value = float("".join(marks.get(c, c) for c in found["digits"] if c in "0123456789" or c in marks))
        sign = found["front"] or found["behind"]
        if sign != self.sign and (sign or value != 0.0):
            return math.nan
        return -value if "-" in (found["before"], found["inside"]) else value

    @property
    def described(self) -> str:
        """The way of writing in a few words."""
        comma = "a decimal comma" if self.decimal == "," else ""
        sign = f"the sign {self.sign}" if self.sign else ""
        return " and ".join(part for part in (comma, sign) if part) or "marks between thousands"

    @property
    def code(self) -> str:
        """The form as a short text, for files."""
        return self.decimal + self.sign


def form_of(code: str) -> NumberForm | None:
    """The form of a ``code``; None if there is no such form."""
    return NumberForm(code[0], code[1:]) if code[:1] in _DIGITS and code[1:] in ("", *SIGNS) else None


def forms_of(texts: Sequence[str], decimal: str | None = None) -> list[NumberForm]:
    """The ways of writing numbers that most of these texts fit: none, one, or two that read different numbers.

    In 1,250 the comma may be either. It stands between thousands if numbers without a comma are all below 1,000.
    """
    signs = [sign for sign in SIGNS if any(sign in text for text in texts)]
    forms = [NumberForm(mark, sign) for sign in (*signs, "") for mark in ([decimal] if decimal else _DIGITS)]
    values = {form: [form.number(text) for text in texts] for form in forms}
    counts = {form: sum(value == value for value in found) for form, found in values.items()}
    most = max(counts.values())
    best = [form for form in forms if counts[form] == most > 0]
    if len(best) < 2 or best[0].sign != best[1].sign:
        return best[:1]
    points, commas = values[best[0]], values[best[1]]
    if all(a == b or (a != a and b != b) for a, b in zip(points, commas, strict=True)):
        return best[:1]
    bare = [value for text, value in zip(texts, points, strict=True) if "," not in text and "." not in text]
    return best[:1] if any(value >= 100.0 for value in bare) and all(abs(value) < 1000.0 for value in bare) else best
