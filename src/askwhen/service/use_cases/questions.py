"""Questions out, answers in. Annotators are known by name."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import msgspec

from ...errors import InputError
from ..domain import row_codec
from ..domain.gold import UNCHOSEN
from ..domain.questions import Question
from ..domain.stream import ServiceStream
from ..errors import ConflictError, NotFoundError
from ..events.kinds import (
    Answered,
    Instance,
    Leased,
    Released,
    Reserved,
    Reviewed,
    ReviewUndone,
    Skipped,
    Undone,
    Unskipped,
    facts_of,
)
from ..events.label_sets import Label
from ..events.settings import LONGEST_NAME, check_who, groups_among
from ..runtime.coordinator import Coordinator
from ..store.records import Event
from .advice_shown import AdviceShown, late_advice, shown_advice
from .idempotency_keys import stored_key
from .people import check_groups

LONGEST_LEAD, LONGEST_DAY = 86400.0, 2 * 86400.0

T = TypeVar("T")
F = TypeVar("F", Leased, Released, Reserved, Answered, Skipped, Unskipped, Undone, Reviewed, ReviewUndone)
KEEPS = "the model keeps what it learnt from the answer until the stream is replayed"


class Shown(msgspec.Struct, omit_defaults=True):
    """A question as a person sees it: the instance, until when its slot is held, and guess and advice where shown.

    Reviewers see ``who`` is asked it before others, or alone where it is ``reserved``.
    """

    question: int
    labels: list[str]
    opened: float
    slots: int
    x: Any = None
    show: Any = None
    until: float | None = None
    priority: float = 0.0
    guess: Label | None = None
    skipped: bool = False
    disputed: bool = False
    label: Label | None = None
    erased: bool = False
    advice: list[AdviceShown] = []
    who: list[str] = []
    reserved: bool = False


class Receipt(msgspec.Struct, omit_defaults=True):
    """An answer as it was stored. Until ``undo``, the model has not learnt it, and an undo is not a correction."""

    question: int
    annotator: str
    slot: int
    time: float
    undo: float
    label: Label | None = None
    unsure: bool = False
    again: bool = False


class Undo(msgspec.Struct, omit_defaults=True):
    """The result of an undo: the slot is held for another answer until a time."""

    question: int
    until: float
    told: bool
    note: str = ""


class Progress(msgspec.Struct):
    """Answers of an annotator since a time, and how many questions the stream has asked and how many wait.

    ``left`` is the number of questions that the annotator may still answer now, where the stream has terms for them;
    ``paused`` says that it asks them nothing, and ``back`` until when, where that is known.
    """

    answers: int
    asked: int
    waiting: int
    left: int | None = None
    paused: bool = False
    back: float | None = None


async def next_question(
    coordinator: Coordinator, stream: ServiceStream, annotator: str, key: str | None = None, device: str | None = None
) -> Shown | None:
    """Lease the next question to an annotator; None where there is none. Two devices never get the same one."""
    if device is not None and not (0 < len(device) <= LONGEST_NAME and device.isprintable()):
        raise InputError(f"device must be a printable text of 1 to {LONGEST_NAME} characters.", owner="next")

    async def act() -> Event | None:
        if stream.summary().state == "archived":
            return None
        if stream.questions.stored.gold.by_number:
            await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
        with coordinator.changing(stream):
            now = coordinator.clock.now()
            if stream.commands.is_in_team(annotator):
                coordinator.presence.note(stream.number, annotator, now)
            event = stream.next(annotator, now, device or "", stored)
            may = stream.commands.may_be_asked(annotator, max(now, stream.state.time))
            if event is None and may and coordinator.warmups.is_ready(stream.number):
                stream.decide_further(now, annotator)
                event = stream.next(annotator, now, device or "", stored)
        await coordinator.committed(stream)
        return event

    stored = stored_key("n", key)
    event, _ = await coordinator.idempotency.once(stream.number, stored, act)
    if event is None:
        return None
    fact = _fact_of(event, Leased, annotator)
    with coordinator.changing(stream):
        return shown(coordinator, stream, stream.questions.find(event.question or 0), until=fact.until)


def _fact_of(event: Event, kind: type[F], annotator: str, round: int | None = None) -> F:
    """The facts of the event that has a key; refused where the key was used for something else."""
    fact = facts_of(event)
    if not isinstance(fact, kind) or fact.annotator != annotator or round not in (None, event.question):
        raise ConflictError("this key was used for something else.", owner="key", parameter="key")
    return fact


async def show(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str | None = None, only_had: bool = False
) -> Shown:
    """A question, open or closed; an annotator sees its label, guess and advice only where they have answered it.

    With ``only_had``, the annotator sees none that they have never had.
    """
    await coordinator.commits.settled()
    with coordinator.changing(stream):
        question = found_for(stream, round, annotator if only_had else None)
        slot = None if annotator is None else question.slot_of(annotator)
        may = annotator is None or (slot is not None and question.slots[slot].answer is not None)
        found = shown(coordinator, stream, question, closed=may, guess=may and question.told)
        return found if annotator is not None else _with_audience(stream, question, found)


def _with_audience(stream: ServiceStream, question: Question, found: Shown) -> Shown:
    """A question with those who are asked it."""
    found.who, found.reserved = list(stream.questions.audience(question).who), bool(question.reserved)
    return found


def found_for(stream: ServiceStream, round: int, annotator: str | None = None) -> Question:
    """A question that may be looked at; for an annotator only one that they hold, answered, skipped or held before.

    To others there seems to be none: contents that come several times would show gold questions. A place for one has no
    contents before it is chosen, which looking does not do.
    """
    question = stream.questions.find(round)
    if annotator is not None and not _has_had(stream, question, annotator):
        raise NotFoundError(f"round {round} has no question.", owner="question")
    if question.gold == UNCHOSEN:
        why = f"question {round} is a place for a gold question, and none was chosen for it."
        raise NotFoundError(why, owner="question")
    return question


def _has_had(stream: ServiceStream, question: Question, annotator: str) -> bool:
    """Whether a question was given to an annotator at any time, or they acted on it."""
    if question.slot_of(annotator) is not None or annotator in question.skipped:
        return True
    found = map(facts_of, stream.current.history(question.round))
    return any(isinstance(fact, Leased | Answered | Skipped) and fact.annotator == annotator for fact in found)


async def _choose_gold(coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str) -> None:
    """Let a place for a gold question become one for the user who acts on it, as if it had always been that.

    Where they have had all gold questions, it stays a place for others.
    """
    question = stream.questions.open.get(round)
    if question is not None and question.gold == UNCHOSEN:
        await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
        with coordinator.changing(stream):
            stream.choose_gold(round, annotator, coordinator.clock.now())
        await coordinator.committed(stream)
        if question.gold == UNCHOSEN:
            raise NotFoundError(f"round {round} has no question.", owner="question")


def shown(
    coordinator: Coordinator,
    stream: ServiceStream,
    question: Question,
    until: float | None = None,
    closed: bool = False,
    guess: bool = False,
) -> Shown:
    """A question with its instance, which is committed; ``guess`` shows guess and advice even where they are hidden."""
    event = coordinator.event(stream, question.seq)
    seen: dict[str, Any] = {}
    if event is not None and event.shown is not None:
        seen = msgspec.json.decode(event.shown)
    if event is not None and event.row is not None and not stream.reader.keeps_input:
        seen["x"] = stream.reader.shown(row_codec.from_bytes(event.row))
    return Shown(
        question.round,
        stream.questions.labels,
        question.opened,
        len(question.slots),
        seen.get("x"),
        seen.get("show"),
        until,
        question.priority,
        stream.seen_label(question.prediction if guess or stream.settings.guess else None),
        disputed=question.disputed,
        label=stream.seen_label(question.label if closed else None),
        erased=event is not None and event.row is None,
        advice=advice_on(stream, event, question.round) if guess or stream.settings.advice else [],
    )


def advice_on(stream: ServiceStream, instance: Event | None, round: int) -> list[AdviceShown]:
    """All that advisers have said of the instance of a question."""
    if instance is None or stream.settings.advisers is None:
        return []
    fact = facts_of(instance)
    if isinstance(fact, Instance):  # a gold question has a number of its own
        round = fact.round
    return shown_advice(stream, fact.advice, late_advice(stream.current.history(round)))


async def _act(coordinator: Coordinator, stream: ServiceStream, round: int | None, act: Callable[[], T]) -> T:
    """Act on a question. A closed one is read from the log, which requires the lock and settled commits."""
    if round is None or round in stream.questions.open:
        with coordinator.changing(stream):
            found = act()
        await coordinator.committed(stream)
        return found
    async with coordinator.history_lock:
        await coordinator.commits.settled()
        with coordinator.changing(stream):
            found = act()
        await coordinator.committed(stream)
        return found


async def _once(
    coordinator: Coordinator, stream: ServiceStream, round: int | None, stored: str | None, act: Callable[[], Event]
) -> tuple[Event, bool]:
    """The same, once for each key: returns the event and whether the request is a retry."""
    return await coordinator.idempotency.once(stream.number, stored, lambda: _act(coordinator, stream, round, act))


async def answer(
    coordinator: Coordinator,
    stream: ServiceStream,
    round: int,
    annotator: str,
    label: str | None,
    key: str | None = None,
    lead: float | None = None,
    is_reviewer: bool = False,
) -> Receipt:
    """Fill a slot; without a label, the annotator is unsure. The same key gets the first receipt again.

    A reviewer may answer what is for others.
    """
    await _choose_gold(coordinator, stream, round, annotator)
    stored = stored_key("a", key)
    if lead is not None and not 0.0 <= lead <= LONGEST_LEAD:
        raise InputError.about("answer", "lead", f"a number of seconds from 0 to {LONGEST_LEAD:g}", lead)
    act = lambda: stream.answer(  # noqa: E731
        round, annotator, label, coordinator.clock.now(), lead, stored, is_reviewer
    )
    event, again = await _once(coordinator, stream, round, stored, act)
    fact = _fact_of(event, Answered, annotator, round)
    if again:
        await _check_stands(coordinator, stream, event, fact, label)
    undo = event.time + stream.current.settings_at(event.seq).grace
    return Receipt(
        round, annotator, fact.slot, event.time, undo, stream.seen_label(fact.label), fact.label is None, again
    )


async def _check_stands(
    coordinator: Coordinator, stream: ServiceStream, event: Event, fact: Answered, label: str | None
) -> None:
    """Refuse to confirm a retry whose answer differs from the first one, or was undone since."""
    if fact.label != stream.label_now(label):
        raise ConflictError("this key was used for another answer.", owner="answer", parameter="key")
    await coordinator.commits.settled()
    with coordinator.changing(stream):
        given = stream.questions.find(event.question or 0).slots[fact.slot].answer
    if given is None or (given.annotator, given.time) != (fact.annotator, event.time):
        raise ConflictError("the answer with this key was undone since.", owner="answer", parameter="key")


async def renew(coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str) -> float:
    """Extend a lease; returns its new end."""
    await _choose_gold(coordinator, stream, round, annotator)

    def act() -> float:
        outcome = stream.commands.renew(round, annotator, _now(coordinator, stream))
        stream.record(outcome, coordinator.clock.now())
        fact = outcome[1]
        assert isinstance(fact, Leased)
        return fact.until

    return await _act(coordinator, stream, round, act)


async def release(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str, key: str | None = None
) -> None:
    """Give a slot back."""
    stored = stored_key("r", key)

    def act() -> Event:
        outcome = stream.commands.release(round, annotator, _now(coordinator, stream))
        return stream.record(outcome, coordinator.clock.now(), stored)

    event, _ = await _once(coordinator, stream, round, stored, act)
    _fact_of(event, Released, annotator, round)


async def skip(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str, key: str | None = None
) -> None:
    """Do not show a question to an annotator again, unless they undo it."""
    await _choose_gold(coordinator, stream, round, annotator)
    stored = stored_key("s", key)

    def act() -> Event:
        outcome = stream.commands.skip(round, annotator, _now(coordinator, stream))
        return stream.record(outcome, coordinator.clock.now(), stored)

    event, _ = await _once(coordinator, stream, round, stored, act)
    _fact_of(event, Skipped, annotator, round)


async def undo(
    coordinator: Coordinator, stream: ServiceStream, round: int | None, annotator: str, key: str | None = None
) -> Undo:
    """Take an answer or a skip back, or the annotator's last answer."""
    stored, recent = stored_key("u", key), stream.questions.stored.recent.get(annotator)
    place = recent[-1] if round is None and recent else round
    act = lambda: stream.undo(round, annotator, coordinator.clock.now(), stored)  # noqa: E731
    event, _ = await _once(coordinator, stream, place, stored, act)
    if event.kind == "unskipped":
        return Undo(event.question or 0, _fact_of(event, Unskipped, annotator, round).until, False)
    fact = _fact_of(event, Undone, annotator, round)
    return Undo(event.question or 0, fact.until, fact.told, KEEPS if fact.told else "")


