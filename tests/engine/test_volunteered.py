"""Labels that nobody asked for: they move the learner, and neither coins, budget nor the estimate of the accuracy."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.compiled.frames import new_frame
from askwhen.compiled.steps import entry_point
from askwhen.engine.round.rounds import learn_rows
from askwhen.linalg.rows import DenseRows
from tests.streams import STREAMS
from tests.table import ROWS

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=str)


def stream(row, n=60):
    X, y = STREAMS["noisy"](3, n=n)
    return X, (X @ np.linspace(-1, 1, X.shape[1]) if row.regression else y)


@every_row
def test_they_move_the_learner_and_nothing_else(row):
    X, y = stream(row)
    plain, seeded = row.build(3), row.build(3)
    before = aw.evaluate.accuracy(seeded) if not row.regression else None
    seeded.learn(X[:20], y[:20])
    assert (seeded.round, seeded.questions, seeded.updates, seeded.volunteered) == (0, 0, 0, 20)
    assert before is None or aw.evaluate.accuracy(seeded) == before
    expected, trace = plain.run(X[20:], y[20:]), seeded.run(X[20:], y[20:])
    np.testing.assert_array_equal(trace.coin, expected.coin)
    assert trace.margin.tolist() != expected.margin.tolist()


@every_row
def test_one_by_one_all_at_once_and_saved_are_the_same(row, tmp_path):
    X, y = stream(row)
    X, at_once, singly = sp.csr_matrix(X), row.build(3), row.build(3)
    at_once.learn(X[:20], y[:20])
    for i in range(20):
        singly.learn(X[i], float(y[i]))
        if i == 9:
            singly.save(tmp_path / "half")
            singly = aw.Sampler.load(tmp_path / "half")
    assert singly.volunteered == 20
    np.testing.assert_array_equal(at_once.margins(X), singly.margins(X))


def test_what_is_learnt_is_what_an_asked_label_would_teach():
    X, y = STREAMS["noisy"](3, n=60)
    asked, seeded = (aw.Sampler(aw.Lasec(1.0, 50.0, update="queried"), aw.Always(), seed=1) for _ in range(2))
    asked.run(X, y)
    seeded.learn(X, y)
    np.testing.assert_array_equal(asked.weights, seeded.weights)


@pytest.mark.parametrize("margins", [True, False])
def test_in_a_run_they_come_after_the_prediction(margins):
    """The same as asking, telling what is asked, and learning what comes by itself."""
    X, y = STREAMS["drifting"](4, n=400)
    flags = np.random.default_rng(0).random(400) < 0.1
    run, live = aw.Sampler(seed=2), aw.Sampler(seed=2)
    trace = run.run(X, y, volunteered=flags, margins=margins)
    engine, y = live.engine, np.asarray(y, float)
    for i in range(400):
        ask = live.ask(X[i])
        assert (ask.prediction, ask.query) == (trace.prediction[i], trace.queried[i])
        if ask.query:
            live.tell(ask, y[i])
        elif flags[i]:  # without counting the instance twice
            (_held, address), _ = new_frame(DenseRows(engine.session.live.row[None]))
            learner, kind = engine.session.learner_alone(engine)
            entry_point(learn_rows, kind, 0, y, 0, True)(learner, address, y[i : i + 1], 0, False)
    assert run.volunteered == int((flags & ~trace.queried).sum()) > 10
    assert run.questions == trace.questions == live.questions


@pytest.mark.parametrize(
    ("x", "y", "says"),
    [
        ([[1.0, 2.0]], [0], "y must hold -1 and +1 only, got 0 in row 0."),
        ([1.0, 2.0], 3, "y must hold -1 and +1 only, got 3 in row 0."),
        ([[1.0, np.nan]], [1], "row 0 of X"),
        ([[1.0, 2.0, 3.0]], [1], "must have 2 features as before, got 3."),
        ([[1.0, 2.0]], [1, 1], "y must hold 1 labels"),
    ],
)
def test_bad_ones_are_refused_and_change_nothing(x, y, says):
    sampler = aw.Sampler(seed=1)
    sampler.learn([[0.0, 1.0], [1.0, 0.5]], [1, -1])
    before = sampler.margins([[0.3, 0.4]])
    with pytest.raises(aw.InputError) as error:
        sampler.learn(x, y)
    assert says in str(error.value)
    assert sampler.margins([[0.3, 0.4]]) == before
    assert sampler.volunteered == 2


def test_flags_of_a_run_are_one_for_each_round():
    X, y = STREAMS["noisy"](3, n=20)
    for bad in ([True], np.ones(20), "yes"):
        with pytest.raises(aw.InputError, match="volunteered must hold True or False for each of the 20 instances"):
            aw.Sampler(seed=1).run(X, y, volunteered=bad)
    with pytest.raises(aw.InputError, match="cannot be combined with several tasks"):
        aw.Sampler(seed=1).run(X, np.column_stack([y, y]), volunteered=np.ones(20, bool))


def test_tasks_do_not_take_over_what_one_sampler_has_learnt():
    X, y = STREAMS["noisy"](3, n=20)
    sampler = aw.Sampler(seed=1)
    sampler.learn(X, y)
    with pytest.raises(aw.InputError, match="has already learnt labels as a single task"):
        sampler.run_tasks(X, np.column_stack([y, y]))


def test_features_that_never_come_take_no_room_in_a_file(tmp_path):
    X = sp.random(50, 1 << 18, 1e-4, format="csr", random_state=1)
    sampler = aw.Sampler(seed=1)
    sampler.learn(X, np.where(np.arange(50) % 2, 1.0, -1.0))
    sampler.save(tmp_path / "m")
    assert (tmp_path / "m").stat().st_size < 500_000
    np.testing.assert_array_equal(aw.Sampler.load(tmp_path / "m").margins(X), sampler.margins(X))
