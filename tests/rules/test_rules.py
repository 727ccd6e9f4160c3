"""Floors, audits and the focused rule: probabilities as documented, and coins that keep to them."""

import numpy as np
import pytest

import askwhen as aw
from tests.streams import noisy

FLOORED = {
    "margin": lambda floor: (aw.Lasec(1.0, 30.0), aw.MarginRule(0.02, floor=floor)),
    "adaptive": lambda floor: (aw.Perceptron(), aw.AdaptiveMarginRule(0.001, floor=floor)),
    "focused": lambda floor: (aw.Lasec(1.0, 30.0), aw.FocusedRule(0.05, floor=floor)),
    "fixed": lambda floor: (aw.Perceptron(), aw.FixedRate(0.01, floor=floor)),
    "bbq": lambda floor: (aw.LeastSquares(), aw.BBQRule(0.3, floor=floor)),
    "always": lambda floor: (aw.Perceptron(), aw.Always(floor=floor)),
    "budget": lambda floor: (aw.Perceptron(), aw.BudgetRule(0.5, floor=floor)),
}


@pytest.mark.parametrize("name", FLOORED)
def test_no_probability_is_below_the_floor_and_coins_keep_to_it(name):
    X, y = noisy(0, n=3000)
    trace = aw.Sampler(*FLOORED[name](0.2), seed=2).run(X, y)
    assert trace.probability.min() >= 0.2
    np.testing.assert_array_equal(trace.queried, trace.coin < trace.probability)
    plain = aw.Sampler(*FLOORED[name](0.0), seed=2).run(X[:1], y[:1])
    assert trace.probability[0] == max(plain.probability[0], 0.2)


def test_the_focused_rule_asks_by_the_bell_of_the_margin():
    X, y = noisy(1, n=2000)
    trace = aw.Sampler(aw.Lasec(1.0, 30.0), aw.FocusedRule(0.3), seed=2).run(X, y)
    np.testing.assert_allclose(trace.probability, np.exp(-((trace.margin / 0.3) ** 2)), rtol=1e-12)
    np.testing.assert_array_equal(trace.queried, trace.coin < trace.probability)
    assert trace.probability[0] == 1.0


@pytest.mark.parametrize("learn", [True, False])
def test_an_audit_asks_for_its_share_and_a_silent_one_changes_nothing(learn):
    X, y = noisy(2, n=4000)
    plain = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.5), seed=2).run(X, y)
    audited = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.5), audit=aw.Audit(0.1, learn=learn), seed=2).run(X, y)
    extra = audited.queried & (audited.probability < 1)
    np.testing.assert_array_equal(extra, (audited.coin >= 0.9) & (audited.probability < 1))
    assert set(np.unique(audited.probability)) == {0.1, 1.0}
    assert audited.updated[extra].all() == learn
    if not learn:
        np.testing.assert_array_equal(plain.margin, audited.margin)
        np.testing.assert_array_equal(plain.queried | (plain.coin >= 0.9), audited.queried)


def test_an_audit_adds_to_a_probability_up_to_one():
    X, y = noisy(3, n=3000)
    trace = aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), audit=aw.Audit(0.3), seed=2).run(X, y)
    by_rule = 0.5 / (0.5 + np.abs(trace.margin))
    np.testing.assert_allclose(trace.probability, np.minimum(by_rule + 0.3, 1.0), rtol=1e-12)
    np.testing.assert_array_equal(trace.queried, (trace.coin < by_rule) | (trace.coin >= 0.7))


@pytest.mark.parametrize("bad", [-0.1, 1.1, "0.1", True, float("nan")])
def test_bad_floors_and_audits_are_refused(bad):
    for build in (lambda: aw.Audit(bad), lambda: aw.MarginRule(1.0, floor=bad), lambda: aw.FixedRate(0.1, floor=bad)):
        with pytest.raises(aw.InputError):
            build()
