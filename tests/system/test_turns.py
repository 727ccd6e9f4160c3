"""Threads and forks."""

import gc
import os
import threading

import numpy as np
import pytest

import askwhen as aw
from askwhen.compiled.steps import global_compiler_lock
from askwhen.system import fork_safe_lock

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")


def in_child(function):
    """What a function answers in the child of a fork, which is given ten seconds."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        import signal

        signal.alarm(10)
        try:
            said = function()
        except Exception as error:
            said = f"{type(error).__name__}: {error}"
        os.write(write, str(said).encode())
        os._exit(0)
    os.close(write)
    with os.fdopen(read) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


class Playing:
    """A thread that is in the middle of a call, for as long as the with block lasts."""

    def __init__(self, *owners):
        self._owners = owners
        self._held, self._done = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._hold)

    def _hold(self):
        for owner in self._owners:
            owner._lock.acquire()
        self._held.set()
        self._done.wait()
        for owner in self._owners:
            owner._lock.release()

    def __enter__(self):
        self._thread.start()
        self._held.wait()

    def __exit__(self, *_):
        self._done.set()
        self._thread.join()


def several():
    return aw.OneVsRest(["a", "b"], aw.Perceptron(), aw.Always(), seed=0)


def sampler():
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)


@pytest.mark.parametrize("make", [sampler, several])
def test_a_sampler_that_a_thread_used_at_the_fork_refuses_in_the_child_and_others_go_on(make):
    used, other = make(), make()
    x = np.ones(3)
    for each in (used, other):
        each.ask(x)
    with Playing(used):
        refused = in_child(lambda: used.ask(x))
        went_on = in_child(lambda: other.ask(x).round)
    assert refused.startswith(f"AskwhenError: {type(used).__name__}: another thread was using it when this process was")
    assert went_on == "1"
    assert used.ask(x).round == 1


def test_a_sampler_of_river_refuses_too():
    pytest.importorskip("river")
    from river import linear_model

    from askwhen.adapters.river import RiverSampler

    used = RiverSampler(linear_model.LogisticRegression(), aw.Always(), seed=0)
    used.ask({"a": 1.0})
    assert in_child(lambda: used.ask({"a": 1.0}).round) == "1"
    with Playing(used):
        assert in_child(lambda: used.ask({"a": 1.0})).startswith("AskwhenError: RiverSampler: another thread")


def test_every_call_is_refused_and_a_child_of_the_child_refuses_too(tmp_path):
    used, x = sampler(), np.ones(3)
    ask = used.ask(x)
    calls = [
        lambda: used.tell(ask, 1.0),
        lambda: used.forget(ask),
        lambda: used.run([x], [1.0]),
        lambda: used.predict([x]),
        lambda: used.save(tmp_path / "model"),
        lambda: in_child(lambda: used.ask(x)),
    ]
    with Playing(used):
        for call in calls:
            assert "half-changed" in in_child(call)


def test_a_real_thread_that_plays_never_makes_a_child_wait_for_ever():
    used, other, x, stop = sampler(), sampler(), np.ones(3), threading.Event()
    used.ask(x)
    other.ask(x)

    def play():
        while not stop.is_set():
            used.forget(used.ask(x))

    thread = threading.Thread(target=play)
    thread.start()
    try:
        for _ in range(10):
            assert "half-changed" in (said := in_child(lambda: used.ask(x))) or said.startswith("Ask(")
            assert in_child(lambda: other.ask(x)).startswith("Ask(")
    finally:
        stop.set()
        thread.join()


def test_a_fork_waits_until_nothing_is_compiled():
    """Otherwise the child could never compile."""
    begun, finish = threading.Event(), threading.Event()

    def compile_for_a_while():
        with global_compiler_lock:
            begun.set()
            finish.wait(0.2)

    thread = threading.Thread(target=compile_for_a_while)
    thread.start()
    begun.wait()
    assert in_child(lambda: global_compiler_lock._lock.acquire(blocking=False)) == "True"
    thread.join()


def test_locks_of_samplers_that_are_gone_are_not_kept():
    gc.collect()
    before = len(fork_safe_lock._owners)
    kept = [sampler() for _ in range(5)]
    assert len(fork_safe_lock._owners) == before + 5
    del kept
    gc.collect()
    assert len(fork_safe_lock._owners) == before