async def review(
    coordinator: Coordinator,
    stream: ServiceStream,
    round: int,
    annotator: str,
    label: str | None,
    key: str | None = None,
    first: bool = False,
) -> None:
    """Decide on the label of a question, or that it has none; with ``first`` only where no other reviewer has."""
    stored = stored_key("v", key)

    def act() -> Event:
        if first:
            last = last_review(stream.current.history(round))
            if last is not None and last.annotator != annotator:
                raise ConflictError("another reviewer has decided this question meanwhile.", owner="review")
        return stream.review(round, annotator, label, coordinator.clock.now(), stored)

    event, _ = await _once(coordinator, stream, round, stored, act)
    _fact_of(event, Reviewed, annotator, round)


async def undo_review(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str, key: str | None = None
) -> None:
    """Take one's decision on a question back: it is as it was before any review."""
    stored = stored_key("w", key)

    def act() -> Event:
        last = last_review(stream.current.history(round))
        if last is not None and last.annotator != annotator:
            raise ConflictError("another reviewer has decided this question.", owner="undo")
        return stream.undo_review(round, annotator, coordinator.clock.now(), stored)

    event, _ = await _once(coordinator, stream, round, stored, act)
    _fact_of(event, ReviewUndone, annotator, round)


async def reserve(
    coordinator: Coordinator, stream: ServiceStream, round: int, annotator: str, who: list[str], key: str | None = None
) -> None:
    """Ask only these people and groups; without any, everybody again."""
    stored = stored_key("e", key)
    check_who("reserve", "who", who)

    def act() -> Event:
        check_groups(coordinator, "reserve", groups_among(who))
        return stream.record(stream.commands.reserve(round, annotator, who), coordinator.clock.now(), stored)

    event, _ = await _once(coordinator, stream, round, stored, act)
    if _fact_of(event, Reserved, annotator, round).who != who:
        raise ConflictError("this key was used for another reservation.", owner="reserve", parameter="key")


