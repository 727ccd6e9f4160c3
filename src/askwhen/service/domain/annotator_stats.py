"""Statistics of annotators: number of answers, speed, agreement. Only sums are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from ...evaluate.agreement import cohen, coincidences, from_coincidences
from ..events.numbers import differ
from .questions import Question

PERIOD, KEPT = 1800, 100
"""Answers are counted by half hour, so that a day can begin at midnight in nearly every time zone, for two days."""

_NEAR, _FAR = "", "far"
"""Instead of labels in the counts of pairs, where they are numbers: an empty text cannot be a label."""


class AnnotatorCounts(msgspec.Struct):
    """Counts of one annotator; ``seconds`` is the time of the ``timed`` answers.

    ``last`` is the time of the latest answer or skip, and ``recent`` has the number of answers that were not taken back
    by half hour.
    """

    answers: int = 0
    unsure: int = 0
    skipped: int = 0
    undone: int = 0
    seconds: float = 0.0
    timed: int = 0
    last: float = 0.0
    recent: dict[int, int] = {}

    def count_recent(self, time: float, sign: int) -> None:
        """Count an answer given at a time (sign 1), or no longer (sign -1)."""
        period = int(time // PERIOD)
        if sign > 0:
            self.last = max(self.last, time)
            self.recent = {each: n for each, n in self.recent.items() if each > period - KEPT}
        left = self.recent.get(period, 0) + sign
        if left > 0:
            self.recent[period] = left
        else:
            self.recent.pop(period, None)

    def answers_since(self, time: float) -> int:
        """Number of answers since a time of the last two days, from the half hour in which it lies."""
        return sum(n for period, n in self.recent.items() if period >= time // PERIOD)


class AnnotatorStats(msgspec.Struct):
    """Counts of all annotators of a stream. ``pairs`` counts labels of two annotators, by both names and labels."""

    persons: dict[str, AnnotatorCounts] = {}
    pairs: dict[str, dict[str, dict[str, int]]] = {}
    together: dict[str, dict[str, float]] = {}

    def person(self, name: str) -> AnnotatorCounts:
        """The counts of an annotator."""
        return self.persons.setdefault(name, AnnotatorCounts())

    def count(self, question: Question, sign: int, within: float | None = None) -> None:
        """Add the answers of a full question (sign 1), or remove them (sign -1).

        Of numbers it is counted only whether they are ``within`` so much of each other.
        """
        given = sorted((answer.annotator, answer.label) for answer in question.answers if answer.label is not None)
        for i, (a, first) in enumerate(given):
            for b, second in given[i + 1 :]:
                if within is not None:
                    first, second = _NEAR, (_FAR if differ(first, second, within) else _NEAR)
                _add(self.pairs.setdefault(msgspec.json.encode([a, b]).decode(), {}), first, second, sign)
        if within is not None:
            return
        for (first, second), weight in coincidences([label for _, label in given]).items():
            _add(self.together, first, second, sign * weight)

    def relabel(self, now: Callable[[str], str]) -> None:
        """Count labels under the names that they have now."""
        tables: list[dict[str, dict[str, Any]]] = [*self.pairs.values(), self.together]
        for table in tables:
            for (first, second), n in _flat(table).items():
                if (now(first), now(second)) != (first, second):
                    _add(table, first, second, -n)
                    _add(table, now(first), now(second), n)

    def agreement(self) -> dict[str, Any]:
        """Coefficients of agreement, overall and for each pair of annotators; none where labels are numbers."""
        pairs = []
        for names, table in self.pairs.items():
            flat = _flat(table)
            a, b = msgspec.json.decode(names)
            same = sum(n for (x, y), n in flat.items() if x == y)
            pairs.append({"annotators": [a, b], "questions": sum(flat.values()), "same": same, "cohen": _cohen(flat)})
        return {"krippendorff": from_coincidences(_flat(self.together)), "pairs": pairs}

    def facts(self) -> dict[str, Any]:
        """Counts by annotator; ``seconds`` is the mean time of an answer."""
        return {
            name: {
                "answers": each.answers,
                "unsure": each.unsure,
                "skipped": each.skipped,
                "undone": each.undone,
                "seconds": each.seconds / each.timed if each.timed else None,
            }
            for name, each in self.persons.items()
        }


def _cohen(counts: Counter[Any]) -> float | None:
    return None if any(_NEAR in pair for pair in counts) else cohen(counts)


def _add(table: dict[str, dict[str, Any]], a: Any, b: Any, n: float) -> None:
    line = table.setdefault(a, {})
    line[b] = line.get(b, 0) + n
    if abs(line[b]) < 1e-9:
        del line[b]


def _flat(table: dict[str, dict[str, Any]]) -> Counter[Any]:
    return Counter({(a, b): n for a, line in table.items() for b, n in line.items()})
