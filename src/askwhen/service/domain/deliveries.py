"""What the log says of delivered labels, for the account of a promise.

The sampler notes its own rounds and answers. All else is noted here: answers to questions of earlier models, corrected
labels and unsolicited ones.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...engine import promise_log
from ..events.kinds import Corrected, Forgotten, Instance, Told, Volunteered
from .model import Model
from .questions import Question


def add_round(model: Model, fact: Instance) -> None:
    """Note a round that the model has not played."""
    if model.has_promise:
        promise_log.add_round(
            model.sampler.engine, fact.margin, fact.probability, fact.expected, fact.asked, fact.withheld
        )


def note_outcome(model: Model, question: Question, fact: Told | Forgotten) -> None:
    """Note the outcome of a question of an earlier model; that of the model's own is noted already."""
    label = fact.label if isinstance(fact, Told) else None
    promise_log.settle(model.sampler.engine, question.round + 1, model.differs(question.prediction, label))


def note_correction(model: Model, question: Question, fact: Corrected, instance: Instance) -> None:
    """Note that a question gets another label, or has none any more; before that is applied."""
    was, now = (model.differs(question.prediction, label) for label in (question.label, fact.label))
    if question.label != fact.label:
        promise_log.correct_answer(model.sampler.engine, question.probability, instance.expected, was, now)


def note_unsolicited(model: Model, instance: Instance, before: Sequence[Volunteered], given: Volunteered) -> None:
    """Note an unsolicited label of an instance, after those that it has."""
    engine, was, now = model.sampler.engine, standing(before), standing([*before, given])
    people = (now is not None) - (was is not None)
    if instance.is_certified:
        differs = bool(model.differs(instance.prediction, now)) - bool(model.differs(instance.prediction, was))
        if differs or people:
            promise_log.replace_prediction(engine, differs, people)
    elif people:
        promise_log.give(engine, people)


def standing(given: Sequence[Volunteered]) -> str | None:
    """The unsolicited label that counts: the last one that was not taken back."""
    labels: dict[str, str] = {}
    for each in given:
        labels.pop(each.annotator, None)
        if each.label is not None:
            labels[each.annotator] = each.label
    return list(labels.values())[-1] if labels else None
