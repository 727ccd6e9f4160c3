"""Models that were saved before tables had schemas go on with exactly the features that they had.

``tests/golden/columns-0.tar.gz`` was written by the last version without schemas: a table, models that learnt from it
with hashed and with dense categories, what they predict, what they became when they were resumed, and one that a person
has labelled with.
"""

import contextlib
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


def same(one, other):
    """Whether two models are the same but for their notes."""
    (header, arrays), (others, more) = file_format.read(one), file_format.read(other)
    assert header | {"note": ""} == others | {"note": ""}
    assert arrays.keys() == more.keys()
    return all(np.array_equal(arrays[name], more[name], equal_nan=True) for name in arrays)


@pytest.mark.parametrize("name", ["words", "narrow"])
def test_predictions_are_the_same(name):
    predict_file(f"{name}.askwhen", "mails.csv", {"label": None}, PredictOptions(out="now.csv"), Observer())
    assert pathlib.Path("now.csv").read_bytes() == pathlib.Path(f"{name}.csv").read_bytes()


def test_a_resumed_run_learns_from_the_same_features():
    run("mails.csv", {}, RunOptions(resume="words.askwhen", skip=0, model="now.askwhen"))
    assert same("now.askwhen", "words-again.askwhen")
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
    assert same("labelled.askwhen", "labelled-again.askwhen")
