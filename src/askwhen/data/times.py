"""Columns of times: numbers and dates as they are, texts as dates in a common format or in a given one.

Texts are ISO 8601, with T or a space, with or without seconds and zone; or three numbers with a slash, a dot or a dash
between, the year first or last, perhaps followed by hours, minutes and seconds. With dots the day is first; with
slashes or dashes, a day above 12 shows whether the day or the month is. Or they have the name of a month in English, as
in 1 January 2021, Jan 1, 2021 and 01-Jan-21, also with the day of the week before, as mails and programs have it; or a
year and a month, as in 2021-01 and 01/2021; or a time of the day, as in 14:30.
"""

from __future__ import annotations

import datetime
import re
from typing import Any

import numpy as np

from ..errors import InputError, argument

_PARTS = re.compile(
    r"(?P<a>\d{1,4})(?P<between>[/.-])(?P<b>\d{1,2})(?P=between)(?P<c>\d{4}|\d{1,2})"
    r"(?: +(?P<hour>\d{1,2}):(?P<minute>\d{2})(?P<second>:\d{2}(?P<fraction>\.\d{1,6})?)?(?P<half> ?[AaPp][Mm])?)?"
)


_WORDED = ("%d %B %Y", "%d %b %Y", "%B %d, %Y", "%b %d, %Y", "%B %d %Y", "%b %d %Y", "%d-%b-%Y", "%d-%b-%y", "%d %b %y")
_MONTHLY = ("%Y-%m", "%Y/%m", "%m/%Y", "%B %Y", "%b %Y")
_CLOCKS = ("", " %H:%M", " %H:%M:%S", " %I:%M %p")
_PROGRAMS = (
    *("%a, %d %b %Y %H:%M:%S %z", "%d %b %Y %H:%M:%S %z", "%a, %d %b %Y %H:%M:%S %Z"),  # RFC 2822, as in mails
    *("%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S %Y %z", "%a %b %d %H:%M:%S %z %Y"),  # C, git, X
)
_OF_DAY = ("%H:%M", "%H:%M:%S", "%I:%M %p", "%I:%M:%S %p")

UNIX = {"seconds since 1970": 1.0, "milliseconds since 1970": 1e3}
"""Formats of dates that are numbers, and how many of these make a second."""

_FIRST = datetime.datetime(1970, 1, 1)

_DATED = re.compile(r"\d{4}-\d{2}-\d{2}")
"""The beginning of a date that is no plain number, as 20150224 would be."""


class Times:
    """Converts the values of a column to times, chunk by chunk; the first chunk decides how texts are read.

    Parameters
    ----------
    column : str
        The name of the column.
    path : path
        The file, for errors.
    format : str, optional
        The format of texts, as for ``datetime.strptime``.
    """

    def __init__(self, column: str | None, path: Any, format: str | None = None) -> None:
        self._column, self._path, self._format = column, path, format

    def of(self, values: np.ndarray, before: int) -> np.ndarray:
        """Numbers or datetime64, one for each value; ``before`` is the number of values in earlier chunks."""
        texts = values.tolist() if values.dtype.kind in "OUS" else []
        if not texts or not any(isinstance(text, str) for text in texts):
            return values
        if self._format is None and moment(texts[0]) is None:
            self._format = self._found(texts)
        found = [self._moment(text, before + row) for row, text in enumerate(texts)]
        return np.array(found, "datetime64[us]")

    def _moment(self, text: Any, row: int) -> datetime.datetime:
        found = moment(text, self._format or "")
        if found is None:
            raise self._refusal(text, row)
        return found

    def _found(self, texts: list[Any]) -> str:
        """The format of texts that are not ISO 8601, found from all texts of a chunk."""
        parts = [_PARTS.fullmatch(text.strip()) if isinstance(text, str) else None for text in texts]
        if None in parts and all(isinstance(text, str) for text in texts) and (named := _named_formats(texts)):
            return named[0]
        if None in parts:
            row = parts.index(None)
            raise self._refusal(texts[row], row)
        formats = _formats_of(parts)
        if len(formats) > 1:
            raise InputError(
                f"column {self._column!r} of {self._path} has times such as {texts[0]!r}, and no day above 12 shows "
                f"whether the month or the day is first; give {argument('time_format', formats[0])} or "
                f"{argument('time_format', formats[1])}.",
                owner="read",
                file=str(self._path),
                column=self._column,
            )
        return formats[0]

    def _refusal(self, text: Any, row: int) -> InputError:
        like = f"is not written as {self._format}" if self._format else "is not a time"
        return InputError(
            f"column {self._column!r} of {self._path} holds {text!r} in instance {row:,}, counted from 0, which {like};"
            f" times are numbers, or texts such as 2015-02-24 11:35, 2/24/2015 11:35 or 24.2.2015 11:35, or as "
            f"{argument('time_format')} says.",
            owner="read",
            file=str(self._path),
            column=self._column,
            row=row,
        )