def last_review(history: Iterable[Event]) -> Reviewed | None:
    """The decision of a reviewer that currently counts, if there is one."""
    last = None
    for event in history:
        if event.kind in ("reviewed", "review undone"):
            last = facts_of(event)
    return last if isinstance(last, Reviewed) else None


def _now(coordinator: Coordinator, stream: ServiceStream) -> float:
    return max(coordinator.clock.now(), stream.state.time)


async def progress(coordinator: Coordinator, stream: ServiceStream, annotator: str, since: float) -> Progress:
    """How far an annotator and the stream have come."""
    if since < coordinator.clock.now() - LONGEST_DAY:
        raise InputError("since must be a time of the last two days, in seconds.", owner="progress", parameter="since")
    await coordinator.commits.settled()
    state = stream.questions
    counts = state.stored.people.persons.get(annotator)
    now = _now(coordinator, stream)
    answers = 0 if counts is None else counts.answers_since(since)
    left, is_away = stream.commands.left(annotator, now), stream.commands.is_away(annotator, now)
    asked = state.stored.asked + state.stored.gold.placed
    return Progress(answers, asked, state.waiting, left, is_away, stream.commands.back(annotator, now))


async def waiting(
    coordinator: Coordinator, stream: ServiceStream, disputed: bool, after: int, limit: int
) -> list[Shown]:
    """Open questions after one of them, oldest first; or those that wait for a reviewer."""
    await coordinator.commits.settled()
    rounds = sorted(
        question.round
        for question in stream.questions.open.values()
        if question.round > after and not question.gold and (question.disputed if disputed else not question.is_full)
    )
    await asyncio.sleep(0)
    return [
        _with_audience(stream, question, shown(coordinator, stream, question, guess=question.told))
        for question in map(stream.questions.open.get, rounds[:limit])
        if question is not None
    ]
