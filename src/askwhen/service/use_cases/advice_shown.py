"""What advisers say of an instance, as people and programs see it."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ..domain.stream import ServiceStream
from ..events.advice import Advice
from ..events.kinds import Advised, facts_of
from ..events.label_sets import Label
from ..store.records import Event


class AdviceShown(msgspec.Struct, omit_defaults=True):
    """What an adviser says: a label, and the probability that it states of it.

    Advice that is ``late`` came after the decision about the instance, and is not counted.
    """

    adviser: str
    label: Label
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


def shown_advice(stream: ServiceStream, advice: Advice | None, late: Advice | None = None) -> list[AdviceShown]:
    """All that is said of an instance, before its decision and after it."""

    def shown(said: Advice | None, is_late: bool) -> list[AdviceShown]:
        named = {name: each.named for name, each in (said or {}).items()}
        return [AdviceShown(name, stream.seen_label(label) or "", p, is_late) for name, (label, p) in named.items()]

    return shown(advice, False) + shown(late, True)
