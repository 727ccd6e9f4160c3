"""A promise on delivered labels: beside its reference, and by the mean of its wealth over all random draws."""

import copy
import math

import numpy as np
import pytest

import askwhen as aw
from askwhen.rules.promise_account import STAKES, stakes, wealth_logs
from tests.reference import promise as reference


def stream(seed, n=400, noise=0.6):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.where(X[:, 0] + noise * rng.standard_normal(n) > 0, 1.0, -1.0)


def played(sampler, X, y, late=0, lost=(), by=None):
    """Ask and tell every round, the answer ``late`` rounds later, in reversed order; and the same by a reference."""
    rng = np.random.default_rng(5)
    waiting, found = [], []
    for i, (x, label) in enumerate(zip(X, y, strict=True)):
        u = rng.random()
        ask = sampler.ask_on(u, x)
        if by is not None:
            found.append((ask.probability, *by.ask(ask.margin, u), ask.query))
        if ask.query:
            waiting.append((ask, label))
        if late == 0 or (i + 1) % late == 0:
            for each, told in reversed(waiting):
                wrong = each.prediction != told
                if each.round in lost:
                    sampler.forget(each)
                    if by is not None:
                        by.forget(each.round)
                else:
                    sampler.tell(each, told)
                    if by is not None:
                        by.tell(each.round, wrong)
            waiting = []
    return found


@pytest.mark.parametrize(("late", "lost"), [(0, ()), (13, ()), (40, range(0, 260, 9)), (150, ())])
def test_rounds_are_those_of_the_reference_with_late_and_lost_answers_in_any_order(late, lost):
    X, y = stream(1, n=260, noise=0.1)
    sampler = aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.3, confidence=0.8), seed=3)
    naive = reference.Promise(0.3, alpha=0.2)
    found = played(sampler, X, y, late, lost, naive)
    for ours, theirs, asks, query in found:
        assert ours == pytest.approx(theirs, rel=1e-6)
        assert asks == query
    assert sampler.promise.certified == pytest.approx(naive.certified(), abs=1e-12)
    assert sampler.promise.delivered == naive.delivered()
    unasked = sum(1 for P, _, _, query in found if P > 0 and not query)
    assert unasked > 40 if late < 100 else any(P == 0 for P, *_ in found)


@pytest.mark.parametrize(
    ("limits", "late"),
    [
        ({"most": 90}, 0),
        ({"rate": 0.25}, 9),
        ({"most": 110, "length": 300}, 0),
        ({"rate": 0.35, "length": 300}, 9),
    ],
    ids=str,
)
def test_rounds_with_a_budget_are_those_of_the_reference(limits, late):
    X, y = stream(1, n=300, noise=0.1)
    sampler = aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.3, confidence=0.8, **limits), seed=3)
    naive = reference.Promise(0.3, alpha=0.2, **limits)
    found = played(sampler, X, y, late, by=naive)
    for ours, theirs, asks, query in found:
        assert ours == pytest.approx(theirs, rel=1e-6)
        assert asks == query
    assert sampler.promise.certified == pytest.approx(naive.certified(), abs=1e-12)
    assert sampler.promise.delivered == naive.delivered()
    withheld = [P == 0.0 for P, *_ in found]
    assert 50 < sum(withheld) < 170
    if "length" in limits:  # the questions are spread: some of the last rounds are taken, others are not
        assert 0 < sum(withheld[200:]) < 100


@pytest.mark.parametrize("late", [0, 7, 60])
def test_a_known_length_and_simulated_rounds_have_the_same_bits(late):
    X, y = stream(2, n=260)
    coins = np.random.default_rng(5).random(len(y))
    one, two = (aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.2, length=400), seed=3) for _ in range(2))
    trace = one.run_on(coins, X, y)
    played(two, X, y)
    assert one.promise.certificate == two.promise.certificate
    np.testing.assert_array_equal(wealth_logs(one.engine.rule), wealth_logs(two.engine.rule))
    naive = reference.Promise(0.2, length=400)
    for i in range(len(y)):
        P, asked = naive.ask(trace.margin[i], coins[i])
        assert pytest.approx(trace.probability[i], rel=1e-6) == P
        if asked:
            naive.tell(i, trace.mistaken[i])
    played(copy.deepcopy(two), X, y, late)


