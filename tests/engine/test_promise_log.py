"""The account of a promise where another sampler takes it over: it stays what it would be without that."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.engine import promise_log
from askwhen.rules.promise_account import GIVEN, wealth_logs


def stream(seed, n=900):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 4))
    return X, np.where(X[:, 0] + 0.3 * rng.standard_normal(n) > 0, 1.0, -1.0)


def sampler(seed=3, **more):
    return aw.Sampler(aw.Lasec(1.0, 300.0, "queried"), aw.PromiseRule(0.15, **more), seed=seed)


def account(made):
    promise = made.promise
    found = (promise.delivered, promise.asked, promise.answered, promise.withheld, promise.certificate)
    return (*found, promise.estimated, promise.waiting), wealth_logs(made.engine.rule)


def same(one, other):
    assert account(one)[0][:5] == account(other)[0][:5]
    logs, others = account(one)[1], account(other)[1]  # sums of terms of both signs, in another order
    np.testing.assert_allclose(logs, others, rtol=1e-12, atol=1e-13)
    assert one.promise.estimated == pytest.approx(other.promise.estimated, rel=1e-9)


def late(made, X, y, every=40):
    """Rounds whose answers come in groups; the last group is open at the end."""
    asks, open = [], []
    for x in X:
        asks.append(made.ask(x))
        if asks[-1].query:
            open.append(asks[-1])
        if len(asks) % every == 0:
            for each in open:
                made.tell(each, y[each.round])
            open = []
    return asks, open


@pytest.mark.parametrize("reloaded", [False, True])
def test_another_sampler_takes_the_account_over_and_settles_what_is_open(tmp_path, reloaded):
    X, y = stream(1)
    first, whole = sampler(), sampler()
    asks, open = late(first, X[:790], y)
    late(whole, X[:790], y)
    assert len(open) > 3
    other = sampler(seed=8)  # played by the decisions of the log, and it predicts something else
    for ask in asks[10:]:  # ten instances were erased
        again = other.play(2.0 * X[ask.round][::-1], None, (ask.query, ask.probability)).ask
        if ask.query and ask not in open:
            other.tell(again, y[ask.round])
    promise_log.take_over(other.engine, first.engine)
    if reloaded:
        other.save(tmp_path / "one")
        other = aw.Sampler.load(tmp_path / "one")
        other.save(tmp_path / "two")
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()
    for ask in open[1:]:
        other.tell(ask.round - 10, y[ask.round])
        promise_log.settle(other.engine, ask.round + 1, bool(ask.prediction != y[ask.round]))
        whole.tell(ask.round, y[ask.round])
    other.forget(open[0].round - 10)
    promise_log.settle(other.engine, open[0].round + 1, None)
    whole.forget(open[0].round)
    same(other, whole)
    assert other.promise.withheld == whole.promise.withheld
    for x, label in zip(X[790:], y[790:], strict=True):  # and goes on with questions of its own
        ask = other.ask(x)
        late_one = ask
        if ask.query:
            other.ask(x)
            other.tell(late_one, label)
    assert other.promise.certified <= 0.15
    assert other.promise.delivered + other.promise.waiting + other.promise.withheld == other.engine.rule.sums[0]


def test_rounds_that_are_not_played_are_in_the_account():
    X, y = stream(2)
    whole, other = sampler(), sampler()
    asks, _ = late(whole, X[:400], y)
    for ask in asks:
        promise_log.add_round(other.engine, ask.margin, ask.probability, ask.expected, ask.query, ask.withheld)
        if (ask.round + 1) % 40 == 0:
            for each in asks[ask.round - 39 : ask.round + 1]:
                if each.query:
                    promise_log.settle(other.engine, each.round + 1, bool(each.prediction != y[each.round]))
    same(other, whole)
    assert other.round == 0


def test_a_question_for_free_is_delivered_and_costs_nothing():
    X, y = stream(3)
    made = sampler()
    late(made, X[:800], y, every=1)
    before, logs = account(made)
    free = made.play(X[0], None, "certain").ask
    assert (free.query, free.withheld, free.expected, free.delivered) == (True, False, None, None)
    made.tell(free, 1)
    after, then = account(made)
    np.testing.assert_array_equal(then, logs)
    assert (after[0], after[1:4], after[-1]) == (before[0] + 1, before[1:4], before[-1])
    assert made.promise.certificate.asked == before[4].asked + 1
    assert made.engine.rule.hoped.sum() == 0.0
    skipped = sampler()
    promise_log.add_round(skipped.engine, 0.0, 1.0, None, True, False)
    promise_log.settle(skipped.engine, 1, True)
    assert skipped.engine.rule.sums[GIVEN] == skipped.promise.delivered == 1
    assert skipped.engine.rule.hoped.sum() == 0.0


def test_answers_and_predictions_that_are_corrected():
    X, y = stream(4)
    made = sampler()
    asks, _ = late(made, X[:880], y)
    before = account(made)
    ask = next(each for each in asks if each.query and each.probability < 0.5 and each.prediction == y[each.round])
    facts = ask.probability, ask.expected
    promise_log.correct_answer(made.engine, *facts, False, None)  # taken back
    assert made.promise.delivered == before[0][0] - 1
    worst = made.promise.certified
    promise_log.correct_answer(made.engine, *facts, None, True)
    assert made.promise.certified <= worst
    promise_log.correct_answer(made.engine, *facts, True, False)
    assert made.promise.certificate == before[0][4]
    assert made.promise.estimated == pytest.approx(before[0][5])
    np.testing.assert_allclose(account(made)[1], before[1], rtol=1e-12)
    promise_log.replace_prediction(made.engine, 1, 1)
    promise_log.give(made.engine, 1)
    found = made.promise.certificate
    assert (found.delivered, found.asked) == (before[0][0] + 1, before[0][4].asked + 2)
    assert found.certified * found.delivered == pytest.approx(before[0][4].certified * before[0][0] - 1)
    promise_log.give(made.engine, -1)
    promise_log.replace_prediction(made.engine, -1, -1)
    assert made.promise.certificate == before[0][4]


def test_another_promise_and_budget_follow_on_the_account():
    X, y = stream(5)
    made = sampler()
    late(made, X[:800], y, every=1)
    before = account(made)
    made.engine.change_budget(aw.PromiseRule(0.1, rate=0.3), made.questions)
    np.testing.assert_allclose(account(made)[1], before[1], rtol=1e-12)
    assert (made.promise.error, made.promise.delivered) == (0.1, before[0][0])
    assert made.ask(X[800]).probability > 0.0  # questions that were paid before have used up no tokens
