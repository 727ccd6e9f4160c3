"""Several labels at once: one question for all of them, or one for each."""

import copy
import itertools
import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.engine.tally.label_tally import EXPECTED, RESIDUAL
from askwhen.evaluate import accuracy

pytestmark = pytest.mark.xdist_group("several classes")  # they compile the same rounds
LABELS = ["a", "b", "c"]
LEARNERS = [None, aw.Perceptron(), aw.LeastSquares(), aw.Lasec(1.0, 50.0), aw.AutoLasec()]


def data(n=400, seed=0):
    rng = np.random.default_rng([seed, 9])
    X = rng.standard_normal((n, 5))
    return X, X[:, :3] + 0.3 * rng.standard_normal((n, 3)) > 0.4


def sets(Y):
    return [[label for label, has in zip(LABELS, row, strict=True) if has] for row in Y]


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
def test_live_rounds_are_those_of_a_run(learner, form):
    X, Y = data()
    X = form(X)
    first, second = (aw.MultiLabel(LABELS, learner, aw.BudgetRule(0.3), seed=3) for _ in "ab")
    trace = first.run(X, Y)
    asks = []
    for i, told in enumerate(sets(Y)):
        asks.append(second.ask(X[i]))
        if asks[-1].query:
            second.tell(asks[-1], told)
    assert sets(trace.prediction) == [list(ask.prediction) for ask in asks]
    assert trace.margin.tolist() == [ask.margin for ask in asks]
    assert trace.queried.tolist() == [ask.query for ask in asks]
    np.testing.assert_array_equal(first.margins(X), second.margins(X))
    assert accuracy(first) == accuracy(second)
    assert (trace.mistaken == (trace.prediction != Y).any(axis=1)).all()


@pytest.mark.parametrize("learner", LEARNERS[1:-1], ids=lambda each: type(each).__name__)
def test_every_label_learns_as_a_sampler_of_its_own(learner):
    X, Y = data()
    together = aw.MultiLabel(LABELS, learner, aw.Always(), seed=3)
    together.run(X, Y)
    for j in range(3):
        alone = aw.Sampler(learner, aw.Always(), seed=3)
        alone.run(X, np.where(Y[:, j], 1, -1))
        np.testing.assert_array_equal(together.margins(X)[:, j], alone.margins(X))


def test_it_asks_by_the_label_it_is_least_sure_of():
    X, Y = data()
    made = aw.MultiLabel(LABELS, aw.LeastSquares(), aw.MarginRule(0.2), seed=3)
    made.run(X[:200], Y[:200])
    for x in X[200:220]:
        p = made.margins(x[None])[0]
        ask = made.ask(x)
        assert ask.margin == pytest.approx(np.abs(p).min(), abs=1e-12)
        assert ask.prediction == tuple(np.array(LABELS)[p > 0])


def test_questions_of_all_labels_or_of_each(tmp_path):
    X, Y = data(2000)
    one = aw.MultiLabel(LABELS, seed=1)
    each = aw.MultiLabel(LABELS, seed=1, question="each")
    trace, traces = one.run(X, Y), each.run(X, sets(Y))
    assert trace.questions <= 220
    assert set(traces) == set(each.tasks) == set(LABELS)
    assert all(found.questions <= 220 for found in traces.values())
    assert each.questions == sum(found.questions for found in traces.values())
    assert (one.predict(X) == Y).mean() > 0.85
    assert (each.predict(X) == Y).mean() > 0.85
    for j, label in enumerate(LABELS):
        alone = aw.Sampler(seed=1 + j)
        assert alone.run(X, np.where(Y[:, j], 1, -1)).queried.tolist() == traces[label].queried.tolist()
    asks = each.ask(X[0])
    each.tell(asks, ["a"])
    assert each.pending == {label: [] for label in LABELS}
    each.save(tmp_path / "each")
    again = aw.MultiLabel.load(tmp_path / "each")
    assert again.ask(X[1]) == each.ask(X[1])
    with pytest.raises(aw.InputError, match="this sampler has tasks"):
        accuracy(each)
    assert accuracy(each.tasks["a"]).rounds == 2002


@pytest.mark.parametrize("learner", LEARNERS, ids=lambda each: type(each).__name__)
def test_it_goes_on_from_a_file_with_questions_open(learner, tmp_path):
    X, Y = data()
    made = aw.MultiLabel(LABELS, learner, aw.BudgetRule(0.4), seed=1)
    made.run(X[:200], Y[:200])
    for x in X[200:220]:
        made.ask(x)
    made.save(tmp_path / "m")
    for again in (aw.MultiLabel.load(tmp_path / "m"), pickle.loads(pickle.dumps(made)), copy.copy(made)):
        assert again.pending == made.pending != []
        expected = copy.deepcopy(made)
        for sampler in (expected, again):
            sampler.forget(sampler.pending[0])
            for ask in sampler.pending:
                sampler.tell(ask, sets(Y)[ask.round])
        assert expected.run(X[220:], Y[220:]).margin.tolist() == again.run(X[220:], Y[220:]).margin.tolist()
        assert accuracy(expected) == accuracy(again)
    with pytest.raises(aw.SnapshotError, match="use MultiLabel.load"):
        aw.Sampler.load(tmp_path / "m")


