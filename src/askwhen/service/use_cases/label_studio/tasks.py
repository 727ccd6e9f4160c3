"""A stream as a file of tasks that Label Studio imports: data, predictions and annotations."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from ...domain import row_codec
from ...domain.stream import ServiceStream
from ...events.kinds import Answered, Instance, Reviewed, ReviewUndone, Undone, Volunteered, facts_of
from ...store.records import Event, Reader
from ..answer_kinds import kind_of, read
from .annotations import result_of

CHUNK = 500


def written_tasks(
    reader: Reader, stream: ServiceStream, until: int, from_name: str, to_name: str, field: str
) -> Iterator[list[dict[str, Any]]]:
    """All instances up to an event that have contents, oldest first, in chunks."""
    after = 0
    while events := reader.events(stream.number, after, CHUNK, ("instance",)):
        after = events[-1].seq
        chunk = []
        for event in events:
            if event.seq <= until and event.row is not None:
                fact: Instance = facts_of(event)
                if fact.back:
                    continue  # it waits, or was decided later
                history = [each for each in reader.of_question(stream.number, fact.round) if each.seq <= until]
                chunk.append(_task(stream, event, fact, history, from_name, to_name, field))
        yield chunk
        if after >= until:
            return


def _task(
    stream: ServiceStream, event: Event, fact: Instance, history: list[Event], from_name: str, to_name: str, field: str
) -> dict[str, Any]:
    predictions, answer = [], kind_of(stream.settings)
    if fact.prediction is not None:
        score = 1.0 - fact.probability if fact.certainty is None else fact.certainty
        result = result_of(read(fact.prediction, answer), from_name, to_name)
        predictions.append({"result": result, "score": score, "model_version": stream.name})
    annotations = [
        {"result": result_of(read(label, answer), from_name, to_name), "ground_truth": decided}
        | ({} if lead is None else {"lead_time": lead})
        for label, lead, decided in standing(history)
    ]
    meta = {"round": fact.round} | ({} if event.key is None else {"id": event.key[2:]})
    return {
        "data": _data(stream, event, field),
        "meta": {"askwhen": meta},
        "predictions": predictions,
        "annotations": annotations,
    }


def _data(stream: ServiceStream, event: Event, field: str) -> dict[str, Any]:
    """What annotators see of an instance; a value that is not an object goes into the field of the labelling config."""
    seen = {} if event.shown is None else msgspec.json.decode(event.shown)
    x = seen.get("x")
    if not stream.reader.keeps_input:
        x = stream.reader.shown(row_codec.from_bytes(event.row))
    found = x if isinstance(x, dict) else {} if x is None else {field: x}
    shown = seen.get("show")
    return found | (shown if isinstance(shown, dict) else {} if shown is None else {"show": shown})


def standing(history: list[Event]) -> list[tuple[str, float | None, bool]]:
    """The current labels of an instance, each with the time that it took and whether a reviewer decided it."""
    answers: dict[int, Answered] = {}
    given: dict[str, str] = {}
    decided: str | None = None
    for event in history:
        fact = facts_of(event)
        if isinstance(fact, Answered):
            answers[fact.slot] = fact
        elif isinstance(fact, Undone):
            answers.pop(fact.slot, None)
        elif isinstance(fact, Volunteered):
            given.pop(fact.annotator, None)
            if fact.label is not None:
                given[fact.annotator] = fact.label
        elif isinstance(fact, Reviewed):
            decided = fact.label
        elif isinstance(fact, ReviewUndone):
            decided = None
    found: list[tuple[str, float | None, bool]] = [
        (fact.label, fact.lead, False) for fact in answers.values() if fact.label is not None
    ]
    found += [(label, None, False) for label in given.values()]
    return found + ([] if decided is None else [(decided, None, True)])
