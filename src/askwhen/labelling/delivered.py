"""The delivered labels of a labelling session: every row with its label, who gave it, and how certain it is."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from ..contracts.sampler import SamplerLike
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
    rows: Iterable[Any], sampler: SamplerLike, given: Sequence[StoredAnswer], classes: Sequence[str]
) -> Iterator[DeliveredLabel]:
    """Play the rounds of a session again, with its answers, and yield the label of every row that it has reached."""
    answers = {answer.row: answer.label for answer in given}
    words = dict(zip(classes, sampler.classes or (), strict=True))
    names = {value: word for word, value in words.items()}
    last = max(answers, default=-1)
    waits = False  # after a question that waits, later answers belong to rounds that cannot be played again yet
    for row, x in enumerate(rows):
        if waits:
            return
        ask = sampler.ask(x)
        if not ask.query:
            label = "" if ask.delivered is None else names[ask.delivered]
            yield DeliveredLabel(row, label, MODEL if label else "", ask.certainty if label else None)
        elif row in answers:
            label = answers[row]
            if label:
                sampler.tell(ask, words[label])
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
