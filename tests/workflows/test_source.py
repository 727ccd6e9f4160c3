"""Where a use case takes its instances from: labels and options that do not fit are refused."""

import json

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import InputWarning
from askwhen.workflows import source
from askwhen.workflows.comparing_files import CompareOptions, TuneOptions, compare, tune
from askwhen.workflows.run import RunOptions, run
from askwhen.workflows.source import Source


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{b:.3f},{('ant', 'bee')[int(a > b)]}" for a, b in rng.normal(size=(60, 2))]
    (tmp_path / "s.csv").write_text("\n".join(["a,b,label", *rows, "1,2,cow"]))
    return tmp_path


STRANGE = (
    "has the label 'cow' in instance 60, counted from 0, which is not one of the classes 'ant', 'bee', 'cows', perhaps "
    "'cows'; the labels"
)


def test_a_label_that_is_not_among_the_classes_is_refused(here):
    with pytest.raises(aw.InputError, match=f"{STRANGE} of the first 61 instances are '(ant|bee)' "):
        run("s.csv", None, RunOptions(classes=["ant", "bee", "cows"]))
    for chosen, options in ((compare, CompareOptions), (tune, TuneOptions)):
        with pytest.raises(aw.InputError, match=STRANGE):
            chosen("s.csv", {}, ["perceptron-ss"], [0.5], options(classes=["ant", "bee", "cows"]))


def test_a_class_that_never_comes_is_said(here):
    with pytest.warns(InputWarning, match=r"No instance of s.csv has the label 'dog'\."):
        assert run("s.csv", None, RunOptions(classes=["ant", "bee", "cow", "dog"])).sampler.round == 61
    made = run("s.csv", None, RunOptions(classes=["ant", "bee", "cow"], model="m.askwhen"))
    assert run("s.csv", None, RunOptions(resume="m.askwhen", skip=0)).sampler.round == 2 * made.sampler.round


@pytest.fixture
def digits(monkeypatch):
    found = aw.data.Data(
        np.arange(12.0).reshape(6, 2), np.array([3, 4, 5, 3, 4, 5]), None, None, ["3", "4", "5"], False
    )
    monkeypatch.setattr(source, "load", lambda name: found)


def test_a_data_set_takes_no_options_of_files(digits):
    for name in ("label", "text", "drop", "categories", "time"):
        with pytest.raises(aw.InputError, match=f"{name}= is for files, and usps is a data set"):
            Source("usps", {name: "a"})


def test_labels_of_a_data_set_are_checked(digits):
    with pytest.raises(
        aw.InputError, match=r"no instance of usps has the label '33' that is positive=; .* are 3, 4, 5\."
    ):
        Source("usps", {"positive": "33"}).load()
    assert Source("usps", {"positive": "3"}).load()[1].tolist() == [1, -1, -1, 1, -1, -1]
    assert Source("usps", {}, "class").load()[1].tolist() == [3, 4, 5, 3, 4, 5]


def test_a_model_needs_no_columns_that_were_dropped(here):
    from tests.cli.running import facts

    run("s.csv", {"drop": ("b",), "positive": "ant"}, RunOptions(model="m.askwhen"))
    (here / "new.csv").write_text("a\n1\n2\n")
    assert facts("predict", "m.askwhen", "new.csv", "--out", "p.csv")["rows"] == 2
    assert json.loads(json.dumps(facts("run", "s.csv", "--resume", "m.askwhen", "--skip", "0")))["rounds"] == 61
