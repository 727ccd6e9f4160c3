"""The dual form: against the primal one, explicit features, and naive transcriptions with numpy solves."""

import copy
import math
import pickle
from itertools import combinations_with_replacement

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.weights.second_order_dual import packed_row
from tests.streams import STREAMS
from tests.table import ROWS, letters_of

pytestmark = pytest.mark.xdist_group("dual")

FORMS = [np.asarray, sp.csr_matrix]
ALWAYS, MARGIN = aw.Always(), aw.MarginRule(0.3)
LINEAR, GAUSSIAN = aw.Linear(), aw.Gaussian(0.4)

WITH_DUAL = {
    "perceptron": lambda **keys: aw.Perceptron(**keys),
    "shifting": lambda **keys: aw.ShiftingPerceptron(0.7, **keys),
    "modified": lambda **keys: aw.ModifiedPerceptron(**keys),
    "pa": lambda **keys: aw.PassiveAggressive(**keys),
    "pa-1": lambda **keys: aw.PassiveAggressive1(0.4, **keys),
    "pa-2": lambda **keys: aw.PassiveAggressive2(0.4, **keys),
    "second order": lambda **keys: aw.SecondOrderPerceptron(0.6, **keys),
    "lasec": lambda **keys: aw.Lasec(0.6, 30.0, **keys),
    "lasec, queried": lambda **keys: aw.Lasec(0.6, 30.0, "queried", **keys),
    "least squares": lambda **keys: aw.LeastSquares(0.6, **keys),
}


def run(learner, rule, X, y, **keys):
    return aw.Sampler(learner, rule, seed=3).run(X, y, **keys)


def gaussian(X, Z, gamma=0.4):
    return np.exp(-gamma * ((X[:, None, :] - Z[None, :, :]) ** 2).sum(axis=2))


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("rule", [ALWAYS, MARGIN], ids=repr)
@pytest.mark.parametrize("learner", WITH_DUAL)
def test_the_linear_kernel_equals_the_primal_learner(learner, rule, form):
    X, y = STREAMS["noisy"](1, n=1500)
    primal, dual = run(WITH_DUAL[learner](), rule, X, y), run(WITH_DUAL[learner](kernel=LINEAR), rule, form(X), y)
    np.testing.assert_allclose(dual.margin, primal.margin, atol=1e-7)
    np.testing.assert_array_equal(primal.queried, dual.queried)
    np.testing.assert_array_equal(primal.updated, dual.updated)
    assert primal.updates > 5 * X.shape[1]


def squared_features(X):
    """phi with phi(x).phi(z) = (x.z + 1)^2."""
    pairs = list(combinations_with_replacement(range(X.shape[1]), 2))
    products = [X[:, i] * X[:, j] * (1 if i == j else math.sqrt(2)) for i, j in pairs]
    return np.column_stack([np.ones(len(X)), math.sqrt(2) * X, *products])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("learner", WITH_DUAL)
def test_a_polynomial_kernel_equals_the_linear_learner_on_explicit_features(learner, form):
    X, y = STREAMS["drifting"](2, n=300, d=3)
    primal = run(WITH_DUAL[learner](), MARGIN, squared_features(X), y)
    dual = run(WITH_DUAL[learner](kernel=aw.Polynomial(2)), MARGIN, form(X), y)
    np.testing.assert_allclose(dual.margin, primal.margin, atol=1e-8, rtol=1e-8)
    np.testing.assert_array_equal(primal.queried, dual.queried)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("policy", "b"), [("mistake", 0.5), ("queried", 2.0)])
