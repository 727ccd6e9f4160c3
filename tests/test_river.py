"""river's own checks, dictionaries whose features come and go, and river's classifiers under our rules."""

import pickle
import threading

import numpy as np
import pytest

import askwhen as aw

river = pytest.importorskip("river")

from river import checks, datasets, evaluate, linear_model, metrics, preprocessing, tree  # noqa: E402

from askwhen.adapters.river import RiverSampler, SelectiveClassifier  # noqa: E402


def perceptron(**settings):
    return SelectiveClassifier(aw.Perceptron(), aw.Always(), seed=1, **settings)


@pytest.mark.parametrize(
    "model", [SelectiveClassifier(seed=1), perceptron(features="hashing")], ids=["default", "hash"]
)
def test_river_accepts_it(model):
    ran = 0
    for check in checks.yield_checks(model):
        if check.__name__ not in model._unit_test_skips():
            check(model.clone())
            ran += 1
    assert ran > 30


def test_it_does_what_the_sampler_does_on_rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((200, 3))
    y = X[:, 0] > 0
    model, rows = perceptron(n_features=3), aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    for x, label in zip(X, y, strict=True):
        named = dict(zip("abc", x.tolist(), strict=True))
        model.learn_one(named, bool(label))
        rows.tell(rows.ask(x), 1 if label else -1)
        assert model.predict_one(named) == bool(rows.predict(x[None])[0] > 0)
    np.testing.assert_array_equal(model.sampler.weights, rows.weights)


def test_features_come_and_go():
    model = perceptron(n_features=3)
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"never seen": 5.0}) is False  # it has no place yet
    model.learn_one({"b": 1.0, "c": 2.0}, True)
    model.learn_one({"d": 1.0}, True)  # no place left: shared by hashing
    assert len(model._vocabulary) == 3
    assert model.predict_one({"d": 1.0}) in (True, False)
    model.learn_one({"word": "spam", "a": 1}, False)  # a category is a feature of its own
    assert model.predict_one({}) is False


@pytest.mark.parametrize(
    "labels", [(-1, 1), (0, 1), (False, True), (1, 2), ("ham", "spam"), (np.int64(-1), np.int64(1))]
)
@pytest.mark.parametrize("first", [0, 1])
def test_two_labels_of_any_kind_in_any_order(labels, first):
    rng = np.random.default_rng(0)
    model = perceptron(n_features=2)
    for i, v in enumerate(rng.standard_normal(200)):
        positive = v > 0 if i else bool(first)
        model.learn_one({"a": v if i else 2.0 * first - 1.0}, labels[int(positive)])
    found = [model.predict_one({"a": v}) for v in (-1.0, 1.0)]
    assert found == list(labels)
    for strange in (None, [1], float("nan")):
        with pytest.raises(aw.InputError, match="learn_one: y must be a label"):
            model.learn_one({"a": 1.0}, strange)
    with pytest.raises(aw.InputError, match="'a' must be a number or a string, got None"):
        model.learn_one({"a": None}, labels[0])


@pytest.mark.parametrize("labels", [(-1, 1), ("ham", "spam")])
def test_a_river_classifier_with_labels_of_any_kind(labels):
    rng = np.random.default_rng(0)
    data = [({"a": v, "b": w}, labels[int(v > 0)]) for v, w in rng.standard_normal((300, 2)).tolist()]
    model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    assert RiverSampler(model, aw.BudgetRule(0.2), labels=labels, seed=1).run(data)["mistakes"] < 40
    trained = tree.HoeffdingTreeClassifier()
    for x, y in data:
        trained.learn_one(x, y)
    assert RiverSampler(trained, aw.BudgetRule(0.2), labels=labels, seed=1).run(data)["mistakes"] < 60
    with pytest.raises(aw.InputError, match="knows the labels"):
        RiverSampler(trained, labels=("x", "y"), seed=1).ask(data[0][0])


def test_it_learns_a_stream_of_river():
    model = SelectiveClassifier(seed=1)
    found = evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy())
    assert found.get() > 0.8
    assert model.sampler.questions < 0.12 * model.sampler.round + 15


