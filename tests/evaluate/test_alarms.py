"""Alarms: raised after a real drop, hardly ever by chance, and never changing what they look at."""

import numpy as np
import pytest
from scipy import stats

import askwhen as aw
from askwhen.evaluate import alarm
from tests.soak import times
from tests.streams import noisy


def stream(seed, n, lost_from):
    rng = np.random.default_rng([seed, 1])
    X = rng.standard_normal((n, 4))
    y = np.where(X[:, 0] > 0, 1, -1)
    return X, np.where(np.arange(n) >= lost_from, rng.choice([-1, 1], n), y)


def test_it_is_raised_after_a_drop_and_says_since_when():
    X, y = stream(0, 9000, 5000)
    sampler = aw.Sampler(seed=3)
    sampler.run(X[:5000], y[:5000])
    before = alarm(sampler, 0.8, recent=1000)
    assert not before
    assert 0.0 <= before.evidence < 1.0
    assert "is not known to have fallen" in str(before)
    sampler.run(X[5000:], y[5000:])
    found = alarm(sampler, 0.8, recent=1000)
    assert found
    assert 5000 <= found.since < 9000
    assert "has fallen below 80.0%" in str(found)


def test_it_is_hardly_ever_raised_where_every_window_reaches_the_level():
    """Labels that are wrong just as often as the level allows, in every window of every life."""
    lives, raised = times(12, 60), 0
    for seed in range(lives):
        n = 6000
        right = np.resize(np.random.default_rng([seed, 2]).permutation(np.arange(100) < 90), n)  # 90 of any hundred
        sampler = aw.Sampler(aw.Perceptron(), aw.FixedRate(0.2), seed=seed)
        x, fired = np.ones(1), False
        for i in range(n):
            ask = sampler.ask(x)
            if ask.query:
                sampler.tell(ask, ask.prediction if right[i] else -ask.prediction)
            if i % 500 == 499:
                fired = fired or bool(alarm(sampler, 0.9, recent=1000))
        raised += fired
    assert raised <= stats.binom.ppf(0.99, lives, 0.05)


def test_looking_changes_nothing_and_open_questions_count_as_right():
    X, y = noisy(0, n=2500)
    looked, alone = (aw.Sampler(seed=3) for _ in range(2))
    for i in range(0, 2500, 100):
        looked.run(X[i : i + 100], y[i : i + 100])
        alarm(looked, 0.9)
    alone.run(X, y)
    assert aw.evaluate.accuracy(looked) == aw.evaluate.accuracy(alone)
    silent = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    for x in X[:1500]:
        silent.ask(x)
    assert alarm(silent, 0.99, recent=1000).evidence == 0.0


def test_it_refuses_what_makes_no_sense():
    for level, recent in ((0.0, 1000), (1.0, 1000), (0.9, 700), (0.9, 1000.0)):
        with pytest.raises(aw.InputError):
            alarm(aw.Sampler(seed=1), level, recent)
    with pytest.raises(aw.InputError, match="predicts labels"):
        alarm(aw.Sampler(regression=True, seed=1), 0.9)
    with pytest.raises(aw.InputError, match="predicts labels"):
        alarm(0.5, 0.9)
    many = aw.Sampler(aw.Perceptron(), aw.FixedRate(0.5), seed=1)
    X, y = noisy(0, n=50)
    many.run_tasks(X, np.column_stack([y, y]))
    with pytest.raises(aw.InputError, match="has tasks"):
        alarm(many, 0.9)
