"""Instances of several kinds: the default as its naive form says, and what a model says that nobody gives labels."""

import itertools

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import MixedRows, kinds_of
from tests.reference.kinds import MixtureOfKinds

KINDS = {
    "numbers, vector, words": aw.Kinds(3, (12,), 500),
    "vectors, words": aw.Kinds(0, (8, 4), 500),
    "numbers, words": aw.Kinds(3, (), 500),
    "numbers, vector": aw.Kinds(3, (12,)),
    "vector": aw.Kinds(0, (12,)),
}


def mixed(kinds, n=120, seed=0):
    """Instances of these kinds, whose labels depend on every kind that there is."""
    rng = np.random.default_rng(seed)
    parts = [
        10.0 + 3.0 * rng.standard_normal((n, kinds.numbers)),
        rng.standard_normal((n, sum(kinds.vectors))),
        sp.random(n, kinds.words, 0.03, random_state=seed).toarray(),
    ]
    score = sum(part @ rng.standard_normal(part.shape[1]) for part in parts if part.shape[1])
    X = MixedRows.of(sp.csr_matrix(np.hstack(parts)), kinds)
    return X, np.where(score > np.median(score), 1.0, -1.0), parts


def split(kinds, vector):
    ends = [0, *np.cumsum(kinds.vectors).tolist()]
    return [vector[a:b] for a, b in itertools.pairwise(ends)]


def ask_all(X, y, **made):
    sampler = aw.Sampler(rule=aw.Always(), seed=3, **made)
    return sampler, sampler.run(X, y)


@pytest.mark.parametrize("name", KINDS)
def test_margins_and_weights_are_those_of_the_naive_form(name):
    kinds = KINDS[name]
    X, y, (numbers, vectors, words) = mixed(kinds)
    sampler = aw.Sampler(rule=aw.Always(), seed=3, kinds=kinds)
    sampler.engine.begin("ask", "x", kinds.d, True)
    views = sampler.engine.prepare
    reference = MixtureOfKinds(views.waves.copy(), views.counts[1], kinds.numbers, kinds.vectors, kinds.words)
    trace = sampler.run(X[:100], y[:100])
    for i in range(100):
        np.testing.assert_allclose(trace.drift_weights[i], reference.mix, rtol=2e-3, atol=2e-5)
        x = numbers[i], split(kinds, vectors[i]), words[i]
        assert abs(trace.margin[i] - reference.margin(*x)) < 1e-4  # matrices are in single precision
        reference.tell(y[i])
    np.testing.assert_allclose(sampler.engine.learner.lasting, reference.lasting, rtol=2e-3, atol=2e-5)
    if kinds.numbers:  # the naive form sees every instance as the next one
        last = numbers[100], split(kinds, vectors[100]), words[100]
        assert abs(sampler.margins(X[100])[0] - reference.lasting_margin(*last)) < 1e-4
    else:
        for i in range(100, 120):
            last = numbers[i], split(kinds, vectors[i]), words[i]
            assert abs(sampler.margins(X[i])[0] - reference.lasting_margin(*last)) < 1e-4


@pytest.mark.parametrize("target", ["two labels", "classes", "open", "numbers"])
@pytest.mark.parametrize("name", KINDS)
def test_ask_tell_run_and_snapshots_give_the_same_bits(name, target, tmp_path):
    X, y, _ = mixed(KINDS[name], n=150)
    y = {"numbers": y + 0.1 * np.arange(150), "two labels": y}.get(
        target, np.where(np.arange(150) % 3, y, 7).astype(int)
    )
    made = {"classes": {"classes": [-1, 1, 7]}, "open": {"classes": "open"}, "numbers": {"regression": True}}
    rule = aw.BudgetRule(0.3, by="uncertainty" if target == "numbers" else "margin")
    whole = aw.Sampler(rule=rule, seed=5, **made.get(target, {}))
    trace = whole.run(X, y)
    live = aw.Sampler(rule=rule, seed=5, **made.get(target, {}))
    for i in range(150):
        if i == 70:
            live.save(tmp_path / "half")
            live = aw.Sampler.load(tmp_path / "half")
        ask = live.ask(X[i] if i else MixedRows.of(X[i], X.kinds))
        assert (ask.margin, ask.probability, ask.query) == (trace.margin[i], trace.probability[i], trace.queried[i])
        if ask.query:
            live.tell(ask, y[i])
    np.testing.assert_array_equal(live.margins(X), whole.margins(X))
    np.testing.assert_array_equal(live.margins(X, live=True), whole.margins(X, live=True))


@pytest.mark.parametrize("name", KINDS)
def test_two_classes_are_two_labels(name):
    X, y, _ = mixed(KINDS[name])
    _, two = ask_all(X, y)
    _, several = ask_all(X, np.where(y > 0, "b", "a"), classes=["a", "b"])
    np.testing.assert_allclose(several.margin, np.abs(two.margin), rtol=1e-6, atol=1e-9)
    np.testing.assert_array_equal(several.mistaken, two.mistaken)


def test_rows_of_one_kind_are_learnt_as_plain_ones():
    X, y, _ = mixed(aw.Kinds(0, (), 500))
    np.testing.assert_array_equal(ask_all(X, y)[1].margin, ask_all(sp.csr_matrix(X), y)[1].margin)
    X, y, (numbers, _, _) = mixed(aw.Kinds(4))
    np.testing.assert_array_equal(ask_all(X, y)[1].margin, ask_all(numbers, y)[1].margin)


