"""The delivered labels of a labelling session: every row with its label, who gave it, and how certain it is."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..sampler import Sampler
from ..system.atomic_file import whole_file
from .answers import StoredAnswer

PERSON, MODEL = "person", "model"


class DeliveredLabel(NamedTuple):
    """A row, counted from 0, its label, who gave it, and the probability that a prediction is right.

    The label is empty where none is delivered: where the question waits or was skipped, and where it is withheld.
    """

    row: int
    label: str
    by: str
    certainty: float | None


def delivered_labels(
    rows: Iterable[tuple[Any, dict[str, Any]]],
    sampler: Sampler,
    given: Sequence[StoredAnswer],
    classes: Sequence[str],
    content: Callable[[dict[str, Any]], str] | None = None,
    advice: Callable[[int], Any] | None = None,
) -> Iterator[DeliveredLabel]:
    """Play the rounds of a session again, with its answers, and yield the label of every row that it has reached.

    Parameters
    ----------
    rows : iterable of (x, record)
        The rows, from the first on.
    sampler : Sampler
        A new one with the parts and the seed of the session's.
    given, classes
        The answers, and the labels.
    content : callable, optional
        Gives the content of a record, as for the session: one that was answered before takes that answer.
    advice : callable, optional
        Gives what advisers say of a row, as for the session.
    """
    answers = {answer.row: answer.label for answer in given}
    words = dict(zip(classes, sampler.classes or (), strict=True))
    names = {value: word for word, value in words.items()}
    last, known = max(answers, default=-1), dict[str, str]()
    waits = False  # after a question that waits, later answers belong to rounds that cannot be played again yet
    for row, (x, record) in enumerate(rows):
        if waits:
            return
        said = None if advice is None else advice(row)
        about = "" if content is None else content(record)
        if about in known and row not in answers:
            label = known[about]
            sampler.tell(sampler.play(x, decision="certain", advice=said).ask, words[label])
            yield DeliveredLabel(row, label, PERSON, None)
            continue
        ask = sampler.ask(x, advice=said)
        if not ask.query:
            label = "" if ask.delivered is None else names[ask.delivered]
            yield DeliveredLabel(row, label, MODEL if label else "", ask.certainty if label else None)
        elif row in answers:
            label = answers[row]
            if label:
                sampler.tell(ask, words[label])
                if content is not None:
                    known.setdefault(about, label)
            else:
                sampler.forget(ask)
            yield DeliveredLabel(row, label, PERSON if label else "", None)
        else:
            waits = row > last
            yield DeliveredLabel(row, "", "", None)


def write_delivered(path: str | os.PathLike[str], labels: Iterable[DeliveredLabel]) -> None:
    """Write delivered labels to a CSV file, which appears when it is complete."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(DeliveredLabel._fields)
    for each in labels:
        certainty = "" if each.certainty is None else f"{each.certainty:.4f}"
        writer.writerow((each.row, each.label, each.by, certainty))
    with whole_file(path) as file:
        file.write(text.getvalue().encode())
