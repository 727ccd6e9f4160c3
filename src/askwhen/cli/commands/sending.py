"""``askwhen run --server``: instances to a labelling service, and what it decides."""

from __future__ import annotations

import json
from typing import Any

import click

from ...errors import AskwhenError, InputError
from ..command import Out, again
from ..service_options import client_of, stream_of
from ..terminal import service_tables
from ..terminal.progress import progress_bar
from ..terminal.screen import plain

_BATCH, _SMALL_BATCH = 500, 50
_MOST_TOLD = 5
_PATIENCE = 120.0
"""Seconds that a reply may take: the first round may have to be compiled there."""

TO_SERVICE = (
    *("file", "server", "stream", "answer", "annotator", "id_column", "batch", "skip"),
    *("format", "label", "positive", "text", "drop", "delimiter", "encoding", "n_features", "zero_based"),
)
"""The options that go with a service."""


def send(
    out: Out,
    file: str,
    reading: dict[str, Any],
    server: str,
    name: str | None,
    answer: bool,
    annotator: str | None,
    id_column: str | None,
    batch: int | None,
    skip: int,
) -> None:
    """Send a file or a pipe to a stream, and print what came of it."""
    from ...client.file_rows import FileRows
    from ...client.sender import Sender, SentCounts
    from ...data.files import is_piped
    from ...workflows.source import Source

    sent, told, ended = SentCounts(), 0, False
    with client_of(server, retries=1) as client:
        found = stream_of(client, name)
        settings = found.facts()["settings"]
    with client_of(server, retries=8, timeout=_PATIENCE) as client:
        stream = client.stream(found.name)
        size = batch or (_SMALL_BATCH if answer else _BATCH)
        total = Source(file, {}).size()
        rows = FileRows(file, reading, settings["features"], id_column)
        sender = Sender(stream, settings["labels"], size, answer, reading["positive"], annotator)
        if answer and settings["grace"] > 0:
            out.say(f"The model of {stream.name} is told {settings['grace']:g} s after an answer, its grace.")
        try:
            with progress_bar(out, rows.name, total, "sent", "asked") as move:
                for found in sender.send(rows.read(skip, move), waits=not is_piped(file)):
                    for each in found:
                        sent.add(each)
                        if each.error is not None and told < _MOST_TOLD:
                            told += 1
                            out.say(
                                f"Row {each.row.number:,}, counted from 0, was refused: {plain(each.error.sentence)}"
                            )
                    if out.json:
                        out.print("\n".join(json.dumps(_line(each)) for each in found))
                    move(sent=f"{sent.rows:,} sent", asked=f"asked {sent.asked:,}")
                    if out.unheard:
                        break
            ended = True
            if not (sent.rows or sent.refused):
                after = f" after the first {skip:,}" if skip else ""
                raise InputError(f"{rows.name} holds no instance{after}.", owner="run")
        except KeyboardInterrupt:
            pass
        except AskwhenError:
            if sent.rows:
                out.say(f"{sent.rows:,} instances were sent before; once it is mended, the same command goes on.")
            raise
    facts = _facts(stream.name, sent, answer)
    if out.json:
        out.say(
            ", ".join(f"{facts[key]:,} {key}" for key in ("instances", "again", "questions", "answered", "refused"))
        )
    else:
        out.result(facts, service_tables.sent_table(facts))
    if not ended:
        out.say(f"Interrupted. To go on:\n  {again()}")
    if sent.refused or not ended:
        raise click.exceptions.Exit(1)


def _line(found: Any) -> dict[str, Any]:
    """A decision, or a refusal, for programs."""
    about = {"row": found.row.number, "id": found.row.sent["id"]}
    if found.decision is None:
        return about | {"error": found.error.sentence}
    said: dict[str, Any] = about | found.decision._asdict()
    if found.row.label is not None:
        said["label"] = found.row.label
    return said | ({"answer": found.answer} if found.answer else {})


def _facts(name: str, sent: Any, answer: bool) -> dict[str, Any]:
    return {
        "stream": name,
        "instances": sent.rows,
        "again": sent.again,
        "questions": sent.asked,
        "answer": answer,
        "answered": sent.answered,
        "not_taken": sent.not_taken,
        "refused": sent.refused,
        "predicted": dict(sent.predicted),
        "labelled": sent.labelled,
        "accuracy": sent.right / sent.labelled if sent.labelled else None,
    }
