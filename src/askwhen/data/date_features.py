"""Dates as numbers: the days since the first one, and where it is in the day, in the week and in the year.

===========  =========================================================
format       how texts are written, as for ``strptime``; "" is ISO 8601
origin       the first date that was seen, in seconds since 1970
cycles       the names of the cycles in which the dates differ
===========  =========================================================

A place p in a cycle, 0 <= p < 1, is sin(2 pi p) and cos(2 pi p), so that its end is near its beginning.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .times import moment, possible_formats

DAY = 86_400.0
CYCLES = ("hour of day", "day of week", "day of year")
_YEAR = 365.2425
_MONDAY = 3  # 1970 began on a Thursday


class DateForm(NamedTuple):
    """How the dates of a column are written, and which numbers are made of them."""

    format: str = ""
    origin: float = 0.0
    cycles: tuple[str, ...] = ()

    def names(self, column: str) -> tuple[str, ...]:
        """The names of the numbers."""
        waves = [f"{column}, {wave} of {cycle}" for cycle in self.cycles for wave in ("sine", "cosine")]
        return (f"{column}, in days", *waves)

    def numbers(self, texts: list[str | None]) -> np.ndarray:
        """The numbers of each text; NaN where it is not a date."""
        seconds = seconds_of(texts, self.format)
        found = [(seconds - self.origin) / DAY]
        for cycle in self.cycles:
            angle = 2.0 * np.pi * _place(seconds, cycle)
            found += [np.sin(angle), np.cos(angle)]
        return np.column_stack(found)


ISO = DateForm()


def seconds_of(texts: list[str | None], format: str) -> np.ndarray:
    """Seconds since 1970, NaN where a text is not a date; without a zone it is in UTC."""
    found = np.full(len(texts), np.nan)
    for i, text in enumerate(texts):
        when = None if text is None else moment(text, format)
        if when is not None:
            found[i] = (np.datetime64(when, "us") - np.datetime64(0, "us")) / np.timedelta64(1, "s")
    return found


def date_form(texts: list[str], format: str | None = None) -> DateForm | tuple[str, ...] | None:
    """How these texts are written as dates: several formats if they do not show which, None if they are not dates."""
    formats = possible_formats(texts) if format is None else (format,)
    if len(formats) != 1:
        return formats or None
    seconds = seconds_of(list(texts), formats[0])
    if np.isnan(seconds).any():
        return None
    varied = [cycle for cycle in CYCLES if np.ptp(np.floor(_place(seconds, cycle) * _STEPS[cycle])) > 0]
    return DateForm(formats[0], float(seconds.min()), tuple(varied))


_STEPS = {"hour of day": 24 * 60, "day of week": 7, "day of year": 366}
"""The steps in which dates of a cycle are told apart."""


def _place(seconds: np.ndarray, cycle: str) -> np.ndarray:
    """The place of moments in a cycle, from 0 to 1."""
    days = seconds / DAY
    if cycle == "hour of day":
        return np.asarray(days - np.floor(days))
    if cycle == "day of week":
        return np.asarray((np.floor(days) + _MONDAY) % 7 / 7)
    known = np.where(np.isnan(days), 0.0, np.floor(days)).astype("datetime64[D]")
    passed = (known - known.astype("datetime64[Y]").astype("datetime64[D]")).astype(float)
    return np.where(np.isnan(days), np.nan, passed / _YEAR)
