"""Reports on a stream: accuracy, budget, drift, agreement; and the model itself."""

from __future__ import annotations

import asyncio
import dataclasses
import math
from typing import Any

from ...evaluate.estimation import sentences
from ...evaluate.estimation.accuracy import Accuracy, accuracy
from ...evaluate.estimation.corrections import CorrectedSampler, LabelCorrection
from ...evaluate.estimation.estimate import Estimate
from ..domain.model import Model
from ..domain.stream import ServiceStream
from ..events import numbers
from ..runtime.coordinator import Coordinator
from . import label_noise, promises
from .confusions import most_confused, of_two

MOST_CONFUSED = 30
"""Largest number of labels for which a report has the confusion matrix; beyond that, only the most confused pairs."""


class CopiedTally:
    """A copy of what a sampler has counted, so that its accuracy can be estimated in another thread."""

    def __init__(self, source: CorrectedSampler, corrected: int) -> None:
        self.corrected = corrected
        self.classes: Any = source.classes or []  # none where labels are numbers
        self.rule, self.costs = source.rule, source.costs
        self._tally, self._by_class = source.tally(), source.class_tally()

    def tally(self) -> Any:
        """The sums over all rounds."""
        return self._tally

    def class_tally(self) -> Any:
        """The sums of every class."""
        return self._by_class

    def estimated(self, confidence: float, waiting: int | None = None, disputed: int = 0) -> tuple[Accuracy, str]:
        """The accuracy, and advice on how to know it better, where so many questions wait, and so many are disputed."""
        found = accuracy(self, confidence=confidence)
        if self._by_class is None and self.classes:
            tally, _, _, unanswered = self._tally
            classes, confusion = of_two(tally, unanswered, 1.0 - confidence)
            found = dataclasses.replace(
                found, classes=dict(zip(self.classes, classes, strict=True)), confusion=confusion
            )
        return found, sentences.advice(found, waiting, disputed)


def copied_tally(stream: ServiceStream) -> CopiedTally:
    """A copy of the counts of a stream, with its corrections."""
    model = stream.model
    sampler = model.sampler

    def value(prediction: str | None, label: str) -> Any:
        """A label as the sampler has it; where labels are numbers, whether it is near the prediction."""
        return not model.differs(prediction, label) if model.is_number else model.value(label)

    corrections = [
        LabelCorrection(
            each.played,
            each.probability,
            each.level,
            each.margin > 0.0,
            None if each.prediction is None else value(each.prediction, each.prediction),
            None if each.model is None else value(each.prediction, each.model),
            None if each.label is None else value(each.prediction, each.label),
        )
        for each in stream.questions.stored.corrections.values()
        if 0 <= each.played < sampler.round
    ]
    return CopiedTally(CorrectedSampler(sampler, corrections), len(corrections))


async def report(coordinator: Coordinator, stream: ServiceStream, confidence: float) -> dict[str, Any]:
    """Accuracy, budget and drift of a stream, estimated from the labels that were asked for."""
    await coordinator.commits.settled()
    sampler, stored, word = stream.model.sampler, stream.questions.stored, stream.model.word
    counted = copied_tally(stream)
    budget = {
        "asked": stored.asked,
        "share": stored.asked / stream.state.instances if stream.state.instances else None,
        "rule": repr(sampler.rule),
    }
    drift = {
        "experts": sampler.experts,
        "weights": sampler.drift_weights.tolist(),
        "switches": sampler.switches,
    }
    waiting = stream.questions.waiting
    disputed = stream.questions.disputed
    labels = label_noise.facts(stream, confidence)
    found, advice = await asyncio.to_thread(counted.estimated, confidence, waiting, disputed)
    facts = {
        "rounds": found.rounds,
        "questions": found.questions,
        "answered": found.answered,
        "unanswered": found.unanswered,
        "waiting": waiting,
        "unobserved": found.unobserved,
        "confidence": found.confidence,
        "corrected": counted.corrected,
        "copies": stored.copies,
        "overall": found.overall,
        "recent": found.recent,
        "windows": {str(window): each for window, each in found.windows.items()},
        "sentence": sentences.of_accuracy(found, _what(stream), "instances"),
        "advice": advice,
        "labels": labels,
        "classes": {word(label): each for label, each in found.classes.items()},
    }
    words = [word(each) for each in counted.classes]
    if found.confusion is not None and len(found.confusion) <= MOST_CONFUSED:
        facts["confusion"] = {"labels": words, "rows": found.confusion}
    elif found.confusion is not None:
        facts["confused"] = most_confused(words, found.confusion)
    if len(words) == 2 and counted.class_tally() is None:
        facts |= {"precision": found.precision, "recall": found.recall, "f_measure": found.f_measure}
    promise = promises.facts(stream)
    parts = {"accuracy": facts, "budget": budget, "drift": drift} | ({} if promise is None else {"promise": promise})
    plain: dict[str, Any] = _plain(parts)
    return plain


def _what(stream: ServiceStream) -> str:
    """What the accuracy is."""
    within = stream.settings.within
    if within is None:
        return "The accuracy of the predictions"
    return f"The share of predictions within {numbers.written(within)} of the label"


def _plain(value: Any) -> Any:
    """A value as JSON can have it; numbers that it lacks become null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        facts = {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return facts | {"why_unknown": value.why_unknown or None} if isinstance(value, Estimate) else facts
    if isinstance(value, dict):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


async def agreement(coordinator: Coordinator, stream: ServiceStream) -> dict[str, Any]:
    """Agreement of annotators, and the counts of each."""
    await coordinator.commits.settled()
    people = stream.questions.stored.people
    return people.agreement() | {"people": people.facts()}


async def model(coordinator: Coordinator, stream: ServiceStream) -> bytes:
    """The model as a snapshot that ``aw.load`` reads, with what its instances are made of, and its labels."""
    await coordinator.commits.settled()
    settings, pack = stream.settings, stream.model.dump()
    return await asyncio.to_thread(lambda: Model.load(settings, pack()).portable(settings))
