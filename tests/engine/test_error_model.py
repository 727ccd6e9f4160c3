"""P(y = +1) by the margin, and costs: calibrated, continued bit for bit, and moving the boundary to where they say."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.engine.tally.error_model import CENTRE, SCALE, boundary, log_odds, new_model, note_margin
from askwhen.logistic import sigmoid
from askwhen.workflows.predict import predictions
from tests.streams import drifting, noisy


def rare(seed, n=12_000):
    rng = np.random.default_rng([seed, 3])
    y = np.where(rng.random(n) < 0.03, 1, -1)
    X = rng.standard_normal((n, 5))
    X[y > 0, :3] += 1.5
    return X, y


def play(sampler, X, y):
    asks = []
    for x, label in zip(X, y, strict=True):
        asks.append(sampler.ask(x))
        if asks[-1].query:
            sampler.tell(asks[-1], label)
    return asks


def test_certainty_is_how_often_predictions_are_right():
    X, y = noisy(1, n=6000)
    asks = play(aw.Sampler(seed=3), X, y)
    certainty = np.array([ask.certainty for ask in asks])[1000:]
    right = np.array([ask.prediction for ask in asks])[1000:] == y[1000:]
    groups = np.array_split(np.argsort(certainty), 6)
    off = [abs(certainty[group].mean() - right[group].mean()) for group in groups]
    assert np.mean(off) < 0.05


def test_it_is_the_probability_of_the_predicted_label_and_needs_no_round():
    X, y = noisy(1, n=2000)
    sampler = aw.Sampler(aw.Perceptron(), aw.FixedRate(0.3), seed=3)
    sampler.run(X, y)
    chances = sampler.probabilities(X[:50])
    assert ((chances > 0) & (chances < 1)).all()
    order = np.argsort(sampler.margins(X[:50]))
    positive = sampler.margins(X[:50])[order] > 0
    for side in (positive, ~positive):
        assert (np.diff(chances[order][side]) >= 0).all()
    round_ = sampler.round
    ask = sampler.ask(X[0])
    assert ask.round == round_
    said = chances[0] if ask.prediction > 0 else 1 - chances[0]
    assert ask.certainty == pytest.approx(said, abs=0.01)
    assert aw.Sampler(regression=True, seed=1).ask([1.0]).certainty is None
    with pytest.raises(aw.InputError, match="no probability"):
        aw.Sampler(regression=True, seed=1).probabilities(X)


def unclear(n=600):
    """A stream whose labels have nothing to do with the instances."""
    rng = np.random.default_rng(5)
    return rng.standard_normal((n, 3)), np.where(rng.random(n) < 0.5, 1, -1)


@pytest.mark.parametrize(
    "learner", [None, aw.Perceptron(), aw.Lasec(1.0, 50.0)], ids=["default", "perceptron", "lasec"]
)
def test_a_predicted_label_is_never_the_less_likely_of_two(learner):
    X, y = unclear()
    sampler = aw.Sampler(learner, aw.BudgetRule(0.1), seed=1)
    asks = play(sampler, X, y)
    model, p = sampler.engine.tally.model, sampler.margins(X)
    modelled = np.array([sigmoid(log_odds(model, each)) for each in p])
    assert ((modelled > 0.5) != (p > 0.0)).any(), "the curve alone would contradict some predictions"
    assert min(ask.certainty for ask in asks) >= 0.5
    chances = sampler.probabilities(X)
    np.testing.assert_array_equal(chances > 0.5, sampler.predict(X) > 0)
    agrees = (modelled > 0.5) == (p > 0.0)
    np.testing.assert_array_equal(chances[agrees], modelled[agrees])
    found = predictions(sampler, X)
    assert found["probability"].min() >= 0.5


@pytest.mark.parametrize("classes", [["no", "yes"], "open"])
def test_a_predicted_class_is_never_less_likely_than_one_of_as_many(classes):
    X, y = unclear()
    sampler = aw.Sampler(classes=classes, seed=1)
    asks = play(sampler, X, np.where(y > 0, "yes", "no").tolist())
    assert min(ask.certainty for ask in asks[20:]) >= 0.5
    np.testing.assert_array_equal(
        np.array(sampler.classes)[sampler.probabilities(X).argmax(axis=1)], sampler.predict(X)
    )


def test_with_costs_the_boundary_is_not_where_both_labels_are_equally_likely():
    X, y = unclear()
    sampler = aw.Sampler(costs=(1, 3), seed=1)
    asks = play(sampler, X, y)
    assert min(ask.certainty for ask in asks) < 0.5
    assert (sampler.probabilities(X)[sampler.predict(X) > 0] < 0.5).any()


def test_the_boundary_is_where_the_odds_are_those_of_the_costs():
    rng = np.random.default_rng(0)
    for _ in range(200):
        model = new_model()
        model[:3] = rng.normal(-1, 2), rng.uniform(0.3, 5), rng.normal(0, 0.5)
        for p in rng.normal(rng.normal(), rng.uniform(0.1, 2), 50):
            note_margin(model, p, 1.0, True)
        for cost in (-3.0, -0.5, 1.0, 4.0):
            edge = boundary(model, cost)
            z = (edge - model[CENTRE]) * model[SCALE]
            if edge != 0.0 and abs(z) < 7.9:
                assert sigmoid(log_odds(model, edge)) == pytest.approx(sigmoid(cost), rel=1e-6)
        assert boundary(model, 0.0) == 0.0


@pytest.mark.parametrize("learner", [None, aw.Perceptron(), aw.Lasec(1.0, 50.0), aw.LeastSquares(form="dual")], ids=str)
def test_with_costs_asking_telling_running_and_loading_are_the_same(learner, tmp_path):
    X, y = rare(1, 700)
    prepare = aw.Prepare() if learner is None else None

    def build():
        return aw.Sampler(learner, aw.BudgetRule(0.3), prepare=prepare, costs=(1, 8), seed=5)

    whole, live = build(), build()
    trace = whole.run(X, y, margins=False)
    assert trace.costs == (1.0, 8.0)
    asks = play(live, X[:400], y[:400])
    live.save(tmp_path / "half")
    live = aw.Sampler.load(tmp_path / "half")
    assert live.costs == (1.0, 8.0)
    asks += play(live, X[400:], y[400:])
    np.testing.assert_array_equal([ask.margin for ask in asks], trace.margin)
    np.testing.assert_array_equal([ask.query for ask in asks], trace.queried)
    np.testing.assert_array_equal(np.sign(trace.margin) == 1, trace.prediction == 1)
    assert aw.evaluate.accuracy(live) == aw.evaluate.accuracy(whole) == aw.evaluate.accuracy(trace)
    np.testing.assert_array_equal(live.predict(X) == 1, live.margins(X) > 0)


def test_costs_are_saved_by_telling_them_and_their_estimate_covers_them():
    for seed in range(3):
        X, y = rare(seed)
        plain, told = (aw.Sampler(costs=costs, seed=seed).run(X, y) for costs in (None, (1, 20)))
        paid = [(trace.mistaken & (y < 0)).mean() + 20 * (trace.mistaken & (y > 0)).mean() for trace in (plain, told)]
        assert paid[1] < 0.8 * paid[0]
        found = aw.evaluate.accuracy(told).cost
        assert found.low <= paid[1] <= found.high
        assert found.low <= found.value <= found.high
        assert "%" not in str(found)
        assert aw.evaluate.accuracy(plain).cost is None


def test_equal_costs_are_none_at_all():
    X, y = drifting(0, n=500, every=200)
    plain, equal = (aw.Sampler(costs=costs, seed=1).run(X, y) for costs in (None, (3, 3)))
    np.testing.assert_array_equal(plain.margin, equal.margin)
    np.testing.assert_array_equal(plain.queried, equal.queried)


@pytest.mark.parametrize("costs", [(1,), (0, 1), (1, -2), (1, np.inf), "ab", 3, (1, 2, 3), (1, None)])
def test_costs_that_are_none_are_refused(costs):
    with pytest.raises(aw.InputError, match="costs must be two positive numbers"):
        aw.Sampler(costs=costs)


def test_a_regressor_has_no_costs():
    with pytest.raises(aw.InputError, match="costs are for a classifier"):
        aw.Sampler(regression=True, costs=(1, 2))


def test_late_labels_are_heard_at_the_margin_they_were_asked_at(tmp_path):
    """With costs the boundary moves between question and answer; that must not teach the model a wrong margin."""
    X, y = rare(4, 3000)

    def paid(delay):
        sampler, waiting, said = aw.Sampler(costs=(1, 20), seed=5), [], []
        for i, x in enumerate(X):
            ask = sampler.ask(x)
            said.append(ask.prediction)
            waiting += [(i, ask)] if ask.query else []
            while waiting and waiting[0][0] <= i - delay:
                at, ask = waiting.pop(0)
                sampler.tell(ask, y[at])
            if i == 1500:
                sampler.save(tmp_path / "m")
                sampler = aw.Sampler.load(tmp_path / "m")
        said, late = np.array(said), slice(1500, None)
        return ((said > 0) & (y < 0))[late].mean() + 20 * ((said < 0) & (y > 0))[late].mean()

    assert paid(300) < 1.5 * paid(0)


def test_after_one_margin_nothing_is_certain():
    X, y = noisy(0, n=300)
    sampler = aw.Sampler(seed=4)
    sampler.learn(X[:200], y[:200])
    sampler.ask(X[200])
    chances = sampler.probabilities(X[200:])
    assert ((chances > 0.001) & (chances < 0.999)).all()


@pytest.mark.parametrize("costs", [{1: 2, 20: 3}, ("1", "20"), (True, 2), (1e-12, 1)])
def test_costs_that_only_look_like_numbers_are_refused(costs):
    with pytest.raises(aw.InputError, match="costs must be two positive numbers"):
        aw.Sampler(costs=costs)
