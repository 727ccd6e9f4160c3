"""The log as tables of predictions, decisions or labels, in chunks."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

from ..domain.retraining import last_given
from ..events.advice import Advice
from ..events.kinds import (
    Answered,
    Corrected,
    Forgotten,
    GoldChosen,
    Instance,
    Reviewed,
    ReviewUndone,
    Told,
    Undone,
    Volunteered,
    facts_of,
    id_of,
)
from ..store.records import Event, Reader
from .advice_columns import AdviceColumns
from .advice_shown import late_advice
from .listing import instance_in

CHUNK = 1_000

PREDICTIONS = {
    "seq": int,
    "round": int,
    "time": float,
    "id": str,
    "prediction": str,
    "margin": float,
    "certainty": float,
}
DECISIONS = PREDICTIONS | {"uncertainty": float, "probability": float, "coin": float, "asked": bool, "why": str}
LABELS = {
    "seq": int,
    "question": int,
    "id": str,
    "time": float,
    "annotator": str,
    "answer": str,
    "unsure": bool,
    "lead": float,
    "undone": bool,
    "label": str,
    "told": str,
    "corrected": bool,
    "reviewer": str,
    "prediction": str,
    "margin": float,
    "probability": float,
    "gold": str,
}
TABLES: dict[str, dict[str, type]] = {"predictions": PREDICTIONS, "decisions": DECISIONS, "labels": LABELS}
"""The columns of each table. In labels a row is an answer: ``label`` is the label that currently counts, ``told`` the
one that the model learnt, ``corrected`` whether they differ. An unsolicited label has no ``question``. A question that
a reviewer decided without any answer is a row too, in which the reviewer is the annotator. ``gold`` is the known label
of a gold question, which has no other and was not learnt."""

_LABELLED = {"gold", "label", "answer", "told", "prediction", "prediction_now", "delivered"}

_OF_PREDICTION = ("prediction", "margin", "probability")

Row = dict[str, Any]


def chunks(
    reader: Reader,
    stream: int,
    table: str,
    after: int,
    until: int,
    unknown: Container[int] = (),
    advice: AdviceColumns | None = None,
) -> Iterator[list[Row]]:
    """The rows of a table after an event, up to another, a chunk at a time.

    ``unknown`` are the rounds that the model does not know, since they were erased before it was retrained. ``advice``
    are further columns.
    """
    advised = AdviceColumns() if advice is None else advice
    kinds = ("answered", "volunteered", "reviewed") if table == "labels" else ("instance",)
    replays = [event.seq for event in reader.events(stream, 0, 1 << 62, ("replayed",))] if table == "labels" else []
    while True:
        events = reader.events(stream, after, CHUNK, kinds)
        if not events:
            return
        after = events[-1].seq
        if table == "labels":
            rows = []
            for event in events:
                history = reader.of_question(stream, event.question or 0)
                if event.kind == "answered":
                    found = [labelled(event, history, until, replays)]
                elif event.kind == "reviewed":
                    found = decided(event, history, until, replays)
                else:
                    found = volunteered(event, reader, history, until, replays)
                for row in found if event.question in unknown else ():
                    row |= {"told": None, "corrected": False}
                if advised.columns and found:
                    cells = _advice_in(reader, history, until, advised)
                    found = [row | cells for row in found]
                rows += found
        else:
            rows = [_row(event, TABLES[table]) for event in events]
            if advised.columns:
                late = late_by_round(reader, stream, [row["round"] for row in rows], until)
                for row, event in zip(rows, events, strict=True):
                    row |= advised.cells(facts_of(event).advice, late.get(row["round"]))
        yield [row for row in rows if row["seq"] <= until]
        if after >= until:
            return


def with_numbers(
    columns: dict[str, type], chunks: Iterator[list[Row]], advised: Iterable[str] = ()
) -> tuple[dict[str, type], Iterator[list[Row]]]:
    """The same table where labels are numbers: they, the predictions and the ``advised`` columns are no texts."""
    names = (_LABELLED | {*advised}) & columns.keys()
    found = {name: float if name in names else kind for name, kind in columns.items()}

    def converted(row: Row) -> Row:
        return row | {name: float(row[name]) for name in names if row.get(name) is not None}

    return found, ([converted(row) for row in rows] for rows in chunks)


def _row(event: Event, columns: dict[str, type]) -> Row:
    fact = facts_of(event)
    found = {"seq": event.seq, "time": event.time, "id": id_of(event)}
    return {name: found[name] if name in found else getattr(fact, name) for name in columns}


def _advice_in(reader: Reader, history: list[Event], until: int, advice: AdviceColumns) -> Row:
    """The cells of the advice on the instance that a history is about."""
    instance = instance_in(reader, history)
    late = late_advice(event for event in history if event.seq <= until)
    return advice.cells(None if instance is None else facts_of(instance).advice, late)


def late_by_round(reader: Reader, stream: int, rounds: Sequence[int], until: int) -> dict[int, Advice]:
    """Advice that came after the decisions, by round."""
    events = reader.of_questions(stream, rounds)
    return {
        round: late_advice(event for event in found if event.seq <= until)
        for round, found in groupby(events, lambda event: event.question)
        if round is not None
    }


def decided(event: Event, history: list[Event], until: int, replays: Sequence[int]) -> list[Row]:
    """A row for a reviewer's last decision on a question without answers; none for other decisions."""
    known = [each for each in history if each.seq <= until]
    last = [each.seq for each in known if each.kind in ("reviewed", "review undone")][-1:]
    if last != [event.seq] or any(each.kind == "answered" for each in known):
        return []
    return [labelled(event, history, until, replays)]


