"""Send a file, or what comes through a pipe, to a stream of the service, as ``askwhen run --server`` does."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..data.files import is_piped
from ..errors import AskwhenError, InputError
from ..workflows.advice_columns import AdviceColumn
from ..workflows.observer import Observer
from ..workflows.source import Source
from .file_rows import FileRows
from .sender import Outcome, Sender, SentCounts
from .sync import Stream

_BATCH, _SMALL_BATCH = 500, 50
_MOST_REPORTED = 5
"""Number of refused rows that are reported one by one."""


@dataclass(frozen=True)
class SendOptions:
    """Options for sending a file.

    Parameters
    ----------
    answer : bool
        Whether to answer the service's questions with the labels of the file.
    annotator : str, optional
        Who answers, where the service asks for no tokens.
    id_column : str, optional
        The column of ids; by default id.
    batch : int, optional
        Number of instances in a request, at most; by default 500, with ``answer`` 50.
    skip : int
        Number of rows to skip.
    backlog : bool, optional
        Whether the rows wait in the backlog, or are decided at once; by default as the stream is set, with ``answer``
        at once.
    advice : sequence of AdviceColumn
        Columns in which advisers say what the labels are.
    """

    answer: bool = False
    annotator: str | None = None
    id_column: str | None = None
    batch: int | None = None
    skip: int = 0
    backlog: bool | None = None
    advice: Sequence[AdviceColumn] = ()


class SendResult(NamedTuple):
    """Counts of all rows that were sent, and whether the file came to its end; False after an interrupt."""

    sent: SentCounts
    ended: bool


class SendObserver(Observer[SendResult]):
    """Receives what the service decides."""

    @property
    def is_closed(self) -> bool:
        """Whether nothing more is wanted."""
        return False

    def decided(self, outcomes: Sequence[Outcome]) -> None:
        """Receive the decisions about one batch of rows."""


def send_file(
    stream: Stream,
    settings: dict[str, Any],
    file: str,
    reading: dict[str, Any],
    options: SendOptions,
    observer: SendObserver,
) -> SendResult:
    """Send the rows of a file to a stream with these settings, until the file ends or the user interrupts."""
    if options.answer and options.backlog:
        raise InputError("answers of a file are for rows that are decided at once, not for a backlog.", owner="run")
    backlog = False if options.answer else options.backlog
    sent, reported = SentCounts(settings.get("within")), 0
    size = options.batch or (_SMALL_BATCH if options.answer else _BATCH)
    total = Source(file, {}).size()
    labels, several = settings["labels"], bool(settings.get("several"))
    rows = FileRows(
        file, reading, settings["features"], options.id_column, options.advice, several, labels == "numbers"
    )
    sender = Sender(stream, labels, size, options.answer, reading["positive"], options.annotator, backlog, several)
    if options.answer and settings["grace"] > 0:
        observer.say(
            f"The model of {stream.name} learns an answer {settings['grace']:g} s after it was given, its grace period."
        )
    try:
        with observer.progress(rows.name, total) as move:
            for found in sender.send(rows.read(options.skip, move), waits=not is_piped(file)):
                for each in found:
                    sent.add(each)
                    if each.error is not None and reported < _MOST_REPORTED:
                        reported += 1
                        observer.say(f"Row {each.row.number:,}, counted from 0, was refused: {each.error.sentence}")
                observer.decided(found)
                move(sent=f"{sent.rows:,} sent", asked=f"asked {sent.asked:,}")
                if observer.is_closed:
                    break
        if not (sent.rows or sent.refused):
            after = f" after the first {options.skip:,}" if options.skip else ""
            raise InputError(f"{rows.name} holds no instance{after}.", owner="run")
    except KeyboardInterrupt:
        return SendResult(sent, ended=False)
    except AskwhenError:
        if sent.rows:
            observer.say(
                f"{sent.rows:,} instances were sent before this error; once it is fixed, the same command continues."
            )
        raise
    return SendResult(sent, ended=True)