def test_the_gaussian_second_order_perceptron_equals_numpy_solves(policy, b, form):
    X, y = STREAMS["noisy"](3)
    sampler = aw.Sampler(aw.SecondOrderPerceptron(b, policy, kernel=GAUSSIAN), ALWAYS, seed=3)
    trace = sampler.run(form(X), y)
    kept, expected = [], []
    for t in range(len(y)):
        A = b * np.eye(len(kept)) + gaussian(X[kept], X[kept])
        kap = gaussian(X[kept], X[t : t + 1])[:, 0]
        solved = np.linalg.solve(A, kap)
        q = (1.0 - kap @ solved) / b
        p = (y[kept] @ solved) / (1.0 + q)
        expected.append(p)
        if policy == "queried" or (1 if p > 0 else -1) != y[t]:
            kept.append(t)
    np.testing.assert_allclose(trace.margin, expected, atol=1e-10)
    instances, coefficients = sampler.support
    np.testing.assert_allclose(
        coefficients, np.linalg.solve(b * np.eye(len(kept)) + gaussian(X[kept], X[kept]), y[kept])
    )
    np.testing.assert_array_equal(X[kept], instances.toarray() if sp.issparse(instances) else instances)


@pytest.mark.parametrize("form", FORMS)
def test_the_gaussian_perceptron_and_pa_equal_their_naive_sums(form):
    X, y = STREAMS["noisy"](4)
    K = gaussian(X, X)
    for learner, step in (
        (aw.Perceptron(kernel=GAUSSIAN), lambda p, label: float((1 if p > 0 else -1) != label)),
        (aw.PassiveAggressive1(0.3, kernel=GAUSSIAN), lambda p, label: min(0.3, max(0.0, 1 - label * p))),
    ):
        coef, expected = np.zeros(len(y)), []
        for t in range(len(y)):
            expected.append(coef @ K[t])
            coef[t] = step(expected[-1], y[t]) * y[t]
        np.testing.assert_allclose(run(learner, ALWAYS, form(X), y).margin, expected, atol=1e-12)


def full(state, held):
    G = np.zeros((held, held))
    for i in range(held):
        G[i, : i + 1] = G[: i + 1, i] = packed_row(state.G, i)
    return G


@pytest.mark.parametrize("evict", ["random", "oldest"])
@pytest.mark.parametrize("kernel", [LINEAR, GAUSSIAN], ids=repr)
@pytest.mark.parametrize("form", FORMS)
def test_eviction_leaves_exactly_the_learner_that_never_saw_the_instance(form, kernel, evict):
    X, y = STREAMS["noisy"](5, n=400)
    b, budget = 0.7, 25
    sampler = aw.Sampler(aw.LeastSquares(b, kernel=kernel, budget=budget, evict=evict), ALWAYS, seed=3)
    sampler.run(form(X), y)
    instances, coefficients = sampler.support
    instances = instances.toarray() if sp.issparse(instances) else instances
    rows = [int(np.flatnonzero((instance == X).all(axis=1))[0]) for instance in instances]
    assert len(set(rows)) == budget
    if evict == "oldest":
        assert sorted(rows) == list(range(len(y) - budget, len(y)))
    K = X[rows] @ X[rows].T if kernel is LINEAR else gaussian(X[rows], X[rows])
    inverse = np.linalg.inv(b * np.eye(budget) + K)
    np.testing.assert_allclose(full(sampler._engine.learner, budget), inverse / b, atol=1e-9)
    np.testing.assert_allclose(coefficients, inverse @ y[rows], atol=1e-9)
    fresh = aw.Sampler(aw.LeastSquares(b, kernel=kernel), ALWAYS, seed=3)
    fresh.run(form(X[rows]), y[rows])
    np.testing.assert_allclose(sampler.margins(form(X)), fresh.margins(form(X)), atol=1e-9)


def test_ten_thousand_updates_through_a_budget_keep_q_positive():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((10_000, 3))
    y = np.where(rng.random(10_000) < 0.5, 1.0, -1.0)
    for learner in (aw.LeastSquares(0.5, kernel=GAUSSIAN, budget=60), aw.Lasec(0.5, 50.0, "queried", GAUSSIAN, 60)):
        sampler = aw.Sampler(learner, ALWAYS, seed=3)
        assert sampler.run(X, y).updates == 10_000
        G = full(sampler._engine.learner, 60)
        assert np.linalg.eigvalsh(G).min() > 0
        K = gaussian(*[sampler.support[0]] * 2)
        Q = sampler._engine.learner.numbers[0] * K - K @ G @ K
        assert np.linalg.eigvalsh(Q).min() > -1e-9
        if isinstance(learner, aw.LeastSquares):
            np.testing.assert_allclose(G, np.linalg.inv(0.5 * np.eye(60) + K) / 0.5, atol=1e-7)


