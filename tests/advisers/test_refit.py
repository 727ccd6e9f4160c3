"""An estimator as an adviser: fitted again as its labels grow, live as in a run, and of use where it knows more."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeClassifier

import askwhen as aw


def stream(n=900):
    X = np.random.default_rng(0).standard_normal((n, 3))
    return X, np.where((X[:, 0] > 0) == (X[:, 1] > 0), "spam", "ham")


def tree(**given):
    return aw.advisers.Refit(DecisionTreeClassifier(max_depth=4, random_state=0), **given)


@pytest.mark.parametrize("given", [{"labels": ("ham", "spam")}, {"classes": ["ham", "junk", "spam"]}])
def test_a_run_has_the_bits_of_rounds_played_live(given):
    X, y = stream()
    says = np.random.default_rng(1).choice(["ham", "spam"], len(y))
    run, live = tree(every=40), tree(every=40)
    whole, played = (aw.Sampler(rule=aw.BudgetRule(0.3), advisers=["tree", "dice"], seed=7, **given) for _ in range(2))
    trace = whole.run(X, y, advice={"tree": run, "dice": says})
    margins = []
    for i in range(len(y)):
        ask = played.ask(X[i], advice={"tree": live.advise(X[i]), "dice": says[i]})
        margins.append(ask.margin)
        if ask.query:
            played.tell(ask, y[i])
            live.tell(X[i], y[i])
    assert margins == trace.margin.tolist()
    assert (run.fits, run.labels) == (live.fits, live.labels) == (run.fits, trace.questions)
    assert run.fits > 5
    found = aw.evaluate.advisers(whole)["tree"]
    assert 0.0 < found.silent < 0.2
    assert found.overall.low > 0.5


def test_it_says_nothing_before_it_knows_two_labels():
    X, _ = stream(120)
    refit = tree(first=4, every=10)
    assert refit.advise(X[0]) is None
    for i in range(6):
        refit.tell(X[i], "ham")
    for i in range(1, 10):
        assert refit.advise(X[i]) is None
    refit.tell(X[9], "spam")
    assert set(refit.advise(X[10])) == {"ham", "spam"}


def test_only_classifiers_are_taken():
    with pytest.raises(aw.InputError, match="with fit and predict_proba"):
        aw.advisers.Refit(LinearRegression())
    with pytest.raises(aw.InputError, match="growth must be a number above 1"):
        tree(growth=0.9)
