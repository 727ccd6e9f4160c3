"""Theorems are tests: over seeds, mean mistakes stay under the bound, and a broken learner breaks it."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.evaluate import best_linear, best_linear_by_segment, bounds
from tests.streams import noisy

SEEDS = 200


def separable(n=500, d=4):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    u = np.ones(d) / math.sqrt(d)
    X += np.outer(0.3 * np.sign(X @ u), u)
    return X, np.where(X @ u > 0, 1.0, -1.0), u / 0.3


def on_the_simplex(n=800, d=6):
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (n, d))
    X[:, 0] = np.where(X[:, 0] > 0, np.maximum(X[:, 0], 0.8), np.minimum(X[:, 0], -0.8))
    return X, np.where(X[:, 0] > 0, 1.0, -1.0), np.eye(d)[0]


def switching(n=600, d=3):
    """Two switches, a margin of 0.5, and comparators that follow."""
    rng = np.random.default_rng(2)
    u = np.repeat(np.eye(d), n // d, axis=0) / 0.5
    X = rng.uniform(-0.6, 0.6, (n, d))
    main = np.repeat(np.arange(d), n // d)
    X[np.arange(n), main] = rng.choice([-1, 1], n) * rng.uniform(0.5, 0.6, n)
    return X, np.where(X[np.arange(n), main] > 0, 1.0, -1.0), u


def runs(build, X, y, seeds=SEEDS):
    return [build(seed).run(X, y) for seed in range(seeds)]


def mean_mistakes(traces):
    return np.mean([trace.mistakes for trace in traces])


def broken(build, X, y, seeds=20):
    """The same learner, told the opposite of every label it asked for: mistakes against the truth, and its traces."""
    traces = runs(build, X, -y, seeds)
    return np.mean([(trace.prediction != y).sum() for trace in traces]), traces


STREAMS = {"separable": separable, "noisy": lambda: (*noisy(0, n=300, d=4), None)}


def comparator(X, y, u):
    return best_linear(X, y) if u is None else u


@pytest.mark.parametrize("name", STREAMS)
@pytest.mark.parametrize("b", [0.1, 1.0])
def test_theorems_1_and_3_of_003(name, b):
    X, y, u = STREAMS[name]()
    u = comparator(X, y, u)
    for build, bound, tuned in (
        (lambda seed: aw.paper("SEL-P", b=b, seed=seed), bounds.sel_p, bounds.sel_p_b(X, y, u)),
        (lambda seed: aw.paper("SEL-2ND", b=b, seed=seed), bounds.sel_2nd, bounds.sel_2nd_b(X, u)),
    ):
        traces = runs(build, X, y)
        assert mean_mistakes(traces) <= bound(X, y, u, b, traces=traces) <= bound(X, y, u, b)
        nearby = [bound(X, y, u, tuned * factor) for factor in (0.9, 1.0, 1.1)]
        assert nearby[1] == min(nearby)
        np.testing.assert_allclose(bounds.expected_questions(traces), np.mean([t.questions for t in traces]), rtol=0.05)


def test_theorem_2_of_003():
    for X, y, u in (make() for make in STREAMS.values()):
        u = comparator(X, y, u)
        for beta in (0.1, 1.0):
            traces = runs(lambda seed, beta=beta: aw.paper("SEL-ADA", beta=beta, seed=seed), X, y)
            assert mean_mistakes(traces) <= bounds.sel_ada(X, y, u, beta, traces=traces)
        assert bounds.sel_ada(X, y, u, 10.0) < bounds.sel_ada(X, y, u, 0.1)


@pytest.mark.parametrize("alpha", [0.3, 0.5])
def test_theorem_4_of_003(alpha):
    X, y, u = on_the_simplex()
    letters = bounds.sel_winnow_tuning(X, alpha, 0.8)
    traces = runs(lambda seed: aw.paper("SEL-WINNOW", seed=seed, **letters), X, y)
    assert mean_mistakes(traces) <= bounds.sel_winnow(X, y, u, alpha, 0.8, traces)


def test_theorems_2_and_4_of_000():
    X, y, u = switching()
    b, c = 0.1, 20.0
    trace = aw.paper("LASEC", b=b, c=c, seed=0).run(X, y)
    assert trace.mistakes <= bounds.lasec(X, y, u, b, c, trace)
    for a in (0.05, 0.5):
        traces = runs(lambda seed, a=a: aw.paper("LASEC-SS", b=b, c=c, a=a, seed=seed), X, y)
        found = bounds.lasec_ss(X, y, u, b, c, a, traces)
        assert mean_mistakes(traces) <= found
        best = bounds.lasec_ss_a(X, u, b, c, traces)
        assert bounds.lasec_ss(X, y, u, b, c, best, traces) <= found


def test_a_still_world_without_drift_level_is_the_second_order_perceptron_bound():
    X, y, u = separable()
    traces = runs(lambda seed: aw.paper("SEL-2ND", b=0.5, seed=seed), X, y, 20)
    expected = bounds.sel_2nd(X, y, u, 0.5, traces=traces)
    loss = np.mean([bounds.hinge_losses(X, y, u)[t.updated].sum() for t in traces])
    drifting = bounds.lasec_ss(X, y, u, 1.0, math.inf, 0.5, traces)
    assert drifting <= expected  # sum of r is at most ln |A|
    assert loss <= expected


def test_corollaries_8_and_9_of_000():
    X, y, u = switching()
    V, epsilon = 20.0, 0.01
    size = np.linalg.norm(X, axis=1).max()
    c = bounds.corollary_c(*X.shape, size, V)
    b = epsilon * c
    assert bounds.corollary_holds(*X.shape, size, V, b)
    trace = aw.paper("LASEC", b=b, c=c, seed=0).run(X, y)
    assert trace.mistakes <= bounds.lasec(X, y, u, b, c, trace) <= bounds.corollary_8(X, y, u, V, epsilon, trace)
    traces = runs(lambda seed: aw.paper("LASEC-SS", b=b, c=c, a=0.5, seed=seed), X, y)
    found = bounds.corollary_9(X, y, u, V, epsilon, 0.5, traces)
    assert mean_mistakes(traces) <= bounds.lasec_ss(X, y, u, b, c, 0.5, traces) <= found
    best = bounds.corollary_9_a(X, u, V, epsilon, traces)
    assert bounds.corollary_9(X, y, u, V, epsilon, best, traces) <= found
    with pytest.raises(aw.InputError, match="at least the drift"):
        bounds.corollary_8(X, y, u, 0.1, epsilon, trace)
    with pytest.raises(aw.InputError, match="says nothing"):
        bounds.corollary_8(X, y, u, 1e9, epsilon, trace)


def test_lemma_7_solves_its_inequality():
    for A, B, C, D, gamma in ((1.0, 2.0, 3.0, 4.0, 0.5), (10.0, 0.1, 1.0, 0.5, 2.0)):
        m = bounds.lemma_7(A, B, C, D, gamma)
        assert m == pytest.approx(D / gamma + math.sqrt(A * (B + m * C)) / gamma)


def test_a_broken_learner_breaks_every_bound():
    X, y, u = separable()
    wrong, traces = broken(lambda seed: aw.paper("SEL-P", b=0.5, seed=seed), X, y)
    assert wrong > bounds.sel_p(X, y, u, 0.5)
    wrong, traces = broken(lambda seed: aw.paper("SEL-ADA", beta=5.0, seed=seed), X, y)
    assert wrong > bounds.sel_ada(X, y, u, 5.0)
    wrong, traces = broken(lambda seed: aw.paper("SEL-2ND", b=0.1, seed=seed), X, y)
    assert wrong > bounds.sel_2nd(X, y, u, 0.1)
    X, y, u = on_the_simplex()
    letters = bounds.sel_winnow_tuning(X, 0.5, 0.8)
    wrong, _ = broken(lambda seed: aw.paper("SEL-WINNOW", seed=seed, **letters), X, y)
    assert wrong > bounds.sel_winnow(X, y, u, 0.5, 0.8)
    X, y, u = switching()
    wrong, traces = broken(lambda seed: aw.paper("LASEC-SS", b=0.1, c=20.0, a=0.3, seed=seed), X, y)
    assert wrong > bounds.lasec_ss(X, y, u, 0.1, 20.0, 0.3, traces)
    wrong, traces = broken(lambda seed: aw.paper("LASEC", b=0.1, c=20.0, seed=seed), X, y, 1)
    assert wrong > bounds.lasec(X, y, u, 0.1, 20.0, traces[0])


def test_invariances_and_monotonicity():
    X, y = noisy(3, n=200, d=4)
    u = best_linear(X, y)
    traces = runs(lambda seed: aw.paper("SEL-2ND", b=0.5, seed=seed), X, y, 5)
    for bound in (
        lambda k: bounds.sel_p(X, y, k * u, 0.7, gamma=k),
        lambda k: bounds.sel_ada(X, y, k * u, 0.7, gamma=k),
        lambda k: bounds.sel_2nd(X, y, k * u, 0.7, gamma=k, traces=traces),
        lambda k: bounds.lasec_ss(X, y, k * u, 1.0, 50.0, 0.7, traces, gamma=k),
        lambda k: bounds.lasec(X, y, k * u, 1.0, 50.0, traces[0], gamma=k),
    ):
        assert bound(7.0) == pytest.approx(bound(1.0))
    assert bounds.sel_p(3 * X, y, u, 9 * 0.7, gamma=3.0) == pytest.approx(bounds.sel_p(X, y, u, 0.7))
    assert bounds.sel_p(X, y, 2 * u, 0.7, gamma=0.5) > 0
    drift = np.vstack([u, 2 * u, u])
    assert bounds.total_drift(drift) == pytest.approx(2 * (u @ u))
    assert bounds.total_drift(drift, [True, False, True]) == 0.0
    assert bounds.total_drift(u) == 0.0


def test_comparators_found_in_hindsight():
    X, y, _ = separable()
    assert bounds.hinge_loss(X, y, best_linear(X, y, C=1000.0)) < 1e-2
    X, y, _ = switching()
    found = best_linear_by_segment(X, y, [200, 400], C=1000.0)
    assert bounds.hinge_loss(X, y, found) < 1e-2 < bounds.hinge_loss(X, y, best_linear(X, y))
    assert np.count_nonzero(np.diff(found[:, 0])) <= 2
    one_label = best_linear(np.ones((5, 2)), np.ones(5))
    assert bounds.hinge_loss(np.ones((5, 2)), np.ones(5), one_label) < 1e-9
    with pytest.raises(aw.InputError, match="switches must be a list of rounds"):
        best_linear_by_segment(X, y, [9999])
    with pytest.raises(aw.InputError, match="one for each round"):
        bounds.hinge_loss(X, y, np.ones((2, 2)))
    with pytest.raises(aw.InputError, match="probability simplex"):
        bounds.sel_winnow(X, y, np.ones(3), 0.5)


def test_one_class_has_an_svm_too():
    X, y, _ = separable()
    X = X * y[:, None]  # all of one side
    ones = np.ones(len(y))
    found = best_linear(X, ones, C=0.1)
    mirrored = best_linear(
        X * np.where(np.arange(len(y)) % 2, 1, -1)[:, None], np.where(np.arange(len(y)) % 2, 1, -1), C=0.1
    )
    np.testing.assert_allclose(found, mirrored, rtol=1e-2, atol=1e-3)  # the same problem, with signs turned

    def objective(u):
        return u @ u / 2 + 0.1 * bounds.hinge_loss(X, ones, u)

    assert objective(found) <= min(objective(scale * found) for scale in (0.0, 0.9, 1.1, 2.0)) * (1 + 1e-6)


def test_sparse_instances_are_never_made_dense():
    rng = np.random.default_rng(0)
    X = sp.random(3000, 1_000_000, 2e-6, "csr", rng=rng)  # 24 GB if dense
    y = np.where(rng.random(3000) > 0.5, 1.0, -1.0)
    u = np.zeros(1_000_000)
    u[X.indices[:50]] = 1.0
    small = X[:, np.unique(X.indices)]
    v = u[np.unique(X.indices)]
    assert bounds.sel_p(X, y, u, b=1.0) == pytest.approx(bounds.sel_p(small.toarray(), y, v, b=1.0))
    assert bounds.sel_winnow_tuning(X, 0.5) == pytest.approx(bounds.sel_winnow_tuning(small.toarray(), 0.5))


def test_both_ways_to_the_volume_agree():
    rng = np.random.default_rng(0)
    for shape in ((7, 12), (30, 12)):
        X, u = rng.standard_normal(shape), rng.standard_normal(12)
        A = np.eye(12) + X.T @ X
        expected = np.sqrt(np.linalg.slogdet(A)[1] / (u @ A @ u))
        assert bounds.sel_2nd_b(X, u) == pytest.approx(expected)


def test_what_a_bound_cannot_be_made_of_is_refused():
    X, y, u = separable()
    traces = runs(lambda seed: aw.paper("SEL-P", b=1.0, seed=seed), X, y, 2)

    def refused(sentence, call, *args, **settings):
        with pytest.raises(aw.InputError, match=sentence):
            call(*args, **settings)

    counts = [aw.paper("SEL-P", b=1.0, seed=1).run(X, y, trace=False)]
    refused("counts only; run with trace=True", bounds.sel_p, X, y, u, 1.0, traces=counts)
    refused("every probability must be known", bounds.expected_questions, counts)
    lazy = aw.paper("SEL-2ND", b=0.1, seed=1).run(X / 9, y, margins=False)
    refused("every probability must be known", bounds.expected_questions, [lazy])
    refused("at least one trace", bounds.expected_questions, [])
    refused("at least one run", bounds.sel_p, X, y, u, 1.0, traces=[])
    refused("traces must be a list of traces, got Trace", bounds.sel_p, X, y, u, 1.0, traces=traces[0])
    refused("traces must be traces of runs, got list", bounds.lasec, X, y, u, 1.0, 3.0, traces)
    refused("all rounds of these instances, got 500 rounds for 9", bounds.sel_p, X[:9], y[:9], u, 1.0, traces=traces)
    for labels in (y[:, None], y[:1], 2 * y, np.full(len(y), np.nan)):
        refused("^sel_p: y (must|has)", bounds.sel_p, X, labels, u, 1.0)
        refused("^best_linear: y (must|has)", best_linear, X, labels)
    refused("u must be one vector of 4", bounds.sel_p, X, y, u[:2], 1.0)
    refused("u must hold finite numbers", bounds.sel_p, X, y, u * np.nan, 1.0)
    refused("X must hold finite numbers", bounds.sel_p, X * np.inf, y, u, 1.0)
    refused("there is no best value where u", bounds.sel_p_b, X, y, 0 * u)
    refused("there is no best value where u", bounds.sel_2nd_b, X, 0 * u)
    refused("there is no best value where u or all instances are 0", bounds.sel_winnow_tuning, 0 * X, 0.5)
    for gamma in (0, -1):
        refused("gamma must be a positive", bounds.sel_2nd_b, X, u, gamma)
        refused("gamma must be a positive", bounds.sel_winnow_tuning, X, 0.5, gamma)
        refused("gamma must be a positive", bounds.sel_ada, X, y, u, 1.0, gamma)
        refused("gamma must be a positive", bounds.lemma_7, 1, 1, 1, 1, gamma)
    refused("X must be a positive", bounds.corollary_c, 100, 5, -1.0, 1.0)
    refused("X must be a positive", bounds.corollary_holds, 100, 5, 0.0, 1.0, 1.0)
    refused("updated must have 500 entries", bounds.total_drift, np.ones((500, 4)), [True])
    refused("mistakes must be between 0 and the rounds", bounds.progressive_validation, np.nan, 10)
    refused("switches must be a list of rounds", best_linear_by_segment, X, y, None)
    refused("switches must be a list of rounds", best_linear_by_segment, X, y, [1.5])
    assert bounds.sel_2nd(X.tolist(), y.tolist(), u.tolist(), 1.0, traces=iter(traces)) == bounds.sel_2nd(
        X, y, u, 1.0, traces=traces
    )
    assert bounds.progressive_validation([10, 20], 100).shape == (2,)