def test_a_linear_kernel_with_a_budget_is_the_randomized_budget_perceptron():
    X, y = STREAMS["noisy"](6)
    first = run(aw.BudgetPerceptron(6), MARGIN, X, y)
    second = run(aw.Perceptron(kernel=LINEAR, budget=6), MARGIN, X, y)
    np.testing.assert_array_equal(first.margin, second.margin)


def test_a_budget_keeps_memory_bounded():
    X, y = STREAMS["sparse"](0, n=3000)
    sampler = aw.Sampler(aw.PassiveAggressive(kernel=GAUSSIAN, budget=20), ALWAYS, seed=3)
    sampler.run(sp.csr_matrix(X), y)
    w = sampler._engine.learner.w
    assert len(w.coef) == 20
    assert len(w.store.data) < 20 * 12 * 4


@pytest.mark.parametrize("form", FORMS)
def test_a_kernel_of_the_users_own_does_the_same_and_is_given_again_to_load(form, tmp_path):
    X, y = STREAMS["noisy"](7)
    own = aw.Kernel(lambda s, X2, Z2: math.exp(-0.4 * (X2 + Z2 - 2.0 * s)))
    for learner in (aw.Perceptron, aw.LeastSquares) if form is np.asarray else (aw.Perceptron,):
        expected = run(learner(kernel=GAUSSIAN), MARGIN, form(X), y)
        sampler = aw.Sampler(learner(kernel=own), MARGIN, seed=3)
        trace = sampler.run(form(X[:100]), y[:100])
        np.testing.assert_allclose(trace.margin, expected.margin[:100], atol=1e-12)
        sampler.save(tmp_path / "model")
        with pytest.raises(aw.SnapshotError, match="must be given again as kernel="):
            aw.Sampler.load(tmp_path / "model")
        loaded = aw.Sampler.load(tmp_path / "model", kernel=own)
        rest = loaded.run(form(X[100:]), y[100:])
        np.testing.assert_allclose(rest.margin, expected.margin[100:], atol=1e-12)


def test_load_refuses_a_kernel_that_was_not_the_users_own(tmp_path):
    aw.Sampler(aw.Perceptron(kernel=GAUSSIAN), MARGIN).save(tmp_path / "model")
    assert aw.Sampler.load(tmp_path / "model").learner.kernel == GAUSSIAN
    with pytest.raises(aw.SnapshotError, match="saved with a custom kernel"):
        aw.Sampler.load(tmp_path / "model", kernel=aw.Kernel(lambda s, X2, Z2: s))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: aw.Gaussian(0.0), "Gaussian: gamma must be a positive finite number, got 0.0"),
        (lambda: aw.Gaussian(-1.0), "Gaussian: gamma"),
        (lambda: aw.Polynomial(0), "Polynomial: degree must be a whole number from 1 to"),
        (lambda: aw.Polynomial(1.5), "Polynomial: degree"),
        (lambda: aw.Polynomial(2, gamma=0), "Polynomial: gamma"),
        (lambda: aw.Polynomial(2, coef0=-1), "Polynomial: coef0"),
        (lambda: aw.Kernel(3), "Kernel: function must be callable"),
        (lambda: aw.Kernel(lambda s: s), "Kernel: function must compile"),
        (lambda: aw.Kernel(lambda s, X2, Z2: -s), "Kernel: function must be a Mercer kernel"),
        (lambda: aw.Perceptron(kernel=aw.Linear), "Perceptron: kernel must be None, Linear"),
        (lambda: aw.Perceptron(kernel="rbf"), "Perceptron: kernel must be None, Linear"),
        (lambda: aw.Perceptron(budget=5), "Perceptron: budget limits"),
        (lambda: aw.Perceptron(kernel=LINEAR, budget=0), "Perceptron: budget must be a whole number"),
        (lambda: aw.Perceptron(kernel=LINEAR, evict="newest"), "Perceptron: evict must be 'random' or 'oldest'"),
        (lambda: aw.Lasec(1.0, 2.0, kernel=LINEAR, form="primal"), "Lasec: form must be 'auto' or 'dual'"),
        (lambda: aw.Lasec(1.0, 2.0, form="both"), "Lasec: form must be"),
        (lambda: aw.Winnow(0.1, kernel=GAUSSIAN), "Winnow: kernel must be None, since its weights are not a sum"),
        (lambda: aw.PNormPerceptron(3, kernel=GAUSSIAN), "PNormPerceptron: kernel must be None"),
        (lambda: aw.paper("SEL-WINNOW", eta=1.0, b=1.0, kernel=GAUSSIAN), "paper: SEL-WINNOW: Winnow: kernel"),
    ],
)
def test_bad_kernels_and_budgets_are_refused_with_a_reason(make, message):
    with pytest.raises(aw.InputError) as error:
        make()
    assert str(error.value).startswith(message)


