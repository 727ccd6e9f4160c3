"""Baselines beside a run, against loops over its rounds."""

import itertools

import numpy as np
import pytest

import askwhen as aw
from askwhen.evaluate import progressive
from tests.streams import drifting


def sampler(seed=5, rule=None):
    return aw.Sampler(aw.Lasec(0.5, 20.0), rule or aw.MarginRule(0.3, floor=0.1), seed=seed)


def counted(y, queried):
    """How often the simple rules are right, round by round."""
    majority, last, sum_before, told = [], [], 0, -1
    for label, asked in zip(y, queried, strict=True):
        majority.append((1 if sum_before > 0 else -1) == label)
        last.append(told == label)
        sum_before += label
        told = label if asked else told
    return np.array(majority), np.array(last)


@pytest.mark.parametrize("seed", range(3))
def test_simple_rules_are_what_a_loop_over_the_rounds_gives(seed):
    X, y = drifting(seed, 700)
    y = np.where(np.random.default_rng(seed).random(700) < 0.3, 1.0, y)
    trace, progress = sampler().run(X, y), progressive(sampler(), X, y, window=90)
    majority, last = counted(y, trace.queried)
    assert list(progress.baselines) == ["majority so far", "last label told"]
    assert progress.baselines == {"majority so far": majority.mean(), "last label told": last.mean()}
    for values, name in ((majority, "majority so far"), (last, "last label told")):
        expected = [values[a : a + 90].mean() for a in range(0, 700, 90)]
        np.testing.assert_allclose(progress.baseline_windows[name], expected, rtol=1e-12)


def test_chunks_and_resumed_runs_have_the_same_baselines_as_the_whole():
    X, y = drifting(4, 500)
    whole = progressive(sampler(), X, y, window=90)
    cuts = [0, 1, 90, 200, 203, 500]
    streamed = progressive(sampler(), ((X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)), window=90)
    made, heard = sampler(), []
    progressive(made, X[:217], y[:217], watch=heard.append)
    resumed = progressive(made, X[217:], y[217:], window=90, before=heard[0])
    for other in (streamed, resumed):
        for name, counts in whole.baseline_counts.items():
            np.testing.assert_array_equal(other.baseline_counts[name], counts)


def test_the_same_learner_is_told_everything_on_request():
    X, y = drifting(4, 600)
    cuts = [0, 250, 251, 600]
    chunks = [(X[a:b], y[a:b]) for a, b in itertools.pairwise(cuts)]
    made = sampler()
    progress = progressive(made, chunks, window=100, everything=True)
    expected = sampler(rule=aw.Always()).run(X, y)
    assert progress.baselines["all labels"] == 1 - expected.mistakes / 600
    np.testing.assert_array_equal(
        progress.baseline_counts["all labels"][:, 0], (~expected.mistaken).reshape(6, 100).sum(axis=1)
    )
    np.testing.assert_array_equal(progress.counts, progressive(sampler(), X, y, window=100).counts)
    with pytest.raises(aw.InputError, match="everything=True needs a sampler that has played no round"):
        progressive(made, X, y, everything=True)


def test_tasks_have_baselines_of_their_own():
    X, y = drifting(2, 300)
    Y = np.column_stack([y, np.where(X[:, 1] > 0.8, 1.0, -1.0)])
    progress = progressive(sampler(), X, Y, window=100, everything=True)
    for j in range(2):
        alone = progressive(sampler(5 + j), X, Y[:, j], window=100, everything=True)
        for name, accuracy in alone.baselines.items():
            assert progress.baselines[name][j] == accuracy


def test_a_regressor_stands_beside_the_mean_and_the_last_number_told():
    X, _ = drifting(4, 300)
    y = X @ np.arange(6.0) + 3.0
    made = [aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.4), seed=1) for _ in range(2)]
    trace = made[0].run(X, y)
    progress = progressive(made[1], [(X[:120], y[:120]), (X[120:], y[120:])], window=100, everything=True)
    mean = [0.0, *(y[:t].mean() for t in range(1, 300))]
    told = [next((y[s] for s in range(t - 1, -1, -1) if trace.queried[s]), 0.0) for t in range(300)]
    every = aw.Sampler(aw.LeastSquares(regression=True), aw.Always(), seed=1).run(X, y)
    assert progress.baselines == pytest.approx(
        {
            "mean so far": ((mean - y) ** 2).mean(),
            "last label told": ((told - y) ** 2).mean(),
            "all labels": ((every.prediction - y) ** 2).mean(),
        }
    )
    assert progress.order_warning is None
