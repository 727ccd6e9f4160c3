"""river's own checks, dictionaries whose features come and go, and river's classifiers under our rules."""

import copy
import pickle
import threading

import numpy as np
import pytest

import askwhen as aw
from tests.table import ROWS

river = pytest.importorskip("river")

from river import (  # noqa: E402
    checks,
    compose,
    datasets,
    evaluate,
    linear_model,
    metrics,
    naive_bayes,
    preprocessing,
    tree,
)

from askwhen.adapters.river import RiverSampler, SelectiveClassifier  # noqa: E402
from askwhen.prepare import statistics_of  # noqa: E402

pytestmark = pytest.mark.xdist_group(ROWS["default"].group)  # most of what they compile is the default's


def perceptron(**settings):
    return SelectiveClassifier(aw.Perceptron(), aw.Always(), seed=1, **settings)


@pytest.mark.parametrize(
    "model",
    [SelectiveClassifier(seed=1), perceptron(features="hashing"), perceptron(multiclass=True)],
    ids=["default", "hash", "multiclass"],
)
def test_river_accepts_it(model):
    ran = 0
    for check in checks.yield_checks(model):
        if check.__name__ not in model._unit_test_skips():
            check(model.clone())
            ran += 1
    assert ran > 30


def named(X):
    """Rows as dictionaries, one name for each column."""
    return [dict(zip("abcdefgh", x, strict=False)) for x in X.tolist()]


