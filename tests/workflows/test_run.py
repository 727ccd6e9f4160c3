"""The run of a file as a function: the same rounds as the library's, gone on with, stopped and saved."""

import contextlib
import os
import signal

import numpy as np
import pytest

import askwhen as aw
from askwhen.workflows.predict import load
from askwhen.workflows.run import RunObserver, RunOptions, run

D, N = 4, 2000
PERCEPTRON = {"algorithm": "sel-p", "hyperparameters": {"b": 0.5}, "raw": True, "seed": 3}


@pytest.fixture
def stream(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    X, y = aw.data.switching(N, D, 1000, seed=5)
    np.savetxt("s.csv", np.c_[X, y], fmt="%.17g", delimiter=",", header="a,b,c,d,label", comments="")
    return X, y


def expected(X, y):
    sampler = aw.paper("SEL-P", b=0.5, seed=3)
    return sampler, sampler.run(X, y)


def test_a_run_is_that_of_the_library_and_its_results_come_before_its_files(stream, tmp_path):
    sampler, trace = expected(*stream)
    seen = []

    class Observer(RunObserver):
        def results(self, found):
            seen.append((found.progress.error, (tmp_path / "m.askwhen").exists()))

    ran = run("s.csv", None, RunOptions(**PERCEPTRON, model="m.askwhen", report="r.html"), Observer())
    assert seen == [(trace.mistakes / N, False)]
    assert (ran.model, ran.stopped, ran.errors) == ("m.askwhen", False, [])
    assert load("m.askwhen").weights.tolist() == [*sampler.weights.tolist(), 0.0]  # no number was missing
    assert (tmp_path / "r.html").exists()


def stopped(monkeypatch, **more):
    """A run that is interrupted after its first piece, and the last thing that is said."""
    monkeypatch.setattr("askwhen.workflows.observer._OFTEN", 0.0)
    messages = []

    class Observer(RunObserver):
        say = staticmethod(messages.append)

        def progress(self, what, total):
            assert (what, total > 0) == ("s.csv", True)
            return contextlib.nullcontext(lambda *done, **facts: facts and os.kill(os.getpid(), signal.SIGINT))

    ran = run("s.csv", None, RunOptions(**PERCEPTRON, **more), Observer())
    assert ran.stopped
    assert 0 < ran.sampler.round < N
    return ran, messages[-1]


def test_an_interrupt_saves_says_how_to_go_on_and_the_rest_follows(stream, monkeypatch):
    sampler, _ = expected(*stream)
    ran, said = stopped(monkeypatch)
    assert said == f"Interrupted after {ran.sampler.round:,} rows. To go on:\n  run(..., resume='s.askwhen')"
    run("s.csv", None, RunOptions(resume="s.askwhen", model="s.askwhen"))
    assert load("s.askwhen").weights.tolist() == [*sampler.weights.tolist(), 0.0]  # no number was missing


def test_how_to_go_on_says_what_to_pass_over_where_rounds_do_not(stream, monkeypatch):
    ran, said = stopped(monkeypatch, skip=500)
    assert said.endswith(f"run(..., resume='s.askwhen', skip={500 + ran.sampler.round})")


def test_what_a_resumed_sampler_has_learnt_with_stays(stream):
    run("s.csv", None, RunOptions(**PERCEPTRON, model="m.askwhen"))
    with pytest.raises(aw.InputError, match=r"^run: positive= must be as before: this sampler has learnt without"):
        run("s.csv", {"positive": "1"}, RunOptions(resume="m.askwhen", skip=0))
    with pytest.raises(aw.InputError, match=r"^run: shuffle= goes with a new sampler; this one"):
        run("s.csv", None, RunOptions(resume="m.askwhen", shuffle=True))
