"""The random numbers of a sampler: one draw for every round, and a second generator for everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_FEW, _MANY = 4, 256  # twice as many are drawn ahead at first, and at most so many at once

Beginning = Callable[[], tuple[int, dict[str, Any]]]
"""Gives the seed, and the state of the second generator."""


class Draws:
    """Uniform numbers on [0, 1), one for every round, from a generator that the seed determines.

    ``ahead`` are numbers that were drawn already, in reverse order: one by one they would cost half a round each.
    """

    def __init__(self, seed: int | None) -> None:
        self.ahead: list[float] = []
        self._seed = seed
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self._randomness = self._generator.spawn(1)[0]
        self._many = _FEW
        self._beginning: Beginning | None = None

    def next(self) -> float:
        """The number of the next round; more are drawn ahead each time."""
        if not self.ahead:
            self._many = min(2 * self._many, _MANY)
            self.ahead.extend(self._generator.random(self._many)[::-1].tolist())
        return self.ahead.pop()

    @property
    def generator(self) -> np.random.Generator:
        """The generator at the number of the next round: numbers that were drawn ahead are given back."""
        if self.ahead:
            self._generator.bit_generator.advance(-len(self.ahead))  # type: ignore[attr-defined]
            self.ahead.clear()
        self._many = _FEW
        return self._generator

    @property
    def seed(self) -> int | None:
        """The seed."""
        self._look_back()
        return self._seed

    @property
    def randomness(self) -> np.random.Generator:
        """The second generator."""
        self._look_back()
        return self._randomness

    def begin_as(self, state: dict[str, Any], beginning: Beginning, rounds: int = 0) -> None:
        """Draw the numbers that follow this state of a generator after so many rounds.

        ``beginning`` is called only if the seed or the second generator is needed.
        """
        self.ahead.clear()
        self._many = _FEW
        self._generator.bit_generator.state = state
        self._beginning = beginning
        if rounds:
            self._generator.bit_generator.advance(rounds)  # type: ignore[attr-defined]

    def _look_back(self) -> None:
        if self._beginning is not None:
            self._seed, self._randomness.bit_generator.state = self._beginning()
            self._beginning = None
