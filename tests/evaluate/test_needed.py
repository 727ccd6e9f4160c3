"""What it would take to know better: checked by asking for it."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.evaluate import accuracy
from tests.streams import noisy


def test_as_many_labels_as_it_says_bring_about_that_width():
    X, y = noisy(3, n=40_000)
    for rule in (aw.FixedRate(0.1), aw.BudgetRule(0.1)):
        sampler = aw.Sampler(aw.AutoLasec(), rule, prepare=aw.Prepare(), seed=5)
        sampler.run(X[:4000], y[:4000])
        found = accuracy(sampler)
        width = 0.6 * (found.overall.high - found.overall.low)
        needed = found.needed(width)
        assert needed.by_rule is not None
        start = sampler.questions
        at = 4000
        while sampler.questions < start + needed.by_rule and at < 40_000:
            sampler.run(X[at : at + 200], y[at : at + 200])
            at += 200
        then = accuracy(sampler).overall
        assert 0.6 * width < then.high - then.low < 1.5 * width
        assert needed.at_random <= needed.by_rule * 1.2


def test_nothing_more_is_needed_where_it_is_known_and_nothing_helps_where_nothing_can_be_asked():
    X, y = noisy(0, n=3000)
    sure = accuracy(aw.Sampler(aw.Perceptron(), aw.Always(), seed=1).run(X, y))
    assert sure.needed(0.01) == (0, 0)
    assert sure.advice() == ""
    blind = accuracy(aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.1, most=20), seed=1).run(X, y))
    assert blind.needed(0.1).by_rule is None
    spent = aw.Sampler(rule=aw.BudgetRule(0.1, most=300), seed=1)
    X, y = noisy(0, n=3500)
    spent.run(X, y)
    assert spent.questions == 300
    assert accuracy(spent).needed(0.5) == (None, accuracy(spent).needed(0.5).at_random)
    fresh = accuracy(aw.Sampler(seed=1))
    assert fresh.needed(0.1) == (None, None)
    assert fresh.advice() == ""
    with pytest.raises(aw.InputError, match="width must be"):
        fresh.needed(2.0)


def test_the_advice_names_both_ways_and_the_next_round_width():
    X, y = noisy(0, n=6000)
    found = accuracy(aw.Sampler(seed=1).run(X, y))
    width = found.overall.high - found.overall.low
    assert found.target < width
    assert f"within {50 * found.target:g} points either way" in found.advice()
    assert "at random or about" in found.advice()
    assert np.isfinite(found.needed(found.target).at_random)
