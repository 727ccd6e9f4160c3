"""Advice from outside: mixed as its naive form says, the same live and in a run, saved, late, and refused if bad."""

import copy

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from askwhen.engine.state_arrays import arrays_of
from tests.reference.advice import Advised, code_of

NAMES = ["ham", "spam", "junk"]


def stream(k, n=160, seed=0):
    """Instances, labels, and three advisers: one states confidences, one is often silent, one gives probabilities."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = (X @ rng.standard_normal((3, k))).argmax(axis=1)
    first = np.where(rng.random(n) < 0.8, y, rng.integers(0, k, n))
    second = [int(label) if rng.random() < 0.5 else None for label in np.where(rng.random(n) < 0.7, y, 0)]
    third = rng.dirichlet(np.ones(k), n)
    third[: n // 2] = np.nan
    return X, y, {"gpt": (first, rng.choice([0.6, 0.8, 0.95], n)), "rules": second, "old": third}


def said_in(advice, i, names):
    """What is said of row i, as ``ask`` takes it."""
    first, confidence = advice["gpt"]
    shares = advice["old"][i]
    return {
        "gpt": (names[first[i]], float(confidence[i])),
        "rules": None if advice["rules"][i] is None else names[advice["rules"][i]],
        "old": None if np.isnan(shares).any() else dict(zip(names, shares.tolist(), strict=True)),
    }


def in_words(advice, names):
    """The same advice with labels as they are written."""
    first, confidence = advice["gpt"]
    rules = [None if label is None else names[label] for label in advice["rules"]]
    return {"gpt": (np.array(names)[first], confidence), "rules": rules, "old": advice["old"]}


def play(sampler, X, y, advice, names, rounds, waiting, delay=0):
    """Play rounds live; answers come after ``delay`` rounds, and every fifth question is forgotten if there is one."""
    found = []
    for i in rounds:
        ask = sampler.ask(X[i], advice=said_in(advice, i, names))
        found.append(ask)
        if ask.query:
            waiting.append(i)
        while waiting and waiting[0] <= i - delay:
            j = waiting.pop(0)
            sampler.forget(j) if delay and j % 5 == 0 else sampler.tell(j, names[y[j]])
    return found


def everything(sampler):
    """All numbers of a sampler, by name."""
    engine = sampler.engine
    found = arrays_of(engine.learner, "learner") | arrays_of(engine.tally, "tally")
    kept = engine.advisers
    for a, account in enumerate(kept.accounts):
        found |= arrays_of(account.tally, f"{a}.tally") | {f"{a}.stated": account.stated}
        found |= {} if account.classes is None else arrays_of(account.classes, f"{a}.classes")
    for name, each in [*enumerate(kept.against), *kept.between.items()]:
        found |= arrays_of(each.tally, f"{name}.pair") | {f"{name}.sizes": each.sizes}
    return {name: array for name, array in found.items() if not name.endswith(("touched", "factors"))}  # scratch


def assert_same(a, b):
    one, other = everything(a), everything(b)
    assert one.keys() == other.keys()
    assert [name for name in one if not np.array_equal(one[name], other[name], equal_nan=True)] == []
    assert a.advisers == b.advisers


KINDS = {
    "two": (2, {"labels": NAMES[:2]}, ["gpt", "rules", "old"]),
    "several": (3, {"classes": NAMES}, ["gpt", "rules", "old"]),
    "open": (3, {"classes": "open"}, ["gpt", "rules", "old"]),
    "any": (3, {"classes": NAMES}, "any"),
    "open, any": (3, {"classes": "open"}, "any"),
}


@pytest.mark.parametrize("name", KINDS)
def test_a_run_has_the_bits_of_rounds_played_live_also_saved_on_the_way(name, tmp_path):
    k, given, advisers = KINDS[name]
    names = NAMES[:k]
    X, y, advice = stream(k)
    words = in_words(advice, names)
    if given.get("classes") == "open":
        words["old"] = [said_in(advice, i, names)["old"] for i in range(len(y))]

    def made():
        return aw.Sampler(rule=aw.BudgetRule(0.4), seed=3, advisers=advisers, **given)

    whole = made()
    trace = whole.run(X, np.array(names)[y], advice=words)
    assert 20 < trace.questions < len(y)
    live, waiting = made(), []
    asks = play(live, X, y, advice, names, range(70), waiting)
    live.save(tmp_path / "half.askwhen")
    loaded = aw.Sampler.load(tmp_path / "half.askwhen")
    asks += play(loaded, X, y, advice, names, range(70, len(y)), waiting)
    assert [ask.margin for ask in asks] == trace.margin.tolist()
    assert [ask.prediction for ask in asks] == trace.prediction.tolist()
    assert_same(whole, loaded)
    assert whole.drift_weights.sum() == pytest.approx(1.0)
    assert len(whole.experts) == len(whole.drift_weights) == trace.drift_weights.shape[1]


@pytest.mark.parametrize("name", ["two", "several", "open, any"])
def test_late_answers_are_learnt_the_same_after_loading_and_in_a_copy(name, tmp_path):
    k, given, advisers = KINDS[name]
    names = NAMES[:k]
    X, y, advice = stream(k)
    sampler, waiting = aw.Sampler(rule=aw.BudgetRule(0.4), seed=3, advisers=advisers, **given), []
    play(sampler, X, y, advice, names, range(80), waiting, delay=25)
    assert len(waiting) > 3
    sampler.save(tmp_path / "a.askwhen")
    others = [aw.Sampler.load(tmp_path / "a.askwhen"), copy.deepcopy(sampler)]
    for each in (sampler, *others):
        play(each, X, y, advice, names, range(80, len(y)), list(waiting), delay=25)
        each.save(tmp_path / "b.askwhen")
        assert_same(sampler, each)
    found = [aw.evaluate.advisers(each)["gpt"] for each in (sampler, *others)]
    assert found[0] == found[1] == found[2]
    assert found[0].accuracy.unanswered > 0


@pytest.mark.parametrize("k", [2, 3])
def test_the_mixture_is_that_of_the_naive_form(k):
    X, y, advice = stream(k, 150)
    advice["gpt"][0][75:] = (advice["gpt"][0][75:] + 1) % k  # it turns, so that some experts lag behind
    given = {"labels": NAMES[:2]} if k == 2 else {"classes": NAMES}
    base = aw.Sampler(rule=aw.Always(), seed=3, **given)
    sampler = aw.Sampler(rule=aw.Always(), seed=3, advisers=["gpt", "rules", "old"], **given)
    naive = Advised(3)
    first, confidence = advice["gpt"]
    for i in range(len(y)):
        p = np.atleast_1d(base.margins(X[i : i + 1], live=True)[0])
        shares = advice["old"][i]
        said = [(first[i], confidence[i]), advice["rules"][i], None if np.isnan(shares).any() else shares]
        p = naive.margins(p, [code_of(each, k) for each in said])
        ask = sampler.ask(X[i], advice=said_in(advice, i, NAMES[:k]))
        expected = p[0] if k == 2 else (np.sort(p)[-1] - np.sort(p)[-2]) / 2
        assert ask.margin == pytest.approx(expected, abs=1e-8)
        sampler.tell(ask, NAMES[y[i]])
        base.tell(base.ask(X[i]), NAMES[y[i]])
        naive.learn(y[i], len(p))
        np.testing.assert_allclose(naive.mix, sampler.engine.learner.mix, atol=1e-9)


@pytest.mark.parametrize("given", [{"labels": NAMES[:2]}, {"classes": NAMES[:2]}, {"regression": True}])
def test_advisers_who_say_nothing_change_no_bit(given):
    X, y, _ = stream(2)
    labels = y * 1.5 if "regression" in given else np.array(NAMES)[y]
    alone, advised = (aw.Sampler(seed=3, advisers=names, **given) for names in (None, ["gpt", "rules"]))
    a, b = alone.run(X, labels), advised.run(X, labels, advice={"gpt": [None] * len(y)})
    assert a.margin.tolist() == b.margin.tolist()
    assert a.probability.tolist() == b.probability.tolist()
    assert alone.margins(X).tolist() == advised.margins(X).tolist()


def test_a_regressor_begins_with_the_advice_and_learns_its_bias():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((600, 2))
    y = 50.0 + 10.0 * X[:, 0] + rng.standard_normal(600)
    says = y + 5.0 + 2.0 * rng.standard_normal(600)
    says[3::6] = np.nan
    made = [aw.Sampler(regression=True, seed=3, advisers=["old"], rule=aw.FixedRate(0.2)) for _ in range(2)]
    trace = made[0].run(X, y, advice={"old": says})
    margins = []
    for i in range(600):
        ask = made[1].ask(X[i], advice={"old": says[i]})
        margins.append(ask.margin)
        if ask.query:
            made[1].tell(ask, y[i])
    assert margins == trace.margin.tolist()
    assert trace.margin[0] == pytest.approx(says[0])
    late, speaks = np.arange(600) > 300, ~np.isnan(says)
    error = np.abs(trace.margin - y)
    assert error[late & speaks].mean() < 0.5 * np.abs(says - y)[late & speaks].mean()
    with pytest.raises(aw.InputError, match="for classifiers"):
        aw.evaluate.advisers(made[0])


def test_without_instances_advice_alone_is_learnt():
    _, y, advice = stream(3, 400)
    truth = np.array(NAMES)[y]
    worse = np.roll(truth, 1)
    sampler = aw.Sampler(classes=NAMES, seed=3, advisers=["gpt", "liar"])
    words = {"gpt": in_words(advice, NAMES)["gpt"], "liar": worse}
    trace = sampler.run(None, truth, advice=words)
    alone = (words["gpt"][0] == truth).mean()
    assert 1.0 - trace.mistakes / trace.rounds > alone - 0.03
    ask = sampler.ask(None, advice={"gpt": ("spam", 0.9)})
    assert ask.prediction == "spam"
    with pytest.raises(aw.InputError, match="x must be None"):
        sampler.ask([1.0], advice={"gpt": "spam"})
    assert sampler.predict(None, advice={"gpt": ["spam", "ham"]}).tolist() == ["spam", "ham"]


def test_a_liar_and_one_who_turns_are_found_out():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 4))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    good = np.where(rng.random(3000) < 0.9, y, -y)
    good[1500:] *= -1
    trace = aw.Sampler(seed=3, advisers=["turns", "lies"]).run(X, y, advice={"turns": good, "lies": -y})
    assert trace.mistaken[1700:].mean() < 0.05


@pytest.mark.parametrize("advisers", [["late"], "any"])
def test_one_who_speaks_late_is_trusted_less_than_one_who_speaks_at_once(advisers):
    rng = np.random.default_rng(2)
    X = rng.standard_normal((1000, 4))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    at_once = aw.Sampler(seed=3, labels=(-1, 1), advisers=advisers)
    for x, label in zip(X[:5], y[:5], strict=True):
        assert at_once.ask(x, advice={"late": int(-label)}).prediction == -label
    late, alone = (aw.Sampler(seed=3, labels=(-1, 1), advisers=names) for names in (advisers, None))
    late.run(X[:900], y[:900])
    alone.run(X[:900], y[:900])
    expected = [alone.ask(x) for x in X[900:]]
    sure = [abs(ask.margin) > 0.1 for ask in expected]
    assert sum(sure) > 80
    for x, label, ask, is_sure in zip(X[900:], y[900:], expected, sure, strict=True):
        found = late.ask(x, advice={"late": int(-label)})
        assert found.prediction == ask.prediction or not is_sure


BAD = {
    "a label that is not known": ({"gpt": "eggs"}, "one of the classes"),
    "a label with too much": ({"gpt": ("spam", 0.8, 1)}, "a label with a confidence"),
    "a confidence above 1": ({"gpt": ("spam", 1.8)}, "a number from 0 to 1"),
    "probabilities of another sum": ({"gpt": {"spam": 0.7, "ham": 0.7}}, "must sum to 1"),
    "a probability that is NaN": ({"gpt": {"spam": float("nan"), "ham": 1.0}}, "must sum to 1"),
    "an unknown adviser": ({"claude": "spam"}, "is not known; the advisers are 'gpt'"),
    "no dict": ("spam", "must be a dict"),
    "ten thousand advisers": ({f"a{i}": "spam" for i in range(10_000)}, "is not known"),
    "no label at all": ({"gpt": ["spam"]}, "a label with a confidence"),
    "an array": ({"gpt": np.array([0.2, 0.3, 0.5])}, "or a dict with the probability of each label"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_advice_is_refused_in_one_sentence_and_nothing_is_played(name):
    advice, sentence = BAD[name]
    sampler = aw.Sampler(classes=NAMES, seed=3, advisers=["gpt"])
    before = everything(sampler) if sampler.engine.learner is not None else None
    with pytest.raises(aw.InputError, match=sentence) as caught:
        sampler.ask([1.0, 2.0], advice=advice)
    assert "\n" not in str(caught.value)
    assert (sampler.round, before) == (0, None)
    fresh = aw.Sampler(classes=NAMES, seed=3, advisers=["gpt"])
    assert sampler.ask([1.0, 2.0], advice={"gpt": "spam"}) == fresh.ask([1.0, 2.0], advice={"gpt": "spam"})


BAD_ROWS = {
    "too few": ({"gpt": ["spam"]}, "a value for each of the 4 rows, got 1"),
    "a wrong row": ({"gpt": ["spam", "ham", "eggs", None]}, "row 2"),
    "a matrix of another shape": ({"gpt": np.zeros((4, 2))}, "a column for each of the 3 labels"),
    "a row of another sum": ({"gpt": np.full((4, 3), 0.5)}, "must sum to 1"),
    "a row with NaN": ({"gpt": np.array([[np.nan, 0.5, 0.5]] * 4)}, "from 0 to 1"),
    "a data frame": ({"gpt": pd.DataFrame(np.full((4, 3), 1 / 3))}, "numpy array .* in the order of the labels"),
    "too many": ({f"a{i}": ["spam"] * 4 for i in range(10_000)}, "at most 100 advisers"),
}


@pytest.mark.parametrize("name", BAD_ROWS)
def test_bad_advice_of_many_rows_is_refused_and_nothing_is_played(name):
    advice, sentence = BAD_ROWS[name]
    sampler = aw.Sampler(classes=NAMES, seed=3, advisers="any")
    with pytest.raises(aw.InputError, match=sentence):
        sampler.run(np.zeros((4, 2)), ["spam"] * 4, advice=advice)
    assert (sampler.round, sampler.advisers) == (0, [])


def test_advisers_are_refused_where_they_make_no_sense():
    with pytest.raises(aw.InputError, match="for the default learner"):
        aw.Sampler(aw.Perceptron(), aw.Always(), advisers=["gpt"])
    with pytest.raises(aw.InputError, match="at most 100"):
        aw.Sampler(advisers=[f"a{i}" for i in range(10_000)])
    with pytest.raises(aw.InputError, match="different names"):
        aw.Sampler(advisers=["gpt", "gpt"])
    with pytest.raises(aw.InputError, match="give the sampler advisers"):
        aw.Sampler(seed=3).ask([1.0], advice={"gpt": 1})
    with pytest.raises(aw.InputError, match="x may be None only"):
        aw.Sampler(seed=3).ask(None)


def test_a_refused_instance_leaves_no_new_adviser():
    sampler = aw.Sampler(labels=NAMES[:2], seed=3, advisers="any")
    sampler.ask([1.0, 2.0])
    with pytest.raises(aw.InputError, match="finite"):
        sampler.ask([1.0, float("nan")], advice={"gpt": "spam"})
    assert (sampler.advisers, sampler.round) == ([], 1)
