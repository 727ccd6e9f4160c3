"""scikit-learn's own checks, and what a simulation may look at."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

import askwhen as aw
from tests.streams import noisy


@parametrize_with_checks([aw.SelectiveClassifier(random_state=0), aw.SelectiveClassifier(aw.Perceptron(), aw.Always())])
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