def moment(text: Any, format: str = "") -> datetime.datetime | None:
    """The time that a text is, in UTC, or None; without a format it is written as ISO 8601."""
    try:
        if format in UNIX:
            found = _FIRST + datetime.timedelta(seconds=float(text) / UNIX[format])
        else:
            found = (
                datetime.datetime.strptime(text.strip(), format) if format else datetime.datetime.fromisoformat(text)
            )
        return found if found.tzinfo is None else found.astimezone(datetime.UTC).replace(tzinfo=None)
    except (TypeError, ValueError, AttributeError, OverflowError):
        return None


def possible_formats(texts: list[str]) -> tuple[str, ...]:
    """The formats that all texts may be in, "" for ISO 8601: two if no day is above 12, none if they are not times."""
    if texts and all(_DATED.match(text) and moment(text) is not None for text in texts):
        return ("",)
    parts: list[Any] = [_PARTS.fullmatch(text.strip()) for text in texts]
    if texts and not any(parts):
        return _named_formats(texts)
    if not texts or not all(parts) or any(len(each["c"]) < 4 and each["between"] != "/" for each in parts):
        return ()  # 10.2.13 may be a version, and a year of two digits is told by slashes only
    return tuple(each for each in _formats_of(parts) if all(moment(text, each) is not None for text in texts))


def _named_formats(texts: list[str]) -> tuple[str, ...]:
    """The format of dates that are not three numbers, or of parts of dates; none if there is none."""
    if not any(char.isdigit() for char in texts[0]) or len(texts[0]) > _LONGEST:
        return ()
    formats = [*(day + clock for day in _WORDED for clock in _CLOCKS), *_MONTHLY, *_PROGRAMS, *_OF_DAY]
    fitting = [each for each in formats if moment(texts[0], each) is not None]
    return tuple(each for each in fitting if all(moment(text, each) is not None for text in texts))[:1]


_LONGEST = 40
"""No date has more characters."""


def _formats_of(parts: list[Any]) -> list[str]:
    """The formats that texts may be in: where the first number is above 12 it is the day, where the second is, too."""
    formats = _formats(parts[0])
    if len(formats) == 1:
        return formats
    tops = [max(int(each[name]) for each in parts) for name in "ab"]  # the largest first and second number
    return formats if max(tops) <= 12 else formats[:1] if tops[1] > 12 else formats[1:]


def _formats(parts: Any) -> list[str]:
    """The formats that a text may be in, by its parts: with the month first, and with the day first."""
    between, year = parts["between"], "%Y" if len(parts["c"]) == 4 else "%y"
    clock = ""
    if parts["hour"]:
        seconds = "" if not parts["second"] else ":%S.%f" if parts["fraction"] else ":%S"
        half = "" if not parts["half"] else parts["half"][:-2] + "%p"
        clock = f" {'%I' if half else '%H'}:%M{seconds}{half}"
    if len(parts["a"]) > 2:
        return [between.join(["%Y", "%m", "%d"]) + clock]
    orders = [["%d", "%m", year]] if between == "." else [["%m", "%d", year], ["%d", "%m", year]]
    return [between.join(order) + clock for order in orders]
