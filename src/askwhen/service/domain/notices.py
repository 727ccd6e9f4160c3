"""Messages for people: sentences for mail and chat, and the times at which they may be sent."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from typing import Any
from zoneinfo import ZoneInfo

from ...errors import InputError

DAY = 86_400.0
MOST_HOURS = 24.0
_quiet = re.compile(r"([01]\d|2[0-3]):([0-5]\d)-([01]\d|2[0-3]):([0-5]\d)").fullmatch
Data = Mapping[str, Any]


def check_times(digest: float, quiet: str, zone: str) -> None:
    """Refuse times at which nothing could be sent, and zones that are not known."""
    if not 0.0 <= digest <= MOST_HOURS:
        raise InputError.about("webhook", "digest", "a number of hours from 0 to 24", digest)
    found = _quiet(quiet)
    if quiet and (found is None or found[1] + found[2] == found[3] + found[4]):
        raise InputError.about("webhook", "quiet", "hours such as 22:00-07:00", quiet[:50])
    if zone and _zone(zone) is UTC:
        raise InputError.about("webhook", "zone", "a time zone such as Europe/Berlin", zone[:50])


def due(now: float, digest: float, quiet: str, zone: str) -> float:
    """When a message made now may be sent: with the next digest, counted from midnight, and not in quiet hours.

    Examples
    --------
    >>> due(1000.0, 0.0, "", "")
    1000.0
    >>> due(1000.0, 1.0, "", "")
    3600.0
    >>> due(1000.0, 0.0, "23:00-06:30", "") / 3600.0
    6.5
    """
    there = _zone(zone)
    found = now
    if digest:
        today = datetime.fromtimestamp(now, there).date()
        midnight, tomorrow = (_at(today, days, time(), there) for days in (0, 1))
        found = min(midnight + ((now - midnight) // (3600.0 * digest) + 1) * 3600.0 * digest, tomorrow)
    hours = _quiet(quiet)
    if hours is None:
        return found
    start, end = time(int(hours[1]), int(hours[2])), time(int(hours[3]), int(hours[4]))
    local = datetime.fromtimestamp(found, there)
    is_over_night, clock = start > end, local.time()
    if not (start <= clock < end or (is_over_night and (clock >= start or clock < end))):
        return found
    return _at(local.date(), 1 if is_over_night and clock >= start else 0, end, there)


def _zone(name: str) -> tzinfo:
    """A time zone by its name; UTC where there is none, or where this machine does not know it any more."""
    try:
        return ZoneInfo(name) if name else UTC
    except (ValueError, OSError, LookupError):  # ZoneInfoNotFoundError is a LookupError
        return UTC


def _at(day: date, days: int, clock: time, zone: tzinfo) -> float:
    return datetime.combine(day + timedelta(days), clock, zone).timestamp()


def sentence(kind: str, data: Data) -> str:
    """A message in a sentence."""
    found = _SENTENCES[kind](data)
    return f"{data['stream']}: {found}" if "stream" in data else found


def _share(value: float) -> str:
    return f"{100.0 * value:.3g} %"


def _number(count: int, what: str) -> str:
    return f"{count:,} {what} waits" if count == 1 else f"{count:,} {what}s wait"


def _age(seconds: float) -> str:
    for size, name in ((DAY, "day"), (3600.0, "hour"), (60.0, "minute")):
        if seconds >= size:
            count = int(seconds // size)
            return f"{count} {name}{'' if count == 1 else 's'}"
    return "less than a minute"


def _promise(data: Data) -> str:
    given = f"{data['delivered']:,} labels delivered, {data['people']:,} of them by people"
    return f"{given}; promised: {_share(data['errors'])} errors at most"


_SENTENCES: dict[str, Callable[[Data], str]] = {
    "questions.waiting": lambda data: f"{_number(data['waiting'], 'question')}, the oldest for {_age(data['oldest'])}.",
    "questions.disputed": lambda data: f"{_number(data['disputed'], 'disputed question')} for a reviewer.",
    "promise.met": lambda data: f"the promise is met ({_promise(data)}).",
    "promise.broken": lambda data: f"the promise does not hold any more ({_promise(data)}).",
    "accuracy.below": lambda data: (
        f"the recent accuracy is below {_share(data['bound'])}: at most {_share(data['recent']['high'])}."
    ),
    "switch.detected": lambda data: f"the drift detector found a change at round {data['round']}.",
    "budget.spent": lambda _data: "the budget of labels is used up.",
    "test": lambda _data: "this is a test message.",
}
KINDS = frozenset(_SENTENCES) - {"test"}
"""Kinds that people may be sent: those about single instances would be too many."""
