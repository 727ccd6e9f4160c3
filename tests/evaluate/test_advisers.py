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
