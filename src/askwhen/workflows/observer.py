"""How a use case tells of its progress, to whoever looks on."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from ..evaluate import accuracy
from ..sampler import Sampler
from ..trace.trace import Trace

_OFTEN = 0.15
"""Seconds between two words of progress, at least."""

Say = Callable[[str], None]
"""Is told what the person who looks on should know."""
Move = Callable[..., None]
"""Is told how much is done, and by name what else there is to show: ``rate``, ``asked``, ``honest`` or ``last``."""
Progresses = Callable[[str, int | None], AbstractContextManager[Move]]
"""Is given what is being done and how much there is to do; open while it is done."""


def silent(*_: Any, **__: Any) -> None:
    """Tell nobody."""


def unseen(*_: Any) -> AbstractContextManager[Move]:
    """Progress that nobody looks at."""
    return nullcontext(silent)


class Pace:
    """Tells how fast a run goes and how it does, a few times a second."""

    def __init__(self, sampler: Sampler, move: Move, started: float) -> None:
        self._sampler = sampler
        self._move = move
        self._begins = sampler.round
        self._started = self._last = started
        self._pieces = 0
        self._shown = started

    @property
    def rate(self) -> float:
        """Rounds per second, without the first piece, which waits for the compiler, unless it is the only one."""
        return (self._sampler.round - self._begins) / max(self._last - self._started, 1e-9)

    def __call__(self, trace: Trace) -> None:
        """Note a piece that was played."""
        self._pieces += 1
        now, sampler = time.perf_counter(), self._sampler
        if self._pieces == 2:
            self._begins, self._started = sampler.round - trace.rounds, self._last
        late, self._last = now - self._shown, now
        if late < _OFTEN:
            return
        self._shown = now
        facts = {
            "rate": f"{self.rate:,.0f} rounds/s",
            "asked": f"asked {sampler.questions:,} ({sampler.questions / sampler.round:.1%})",
        }
        if not sampler.learner.regression:
            facts["honest"] = f"accuracy {accuracy(sampler).overall}"
        self._move(**facts)
