"""Prodigy's JSONL: a task on every line, perhaps with its answer.

A task is binary: a ``label`` that is accepted or rejected; or a choice: ``options`` with an ``id`` each, and the ids
that were chosen in ``accept``, one or several; or a number that was typed into a field, ``user_input``. ``answer`` is
accept, reject or ignore. The label of a binary task that was rejected is ``not X``. ``_input_hash``, ``_task_hash`` and
other names with an underscore in front are added by Prodigy to tasks that lack them: they are neither features nor
written. The page of the service reads tasks in the same way.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any

from ...errors import InputError
from ..column_choices import ColumnChoices
from ..format import Format
from ..json_lines import Lines, lines_of
from ..read_request import Chunk, ReadRequest, chunks_of_tables
from ..records import Records
from .ndjson import tables_of

OWN = frozenset({"meta", "answer", "spans", "tokens", "accept", "options", "label", "config", "user_input"})
"""Names that have a meaning for Prodigy and are not annotated; so have all that begin with an underscore."""

STYLES = ("single", "multiple")
"""How many options of a choice may be chosen: one, or any number."""

Label = str | float | list[str] | None
_NOT = "not "


def answered(task: dict[str, Any]) -> str | None:
    """The answer of a task: one of its options, its label, or ``not`` its label; None if it has no such answer."""
    answer, chosen, label = task.get("answer"), task.get("accept"), task.get("label")
    if answer not in ("accept", "reject"):
        return None
    if isinstance(chosen, list):
        return str(chosen[0]) if answer == "accept" and len(chosen) == 1 else None
    if not isinstance(label, str):
        return None
    return label if answer == "accept" else f"{_NOT}{label}"


def answer_reader(several: bool, is_number: bool) -> Callable[[dict[str, Any]], Label]:
    """The function that reads answers with one label, several, or a number."""
    return answered_with_several if several else answered_with_a_number if is_number else answered


def answered_with_several(task: dict[str, Any]) -> list[str] | None:
    """The options that were chosen, or the label of a binary task; None if it has no such answer."""
    chosen = task.get("accept")
    if isinstance(chosen, list):
        return sorted(map(str, chosen)) if task.get("answer") == "accept" else None
    label, is_accepted = task.get("label"), task.get("answer") == "accept"
    return [label] if isinstance(label, str) and is_accepted else None


def answered_with_a_number(task: dict[str, Any]) -> str | float | None:
    """What was typed into the field of a task; None if it has no such answer."""
    typed = task.get("user_input")
    is_one = isinstance(typed, (str, int, float)) and not isinstance(typed, bool) and typed != ""
    return typed if is_one and task.get("answer") == "accept" else None


def bare(task: dict[str, Any]) -> dict[str, Any]:
    """The fields of a task that are annotated, without those of Prodigy."""
    return {name: value for name, value in task.items() if name not in OWN and not name.startswith("_")}


def unanswered(record: dict[str, Any], text: Sequence[str] = ()) -> dict[str, Any]:
    """A record as a task: the columns of ``text`` are its text; what has a name that Prodigy uses is in ``meta``."""
    shown = {"text": "\n\n".join(str(record[name]) for name in text if record.get(name) is not None)} if text else {}
    task = shown | {name: value for name, value in bare(record).items() if name not in text}
    meta = {name: value for name, value in record.items() if name not in task and name not in text}
    return task | ({"meta": meta} if meta else {})


def answer_of(label: Label, labels: list[str], several: bool = False, is_number: bool = False) -> dict[str, Any]:
    """The fields of a task for its labels and its answer; without a label the answer is ignore.

    Of two labels of which one is ``not`` the other, the task is binary; else it is a choice among all of them. A number
    is in the field that Prodigy's interface ``text_input`` shows.
    """
    given = {"answer": "ignore" if label is None else "accept"}
    if is_number:
        return ({} if label is None else {"user_input": str(label)}) | given
    positive = None if several else _positive(labels)
    if positive is not None:
        answer = "ignore" if label is None else "accept" if label == positive else "reject"
        return {"label": positive, "answer": answer}
    options = [{"id": each, "text": each} for each in labels]
    chosen = [] if label is None else label if isinstance(label, list) else [label]
    return {"options": options, "accept": chosen, **given, "config": {"choice_style": STYLES[several]}}


def _positive(labels: list[str]) -> str | None:
    """The label that a binary task asks about."""
    if len(labels) != 2:
        return None
    return next((label for label in labels if f"{_NOT}{label}" in labels), None)


def with_text(columns: ColumnChoices) -> ColumnChoices:
    """The columns that the user named; if there is neither text nor categories, ``text`` is the column of text.

    Fields of Prodigy are ignored anyway, and need not be there to be dropped.
    """
    columns = columns._replace(drop=tuple(bare(dict.fromkeys(columns.drop))))
    return columns if columns.text or columns.categories else columns._replace(text=("text",))


def bare_lines(blocks: Generator[Lines]) -> Generator[Lines]:
    """The tasks of a file without their answers."""
    with closing(blocks):
        for records, numbers in blocks:
            yield Lines([bare(task) for task in records], numbers)


def _labelled(path: str, blocks: Generator[Lines]) -> Generator[Lines]:
    """The tasks that were answered, each with its label; others are skipped."""
    tasks = used = 0
    with closing(blocks):
        for records, numbers in blocks:
            tasks += len(records)
            given = [(bare(task) | {"label": answered(task)}, n) for task, n in zip(records, numbers, strict=True)]
            labelled = [(record, number) for record, number in given if record["label"] is not None]
            used += len(labelled)
            if labelled:
                yield Lines([record for record, _ in labelled], [number for _, number in labelled])
    if tasks and not used:
        raise InputError(f"none of the {tasks:,} tasks of {path} was answered with one label.", owner="read")


def chunks(request: ReadRequest) -> Generator[Chunk]:
    """The chunks of a file."""
    blocks = tasks(request)
    lines = _labelled(request.path, blocks) if request.columns.labelled else bare_lines(blocks)
    return chunks_of_tables(request, tables_of(request, lines))


def tables(request: ReadRequest) -> Generator[Records]:
    """The tasks of a file without their answers, as tables."""
    return tables_of(request, bare_lines(tasks(request)))


def tasks(request: ReadRequest) -> Generator[Lines]:
    """The tasks of a file with their answers, as they are."""
    return lines_of(request.path, request.report, request.encoding)


FORMAT = Format("prodigy", chunks, tables=tables, columns=with_text, tasks=tasks)
