"""Prepared instances: what the formulas say, the same one by one and all at once, and safe with bad rows."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from tests.streams import noisy

SAMPLER = {
    "default": lambda prepare, seed: aw.Sampler(prepare=prepare, seed=seed),
    "dual": lambda prepare, seed: aw.Sampler(aw.AutoLasec(form="dual"), prepare=prepare, seed=seed),
    "first order": lambda prepare, seed: aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), prepare=prepare, seed=seed),
}


def standardised(X, clip=2.0):
    out = []
    for t in range(len(X)):
        seen = X[: t + 1]
        sd = seen.std(axis=0)
        varies = sd > 1e-12 * np.abs(seen.mean(axis=0))
        z = np.where(varies, (X[t] - seen.mean(axis=0)) / np.where(varies, sd, 1.0), 0.0) / np.sqrt(
            max(varies.sum(), 1)
        )
        out.append(z * min(1.0, clip / max(np.linalg.norm(z), 1e-300)))
    return np.array(out)


def seen_by_the_learner(X, prepare):
    """The instances that a Perceptron that is always asked has added up, by their differences."""
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), prepare=prepare, seed=0)
    found = []
    for x in X:
        before = sampler.weights
        ask = sampler.ask(x)
        sampler.tell(ask, -ask.prediction)
        found.append((sampler.weights - (before if len(before) else 0.0)) * -ask.prediction)
    return np.array(found)


def test_standard_is_mean_zero_deviation_one_over_the_root_of_the_features():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 4)) * [1.0, 1e5, 1e-5, 0.0] + [5.0, 1e6, 0.0, 3.0]
    X[30, 0] += 8.0
    found = seen_by_the_learner(X, aw.Prepare("standard"))
    np.testing.assert_allclose(found[:, :4], standardised(X), rtol=1e-7, atol=1e-9)
    assert (found[:, 4] == 1.0).all()
    assert np.linalg.norm(found[:, :4], axis=1).max() <= 2.0 + 1e-9


def test_unit_and_none_are_what_they_say_dense_and_sparse():
    X, _ = noisy(0, n=30)
    X[3] = 0.0
    norms = np.linalg.norm(X, axis=1, keepdims=True)
    for form in (np.asarray, sp.csr_array):
        rows = [form(x) if form is np.asarray else form(x[None]) for x in X]
        for scale, expected in (("unit", X / np.where(norms > 0, norms, 1.0)), ("none", X)):
            found = seen_by_the_learner(rows, aw.Prepare(scale))
            np.testing.assert_allclose(found, np.column_stack([expected, np.ones(30)]), atol=1e-9)
            np.testing.assert_allclose(seen_by_the_learner(rows, aw.Prepare(scale, bias=False)), expected, atol=1e-9)


def test_sparse_standard_divides_by_the_root_mean_square_without_centring():
    rng = np.random.default_rng(1)
    X = np.where(rng.random((50, 6)) < 0.4, rng.standard_normal((50, 6)), 0.0)
    found = seen_by_the_learner([sp.csr_array(x[None]) for x in X], aw.Prepare("standard", clip=np.inf))
    for t in range(50):
        seen = X[: t + 1]
        ever = (seen != 0).any(axis=0)
        rms = np.sqrt((seen**2).mean(axis=0))
        expected = np.where(ever, X[t] / np.where(ever, rms, 1.0), 0.0) / np.sqrt(max(ever.sum(), 1))
        np.testing.assert_allclose(found[t, :6], expected, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@pytest.mark.parametrize("scale", ["auto", "standard", "unit", "none"])
@pytest.mark.parametrize("name", SAMPLER)
def test_one_by_one_all_at_once_and_resumed_give_the_same_bits(name, scale, form, tmp_path):
    X, y = noisy(3, n=200)
    whole = SAMPLER[name](aw.Prepare(scale), 5).run(form(X), y)
    sampler = SAMPLER[name](aw.Prepare(scale), 5)
    margins = []
    for i in range(100):
        x = X[i] if form is np.asarray else form(X[i : i + 1])
        ahead = sampler.margins(form(X[i : i + 1]), live=True)[0]
        ask = sampler.ask(x)
        assert ask.margin == ahead  # a live margin sees an instance as if it came next
        margins.append(ask.margin)
        if ask.query:
            sampler.tell(ask, y[i])
    np.testing.assert_array_equal(whole.margin[:100], margins)
    sampler.save(tmp_path / "m")
    rest = aw.Sampler.load(tmp_path / "m").run(form(X[100:]), y[100:])
    np.testing.assert_array_equal(whole.margin[100:], rest.margin)
    np.testing.assert_array_equal(whole.drift_weights[100:], rest.drift_weights)


def test_a_refused_first_instance_leaves_the_form_open():
    sampler = aw.Sampler(seed=1)
    with pytest.raises(aw.InputError):
        sampler.ask(sp.csr_array(np.array([[np.nan, 1.0, 2.0]])))
    assert sampler.ask(np.ones(3)).round == 0


def test_rows_with_unsorted_and_repeated_indices_are_prepared_like_sorted_ones():
    X, y = noisy(4, n=80)
    good = sp.csr_matrix(X)
    messy = good.copy()
    for i in range(40, 80):
        at = slice(messy.indptr[i], messy.indptr[i + 1])
        messy.indices[at], messy.data[at] = messy.indices[at][::-1].copy(), messy.data[at][::-1].copy()
    messy.has_sorted_indices = False
    a, b = (aw.Sampler(seed=1).run(M, y) for M in (good, messy))
    np.testing.assert_array_equal(a.margin, b.margin)


def test_many_tasks_prepare_together_what_they_would_prepare_alone():
    X, y = noisy(5, n=150)
    Y = np.column_stack([y, -y, np.roll(y, 1)])
    for name, build in SAMPLER.items():
        sampler = build(aw.Prepare("standard"), 3)
        first = sampler.run(X[:100], Y[:100])
        sampler.tasks[1].ask(X[0] + 1.0)  # from here on the second task has seen one more
        second = sampler.run(X[100:], Y[100:])
        for j in range(3):
            alone = build(aw.Prepare("standard"), 3 + j)
            expected = [alone.run(X[:100], Y[:100, j])]
            if j == 1:
                alone.ask(X[0] + 1.0)
            expected.append(alone.run(X[100:], Y[100:, j]))
            for found, wanted in zip((first[j], second[j]), expected, strict=True):
                np.testing.assert_array_equal(found.margin, wanted.margin, err_msg=name)


def test_raw_features_of_any_size_are_welcome():
    X, y = noisy(6, n=1500)
    sizes = 10.0 ** np.array([9, -9, 0, 4, -3, 40])
    plain, wild = (aw.Sampler(seed=1).run(X * s + 7.0 * s, y) for s in (np.ones(6), sizes))
    np.testing.assert_allclose(plain.margin, wild.margin, rtol=1e-5, atol=1e-7)
    assert plain.mistakes < 500


@pytest.mark.parametrize("size", [1e3, 1e6, 1e12])
def test_one_outlier_spoils_nothing(size):
    X, y = noisy(7, n=3000)
    spoiled = X.copy()
    spoiled[100] = size
    clean, found = (aw.Sampler(seed=1).run(rows, y).mistaken[200:].mean() for rows in (X, spoiled))
    assert found < clean + 0.03


def test_a_large_offset_is_not_taken_for_a_constant_and_a_constant_is_one():
    X, y = noisy(8, n=600)
    offset = 1e11 + np.round(X * 1024) / 1024  # exact in floating point
    parts = (aw.AutoLasec(), aw.BudgetRule(0.1, spread=False), None, aw.Prepare(), None, 1)
    plain, far = (aw.Sampler(*parts).run(rows, y) for rows in (np.round(X * 1024) / 1024, offset))
    np.testing.assert_allclose(plain.margin, far.margin, atol=1e-3)
    constant = np.column_stack([X, np.full(600, 0.1)])
    np.testing.assert_allclose(plain.margin, aw.Sampler(*parts).run(constant, y).margin, atol=1e-2)


@pytest.mark.parametrize(
    "bad", [{"scale": np.array([1.0, 2.0])}, {"scale": "big"}, {"bias": 1}, {"clip": 0}, {"clip": "2"}]
)
def test_bad_preparations_are_refused(bad):
    with pytest.raises(aw.InputError, match="Prepare: "):
        aw.Prepare(**bad)
