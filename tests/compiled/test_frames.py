"""States in frames: whatever their fields are, compiled steps read and write just those."""

import dataclasses
import os
import shutil
import subprocess
import sys
from typing import Any, NamedTuple

import numpy as np
import pytest

import askwhen as aw
from askwhen.contracts.learner import UPDATED, learn, learns, restart, score
from askwhen.linalg.vectors import look
from tests.outside.averaged import MeanLearner


class Flags(NamedTuple):
    a: bool
    b: bool


class Inner(NamedTuple):
    count: Any
    factor: int


class MixedState(NamedTuple):
    on: bool
    flags: Flags
    pair: tuple
    off: bool
    inner: Inner
    small: Any
    matrix: Any
    w: Any


@score.of(MixedState)
def _score(state, x):
    return look(state.w, x)


@learns.of(MixedState)
def _learns(state, mistaken):
    return True


@learn.of(MixedState)
def _learn(state, x, norm2, m, q, y):
    code = 0
    for flag in (state.on, state.flags.a, state.flags.b, state.off):
        code = 10 * code + (1 if flag else 0)
    state.inner.count[0] += state.inner.factor
    state.small[1] = 7
    state.matrix[1, 2] = 2.5
    state.w[0] = code
    return UPDATED


@restart.of(MixedState)
def _restart(state):
    return


@dataclasses.dataclass(frozen=True)
class Mixed(MeanLearner):
    def start(self, d, sparse):
        small, matrix = np.zeros(3, np.int16), np.zeros((2, 3))
        inner = Inner(np.zeros(1, np.int64), 5)
        return MixedState(True, Flags(False, True), (True, False, True), True, inner, small, matrix, np.zeros(d))


def test_flags_numbers_arrays_and_tuples_of_them_lie_where_they_are_looked_for():
    sampler = aw.Sampler(Mixed(), aw.Always(), seed=0)
    sampler.run(np.eye(3), [1, 1, 1])
    state = sampler.engine.learner
    assert state.w.tolist() == [1011, 0, 0]
    assert state.inner.count.tolist() == [15]
    assert state.small.tolist() == [0, 7, 0]
    assert state.matrix[1, 2] == 2.5
    sampler.tell(sampler.ask([1.0, 2.0, 3.0]), 1)
    assert sampler.engine.learner.inner.count.tolist() == [20]


WEIGHTS = {
    "single precision": lambda: np.arange(5, dtype=np.float32),
    "whole numbers": lambda: np.arange(5),
    "every other": lambda: np.arange(10.0)[::2],
    "backwards": lambda: np.arange(5.0)[::-1],
}


@dataclasses.dataclass(frozen=True)
class Given(MeanLearner):
    kind: str = ""

    def start(self, d, sparse):
        return aw.Perceptron().start(d, sparse)._replace(w=WEIGHTS[self.kind]())


@pytest.mark.parametrize("kind", WEIGHTS)
def test_arrays_of_another_kind_in_a_state_of_ours_are_read_as_they_are(kind):
    plain = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    plain.run(np.eye(5), [1] * 5)
    before = plain.margins(np.eye(5))
    other = aw.Sampler(Given(kind), aw.Always(), seed=0)
    np.testing.assert_array_equal(other.margins(np.eye(5)), WEIGHTS[kind]())
    np.testing.assert_array_equal(plain.margins(np.eye(5)), before)


def test_a_step_that_is_written_anew_is_compiled_anew():
    class State(NamedTuple):
        w: Any

    @dataclasses.dataclass(frozen=True)
    class Learner(MeanLearner):
        def start(self, d, sparse):
            return State(np.zeros(d))

    score.of(State)(lambda state, x: look(state.w, x))
    learns.of(State)(lambda state, mistaken: True)
    restart.of(State)(lambda state: None)
    found = []
    for factor in ("1.0", "100.0"):
        scope = {"UPDATED": UPDATED}
        exec(f"def step(state, x, norm2, m, q, y):\n    state.w[0] += {factor}\n    return UPDATED\n", scope)
        learn.of(State)(scope["step"])
        sampler = aw.Sampler(Learner(), aw.Always(), seed=0)
        sampler.run(np.eye(2), [1, 1])
        found.append(sampler.weights[0])
    assert found == [2.0, 200.0]


def test_a_step_that_returns_nothing_is_refused_in_a_sentence():
    class State(NamedTuple):
        w: Any

    @dataclasses.dataclass(frozen=True)
    class Learner(MeanLearner):
        def start(self, d, sparse):
            return State(np.zeros(d))

    score.of(State)(lambda state, x: look(state.w, x))
    restart.of(State)(lambda state: None)
    learn.of(State)(lambda state, x, norm2, m, q, y: None)
    with pytest.raises(aw.InputError, match="Learner: a step does not compile"):
        aw.Sampler(Learner(), aw.Always(), seed=0).run(np.eye(2), [1, 1])


FLAT = """
from dataclasses import dataclass
from typing import Any, NamedTuple
import numpy as np
from askwhen.contracts.learner import UPDATED, learn, learns, restart, score
from askwhen.linalg.vectors import look
from flat_constants import RATE
class State(NamedTuple):
    w: Any
@score.of(State)
def _score(state, x): return look(state.w, x)
@learns.of(State)
def _learns(state, mistaken): return True
@learn.of(State)
def _learn(state, x, norm2, m, q, y):
    state.w[0] += RATE
    return UPDATED
@restart.of(State)
def _restart(state): return
@dataclass(frozen=True)
class Learner:
    regression = has_uncertainty = False
    def start(self, d, sparse): return State(np.zeros(d))
"""
PLAY = "import numpy as np, askwhen as aw\ns = aw.Sampler({}, aw.Always(), seed=0)\ns.run(np.eye(2), [1, 1])\n"


@pytest.mark.xdist_group("compiled ahead")
def test_a_module_alone_is_compiled_anew_with_what_it_imports_and_disturbs_nobody(tmp_path, compiled_ahead):
    (tmp_path / "flat_learner.py").write_text(FLAT)
    shutil.copytree(compiled_ahead[0], tmp_path / "cache")  # it has nothing of this module, nor of the Perceptron
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def play(code, **more):
        command = [sys.executable, "-W", "error", "-c", code]  # from a folder in which nothing can be imported
        done = subprocess.run(command, env=environment | more, capture_output=True, text=True, cwd="/")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    own = "from flat_learner import Learner\n" + PLAY.format("Learner()") + "print(s.weights[0])"
    for rate in ("1.0", "7.0"):
        (tmp_path / "flat_constants.py").write_text(f"RATE = {rate}\n")
        assert play(own) == str(2 * float(rate))
    assert play(PLAY.format("aw.Perceptron()"), PYTHONPATH="") == ""  # what it cannot import is nothing to it
