"""All questions of a stream with what became of them, read from its log."""

from __future__ import annotations

import numpy as np

from ...evaluate.estimation.over_time import Questions
from ..events.kinds import Corrected, Forgotten, Instance, Told, facts_of
from ..store.records import Reader

CHUNK, MOST_EVENTS = 1_000, 20_000
"""Events that are read at once, and in one call, so that other readers have their turn."""

_KINDS = frozenset({"instance", "told", "forgotten", "corrected"})


class QuestionOutcomes:
    """Follows the log of a stream; one entry for each question, in the order of their rounds."""

    def __init__(self) -> None:
        self.seq = 0
        self._places: dict[int, int] = {}
        self._round: list[int] = []
        self._probability: list[float] = []
        self._level: list[int] = []
        self._prediction: list[str | None] = []
        self._label: list[str | None] = []

    def follow(self, reader: Reader, number: int) -> bool:
        """Read new events, up to a limit; returns whether there may be more."""
        end = self.seq + MOST_EVENTS
        while self.seq < end:
            events = reader.events(number, self.seq, CHUNK)
            for event in events:
                if event.kind in _KINDS:
                    self._take(facts_of(event), event.question)
                self.seq = event.seq
            if len(events) < CHUNK:
                return False
        return True

    def _take(self, fact: Instance | Told | Forgotten | Corrected, question: int | None) -> None:
        if isinstance(fact, Instance):
            if fact.asked:
                self._places[fact.round] = len(self._round)
                self._round.append(fact.played)
                self._probability.append(fact.probability)
                self._level.append(fact.level)
                self._prediction.append(fact.prediction)
                self._label.append(None)
        elif question in self._places:
            self._label[self._places[question]] = None if isinstance(fact, Forgotten) else fact.label

    def questions(self) -> Questions:
        """All of them as arrays."""
        pairs = zip(self._label, self._prediction, strict=True)
        return Questions(
            np.array(self._round, np.int64),
            np.array(self._probability, float),
            np.array(self._level, np.int64),
            np.array([label is not None for label in self._label], bool),
            np.array([label is not None and label != prediction for label, prediction in pairs], bool),
        )
