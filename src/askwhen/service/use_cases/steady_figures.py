"""What annotators see of the model's figures in a stream with gold questions: as they were at every 20th question.

Counts of the model's questions and answers leave gold questions out. Seen before and after each answer, they would show
which question was one; seen at every 20th, they show how many there were at most.
"""

from __future__ import annotations

from typing import Any

from ..domain.stream import ServiceStream
from ..domain.tokens import Holder
from . import streams

STEP = 20
_LIVE = frozenset({"time", "stream", "waiting", "backlog", "people", "pace"})
"""Parts of an overview that count gold questions like all others, or do not count questions."""
_OF_MODEL = ("disputed", "corrected", "updates", "seq")
"""Counts of a stream that an answer to a gold question moves less, or not at all."""

Facts = dict[str, Any]


def is_for(holder: Holder, stream: ServiceStream) -> bool:
    """Whether a user only answers questions, some of which are gold."""
    return not holder.has("reviewer", "producer") and stream.loaded and stream.state.gold > 0


class SteadyFigures:
    """The figures of each stream, as they were last shown to annotators."""

    def __init__(self) -> None:
        self._shown: dict[tuple[int, str], tuple[tuple[int, int], Facts]] = {}

    def kept(self, stream: ServiceStream, what: str, found: Facts) -> Facts:
        """These figures, or those that were shown first since the last 20th question or answer."""
        stored = stream.questions.stored
        place = (stream.state.round // STEP, (stored.told + stored.gold.told) // STEP)
        shown = self._shown.get((stream.number, what))
        if shown is None or shown[0] != place:
            shown = self._shown[stream.number, what] = place, found
        return shown[1]

    def stream(self, holder: Holder, stream: ServiceStream) -> Facts:
        """State, settings and counts of a stream, as a user sees them."""
        return self._with_gold(stream) if is_for(holder, stream) else streams.facts(stream)

    def _with_gold(self, stream: ServiceStream) -> Facts:
        found = streams.facts(stream, with_gold=True)
        return found | self.kept(stream, "stream", {name: found[name] for name in _OF_MODEL})

    def overview(self, stream: ServiceStream, found: Facts) -> Facts:
        """An overview with these figures; rounds are numbered as if there were no others."""
        decisions = found["today"]["decisions"]
        found["today"] = {**found["today"], "decisions": [(i, *each[1:]) for i, each in enumerate(decisions)]}
        steady = self.kept(stream, "overview", {name: each for name, each in found.items() if name not in _LIVE})
        return found | steady | {"stream": self._with_gold(stream)}
