"""Statistics of annotators: number of answers, speed, agreement, how many were right. Only sums are stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import msgspec

from ...evaluate.agreement import cohen, coincidences, from_coincidences
from ...evaluate.estimation.share import share_interval
from ..events.numbers import differ
from .questions import Judgement, Question

PERIOD, KEPT = 1800, 100
"""Answers are counted by half hour, so that a day can begin at midnight in nearly every time zone, for two days."""

WEEK = 7 * 86400
"""The quality of answers is counted by week."""

ENOUGH, WIDE = 20, 0.3
"""A share is told from so many answers on, and only where its interval is no wider."""

_NEAR, _FAR = "", "far"
"""Instead of labels in the counts of pairs, where they are numbers: an empty text cannot be a label."""


class AnnotatorCounts(msgspec.Struct):
    """Counts of one annotator; ``seconds`` is the time of the ``timed`` answers.

    ``last`` is the time of the latest answer or skip, and ``recent`` has the number of answers that were not taken back
    by half hour. ``judged`` has the number of answers whose label was also decided without this annotator: by week, by
    that label and by the given one; ``gold`` has the same of answers to gold questions, by their known label.
    """

    answers: int = 0
    unsure: int = 0
    skipped: int = 0
    undone: int = 0
    seconds: float = 0.0
    timed: int = 0
    last: float = 0.0
    recent: dict[int, int] = {}
    judged: dict[int, dict[str, dict[str, int]]] = {}
    gold: dict[int, dict[str, dict[str, int]]] = {}

    def tables(self) -> list[dict[str, dict[str, int]]]:
        """The counts of judged answers of all weeks, gold questions included."""
        return [*self.judged.values(), *self.gold.values()]

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

    def judge(self, found: Judgement, sign: int, within: float | None = None) -> None:
        """Count an answer whose label was also decided without the annotator (sign 1), or no longer (sign -1).

        Of numbers it is counted only whether they are ``within`` so much of each other.
        """
        given, decided = found.given, found.decided
        if within is not None:
            given, decided = (_FAR if differ(given, decided, within) else _NEAR), _NEAR
        person = self.person(found.annotator)
        weeks = person.gold if found.gold else person.judged
        _add(weeks.setdefault(int(found.time // WEEK), {}), decided, given, sign)

    def judged_of(self, name: str) -> Counter[Any]:
        """Number of answers of an annotator whose label was also decided without them or is known, by both labels."""
        found: Counter[Any] = Counter()
        for table in self.persons[name].tables() if name in self.persons else ():
            found.update(_flat(table))
        return found

    def active(self, since: float) -> int:
        """Number of annotators who have answered or skipped since a time."""
        return sum(each.last >= since for each in self.persons.values())

    def relabel(self, now: Callable[[str], str]) -> None:
        """Count labels under the names that they have now."""
        tables: list[dict[str, dict[str, Any]]] = [*self.pairs.values(), self.together]
        tables += [table for each in self.persons.values() for table in each.tables()]
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
                "quality": quality(each),
            }
            for name, each in self.persons.items()
        }


def quality(person: AnnotatorCounts) -> dict[str, Any]:
    """How many of the answers were as what was decided without this annotator: in all, by label and by week.

    The known labels of gold questions are among what was decided; ``gold`` has the same of those alone. ``share`` is
    none while too little is known: fewer than ``ENOUGH`` such answers, or an interval wider than ``WIDE``.
    """
    weeks = sorted({*person.judged, *person.gold})
    gold = {week: _flat(person.gold.get(week, {})) for week in weeks}
    counts = {week: _flat(person.judged.get(week, {})) + gold[week] for week in weeks}
    return _quality(counts) | {"gold": _quality(gold)}


def _quality(counted: dict[int, Counter[Any]]) -> dict[str, Any]:
    """The quality by counts of (decided, given) of each week."""
    labels: dict[str, list[int]] = {}
    weeks = []
    for week, flat in counted.items():
        for (decided, given), n in flat.items():
            counts = labels.setdefault(decided, [0, 0])
            counts[0] += n * (decided == given)
            counts[1] += n
        if flat:
            weeks.append(
                {"since": float(week * WEEK), **_of(sum(n for (a, b), n in flat.items() if a == b), flat.total())}
            )
    found = _of(sum(equal for equal, _ in labels.values()), sum(total for _, total in labels.values()))
    low, high = share_interval(found["same"], found["judged"])
    is_known = found["judged"] >= ENOUGH and high - low <= WIDE
    share = found["same"] / found["judged"] if is_known else None
    by_label = {label: _of(*counts) for label, counts in sorted(labels.items()) if label != _NEAR}
    return {**found, "share": share, "low": low, "high": high, "labels": by_label, "weeks": weeks}


def _of(same: int, judged: int) -> dict[str, Any]:
    return {"same": same, "judged": judged}


def _cohen(counts: Counter[Any]) -> float | None:
    return None if any(_NEAR in pair for pair in counts) else cohen(counts)


def _add(table: dict[str, dict[str, Any]], a: Any, b: Any, n: float) -> None:
    line = table.setdefault(a, {})
    line[b] = line.get(b, 0) + n
    if abs(line[b]) < 1e-9:
        del line[b]


def _flat(table: dict[str, dict[str, Any]]) -> Counter[Any]:
    return Counter({(a, b): n for a, line in table.items() for b, n in line.items()})
