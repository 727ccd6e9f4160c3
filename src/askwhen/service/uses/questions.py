"""Questions out, answers in. Whoever answers is known by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec

from ...errors import InputError
from .. import row_bytes
from ..desk import Desk
from ..errors import ConflictError
from ..events import Answered, facts_of
from ..questions import Question
from ..store.rows import Event
from ..stream import Stream

LONGEST_KEY = 200
LONGEST_LEAD = 86400.0

KEEPS = "the model keeps what it learnt from the answer until the stream is replayed"


class Shown(msgspec.Struct, omit_defaults=True):
    """A question as a person sees it: the instance, until when its slot is held, and the guess where it is shown."""

    question: int
    labels: list[str]
    opened: float
    slots: int
    x: Any = None
    show: Any = None
    until: float | None = None
    priority: float = 0.0
    guess: str | None = None
    skipped: bool = False
    disputed: bool = False
    label: str | None = None


class Receipt(msgspec.Struct, omit_defaults=True):
    """An answer as it was taken: nothing takes it away any more. ``undo`` is until when an undo changes nothing."""

    question: int
    annotator: str
    slot: int
    time: float
    undo: float
    label: str | None = None
    unsure: bool = False
    again: bool = False


class Undo(msgspec.Struct, omit_defaults=True):
    """What an undo came to: the slot is held for another answer."""

    question: int
    until: float
    told: bool
    note: str = ""


async def next_question(desk: Desk, stream: Stream, annotator: str) -> Shown | None:
    """The next question for somebody, under a lease; None where there is none."""
    with desk.changing():
        now = desk.clock.now()
        happening = stream.books.next(annotator, max(now, stream.state.time))
        if happening is not None:
            stream.happen(happening, now)
    if happening is None:
        await desk.commits.settled()
        return None
    await desk.committed(stream)
    round, fact = happening
    with desk.changing():
        return shown(desk, stream, stream.books.find(round), until=fact.until)  # type: ignore[attr-defined]


async def show(desk: Desk, stream: Stream, round: int) -> Shown:
    """A question, open or closed."""
    await desk.commits.settled()
    with desk.changing():
        return shown(desk, stream, stream.books.find(round), closed=True)


def shown(desk: Desk, stream: Stream, question: Question, until: float | None = None, closed: bool = False) -> Shown:
    """A question with its instance, which is committed."""
    event = desk.look(stream, question.seq)
    seen: dict[str, Any] = {}
    if event is not None and event.shown is not None:
        seen = msgspec.json.decode(event.shown)
    if event is not None and event.row is not None and not stream.reader.keeps_input:
        seen["x"] = stream.reader.shown(row_bytes.from_bytes(event.row))
    return Shown(
        question.round,
        stream.books.labels,
        question.opened,
        len(question.slots),
        seen.get("x"),
        seen.get("show"),
        until,
        question.priority,
        question.prediction if stream.settings.guess or question.told else None,
        disputed=question.disputed,
        label=question.label if closed else None,
    )


async def _act(desk: Desk, stream: Stream, round: int | None, act: Callable[[], Any]) -> Any:
    """Do something to a question; one that left memory is read from the log, one such request after the other."""
    if round is None or round in stream.books.questions:
        with desk.changing():
            found = act()
        await desk.committed(stream)
        return found
    async with desk.late:
        await desk.commits.settled()
        with desk.changing():
            found = act()
        await desk.committed(stream)
        return found


async def answer(
    desk: Desk,
    stream: Stream,
    round: int,
    annotator: str,
    label: str | None,
    key: str | None = None,
    lead: float | None = None,
) -> Receipt:
    """Fill a slot; without a label, somebody is unsure. The same key gets the first receipt again."""
    if key is not None and (not 0 < len(key) <= LONGEST_KEY or "\0" in key or not key.isprintable()):
        raise InputError(f"key must be a printable text of 1 to {LONGEST_KEY} characters.", owner="answer")
    if lead is not None and not 0.0 <= lead <= LONGEST_LEAD:
        raise InputError.about("answer", "lead", f"a number of seconds from 0 to {LONGEST_LEAD:g}", lead)

    async def act() -> Event:
        stored = None if key is None else f"a:{key}"
        done: Event = await _act(
            desk, stream, round, lambda: stream.answer(round, annotator, label, desk.clock.now(), lead, stored)
        )
        return done

    event, again = await desk.once(stream, None if key is None else f"a:{key}", act)
    fact = facts_of(event)
    if not isinstance(fact, Answered) or (event.question, fact.annotator) != (round, annotator):
        raise ConflictError("this key was used for another answer.", owner="answer", parameter="key")
    undo = event.time + stream.settings.grace
    return Receipt(round, annotator, fact.slot, event.time, undo, fact.label, fact.label is None, again)


async def renew(desk: Desk, stream: Stream, round: int, annotator: str) -> float:
    """Hold a slot longer; until when."""

    def act() -> float:
        happening = stream.books.renew(round, annotator, _now(desk, stream))
        stream.happen(happening, desk.clock.now())
        return float(happening[1].until)  # type: ignore[attr-defined]

    found: float = await _act(desk, stream, round, act)
    return found


async def release(desk: Desk, stream: Stream, round: int, annotator: str) -> None:
    """Give a slot back."""
    act = lambda: stream.happen(stream.books.release(round, annotator, _now(desk, stream)), desk.clock.now())  # noqa: E731
    await _act(desk, stream, round, act)


async def skip(desk: Desk, stream: Stream, round: int, annotator: str) -> None:
    """Never show a question to somebody again."""
    act = lambda: stream.happen(stream.books.skip(round, annotator, _now(desk, stream)), desk.clock.now())  # noqa: E731
    await _act(desk, stream, round, act)


async def undo(desk: Desk, stream: Stream, round: int | None, annotator: str) -> Undo:
    """Take an answer back, or the last one."""
    recent = stream.books.kept.recent.get(annotator)
    place = recent[-1] if round is None and recent else round
    question, fact = await _act(desk, stream, place, lambda: stream.undo(round, annotator, desk.clock.now()))
    return Undo(question.round, fact.until, fact.told, KEEPS if fact.told else "")


async def review(desk: Desk, stream: Stream, round: int, annotator: str, label: str | None) -> None:
    """Decide what the label of a question is, or that it has none."""
    await _act(desk, stream, round, lambda: stream.review(round, annotator, label, desk.clock.now()))


def _now(desk: Desk, stream: Stream) -> float:
    return max(desk.clock.now(), stream.state.time)


async def waiting(desk: Desk, stream: Stream, disputed: bool, after: int, limit: int) -> list[Shown]:
    """Open questions after one of them, oldest first; or those that wait for a reviewer."""
    await desk.commits.settled()
    rounds = sorted(
        question.round
        for question in stream.books.questions.values()
        if question.round > after and (question.disputed if disputed else not question.is_full)
    )
    await asyncio.sleep(0)
    return [
        shown(desk, stream, stream.books.questions[round])
        for round in rounds[:limit]
        if round in stream.books.questions
    ]
