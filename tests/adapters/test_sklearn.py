"""scikit-learn's own checks, and what a simulation may look at."""

import numpy as np
import pytest
from sklearn.calibration import calibration_curve
from sklearn.exceptions import NotFittedError
from sklearn.metrics import brier_score_loss, roc_auc_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import askwhen as aw
from tests.streams import noisy
from tests.table import ROWS

pytestmark = pytest.mark.xdist_group(ROWS["default"].group)  # most of what they compile is the default's


@parametrize_with_checks(
    [
        aw.SelectiveClassifier(random_state=0),
        aw.SelectiveClassifier(aw.Perceptron(), aw.Always()),
        aw.SelectiveRegressor(random_state=0),
        aw.OnlineToBatchClassifier(random_state=0),
        aw.OnlineToBatchClassifier(aw.Perceptron(), aw.Always(), how="vote", passes=2, random_state=0),
    ]
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learn_accepts_it(estimator, check):
    check(estimator)


def test_it_is_the_default_sampler_in_other_words():
    X, y = noisy(0, n=400)
    names = np.where(y > 0, "yes", "no")
    model = aw.SelectiveClassifier(random_state=3).fit(X, names)
    sampler = aw.Sampler(seed=3)
    np.testing.assert_array_equal(sampler.run(X, y).margin, model.trace_.margin)
    np.testing.assert_array_equal(np.where(sampler.predict(X) > 0, "yes", "no"), model.predict(X))
    assert model.sampler_.rule == aw.BudgetRule(0.1)
    assert model.sampler_.prepare == aw.Prepare()


def test_partial_fit_goes_on_and_looks_only_at_asked_labels():
    X, y = noisy(1, n=600)
    whole = aw.SelectiveClassifier(random_state=3).fit(X, y)
    parts = aw.SelectiveClassifier(random_state=3).partial_fit(X[:200], y[:200], classes=[-1, 1])
    parts.partial_fit(X[200:], y[200:])
    np.testing.assert_array_equal(whole.decision_function(X), parts.decision_function(X))
    lies = np.where(whole.trace_.queried, y, -y)
    blind = aw.SelectiveClassifier(random_state=3).fit(X, lies)
    np.testing.assert_array_equal(whole.decision_function(X), blind.decision_function(X))
    with pytest.raises(ValueError, match="y must hold the classes"):
        parts.partial_fit(X[:1], [7])
    with pytest.raises(ValueError, match="classes must stay"):
        parts.partial_fit(X[:1], y[:1], classes=[7, 8])


def three_classes(n=600, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.array(["ant", "bee", "cat"])[X[:, :3].argmax(axis=1)]


def test_several_classes_share_their_questions():
    X, y = three_classes(2000)
    model = aw.SelectiveClassifier(random_state=3).fit(X, y)
    assert model.sampler_.classes == ["ant", "bee", "cat"]
    one_each = aw.SelectiveClassifier(aw.Perceptron(), random_state=3).fit(X, y)
    assert isinstance(one_each.sampler_.learner, aw.Perceptron)
    assert model.classes_.tolist() == ["ant", "bee", "cat"]
    assert model.decision_function(X).shape == (2000, 3)
    assert model.sampler_.questions < 250
    assert model.score(X, y) > 0.75
    parts = aw.SelectiveClassifier(random_state=3).partial_fit(X[:50], y[:50], classes=["cat", "bee", "ant"])
    parts.partial_fit(X[50:], y[50:])
    np.testing.assert_array_equal(parts.decision_function(X), model.decision_function(X))
    lies = np.where(model.trace_.queried, y, "ant")
    np.testing.assert_array_equal(
        aw.SelectiveClassifier(random_state=3).partial_fit(X, lies, classes=model.classes_).predict(X), model.predict(X)
    )
    with pytest.raises(ValueError, match="drift detector for two classes only"):
        aw.SelectiveClassifier(aw.LeastSquares(), aw.BBQRule(0.5), aw.SwitchDetector()).fit(X, y)


@pytest.mark.parametrize("labels", [[False, True], [3, 7], ["no", "yes"]])
def test_labels_of_any_kind(labels):
    X, y = noisy(0, n=300)
    y = np.array(labels)[(y > 0).astype(int)]
    for model in (aw.SelectiveClassifier(random_state=1), aw.OnlineToBatchClassifier(random_state=1)):
        found = model.fit(X, y).predict(X)
        assert found.dtype == y.dtype
        assert set(found.tolist()) <= set(labels)


def test_several_labels_are_tasks_with_questions_of_their_own():
    import scipy.sparse as sp

    X, y = noisy(0, n=800)
    Y = np.column_stack([y > 0, X[:, 0] > 0, X[:, 1] > 0]).astype(int)
    model = aw.SelectiveClassifier(random_state=3).fit(X, Y)
    sampler = aw.Sampler(seed=3)
    traces = sampler.run(X, np.where(Y > 0, 1, -1))
    assert [trace.questions for trace in model.trace_] == [trace.questions for trace in traces]
    assert model.predict(X).shape == (800, 3)
    assert set(model.predict(X).ravel().tolist()) == {0, 1}
    sparse = aw.SelectiveClassifier(random_state=3).fit(X, sp.csr_matrix(Y))
    np.testing.assert_array_equal(sparse.predict(X), model.predict(X))
    signed = aw.SelectiveClassifier(random_state=3).fit(X, np.where(Y > 0, 1, -1))
    np.testing.assert_array_equal(signed.predict(X), np.where(model.predict(X) > 0, 1, -1))
    assert signed.score(X, np.where(Y > 0, 1, -1)) == model.score(X, Y) > 0.5
    with pytest.raises(ValueError, match="3 columns as before"):
        model.partial_fit(X, Y[:, :2])
    with pytest.raises(ValueError, match="y must hold the values"):
        model.partial_fit(X, Y + 1)
    with pytest.raises(ValueError, match="y must be a matrix of labels as before"):
        model.partial_fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="y must be a vector of labels as before"):
        aw.SelectiveClassifier(random_state=3).fit(X, Y[:, 0]).partial_fit(X, Y)


def test_a_refused_fit_leaves_the_model_as_it_was():
    X, y = noisy(0, n=300)
    for model, bad in ((aw.SelectiveClassifier(random_state=1), np.ones(300)), (aw.SelectiveRegressor(), y[:9])):
        before = model.fit(X, y).predict(X)
        with pytest.raises(ValueError):  # noqa: PT011, whatever it says
            model.fit(X, bad)
        np.testing.assert_array_equal(model.predict(X), before)


def test_parameters_reach_into_the_parts():
    from sklearn.base import clone
    from sklearn.model_selection import GridSearchCV
    from sklearn.multiclass import OneVsRestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    from askwhen.adapters.sklearn import priced

    model = aw.SelectiveClassifier(aw.Lasec(1.0, 300.0), aw.MarginRule(0.05), random_state=0)
    assert model.get_params()["learner__c"] == 300.0
    again = clone(model).set_params(learner__c=30.0, rule__scale=0.5)
    assert (again.learner, again.rule) == (aw.Lasec(1.0, 30.0), aw.MarginRule(0.5))
    assert model.learner == aw.Lasec(1.0, 300.0)
    with pytest.raises(ValueError, match="Invalid parameter 'learner__z'"):
        model.set_params(learner__z=1)
    with pytest.raises(aw.InputError, match="b must be smaller than c"):
        model.set_params(learner__c=0.5)
    X, y = noisy(0, n=400)
    pipeline = make_pipeline(StandardScaler(), model)
    grid = {"selectiveclassifier__rule__scale": [0.001, 1000.0]}
    from sklearn.metrics import get_scorer

    dear = GridSearchCV(pipeline, grid, scoring=priced(get_scorer("accuracy"), 10.0), cv=2).fit(X, y)
    cheap = GridSearchCV(pipeline, grid, scoring=priced(get_scorer("accuracy"), 0.0), cv=2).fit(X, y)
    many = OneVsRestClassifier(aw.OnlineToBatchClassifier(aw.Perceptron(), aw.FixedRate(0.5), random_state=0))
    several = (X, np.arange(400) % 3)
    free, half = (priced("accuracy", price)(many.fit(*several), *several) for price in (0.0, 1.0))
    assert free - half == pytest.approx(0.5, abs=0.05)
    with pytest.raises(ValueError, match="holds nothing that asks"):
        priced("accuracy", 1.0)(StandardScaler(), X, y)
    assert dear.best_params_["selectiveclassifier__rule__scale"] == 0.001
    assert cheap.best_params_["selectiveclassifier__rule__scale"] == 1000.0


def test_scikit_learns_own_tools_take_it():
    pandas = pytest.importorskip("pandas")
    from sklearn.model_selection import cross_val_score
    from sklearn.multiclass import OneVsRestClassifier

    X, y = three_classes()
    model = OneVsRestClassifier(aw.OnlineToBatchClassifier(aw.Perceptron(), aw.Always(), random_state=0)).fit(X, y)
    assert model.score(X, y) > 0.8
    frame = pandas.DataFrame(X, columns=list("abcd"))
    assert aw.SelectiveClassifier(random_state=0).fit(frame, y).feature_names_in_.tolist() == list("abcd")
    assert cross_val_score(aw.SelectiveClassifier(random_state=0), X, y, cv=2).mean() > 0.5
    drawn = aw.SelectiveClassifier(random_state=np.random.RandomState(1)).fit(X, y)
    assert drawn.sampler_.round == 600


def test_nothing_is_predicted_before_anything_was_learnt():
    X, y = np.eye(4), np.array([0, 1, 0, 1])
    for labels in (y, np.array(list("abca")), np.column_stack([y, y])):
        model = aw.SelectiveClassifier(aw.Perceptron(), aw.FixedRate(1e-9), random_state=1)
        with pytest.raises(NotFittedError):
            model.predict(X)
        model.fit(X, labels)
        with pytest.raises(aw.InputError, match="^predict: nothing was learnt yet; give it a label first"):
            model.predict(X)
    assert model.decision_function(X).shape == (4, 2)


def test_probabilities_serve_scikit_learns_tools():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((3000, 4))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(3000) > 0, "spam", "ham")
    model = aw.SelectiveClassifier(random_state=1).fit(X, y)
    chances = model.predict_proba(X)
    assert chances.shape == (3000, 2)
    np.testing.assert_allclose(chances.sum(axis=1), 1.0)
    np.testing.assert_array_equal(model.classes_[chances.argmax(axis=1)], model.predict(X))
    assert brier_score_loss(y == "spam", chances[:, 1]) < 0.12
    assert roc_auc_score(y == "spam", chances[:, 1]) > 0.9
    said, came = calibration_curve(y == "spam", chances[:, 1], n_bins=5)
    assert np.abs(said - came).mean() < 0.1
    unclear = aw.SelectiveClassifier(random_state=1).fit(X, np.where(rng.random(3000) < 0.5, "spam", "ham"))
    np.testing.assert_array_equal(unclear.classes_[unclear.predict_proba(X).argmax(axis=1)], unclear.predict(X))
    eager = aw.SelectiveClassifier(random_state=1, costs=(1, 10)).fit(X, y)
    assert (eager.predict(X) == "spam").mean() > (model.predict(X) == "spam").mean()
    several = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    of_several = aw.SelectiveClassifier(random_state=1).fit(X, several)
    shares = of_several.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(of_several.classes_[shares.argmax(axis=1)], of_several.predict(X))
    labels = aw.SelectiveClassifier(random_state=1).fit(X, (X[:, :3] > 0).astype(int)).predict_proba(X)
    assert labels.shape == (3000, 3)
    with pytest.raises(ValueError, match="costs for two classes only"):
        aw.SelectiveClassifier(costs=(1, 2)).fit(X, several)


