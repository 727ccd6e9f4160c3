"""What today's model says of instances that were decided before, or are not decided yet; many at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ..domain import row_codec
from ..domain.model import Guess, Model
from ..domain.stream import ServiceStream

AT_ONCE = 500
"""Instances of one call of the model."""

UNKNOWN: Guess = (None, None)


class Predictor:
    """A copy of a model, which another thread may use while the stream goes on; ``make`` unpacks it there."""

    def __init__(self, make: Callable[[], Model]) -> None:
        self._make = make
        self._model: Model | None = None

    def guesses(self, rows: Sequence[bytes | None]) -> list[Guess]:
        """The prediction for each stored instance and how certain it is; erased ones have none."""
        if self._model is None:
            self._model = self._make()
        there = [i for i, row in enumerate(rows) if row is not None]
        found = [UNKNOWN] * len(rows)
        for first in range(0, len(there), AT_ONCE):
            part = there[first : first + AT_ONCE]
            guesses = self._model.guesses([row_codec.from_bytes(rows[i]) for i in part])
            for i, guess in zip(part, guesses, strict=True):
                found[i] = guess
        return found


def predictor_of(stream: ServiceStream) -> Predictor:
    """A predictor with a copy of the current model."""
    settings, pack = stream.settings, stream.model.dump()
    return Predictor(lambda: Model.load(settings, pack()))
