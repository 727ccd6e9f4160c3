"""Many tasks over one stream: the same bits as that many samplers, and everything shared that can be."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.weights.expansion import BASE, expansion_of

RULE = aw.MarginRule(0.3)
GAUSSIAN = aw.Gaussian(0.3)
LEARNERS = {
    "perceptron": aw.Perceptron(),
    "lasec": aw.Lasec(0.5, 20.0),
    "perceptron, gaussian": aw.Perceptron(kernel=GAUSSIAN),
    "pa-1, gaussian, budget": aw.PassiveAggressive1(0.4, kernel=GAUSSIAN, budget=20),
    "lasec, gaussian": aw.Lasec(0.5, 20.0, kernel=GAUSSIAN),
    "least squares, dual, oldest": aw.LeastSquares(0.5, kernel=aw.Linear(), budget=30, evict="oldest"),
}
ROUNDS, TASKS = 700, 4


@pytest.fixture(params=[np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def stream(request):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROUNDS, 6))
    noise = 0.5 * rng.standard_normal((ROUNDS, TASKS))
    return request.param(X), np.where(X @ rng.standard_normal((6, TASKS)) + noise > 0, 1, -1)


@pytest.mark.parametrize("margins", [True, False])
@pytest.mark.parametrize("name", LEARNERS)
def test_tasks_equal_separate_runs_with_seed_plus_j(name, margins, stream):
    X, Y = stream
    sampler = aw.Sampler(LEARNERS[name], RULE, seed=4)
    first = sampler.run_tasks(X[:400], Y[:400], margins=margins)
    second = sampler.run(X[400:], Y[400:], margins=margins)  # the same, by its older name
    assert len(first) == len(sampler.tasks) == TASKS
    for j, task in enumerate(sampler.tasks):
        alone = aw.Sampler(LEARNERS[name], RULE, seed=4 + j)
        expected = alone.run(X, Y[:, j], margins=margins)
        for array in ("margin", "prediction", "probability", "coin", "queried", "updated", "mistaken"):
            together = np.concatenate([getattr(trace[j], array) for trace in (first, second)])
            np.testing.assert_array_equal(getattr(expected, array), together, err_msg=array)
        assert second[j].start == 400
        assert (task.round, task.questions, task.updates) == (ROUNDS, alone.questions, alone.updates)
        for i in range(30):  # on its own again: it no longer shares
            ask, same = task.ask(X[i]), alone.ask(X[i])
            assert ask == same
            if ask.query:
                task.tell(ask, Y[i, j])
                alone.tell(same, Y[i, j])
        np.testing.assert_array_equal(alone.support[1], task.support[1])


def test_kept_instances_are_stored_once_for_all_tasks(stream):
    X, Y = stream
    sampler = aw.Sampler(LEARNERS["perceptron, gaussian"], RULE, seed=4)
    sampler.run(X, Y)
    sums = [expansion_of(task._engine.learner) for task in sampler.tasks]
    assert len({id(w.store) for w in sums}) == 1
    assert all(w.counts[BASE] < 0 for w in sums)
    kept = len(np.unique(np.concatenate([w.slots[: w.counts[0]] for w in sums])))
    assert kept < sum(int(w.counts[0]) for w in sums)
    assert kept == len(sums[0].norms)


def test_tasks_are_saved_and_go_on_with_the_same_bits(stream, tmp_path):
    X, Y = stream
    for name in ("lasec", "lasec, gaussian"):
        whole = aw.Sampler(LEARNERS[name], RULE, seed=4).run(X, Y)
        sampler = aw.Sampler(LEARNERS[name], RULE, seed=4)
        sampler.run(X[:300], Y[:300])
        sampler.save(tmp_path / "model")
        rest = aw.Sampler.load(tmp_path / "model").run(X[300:], Y[300:])
        if LEARNERS[name].kernel is not None:
            assert (tmp_path / "model").stat().st_size < sum(
                (task.save(tmp_path / "task") or (tmp_path / "task").stat().st_size) for task in sampler.tasks
            )
        for j in range(TASKS):
            np.testing.assert_array_equal(whole[j].margin[300:], rest[j].margin)


@pytest.mark.parametrize("name", ["perceptron", "perceptron, gaussian"])
def test_a_bad_row_leaves_every_task_as_it_was(name, stream):
    X, Y = stream
    sampler, twin = (aw.Sampler(LEARNERS[name], RULE, seed=4) for _ in range(2))
    for each in (sampler, twin):
        each.run(X[:300], Y[:300])
    bad = X[300:].copy()
    bad[350, 2] = np.nan
    with pytest.raises(aw.InputError, match="of X must hold finite numbers only, got nan"):
        sampler.run(bad, Y[300:])
    for first, second in zip(sampler.run(X[300:], Y[300:]), twin.run(X[300:], Y[300:]), strict=True):
        np.testing.assert_array_equal(first.margin, second.margin)
        assert first.start == 300


def test_a_refused_row_is_named_by_its_number_in_the_whole_stream(stream):
    X, Y = stream
    bad = X.copy()
    bad[420, 2] = 1e30
    learner = aw.LeastSquares(kernel=GAUSSIAN)
    aw.Sampler(learner, RULE, seed=4).run(bad, Y)  # a Gaussian does not mind
    for learner in (aw.LeastSquares(), aw.LeastSquares(kernel=aw.Polynomial(2))):
        with pytest.raises(aw.InputError, match="row 420 of X, with a value of 1e.30, is too large"):
            aw.Sampler(learner, RULE, seed=4).run(bad, Y)


def test_messy_csr_rows_are_sorted_for_every_task():
    rng = np.random.default_rng(0)
    tidy = sp.random(300, 20, 0.3, format="csr", random_state=0)
    Y = np.where(rng.random((300, 2)) < 0.5, 1, -1)
    messy = tidy.copy()
    for i in range(300):
        here = slice(tidy.indptr[i], tidy.indptr[i + 1])
        messy.indices[here], messy.data[here] = tidy.indices[here][::-1], tidy.data[here][::-1]
    messy.has_sorted_indices = False
    for name in ("perceptron", "perceptron, gaussian"):
        expected, found = (aw.Sampler(LEARNERS[name], RULE, seed=4).run(X, Y) for X in (tidy.copy(), messy))
        np.testing.assert_array_equal(expected[1].margin, found[1].margin)


def test_regressors_have_tasks_too(stream):
    X, Y = stream
    learner = aw.LeastSquares(regression=True)
    traces = aw.Sampler(learner, aw.FixedRate(0.5), seed=4).run(X, Y * 0.7)
    alone = aw.Sampler(learner, aw.FixedRate(0.5), seed=5).run(X, Y[:, 1] * 0.7)
    np.testing.assert_array_equal(alone.prediction, traces[1].prediction)


def test_a_sampler_saved_before_its_first_round_still_knows_the_seeds_of_its_tasks(stream, tmp_path):
    X, Y = stream
    sampler = aw.Sampler(aw.Perceptron(), RULE, seed=4)
    sampler.save(tmp_path / "model")
    first, second = sampler.run(X, Y), aw.Sampler.load(tmp_path / "model").run(X, Y)
    np.testing.assert_array_equal(first[3].coin, second[3].coin)


def test_what_tasks_cannot_do_is_said(stream):
    X, Y = stream
    sampler = aw.Sampler(aw.Perceptron(), RULE, seed=4)
    for wrong in (Y[:, :0], Y[:-1], np.full(Y.shape, 3), [[1, -1], [1]], sp.csr_matrix(Y)):
        with pytest.raises(aw.InputError, match="y (must|is 3 only)"):
            sampler.run(X, wrong)
    assert sampler.tasks == []
    sampler.run(X, Y)
    with pytest.raises(aw.QuestionError, match="has 4 tasks; use sampler.tasks"):
        sampler.tell(0, 1)
    assert repr(sampler).endswith("of 4 tasks>")
    for call in (sampler.ask, sampler.margins):
        with pytest.raises(aw.InputError, match="has 4 tasks; use sampler.tasks"):
            call(X[:1])
    for wrong in (Y[:, :2], Y[:, 0]):
        with pytest.raises(aw.InputError, match="4 columns as before"):
            sampler.run(X, wrong)
    played = aw.Sampler(aw.Perceptron(), RULE, seed=4)
    played.run(X, Y[:, 0])
    with pytest.raises(aw.InputError, match="has already played rounds as a single task"):
        played.run(X, Y)
    with pytest.raises(
        aw.InputError, match=r"^run_tasks: y must be a matrix of labels with at least one column, got shape"
    ):
        aw.Sampler(aw.Perceptron(), RULE, seed=4).run_tasks(X, Y[:, 0])