def raw_stream(n, seed=0):
    """Features of very different places and sizes, and labels that depend on all of them."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((n, 4))
    return Z * [0.01, 1.0, 30.0, 1000.0] + [5.0, 0.0, 1013.0, -300.0], Z.sum(axis=1) > 0


def share_of_mistakes(model, rows, y):
    """Of predictions made before learning."""
    mistakes = 0
    for x, label in zip(rows, y.tolist(), strict=True):
        mistakes += model.predict_one(x) is not label
        model.learn_one(x, label)
    return mistakes / len(y)


@pytest.mark.parametrize("learner", [None, aw.Perceptron()], ids=["default", "perceptron"])
@pytest.mark.parametrize("n_features", [4, None], ids=["exact", "reserved"])
def test_dictionaries_of_numbers_are_what_dense_rows_are(learner, n_features):
    X, y = raw_stream(1500)
    X[:, 1] = X[:, 1] > 0  # zeros and ones that are written are numbers like any other
    model = SelectiveClassifier(learner, n_features=n_features, seed=3)
    rows = aw.Sampler(learner, seed=3)
    padded = np.zeros((1500, n_features or 64))
    padded[:, :4] = X
    for x, row, label in zip(named(X), padded, y, strict=True):
        expected = rows.ask(row)
        ask = model.ask_one(x)
        assert ask._replace(prediction=None) == expected._replace(prediction=None)
        if ask.query:
            rows.tell(expected, 1 if label else -1)
            model.tell_one(ask, bool(label))
        assert model.predict_one(x) is None or model.predict_one(x) == bool(rows.predict(row[None], live=True)[0] > 0)
    np.testing.assert_array_equal(model.sampler.weights, rows.weights)


def test_raw_numbers_need_no_scaler():
    X, y = raw_stream(3000)
    plain = share_of_mistakes(SelectiveClassifier(seed=1), named(X), y)
    scaled = share_of_mistakes(preprocessing.StandardScaler() | SelectiveClassifier(seed=1), named(X), y)
    assert plain < 0.1
    assert abs(plain - scaled) < 0.01


def test_the_order_of_names_does_not_matter():
    X, y = raw_stream(300)
    model, other = SelectiveClassifier(seed=1), SelectiveClassifier(seed=1)
    for x, label in zip(named(X), y.tolist(), strict=True):
        model.learn_one(x, label)
        other.learn_one(dict(reversed(x.items())), label)
    np.testing.assert_array_equal(model.sampler.weights, other.sampler.weights)


def test_a_missing_number_has_no_say():
    X, y = raw_stream(300)
    model = SelectiveClassifier(seed=1)
    for x, label in zip(named(X), y.tolist(), strict=True):
        model.learn_one(x, label)
    engine = model.sampler._engine
    mean = statistics_of(engine.prepare).mean[2]
    ask = model.ask_one({"a": 5.0, "b": 1.0, "d": 0.0})
    assert engine.session.live.row[engine.prepare.linear + 2] == 0.0
    assert ask.margin != 0.0
    assert statistics_of(engine.prepare).mean[2] == mean
    x = {"a": 5.0, "b": 1.0, "d": 0.0}
    assert model.predict_one(x) == model.predict_one(x | {"c": mean})


def test_the_statistics_of_a_number_come_from_its_own_values():
    rng = np.random.default_rng(0)
    late, gappy = [], []
    model = SelectiveClassifier(seed=1)
    for t in range(400):
        x = {"always": rng.normal()}
        if t >= 200:
            x["late"] = rng.normal(1013, 10)
            late.append(x["late"])
        if rng.random() < 0.3:
            x["gappy"] = rng.normal(-40, 3)
            gappy.append(x["gappy"])
        model.learn_one(x, bool(x["always"] > 0))
        statistics = statistics_of(model.sampler.engine.prepare)
        for name, values in (("late", late), ("gappy", gappy)):
            if values:
                place = model._columns.places[name]
                assert statistics.mean[place] == pytest.approx(np.mean(values), rel=1e-9)
                assert statistics.var[place] == pytest.approx(np.var(values), rel=1e-6, abs=1e-9)


def test_one_outlier_does_not_spoil_the_statistics_of_a_late_number():
    rng = np.random.default_rng(0)
    model, place = SelectiveClassifier(seed=1), 1
    for t in range(400):
        x = {"always": rng.normal()} | ({"late": 1e9 if t == 300 else rng.normal(0, 10)} if t >= 200 else {})
        model.learn_one(x, bool(x["always"] > 0))
    statistics = statistics_of(model.sampler.engine.prepare)
    assert abs(statistics.mean[place]) < 5
    assert 5 < np.sqrt(statistics.var[place]) < 20


def test_numbers_that_are_missing_or_come_late_cost_little():
    X, y = raw_stream(3000)
    rows = named(X)
    rng = np.random.default_rng(1)
    late = [x if t > 1000 else {name: x[name] for name in "abd"} for t, x in enumerate(rows)]
    gappy = [{name: v for name, v in x.items() if name != "c" or rng.random() < 0.9} for x in rows]
    complete = share_of_mistakes(SelectiveClassifier(seed=1), rows[1500:], y[1500:])
    assert complete < 0.1
    settled = SelectiveClassifier(seed=1)
    share_of_mistakes(settled, late[:1500], y[:1500])
    assert share_of_mistakes(settled, late[1500:], y[1500:]) < complete + 0.01
    assert share_of_mistakes(SelectiveClassifier(seed=1), gappy, y) < complete + 0.05


def test_an_absent_count_is_zero():
    rng = np.random.default_rng(0)
    C = rng.poisson(0.5, (1500, 4)).astype(float)
    y = C[:, 0] + C[:, 1] > C[:, 2] + C[:, 3]
    written = named(C)
    left_out = [{name: v for name, v in x.items() if v} for x in written]
    zeros = share_of_mistakes(SelectiveClassifier(seed=1), written, y)
    assert abs(share_of_mistakes(SelectiveClassifier(seed=1), left_out, y) - zeros) < 0.01


def test_text_is_one_column_for_each_value():
    rng = np.random.default_rng(0)
    colours = rng.choice(["red", "green", "blue"], 1000)
    sizes = rng.normal(100, 1, 1000)
    y = (sizes > 100) ^ (colours == "red")
    y[colours == "blue"] = True
    rows = [{"colour": str(c), "size": s} for c, s in zip(colours, sizes, strict=True)]
    flags = [{f"colour={c}": 1, "size": s} for c, s in zip(colours, sizes, strict=True)]
    model, other = SelectiveClassifier(seed=1), SelectiveClassifier(seed=1)
    for x, flag, label in zip(rows, flags, y.tolist(), strict=True):
        model.learn_one(x, label)
        other.learn_one(flag, label)
    assert list(model._columns.places) == list(other._columns.places)
    np.testing.assert_array_equal(model.sampler.weights, other.sampler.weights)
    assert model.predict_one({"colour": "blue", "size": 100.0}) is True
    assert model.predict_one({"colour": "never seen", "size": 100.0}) in (True, False)


def test_features_come_and_go():
    model = perceptron(n_features=3)
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"never seen": 5.0}) is False  # it has no column yet
    model.learn_one({"b": 1.0, "c": 2.0}, True)
    assert list(model._columns.places) == ["a", "b", "c"]
    assert model.predict_one({}) is False


def test_a_name_without_a_column_is_left_out_with_one_warning():
    X, y = raw_stream(200)
    model, other = SelectiveClassifier(n_features=4, seed=1), SelectiveClassifier(n_features=4, seed=1)
    for t, (x, label) in enumerate(zip(named(X), y.tolist(), strict=True)):
        other.learn_one(x, label)
        if t == 100:
            with pytest.warns(
                UserWarning, match="learn_one: 'e' and every new name .* give a larger n_features"
            ) as seen:
                model.learn_one(x | {"e": 1e6}, label)
            assert seen[0].filename == __file__
        else:
            model.learn_one(x | {"e": 1e6, "colour": "red"} if t > 100 else x, label)
        assert model.predict_one(x | {"e": 3.0}) == other.predict_one(x)
    np.testing.assert_array_equal(model.sampler.weights, other.sampler.weights)


def test_a_first_instance_with_too_many_names_is_refused():
    model = SelectiveClassifier(seed=1)
    x = {f"name {i}": float(i) for i in range(100)}
    with pytest.raises(aw.InputError, match="at most n_features=64 names, got 100; give n_features=100 or more, or"):
        model.learn_one(x, True)
    assert model.predict_one(x) is None
    model.learn_one({"a": 1.0}, False)
    SelectiveClassifier(n_features=100, seed=1).learn_one(x, True)


def test_what_is_refused_changes_nothing():
    X, y = raw_stream(60)
    model, other = SelectiveClassifier(seed=1), SelectiveClassifier(seed=1)
    for t, (x, label) in enumerate(zip(named(X), y.tolist(), strict=True)):
        if t % 3 == 0:
            del x["c"]
        with pytest.raises(aw.InputError, match="finite numbers only, got nan"):
            model.learn_one({"z": 1.0, "c": 7.0, "b": float("nan")}, label if t else "strange")
        model.learn_one(x, label)
        other.learn_one(x, label)
    assert model._columns.places == other._columns.places
    np.testing.assert_array_equal(model.sampler.weights, other.sampler.weights)


def test_an_interrupted_round_changes_nothing():
    model = SelectiveClassifier(seed=1)
    for v in (0.5, 2.5, 0.25):
        model.learn_one({"a": v, "b": 1.0}, v > 1)
    before = pickle.dumps(model)

    def interrupted(row):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model._columns.play("learn_one", {"a": 3.0, "c": 1.0}, model._statistics, interrupted)
    assert pickle.dumps(model) == before


def test_copies_and_pickles_go_on_alike_when_features_are_missing():
    X, y = raw_stream(300)
    rows = [{name: v for name, v in x.items() if (t + ord(name)) % 5} for t, x in enumerate(named(X))]
    model = SelectiveClassifier(seed=1)
    share_of_mistakes(model, rows[:150], y[:150])
    others = [copy.deepcopy(model), pickle.loads(pickle.dumps(model))]
    share_of_mistakes(model, rows[150:], y[150:])
    for other in others:
        share_of_mistakes(other, rows[150:], y[150:])
        np.testing.assert_array_equal(other.sampler.weights, model.sampler.weights)


def test_it_ends_a_pipeline_of_river():
    X, y = raw_stream(1500)
    rows = [x | {"place": "here" if t % 2 else "there"} for t, x in enumerate(named(X))]
    numbers = compose.SelectType(float) | preprocessing.StandardScaler()
    model = (numbers + (compose.Select("place") | preprocessing.OneHotEncoder())) | SelectiveClassifier(seed=1)
    assert share_of_mistakes(model, rows, y) < 0.15


def test_hashed_words_have_room():
    model = SelectiveClassifier(features="hashing", seed=1)
    for t in range(200):
        words = {f"word {t % 7} {j}": 1 for j in range(50)}
        model.learn_one(words | {("spam" if t % 2 else "ham"): 1}, bool(t % 2))
    assert model.predict_one({"spam": 1}) is True
    assert model.predict_one({"ham": 1}) is False


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
        with pytest.raises(aw.InputError, match="needs an uncertainty, which a river classifier lacks"):
            RiverSampler(linear_model.LogisticRegression(), rule)
    timed = RiverSampler(linear_model.LogisticRegression(), aw.BudgetRule(per=10, count=2), seed=1)
    with pytest.raises(aw.InputError, match="time must be given"):
        timed.ask({"a": 1.0})
    assert sum(timed.ask({"a": 1.0}, time=t).query for t in range(100)) <= 20
    with pytest.raises(aw.InputError, match="ask: time must not go back, got 3.0 after 99.0"):
        timed.ask({"a": 1.0}, time=3)
    with pytest.raises(aw.InputError, match="labels must be two or more different"):
        RiverSampler(linear_model.LogisticRegression(), labels=3)
    with pytest.raises(aw.InputError, match="gives no probabilities"):
        RiverSampler(preprocessing.StandardScaler() | linear_model.LinearRegression(), aw.Always()).ask({"a": 1.0})
    with pytest.raises(aw.InputError, match="must be one of river's"):
        RiverSampler(object())
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


def test_the_accuracy_of_rivers_classifier_is_estimated_like_any_other():
    sampler = RiverSampler(
        preprocessing.StandardScaler() | linear_model.LogisticRegression(), aw.FixedRate(0.5), seed=1
    )
    X, y = aw.data.drifting(400, 3, turn=0.0, seed=1)
    mistakes = 0
    for x, label in zip(X, y, strict=True):
        ask = sampler.ask(dict(enumerate(x)))
        mistakes += ask.prediction != (label > 0)
        if ask.query:
            sampler.tell(ask, bool(label > 0))
    found = aw.evaluate.accuracy(sampler).overall
    assert found.low <= 1 - mistakes / 400 <= found.high
    assert found.low > 0.5


@pytest.mark.parametrize("labels", [("no", "yes"), ("no", "yes", "perhaps")])
def test_a_certainty_is_at_least_that_of_a_guess(labels):
    rng = np.random.default_rng(3)
    sampler = RiverSampler(naive_bayes.GaussianNB(), aw.BudgetRule(0.5), labels, seed=1)
    sure = []
    for x in rng.standard_normal((400, 2)):
        ask = sampler.ask(dict(enumerate(x)))
        sure.append(ask.certainty)
        if ask.query:
            sampler.tell(ask, labels[rng.integers(len(labels))])
    assert min(sure) >= 1 / len(labels)
    assert (min(sure) < 0.5) == (len(labels) > 2)


def test_probabilities_serve_rivers_metrics():
    model, loss, right = SelectiveClassifier(seed=1), metrics.LogLoss(), metrics.Accuracy()
    assert model.predict_proba_one({"a": 1.0}) in ({False: 0.5, True: 0.5}, {True: 0.5, False: 0.5})
    for x, y in datasets.Phishing():
        chances = model.predict_proba_one(x)
        assert sum(chances.values()) == pytest.approx(1.0)
        if model.predict_one(x) is not None:
            assert chances[model.predict_one(x)] == max(chances.values())
        loss.update(y, chances)
        right.update(y, model.predict_one(x) or False)
        model.learn_one(x, y)
    assert right.get() > 0.8
    assert loss.get() < 0.5


def test_several_labels_open_classes_as_they_are_told():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1200, 3))
    y = np.array(["ant", "bee", "cat"])[X.argmax(axis=1)].tolist()
    model = SelectiveClassifier(rule=aw.BudgetRule(0.2), seed=1, multiclass=True)
    assert model.predict_one({"a": 1.0}) is None
    assert model.predict_proba_one({"a": 1.0}) == {}
    right = 0
    for x, label in zip(named(X), y, strict=True):
        right += model.predict_one(x) == label
        model.learn_one(x, label)
    assert model.sampler.questions <= 270
    assert right > 900
    chances = model.predict_proba_one(named(X)[0])
    assert sum(chances.values()) == pytest.approx(1.0)
    assert max(chances, key=chances.get) == model.predict_one(named(X)[0])
    ask = model.ask_one(named(X)[0])
    assert ask.prediction in ("ant", "bee", "cat")
    if ask.query:
        model.tell_one(ask, "dog")
        assert model.sampler.classes[-1] == "dog"


def test_a_classifier_of_several_labels_is_asked_by_the_gap():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 3))
    y = np.array(["ant", "bee", "cat"])[X.argmax(axis=1)].tolist()
    model = preprocessing.StandardScaler() | linear_model.SoftmaxRegression()
    sampler = RiverSampler(model, aw.BudgetRule(0.3), labels=("ant", "bee", "cat"), seed=1)
    found = sampler.run(zip(named(X), y, strict=True))
    assert found["questions"] <= 210
    assert found["mistakes"] < 200
    x = named(X)[0]
    chances = sorted(model.predict_proba_one(x).values())
    assert sampler.ask(x).margin == pytest.approx(chances[-1] - chances[-2])
    overall = aw.evaluate.accuracy(sampler).overall
    assert overall.low <= 1 - found["mistakes"] / 600 <= overall.high
