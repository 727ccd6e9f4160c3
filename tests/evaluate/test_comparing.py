"""Comparisons at equal labels, and tuning on the head of a stream."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.algorithms import algorithm
from askwhen.evaluate.comparison.comparing import half_width
from askwhen.evaluate.comparison.rate_matching import matched

X, Y = aw.data.switching(3000, 8, 1000, seed=2)


@pytest.mark.parametrize("name", ["sel-p", "sel-ada", "bbq", "sel-p-fixed"])
@pytest.mark.parametrize("share", [0.02, 0.3])
def test_the_scale_is_that_of_the_share(name, share):
    letters = matched(algorithm(name), X, Y, share, seed=5)
    asked = np.mean([algorithm(name).build(letters, seed=5 + k).run(X, Y).questions / len(Y) for k in range(3)])
    allowed = 0.005 if name != "sel-p-fixed" else 4 * np.sqrt((1 - share) / share / len(Y) / 3)
    assert asked == pytest.approx(share, rel=max(allowed, 1.5 / (share * len(Y))))


def test_a_share_that_no_scale_gives_is_come_near_to():
    flat = np.zeros((50, 2))
    letters = matched(algorithm("sel-p"), flat, np.ones(50), 0.5)  # every margin is 0: it always asks
    assert algorithm("sel-p").build(letters, seed=0).run(flat, np.ones(50)).questions == 50


def test_a_comparison_is_what_its_runs_are():
    found = aw.evaluate.compare(
        X, Y, ["sel-p", "perceptron", "shifting"], [0.1, 0.3], repeats=3, letters={"shifting": {"lam": 0.5}}, seed=4
    )
    assert [(cell.algorithm, cell.share) for cell in found.cells] == [
        ("sel-p", 0.1),
        ("sel-p", 0.3),
        ("perceptron", 1.0),
        ("shifting", 1.0),
    ]
    assert found.cells[3].letters == {"lam": 0.5}
    cell = found.cells[1]
    for k in range(3):
        trace = aw.paper("SEL-P", **cell.letters, seed=4 + k).run(X, Y)
        assert cell.accuracy[k] == 1 - trace.mistakes / len(Y)
        assert cell.asked[k] == trace.questions / len(Y)
        np.testing.assert_allclose(cell.windows[k], 1 - trace.mistaken.reshape(50, -1).mean(axis=1), rtol=1e-12)
    assert found.rounds.tolist() == list(range(60, 3001, 60))


def test_repeats_of_shuffled_streams_differ_and_algorithms_share_them():
    found = aw.evaluate.compare(X, Y, ["perceptron", "modified"], [0.5], repeats=2, shuffle=True, seed=1)
    perceptron = found.cells[0]
    assert perceptron.accuracy[0] != perceptron.accuracy[1]
    order = np.random.default_rng([1, 1]).permutation(len(Y))
    trace = aw.paper("PERCEPTRON").run(X[order], Y[order])
    assert perceptron.accuracy[1] == 1 - trace.mistakes / len(Y)


def test_sparse_streams_and_prepared_ones_are_compared_too():
    found = aw.evaluate.compare(
        sp.csr_matrix(X), Y, ["sel-p"], [0.2], repeats=1, prepare=aw.Prepare(), shuffle=True, windows=7
    )
    assert found.cells[0].asked[0] == pytest.approx(0.2, rel=0.1)
    assert found.cells[0].windows.shape == (1, 7)
    assert np.isnan(found.cells[0].margin_of_error)


def test_the_watch_hears_of_every_run():
    heard = []
    aw.evaluate.compare(X, Y, ["sel-p"], [0.2], repeats=3, watch=lambda *word: heard.append(word))
    assert heard == [(k, 4, "sel-p at 0.2") for k in range(1, 5)]


def test_the_interval_is_students():
    values = np.array([0.8, 0.9, 0.85])
    assert half_width(values) == pytest.approx(4.302652729749464 * 0.05 / np.sqrt(3))  # t of 2 degrees at 97.5 %


def test_what_cannot_be_compared_is_refused_before_any_run():
    for arguments, sentence in (
        ((["bbq-nonsense"], [0.1]), "there is no 'bbq-nonsense'"),
        (([], [0.1]), "compare: give at least one algorithm and one share of labels."),
        ((["sel-p"], [1.5]), "share must be a number strictly between 0 and 1, got 1.5."),
        ((["regression"], [0.1]), "compare: regression is a regressor, and accuracy is for classifiers."),
    ):
        with pytest.raises(aw.InputError, match=sentence):
            aw.evaluate.compare(X, Y, *arguments)
    with pytest.raises(aw.InputError, match="b of sel-p is found here, from the share of labels"):
        aw.evaluate.compare(X, Y, ["sel-p"], [0.1], letters={"sel-p": {"b": 1.0}})
    with pytest.raises(aw.InputError, match="y must"):
        aw.evaluate.compare(X, Y[:5], ["perceptron"], [0.1])


def test_tuning_finds_the_letter_that_matters():
    """The target of this stream is replaced all the time: of two drift levels, the fast one must win."""
    stream = aw.data.switching(4000, 5, 200, seed=3)
    tried = aw.evaluate.tune(*stream, 0.3, ["lasec-ss"], letters={"b": 0.1}, repeats=1)
    assert [set(each.letters) for each in tried] == [{"b", "c", "a"}] * 4
    assert tried[0].letters["c"] <= 10.0
    assert tried[-1].letters["c"] == 1000.0
    assert all(a.accuracy >= b.accuracy for a, b in itertools.pairwise(tried))
    best = aw.paper("LASEC-SS", **tried[0].letters, seed=0).run(*stream)
    assert tried[0].accuracy == 1 - best.mistakes / 4000
    assert tried[0].error_bound == pytest.approx(aw.evaluate.bounds.progressive_validation(best.mistakes, 4000))


def test_tuning_tries_no_letters_that_the_learner_refuses():
    tried = aw.evaluate.tune(X[:300], Y[:300], 0.3, ["lasec-ss"], repeats=1)
    assert len(tried) == 9
    assert all(each.letters["b"] < each.letters["c"] for each in tried)


def test_what_cannot_be_tuned_is_refused():
    for names, settings, sentence in (
        (["perceptron"], {}, "tune: perceptron asks for every label; name one that chooses."),
        (["sel-p"], {"letters": {"b": 1.0}}, "tune: b of sel-p is found here, from the share of labels."),
        (["bbq"], {"letters": {"regression": True}}, "tune: bbq is a regressor, and accuracy is for classifiers."),
        ([], {}, "tune: give at least one algorithm."),
    ):
        with pytest.raises(aw.InputError, match=sentence):
            aw.evaluate.tune(X, Y, 0.1, names, **settings)


def test_baselines_stand_beside_the_algorithms():
    found = aw.evaluate.compare(X, Y, ["sel-p", "bbq", "perceptron"], [0.1, 0.3], repeats=2, seed=4)
    assert [(cell.algorithm, cell.share) for cell in found.baselines] == [
        ("last label told", 0.1),
        ("last label told", 0.3),
        ("last label told", 1.0),
        ("majority so far", 1.0),
    ]
    assert found.order_warning is None
    told = {}
    for cell in found.cells:
        build = algorithm(cell.algorithm).build
        runs = [aw.evaluate.progressive(build(cell.letters, seed=4 + k), X, Y, window=60) for k in range(2)]
        told.setdefault(cell.share, []).append([run.baselines["last label told"] for run in runs])
    for baseline in found.baselines[:3]:
        assert baseline.accuracy.tolist() == max(told[baseline.share], key=np.mean)
        assert baseline.accuracy == pytest.approx(baseline.windows.mean(axis=1))
    majority = found.baselines[3]
    assert majority.accuracy.tolist() == [runs[0].baselines["majority so far"]] * 2
    np.testing.assert_allclose(majority.windows[1], runs[0].baseline_windows["majority so far"], rtol=1e-12)


def test_each_learner_is_told_everything_once_on_request():
    names = ["sel-p", "sel-p-fixed", "pa-i-active", "pa-i"]
    found = aw.evaluate.compare(X, Y, names, [0.2], repeats=2, letters={"pa-i-active": {"C": 0.5}}, everything=True)
    told = {cell.algorithm: cell for cell in found.baselines if "all labels" in cell.algorithm}
    assert list(told) == ["sel-p, all labels", "pa-i-active, all labels"]
    for name, made in (("sel-p", aw.Perceptron()), ("pa-i-active", aw.PassiveAggressive1(0.5))):
        trace = aw.Sampler(made, aw.Always(), seed=0).run(X, Y)
        cell = told[f"{name}, all labels"]
        assert (cell.share, cell.asked.tolist()) == (1.0, [1.0, 1.0])
        assert cell.accuracy[0] == 1 - trace.mistakes / len(Y)
    assert [cell.algorithm for cell in found.cells] == names
    again = aw.evaluate.compare(X, Y, names[2:], [0.2], repeats=1, everything=True)  # here PA-I is the same learner
    assert not [cell for cell in again.baselines if "all labels" in cell.algorithm]


@pytest.mark.parametrize(("n", "number"), [(30, 1), (99, 1), (569, 11), (3000, 50)])
def test_no_window_is_smaller_than_fifty_rounds_unless_it_was_wanted(n, number):
    found = aw.evaluate.compare(X[:n], Y[:n], ["perceptron"], [0.2], repeats=1)
    assert len(found.rounds) == found.cells[0].windows.shape[1] == number
    assert np.diff(found.rounds, prepend=0).min() >= min(n, 50)
    wanted = aw.evaluate.compare(X[:n], Y[:n], ["perceptron"], [0.2], repeats=1, windows=10)
    assert len(wanted.rounds) == 10


def test_a_sorted_stream_is_told_unless_it_is_shuffled():
    order = np.argsort(Y, kind="stable")
    found = aw.evaluate.compare(X[order], Y[order], ["perceptron"], [0.2], repeats=1)
    assert "come sorted or in blocks" in found.order_warning
    assert aw.evaluate.compare(X[order], Y[order], ["perceptron"], [0.2], repeats=1, shuffle=True).order_warning is None


def test_a_short_stream_is_compared_and_tuned_within_the_share():
    X = np.random.default_rng(0).standard_normal((111, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    (cell,) = aw.evaluate.compare(X, y, ["default"], [0.1], repeats=3, prepare=aw.Prepare()).cells
    assert max(cell.asked) <= 12 / 111
    (tried,) = aw.evaluate.tune(X, y, 0.1, ["default"], repeats=3, prepare=aw.Prepare())
    assert tried.asked <= 12 / 111
