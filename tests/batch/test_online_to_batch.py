"""Batch classifiers against brute force that keeps every hypothesis of a run."""

import copy
import itertools
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.learner import weights
from askwhen.snapshot import file_format
from tests.streams import drifting, sparse
from tests.table import ROWS

# Every kind of learner's state in one form at least; rules differ only in which labels are learnt.
CASES = [
    *((name, "dense") for name in ("SEL-P", "WINNOW", "PA-I", "SEL-2ND", "BBQ-SWITCH", "budget, gaussian")),
    *((name, "sparse") for name in ("SEL-P", "WINNOW", "PA-II", "p-norm", "modified, selective", "budget, selective")),
    *((name, "sparse") for name in ("LASEC-SS", "lasec, dual", "shifting, polynomial", "auto, linear, random")),
    *((name, "dense") for name in ("shifting, selective", "perceptron, linear kernel", "modified, gaussian, oldest")),
    *((name, "dense") for name in ("second order, gaussian", "least squares, gaussian, switch", "auto, margin, raw")),
    *((name, "dense") for name in ("auto, mistake, switch", "lasec, gaussian, budget, oldest", "PA-II-ACTIVE")),
]
N = 90


def sampler_of(name, seed=4):
    """A sampler of the table, with a preparation that sees the same instance alike in every round."""
    made = ROWS[name].build(seed)
    prepare = made.prepare if made.prepare is None or made.prepare.scale in ("none", "unit") else aw.Prepare("unit")
    return aw.Sampler(made.learner, made.rule, made.drift, prepare, made.audit, seed)


def data(form, seed=3, n=N):
    X, y = (sparse if form == "sparse" else drifting)(seed, n + 25)
    X = sp.csr_matrix(X) if form == "sparse" else X
    return X[:n], y[:n], X[n:]


def all_hypotheses(sampler, X, y, test):
    """The margins of every hypothesis, and its scores without the quadratic form."""
    sampler = copy.deepcopy(sampler)
    margins, scores = [], []
    for t in range(len(y) + 1):
        margins.append(sampler.margins(test))
        scores.append(score(sampler, test) if sampler.learner.has_uncertainty else margins[-1])
        if t < len(y):
            sampler.run(X[t : t + 1], y[t : t + 1])
    return np.array(margins), np.array(scores)


def score(sampler, test):
    """w.x of a second-order learner."""
    if sampler.round == 0:
        return np.zeros(test.shape[0])
    seen, kernel = prepared(sampler.prepare, dense(test)), sampler.learner.kernel
    if not isinstance(kernel, aw.Gaussian):
        return seen @ sampler.weights
    kept, coef = sampler.support
    return coef @ np.exp(-kernel.gamma * ((dense(kept)[:, None] - seen[None]) ** 2).sum(axis=2))


def dense(X):
    return X.toarray() if sp.issparse(X) else X


def prepared(prepare, X):
    if prepare is None:
        return X
    if prepare.scale == "unit":
        X = X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-300)
    return np.hstack([X, np.ones((len(X), 1))]) if prepare.bias else X


def assert_same_votes(found, margins):
    """Equal, but for instances that a hypothesis is undecided about up to rounding."""
    clear = np.abs(margins).min(axis=0, where=margins != 0.0, initial=1.0) > 1e-9
    assert clear.mean() > 0.5
    np.testing.assert_allclose(found[clear], np.where(margins > 0, 1, -1).mean(axis=0)[clear], atol=1e-12)


@pytest.mark.parametrize(("name", "form"), CASES)
def test_votes_and_averages_are_those_of_all_hypotheses(name, form, tmp_path):
    sampler = sampler_of(name)
    X, y, test = data(form)
    margins, scores = all_hypotheses(sampler, X, y, test)
    models = {how: aw.online_to_batch(sampler, X, y, how) for how in ("vote", "average", "last")}
    assert_same_votes(models["vote"].decision_function(test), margins)
    average = models["average"].decision_function(test)
    np.testing.assert_allclose(average, scores.mean(axis=0), rtol=1e-7, atol=1e-9)
    np.testing.assert_array_equal(models["last"].decision_function(test), margins[-1])
    assert sampler.round == 0
    for how, model in models.items():
        assert model.rounds == N
        assert 2 <= model.hypotheses <= N + 1 + N
        model.save(tmp_path / how)
        again = aw.BatchClassifier.load(tmp_path / how)
        np.testing.assert_array_equal(again.decision_function(test), model.decision_function(test))
        assert (repr(again), again.mistakes) == (repr(model), model.mistakes)


