"""What reviewers do to an instance of the table: give it another label, or flag it."""

from __future__ import annotations

from ...errors import InputError
from ..domain.stream import ServiceStream
from ..events.kinds import Flagged, Instance, facts_of
from ..runtime.coordinator import Coordinator
from . import labels, questions


async def correct(coordinator: Coordinator, stream: ServiceStream, round: int, who: str, label: str | None) -> None:
    """Give a decided instance a label: as a reviewer's decision, as an answer, or unasked."""
    await coordinator.commits.settled()
    fact: Instance = facts_of(await labels.instance_of(coordinator, stream, None, round))
    question = stream.questions.open.get(round) if fact.asked else None
    if not fact.asked:
        await labels.volunteer(coordinator, stream, who, label, round=round)
    elif question is not None and not (question.is_full or question.told or question.disputed or question.skipped):
        if label is None:
            raise InputError("the question has no answer yet.", owner="browse", parameter="label")
        await questions.answer(coordinator, stream, round, who, label, is_reviewer=True)
    else:
        await questions.review(coordinator, stream, round, who, label)


async def flag(coordinator: Coordinator, stream: ServiceStream, round: int, who: str, flagged: bool) -> None:
    """Flag a decided instance for others to look at, or take the flag away."""
    await coordinator.commits.settled()
    instance = await labels.instance_of(coordinator, stream, None, round)
    with coordinator.changing(stream):
        stream.note("flagged", Flagged(instance.seq, who, flagged), coordinator.clock.now(), round)
    await coordinator.committed(stream)
