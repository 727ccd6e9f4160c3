"""Progressive validation against brute force and scikit-learn's metrics."""

import copy
import itertools

import numpy as np
import pytest

import askwhen as aw
from askwhen.evaluate import accuracy, bounds, progressive
from tests.streams import drifting

HOW = {"micro": "", "macro": "macro_"}


def sampler(seed=5):
    return aw.Sampler(aw.Lasec(0.5, 20.0), aw.MarginRule(0.3, floor=0.1), seed=seed)


def two_tasks(n=300):
    X, y = drifting(2, n)
    return X, np.column_stack([y, np.where(X[:, 1] > 0.8, 1.0, -1.0), np.full(n, -1.0)])


@pytest.mark.parametrize("how", HOW)
def test_scores_are_those_of_scikit_learn(how):
    metrics = pytest.importorskip("sklearn.metrics")
    X, Y = two_tasks()
    traces = copy.deepcopy(sampler()).run(X, Y)
    progress = progressive(sampler(), X, Y, window=100)
    predicted = np.column_stack([trace.prediction for trace in traces])
    for scores, ends in (
        (progress.running, [(0, 100), (0, 200), (0, 300)]),
        (progress.windows, [(0, 100), (100, 200)]),
    ):
        for k, (a, b) in enumerate(ends):
            counts = [metrics.confusion_matrix(Y[a:b, j], predicted[a:b, j], labels=[-1, 1]).ravel() for j in range(3)]
            known = [j for j in range(3) if counts[j][1:].sum()]  # where F is defined
            expected = metrics.f1_score(
                Y[a:b][:, known] > 0, predicted[a:b][:, known] > 0, average=how, zero_division=0
            )
            assert getattr(scores, HOW[how] + "f_measure")[k] == pytest.approx(expected)
            assert scores.accuracy[k] == pytest.approx((predicted[a:b] == Y[a:b]).mean())
    precision = metrics.precision_score(Y > 0, predicted > 0, average="micro")
    recall = metrics.recall_score(Y > 0, predicted > 0, average="micro")
    assert progress.running.precision[-1] == pytest.approx(precision)
    assert progress.running.recall[-1] == pytest.approx(recall)
    assert progress.error == pytest.approx([trace.mistakes / 300 for trace in traces])
    assert progress.running.question_rate[-1] == pytest.approx(np.mean([trace.questions / 300 for trace in traces]))
    assert progress.running.updates[-1] == sum(trace.updates for trace in traces)
    assert len(progress.estimate) == len(progress.curve) == len(progress.switches) == 3


def test_the_honest_estimate_stands_beside_the_truth():
    X, y = drifting(4, 900)
    trace = sampler().run(X, y)
    progress = progressive(sampler(), X, y, window=200, delta=0.1)
    assert progress.rounds.tolist() == [200, 400, 600, 800, 900]
    assert progress.estimate == accuracy(trace, confidence=0.9)
    assert progress.curve.value[-1] == pytest.approx(progress.estimate.overall.value)
    np.testing.assert_array_equal(progress.curve.rounds, progress.rounds)
    truth = progress.running.accuracy
    assert (progress.curve.low <= truth).all()
    assert (truth <= progress.curve.high).all()
    assert progress.error == trace.mistakes / 900
    assert progress.error_bound == pytest.approx(trace.mistakes / 900 + np.sqrt(np.log(10) / 1800))
    assert "accuracy" in str(progress)


def test_chunks_give_the_same_as_arrays():
    X, y = drifting(4, 500)
    whole = progressive(sampler(), X, y, window=90)
    cuts = [0, 1, 90, 200, 203, 500]
    streamed = progressive(sampler(), ((X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)), window=90)
    np.testing.assert_array_equal(streamed.counts, whole.counts)
    np.testing.assert_array_equal(streamed.rounds, whole.rounds)
    np.testing.assert_allclose(streamed.curve.low, whole.curve.low, rtol=1e-9)
    assert streamed.estimate.questions == whole.estimate.questions


def test_a_stream_goes_on_from_where_the_sampler_is():
    X = np.sign(np.random.default_rng(0).standard_normal((3000, 1)))
    y = X[:, 0] * np.where(np.arange(3000) < 1500, 1.0, -1.0)
    detecting = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.6), aw.SwitchDetector(100, 2, 0.5), seed=1)
    trace = copy.deepcopy(detecting).run(X, y)
    detecting.run(X[:100], y[:100])
    progress = progressive(detecting, X[100:], y[100:], window=1500)
    assert progress.rounds.tolist() == [1500, 2900]
    assert progress.switches == (trace.switches - 100).tolist()
    assert len(progress.switches) > 0
    assert progress.error == trace.mistaken[100:].mean()


def test_regressors_have_a_squared_error():
    X, _ = drifting(4, 300)
    y = X @ np.arange(6.0)
    made = aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.4), seed=1)
    trace = copy.deepcopy(made).run(X, y)
    progress = progressive(made, X, y, window=100, holdout=(X[:50], y[:50]))
    np.testing.assert_allclose(progress.windows.squared_error, ((trace.margin - y) ** 2).reshape(3, 100).mean(axis=1))
    assert progress.error == pytest.approx(((trace.margin - y) ** 2).mean())
    assert (progress.estimate, progress.curve, progress.error_bound, progress.holdout_bound) == (None,) * 4
    assert progress.holdout_error == pytest.approx(((made.predict(X[:50]) - y[:50]) ** 2).mean())
    assert np.isnan(progress.running.accuracy).all()
    assert "mean squared error" in str(progress)


