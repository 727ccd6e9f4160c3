"""Sends the rows of a file or a pipe to a stream of the service, and answers its questions with their labels.

Every instance has an id and every answer a key that follow from the file alone: the same file sent again after an
interruption plays nothing twice and answers nothing twice.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ..errors import AskwhenError, InputError
from .errors import ConflictError, NotAllowedError, NotSignedInError, UnreachableError
from .file_rows import FileRow
from .messages import Decision, Label, json_bytes, outcomes_of
from .sync import Stream

_FINAL = (ConflictError, NotAllowedError, NotSignedInError, UnreachableError)
"""Refusals that are about the stream and not about one row: it is paused, say."""

_UNANSWERED = UnreachableError("the service answered fewer instances than were sent.", owner="Client")
_NO, _YES = ("-1", "0", "false", "no"), ("1", "+1", "true", "yes")


class Outcome(NamedTuple):
    """The result of a row: a decision, or why the service refused it; ``answer`` says what became of its label."""

    row: FileRow
    decision: Decision | None
    error: AskwhenError | None
    answer: str = ""


ANSWERED, NOT_TAKEN = "answered", "not taken"


class SentCounts:
    """Counts of all rows so far.

    Attributes
    ----------
    rows, again, waiting, asked, answered, not_taken, refused : int
        Numbers of rows that were taken, that had been sent before, and that wait in the backlog; of questions, of those
        answered from the file, and of those that had another answer already; of rows that were refused.
    predicted : Counter
        How often each label was predicted, of rows that are decided.
    labelled, right : int
        Numbers of decided rows with a label in the file, and of those that were predicted right.

    Parameters
    ----------
    within : float, optional
        Where labels are numbers: how far a prediction may be off to be right. Predictions are counted in whole numbers.
    """

    def __init__(self, within: float | None = None) -> None:
        self._within = within
        self.rows = self.again = self.waiting = self.asked = self.answered = self.not_taken = self.refused = 0
        self.labelled = self.right = 0
        self.predicted: Counter[str] = Counter()

    def add(self, found: Outcome) -> None:
        """Count the result of one more row."""
        if found.decision is None:
            self.refused += 1
            return
        self.rows += 1
        self.again += found.decision.again
        if found.decision.provisional:
            self.waiting += 1
            return
        self.asked += found.decision.query
        self.answered += found.answer == ANSWERED
        self.not_taken += found.answer == NOT_TAKEN
        prediction, label = found.decision.prediction, found.row.label
        if prediction is not None:
            self.predicted[_counted(prediction)] += 1
        if label is not None:
            self.labelled += 1
            if isinstance(prediction, float) and isinstance(label, float):
                self.right += abs(prediction - label) <= (self._within or 0.0)
            else:
                self.right += label == prediction


def _counted(prediction: Label) -> str:
    """A prediction as one of a few: numbers are rounded."""
    if isinstance(prediction, list):
        return ", ".join(prediction) or "none of them"
    return f"{prediction:.0f}" if isinstance(prediction, float) else prediction


class Sender:
    """Sends rows to a stream.

    Parameters
    ----------
    stream : Stream
        Of a client that tries again.
    labels : list of str, "open" or "numbers"
        Labels of the stream.
    batch : int
        Largest number of rows in a request.
    answer : bool
        Whether the questions that rows open are answered with their labels, in order, before the next rows are sent.
    positive : str, optional
        The label in the file that means the second of two labels, where all others mean the first.
    annotator : str, optional
        Who answers, where the service asks for no tokens.
    backlog : bool, optional
        Whether the rows wait in the backlog; by default as the stream is set.
    several : bool
        Whether several labels may apply at once.
    """

    def __init__(
        self,
        stream: Stream,
        labels: list[str] | str,
        batch: int,
        answer: bool = False,
        positive: str | None = None,
        annotator: str | None = None,
        backlog: bool | None = None,
        several: bool = False,
    ) -> None:
        self._stream, self._labels, self._batch, self._backlog = stream, labels, batch, backlog
        self._several = several
        self._answer, self._positive, self._annotator = answer, positive, annotator
        if positive is not None and (several or isinstance(labels, str) or len(labels) != 2):
            raise InputError("a positive label is for a stream with two labels.", owner="run")

    def send(self, rows: Iterable[FileRow | None], waits: bool = True) -> Iterator[list[Outcome]]:
        """Send rows, and give the results batch by batch.

        A None among the rows says that the next one may take a while; without ``waits`` the batch is sent then.
        """
        batch: list[FileRow] = []
        for row in rows:
            if row is not None:
                batch.append(row._replace(label=self._stream_label(row)))
            if len(batch) == self._batch or (row is None and batch and not waits):
                yield self._deliver(batch)
                batch = []
        if batch:
            yield self._deliver(batch)

    def _deliver(self, batch: Sequence[FileRow]) -> list[Outcome]:
        bodies: list[bytes | InputError] = []
        for row in batch:
            try:
                bodies.append(json_bytes(row.sent) + b"\n")
            except InputError as error:
                bodies.append(error)
        body = b"".join(each for each in bodies if isinstance(each, bytes))
        results = iter(outcomes_of(self._stream.play(body, self._backlog)) if body else ())
        found = []
        for row, each in zip(batch, bodies, strict=True):
            result = next(results, _UNANSWERED) if isinstance(each, bytes) else each
            if isinstance(result, _FINAL):
                raise result
            if isinstance(result, AskwhenError):
                found.append(Outcome(row, None, result))
            else:
                found.append(Outcome(row, result, None, self._answered(row, result)))
        return found

    def _answered(self, row: FileRow, decision: Decision) -> str:
        """Answer the question of a row from the file, also if the row was sent before: its answer may be missing."""
        if not (self._answer and decision.query and row.label is not None):
            return ""
        key = f"file {hashlib.sha256(row.sent['id'].encode('utf-8', 'replace')).hexdigest()[:40]}"
        try:
            self._stream.tell(decision.round, row.label, key=key, annotator=self._annotator)
        except ConflictError:  # it has an answer already, or needs none any more
            return NOT_TAKEN
        return ANSWERED

    def _stream_label(self, row: FileRow) -> Label | None:
        """The label of the stream that the label of a row stands for."""
        given, labels = row.label, self._labels
        if given is None:
            return None
        if self._several:
            found = [self._known(each, row.number) for each in _labels_in(given, labels)]
            return sorted({each for each in found if each is not None}) if None not in found else None
        label = str(given)
        if labels == "numbers":
            return _number(label, row.number)
        if self._positive is not None:
            return labels[label == self._positive]
        return self._known(label, row.number)

    def _known(self, label: str, row: int) -> str | None:
        """The label of the stream that is written like this; None if there is none."""
        labels = self._labels
        if isinstance(labels, str):
            return label
        alike = _alike if self._several else _matching
        same = alike(label, labels) or alike(_without_point(label), labels)
        if same is None and self._answer:
            raise InputError(
                f"row {row:,}, counted from 0, has the label {label[:100]!r}, which the stream lacks; it has "
                f"{', '.join(labels[:8])}.",
                owner="run",
            )
        return same


def _labels_in(given: Label, known: list[str] | str) -> list[str]:
    """Several labels: a list, a JSON array of them, or a text in which ; | or , is between them."""
    if isinstance(given, list):
        return given
    text = str(given).strip()
    with contextlib.suppress(ValueError):
        found = json.loads(text)
        if isinstance(found, list):
            return [str(each) for each in found]
    if _alike(text, [] if isinstance(known, str) else known) is not None:
        return [text]
    mark = next((each for each in ";|," if each in text), None)
    return [each.strip() for each in text.split(mark) if each.strip()] if mark else [text]


def _number(label: str, row: int) -> float:
    """The number that is the label of a row."""
    try:
        return float(label)
    except ValueError:
        message = f"row {row:,}, counted from 0, has the label {label[:100]!r}, where the stream needs a number."
        raise InputError(message, owner="run") from None


def _matching(label: str, labels: list[str]) -> str | None:
    """The label of a stream that is written alike, whatever its case.

    Of two labels, "not A" means the other one, and words for no and yes mean the first and the second.
    """
    found, small = _alike(label, labels), label.lower()
    if found is None and len(labels) == 2:
        others = {f"not {each}".lower(): labels[1 - i] for i, each in enumerate(labels)}
        found = others.get(small) or (labels[0] if small in _NO else labels[1] if small in _YES else None)
    return found


def _alike(label: str, labels: list[str]) -> str | None:
    """The label that is written alike, whatever its case."""
    if label in labels:
        return label
    return next((each for each in labels if each.lower() == label.lower()), None)


def _without_point(label: str) -> str:
    """A whole number without its decimal point; any other label as it is."""
    try:
        return str(int(float(label))) if float(label).is_integer() else label
    except (ValueError, OverflowError):
        return label