def labelled(event: Event, history: list[Event], until: int, replays: Sequence[int] = ()) -> Row:
    """A row for an answer or a decision, and the state of its question; ``replays`` retrained the model."""
    answer: Answered | Reviewed = facts_of(event)
    row: Row = {
        "seq": event.seq,
        "question": event.question,
        "time": event.time,
        "annotator": answer.annotator,
        "answer": answer.label,
        "unsure": answer.label is None,
        "lead": answer.lead if isinstance(answer, Answered) else None,
        "undone": False,
        "label": None,
        "told": None,
        "corrected": False,
        "reviewer": None,
        "id": None,
        **dict.fromkeys(_OF_PREDICTION),
        "gold": None,
    }
    left = [replay for replay in replays if replay <= until]
    for other in history:
        if other.seq > until:
            break
        while left and left[0] < other.seq:
            left.pop(0)
            row["told"] = row["label"]
        fact = facts_of(other)
        if isinstance(fact, Instance):
            row["id"] = None if other.key is None else other.key[2:]
            row |= {name: getattr(fact, name) for name in _OF_PREDICTION}
        elif isinstance(fact, GoldChosen):
            row |= {"prediction": fact.prediction, "gold": fact.label}
        elif isinstance(fact, Undone) and isinstance(answer, Answered):
            row["undone"] = row["undone"] or (other.seq > event.seq and fact.slot == answer.slot)
        elif isinstance(fact, Told):
            row["told"] = row["label"] = fact.label
        elif isinstance(fact, Corrected):
            row["label"] = fact.label
        elif isinstance(fact, Reviewed):
            row["reviewer"] = fact.annotator
        elif isinstance(fact, ReviewUndone):
            row["reviewer"] = None
        elif isinstance(fact, Forgotten):
            row["label"] = None
    if left:
        row["told"] = row["label"]
    row["corrected"] = row["label"] != row["told"]
    return {name: row[name] for name in LABELS}


def volunteered(event: Event, reader: Reader, history: list[Event], until: int, replays: Sequence[int]) -> list[Row]:
    """A row for an unsolicited label and its current state; none for an event that only took one back."""
    given: Volunteered = facts_of(event)
    instance = reader.event(event.stream, given.instance)
    if given.label is None or instance is None:
        return []
    fact: Instance = facts_of(instance)
    labels = [each for each in history if each.kind == "volunteered" and each.seq <= until]
    later = [facts_of(each) for each in labels if each.seq > event.seq]
    learnt = next((found.label for found in map(facts_of, labels) if found.learnt), None)
    round = event.question or 0
    for replay in replays:
        if labels[0].seq < replay <= until:
            learnt = last_given(each for each in labels if each.seq < replay)[round]
    label = last_given(labels)[round]
    row = {
        "seq": event.seq,
        "question": None,
        "id": None if instance.key is None else instance.key[2:],
        "time": event.time,
        "annotator": given.annotator,
        "answer": given.label,
        "unsure": False,
        "lead": None,
        "undone": any(each.annotator == given.annotator for each in later),
        "label": label,
        "told": learnt,
        "corrected": label != learnt,
        "reviewer": None,
    }
    return [row | {name: getattr(fact, name) for name in _OF_PREDICTION} | {"gold": None}]