@pytest.mark.parametrize("name", ["SEL-P", "lasec, dual", "budget, gaussian", "auto, margin, raw"])
@pytest.mark.parametrize("how", ["vote", "average", "random", "last"])
def test_a_stream_in_chunks_gives_the_same_as_arrays(name, how):
    X, y, test = data("dense")
    whole = aw.online_to_batch(sampler_of(name), X, y, how, seed=1)
    chunks = ((X[a:b], y[a:b]) for a, b in itertools.pairwise([0, 1, 7, 50, N]))
    by_chunks = aw.online_to_batch(sampler_of(name), chunks, how=how, seed=1)
    assert by_chunks.rounds == N
    if how != "random":
        found = by_chunks.decision_function(test)
        np.testing.assert_allclose(found, whole.decision_function(test), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("name", ["SEL-P", "second order, gaussian"])
def test_a_run_goes_on_from_where_the_sampler_is(name):
    X, y, test = data("dense")
    sampler = sampler_of(name)
    sampler.run(X[:40], y[:40])
    margins, scores = all_hypotheses(sampler, X[40:], y[40:], test)
    assert_same_votes(aw.online_to_batch(sampler, X[40:], y[40:], "vote").decision_function(test), margins)
    average = aw.online_to_batch(sampler, X[40:], y[40:]).decision_function(test)
    np.testing.assert_allclose(average, scores.mean(axis=0), rtol=1e-7, atol=1e-9)
    assert sampler.round == 40


def test_long_logs_are_taken_in_parts(monkeypatch):
    from askwhen.batch import replay

    monkeypatch.setattr(replay, "_ENTRIES", 8)
    for name in ("SEL-P", "lasec, dual"):
        X, y, test = data("sparse")
        margins, scores = all_hypotheses(sampler_of(name), X, y, test)
        assert_same_votes(aw.online_to_batch(sampler_of(name), X, y, "vote").decision_function(test), margins)
        average = aw.online_to_batch(sampler_of(name), X, y).decision_function(test)
        np.testing.assert_allclose(average, scores.mean(axis=0), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("name", ["SEL-P", "perceptron, gaussian", "LASEC-SS", "second order, gaussian"])
def test_a_vote_stores_what_changed_and_no_more(name):
    X, y, _ = data("sparse")
    d, trace = X.shape[1], sampler_of(name).run(X, y)
    k, nnz = trace.updates, int(X[np.flatnonzero(trace.updated)].getnnz())
    expected = {
        "SEL-P": d + nnz,  # the first hypothesis, then the entries of each instance
        "perceptron, gaussian": k,
        "LASEC-SS": (k + 1) * d,
        "second order, gaussian": k * (k + 1) // 2,
    }
    assert aw.online_to_batch(sampler_of(name), X, y, "vote")._model._rows.size == expected[name]


def test_a_stream_is_never_held_in_memory():
    def chunks(count):
        rng = np.random.default_rng(1)
        for _ in range(count):
            X = rng.standard_normal((2000, 20))
            yield X, np.where(X[:, 0] > 0, 1.0, -1.0)

    def peak(how, count):
        tracemalloc.start()
        aw.online_to_batch(sampler_of("SEL-P"), chunks(count), how=how)
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    for how in ("average", "random", "last"):
        peak(how, 1)  # what is allocated only once
        assert peak(how, 40) < 1.5 * peak(how, 4)


def test_a_shrunk_scale_does_not_lose_the_past():
    X, y, test = data("sparse", n=400)
    sampler = aw.Sampler(aw.ShiftingPerceptron(50.0), aw.Always(), seed=1)
    margins, scores = all_hypotheses(sampler, X, y, test)
    assert_same_votes(aw.online_to_batch(sampler, X, y, "vote").decision_function(test), margins)
    np.testing.assert_allclose(
        aw.online_to_batch(sampler, X, y).decision_function(test), scores.mean(axis=0), rtol=1e-7
    )


def test_messy_rows_are_learnt_as_their_clean_selves():
    X, y, test = data("sparse")
    messy = X.copy()
    for i in range(messy.shape[0]):
        here = slice(messy.indptr[i], messy.indptr[i + 1])
        messy.indices[here], messy.data[here] = messy.indices[here][::-1], messy.data[here][::-1]
    messy.has_sorted_indices = messy.has_canonical_format = False
    for how in ("vote", "average"):
        clean = aw.online_to_batch(sampler_of("SEL-P"), X, y, how).decision_function(test)
        np.testing.assert_array_equal(
            aw.online_to_batch(sampler_of("SEL-P"), messy, y, how).decision_function(test), clean
        )


def test_further_passes_are_shuffled_by_the_seed():
    X, y, test = data("dense")
    sampler = sampler_of("SEL-P")
    found = [aw.online_to_batch(sampler, X, y, passes=3, seed=s).decision_function(test) for s in (1, 1, 2)]
    np.testing.assert_array_equal(found[0], found[1])
    assert not np.array_equal(found[0], found[2])
    assert aw.online_to_batch(sampler, X, y, passes=3).rounds == 3 * N
    assert aw.online_to_batch(sampler, [(X, y)], passes=2).rounds == 2 * N


def test_a_random_pick_is_a_hypothesis_and_every_one_is_as_likely():
    X, y, test = data("dense", n=9)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), prepare=aw.Prepare(), seed=2)
    margins, _ = all_hypotheses(sampler, X, y, test)  # with a preparation of its own in every round
    counts = np.zeros(10)
    for seed in range(1000):
        model = aw.online_to_batch(sampler, X, y, "random", seed=seed)
        t = model._model.sampler.round
        np.testing.assert_array_equal(model.decision_function(test), margins[t])
        counts[t] += 1
    assert (np.abs(counts - 100) < 5 * np.sqrt(100)).all(), counts


