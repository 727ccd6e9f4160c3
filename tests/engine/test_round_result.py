"""What a round returns: the draw, the switch and the level, as a log needs them, without a second generator."""

import datetime

import numpy as np
import pytest

import askwhen as aw
from askwhen.engine.round.rounds import read_marks


def stream(seed=0, rounds=400):
    X = np.random.default_rng(seed).standard_normal((rounds, 3))
    y = np.where(X[:, 0] > 0.0, 1, -1)
    y[rounds // 2 :] *= -1
    return X, y


def test_play_is_ask_with_what_a_log_stores():
    X, y = stream()
    one, other = (aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7) for _ in range(2))
    draws = np.random.Generator(np.random.PCG64(7)).random(len(X))
    for t, (x, label) in enumerate(zip(X, y, strict=True)):
        ask, (played, coin, switched, level) = one.ask(x), other.play(x)
        assert (ask, coin, switched) == (played, draws[t], False)
        assert level == (read_marks(other.engine.pending[t][2])[3] if played.query else 0)
        if ask.query:
            assert other.is_open(played)
            assert other.is_open(t)
            one.tell(ask, label)
            other.tell(played, label)
            assert not other.is_open(t)
    assert one.questions > 20


def test_switches_are_said_in_the_round_that_declares_them():
    X, y = stream(rounds=3000)
    sampler = aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.5), drift=aw.SwitchDetector(), seed=7)
    switched = []
    for x, label in zip(X, y, strict=True):
        result = sampler.play(x)
        if result.switched:
            switched.append(result.ask.round)
        if result.ask.query:
            sampler.tell(result.ask, label)
    assert switched
    assert switched == sampler.switches


def test_a_refused_round_draws_nothing():
    one, other = (aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7) for _ in range(2))
    x = np.ones(3)
    assert one.play(x) == other.play(x)
    with pytest.raises(aw.InputError):
        one.play([1.0, np.nan, 0.0])
    assert one.play(x) == other.play(x)


def test_labels_left():
    X, y = stream()
    assert aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0)).labels_left() is None
    assert aw.Sampler(rule=aw.BudgetRule(0.1)).labels_left() is None
    most = aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.5, most=30), seed=7)
    assert most.labels_left() == 30.0
    most.run(X[:20], y[:20])
    assert most.labels_left() == 30.0 - most.questions < 30.0
    day = aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=datetime.timedelta(days=1), count=5), seed=7)
    assert day.needs_time
    assert not most.needs_time
    day.run(X, y, times=np.arange(len(X)) * 100.0)
    assert day.labels_left(39_999.0) == 5.0 - day.questions < 5.0
    assert day.labels_left(86_400.0) == 5.0


def test_earlier_decisions_are_taken_over_as_if_the_rule_had_made_them_again():
    X, y = stream()
    first, same, other = (aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.2), seed=7) for _ in range(3))
    for x, label in zip(X, y, strict=True):
        made = first.play(x)
        decision = made.ask.query, made.ask.probability
        again, changed = same.play(x, decision=decision), other.play(x, decision=decision)
        assert made == again
        assert (changed.ask.query, changed.ask.probability) == decision
        if made.ask.query:
            first.tell(made.ask, label)
            same.tell(again.ask, label)
            other.tell(changed.ask, -label)  # other labels, another model, the same questions
    assert aw.evaluate.accuracy(first).overall == aw.evaluate.accuracy(same).overall
    assert first.play(X[0]) == same.play(X[0])


def test_a_round_that_asks_for_certain_costs_nothing():
    X, y = stream()
    sampler = aw.Sampler(aw.Perceptron(), aw.BudgetRule(0.2, most=30), seed=7)
    paid = 0
    for x, label in zip(X, y, strict=True):
        ask = sampler.play(x).ask
        if ask.query:
            paid += 1
            sampler.tell(ask, label)
        copy = sampler.play(x, decision="certain").ask
        assert (copy.query, copy.probability) == (True, 1.0)
        sampler.tell(copy, label)
        assert sampler.labels_left() == 30 - paid
    assert paid == 30
    found = aw.evaluate.accuracy(sampler)
    assert (found.rounds, found.answered) == (800, 430)


@pytest.mark.parametrize("decision", ["sure", (True, 0.0), (1, 0.5), (True, 1.5), (True,)])
def test_a_decision_that_cannot_have_been_made_is_refused(decision):
    sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=7)
    with pytest.raises(aw.InputError, match="decision must be"):
        sampler.play(np.ones(3), decision=decision)
