"""What today's model says of instances that were decided before, or are not decided yet; many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from ..domain import row_codec
from ..domain.model import Guess, Model
from ..domain.stream import ServiceStream
from ..events.advice import Advice, unpacked
from ..events.kinds import facts_of
from ..store.records import BacklogItem, Event

AT_ONCE = 500
"""Instances of one call of the model."""

UNKNOWN: Guess = (None, None)


class Stored(Protocol):
    """An instance of the log or of the backlog."""

    @property
    def row(self) -> bytes | None:
        """The instance as it was predicted on."""


def advice_of(instance: Stored) -> Advice | None:
    """What advisers had said of an instance before its decision; late advice is not predicted with."""
    if isinstance(instance, BacklogItem):
        given = unpacked(instance.advice)
        return None if given is None else given.said
    found: Advice | None = facts_of(instance).advice if isinstance(instance, Event) else None
    return found


def guesses_of(model: Model, instances: Sequence[Stored]) -> list[Guess]:
    """What a model says of instances with contents, and of what advisers say of them."""
    rows = [row_codec.from_bytes(each.row) for each in instances]
    return model.guesses(rows, [advice_of(each) for each in instances])


class Predictor:
    """A copy of a model, which another thread may use while the stream goes on; ``make`` unpacks it there."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._make = make
        self._model: Model | None = None

    def guesses(self, instances: Sequence[Stored]) -> list[Guess]:
        """The prediction for each instance and how certain it is; erased ones have none."""
        if self._model is None:
            self._model = self._make()
        there = [i for i, each in enumerate(instances) if each.row is not None]
        found = [UNKNOWN] * len(instances)
        for first in range(0, len(there), AT_ONCE):
            part = there[first : first + AT_ONCE]
            guesses = guesses_of(self._model, [instances[i] for i in part])
            for i, guess in zip(part, guesses, strict=True):
                found[i] = guess
        return found


def predictor_of(stream: ServiceStream) -> Predictor:
    """A predictor with a copy of the current model."""
    settings, pack = stream.settings, stream.model.dump()
    return Predictor(lambda: Model.load(settings, pack()))