@pytest.mark.parametrize("learner", [aw.Perceptron(), aw.Winnow(0.5), aw.SecondOrderPerceptron(1.0)])
def test_theorem_1_of_004_exactly_on_a_finite_distribution(learner):
    """The expected error of the random pick is the expected number of mistakes on n + 1 examples over n + 1."""
    atoms = np.array([[1.0, 0.2], [0.3, -1.0], [-0.6, 0.5]])
    labels, chances, n = np.array([1.0, -1.0, 1.0]), np.array([0.5, 0.3, 0.2]), 3
    error = mistakes = 0.0
    for path in itertools.product(range(3), repeat=n + 1):
        path = list(path)
        chance = chances[path].prod()
        sampler = aw.Sampler(learner, aw.Always(), seed=0)
        mistakes += chance * sampler.run(atoms[path], labels[path]).mistakes
    for path in itertools.product(range(3), repeat=n):
        path = list(path)
        chance, sampler = chances[path].prod(), aw.Sampler(learner, aw.Always(), seed=0)
        margins, _ = all_hypotheses(sampler, atoms[path], labels[path], atoms)
        wrong = np.where(margins > 0, 1.0, -1.0) != labels
        error += chance * (wrong @ chances).mean()  # over the pick T and a fresh example
    assert error == pytest.approx(mistakes / (n + 1), rel=1e-12)


def test_theorem_1_of_004_for_the_picks_themselves():
    rng = np.random.default_rng(5)
    atoms = np.array([[1.0, 0.2], [0.3, -1.0], [-0.6, 0.5], [0.9, 0.8]])
    labels, n, runs = np.array([1.0, -1.0, 1.0, -1.0]), 12, 700
    errors, mistakes = [], []
    for run in range(runs):
        path = rng.integers(4, size=n + 1)
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=run)
        model = aw.online_to_batch(sampler, atoms[path[:n]], labels[path[:n]], "random")
        errors.append((model.predict(atoms) != labels).mean())
        mistakes.append(sampler.run(atoms[path], labels[path]).mistakes / (n + 1))
    spread = np.hypot(np.std(errors), np.std(mistakes)) / np.sqrt(runs)
    assert abs(np.mean(errors) - np.mean(mistakes)) < 4 * spread


def test_the_vote_errs_at_most_twice_as_often_as_the_pick():
    X, y, test = data("dense")
    truth = np.where(test[:, 0] > 0, 1.0, -1.0)
    margins, _ = all_hypotheses(sampler_of("SEL-P"), X, y, test)
    pick = (np.where(margins > 0, 1.0, -1.0) != truth).mean()
    vote = (aw.online_to_batch(sampler_of("SEL-P"), X, y, "vote").predict(test) != truth).mean()
    assert vote <= 2 * pick