def test_a_kernel_value_that_overflows_is_refused_and_changes_nothing():
    sampler = aw.Sampler(aw.Perceptron(kernel=aw.Polynomial(40)), ALWAYS, seed=3)
    sampler.tell(sampler.ask([1.0, 2.0]), 1)
    before = sampler.ask([1.0, 1.0]).margin
    with pytest.raises(aw.InputError, match="is too large for"):
        sampler.ask([1e6, 1e6])
    assert sampler.ask([1.0, 1.0]).margin == before
    assert sampler.round == 3


def test_every_paper_with_a_dual_form_takes_a_kernel():
    X, y = STREAMS["noisy"](8, n=120)
    for name in aw.paper_names():
        if ROWS[name].starts_at_zero:  # Winnow's weights are products, not a sum of instances
            sampler = aw.paper(name, kernel=GAUSSIAN, seed=1, **letters_of(name))
            assert sampler.run(X, y).rounds == 120
            assert sampler.form == "dual"


def test_second_order_learners_choose_their_form_and_can_be_told():
    wide = sp.random(30, 3000, 0.01, random_state=0, format="csr")
    narrow = sp.csr_matrix(np.eye(3))
    y = np.where(np.arange(30) % 2, 1, -1)
    for learner in (aw.SecondOrderPerceptron, aw.LeastSquares, lambda **keys: aw.Lasec(1.0, 9.0, **keys)):
        forms = {}
        for form in ("auto", "primal", "dual"):
            for name, X in (("wide", wide), ("narrow", narrow), ("dense", wide.toarray())):
                sampler = aw.Sampler(learner(form=form), ALWAYS, seed=1)
                assert sampler.form == "unknown"
                margins = sampler.run(X, y[: X.shape[0]]).margin
                forms[form, name] = sampler.form
                if name == "wide":
                    forms[form, "margins"] = margins
        assert forms["auto", "wide"] == forms["dual", "narrow"] == forms["dual", "dense"] == "dual"
        assert forms["auto", "narrow"] == forms["auto", "dense"] == forms["primal", "wide"] == "primal"
        np.testing.assert_allclose(forms["primal", "margins"], forms["auto", "margins"], atol=1e-12)