def test_kinds_may_be_said_by_the_rows_or_by_the_sampler():
    kinds = KINDS["numbers, vector, words"]
    X, y, parts = mixed(kinds)
    _, known = ask_all(X, y)
    for plain in (sp.csr_matrix(X), np.hstack(parts)):
        np.testing.assert_array_equal(ask_all(plain, y, kinds=kinds)[1].margin, known.margin)


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_scale_of_a_number_beside_words_does_not_matter(scale):
    """A price beside a text once destroyed what was learnt from the text: both were scaled together."""
    kinds = aw.Kinds(1, (), 300)
    rng = np.random.default_rng(2)
    words = sp.random(3000, 300, 0.04, format="csr", random_state=1)
    y = np.where(words @ rng.standard_normal(300) > 0, 1.0, -1.0)
    price = scale * np.exp(rng.standard_normal((3000, 1)))
    X = MixedRows.of(sp.hstack([sp.csr_matrix(price), words], "csr"), kinds)
    beside = aw.Sampler(rule=aw.BudgetRule(0.2), seed=1).run(X, y).mistakes
    alone = aw.Sampler(rule=aw.BudgetRule(0.2), seed=1).run(words, y).mistakes
    assert beside < 1.1 * alone


def test_a_model_without_labels_does_not_follow_the_last_ones():
    """After a long run of one label, a model that only predicts still tells both labels apart."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.where(np.arange(40) % 2, 1.0, -1.0), 100)
    X = np.c_[y + 0.7 * rng.standard_normal(4000), rng.standard_normal((4000, 3))]
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=2)
    sampler.run(X, y)
    labels = np.where(rng.random(1000) < 0.5, 1.0, -1.0)
    test = np.c_[labels + 0.7 * rng.standard_normal(1000), rng.standard_normal((1000, 3))]
    lasting = np.mean(sampler.predict(test) == labels)
    assert lasting > 0.9  # the best there is has 92.3 %
    assert np.mean(sampler.predict(test, live=True) == labels) < lasting - 0.1
    earlier = aw.Sampler(aw.Mixture(version=1), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=2)
    earlier.run(X, y)
    np.testing.assert_array_equal(earlier.predict(test), earlier.predict(test, live=True))


@pytest.mark.parametrize("kinds", [None, aw.Kinds(4, (), 20)])
def test_a_value_that_never_came_before_does_not_hide_the_others(kinds):
    """A new category, or the first missing number, at prediction: once it made a model predict one label for all."""
    rng = np.random.default_rng(0)
    X = np.hstack([rng.standard_normal((2000, 3)), np.zeros((2000, 1)), rng.integers(0, 2, (2000, 20))])
    X = X if kinds else X[:, :4]
    y = np.where(X[:, 0] + X[:, 1] > 0, 1, -1)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=1, kinds=kinds)
    sampler.run(X, y)
    usual = sampler.predict(X)
    X[:, 3] = 1.0
    np.testing.assert_array_equal(sampler.predict(X), usual)
    assert (usual == y).mean() > 0.9


@pytest.mark.parametrize("kinds", [(3,), (-1, (), 5), (0, (0,), 5), (1.5, (), 2), (0, (), 0), "words"])
def test_impossible_kinds_are_refused(kinds):
    with pytest.raises(aw.InputError, match=r"kinds must be Kinds\(numbers, vectors, words\)"):
        aw.Sampler(kinds=kinds)
    with pytest.raises(aw.InputError, match="default learner"):
        aw.Sampler(aw.Perceptron(), kinds=aw.Kinds(1, (), 2))


def test_rows_of_another_width_are_refused_and_change_nothing():
    kinds = KINDS["numbers, words"]
    X, y, _ = mixed(kinds)
    sampler = aw.Sampler(seed=1, kinds=kinds)
    with pytest.raises(aw.InputError, match="must have 503 features, got 502"):
        sampler.run(X[:, :502], y)
    assert sampler.run(X, y).rounds == 120
    other = aw.Sampler(seed=1)
    with pytest.raises(aw.InputError, match="finite"):
        other.run(MixedRows.of(X * np.inf, kinds), y)
    assert other.run(np.ones((2, 4)), [1, -1]).rounds == 2  # the refused rows have not decided on the kinds


def test_a_vector_that_is_zero_has_no_direction_and_one_with_nan_is_refused():
    kinds = KINDS["numbers, vector"]
    _, y, parts = mixed(kinds)
    parts[1][10] = 0.0
    _, trace = ask_all(np.hstack(parts), y, kinds=kinds)
    assert np.isfinite(trace.margin).all()
    parts[1][11, 3] = np.nan
    with pytest.raises(aw.InputError, match="row 11 of X must hold finite numbers"):
        ask_all(np.hstack(parts), y, kinds=kinds)


def test_rows_and_copies_know_their_kinds():
    X, _, _ = mixed(KINDS["vector"])
    for part in (X[3], X[3:5], X[[1, 2]], X.copy()):
        assert kinds_of(part) == KINDS["vector"]
    assert kinds_of(X[:, :5]) is None
    assert kinds_of(sp.csr_matrix(X)) is None


def test_wide_dense_instances_are_learnt_by_their_direction():
    rng = np.random.default_rng(4)
    centres = rng.standard_normal((2, 600))
    y = np.where(rng.random(1500) < 0.5, 1.0, -1.0)
    X = centres[(y > 0).astype(int)] + 6.0 * rng.standard_normal((1500, 600))
    X *= np.exp(rng.standard_normal(1500))[:, None]  # only directions tell the classes apart
    wide = aw.Sampler(rule=aw.BudgetRule(0.1), seed=1)
    mistakes = wide.run(X, y).mistaken[500:].mean()
    earlier = aw.Sampler(aw.Mixture(version=1), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=1).run(X, y)
    assert any(name.startswith("direction") for name in wide.experts)
    assert mistakes < earlier.mistaken[500:].mean()
