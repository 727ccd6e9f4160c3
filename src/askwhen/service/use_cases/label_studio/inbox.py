"""Labels from other tools: stored first, then applied.

Some tools send a label once and wait only a second for the reply. So it is first put into the log of the stream, which
makes it safe, and applied right after. The event with the outcome is committed together with its effects: wherever the
process ends, nothing is lost and nothing is applied twice.

The label of an annotator that counts is the latest one by the clock of the tool, not the last one that arrived. It is
compared with what the stream has of that annotator: an answer, an unsolicited label, or nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Iterable

from ....errors import AskwhenError
from ...domain.questions import Question
from ...domain.stream import ServiceStream
from ...errors import ConflictError, SetAsideError
from ...events.kinds import Handled, Received, facts_of
from ...runtime.background import run_in_background
from ...runtime.coordinator import Coordinator
from ...store.records import Event
from ..questions import LONGEST_LEAD

PAUSE = 2.0
"""Seconds after which a label is tried again whose slot another annotator holds."""

log = logging.getLogger("askwhen.service")


class Inbox:
    """Stores and applies labels from other tools, for all streams."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._turn = asyncio.Lock()
        self._new = asyncio.Event()

    async def receive(self, stream: ServiceStream, facts: Iterable[tuple[int | None, Received]]) -> int:
        """Store labels, each with the round of its instance; returns the number of new ones. Safe once this returns."""
        async with self._turn:  # keys are looked up among committed events only
            coordinator, wanted = self._coordinator, list(facts)
            await coordinator.commits.settled()
            keys = [key for _, fact in wanted for key in _keys(fact)]
            known = (
                {event.key: event for event in await coordinator.events_of_keys(stream.number, keys)} if keys else {}
            )
            new = 0
            with coordinator.changing(stream):
                for round, fact in wanted:
                    first, revision, gone = _keys(fact)
                    if gone in known or revision in known or (not fact.gone and _is_of(known.get(first), fact.at)):
                        continue
                    key = gone if fact.gone else revision if first in known else first
                    known[key] = stream.note("received", fact, coordinator.clock.now(), round, key)
                    new += 1
            await coordinator.committed(stream)
        if new:
            self._new.set()
        return new

    async def known(self, stream: ServiceStream, source: str, annotations: list[str]) -> dict[str, Event]:
        """The first event of each of these annotations."""
        events = await self._coordinator.events_of_keys(stream.number, [f"b:{source}:{each}" for each in annotations])
        return {facts_of(event).annotation: event for event in events}

    async def handle(self, stream: ServiceStream) -> None:
        """Apply the labels received on a stream, in order; those that must wait stay."""
        coordinator = self._coordinator
        for seq in list(stream.state.received):
            async with coordinator.history_lock:
                await coordinator.commits.settled()
                with coordinator.changing(stream):
                    event = coordinator.event(stream, seq)
                    assert event is not None
                    now = max(coordinator.clock.now(), stream.state.time)
                    outcome = applied(stream, event, now)
                    if outcome is not None:
                        stream.note("handled", Handled(seq, outcome), now, event.question)
                await coordinator.committed(stream)

    async def work(self) -> None:
        """Apply labels as they come, as long as the service runs."""
        self._new.set()
        while self._coordinator.broken is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(PAUSE):
                    await self._new.wait()
            self._new.clear()
            for stream in list(self._coordinator.by_number.values()):
                with contextlib.suppress(SetAsideError):  # the log has what waits
                    if stream.loaded and stream.state.received:
                        await self.handle(stream)


def _keys(fact: Received) -> tuple[str, str, str]:
    """The keys of the first event of an annotation, of a revision of it, and of its deletion."""
    first = f"b:{fact.source}:{fact.annotation}"
    return first, f"{first}:{fact.at!r}", f"{first}:gone"


def _is_of(event: Event | None, at: float) -> bool:
    return event is not None and facts_of(event).at == at


@contextlib.asynccontextmanager
async def receiving(coordinator: Coordinator) -> AsyncIterator[Inbox]:
    """An inbox that works inside the ``with`` block."""
    inbox = Inbox(coordinator)
    async with run_in_background(_work(inbox)):
        yield inbox


async def _work(inbox: Inbox) -> None:
    try:
        await inbox.work()
    except AskwhenError as error:  # the service is stopping, and the log has what waits
        log.warning("the inbox stops", extra={"facts": {"said": str(error)}})


def applied(stream: ServiceStream, event: Event, now: float) -> str | None:
    """Bring the stream to the label of an annotator that counts; returns the outcome, or None where it must wait."""
    fact = facts_of(event)
    assert isinstance(fact, Received)
    if event.question is None:
        return "nothing is known of it"
    history = stream.current.history(event.question)
    asked = any(each.kind == "instance" for each in history)
    wanted = stream.label_now(standing((each for each in history if each.seq <= event.seq), fact.annotator))
    try:
        if asked:
            return _answered(stream, event.question, fact, wanted, now)
        return _given(stream, event.question, fact, wanted, now)
    except AskwhenError as error:
        return f"refused: {error.sentence}"


def standing(events: Iterable[Event], annotator: str) -> str | None:
    """The label of an annotator that counts, after all events received about an instance."""
    last: dict[tuple[str, str], Received] = {}
    for event in events:
        fact = facts_of(event)
        if isinstance(fact, Received):
            place = (fact.source, fact.annotation)
            if place not in last or (fact.gone, fact.at) >= (last[place].gone, last[place].at):
                last[place] = fact
    mine = [each for each in last.values() if each.annotator == annotator and not each.gone and each.label is not None]
    return max(mine, key=lambda each: each.at).label if mine else None


def _answered(stream: ServiceStream, round: int, fact: Received, wanted: str | None, now: float) -> str | None:
    """For an instance with a question: answer it, change the answer, or take it back."""
    question, who = stream.questions.find(round), fact.annotator
    slot = question.slot_of(who)
    answer = None if slot is None else question.slots[slot].answer
    if answer is None and (question.forgotten or stream.volunteered(round)):
        return _given(stream, round, fact, wanted, now)
    if wanted == (None if answer is None else answer.label):
        return "known"
    stream.questions.check_label(wanted, "answer")
    if answer is not None:
        stream.undo(round, who, now)
    if wanted is None:
        stream.record(stream.commands.release(round, who, now), now)
        return "undone"
    if answer is None and _is_held(question, who, now):
        return None
    lead = fact.lead if fact.lead is not None and 0.0 <= fact.lead <= LONGEST_LEAD else None
    try:
        stream.answer(round, who, wanted, now, lead, None)
    except ConflictError as error:
        return f"not taken: {error.sentence}"
    return "answered" if answer is None else "corrected"


def _is_held(question: Question, who: str, now: float) -> bool:
    """Whether other annotators hold all remaining slots, which may become free again."""
    return (
        not (question.closed or question.is_full or question.disputed)
        and question.slot_of(who) is None
        and question.free_slot(now) is None
    )


def _given(stream: ServiceStream, round: int, fact: Received, wanted: str | None, now: float) -> str:
    """For an instance that no question waits for: learn the label, correct it, or take it back."""
    before = [each.label for each in stream.volunteered(round) if each.annotator == fact.annotator]
    if wanted == (before[-1] if before else None):
        return "known"
    event = stream.volunteer(stream.event(fact.instance), fact.annotator, wanted, now)
    return "learnt" if facts_of(event).learnt else "corrected" if wanted is not None else "taken back"
