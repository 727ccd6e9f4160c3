"""A corrected label counts as if it had been the right one all along."""

import dataclasses

import numpy as np
import pytest

import askwhen as aw
from askwhen.engine.round.rounds import unmarked
from askwhen.evaluate.estimation.corrections import CorrectedSampler, LabelCorrection

X = np.random.default_rng(0).standard_normal((300, 4))
Y = np.where(X[:, 0] > 0, 1, -1)


def played(classes, last):
    """A sampler whose last answer is this one, and what a correction of it needs."""
    sampler = aw.Sampler(rule=aw.FixedRate(0.5), seed=3, classes=classes)
    labels = [-1, 1] if classes is None else classes
    asks = [sampler.ask(x) for x in X]
    asked = [ask for ask in asks if ask.query]
    for ask in asked[:-1]:
        sampler.tell(ask, labels[int(Y[ask.round] > 0)])
    question = asked[-1]
    level = unmarked(sampler.engine.pending[question.round][2])[3]
    if last is None:
        sampler.forget(question)
    else:
        sampler.tell(question, last)
    found = (question.round, question.probability, level, question.margin > 0.0, question.prediction)
    return sampler, found


def numbers(found):
    """Everything an estimate says, as a flat list."""
    if dataclasses.is_dataclass(found):
        return [n for field in dataclasses.fields(found) for n in numbers(getattr(found, field.name))]
    if isinstance(found, dict):
        return [n for each in found.values() for n in numbers(each)]
    return [found] if isinstance(found, (int, float)) else []


@pytest.mark.parametrize("classes", [None, ["a", "b", "c"]], ids=["two", "three"])
@pytest.mark.parametrize(("old", "new"), [(0, 1), (1, 0), (1, None), (None, 0)])
def test_a_corrected_answer_is_the_right_one(classes, old, new):
    labels = [-1, 1] if classes is None else classes
    old, new = (None if each is None else labels[each] for each in (old, new))
    wrong, question = played(classes, old)
    right, _ = played(classes, new)
    corrected = aw.evaluate.accuracy(CorrectedSampler(wrong, [LabelCorrection(*question, old, new)]))
    wanted = aw.evaluate.accuracy(right)
    assert corrected.answered == wanted.answered
    np.testing.assert_allclose(numbers(corrected.overall), numbers(wanted.overall), atol=1e-9)
    np.testing.assert_allclose(numbers(corrected.windows), numbers(wanted.windows), atol=1e-9)
    np.testing.assert_allclose(numbers(corrected.classes), numbers(wanted.classes), atol=1e-9)
    before = aw.evaluate.accuracy(wrong)
    assert numbers(before.overall) != numbers(wanted.overall)
    assert numbers(aw.evaluate.accuracy(wrong).overall) == numbers(before.overall), "the sampler is as it was"


def told_at_once(last, late):
    """A sampler of open labels, its last answer this one, and what a correction needs; ``late``: none is known yet."""
    sampler = aw.Sampler(rule=aw.FixedRate(0.5), seed=3, classes="open")
    asked = []
    for x, y in zip(X, Y, strict=True):
        ask = sampler.ask(x)
        if ask.query:
            asked.append((ask, "ab"[int(y > 0)]))
            if not late and len(asked) > 1:
                sampler.tell(*asked[-2])
    for ask, label in asked[:-1] if late else []:
        sampler.tell(ask, label)
    question = asked[-1][0]
    level = unmarked(sampler.engine.pending[question.round][2])[3]
    if last is None:
        sampler.forget(question)
    else:
        sampler.tell(question, last)
    return sampler, (question.round, question.probability, level, question.margin > 0.0, question.prediction)


@pytest.mark.parametrize("late", [False, True], ids=["known", "unknown"])
@pytest.mark.parametrize(("old", "new"), [("a", "b"), ("b", None), (None, "a"), ("a", "new"), (None, "new")])
def test_a_corrected_answer_may_be_a_label_that_nobody_gave_before(old, new, late):
    wrong, question = told_at_once(old, late)
    right, _ = told_at_once(new, late)
    assert (question[-1] is None) == late
    corrected = CorrectedSampler(wrong, [LabelCorrection(*question, old, new)])
    found, wanted = aw.evaluate.accuracy(corrected), aw.evaluate.accuracy(right)
    assert corrected.classes == right.classes
    assert list(found.classes) == list(wanted.classes)
    np.testing.assert_allclose(numbers(found.overall), numbers(wanted.overall), atol=1e-9)
    np.testing.assert_allclose(numbers(found.classes), numbers(wanted.classes), atol=1e-9)


def test_corrections_may_bring_many_new_labels():
    sampler = aw.Sampler(rule=aw.FixedRate(0.5), seed=3, classes="open")
    asked = [ask for ask in map(sampler.ask, X) if ask.query][:20]
    levels = [unmarked(sampler.engine.pending[ask.round][2])[3] for ask in asked]
    for ask in asked:
        sampler.tell(ask, "a")
    corrections = [
        LabelCorrection(ask.round, ask.probability, level, ask.margin > 0.0, ask.prediction, "a", f"label {i}")
        for i, (ask, level) in enumerate(zip(asked, levels, strict=True))
    ]
    found = aw.evaluate.accuracy(CorrectedSampler(sampler, corrections))
    assert list(found.classes) == ["a", *(f"label {i}" for i in range(20))]
    assert found.answered == 20