def wealth_of(sampler, wrong):
    """The wealth, given how many unasked labels are wrong."""
    state = sampler.engine.rule
    return float(np.exp(state.weights + stakes() * wrong + wealth_logs(state)).sum())


def outcomes(sampler, X, answers, wrong=0, weight=1.0, waiting=(), at=0):
    """Every outcome of the draws of the next rounds: (its probability, the sampler, the wrong labels delivered).

    ``answers`` decides, from what happened so far, whether the next prediction is wrong, and after every round which
    waiting questions are told, in which order, and which are forgotten.
    """
    if at == len(X):
        yield weight, sampler, wrong
        return
    is_wrong = answers.wrong(sampler, at)
    for asks in (True, False):
        other = copy.deepcopy(sampler)
        ask = other.ask_on(0.0 if asks else math.nextafter(1.0, 0.0), X[at])
        chance = ask.probability if asks else 1.0 - ask.probability
        if chance == 0.0 or (not asks and ask.query):
            continue
        more = wrong
        now = waiting
        if ask.query:
            now = (*waiting, (ask, -ask.prediction if is_wrong else ask.prediction))
        elif not ask.withheld:
            more += is_wrong
        for each, label in answers.told(now, at):
            if label is None:
                other.forget(each)
            else:
                other.tell(each, label)
            now = tuple(pair for pair in now if pair[0] is not each)
        yield from outcomes(other, X, answers, more, weight * chance, now, at + 1)


class Adversary:
    """Labels that see the certificate, and answers that come in a given order."""

    def __init__(self, told, often):
        self.told, self.often = told, often

    def wrong(self, sampler, at):
        return (sampler.promise.certified < self.often) if self.often else at % 2


def at_once(waiting, at):
    return waiting


def reversed_at_the_end(waiting, at):
    return tuple(reversed(waiting)) if at == 6 else ()


def every_second(waiting, at):
    return waiting[::-1] if at in (2, 6) else ()


def some_are_lost(waiting, at):
    return [(ask, label if ask.round % 3 else None) for ask, label in waiting] if at in (2, 6) else ()


def never(waiting, at):
    return ()


def begun():
    X, y = stream(4, n=240, noise=0.1)
    sampler = aw.Sampler(aw.Perceptron(), aw.PromiseRule(0.4, confidence=0.6), seed=1)
    sampler.run(X, y)
    return sampler


@pytest.mark.parametrize("often", [0.0, 0.3], ids=["every second label", "labels that see the certificate"])
@pytest.mark.parametrize("told", [at_once, reversed_at_the_end, every_second, some_are_lost, never])
def test_the_mean_of_the_wealth_over_all_draws_is_what_it_was(told, often):
    sampler, X = begun(), stream(9, n=7, noise=0.1)[0]
    before, total, mean, kept = wealth_of(sampler, 0), 0.0, 0.0, 0
    for weight, end, wrong in outcomes(sampler, X, Adversary(told, often)):
        total += weight
        mean += weight * wealth_of(end, wrong)
        kept += end.promise.certified <= 0.4
        assert end.promise.is_met
    assert total == pytest.approx(1.0, abs=1e-12)
    assert kept > 6
    if told in (never, some_are_lost):  # where an answer is lost, the account takes the worst
        assert mean < before if told is never else mean <= before * (1.0 + 1e-9)
    else:
        assert mean == pytest.approx(before, rel=1e-9)


def test_stakes_weigh_one_together():
    for rule in (aw.PromiseRule(), aw.PromiseRule(0.1, length=3000), aw.PromiseRule(0.02, length=200)):
        assert np.exp(rule.start().weights).sum() == pytest.approx(1.0, abs=1e-12)
        assert len(rule.start().weights) == STAKES


def test_late_answers_never_make_the_rule_ask_more():
    asked = {}
    for late in (0, 10, 100, 1000):
        asked[late] = 0
        for seed in range(4):
            X, y = stream(seed, n=2000, noise=0.3)
            sampler = aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(0.1), seed=seed)
            played(sampler, X, y, late)
            asked[late] += sampler.promise.asked
            assert sampler.promise.certified <= 0.1
            rounds = sampler.promise.delivered + sampler.promise.withheld + sampler.promise.waiting
            assert rounds == len(y)
    assert max(asked.values()) == asked[0], asked
