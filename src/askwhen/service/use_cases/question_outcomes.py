"""All questions of a stream with what became of them, and counts of predictions and answers, read from its log."""

from __future__ import annotations

from collections import Counter, deque
from typing import NamedTuple

import numpy as np

from ...evaluate.estimation.estimate import FEWEST_ANSWERS
from ...evaluate.estimation.over_time import Questions
from ..events import numbers
from ..events.kinds import (
    Answered,
    Corrected,
    Fact,
    Forgotten,
    Instance,
    LabelRenamed,
    LabelsMerged,
    Told,
    facts_of,
)
from ..events.label_names import LabelNames
from ..store.records import ALL, Reader

CHUNK, MOST_EVENTS = 1_000, 20_000
"""Events that are read at once, and in one call, so that other readers have their turn."""

DAY, HOUR = 86400.0, 3600.0
MOST_SHOWN = 300
_KINDS = ("instance", "told", "forgotten", "corrected", "answered", "label renamed", "labels merged")


class NumberErrors(NamedTuple):
    """The mean distance of predictions from labels, each answer weighted by 1/probability; None of too few answers.

    ``shown`` has the last pairs of a prediction and a label.
    """

    mean: float | None
    answers: int
    shown: list[tuple[float, float]]


class QuestionOutcomes:
    """Follows the log of a stream; one entry for each question, in the order of their rounds.

    Parameters
    ----------
    within : float, optional
        Where labels are numbers, how far a prediction may be off; numbers are counted with three digits.
    several : bool, default False
        Whether a label is a set of labels.

    Attributes
    ----------
    seq : int
        The last event that was read.
    predicted : Counter
        Number of instances with each prediction; None is for those that came before any label was known.
    days : Counter
        Number of answers by day, in days since 1970 (UTC), and annotator.
    """

    def __init__(self, within: float | None = None, several: bool = False) -> None:
        self._within, self._several = within, several
        self.seq = 0
        self.predicted: Counter[str | None] = Counter()
        self.days: Counter[tuple[int, str]] = Counter()
        self._answers: deque[float] = deque()
        self._places: dict[int, int] = {}
        self._round: list[int] = []
        self._probability: list[float] = []
        self._level: list[int] = []
        self._prediction: list[str | None] = []
        self._label: list[str | None] = []
        self._promised: list[bool] = []

    def follow(self, reader: Reader, number: int) -> bool:
        """Read new events, up to a limit; returns whether there may be more."""
        end = self.seq + MOST_EVENTS
        while self.seq < end:
            events = reader.events(number, self.seq, CHUNK, _KINDS)
            for event in events:
                self._take(facts_of(event), event.question, event.time)
                self.seq = event.seq
            if len(events) < CHUNK:
                return False
        return True

    def _take(self, fact: Fact, question: int | None, time: float) -> None:
        if isinstance(fact, Answered):
            self.days[int(time // DAY), fact.annotator] += 1
            self._answers.append(time)
            while self._answers[0] < time - HOUR:
                self._answers.popleft()
        elif isinstance(fact, Instance):
            self.predicted[self._counted(fact.prediction)] += not fact.withheld
            if fact.asked:
                self._places[fact.round] = len(self._round)
                self._round.append(fact.played)
                self._probability.append(fact.probability)
                self._level.append(fact.level)
                self._prediction.append(fact.prediction)
                self._label.append(None)
                self._promised.append(fact.expected is not None)
        elif isinstance(fact, LabelRenamed):
            self._relabel(fact.label, fact.to)
        elif isinstance(fact, LabelsMerged):
            self._relabel(fact.label, fact.into)
        elif question in self._places and isinstance(fact, (Told, Forgotten, Corrected)):
            self._label[self._places[question]] = None if isinstance(fact, Forgotten) else fact.label

    def _relabel(self, label: str, new: str) -> None:
        """Count a label under another name; those read from now on have it already."""
        names = LabelNames([(ALL, label, new)], self._several)
        before, self.predicted = self.predicted, Counter()
        for each, number in before.items():
            self.predicted[names.now(each)] += number
        self._prediction = list(map(names.now, self._prediction))
        self._label = list(map(names.now, self._label))

    def questions(self) -> Questions:
        """All of them as arrays."""
        pairs = zip(self._label, self._prediction, strict=True)
        return Questions(
            np.array(self._round, np.int64),
            np.array(self._probability, float),
            np.array(self._level, np.int64),
            np.array([label is not None for label in self._label], bool),
            np.array([label is not None and self._is_wrong(label, prediction) for label, prediction in pairs], bool),
        )

    def answers_since(self, time: float) -> int:
        """Number of answers since a time that is at most an hour ago."""
        return sum(each >= time for each in self._answers)

    def pairs(self) -> Counter[tuple[str | None, str]]:
        """Number of answered questions by prediction and label."""
        both = zip(self._prediction, self._label, strict=True)
        name = self._counted
        return Counter((name(prediction), str(name(label))) for prediction, label in both if label is not None)

    def errors(self) -> NumberErrors:
        """How far the predictions were off, where labels are numbers."""
        every = zip(self._probability, self._prediction, self._label, strict=True)
        known = [(p, float(said), float(label)) for p, said, label in every if said is not None and label is not None]
        weights = sum(1.0 / p for p, _, _ in known)
        mean = (
            sum(abs(said - label) / p for p, said, label in known) / weights if len(known) >= FEWEST_ANSWERS else None
        )
        return NumberErrors(mean, len(known), [(said, label) for _, said, label in known[-MOST_SHOWN:]])

    def _counted(self, label: str | None) -> str | None:
        """A label, or a number with few digits, since there may be very many."""
        return label if label is None or self._within is None else numbers.written(float(f"{float(label):.3g}"))

    def _is_wrong(self, label: str, prediction: str | None) -> bool:
        if self._within is None or prediction is None:
            return label != prediction
        return numbers.differ(label, prediction, self._within)

    def delivered(self) -> dict[str, dict[str, int]]:
        """For each label, the number of instances that have it: from people, or else as predicted.

        With a promise, predictions that people were asked about are not delivered.
        """
        rest, people, found = Counter(self.predicted), Counter[str](), dict[str, dict[str, int]]()
        for prediction, label, promised in zip(self._prediction, self._label, self._promised, strict=True):
            rest[self._counted(prediction)] -= promised and label is None
        for (prediction, label), number in self.pairs().items():
            rest[prediction] -= number
            people[label] += number
        for word in dict.fromkeys([*rest, *people]):
            if word is not None and rest[word] + people[word]:
                found[word] = {"people": people[word], "predicted": rest[word]}
        return found
