"""Gold questions, whose label is known: give them, list them with what was answered, remove them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import msgspec

from ...errors import AskwhenError, InputError
from ..domain.stream import NewGold, ServiceStream
from ..errors import ConflictError
from ..events.kinds import Instance, facts_of
from ..events.label_sets import Label, text_of
from ..runtime.coordinator import Coordinator
from ..store.records import Event
from .instance_outcomes import Outcome, outcome_of
from .instances import Raw, checked
from .labels import instance_of

MOST_AT_ONCE = 1_000


class KnownQuestion(msgspec.Struct, forbid_unknown_fields=True):
    """A question with its known ``label``: an instance of the stream by its ``id`` or ``round``, or one of its own.

    One of its own has ``x``, and what instances may have besides. One of the stream may leave out its label, where
    people gave it one.
    """

    label: Label | None = None
    id: str | None = None
    round: int | None = None
    x: Any = None
    show: Any = None
    subject: str | None = None
    advice: dict[str, Any] | None = None


class AddedGold(msgspec.Struct):
    """Number of questions that were ``added``, of those that were ``known`` already, and of ``all`` gold questions."""

    added: int
    known: int
    all: int


class Gold(msgspec.Struct):
    """A gold question: number, label, number of answers that count, and of those that were the same as the label."""

    gold: int
    label: Label | None
    answers: int
    same: int


class GoldPage(msgspec.Struct):
    """Gold questions in the order of their numbers; ``next`` is the ``after`` of the next page, if there are more."""

    questions: list[Gold]
    all: int
    next: int | None


async def add(
    coordinator: Coordinator, stream: ServiceStream, questions: Sequence[KnownQuestion], by: str
) -> AddedGold:
    """Take up gold questions, all or none of them; those that the stream has already are left out."""
    if not 0 < len(questions) <= MOST_AT_ONCE:
        raise InputError(f"give between 1 and {MOST_AT_ONCE:,} questions at once.", owner="gold")
    await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
    await coordinator.commits.settled()
    made: list[NewGold] = []
    for place, each in enumerate(questions):
        try:
            made.append(await _made(coordinator, stream, each))
        except AskwhenError as error:
            if len(questions) == 1:
                raise
            raise type(error)(f"question {place + 1}: {error.sentence}", owner="gold") from error
    with coordinator.changing(stream):
        added = stream.add_gold(made, by, coordinator.clock.now())
        all = len(stream.questions.stored.gold.by_number)
    await coordinator.committed(stream)
    return AddedGold(added, len(questions) - added, all)


async def _made(coordinator: Coordinator, stream: ServiceStream, given: KnownQuestion) -> NewGold:
    """A gold question with its instance; people who know the label of one of the stream never get it."""
    if [given.id, given.round, given.x].count(None) != 2:
        raise InputError("give the instance by one of id, round and x.", owner="gold")
    label = text_of(given.label)
    if given.x is not None:
        if label is None:
            raise InputError("give the label that is known.", owner="gold", parameter="label")
        new = checked(stream, Raw(given.x, show=given.show, subject=given.subject, advice=given.advice))
        stream.model.guess(new.x)  # refuses what the model could not play
        return NewGold(label, new)
    if (given.show, given.subject, given.advice) != (None, None, None):
        raise InputError("show, subject and advice are those of the instance; leave them out.", owner="gold")
    instance = await instance_of(coordinator, stream, given.id, given.round)
    if instance.row is None:
        raise ConflictError("the contents of this instance were erased.", owner="gold")
    found = await _outcome(coordinator, stream, instance)
    label = found.label if label is None else label
    if label is None:
        raise InputError("people gave this instance no label; give the one that is known.", owner="gold")
    return NewGold(label, instance, found.people)


async def _outcome(coordinator: Coordinator, stream: ServiceStream, instance: Event) -> Outcome:
    fact: Instance = facts_of(instance)
    async with coordinator.reading() as log:
        history = await log.in_thread(log.reader.of_question, stream.number, fact.round)
    found = outcome_of(fact, history)
    skipped = [facts_of(each).annotator for each in history if each.kind == "skipped"]
    found.people = list(dict.fromkeys([*found.people, *skipped]))
    return found


async def listed(coordinator: Coordinator, stream: ServiceStream, after: int, limit: int) -> GoldPage:
    """Gold questions after a number."""
    await coordinator.commits.settled()
    every = stream.questions.stored.gold.by_number
    found = []
    for number in sorted(number for number in every if number > after)[: limit + 1]:
        item = every[number]
        same = sum(not stream.model.differs(each.label, item.label) for each in item.given.values())
        found.append(Gold(number, stream.seen_label(item.label), len(item.given), same))
    return GoldPage(found[:limit], len(every), found[limit - 1].gold if len(found) > limit else None)


async def remove(coordinator: Coordinator, stream: ServiceStream, number: int, by: str) -> None:
    """Ask a gold question no more; what was answered to it does not count for the people any more."""
    with coordinator.changing(stream):
        stream.remove_gold(number, by, coordinator.clock.now())
    await coordinator.committed(stream)