def test_scikit_learn_takes_it_as_a_fitted_classifier():
    base = pytest.importorskip("sklearn.base")
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator
    from sklearn.metrics import get_scorer
    from sklearn.utils.validation import check_is_fitted

    X, y, test = data("dense")
    model = aw.online_to_batch(sampler_of("SEL-P"), X, y)
    check_is_fitted(model)
    assert base.is_classifier(model)
    assert base.clone(model) is model
    assert model.set_params(**model.get_params()) is model
    assert get_scorer("roc_auc")(model, X, y) > 0.5
    assert get_scorer("accuracy")(model, X, y) == model.score(X, y)
    calibrated = CalibratedClassifierCV(FrozenEstimator(model)).fit(X, y)
    assert calibrated.predict_proba(test).shape == (25, 2)


def test_own_kernels_come_back_with_their_code(tmp_path):
    X, y, test = data("dense")
    kernel = aw.Kernel(lambda s, X2, Z2: (1.0 + s) ** 2)
    sampler = aw.Sampler(aw.Perceptron(kernel=kernel), aw.Always(), seed=1)
    same = aw.Sampler(aw.Perceptron(kernel=aw.Polynomial(2)), aw.Always(), seed=1)
    for how in ("average", "vote"):
        model = aw.online_to_batch(sampler, X, y, how)
        found = model.decision_function(test)
        expected = aw.online_to_batch(same, X, y, how).decision_function(test)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12)
        model.save(tmp_path / how)
        for given in (None, aw.Gaussian(1.0)):
            with pytest.raises(aw.SnapshotError, match="given again as kernel="):
                aw.BatchClassifier.load(tmp_path / how, kernel=given)
        again = aw.BatchClassifier.load(tmp_path / how, kernel=kernel)
        np.testing.assert_array_equal(again.decision_function(test), found)


def test_a_vote_is_the_same_from_many_threads():
    X, y, _ = data("dense")
    test = np.random.default_rng(0).standard_normal((3000, 6))  # long enough for threads to meet
    model = aw.online_to_batch(sampler_of("budget, gaussian"), X, y, "vote")
    expected = model.decision_function(test)
    with ThreadPoolExecutor(4) as pool:
        for found in pool.map(lambda _: model.decision_function(test), range(40)):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", ["SEL-P", "auto, linear, random"])
def test_a_file_whose_arrays_contradict_each_other_is_refused(name, tmp_path):
    X, y, _ = data("sparse")
    aw.online_to_batch(sampler_of(name), X, y, "vote").save(tmp_path / "model")
    header, arrays = file_format.read(tmp_path / "model")
    for broken in [key for key in arrays if key.startswith("vote.")]:
        file_format.write(tmp_path / "broken", header, arrays | {broken: arrays[broken][:-1]})
        with pytest.raises(aw.SnapshotError, match="^load: "):
            aw.BatchClassifier.load(tmp_path / "broken")


