"""How a workflow reports its progress and its results to its caller."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Generic, TypeVar

from ..errors import AskwhenError
from ..evaluate.estimation.accuracy import overall_accuracy
from ..sampler import Sampler
from ..trace.trace import Trace

_OFTEN = 0.15
"""Seconds between two reports of progress, at least."""

Say = Callable[[str], None]
"""Receives messages for the user."""
Move = Callable[..., None]
"""Receives how much is done, and other facts to show as keywords: ``rate``, ``asked``, ``accuracy`` or ``last``."""

Result = TypeVar("Result", contravariant=True)


def moving(move: Move) -> Callable[[int, int, str], None]:
    """Reports the finished pieces of work of :mod:`askwhen.evaluate` as a part of the whole."""
    return lambda done, total, last: move(done / total, last=last)


def silent(*_: Any, **__: Any) -> None:
    """Ignore a report."""


class Observer(Generic[Result]):
    """Receives what a workflow reports. This one ignores everything; override the methods that matter to you."""

    def say(self, message: str) -> None:
        """Receive a message for the user."""

    def failed(self, error: AskwhenError) -> None:
        """Receive an error that does not end the workflow."""

    def progress(self, what: str, total: int | None) -> AbstractContextManager[Move]:
        """Open a display of progress, given what is being done and how much there is to do, if that is known."""
        return nullcontext(silent)

    def results(self, found: Result) -> None:
        """Receive the result before any file is written, so that a full disk does not lose it."""


class RunProgress:
    """Reports the speed and the accuracy of a run, a few times a second."""

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
        """Count a piece that was played."""
        self._pieces += 1
        now, sampler = time.perf_counter(), self._sampler
        if self._pieces == 2:
            self._begins, self._started = sampler.round - trace.rounds, self._last
        late, self._last = now - self._shown, now
        if late < _OFTEN:
            return
        self._shown = now
        facts = {
            "rate": f"{self.rate:,.0f} rows/s",
            "asked": f"asked {sampler.questions:,} ({sampler.questions / sampler.round:.1%})",
        }
        if not sampler.learner.regression:
            facts["accuracy"] = f"accuracy {overall_accuracy(sampler)}"
        self._move(**facts)
