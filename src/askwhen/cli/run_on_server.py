"""``askwhen run --server``: print what a labelling service decides about the rows of a file."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import click

from ..client.send_file import SendObserver, SendOptions, send_file
from ..client.sender import Outcome, SentCounts
from ..workflows.observer import Move
from .command import Output, command_line
from .service_options import client_of, stream_of
from .terminal import service_tables
from .terminal.progress import progress_bar
from .terminal.screen import plain

_REPLY_SECONDS = 120.0
"""Seconds that a reply may take: the first round may have to be compiled there."""


class _SendTerminal(SendObserver):
    """Shows messages and progress, and with --json prints a line for each row."""

    def __init__(self, out: Output) -> None:
        self._out = out

    @property
    def is_closed(self) -> bool:
        """Whether the standard output is closed."""
        return bool(self._out.broken)

    def say(self, message: str) -> None:
        """Print a message, which may quote the service."""
        self._out.say(plain(message))

    def progress(self, what: str, total: int | None) -> AbstractContextManager[Move]:
        """Show a bar."""
        return progress_bar(self._out, what, total, "sent", "asked")

    def decided(self, outcomes: Sequence[Outcome]) -> None:
        """Print the decisions for programs."""
        if self._out.json:
            self._out.print("\n".join(json.dumps(_line(each)) for each in outcomes))


def send(
    out: Output, file: str, reading: dict[str, Any], server: str, stream: str | None, options: dict[str, Any]
) -> None:
    """Send a file or a pipe to a stream, and print the results."""
    chosen = SendOptions(**options)
    with client_of(server, retries=1) as client:
        found = stream_of(client, stream)
        settings = found.facts()["settings"]
    with client_of(server, retries=8, timeout=_REPLY_SECONDS) as client:
        sent, ended = send_file(client.stream(found.name), settings, file, reading, chosen, _SendTerminal(out))
    facts = _facts(found.name, sent, chosen.answer)
    if out.json:
        counts = ("instances", "again", "waiting", "questions", "answered", "refused")
        out.say(", ".join(f"{facts[key]:,} {key}" for key in counts))
    else:
        out.result(facts, service_tables.sent_table(facts))
    if not ended:
        out.say(f"Interrupted. To go on:\n  {command_line()}")
    if sent.refused or not ended:
        raise click.exceptions.Exit(1)


def _line(found: Outcome) -> dict[str, Any]:
    """A decision, or a refusal, for programs."""
    about = {"row": found.row.number, "id": found.row.sent["id"]}
    if found.decision is None:
        assert found.error is not None
        return about | {"error": found.error.sentence}
    line: dict[str, Any] = about | found.decision._asdict()
    if found.row.label is not None:
        line["label"] = found.row.label
    return line | ({"answer": found.answer} if found.answer else {})


def _facts(name: str, sent: SentCounts, answer: bool) -> dict[str, Any]:
    return {
        "stream": name,
        "instances": sent.rows,
        "again": sent.again,
        "waiting": sent.waiting,
        "questions": sent.asked,
        "answer": answer,
        "answered": sent.answered,
        "not_taken": sent.not_taken,
        "refused": sent.refused,
        "predicted": dict(sent.predicted),
        "labelled": sent.labelled,
        "accuracy": sent.right / sent.labelled if sent.labelled else None,
    }
