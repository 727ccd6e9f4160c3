"""How good each adviser is: exact where every label is asked for, and within its interval otherwise."""

import numpy as np
import pytest

import askwhen as aw

NAMES = ["ham", "spam", "junk"]


def stream(k, n=1500, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    y = np.array(NAMES)[:k][(X @ rng.standard_normal((3, k))).argmax(axis=1)]
    good = np.where(rng.random(n) < 0.85, y, rng.choice(NAMES[:k], n)).astype(object)
    good[rng.random(n) < 0.25] = None
    poor = np.where(rng.random(n) < 0.4, y, rng.choice(NAMES[:k], n))
    return X, y, good, poor, rng.choice([0.55, 0.75, 0.95], n)


def labels_of(k):
    return {"labels": NAMES[:2]} if k == 2 else {"classes": NAMES}


@pytest.mark.parametrize("k", [2, 3])
def test_every_number_is_exact_where_all_labels_are_asked_for(k):
    X, y, good, poor, stated = stream(k)
    sampler = aw.Sampler(rule=aw.Always(), seed=3, advisers=["good", "poor"], **labels_of(k))
    trace = sampler.run(X, y, advice={"poor": (poor, stated), "good": good})
    found = aw.evaluate.advisers(sampler)
    speaks = np.array([label is not None for label in good])
    assert list(found) == ["good", "poor"]
    one, other = found["good"], found["poor"]
    for each, says, here in ((one, good, speaks), (other, poor, speaks | True)):
        right = (says == y)[here].mean()
        assert (each.overall.low, each.overall.high) == (pytest.approx(right), pytest.approx(right))
        assert (each.overall.value, each.rounds) == (pytest.approx(right), here.sum())
        assert each.silent == pytest.approx(1.0 - here.mean())
        gain = (1.0 - trace.mistaken[here].mean()) - right
        assert each.gain.value == each.gain.low == each.gain.high == pytest.approx(gain)
        if k == 3:
            spam = each.classes["spam"]
            assert spam.precision.value == pytest.approx((y == "spam")[here & (says == "spam")].mean())
            assert spam.recall.value == pytest.approx((says == "spam")[here & (y == "spam")].mean())
    difference = (good == y)[speaks].mean() - (poor == y)[speaks].mean()
    assert found.compare("good", "poor").value == pytest.approx(difference)
    assert found.compare("poor", "good").value == pytest.approx(-difference)
    assert found["poor"].against["good"] == found.compare("poor", "good")
    assert list(found["poor"].against) == [name for name in found if name != "poor"]
    assert one.calibration == []
    assert [each.rounds for each in other.calibration] == [(stated == p).sum() for p in (0.55, 0.75, 0.95)]
    assert [each.right for each in other.calibration] == pytest.approx(
        [(poor == y)[stated == p].mean() for p in (0.55, 0.75, 0.95)]
    )


def test_from_few_labels_the_intervals_hold_and_a_fall_raises_the_alarm():
    X, y, good, poor, _ = stream(2, 12_000)
    sampler = aw.Sampler(seed=3, advisers=["good", "poor"], **labels_of(2))
    sampler.run(X, y, advice={"good": good, "poor": poor})
    found = aw.evaluate.advisers(sampler, recent=1000)
    speaks = np.array([label is not None for label in good])
    for name, says, here in (("good", good, speaks), ("poor", poor, speaks | True)):
        right = (says == y)[here].mean()
        assert found[name].overall.low < right < found[name].overall.high < found[name].overall.low + 0.2
        assert 20 < found[name].random_labels < sampler.questions
    assert found["good"].overall.low > found["poor"].overall.high
    assert found["poor"].gain.low > 0.0
    assert found.compare("good", "poor").low > 0.0
    assert found["poor"].alarm(0.95, recent=5000)
    assert not found["good"].alarm(0.7, recent=1000)
    assert "good: accuracy" in str(found)
    with pytest.raises(aw.InputError, match="not two of"):
        found.compare("good", "best")


def test_one_who_may_know_the_label_brings_a_warning():
    X, y, *_ = stream(2, 600)
    sampler = aw.Sampler(rule=aw.FixedRate(0.9), seed=3, advisers=["leak"], **labels_of(2))
    sampler.run(X[:150], y[:150], advice={"leak": y[:150]})
    assert aw.evaluate.advisers(sampler)["leak"].warning == ""
    sampler.run(np.repeat(X, 5, axis=0), np.repeat(y, 5), advice={"leak": np.repeat(y, 5)})
    assert "know the label" in aw.evaluate.advisers(sampler)["leak"].warning


def test_only_classifiers_with_advisers_have_them():
    with pytest.raises(aw.InputError, match="must have advisers"):
        aw.evaluate.advisers(aw.Sampler(seed=3))


@pytest.mark.parametrize("k", [2, 3])
def test_a_simulation_counts_how_often_advisers_were_right(k):
    X, y, good, poor, stated = stream(k)
    sampler = aw.Sampler(seed=3, advisers="any", **labels_of(k))
    chunks = [
        (X[at : at + 400], y[at : at + 400], None, {"poor": (poor[at : at + 400], stated[at : at + 400])})
        for at in range(0, 1500, 400)
    ]
    for at, (*_, advice) in enumerate(chunks[1:], 1):  # it comes later
        advice["good"] = good[400 * at : 400 * (at + 1)]
    progress = aw.evaluate.progressive(sampler, chunks, window=300, everything=True)
    found = {each.name: each for each in progress.advisers}
    assert list(found) == list(aw.evaluate.advisers(sampler))
    assert found["poor"].found == aw.evaluate.advisers(sampler)["poor"]
    speaks = np.array([label is not None for label in good]) & (np.arange(1500) >= 400)
    assert found["poor"].windows == pytest.approx((poor == y).reshape(5, 300).mean(axis=1))
    assert found["good"].rounds.tolist() == speaks.reshape(5, 300).sum(axis=1).tolist()
    assert found["good"].accuracy == pytest.approx((good == y)[speaks].mean())
    assert np.isnan(found["good"].windows[0])
    assert progress.baselines["all labels"] > 0.85  # with the same advice


@pytest.mark.parametrize(("k", "shuffle"), [(2, False), (3, True)])
def test_a_comparison_counts_them_too_and_runs_without_advice(k, shuffle):
    X, y, good, poor, stated = stream(k, 600)
    given = {"repeats": 2, "shuffle": shuffle, "prepare": aw.Prepare()}
    labels, advice = y, {"poor": (poor, stated), "good": good}
    if k == 2:
        labels = np.where(y == "spam", 1, -1)
        signs = {"ham": -1, "spam": 1, None: None}
        advice = {"poor": (np.where(poor == "spam", 1, -1), stated), "good": [signs[label] for label in good]}
    else:
        given["classes"] = NAMES
    found = aw.evaluate.compare(X, labels, ["default", "perceptron-ss"], [0.2], advice=advice, **given)
    assert [each.name for each in found.advisers] == ["good", "poor"]
    speaks = np.array([label is not None for label in good])
    assert found.advisers[0].accuracy == pytest.approx((good == y)[speaks].mean())
    assert found.advisers[0].silent == pytest.approx(1.0 - speaks.mean())
    order = np.random.default_rng([0, 0]).permutation(600) if shuffle else np.arange(600)
    assert found.advisers[1].windows == pytest.approx((poor == y)[order].reshape(-1, 50).mean(axis=1))
    (estimate,) = found.advisers[0].estimates
    assert (estimate.algorithm, estimate.share, estimate.held) == ("default", 0.2, 2)
    without = aw.evaluate.compare(X, labels, ["default"], [0.2], **given)
    (cell,) = (each for each in found.baselines if each.algorithm == "default, without advice")
    assert cell.accuracy.tolist() == without.cells[0].accuracy.tolist()
    assert found.cells[0].mean > cell.mean
    with pytest.raises(aw.InputError, match="no algorithm here takes advice"):
        aw.evaluate.compare(X, labels, ["perceptron-ss"], [0.2], advice=advice, **given)
    with pytest.raises(aw.InputError, match="advice of 'bad'"):
        aw.evaluate.compare(X, labels, ["default"], [0.2], advice={"bad": ["eggs"] * 600}, **given)


def test_it_is_said_when_an_adviser_has_become_worse_or_better():
    rng = np.random.default_rng(7)
    y = rng.choice(NAMES[:2], 8000)
    other = np.where(y == "ham", "spam", "ham")
    falls = np.where(rng.random(8000) < np.where(np.arange(8000) < 6500, 0.9, 0.3), y, other)
    rises = np.where(rng.random(8000) < np.where(np.arange(8000) < 6500, 0.3, 0.95), y, other)
    steady = np.where(rng.random(8000) < 0.8, y, other)
    sampler = aw.Sampler(rule=aw.FixedRate(0.3), seed=3, advisers=["falls", "rises", "steady"], labels=NAMES[:2])
    sampler.run(None, y, advice={"falls": falls, "rises": rises, "steady": steady})
    found = aw.evaluate.advisers(sampler)
    assert "falls has become worse: right in at most" in found["falls"].change
    assert "of its last 1,000 answers" in found["falls"].change
    assert "rises has become better: right in at least" in found["rises"].change
    assert found["steady"].change == ""