def test_bad_input_is_refused_in_one_sentence(tmp_path):
    X, y, test = data("dense")
    sampler = sampler_of("SEL-P")

    def refused(match, *args, error=aw.InputError, **settings):
        with pytest.raises(error, match=match):
            aw.online_to_batch(*args, **settings)

    refused("sampler must be a Sampler, got Perceptron", aw.Perceptron(), X, y)
    refused("how must be 'average' or 'vote'", sampler, X, y, "mean")
    for seed in (-1, 1.5, "a", True):
        refused("seed must be a whole number of at least 0", sampler, X, y, seed=seed)
    refused("y must be labels, got 'vote'; give other arguments by name", sampler, [(X, y)], "vote")
    refused("got 1 parts", sampler, [(X,)])
    refused("passes must be a whole number", sampler, X, y, passes=0)
    refused("needs a classifier", aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.5)), X, y)
    refused("y must be given", sampler, X)
    refused("holds no chunk", sampler, [])
    refused("every chunk must be", sampler, [X])
    refused("a generator can be read only once", sampler, ((X, y) for _ in range(1)), passes=2)
    refused("6 features as before, got 5", sampler, [(X, y), (X[:, :5], y)])
    refused("row 3 of X", sampler, np.where(np.arange(N)[:, None] == 3, np.nan, X), y, "vote")
    refused("times must be given", aw.Sampler(rule=aw.BudgetRule(per=60, count=5)), X, y)
    tasks = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    tasks.run(X, np.column_stack([y, -y]))
    refused("has tasks", tasks, X, y)
    for how in ("average", "vote"):
        model = aw.online_to_batch(sampler, X, y, how)
        with pytest.raises(aw.InputError, match="row 1 of X must hold finite numbers"):
            model.predict(np.where(np.arange(25)[:, None] == 1, np.inf, test))
        with pytest.raises(aw.InputError, match="6 columns as before, got 2"):
            model.predict(test[:, :2])
        for labels in (y[:25, None], [1], y[:7]):
            with pytest.raises(aw.InputError, match="score: y must"):
                model.score(test, labels)
    sampler.save(tmp_path / "sampler")
    with pytest.raises(aw.SnapshotError, match="use Sampler.load"):
        aw.BatchClassifier.load(tmp_path / "sampler")
    model.save(tmp_path / "model")
    with pytest.raises(aw.SnapshotError, match="use BatchClassifier.load"):
        aw.Sampler.load(tmp_path / "model")


def three_classes(n=400, seed=0):
    rng = np.random.default_rng([seed, 3])
    X = rng.standard_normal((n, 4))
    return X, np.array(["ant", "bee", "cat"])[(X[:, :3] + 0.3 * rng.standard_normal((n, 3))).argmax(axis=1)]


@pytest.mark.parametrize("learner", [aw.Perceptron(), aw.LeastSquares(), aw.Lasec(1.0, 50.0), None], ids=str)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_hypotheses_of_several_classes(learner, form, tmp_path):
    """Against the same rounds one by one: the average of all weights, and the votes of all hypotheses."""
    X, y = three_classes()
    made = aw.Sampler(learner, aw.FixedRate(0.4), seed=5, classes=["ant", "bee", "cat"])
    live = copy.deepcopy(made)
    fresh = aw.Sampler(learner, aw.FixedRate(0.4), seed=5, classes=["ant", "bee", "cat"])
    told = []
    for i, label in enumerate(y):
        ask = live.ask(form(X)[i])
        if ask.query:
            live.tell(ask, label)
        told.append(copy.deepcopy(live.engine.learner))
    found = {how: aw.online_to_batch(made, form(X), y, how) for how in ("average", "vote", "random", "last")}
    assert made.round == 0
    np.testing.assert_array_equal(found["last"].decision_function(form(X)), live.margins(form(X)))
    votes, total = np.zeros((400, 3)), 0.0
    fresh.engine.begin("test", "X", 4, form is sp.csr_matrix)
    first = copy.deepcopy(fresh.engine.learner)
    for state in [first, *told]:
        probe = copy.deepcopy(live)
        probe.engine.learner = copy.deepcopy(state)
        votes[np.arange(400), probe.margins(form(X)).argmax(axis=1)] += 1 / 401
        total = total + weights(state) / 401
    if learner is not None:  # what labels told of late fades from round to round, which is not learnt again
        np.testing.assert_allclose(found["vote"].decision_function(form(X)), votes, atol=1e-9)
    np.testing.assert_allclose(found["average"]._model._W, total, atol=1e-9)
    for how, model in found.items():
        assert model.score(form(X), y) > (0.3 if how == "random" else 0.6)
        assert model.classes_.tolist() == ["ant", "bee", "cat"]
        model.save(tmp_path / how)
        again = aw.BatchClassifier.load(tmp_path / how)
        np.testing.assert_array_equal(again.decision_function(form(X)), model.decision_function(form(X)))
        assert set(again.predict(form(X))) <= {"ant", "bee", "cat"}


def test_classes_that_appear_have_no_hypotheses_to_combine():
    X, y = three_classes(50)
    with pytest.raises(aw.InputError, match="since its classes are open"):
        aw.online_to_batch(aw.Sampler(seed=1, classes="open"), X, y)
    model = aw.online_to_batch(aw.Sampler(seed=1, classes=["ant", "dog"]), X, np.where(y == "ant", "ant", "dog"))
    with pytest.raises(aw.InputError, match="got 'bee'"):
        model.score(X, y)
