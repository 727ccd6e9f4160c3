"""Questions for a reviewer: disputed and corrected ones, those that everybody skipped, and a random share of all."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any, Literal, get_args

import msgspec

from ..domain.stream import ServiceStream
from ..events.kinds import facts_of
from ..events.label_sets import Label
from ..runtime.coordinator import Coordinator
from ..runtime.threaded_reader import ThreadedReader
from ..store.records import Reader
from .comments import Comment, comments_in
from .questions import Shown, last_review, shown

Which = Literal["disputed", "corrected", "skipped", "sample"]
CHUNK, MOST_CHUNKS = 500, 20
MOST_COUNTED = 100
ACTIVE = 7 * 86400.0
"""Seconds for which an annotator counts as active after an answer or a skip."""


class Single(msgspec.Struct):
    """One answer; without a name where reviews are blind, and without a label where the annotator was unsure."""

    label: Label | None
    name: str | None = None


class Reviewable(msgspec.Struct):
    """A question with its answers, the label that the model learnt (``told``) and the one that currently counts."""

    shown: Shown
    answers: list[Single]
    told: Label | None
    label: Label | None
    guess: Label | None
    comments: list[Comment] = []


class Count(msgspec.Struct):
    """Number of questions in a list; ``more`` says that there may be more of them."""

    count: int
    more: bool = False


class Counts(msgspec.Struct):
    """Number of questions in each list for reviewers, counted up to 100."""

    disputed: Count
    corrected: Count
    skipped: Count
    sample: Count


class Reviewables(msgspec.Struct):
    """A page of questions; ``next`` is the ``after`` of the next page, if there may be more."""

    questions: list[Reviewable]
    next: int | None


def is_drawn(stream: ServiceStream, round: int) -> bool:
    """Whether a question is in the random sample, which the stream's seed determines for good."""
    digest = hashlib.blake2b(f"review {stream.settings.seed} {round}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") < stream.settings.view.review * 2.0**64


async def to_review(
    coordinator: Coordinator, stream: ServiceStream, which: Which, after: int, limit: int
) -> Reviewables:
    """Questions that are not reviewed yet, after a place in the list."""
    await coordinator.commits.settled()
    async with coordinator.reading() as log:
        rounds, place = await _listed(coordinator, log, stream, which, after, limit)
        histories = await log.in_thread(lambda: [log.reader.of_question(stream.number, each) for each in rounds])
    found = []
    for round, history in zip(rounds, histories, strict=True):
        each = reviewable(coordinator, stream, round)
        each.comments = comments_in(history, stream.settings.view.blind)
        found.append(each)
        await asyncio.sleep(0)
    return Reviewables(found, place)


async def counted(coordinator: Coordinator, stream: ServiceStream) -> Counts:
    """Number of questions in each list."""
    await coordinator.commits.settled()
    found = {}
    async with coordinator.reading() as log:
        for which in get_args(Which):
            rounds, place = await _listed(coordinator, log, stream, which, -1, MOST_COUNTED)
            found[which] = Count(len(rounds), place is not None)
    return Counts(**found)


async def _listed(
    coordinator: Coordinator, log: ThreadedReader, stream: ServiceStream, which: Which, after: int, limit: int
) -> tuple[list[int], int | None]:
    """The rounds of a page of a list, and the place after which the next page begins, if there may be one."""
    if which in ("disputed", "skipped"):
        found = disputed(stream) if which == "disputed" else skipped_by_all(stream, coordinator.clock.now())
        left = [each for each in found if each > after]
        return left[:limit], left[limit - 1] if len(left) > limit else None
    if which == "corrected":
        corrected = sorted(each for each in stream.questions.stored.corrections if each > after)
        return await log.in_thread(_unreviewed, log.reader, stream.number, corrected, limit)
    return await log.in_thread(_sampled, log.reader, stream, max(after, 0), limit)


def disputed(stream: ServiceStream) -> list[int]:
    """Open questions whose answers do not decide."""
    return sorted(each.round for each in stream.questions.open.values() if each.disputed)


def skipped_by_all(stream: ServiceStream, now: float) -> list[int]:
    """Open questions that everybody who was active in the last days has skipped, or answered in another slot."""
    persons = stream.questions.stored.people.persons
    active = {name for name, counts in persons.items() if counts.last > now - ACTIVE}
    return sorted(
        each.round
        for each in stream.questions.open.values()
        if each.skipped
        and not (each.is_full or each.disputed or each.gold)
        and active <= {*each.skipped, *(answer.annotator for answer in each.answers)}
    )


def _is_done(reader: Reader, number: int, round: int) -> bool:
    """Whether a reviewer has decided a question, or need not: its contents were erased, or it is a copy of another."""
    events = reader.of_question(number, round)
    if facts_of(events[0]).repeats is not None:
        return True
    return events[0].row is None or last_review(events) is not None


def _unreviewed(reader: Reader, number: int, rounds: list[int], limit: int) -> tuple[list[int], int | None]:
    found: list[int] = []
    for round in rounds:
        if len(found) == limit:
            return found, found[-1]
        if not _is_done(reader, number, round):
            found.append(round)
    return found, None


def _sampled(reader: Reader, stream: ServiceStream, after: int, limit: int) -> tuple[list[int], int | None]:
    """Questions of the random sample that the model learnt after an event."""
    found: list[int] = []
    for _ in range(MOST_CHUNKS):
        events = reader.events(stream.number, after, CHUNK, ("told",))
        for event in events:
            if len(found) == limit:
                return found, after
            after, round = event.seq, event.question
            if round is not None and is_drawn(stream, round) and not _is_done(reader, stream.number, round):
                found.append(round)
        if len(events) < CHUNK:
            return found, None
    return found, after


def reviewable(coordinator: Coordinator, stream: ServiceStream, round: int) -> Reviewable:
    """A question as a reviewer sees it. In blind reviews answers are sorted, so that their order reveals nothing."""
    question = stream.questions.find(round)
    blind = stream.settings.view.blind
    answers = [Single(stream.seen_label(each.label), None if blind else each.annotator) for each in question.answers]
    if blind:
        answers.sort(key=lambda each: str(each.label or ""))
    return Reviewable(
        shown(coordinator, stream, question, guess=question.told),
        answers,
        stream.seen_label(question.model),
        stream.seen_label(question.label),
        stream.seen_label(_word(question.prediction)),
    )


def _word(prediction: Any) -> str | None:
    return None if prediction is None else str(prediction)
