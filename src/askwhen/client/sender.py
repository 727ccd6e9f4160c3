"""A file, or whatever comes through a pipe, sent to a stream of the service, and its questions answered from it.

Every instance has an id and every answer a key that follow from the file alone: the same file sent again, after
whatever interrupted it, plays nothing twice and answers nothing twice.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..errors import AskwhenError, InputError
from .errors import ConflictError, NotAllowedError, NotSignedInError, UnreachableError
from .file_rows import Row
from .messages import Decision, json_bytes, outcomes_of
from .sync import Stream

_FINAL = (ConflictError, NotAllowedError, NotSignedInError, UnreachableError)
"""Refusals that are about the stream and not about one row: it is paused, say."""

_UNANSWERED = UnreachableError("the service answered fewer instances than were sent.", owner="Client")
_NO, _YES = ("-1", "0", "false", "no"), ("1", "+1", "true", "yes")


class Outcome(NamedTuple):
    """What came of a row: a decision, or why the service refused it; ``answer`` says what became of its label."""

    row: Row
    decision: Decision | None
    error: AskwhenError | None
    answer: str = ""


ANSWERED, NOT_TAKEN = "answered", "not taken"


class Sent:
    """What came of all rows so far.

    Attributes
    ----------
    rows, again, asked, answered, not_taken, refused : int
        How many were played, of which so many had been sent before; how many questions they opened, how many of those
        were answered from the file or were answered otherwise already; how many rows were refused.
    predicted : Counter
        How often each label was predicted.
    labelled, right : int
        How many rows have a label in the file, and how many of those were predicted right.
    """

    def __init__(self) -> None:
        self.rows = self.again = self.asked = self.answered = self.not_taken = self.refused = 0
        self.labelled = self.right = 0
        self.predicted: Counter[str] = Counter()

    def add(self, found: Outcome) -> None:
        """Count one more."""
        if found.decision is None:
            self.refused += 1
            return
        self.rows += 1
        self.again += found.decision.again
        self.asked += found.decision.query
        self.answered += found.answer == ANSWERED
        self.not_taken += found.answer == NOT_TAKEN
        if found.decision.prediction is not None:
            self.predicted[found.decision.prediction] += 1
        if found.row.label is not None:
            self.labelled += 1
            self.right += found.row.label == found.decision.prediction


class Sender:
    """Sends rows to a stream.

    Parameters
    ----------
    stream : Stream
        Of a client that tries again.
    labels : list of str or "open"
        Those of the stream.
    batch : int
        How many rows go together at most.
    answer : bool
        Whether the questions that rows open are answered with their labels, in order, before the next rows are sent.
    positive : str, optional
        The label in the file that means the second of two labels, where all others mean the first.
    annotator : str, optional
        Who answers, where no tokens are asked for.
    """

    def __init__(
        self,
        stream: Stream,
        labels: list[str] | str,
        batch: int,
        answer: bool = False,
        positive: str | None = None,
        annotator: str | None = None,
    ) -> None:
        self._stream, self._labels, self._batch = stream, labels, batch
        self._answer, self._positive, self._annotator = answer, positive, annotator
        if positive is not None and (labels == "open" or len(labels) != 2):
            raise InputError("a positive label is for a stream with two labels.", owner="run")

    def send(self, rows: Iterable[Row | None], waits: bool = True) -> Iterator[list[Outcome]]:
        """What came of the rows, batch by batch; where they do not wait, a batch goes as soon as no row is at hand."""
        batch: list[Row] = []
        for row in rows:
            if row is not None:
                batch.append(row._replace(label=self._meaning(row)))
            if len(batch) == self._batch or (row is None and batch and not waits):
                yield self._deliver(batch)
                batch = []
        if batch:
            yield self._deliver(batch)

    def _deliver(self, batch: Sequence[Row]) -> list[Outcome]:
        bodies: list[bytes | InputError] = []
        for row in batch:
            try:
                bodies.append(json_bytes(row.sent) + b"\n")
            except InputError as error:
                bodies.append(error)
        body = b"".join(each for each in bodies if isinstance(each, bytes))
        said = iter(outcomes_of(self._stream.play(body)) if body else ())
        found = []
        for row, each in zip(batch, bodies, strict=True):
            answer = next(said, _UNANSWERED) if isinstance(each, bytes) else each
            if isinstance(answer, _FINAL):
                raise answer
            if isinstance(answer, AskwhenError):
                found.append(Outcome(row, None, answer))
            else:
                found.append(Outcome(row, answer, None, self._told(row, answer)))
        return found

    def _told(self, row: Row, decision: Decision) -> str:
        """Answer a question from the file; one that was sent before may have been cut off before its answer."""
        if not (self._answer and decision.query and row.label is not None):
            return ""
        key = f"file {hashlib.sha256(row.sent['id'].encode('utf-8', 'replace')).hexdigest()[:40]}"
        try:
            self._stream.tell(decision.round, row.label, key=key, annotator=self._annotator)
        except ConflictError:  # somebody has answered it, or nobody needs to any more
            return NOT_TAKEN
        return ANSWERED

    def _meaning(self, row: Row) -> str | None:
        """What the label of a row means in the stream."""
        label, labels = row.label, self._labels
        if label is None or isinstance(labels, str):
            return label
        if self._positive is not None:
            return labels[label == self._positive]
        same = _same(label, labels) or _same(_whole(label), labels)
        if same is None and self._answer:
            raise InputError(
                f"row {row.number:,}, counted from 0, has the label {label[:100]!r}, which the stream has not; it has "
                f"{', '.join(labels[:8])}.",
                owner="run",
            )
        return same


def _same(label: str, labels: list[str]) -> str | None:
    """The label of a stream that is written so; of two, also what is not the other, or no and yes in other words."""
    if label in labels:
        return label
    small = label.lower()
    found = next((each for each in labels if each.lower() == small), None)
    if found is None and len(labels) == 2:
        others = {f"not {each}".lower(): labels[1 - i] for i, each in enumerate(labels)}
        found = others.get(small) or (labels[0] if small in _NO else labels[1] if small in _YES else None)
    return found


def _whole(label: str) -> str:
    """A whole number without its point."""
    try:
        return str(int(float(label))) if float(label).is_integer() else label
    except (ValueError, OverflowError):
        return label
