"""The labels of a stream as Prodigy's annotated tasks, one for each instance."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import msgspec

from ...data.formats.prodigy import answer_of, unanswered
from ..domain import row_codec
from ..domain.features import FeatureReader
from ..domain.retraining import last_given
from ..events import label_sets
from ..events.kinds import Answered, Volunteered, facts_of
from ..events.settings import Settings
from ..store.records import Event, Reader
from .answer_kinds import NUMBER, SEVERAL, kind_of
from .export_tables import CHUNK, labelled

Task = dict[str, Any]


def tasks(
    reader: Reader, stream: int, settings: Settings, labels: Sequence[str], after: int, until: int
) -> Iterator[list[Task]]:
    """Tasks of the instances that were labelled after an event, up to another, a chunk at a time.

    A question is written with its last answer that was not undone, and with the label that currently counts; before
    that is decided, with the one on which all answers agree. An unsolicited label is written as it was given last.
    Instances whose contents were erased are skipped.
    """
    features, kind = FeatureReader(settings.features, settings.version), kind_of(settings)
    while True:
        events = reader.events(stream, after, CHUNK, ("answered", "volunteered"))
        if not events:
            return
        after = events[-1].seq
        made: list[Task] = []
        for event in events:
            history = [each for each in reader.of_question(stream, event.question or 0) if each.seq <= until]
            found = (
                _answered(event, history, until) if event.kind == "answered" else _volunteered(event, history, reader)
            )
            if event.seq > until or found is None or found[0].row is None:
                continue
            instance, label, annotator = found
            record = _record(instance, features)
            if instance.key is not None:
                record["id"] = instance.key[2:]
            chosen = label_sets.read(label) if label is not None and kind == SEVERAL else label
            given = answer_of(chosen, list(labels), kind == SEVERAL, kind == NUMBER)
            task = unanswered(record, settings.features.text) | given
            made.append(task | ({} if annotator is None else {"_annotator_id": annotator}))
        yield made
        if after >= until:
            return


Labelled = tuple[Event, str | None, str | None]
"""The event of an instance, its label, and its annotator where that gave this label."""


def _answered(event: Event, history: list[Event], until: int) -> Labelled | None:
    rows = [labelled(each, history, until) for each in history if each.kind == "answered"]
    standing = [row for row in rows if not row["undone"]]
    unsolicited = [each for each in history if each.kind == "volunteered"]
    if (
        not standing
        or standing[-1]["seq"] != event.seq
        or (unsolicited and last_given(unsolicited)[event.question or 0] is not None)
    ):
        return None
    answers = {row["answer"] for row in standing}
    is_decided = any(each.kind in ("told", "forgotten") for each in history)
    label = standing[-1]["label"] if is_decided else answers.pop() if len(answers) == 1 else None
    given: Answered = facts_of(event)
    return history[0], label, given.annotator if given.label == label else None


def _volunteered(event: Event, history: list[Event], reader: Reader) -> Labelled | None:
    unsolicited = [each for each in history if each.kind == "volunteered"]
    given: Volunteered = facts_of(event)
    instance = reader.event(event.stream, given.instance)
    label = last_given(unsolicited)[event.question or 0] if unsolicited else None
    if label is None or instance is None or unsolicited[-1].seq != event.seq:
        return None
    return instance, label, given.annotator if given.label == label else None


def _record(event: Event, features: FeatureReader) -> dict[str, Any]:
    """What annotators see of an instance, by field."""
    seen: dict[str, Any] = {} if event.shown is None else msgspec.json.decode(event.shown)
    if not features.keeps_input:
        seen["x"] = features.shown(row_codec.from_bytes(event.row))
    record: dict[str, Any] = {}
    for part in (seen.get("x"), seen.get("show")):
        if isinstance(part, dict):
            record |= part
        elif part is not None:
            record["text" if isinstance(part, str) else "x"] = part
    return record
