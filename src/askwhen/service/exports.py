"""The log as tables: predictions, decisions, labels. In chunks, each beginning after an event."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .events import Answered, Corrected, Forgotten, Instance, Reviewed, Told, Undone, facts_of
from .store.rows import Event, Reader

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
}
TABLES: dict[str, dict[str, type]] = {"predictions": PREDICTIONS, "decisions": DECISIONS, "labels": LABELS}
"""The columns of each table. In labels a row is an answer: ``label`` is what is held to be right by now, ``told`` what
the model learnt, ``corrected`` whether they differ."""

Row = dict[str, Any]


def chunks(reader: Reader, stream: int, table: str, after: int, until: int) -> Iterator[list[Row]]:
    """The rows of a table after an event, up to another, a chunk at a time."""
    kinds = ("answered",) if table == "labels" else ("instance",)
    replays = [event.seq for event in reader.events(stream, 0, 1 << 62, ("replayed",))] if table == "labels" else []
    while True:
        events = reader.events(stream, after, CHUNK, kinds)
        if not events:
            return
        after = events[-1].seq
        if table == "labels":
            rows = [
                labelled(event, reader.of_question(stream, event.question or 0), until, replays) for event in events
            ]
        else:
            rows = [_row(event, TABLES[table]) for event in events]
        yield [row for row in rows if row["seq"] <= until]
        if after >= until:
            return


def _row(event: Event, columns: dict[str, type]) -> Row:
    fact = facts_of(event)
    found = {"seq": event.seq, "time": event.time, "id": None if event.key is None else event.key[2:]}
    return {name: found[name] if name in found else getattr(fact, name) for name in columns}


def labelled(event: Event, history: list[Event], until: int, replays: Sequence[int] = ()) -> Row:
    """An answer, and what became of its question by now; ``replays`` are the events that made the model again."""
    answer: Answered = facts_of(event)
    row: Row = {
        "seq": event.seq,
        "question": event.question,
        "time": event.time,
        "annotator": answer.annotator,
        "answer": answer.label,
        "unsure": answer.label is None,
        "lead": answer.lead,
        "undone": False,
        "label": None,
        "told": None,
        "corrected": False,
        "reviewer": None,
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
            row |= {name: getattr(fact, name) for name in ("prediction", "margin", "probability")}
        elif isinstance(fact, Undone) and other.seq > event.seq and fact.slot == answer.slot:
            row["undone"] = True
        elif isinstance(fact, Told):
            row["told"] = row["label"] = fact.label
        elif isinstance(fact, Corrected):
            row["label"] = fact.label
        elif isinstance(fact, Reviewed):
            row["reviewer"] = fact.annotator
        elif isinstance(fact, Forgotten):
            row["label"] = row["told"] = None
    if left:
        row["told"] = row["label"]
    row["corrected"] = row["label"] != row["told"]
    return {name: row[name] for name in LABELS}