def test_the_weights_of_a_curved_kernel_are_its_support():
    sampler = aw.Sampler(aw.Perceptron(kernel=GAUSSIAN), ALWAYS, seed=1)
    assert sampler.support[0].shape == (0, 0)
    sampler.tell(sampler.ask([1.0, 2.0]), 1)
    with pytest.raises(aw.InputError, match="has no weight vector; see support"):
        _ = sampler.weights
    instances, coefficients = sampler.support
    np.testing.assert_array_equal([[1.0, 2.0]], instances)
    np.testing.assert_array_equal([1.0], coefficients)
    primal = aw.Sampler(aw.Perceptron(), ALWAYS, seed=1)
    primal.ask([1.0, 2.0])
    assert primal.form == "primal"
    assert primal.support[0].shape == (0, 2)


def test_a_switch_detector_refuses_more_features_than_its_matrices_can_hold():
    sampler = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.5), aw.SwitchDetector())
    with pytest.raises(aw.InputError, match="at most 8192 features"):
        sampler.ask(sp.csr_matrix((1, 9000)))


def test_the_dual_form_refuses_what_would_cost_its_digits_where_the_primal_form_does_not():
    X, y = STREAMS["separable"](0, n=500, d=5)
    for b, refused in ((1e-3, False), (1e-5, False), (1e-7, True), (1e-10, True)):
        primal = aw.Sampler(aw.SecondOrderPerceptron(b), ALWAYS, seed=0).run(X, y)
        dual = aw.Sampler(aw.SecondOrderPerceptron(b, form="dual"), ALWAYS, seed=0)
        if refused:
            with pytest.raises(aw.InputError, match="too large for SecondOrderPerceptron"):
                dual.run(X, y)
        else:
            np.testing.assert_array_equal(primal.prediction, dual.run(X, y).prediction)


@pytest.mark.parametrize("form", ["primal", "dual"])
def test_a_late_label_for_an_instance_that_has_become_too_large_is_refused(form):
    sampler = aw.Sampler(aw.Lasec(1.0, 2.0, update="queried", form=form), ALWAYS, seed=0)
    ask = sampler.ask([0.0, 900.0 if form == "dual" else 9e5])
    for _ in range(50):
        sampler.tell(sampler.ask([1.0, 0.0]), 1)
    before = sampler.weights
    with pytest.raises(aw.InputError, match="tell: the instance of round 0, with a value of .*, is too large"):
        sampler.tell(ask, 1)
    np.testing.assert_array_equal(before, sampler.weights)
    assert sampler.pending == [ask]


def test_a_kernel_that_divides_by_zero_is_refused_for_that_instance():
    cosine = aw.Kernel(lambda s, X2, Z2: s / (X2**0.5 * Z2**0.5))
    sampler = aw.Sampler(aw.Perceptron(kernel=cosine), ALWAYS, seed=0)
    sampler.tell(sampler.ask([1.0, 0.0]), 1)
    with pytest.raises(aw.InputError, match="is too large for|would overflow"):
        sampler.ask([0.0, 0.0])
    assert sampler.ask([1.0, 1.0]).margin == pytest.approx(2**-0.5)
    twin = copy.deepcopy(sampler)
    assert twin.ask([1.0, 2.0]) == sampler.ask([1.0, 2.0])
    with pytest.raises(aw.InputError, match="save it, and load it with kernel= again"):
        pickle.dumps(sampler)


def test_the_modified_perceptron_survives_a_budget_that_drops_all_of_it():
    X, y = STREAMS["noisy"](0, n=1500)
    sampler = aw.Sampler(aw.ModifiedPerceptron(kernel=aw.Gaussian(0.5), budget=3), ALWAYS, seed=0)
    trace = sampler.run(X, y)
    assert np.abs(sampler.support[1]).max() > 0
    assert (trace.prediction[-500:] == 1).any()


def test_the_support_of_a_shrinking_learner_gives_its_margins():
    X, y = STREAMS["noisy"](3)
    sampler = aw.Sampler(aw.ShiftingPerceptron(2.0, kernel=aw.Polynomial(2)), aw.Always(), seed=1)
    sampler.run(X, y)
    instances, coefficients = sampler.support
    np.testing.assert_allclose(coefficients @ (instances @ X.T + 1.0) ** 2, sampler.margins(X), rtol=1e-9, atol=1e-9)
