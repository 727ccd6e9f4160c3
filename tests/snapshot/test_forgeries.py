"""A forged snapshot is refused or played; it never crashes the process."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import MixedRows
from askwhen.snapshot import engine_state, file_format
from tests.soak import times
from tests.streams import STREAMS

ROOT = Path(__file__).parents[2]
GOLDEN = Path(__file__).parents[1] / "golden"
COUNT = times(20, 2000)
"""How many forgeries of each file are tried; there are some thousands."""


def stream(sparse):
    X, y = STREAMS["sparse"](0, n=60)
    return (sp.csr_matrix(X) if sparse else X), y


def played(sampler, sparse=False, times=False):
    """A sampler that has learnt, with open questions."""
    X, y = stream(sparse)
    clock = {"times": np.arange(40.0)} if times else {}
    if sampler.classes != [-1, 1]:
        y = np.where(y > 0, sampler.classes[0], sampler.classes[1])
    sampler.run(X[:40], y[:40], **clock)
    for i in range(40, 60):
        sampler.ask(X[i : i + 1] if sparse else X[i], **({"time": float(i)} if times else {}))
    return sampler


def tasks(sparse, learner=None):
    X, y = stream(sparse)
    sampler = aw.Sampler(learner, aw.FixedRate(0.5), seed=1)
    sampler.run(X, np.column_stack([y, -y]))
    sampler.tasks[0].ask(X[:1] if sparse else X[0])
    return sampler


def wide(sampler):
    """The same over instances that are too wide for several views."""
    X = sp.random(30, 500, 0.05, "csr", rng=np.random.default_rng(1))
    sampler.run(X, [sampler.classes[i % 3] for i in range(30)])
    sampler.ask(X[0])
    return sampler


def kinds(sampler):
    """The same over instances of several kinds."""
    X = MixedRows.of(sp.random(40, 60, 0.4, "csr", rng=np.random.default_rng(1)), aw.Kinds(3, (5, 4), 48))
    sampler.run(X[:30], [(sampler.classes or [1.5, 2.0])[i % 2] for i in range(30)])
    for i in range(30, 40):
        sampler.ask(X[i])
    return sampler


def beside():
    X, y = stream(False)
    pair = aw.SideBySide(aw.Sampler(aw.Perceptron(), aw.Always()), aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.5)))
    pair.run(X[:40], y[:40])
    for x in X[40:]:
        pair.ask(x)
    return pair


def voted(how, learner=None):
    X, y = stream(True)
    return aw.online_to_batch(aw.Sampler(learner, aw.FixedRate(0.5), seed=1), X, y, how)


BUDGETED = aw.Lasec(0.5, 20.0, "queried", kernel=aw.Gaussian(0.5), budget=8)

MAKERS = {
    "default": lambda: played(aw.Sampler(seed=1)),
    "default, CSR": lambda: played(aw.Sampler(seed=1), sparse=True),
    "perceptron": lambda: played(aw.Sampler(aw.Perceptron(), aw.AdaptiveMarginRule(1.0), seed=1), sparse=True),
    "budget": lambda: played(aw.Sampler(aw.BudgetPerceptron(5), aw.Always(), seed=1), sparse=True),
    "kernel, budget": lambda: played(aw.Sampler(BUDGETED, aw.FixedRate(0.5), seed=1)),
    "dual, CSR": lambda: played(aw.Sampler(aw.AutoLasec(form="dual"), aw.FixedRate(0.5), seed=1), sparse=True),
    "switch": lambda: played(
        aw.Sampler(aw.LeastSquares(), aw.MarginRule(1.0), aw.SwitchDetector(12, 3, 0.5, extra_queries=False), seed=1)
    ),
    "tasks": lambda: tasks(True, aw.Perceptron(kernel=aw.Linear())),
    "one against the rest": lambda: played(aw.OneVsRest(["a", "b"], aw.Perceptron(), seed=1)),
    "by time": lambda: played(aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=10.0, count=5), seed=1), times=True),
    "classes": lambda: played(aw.Sampler(seed=1, classes=["a", "b", "c"])),
    "classes, wide": lambda: wide(aw.Sampler(rule=aw.FixedRate(0.5), seed=1, classes=["a", "b", "c"])),
    "kinds": lambda: kinds(aw.Sampler(rule=aw.FixedRate(0.5), seed=1)),
    "kinds, numbers": lambda: kinds(aw.Sampler(rule=aw.FixedRate(0.5), seed=1, regression=True)),
    "kinds, classes": lambda: kinds(aw.Sampler(rule=aw.FixedRate(0.5), seed=1, classes=["a", "b", "c"])),
    "labels": lambda: played(aw.Sampler(labels=("ham", "spam"), seed=1)),
    "costs": lambda: played(aw.Sampler(costs=(1, 5), seed=1)),
    "side by side": beside,
    "vote": lambda: voted("vote", aw.Perceptron(kernel=aw.Linear())),
    "replay": lambda: voted("vote", aw.AutoLasec(form="dual")),
}


def write(folder, golden):
    for number, make in enumerate(MAKERS.values()):
        make().save(folder / f"{number:02}.askwhen")
    for file in sorted(GOLDEN.glob("*.askwhen"))[::golden]:
        (folder / file.name).write_bytes(file.read_bytes())


def forge(folder, count):
    """Try forgeries of all files in the folder in a process of their own: what it said, and the last one tried."""
    command = [sys.executable, "-m", "tests.snapshot.forging", str(folder), str(count)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done, (folder / "log").read_text().strip()


def test_a_forged_snapshot_is_refused_or_played(tmp_path):
    write(tmp_path, golden=9)
    done, last = forge(tmp_path, COUNT)
    assert done.returncode == 0, f"exit code {done.returncode} at {last}\n{done.stderr}"
    assert done.stdout == ""


@pytest.mark.parametrize(
    ("name", "value"), [("tally.stakes", 0.0), ("tally.count", -1), ("tally.model", np.nan), ("tally.product", -1.0)]
)
def test_what_becomes_a_place_in_compiled_code_is_one(name, value, tmp_path):
    played(aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)).save(tmp_path / "model")
    header, arrays = file_format.read(tmp_path / "model")
    arrays[name][:] = value
    file_format.write(tmp_path / "model", header, arrays)
    with pytest.raises(aw.SnapshotError, match="contradict"):
        aw.Sampler.load(tmp_path / "model")


@pytest.mark.parametrize("regression", [False, True])
@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        *(
            (f"learner.{view}.Q", (0, 1, 1), value)
            for view in ("linear", "ranks")
            for value in (-1.0, -1e20, 1e20, 1e38)
        ),
        ("learner.linear.w", (0, 0), 1e300),
        ("learner.told", 0, 1e300),
        ("learner.labels", 1, 1e150),
        ("prepare.mean", 0, 1e200),
        ("prepare.first.var", 0, 1e-300),
        ("prepare.waves", (0, 0), 1e300),
        ("pending.values", -5, 1e150),
        ("pending.values", -100, -1e150),
    ],
)
def test_numbers_that_no_mixture_could_have_are_refused_or_harmless(name, place, value, regression):
    X, y = stream(False)
    sampler = aw.Sampler(aw.Mixture(regression), aw.Always(), prepare=aw.Prepare(), seed=1)
    sampler.run(X[:40], y[:40])
    for x in X[40:]:
        sampler.ask(x)
    header, arrays = engine_state.dump(sampler.engine, [])
    arrays = {key: array.copy() for key, array in arrays.items()}
    arrays[name][place] = value
    try:
        loaded = aw.Sampler.of(engine_state.restore(header, arrays, None)[0])
        for ask in loaded.pending:
            loaded.tell(ask, 1.0)
        assert np.isfinite(loaded.run(X, y).margin).all()
    except aw.AskwhenError:
        pass


def _sparse_questions():
    rng = np.random.default_rng(3)
    X = sp.random(20, 30, 0.2, "csr", rng=rng)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), classes=["a", "b", "c"], seed=1)
    for i in range(20):
        sampler.ask(X[i])
    return sampler


def _raised(array, place, by):
    array = array.copy()
    array[place] += by
    return array


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("pending.values", lambda a: _raised(a, 3, np.nan)),
        ("pending.values", lambda a: a[:-1]),
        ("pending.values", lambda a: a.astype(np.float32)),
        ("pending.indices", lambda a: _raised(a, 3, 40)),
        ("pending.indices", lambda a: a[::-1]),
        ("pending.indices", lambda a: a.astype(np.int64)),
        ("pending.lengths", lambda a: _raised(a, 3, 1)),
        ("pending.lengths", lambda a: a[:-1]),
        ("pending.lengths", lambda a: a.astype(np.int64)),
        ("pending.signs", lambda a: a[:-1]),
        ("pending.signs", lambda a: a.astype(np.uint8)),
        ("pending.classes", lambda a: np.array([*a[:3], 4, 2, *a[5:]], np.uint32)),
        ("pending.classes", lambda a: np.array([*a[:3], 6, 0, *a[5:]], np.uint32)),
    ],
)
def test_open_questions_that_contradict_their_arrays_are_refused(name, change):
    header, arrays = engine_state.dump(_sparse_questions().engine, [])
    engine_state.restore(header, dict(arrays), None)
    with pytest.raises(aw.SnapshotError, match="contradict"):
        engine_state.restore(header, arrays | {name: change(arrays[name])}, None)