def test_held_out_instances_are_only_predicted():
    X, y = drifting(4, 400)
    made = sampler()
    progress = progressive(made, X[:300], y[:300], holdout=(X[300:], y[300:]), delta=0.2)
    assert made.round == 300
    assert progress.holdout_error == (made.predict(X[300:]) != y[300:]).mean()
    assert progress.holdout_bound == pytest.approx(progress.holdout_error + np.sqrt(np.log(5) / 200))
    X, Y = two_tasks()
    progress = progressive(sampler(), X, Y, holdout=(X, Y))
    assert progress.holdout_error.shape == progress.holdout_bound.shape == (3,)
    assert "tasks: 3" in str(progress)


def test_a_matrix_of_one_column_is_several_tasks():
    X, y = drifting(4, 200)
    progress = progressive(sampler(), X, y[:, None], holdout=(X, y[:, None]))
    assert progress.error.shape == progress.error_bound.shape == progress.holdout_error.shape == (1,)
    assert len(progress.estimate) == len(progress.switches) == 1


def test_proposition_2_of_004_holds_and_its_margin_is_needed():
    """The mean true error of f_1 .. f_n exceeds the bound in a share delta of the runs at most."""
    rng = np.random.default_rng(0)
    atoms = rng.standard_normal((6, 2))
    labels, n, delta, runs = np.array([1.0, -1.0, 1.0, 1.0, -1.0, -1.0]), 20, 0.2, 200
    above_bound = above_mistakes = 0
    for _ in range(runs):
        path = rng.integers(6, size=n)
        made = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
        errors, mistakes = [], 0
        for t in path:
            predicted = np.where(made.margins(atoms) > 0, 1.0, -1.0)
            errors.append((predicted != labels).mean())
            mistakes += made.run(atoms[t : t + 1], labels[t : t + 1]).mistakes
        above_bound += np.mean(errors) > bounds.progressive_validation(mistakes, n, delta)
        above_mistakes += np.mean(errors) > mistakes / n
    assert above_bound <= delta * runs
    assert above_mistakes > delta * runs


def test_bad_input_is_refused_in_one_sentence():
    X, y = drifting(4, 60)

    def refused(match, *args, **settings):
        with pytest.raises(aw.InputError, match=match):
            progressive(*args, **settings)

    refused("sampler must be a Sampler", aw.Lasec(1, 2), X, y)
    refused("window must be a whole number", sampler(), X, y, window=0)
    refused("delta must be a number strictly between 0 and 1", sampler(), X, y, delta=1)
    refused("y must be given", sampler(), X)
    refused("every chunk must be", sampler(), [X])
    refused("times of a stream", sampler(), [(X, y)], times=np.arange(60))
    refused(r"row 3 of X must hold finite numbers only, got nan, in chunk 1\.$", sampler(), [(X, y), (holed(X), y)])
    refused(r"holdout must be a pair", sampler(), X, y, holdout=X)
    fresh = sampler()
    refused("holdout: y is 3 only", fresh, X, y, holdout=(X, np.full(60, 3)))
    refused("holdout: X must have the same columns as the stream", fresh, X, y, holdout=(X[:, :2], y))
    refused("holdout: y must have the same columns as the stream", fresh, X, y, holdout=(X, np.column_stack([y, y])))
    refused("holdout: X must hold finite numbers", fresh, X, y, holdout=(holed(X), y))
    refused("holdout: X must be a matrix with at least one row", fresh, X, y, holdout=(X[:0], y[:0]))
    refused("holdout: X must hold real numbers", fresh, X, y, holdout=(None, None))
    assert fresh.round == 0
    with pytest.raises(aw.InputError, match="mistakes must be between 0 and the rounds"):
        bounds.hold_out(5, 4)


def holed(X):
    X = X.copy()
    X[3, 0] = np.nan
    return X


def test_a_run_in_two_parts_is_counted_as_one():
    X, y = drifting(2, 700)
    whole = progressive(sampler(), X, y, window=100)
    made, heard = sampler(), []
    progressive(made, X[:330], y[:330], watch=heard.append)
    assert [(trace.start, trace.rounds) for trace in heard] == [(0, 330)]
    found = progressive(made, X[330:], y[330:], window=100, before=heard[0])
    np.testing.assert_array_equal(found.counts, whole.counts)
    np.testing.assert_array_equal(found.rounds, whole.rounds)
    np.testing.assert_array_equal(found.curve.low, whole.curve.low)
    assert found.estimate == whole.estimate
    with pytest.raises(aw.InputError, match="before must be the trace of a classifier's rounds just before"):
        progressive(made, X, y, before=heard[0])


def test_a_label_that_came_before_any_class_was_known_is_counted():
    X = np.random.default_rng(1).standard_normal((400, 2))
    y = np.where(np.arange(400) == 0, "a", np.where(X[:, 0] > 0, "b", "c"))
    found = aw.evaluate.progressive(aw.Sampler(classes="open", seed=1), X, y)
    came = dict(zip(found.classes, found.confusion.sum(axis=1) + found.unpredicted, strict=True))
    assert came == {"a": 1, "b": int((y == "b").sum()), "c": int((y == "c").sum())}
    assert found.unpredicted.tolist() == [1, 0, 0]


def test_a_regressor_is_told_beside_the_variance_of_its_labels():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((900, 3))
    y = 1e6 + X @ [2.0, -1.0, 0.0]
    chunks = [(X[i : i + 100], y[i : i + 100]) for i in range(0, 900, 100)]
    found = aw.evaluate.progressive(aw.Sampler(regression=True, seed=1), chunks)
    assert found.label_variance == pytest.approx(y.var(), rel=1e-9)
    assert found.r_squared == pytest.approx(1 - found.error / y.var())
    constant = aw.evaluate.progressive(aw.Sampler(regression=True, seed=1), X, np.ones(900))
    assert constant.r_squared is None
