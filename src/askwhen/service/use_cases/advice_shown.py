"""What advisers say of an instance, as people and programs see it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..events.advice import Advice
from ..events.kinds import Advised, facts_of
from ..store.records import Event


class AdviceShown(msgspec.Struct, omit_defaults=True):
    """What an adviser says: a label, and the probability that it states of it.

    Advice that is ``late`` came after the decision about the instance, and is not counted.
    """

    adviser: str
    label: str
    confidence: float | None = None
    late: bool = False


def late_advice(history: Iterable[Event]) -> Advice:
    """Advice that came after the decision, in the history of an instance; the last of each adviser counts."""
    found: Advice = {}
    for event in history:
        if event.kind == "advised":
            fact: Advised = facts_of(event)
            found |= fact.advice
    return found


def shown_advice(advice: Advice | None, late: Advice | None = None) -> list[AdviceShown]:
    """All that is said of an instance, before its decision and after it."""
    before = [AdviceShown(name, *said.named) for name, said in (advice or {}).items()]
    return before + [AdviceShown(name, *said.named, late=True) for name, said in (late or {}).items()]
