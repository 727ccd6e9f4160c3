"""Refitted models beside a run of a file, which an interrupt ends without losing the run."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator
from typing import Any

from ..errors import AskwhenError, argument
from ..evaluate import Progress
from ..evaluate.comparison.model_rows import HeldRows
from ..evaluate.comparison.refitted import Tick
from ..evaluate.comparison.refitted_runs import check_can_have_baselines, with_refitted
from ..sampler import Sampler
from .observer import Observer
from .stopping import Stopping


class _StoppedError(Exception):
    """The user interrupted a play."""


class RunBaselines:
    """Holds the rows of a run, and plays the models after it.

    Attributes
    ----------
    interrupted : AskwhenError or None
        What to report if the models were not all played.
    """

    def __init__(self, sampler: Sampler, observer: Observer[Any]) -> None:
        check_can_have_baselines("run", sampler)
        self.interrupted: AskwhenError | None = None
        self._sampler, self._observer, self._held = sampler, observer, HeldRows()

    def holding(self, chunks: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The same chunks, held."""
        return self._held.holding(chunks)

    def beside(self, progress: Progress, stopping: Stopping) -> Progress:
        """The results with those of the models; without any, if the user interrupts."""

        @contextlib.contextmanager
        def opened(name: str, rows: int) -> Iterator[Tick]:
            with self._observer.progress(name, rows) as move:

                def tick(played: int) -> None:
                    if stopping.stopped:
                        raise _StoppedError
                    move(played)

                yield tick

        X, y = self._held.all()
        try:
            return with_refitted("run", progress, self._sampler, X, y, opened)
        except (_StoppedError, KeyboardInterrupt):
            what = f"interrupted before all models of {argument('baselines')} were played; the run itself is complete."
            self.interrupted = AskwhenError(what, owner="run")
            return progress
