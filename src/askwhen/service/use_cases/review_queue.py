"""Questions for a reviewer: those on which people disagree, those that were corrected, and a random share of all."""

from __future__ import annotations

import asyncio
import hashlib
from typing import Any, Literal

import msgspec

from ..domain.stream import ServiceStream
from ..events.kinds import Reviewed, facts_of
from ..runtime.coordinator import Coordinator
from ..store.records import Reader
from .questions import Shown, shown

Which = Literal["disputed", "corrected", "sample"]
CHUNK, MOST_CHUNKS = 500, 20


class Single(msgspec.Struct):
    """One answer; without a name where reviews are blind, and without a label where the annotator was unsure."""

    label: str | None
    name: str | None = None


class Reviewable(msgspec.Struct):
    """A question with its answers, the label that the model learnt (``told``) and the one that currently counts."""

    shown: Shown
    answers: list[Single]
    told: str | None
    label: str | None
    guess: str | None


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
        if which == "disputed":
            open = sorted(each.round for each in stream.questions.open.values() if each.disputed and each.round > after)
            rounds, place = open[:limit], open[limit - 1] if len(open) > limit else None
        elif which == "corrected":
            corrected = sorted(each for each in stream.questions.stored.corrections if each > after)
            rounds, place = await log.in_thread(_unreviewed, log.reader, stream.number, corrected, limit)
        else:
            rounds, place = await log.in_thread(_sampled, log.reader, stream, max(after, 0), limit)
    found = []
    for round in rounds:
        found.append(reviewable(coordinator, stream, round))
        await asyncio.sleep(0)
    return Reviewables(found, place)


def _is_done(reader: Reader, number: int, round: int) -> bool:
    """Whether a reviewer has decided a question, or cannot any more, since its contents were erased."""
    events = reader.of_question(number, round)
    return events[0].row is None or any(isinstance(facts_of(each), Reviewed) for each in events)


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
    answers = [Single(each.label, None if blind else each.annotator) for each in question.answers]
    if blind:
        answers.sort(key=lambda each: each.label or "")
    return Reviewable(
        shown(coordinator, stream, question, guess=question.told),
        answers,
        question.model,
        question.label,
        _word(question.prediction),
    )


def _word(prediction: Any) -> str | None:
    return None if prediction is None else str(prediction)
