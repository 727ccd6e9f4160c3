"""Parts from elsewhere are taken by what they provide, and the checks that we ship find what is wrong with one."""

import dataclasses
import os
import pathlib
import shutil
import subprocess
import sys

import numpy as np
import pytest

import askwhen as aw
from askwhen import checks
from askwhen.checks import check_drift, check_learner, check_rule
from askwhen.contracts.learner import UPDATED, learn, learns, restart, score
from askwhen.contracts.rule import decide, probability, toss
from askwhen.linalg.vectors import add_scaled, clear, look
from tests.outside.alternating import Alternating
from tests.outside.averaged import MeanLearner, MeanState
from tests.outside.mistakes import TooManyMistakes
from tests.soak import times
from tests.table import ROWS

SAMPLERS = [row.sampler for row in ROWS.values()]
LEARNERS = list(dict.fromkeys(sampler.learner for sampler in SAMPLERS))
RULES = list(dict.fromkeys(sampler.rule for sampler in SAMPLERS))
DRIFTS = list(dict.fromkeys(sampler.drift for sampler in SAMPLERS if sampler.drift is not None))


@pytest.mark.parametrize("learner", [*LEARNERS, MeanLearner()], ids=repr)
def test_every_learner_passes(learner, monkeypatch):
    monkeypatch.setattr(checks, "_ROUNDS", times(120, 240))  # plain Python is slow where what is kept grows
    check_learner(learner)


@pytest.mark.parametrize("rule", [*RULES, Alternating(), aw.BudgetRule(per=50, count=5)], ids=repr)
def test_every_rule_passes(rule):
    check_rule(rule)


@pytest.mark.parametrize("drift", [drift for drift in DRIFTS if drift.noise_bound is None], ids=repr)
def test_every_drift_guard_passes(drift):
    check_drift(drift)


def test_a_drift_guard_from_elsewhere_restarts_the_learner():
    check_drift(TooManyMistakes(), MeanLearner())
    X, y = aw.data.switching(600, 4, 300, seed=1)
    y = np.where(X[:, 0] > 0, 1, -1) * np.where(np.arange(600) < 300, 1, -1)
    plain = aw.Sampler(MeanLearner(), aw.Always(), seed=1).run(X, y)
    guarded = aw.Sampler(MeanLearner(), aw.Always(), TooManyMistakes(), seed=1)
    trace = guarded.run(X, y)
    assert len(trace.switches) == 1
    assert 300 < trace.switches[0] < 330
    assert trace.mistakes < plain.mistakes - 100


def test_parts_from_elsewhere_are_saved_by_name_and_given_again(tmp_path):
    X, y = aw.data.switching(300, 4, seed=1)
    sampler = aw.Sampler(MeanLearner(), Alternating(0.9, 0.2), TooManyMistakes(), seed=1)
    sampler.run(X, y)
    sampler.save(tmp_path / "m")
    with pytest.raises(aw.SnapshotError, match=r"tests.outside.averaged.MeanLearner, which must be given again"):
        aw.Sampler.load(tmp_path / "m")
    loaded = aw.Sampler.load(tmp_path / "m", parts=[MeanLearner, Alternating, TooManyMistakes])
    assert loaded.rule == Alternating(0.9, 0.2)
    np.testing.assert_array_equal(sampler.run(X, y).margin, loaded.run(X, y).margin)


def test_an_installed_package_has_its_parts_found(tmp_path, monkeypatch):
    sampler = aw.Sampler(MeanLearner(), aw.Always(), seed=1)
    sampler.tell(sampler.ask([1.0, 2.0]), 1)
    sampler.save(tmp_path / "m")
    info = tmp_path / "outside-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outside\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[askwhen.parts]\nmean = tests.outside.averaged:MeanLearner\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert aw.Sampler.load(tmp_path / "m").learner == MeanLearner()


def test_what_is_no_part_is_refused_by_what_it_lacks():
    class NoData:
        regression = has_uncertainty = False

        def start(self, d, sparse):
            return MeanState(np.zeros(d), np.zeros(1))

    with pytest.raises(aw.InputError, match="learner must be a dataclass"):
        aw.Sampler(NoData())
    with pytest.raises(aw.InputError, match="or provide regression, has_uncertainty, start, got 3"):
        aw.Sampler(3)
    with pytest.raises(aw.InputError, match="rule must be one of askwhen's rules, or provide"):
        aw.Sampler(MeanLearner(), MeanLearner())
    with pytest.raises(aw.InputError, match="drift must be one of askwhen's drift detectors"):
        aw.Sampler(MeanLearner(), Alternating(), Alternating())


@dataclasses.dataclass(frozen=True)
class Peeking(Alternating):
    """Says one probability and keeps to another."""

    def start(self):
        return PeekingState(*super().start())


class PeekingState(type(Alternating().start())):
    pass


@probability.of(PeekingState)
def _said(rule, m, q, norm2):
    return 0.5


@decide.of(PeekingState)
def _done(rule, m, q_low, q_high, norm2, u):
    return toss(0.3, u)


def test_a_rule_that_does_not_keep_to_its_probability_is_found():
    with pytest.raises(AssertionError, match="asks, or does not ask, against its probability"):
        check_rule(Peeking())


class HiddenState(type(MeanLearner().start(1, False))):
    pass


HIDDEN = np.zeros(1)


@score.of(HiddenState)
def _hidden_score(state, x):
    m, norm2, verdict = look(state.w, x)
    return m + HIDDEN[0], norm2, verdict


@learns.of(HiddenState)
def _hidden_learns(state, mistaken):
    return True


@learn.of(HiddenState)
def _hidden_learn(state, x, norm2, m, q, y):
    add_scaled(state.w, y, x)
    return UPDATED


@restart.of(HiddenState)
def _hidden_restart(state):
    clear(state.w)


@dataclasses.dataclass(frozen=True)
class Hidden(MeanLearner):
    """Its plain source reads a number that the compiled one has frozen."""

    def start(self, d, sparse):
        return HiddenState(np.zeros(d), np.zeros(1))


def test_a_learner_whose_plain_source_differs_is_found():
    aw.Sampler(Hidden(), aw.Always(), seed=0).run(np.eye(3), [1, 1, -1])
    HIDDEN[0] = 1.0
    try:
        with pytest.raises(AssertionError, match="plain Python and the compiled round differ in round"):
            check_learner(Hidden())
    finally:
        HIDDEN[0] = 0.0


PLAY = """
import numpy as np, askwhen as aw
from elsewhere.averaged import MeanLearner
from askwhen.engine.round.ahead import play_at
aw.Sampler(MeanLearner(), aw.Always(), seed=1).run(np.eye(3), [1, 1, -1])
print(sum(play_at.stats.cache_misses.values()))
"""


@pytest.mark.xdist_group("compiled ahead")
def test_steps_from_elsewhere_are_kept_on_the_disk_and_never_stale(tmp_path, compiled_ahead):
    package = pathlib.Path(shutil.copytree(pathlib.Path(__file__).parent / "outside", tmp_path / "elsewhere"))
    shutil.copytree(compiled_ahead[0], tmp_path / "cache")  # what all learners share is there, and nothing of this one
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}

    def play():
        done = subprocess.run([sys.executable, "-c", PLAY], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    assert play() == "1"
    assert play() == "0"
    source = package / "averaged.py"
    source.write_text(source.read_text().replace("state.count[0] += 1.0", "state.count[0] += 2.0"))
    assert play() == "1"
