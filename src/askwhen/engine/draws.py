"""The random numbers of a sampler: one draw for every round, and a second generator for everything else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

_FEW, _MANY = 4, 256  # half the size of the first block that is drawn ahead, and the size of the largest


class Draws:
    """Uniform numbers on [0, 1), one for every round, from a generator that the seed determines.

    ``ahead`` holds numbers that were already drawn, in reverse order: to draw them one by one would take half the time
    of a round each.
    """

    def __init__(self, seed: int | None) -> None:
        self.ahead: list[float] = []
        self._seed = seed
        self._generator = np.random.Generator(np.random.PCG64(seed))
        self._randomness = self._generator.spawn(1)[0]
        self._many = _FEW
        self._beginning: tuple[bytes, Callable[[], int]] | None = None

    def next(self) -> float:
        """The number of the next round; each new block that is drawn ahead is larger than the last."""
        if not self.ahead:
            self._many = min(2 * self._many, _MANY)
            self.ahead.extend(self._generator.random(self._many)[::-1].tolist())
        return self.ahead.pop()

    @property
    def generator(self) -> np.random.Generator:
        """The generator at the number of the next round."""
        if self.ahead:  # unused numbers go back, so that the saved state does not depend on the size of blocks
            self._generator.bit_generator.advance(-len(self.ahead))  # type: ignore[attr-defined]
            self.ahead.clear()
        self._many = _FEW
        return self._generator

    @property
    def seed(self) -> int | None:
        """The seed."""
        self._call_beginning()
        return self._seed

    @property
    def randomness(self) -> np.random.Generator:
        """The second generator."""
        self._call_beginning()
        return self._randomness

    def resume(self, first: bytes, rounds: int, seed: Callable[[], int]) -> None:
        """Continue after ``rounds`` rounds from the ``first_states`` of a seed; ``seed`` is called only if needed."""
        self.ahead.clear()
        self._many = _FEW
        self._generator.bit_generator.state = _state(first[:16], first[16:32])
        self._beginning = first, seed
        if rounds:
            self._generator.bit_generator.advance(rounds)  # type: ignore[attr-defined]

    def _call_beginning(self) -> None:
        if self._beginning is not None:
            first, seed = self._beginning
            self._seed, self._randomness.bit_generator.state = seed(), _state(first[32:48], first[48:])
            self._beginning = None


def first_states(seed: int) -> bytes:
    """The states of both generators before the first round, in 64 bytes."""
    generator = np.random.Generator(np.random.PCG64(seed))
    states: list[Any] = [each.bit_generator.state["state"] for each in (generator, generator.spawn(1)[0])]
    return b"".join(each[part].to_bytes(16, "little") for each in states for part in ("state", "inc"))


def _state(state: bytes, inc: bytes) -> dict[str, Any]:
    numbers = {"state": int.from_bytes(state, "little"), "inc": int.from_bytes(inc, "little")}
    return {"bit_generator": "PCG64", "state": numbers, "has_uint32": 0, "uinteger": 0}
