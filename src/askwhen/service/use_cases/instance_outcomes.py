"""What became of an instance: its label, who gave it, and whether its question is open, disputed or dropped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Literal

import msgspec

from ..events.advice import Advice
from ..events.kinds import (
    Advised,
    Answered,
    Commented,
    Corrected,
    Disputed,
    Flagged,
    Forgotten,
    Instance,
    Reviewed,
    ReviewUndone,
    Told,
    Undone,
    Volunteered,
    facts_of,
)
from ..store.records import Event, Reader

State = Literal["waiting", "predicted", "open", "disputed", "dropped", "labelled"]
"""In the backlog; not asked about; asked, without a label yet; for a reviewer; dropped without a label; labelled."""


class Outcome(msgspec.Struct):
    """What became of an instance. ``people`` gave its answers or its label, in their order, at last at a ``time``.

    ``late`` is advice that came after its decision.
    """

    state: State = "predicted"
    label: str | None = None
    people: list[str] = []
    answers: int = 0
    reviewer: str | None = None
    comments: int = 0
    flagged: bool = False
    time: float | None = None
    late: Advice = {}


def outcome_of(fact: Instance, history: Iterable[Event]) -> Outcome:
    """The outcome of a decided instance from the events about it, of which it may be one."""
    answers: dict[int, Answered] = {}
    given: dict[str, str] = {}
    found = Outcome()
    is_disputed = is_dropped = False
    for event in history:
        each = facts_of(event)
        if isinstance(each, Answered):
            answers[each.slot] = each
        elif isinstance(each, Undone):
            answers.pop(each.slot, None)
        elif isinstance(each, Volunteered):
            given.pop(each.annotator, None)
            found.time = event.time
            if each.label is not None:
                given[each.annotator] = each.label
        elif isinstance(each, (Told, Corrected)):
            found.label, found.time, is_disputed, is_dropped = each.label, event.time, False, False
        elif isinstance(each, Forgotten):
            found.label, is_disputed, is_dropped = None, False, True
        elif isinstance(each, Disputed):
            is_disputed = True
        elif isinstance(each, Reviewed):
            found.reviewer, is_disputed = each.annotator, False
        elif isinstance(each, ReviewUndone):
            found.reviewer, is_disputed = None, each.disputed
            is_dropped = bool(each.why) and not each.reopened
        elif isinstance(each, Commented):
            found.comments += 1
        elif isinstance(each, Flagged):
            found.flagged = each.flagged
        elif isinstance(each, Advised):
            found.late = found.late | each.advice
    if given:
        found.label = list(given.values())[-1]
    people = [*(each.annotator for _, each in sorted(answers.items())), *given]
    found.people = list(dict.fromkeys([*people, *([found.reviewer] if found.reviewer else [])]))
    found.answers = len(answers)
    if found.label is not None:
        found.state = "labelled"
    elif is_disputed:
        found.state = "disputed"
    elif fact.asked:
        found.state = "dropped" if is_dropped else "open"
    return found


def outcomes_of(reader: Reader, stream: int, facts: Sequence[Instance], until: int) -> dict[int, Outcome]:
    """The outcomes of decided instances as they were after an event, by round."""
    events = reader.of_questions(stream, [fact.round for fact in facts])
    known = {round: list(each) for round, each in groupby(events, lambda event: event.question)}
    return {
        fact.round: outcome_of(fact, [event for event in known.get(fact.round, []) if event.seq <= until])
        for fact in facts
    }
