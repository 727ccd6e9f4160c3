"""Models that were saved before tables had schemas go on with exactly the features that they had.

``tests/golden/columns-0.tar.gz`` was written by the last version without schemas: a table, models that learnt from it
with hashed and with dense categories, what they predict, what one became when it was resumed, and one that a person has
labelled with.
"""

import contextlib
import csv
import json
import pathlib
import tarfile

import numpy as np
import pytest

import askwhen as aw
from askwhen.snapshot import file_format
from askwhen.workflows.label import Action, LabelOptions, label_file
from askwhen.workflows.predict_file import PredictObserver as Observer
from askwhen.workflows.predict_file import PredictOptions, predict_file
from askwhen.workflows.run import RunOptions, run

GOLDEN = pathlib.Path(__file__).parents[1] / "golden" / "columns-0.tar.gz"


@pytest.fixture(autouse=True)
def _unpacked(tmp_path, monkeypatch):
    with tarfile.open(GOLDEN) as archive:
        archive.extractall(tmp_path, filter="data")
    monkeypatch.chdir(tmp_path)


def rows(name):
    """The labels and margins of a file of predictions."""
    with open(name, newline="") as file:
        return [(row["label"], float(row["margin"])) for row in csv.DictReader(file)]


@pytest.mark.parametrize("name", ["words", "narrow"])
def test_predictions_are_the_same(name):
    predict_file(f"{name}.askwhen", "mails.csv", {"label": None}, PredictOptions(out="now.csv"), Observer())
    found, expected = rows("now.csv"), rows(f"{name}.csv")
    assert [label for label, _ in found] == [label for label, _ in expected]
    np.testing.assert_allclose([m for _, m in found], [m for _, m in expected], rtol=1e-9)


def test_a_resumed_run_learns_from_the_same_features():
    run("mails.csv", {}, RunOptions(resume="words.askwhen", skip=0, model="now.askwhen"))
    weights = aw.Sampler.load("now.askwhen").weights
    np.testing.assert_allclose(weights, aw.Sampler.load("words-again.askwhen").weights, rtol=1e-9)
    note = json.loads(file_format.read("now.askwhen")[0]["note"])
    assert note["names"] == ["amount", "bulk", "amount is missing", "bulk is missing"]
    assert "schema" not in note
    with pytest.raises(
        aw.InputError, match="missing= must be as before: this sampler has learnt with missing='feature'"
    ):
        run("mails.csv", {"missing": "auto"}, RunOptions(resume="words.askwhen", skip=0))


class Person:
    """Answers ten questions by a word in the mail."""

    def __init__(self):
        self.left = 10

    def listening(self):
        return contextlib.nullcontext()

    waiting = listening

    def answer(self, question, session, note):
        self.left -= 1
        words = question.record["body"]
        return Action.QUIT if self.left < 0 else "spam" if "winner" in words or "prize" in words else "ham"


def test_a_session_of_labelling_goes_on_with_the_same_features():
    reading = {
        "text": ("body",),
        "categories": ("city",),
        "drop": ("id", "kind"),
        "missing": "feature",
        "n_features": 8,
    }
    files = {"model": "labelled.askwhen", "answers": "labelled.csv"}
    label_file("mails.csv", Person(), reading, LabelOptions(classes=("ham", "spam"), labels=0.3, **files))
    note = json.loads(file_format.read("labelled.askwhen")[0]["note"])
    assert note["names"] == ["amount", "bulk", "amount is missing", "bulk is missing"]
    assert "schema" not in note
    assert aw.Sampler.load("labelled.askwhen").engine.shape.d == 8 + 4