def test_asking_in_earnest():
    model = perceptron()
    ask = model.ask_one({"a": 1.0})
    assert (ask.query, ask.prediction) == (True, None)
    model.tell_one(ask, "spam")
    assert model.ask_one({"a": 1.0}).prediction == "spam"
    model.tell_one(1, "ham")
    with pytest.raises(aw.InputError, match="one of two labels, .*, got 'eggs'"):
        model.learn_one({"a": 1.0}, "eggs")
    assert pickle.loads(pickle.dumps(model)).predict_one({"a": 1.0}) == model.predict_one({"a": 1.0})


@pytest.mark.parametrize(
    "model", [preprocessing.StandardScaler() | linear_model.LogisticRegression(), tree.HoeffdingTreeClassifier()]
)
def test_a_river_classifier_under_our_rules(model):
    sampler = RiverSampler(model.clone(), aw.BudgetRule(0.2), seed=1)
    found = sampler.run(datasets.Phishing())
    assert found["rounds"] == sampler.round == 1250
    assert 0.15 < found["questions"] / 1250 < 0.25
    assert found["mistakes"] / 1250 < 0.3
    assert sampler.pending == []


def test_the_rule_decides_by_the_probabilities():
    model = linear_model.LogisticRegression()
    sampler, coins = RiverSampler(model, aw.MarginRule(0.3), seed=4), np.random.Generator(np.random.PCG64(4))
    for x, y in datasets.Phishing().take(200):
        p = 2 * model.predict_proba_one(x)[True] - 1
        ask = sampler.ask(x)
        assert ask.probability == pytest.approx(0.3 / (0.3 + abs(p)))
        assert ask.query == (coins.random() < ask.probability)
        if ask.query:
            sampler.tell(ask, y)


def test_what_cannot_be_done_is_said():
    sampler = RiverSampler(linear_model.LogisticRegression(), aw.Always(), seed=1)
    with pytest.raises(aw.InputError, match="a river classifier is made of Python objects"):
        sampler.save("anything")
    ask = sampler.ask({"a": 1.0})
    with pytest.raises(aw.InputError, match="y must be one of"):
        sampler.tell(ask, 3)
    sampler.forget(ask)
    with pytest.raises(aw.QuestionError, match="has no open question"):
        sampler.tell(ask, True)
    for rule in (aw.BBQRule(0.5), aw.BudgetRule(0.1, by="uncertainty")):
        with pytest.raises(aw.InputError, match="needs an uncertainty, which a river classifier has not"):
            RiverSampler(linear_model.LogisticRegression(), rule)
    timed = RiverSampler(linear_model.LogisticRegression(), aw.BudgetRule(per=10, count=2), seed=1)
    with pytest.raises(aw.InputError, match="time must be given"):
        timed.ask({"a": 1.0})
    assert sum(timed.ask({"a": 1.0}, time=t).query for t in range(100)) <= 20
    with pytest.raises(aw.InputError, match="ask: time must not go back, got 3.0 after 99.0"):
        timed.ask({"a": 1.0}, time=3)
    with pytest.raises(aw.InputError, match="labels must be two different"):
        RiverSampler(linear_model.LogisticRegression(), labels=3)
    with pytest.raises(aw.InputError, match="gives no probabilities"):
        RiverSampler(preprocessing.StandardScaler() | linear_model.LinearRegression(), aw.Always()).ask({"a": 1.0})
    with pytest.raises(aw.InputError, match="must be one of river's"):
        RiverSampler(object())
    with pytest.raises(aw.InputError, match="gives no probabilities"):
        RiverSampler(perceptron(), aw.Always()).ask({"a": 1.0})
    again = pickle.loads(pickle.dumps(sampler))
    assert again.round == 1


def test_threads_may_share_a_river_sampler_from_its_first_round_on():
    for _ in range(20):
        sampler = RiverSampler(linear_model.LogisticRegression(), aw.Always(), seed=1)

        def play(sampler=sampler):
            for k in range(20):
                sampler.tell(sampler.ask({"a": float(k), "b": 1.0}), k % 2 == 0)

        threads = [threading.Thread(target=play) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert sampler.round == sampler.questions == 80
        assert pickle.loads(pickle.dumps(sampler)).round == 80