def test_mistakes_about_a_label_are_unbiased_over_all_coin_sequences():
    rng = np.random.default_rng(1)
    X, Y = rng.standard_normal((6, 2)), rng.random((6, 2)) < 0.5
    mean, truth, total = np.zeros((2, 2)), np.zeros((2, 2)), 0.0
    for asked in itertools.product([True, False], repeat=6):
        made = aw.MultiLabel(["a", "b"], aw.Perceptron(), aw.MarginRule(0.5, floor=0.2), seed=0)
        chance, predicted = 1.0, []
        for x, row, query in zip(X, Y, asked, strict=True):
            made._sampler.engine.draws.ahead[:] = [0.0 if query else 1.0 - 1e-12]
            ask = made.ask(x)
            chance *= ask.probability if query else 1.0 - ask.probability
            if chance == 0.0:
                break
            predicted.append([label in ask.prediction for label in "ab"])
            if query:
                made.tell(ask, [label for label, has in zip("ab", row, strict=True) if has])
        if chance == 0.0:
            continue
        total += chance
        said, sums = np.array(predicted), made.class_tally().sums
        for j, side in itertools.product(range(2), range(2)):
            mean[j, side] += chance * (sums[2 * j + side, EXPECTED] + sums[2 * j + side, RESIDUAL])
            truth[j, side] += chance * ((said[:, j] == side) & (said[:, j] != Y[:, j])).sum()
    assert total == pytest.approx(1.0)
    np.testing.assert_allclose(mean, truth, atol=1e-9)


def test_precision_and_recall_of_every_label_cover_the_truth():
    missed = of = 0
    for seed in range(6):
        X, Y = data(1500, seed)
        made = aw.MultiLabel(LABELS, seed=seed)
        trace = made.run(X, Y)
        found = accuracy(made)
        of, missed = of + 1, missed + (not found.overall.low <= 1 - trace.mistakes / 1500 <= found.overall.high)
        for j, label in enumerate(LABELS):
            said, true = trace.prediction[:, j], Y[:, j]
            each, hits = found.classes[label], (said & true).sum()
            assert each.predicted == said.sum()
            for estimate, value in ((each.precision, hits / said.sum()), (each.recall, hits / true.sum())):
                of, missed = of + 1, missed + (not estimate.low <= value <= estimate.high)
    assert missed <= 0.1 * of


def test_a_trace_has_a_column_for_each_label():
    X, Y = data(50)
    trace = aw.MultiLabel(LABELS, aw.Perceptron(), seed=1).run(X, Y)
    table = trace.to_pandas()
    assert [name for name in table if name.startswith("prediction")] == ["prediction_0", "prediction_1", "prediction_2"]
    assert table["prediction_1"].tolist() == trace.prediction[:, 1].tolist()


def test_bad_input_is_refused_and_changes_nothing():
    X, Y = data(50)

    def refused(sentence, call, *args, error=aw.InputError, **settings):
        with pytest.raises(error, match=sentence):
            call(*args, **settings)

    refused("at least two different", aw.MultiLabel, ["a"])
    refused("at most 52", aw.MultiLabel, range(53))
    refused("question must be", aw.MultiLabel, LABELS, question="both")
    refused("needs a classifier", aw.MultiLabel, LABELS, aw.LeastSquares(regression=True), aw.FixedRate(0.5))
    refused("is for two labels; leave it out", aw.MultiLabel, LABELS, aw.Mixture())
    made = aw.MultiLabel(LABELS, aw.Perceptron(), aw.Always(), seed=1)
    refused("a column of 0 and 1 for each of the 3 labels", made.run, X, Y[:, :2])
    refused("a column of 0 and 1", made.run, X, 2 * Y)
    refused("one of the classes 'a', 'b', 'c', got 'z'", made.run, X, [["z"]] * 50)
    refused("Y must have 50 rows", made.run, X, Y[:9])
    ask = made.ask(X[0])
    refused("a list or a set of those that apply, got 'a'", made.tell, ask, "a")
    refused("got 'z'", made.tell, ask, ["z"])
    assert (made.round, made.pending) == (1, [ask])
    made.tell(ask, {"a", "c"})
    refused("no open question", made.tell, ask, ["a"], error=aw.QuestionError)
    made.run(X, sp.csr_matrix(Y.astype(int)))
    table = pd.DataFrame(Y[:, ::-1], columns=["c", "b", "a"])
    twin = copy.deepcopy(made)
    assert made.run(X, table).mistakes == twin.run(X, Y).mistakes
    refused("Y must have the columns .'a', 'b', 'c'., got .'x'", made.run, X, table.rename(columns={"c": "x"}))
    made.run(X, Y.astype(int).tolist())
