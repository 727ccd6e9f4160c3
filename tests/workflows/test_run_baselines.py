"""A run of a file beside refitted models: the library's numbers, and an interrupt that costs the models only."""

import contextlib
import os
import pathlib
import signal

import numpy as np
import pytest

import askwhen as aw
from askwhen.errors import AskwhenError
from askwhen.workflows.run import RunObserver, RunOptions, run

N = 600


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = aw.data.switching(N, 4, 300, seed=5)
    np.savetxt("s.csv", np.c_[X, y], fmt="%.17g", delimiter=",", header="a,b,c,d,label", comments="")
    return X, y


class Observer(RunObserver):
    def __init__(self):
        self.shown, self.failures, self.moved = [], [], lambda *_, **__: None

    def progress(self, what, total):
        self.shown.append((what, total))
        return contextlib.nullcontext(lambda *done, **facts: self.moved(what, *done))

    def failed(self, error):
        self.failures.append(str(error))


def test_the_models_are_those_of_the_library_and_each_has_a_progress_of_its_own(stream):
    X, y = stream
    observer = Observer()
    ran = run("s.csv", None, RunOptions(labels=0.1, seed=3, baselines=True, report="r.html"), observer)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1, length=N), seed=3)
    expected = aw.evaluate.progressive(sampler, X, y, baselines=True)
    assert ran.progress.refitted == expected.refitted
    names = [each.name for each in expected.refitted]
    assert len(names) == 4
    assert observer.shown[1:] == [(name, N) for name in names]
    page = pathlib.Path("r.html").read_text()
    assert "What you would have had otherwise" in page
    assert names[0].replace(", refitted, labels", "") in page


def test_an_interrupt_between_two_fits_leaves_a_complete_run_without_models(stream):
    observer = Observer()
    observer.moved = lambda what, *done: "gradient" in what and os.kill(os.getpid(), signal.SIGINT)
    ran = run("s.csv", None, RunOptions(labels=0.1, baselines=True, model="m.askwhen", report="r.html"), observer)
    assert (ran.sampler.round, ran.stopped, ran.progress.refitted) == (N, False, [])
    assert [each.sentence for each in ran.errors] == [
        "interrupted before all models of baselines= were played; the run itself is complete."
    ]
    assert len(observer.failures) == 1
    assert sorted(os.listdir()) == ["m.askwhen", "r.html", "s.csv"]
    assert "What you would have had otherwise" not in pathlib.Path("r.html").read_text()


def test_an_interrupted_run_plays_no_models(stream, monkeypatch):
    monkeypatch.setattr("askwhen.workflows.observer._OFTEN", 0.0)
    observer = Observer()
    observer.moved = lambda what, *done: what == "s.csv" and not done and os.kill(os.getpid(), signal.SIGINT)
    ran = run("s.csv", None, RunOptions(labels=0.1, baselines=True, model="m.askwhen"), observer)
    assert ran.stopped
    assert ran.sampler.round < N
    assert (ran.progress.refitted, [what for what, _ in observer.shown]) == ([], ["s.csv"])


def test_a_run_that_can_have_no_models_is_refused_before_a_row_is_read(stream):
    for more, sentence in (
        ({"seed_labels": "s.csv"}, "baselines= needs a sampler that has not learnt before"),
        ({"costs": (1.0, 5.0)}, "baselines= are compared by accuracy, and not by costs"),
    ):
        with pytest.raises(AskwhenError, match=sentence):
            run("s.csv", None, RunOptions(baselines=True, **more))
    assert os.listdir() == ["s.csv"]