def test_a_regressor_asks_where_it_is_uncertain():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((3000, 4)) * [1.0, 50.0, 1.0, 1.0] + 7.0
    y = X @ [1.0, 0.1, -2.0, 0.0] + 3.0 + 0.1 * rng.standard_normal(3000)
    model = aw.SelectiveRegressor(random_state=0).fit(X, y)
    assert 0.08 < model.sampler_.questions / 3000 < 0.12
    assert model.score(X, y) > 0.98
    parts = aw.SelectiveRegressor(random_state=0).partial_fit(X[:100], y[:100]).partial_fit(X[100:], y[100:])
    np.testing.assert_array_equal(parts.predict(X), model.predict(X))


def test_the_estimator_of_batch_classifiers_is_the_function():
    X, y = noisy(0, n=400)
    settings = {"how": "vote", "passes": 2}
    model = aw.OnlineToBatchClassifier(aw.Perceptron(), aw.Always(), random_state=5, **settings).fit(X, y)
    direct = aw.online_to_batch(aw.Sampler(aw.Perceptron(), aw.Always(), seed=5), X, y, **settings)
    np.testing.assert_array_equal(model.decision_function(X), direct.decision_function(X))


def test_labels_that_one_has_already_are_learnt_before_asking_begins():
    X = np.random.default_rng(0).standard_normal((600, 4))
    words, numbers = np.where(X[:, 0] > 0, "spam", "ham"), 3.0 * X[:, 0] + 7.0
    model = aw.SelectiveClassifier(random_state=1).fit(X[:200], words[:200], volunteered=True)
    assert (model.sampler_.round, model.sampler_.volunteered, model.score(X[200:], words[200:]) > 0.85) == (
        0,
        200,
        True,
    )
    model.partial_fit(X[200:], words[200:])
    assert model.sampler_.round == 400
    model.partial_fit(X[:9], words[:9], volunteered=True)
    assert model.sampler_.volunteered == 209
    found = aw.SelectiveRegressor(random_state=1).fit(X[:200], numbers[:200], volunteered=True)
    assert found.score(X[200:], numbers[200:]) > 0.95
    assert found.sampler_.questions == 0
    three = np.array(list("abc"))[X[:, :3].argmax(axis=1)]
    assert aw.SelectiveClassifier().fit(X, three, volunteered=True).score(X, three) > 0.8
    assert aw.SelectiveClassifier(aw.Perceptron()).fit(X, three, volunteered=True).score(X, three) > 0.7
