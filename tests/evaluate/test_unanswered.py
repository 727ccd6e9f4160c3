"""Questions without an answer are never counted as right, and a number is shown only once it is known."""

import math

import numpy as np
import pytest

import askwhen as aw
from askwhen.engine.tally.round_tally import STRATA
from askwhen.evaluate import accuracy
from askwhen.evaluate.estimation.sentences import advice

UNSEEN = 1 / 256
"""The predicted mistake of a round that is certain to be asked about."""


def asked_about(n, seed=3):
    """A sampler that asks about all of n instances with random labels, its questions, and the labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((n, 4)), rng.choice([-1.0, 1.0], n)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=seed)
    return sampler, [sampler.ask(x) for x in X], y


def give(sampler, ask, right):
    """Answer a question so that its prediction is right, or wrong."""
    sampler.tell(ask, ask.margin > 0 if right else not ask.margin > 0)


def recomputed(questions, rounds, stretch=100):
    """The accuracy from (round, right or None) of every question, each asked for certain, in plain words.

    In each stretch of time the mistakes that were seen are multiplied by questions / answers; stretches are joined
    until there are 20 answers.
    """
    groups, rest = [], []
    for first in range(0, rounds, stretch):
        if sum(right is not None for right in rest) >= 20:
            groups.append(rest)
            rest = []
        rest = rest + [right for number, right in questions if first <= number < first + stretch]
    if groups and sum(right is not None for right in rest) < 20:
        rest = groups.pop() + rest
    mistakes = rounds * UNSEEN
    for group in [*groups, rest]:
        answered = [right for right in group if right is not None]
        mistakes += sum((not right) - UNSEEN for right in answered) * len(group) / max(len(answered), 1)
    return 1.0 - mistakes / rounds


def test_five_answers_of_200_questions_are_no_accuracy():
    sampler, asks, _ = asked_about(200)
    for ask, right in zip(asks[:5], (True, True, True, False, False), strict=True):
        give(sampler, ask, right)
    found = accuracy(sampler)
    assert math.isnan(found.overall.value)
    assert math.isnan(found.overall.unbiased), "nothing is called unbiased while questions wait"
    assert found.overall.why_unknown == "fewer than 20 answers"
    assert (found.overall.low, found.overall.high) == pytest.approx((3 / 200, 198 / 200))
    assert (found.answered, found.unanswered, found.waiting) == (5, 195, 195)
    for each in (found.overall, found.recent, found.precision, found.recall, found.f_measure, *found.windows.values()):
        assert str(each).startswith("not known yet (")
    sentence = (
        "The accuracy is not known yet with fewer than 20 answers (1.5% to 99.0%): 5 of 200 questions are answered"
    )
    assert found.sentence().startswith(sentence)
    assert found.advice() == "Answer the 195 questions that wait."
    parts = "Answer the 15 questions that wait and decide the 180 disputed ones in the review."
    assert advice(found, 15, 180) == parts
    assert advice(found, 0, 1).startswith("Decide the 1 disputed question in the review")


def test_one_wrong_answer_of_200_is_no_accuracy():
    sampler, asks, _ = asked_about(200)
    give(sampler, asks[0], False)
    found = accuracy(sampler)
    assert not found.overall.is_known
    assert "99.1%" not in str(found)
    assert found.advice() == "Answer the 199 questions that wait."


@pytest.mark.parametrize("drops", [False, True], ids=["open", "forgotten"])
def test_answers_stand_for_the_questions_that_have_none(drops):
    sampler, asks, _ = asked_about(1000)
    rng = np.random.default_rng(5)
    right, told = rng.random(1000) < 0.6, rng.random(1000) < 0.8
    for ask, is_right, is_told in zip(asks, right, told, strict=True):
        if is_told:
            give(sampler, ask, is_right)
        elif drops:
            sampler.forget(ask)
    found = accuracy(sampler)
    assert found.overall.value == pytest.approx(right[told].mean(), abs=0.01)
    given = [(i, bool(right[i]) if told[i] else None) for i in range(1000)]
    assert found.overall.value == pytest.approx(recomputed(given, 1000), abs=1e-9)
    assert found.overall.low == pytest.approx((right & told).mean())
    assert found.overall.high == pytest.approx(1 - (~right & told).mean())
    assert math.isnan(found.overall.unbiased)
    assert "unbiased" not in found.sentence()
    assert found.waiting == (0 if drops else 1000 - told.sum())


def test_a_backlog_of_answers_does_not_distort():
    """At first every question is answered and the model is bad; later it is good, and nearly all of them wait."""
    sampler, asks, _ = asked_about(2000)
    rng = np.random.default_rng(6)
    early = np.arange(2000) < 500
    right = rng.random(2000) < np.where(early, 0.5, 0.9)
    told = early | (rng.random(2000) < 0.65)
    for i in rng.permutation(2000):
        if told[i]:
            give(sampler, asks[i], right[i])
    value = accuracy(sampler).overall.value
    assert value == pytest.approx(recomputed([(i, bool(right[i]) if told[i] else None) for i in range(2000)], 2000))
    truth, pooled = right.mean(), right[told].mean()
    assert abs(value - truth) < 0.015 < abs(pooled - truth)


def test_the_order_of_answers_does_not_matter_and_strata_are_joined():
    rounds = 100 * STRATA + 1500
    found = []
    for late in (False, True):
        rng = np.random.default_rng(7)
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=3)
        right, told, asks = rng.random(rounds) < 0.7, rng.random(rounds) < 0.9, []
        for i, x in enumerate(rng.standard_normal((rounds, 3))):
            asks.append(sampler.ask(x))
            if told[i] and not late:
                give(sampler, asks[i], right[i])
        for i in np.flatnonzero(told)[::-1] if late else []:
            give(sampler, asks[i], right[i])
        found.append(accuracy(sampler).overall)
        given = [(i, bool(right[i]) if told[i] else None) for i in range(rounds)]
        assert found[-1].value == pytest.approx(recomputed(given, rounds, 200), abs=1e-9)
    assert found[0].value == pytest.approx(found[1].value, abs=1e-12)


def test_with_all_answers_nothing_is_added():
    sampler, asks, _ = asked_about(300)
    for i, ask in enumerate(asks):
        give(sampler, ask, i % 4 > 0)
    found = accuracy(sampler)
    assert found.overall.value == found.overall.unbiased == 0.75
    assert found.sentence().endswith("all 300 questions are answered, so that the estimate is unbiased.")
    assert (found.overall.answered, found.overall.unanswered) == (300, 0)


def test_right_answers_never_make_the_accuracy_fall():
    sampler, asks, _ = asked_about(400)
    values = []
    for ask in asks:
        give(sampler, ask, True)
        values.append(accuracy(sampler).overall.value)
    known = [value for value in values if not math.isnan(value)]
    assert len(known) > 100
    assert known == sorted(known)


def test_a_saved_sampler_continues_with_its_strata(tmp_path):
    sampler, asks, _ = asked_about(700)
    for i, ask in enumerate(asks[::2]):
        give(sampler, ask, i % 3 > 0)
    sampler.save(tmp_path / "half.askwhen")
    loaded = aw.Sampler.load(tmp_path / "half.askwhen")
    for each in (sampler, loaded):
        for ask in each.pending[:150]:
            give(each, ask, True)
    assert accuracy(sampler) == accuracy(loaded)


def test_costs_are_unknown_too_where_little_is():
    rng = np.random.default_rng(1)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1, costs=(1.0, 20.0))
    asks = [sampler.ask(x) for x in rng.standard_normal((60, 3))]
    for ask in asks[:19]:
        give(sampler, ask, True)
    cost = accuracy(sampler).cost
    assert not cost.is_known
    assert str(cost).startswith("not known yet (")


def test_nobody_has_answered_so_nothing_is_certain():
    rng = np.random.default_rng(0)
    for classes, least in ((None, 0.5), (["a", "b", "c"], 1 / 3)):
        sampler = aw.Sampler(classes=classes, rule=aw.BudgetRule(0.1), seed=1)
        asks = [sampler.ask(x) for x in rng.standard_normal((6_000, 3)) * np.linspace(1, 9, 6_000)[:, None]]
        assert {ask.certainty for ask in asks} == {least}


def test_unsolicited_labels_do_not_make_certain():
    """The margins are nothing but rounding errors or tiny for a long while, and then one of them stands out."""
    rng = np.random.default_rng(0)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.1), seed=1)
    sampler.learn(np.ones((1, 3)), np.array([1.0]))
    found = {sampler.ask(x).certainty for x in rng.standard_normal((300, 3))}
    assert found == {0.5}


def test_certainty_is_limited_by_the_number_of_answers():
    rng = np.random.default_rng(0)
    sampler = aw.Sampler(rule=aw.Always(), seed=1)
    for n in range(40):
        x = rng.standard_normal(3)
        ask = sampler.ask(x * 5)
        assert 0.5 <= ask.certainty <= (n + 1) / (n + 2)
        assert np.all(sampler.probabilities(x[None] * 5) <= (n + 1) / (n + 2)) or n == 0
        sampler.tell(ask, x[0] > 0)
    assert ask.certainty > 0.5


def test_files_of_earlier_versions_keep_their_certainty(tmp_path):
    sampler = aw.Sampler(seed=1)
    sampler.engine.limits_certainty = False
    sampler.ask(np.ones(3))
    sampler.save(tmp_path / "old.askwhen")
    assert not aw.Sampler.load(tmp_path / "old.askwhen").engine.limits_certainty
    fresh = aw.Sampler(seed=1)
    fresh.save(tmp_path / "new.askwhen")
    assert aw.Sampler.load(tmp_path / "new.askwhen").engine.limits_certainty
