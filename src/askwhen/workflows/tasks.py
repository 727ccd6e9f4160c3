"""Answers that were given by hand, written as annotated tasks of Prodigy."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any

from ..data.column_choices import LABELS, ColumnChoices
from ..data.formats import format_of, prodigy
from ..data.read_request import ReadRequest
from ..data.reading_checks import several_names
from ..data.unlabelled import tables_of
from ..errors import InputError
from ..labelling.answers import StoredAnswer
from ..system.atomic_file import whole_file


def write_prodigy(
    path: str, file: str, reading: dict[str, Any], answers: Sequence[StoredAnswer], classes: Sequence[str]
) -> int:
    """Write the rows of a file that were answered as Prodigy's tasks; returns their number.

    Tasks that were read from a Prodigy file keep all their fields; skipped rows have the answer ignore.
    """
    given = {answer.row: answer.label or None for answer in answers}
    labels, count = list(classes), 0
    try:
        with whole_file(path) as out:
            for row, task in enumerate(_tasks(file, reading)):
                if row in given:
                    made = task | prodigy.answer_of(given[row], labels)
                    out.write(json.dumps(made, ensure_ascii=False, default=str).encode("utf-8", "replace") + b"\n")
                    count += 1
                if count == len(given):
                    break
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror}.", owner="label") from error
    return count


def _tasks(file: str, reading: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The rows of a file as tasks without answers."""
    format, text = format_of(file, reading.get("format")), several_names("text", reading.get("text"))
    encoding = reading.get("encoding")
    if format.tasks is not None:
        for lines in format.tasks(ReadRequest(file, encoding=encoding)):
            yield from lines.records
        return
    columns = ColumnChoices(
        text=text, drop=several_names("drop", reading.get("drop", ())), labelled=False, strict=False
    )
    for table in tables_of(file, format, columns, reading.get("delimiter"), encoding):
        for record in table.records():
            seen = {
                name: value for name, value in record.items() if name not in {*columns.drop, *LABELS} or name in text
            }
            yield prodigy.unanswered(seen, text)
