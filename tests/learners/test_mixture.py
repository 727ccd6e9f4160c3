"""Mixture, the default: as its naive form says, on every kind of row, whatever order labels come in."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from tests.reference.views import Diagonal, Mixture, Spread
from tests.streams import STREAMS


def naive(sampler, X, regression=False):
    """The naive form of a sampler that has played no round, with the random numbers that it will use."""
    engine = sampler.engine
    engine.begin("ask", "x", X.shape[1], False)
    return Mixture(engine.prepare.waves.copy(), engine.prepare.counts[1], regression)


@pytest.mark.parametrize("stream", ["drifting", "noisy"])
def test_margins_and_weights_are_those_of_the_naive_form(stream):
    X, y = STREAMS[stream](1, n=150)
    sampler = aw.Sampler(aw.Mixture(), aw.Always(), prepare=aw.Prepare(), seed=3)
    reference = naive(sampler, X)
    trace = sampler.run(X, y)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        np.testing.assert_allclose(trace.drift_weights[i], reference.mix, rtol=2e-3, atol=2e-5)
        assert abs(trace.margin[i] - reference.margin(x)) < 1e-4  # matrices are in single precision
        reference.tell(label)


def test_beyond_64_features_there_is_no_deviation():
    X = np.random.default_rng(0).standard_normal((40, 66))
    y = np.where(X[:, 0] > 0, 1.0, -1.0)
    sampler = aw.Sampler(aw.Mixture(), aw.Always(), prepare=aw.Prepare(), seed=3)
    reference = naive(sampler, X)
    trace = sampler.run(X, y)
    assert not any(name.startswith("deviation") for name in sampler.experts)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        assert abs(trace.margin[i] - reference.margin(x)) < 1e-4
        reference.tell(label)


def test_numbers_are_those_of_the_naive_form():
    rng = np.random.default_rng(4)
    X = rng.standard_normal((150, 5))
    y = 1e4 + 3.0 * X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.standard_normal(150)
    y[90] += 500.0  # an outlier
    sampler = aw.Sampler(aw.Mixture(regression=True), aw.FixedRate(0.5), prepare=aw.Prepare(), seed=3)
    reference = naive(sampler, X, regression=True)
    trace = sampler.run(X, y)
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        assert abs(trace.prediction[i] - reference.margin(x)) < 2e-3
        if trace.queried[i]:
            reference.tell(label, 0.5)


def test_wide_instances_are_learnt_feature_by_feature():
    rng = np.random.default_rng(5)
    X = sp.random(300, 700, 0.03, format="csr", random_state=1)
    y = np.where(X @ rng.standard_normal(700) > 0, 1.0, -1.0)
    trace = aw.Sampler(aw.Mixture(), aw.Always(), prepare=aw.Prepare(), seed=3).run(X, y)
    reference = Diagonal(701)
    for i, (x, label) in enumerate(zip(X.toarray(), y, strict=True)):
        np.testing.assert_allclose(trace.drift_weights[i], reference.mix, rtol=1e-8)
        np.testing.assert_allclose(trace.margin[i], reference.margin(x), rtol=1e-7, atol=1e-9)
        reference.tell(label)
    dense = aw.Sampler(aw.Mixture(version=1), aw.Always(), prepare=aw.Prepare(), seed=3).run(X.toarray(), y)
    np.testing.assert_allclose(dense.margin, trace.margin, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("d", [4, 600])
def test_numbers_may_have_any_offset_scale_and_outlier(d):
    rng = np.random.default_rng(4)
    X = rng.standard_normal((600, d))
    y = 3.0 * X[:, 0] + 0.1 * rng.standard_normal(600)

    def error(labels):
        sampler = aw.Sampler(regression=True, rule=aw.FixedRate(0.999), seed=1)
        return np.mean((sampler.run(X, labels).prediction - labels)[300:] ** 2)

    plain = error(y)
    assert error(y + 1e6) < 1.1 * plain
    assert error(1e-9 * y) < 1.1 * 1e-18 * plain
    assert error(np.where(np.arange(600) == 250, 1e6, y)) < 3.0 * plain + 0.5


@pytest.mark.parametrize("d", [6, 700])
@pytest.mark.parametrize("regression", [False, True])
def test_ask_tell_run_and_snapshots_give_the_same_bits(d, regression, tmp_path):
    rng = np.random.default_rng(6)
    X = sp.random(240, d, min(1.0, 30 / d), format="csr", random_state=2)
    y = np.asarray(X[:, :3].sum(axis=1)).ravel() + 0.1 * rng.standard_normal(240)
    y = y if regression else np.where(y > np.median(y), 1.0, -1.0)
    whole = aw.Sampler(seed=5, regression=regression).run(X, y)
    live = aw.Sampler(seed=5, regression=regression)
    for i in range(240):
        if i == 100:
            live.save(tmp_path / "half")
            live = aw.Sampler.load(tmp_path / "half")
        ask = live.ask(X[i])
        assert (ask.margin, ask.probability, ask.query) == (whole.margin[i], whole.probability[i], whole.queried[i])
        if ask.query:
            live.tell(ask, y[i])
    if d == 6:  # narrow sparse rows are made dense
        np.testing.assert_array_equal(
            aw.Sampler(seed=5, regression=regression).run(X.toarray(), y).margin, whole.margin
        )


def test_a_late_label_is_learnt_from_what_was_seen_when_it_was_asked(tmp_path):
    """z, u, delta and f stay those of the question; weights and f move from where they are when the label comes."""
    X, y = STREAMS["drifting"](3, n=120)
    sampler = aw.Sampler(aw.Mixture(), aw.Always(), prepare=aw.Prepare(), seed=3)
    reference = naive(sampler, X)
    waiting = []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        ask = sampler.ask(x)
        assert abs(ask.margin - reference.margin(x)) < 1e-4
        waiting.append((ask, dict(reference.seen), label))
        if i == 60:
            sampler.save(tmp_path / "open")
            sampler = aw.Sampler.load(tmp_path / "open")
        if i % 3 == 2:
            late, seen, label = waiting.pop(-2)  # out of order; every third is told, the oldest never
            sampler.tell(late.round, label)
            for expert in reference.experts:
                expert.see(seen[expert.block])
            reference.tell(label)
    sampler.forget(waiting[0][0].round)


def test_the_weights_find_what_a_stream_needs():
    rng = np.random.default_rng(7)
    X = rng.standard_normal((4000, 4))
    walk = np.cumsum(X, axis=0)
    streams = {
        "curved": (X, 1.0 - X[:, 0] ** 2 - X[:, 1] ** 2),
        "ranks": (X, np.where(np.arange(4000) // 60 % 2, 1.0, -1.0)),  # labels come in runs
        "deviation": (walk, walk[:, 0] - np.append(np.zeros(10), walk[:-10, 0])),
    }
    for kind, (rows, values) in streams.items():
        sampler = aw.Sampler(seed=1, rule=aw.BudgetRule(0.3))
        sampler.run(rows, np.where(values > 0, 1, -1))
        trusted = dict.fromkeys(("linear", "curved", "deviation", "ranks"), 0.0)
        for name, weight in zip(sampler.experts, sampler.drift_weights, strict=True):
            trusted[name.partition(",")[0]] += weight
        assert max(trusted, key=trusted.get) == kind, trusted


def test_the_chance_of_asking_is_that_of_the_rule_and_never_looks_at_the_coin():
    X, y = STREAMS["noisy"](2, n=1500)
    rule = Spread(0.1)
    trace = aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.1), seed=3).run(X, y)
    for i in range(len(y)):
        chance = rule.probability(trace.margin[i])
        np.testing.assert_allclose(trace.probability[i], chance, rtol=1e-9)
        assert trace.queried[i] == (trace.coin[i] < trace.probability[i])
        rule.end(trace.queried[i])
        if trace.queried[i]:
            rule.hear(not trace.mistaken[i], chance)
