"""Tasks as Label Studio writes and reads them: in files, exports, lists of tasks and requests.

Read of a task: ``id``, ``data``, ``annotations`` (or ``completions``, as older versions say). Of an annotation: ``id``,
``result``, ``was_cancelled``, ``completed_by`` (a number, or an object with one), ``updated_at`` or ``created_at``, and
``lead_time``. Of a result: ``type``, ``from_name``, and ``value.choices`` or ``value.number``. All else is ignored.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, NamedTuple

import msgspec

from ....errors import InputError
from ...events.label_sets import Label, text_of
from ..answer_kinds import NUMBER, SEVERAL, SINGLE

USER = "label-studio:"
"""Prefix of annotators, whom Label Studio identifies by number only."""

_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.@+-]{0,79}")


class Annotation(NamedTuple):
    """An annotator's label of a task, as the log has it; None where they skipped it or chose nothing."""

    id: str
    annotator: str
    label: str | None
    at: float
    lead: float | None


class Task(NamedTuple):
    """A task: what annotators see, and their annotations."""

    id: str
    data: dict[str, Any]
    annotations: list[Annotation]


def tasks_of(found: Any, from_name: str | None = None, answer: str = SINGLE) -> Iterator[Task]:
    """The tasks of a file, one after the other."""
    if not isinstance(found, list):
        found = [found]
    for place, each in enumerate(found):
        yield task_of(each, from_name, f"task {place + 1}", answer)


def task_of(given: Any, from_name: str | None = None, where: str = "task", answer: str = SINGLE) -> Task:
    """One task; one without a number is identified by its data, so that sending a file twice gives the same tasks."""
    if not isinstance(given, dict):
        raise _wrong(where, "an object")
    data = given.get("data", {} if "id" in given else None)
    if not isinstance(data, dict):
        raise _wrong(f"data of {where}", "an object")
    id = id_of(given.get("id"), f"id of {where}", data)
    listed = given.get("annotations") or given.get("completions") or []
    if not isinstance(listed, list):
        raise _wrong(f"annotations of {where}", "an array")
    return Task(id, data, [annotation_of(each, from_name, id, answer) for each in listed])


def id_of(given: Any, where: str, otherwise: Any = None) -> str:
    """An id from a number or a short text; where there is none, a hash of ``otherwise``."""
    if given is None and otherwise is not None:
        return hashlib.blake2b(msgspec.json.encode(otherwise, order="sorted"), digest_size=12).hexdigest()
    if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 1 << 63:
        return str(given)
    if isinstance(given, str) and _ID.fullmatch(given):
        return given
    raise _wrong(where, "a number")


def annotation_of(given: Any, from_name: str | None = None, task: str = "", answer: str = SINGLE) -> Annotation:
    """One annotation; one without a number is identified by its task, annotator and label."""
    if not isinstance(given, dict):
        raise _wrong("annotation", "an object")
    label = None if given.get("was_cancelled") is True else label_of(given.get("result"), from_name, answer)
    who = given.get("completed_by")
    who = who.get("id", who.get("email")) if isinstance(who, dict) else who
    annotator = USER + ("?" if who is None else id_of(who, "completed_by"))
    id = id_of(given.get("id"), "id of the annotation", [task, annotator, label])
    lead = given.get("lead_time")
    lead = float(lead) if isinstance(lead, (int, float)) and not isinstance(lead, bool) else None
    at = given.get("updated_at") or given.get("created_at")
    return Annotation(id, annotator, label, 0.0 if at is None else time_of(at), lead)


def time_of(given: Any) -> float:
    """A time as a number of seconds."""
    try:
        return datetime.fromisoformat(given).timestamp()
    except (TypeError, ValueError, OverflowError, OSError):
        raise _wrong("updated_at", "a time as 2026-01-31T12:00:00Z") from None


def label_of(result: Any, from_name: str | None = None, answer: str = SINGLE) -> str | None:
    """The answer in a result, to this control or to the only one; None where there is none.

    Where several labels may apply, nothing chosen means that none of them does.
    """
    if not isinstance(result, list):
        raise _wrong("result", "an array")
    type = "number" if answer == NUMBER else "choices"
    found: dict[str, Any] = {}
    for each in result:
        if isinstance(each, dict) and each.get("type") == type:
            value = each.get("value")
            found[str(each.get("from_name"))] = value.get(type) if isinstance(value, dict) else None
    chosen = found.get(from_name) if from_name is not None else next(iter(found.values()), None)
    if answer == SEVERAL and chosen is None:
        chosen = []
    if chosen is None or (chosen == [] and answer == SINGLE):
        return None
    if len(found) > 1:
        raise _wrong("result", "an answer to one Number" if answer == NUMBER else "one choice of one Choices")
    return text_of(_number(chosen) if answer == NUMBER else _choices(chosen, answer))


def _number(given: Any) -> float:
    if isinstance(given, bool) or not isinstance(given, (int, float)):
        raise _wrong("result", "a number of one Number")
    return float(given)


def _choices(given: Any, answer: str) -> Label:
    is_list = isinstance(given, list) and all(isinstance(each, str) for each in given)
    if not is_list or (answer == SINGLE and len(given) != 1):
        raise _wrong("result", "one choice of one Choices" if answer == SINGLE else "choices of one Choices")
    found: list[str] = given
    return found[0] if answer == SINGLE else found


def result_of(label: Label, from_name: str, to_name: str, note: str = "") -> list[dict[str, Any]]:
    """A label as a result; ``note`` is found by a filter on results."""
    type, value = ("number", label) if isinstance(label, float) else ("choices", label)
    found: dict[str, Any] = {
        "from_name": from_name,
        "to_name": to_name,
        "type": type,
        "value": {type: [value] if isinstance(value, str) else value},
    }
    return [found | ({"meta": {"text": [note]}} if note else {})]


def array_of(tasks: Iterable[list[dict[str, Any]]]) -> Iterator[bytes]:
    """Chunks of tasks as one JSON array, part by part."""
    before = b"["
    for chunk in tasks:
        if chunk:
            yield before + msgspec.json.encode(chunk)[1:-1]
            before = b",\n"
    yield b"[]\n" if before == b"[" else b"]\n"


def _wrong(where: str, expected: str) -> InputError:
    return InputError(f"{where} must be {expected}.", owner="label-studio", parameter=where)
