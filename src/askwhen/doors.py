"""What every door to an engine checks before a round: its time, and which question an answer is for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import numpy as np

from .engine import Engine
from .errors import InputError, QuestionError
from .rules.state import TIME
from .trace import Ask
from .validation import check_time, check_times, short

T = TypeVar("T", bound=tuple[Any, ...])


def moment(engine: Engine, owner: str, time: Any) -> float:
    """The time of the next round: a number that does not go back, or 0 where none is needed or given."""
    if time is None and not engine.needs_time:
        return 0.0
    if time is None:
        raise InputError(f"{owner}: time must be given, since {short(engine.parts.rule)} allows for labels by time.")
    now = check_time(owner, time)
    _check(engine, owner, "time", now, abs(now))
    return now


def moments(engine: Engine, owner: str, times: Any, n: int) -> np.ndarray:
    """The times of the next n rounds, or none of them."""
    if times is None and engine.needs_time:
        raise InputError(f"{owner}: times must be given, since {short(engine.parts.rule)} allows for labels by time.")
    if times is None:
        return np.zeros(0)
    found = check_times(owner, times, n)
    _check(engine, owner, "times", float(found[0]), float(np.abs(found).max()))
    return found


def _check(engine: Engine, owner: str, name: str, first: float, largest: float) -> None:
    """Refuse a time before the last one, and one that a float cannot tell from the next period's."""
    per, last = engine.rule.per, float(engine.rule.spending[TIME])
    if per > 0.0 and largest / per > 1e12:
        raise InputError(f"{owner}: a period of {per!r} is too short to tell at time {largest!r}.")
    if first < last:
        raise InputError(f"{owner}: {name} must not go back, got {first!r} after {last!r}.")


def open_question(owner: str, waiting: Mapping[int, T], ask: Ask | int) -> T:
    """What waits for this answer, by the Ask or the number of its round; each item begins with its Ask."""
    number = ask[0] if type(ask) is Ask else ask
    if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
        raise QuestionError(f"{owner}: ask must be an Ask or the number of its round, got {ask!r}.")
    found = waiting.get(int(number))
    if found is None:
        raise QuestionError(
            f"{owner}: round {number!r} has no open question; it never asked, or was answered or forgotten."
        )
    if isinstance(ask, Ask) and found[0] is not ask and found[0] != ask:
        raise QuestionError(f"{owner}: the question of round {number} is another one, of another sampler.")
    return found
