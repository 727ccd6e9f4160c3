"""Progress through the backlog of a stream: what waits, how many questions are to come, how long they take."""

from __future__ import annotations

import msgspec

from ..domain.stream import ServiceStream
from ..runtime.coordinator import Coordinator

FEW = 10
"""Timed answers below which a pace is not known."""


class BacklogProgress(msgspec.Struct):
    """Progress through a backlog.

    ``undecided`` instances wait. Of about ``expected`` questions in all, ``answered`` have their answers, which leaves
    about ``left``. ``seconds`` is the mean time of an answer, and ``remaining`` the seconds for those that are left: of
    the named annotator, or else of all together, of whom so many are ``active``. What is not known is null.
    """

    mode: str
    undecided: int
    decided: int
    asked: int
    answered: int
    waiting: int
    expected: int | None
    left: int | None
    active: int
    seconds: float | None
    remaining: float | None
    placed: int = 0


async def progress(coordinator: Coordinator, stream: ServiceStream, annotator: str | None = None) -> BacklogProgress:
    """Progress through the backlog of a stream, with the time that is left for an annotator, or for all."""
    await coordinator.commits.settled()
    with coordinator.changing(stream):
        return _progress(stream, coordinator.presence.count(stream.number, coordinator.clock.now()), annotator)


def _progress(stream: ServiceStream, active: int, annotator: str | None) -> BacklogProgress:
    stored, waiting, to_come = stream.questions.stored, stream.questions.waiting, stream.questions_to_come()
    asked = stored.asked + stored.gold.placed
    left = None if to_come is None else round(waiting + to_come)
    seconds, remaining = pace(stream, annotator), None
    if left is not None and seconds is not None:
        people = 1.0 if annotator is not None else max(active, 1) / stream.settings.slots
        remaining = left * seconds / people
    return BacklogProgress(
        stream.settings.mode,
        len(stream.backlog),
        stream.state.instances - stream.state.returned,
        asked,
        asked - waiting,
        waiting,
        None if to_come is None else round(asked + to_come),
        left,
        active,
        seconds,
        remaining,
        stream.backlog.last(stream.state.placed),
    )


def pace(stream: ServiceStream, annotator: str | None) -> float | None:
    """The mean time of an answer in seconds, of an annotator or of all; None where it is not known."""
    persons = stream.questions.stored.people.persons
    wanted = [each for name, each in persons.items() if annotator in (None, name)]
    timed = sum(each.timed for each in wanted)
    return sum(each.seconds for each in wanted) / timed if timed >= FEW else None
