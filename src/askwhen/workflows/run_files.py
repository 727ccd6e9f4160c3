"""The files that a run leaves, whether it ends, is stopped or crashes: its trace, its checkpoints, its sampler."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from ..errors import AskwhenError
from ..evaluate import Progress, progressive
from ..sampler import Sampler
from ..trace.files import TraceWriter
from ..trace.trace import Trace, join
from .checkpoints import Checkpoints


class RunFiles:
    """One run of a sampler over a stream, with the files that it leaves.

    Parameters
    ----------
    sampler : Sampler
        Continues from its last round.
    saved : str
        Where the sampler is saved if the run is stopped.
    checkpoints : Checkpoints
        Saves the sampler now and then.
    trace : str, optional
        The trace, a Parquet or CSV file. If the sampler is resumed and the file (or what a killed run left of it) ends
        with the round before, the new trace begins with the old rounds.
    keep : bool, default False
        Whether to hold the trace in memory too, for a report.
    note : callable, optional
        Returns the note with which the sampler is saved.
    about : dict, optional
        Facts about the run, which the trace stores.

    Attributes
    ----------
    before : Trace or None
        Earlier rounds of the same trace.
    """

    def __init__(
        self,
        sampler: Sampler,
        saved: str,
        checkpoints: Checkpoints,
        *,
        trace: str | None = None,
        keep: bool = False,
        note: Callable[[], str] = str,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.sampler = sampler
        self.saved = saved
        self.begins = sampler.round
        self.before: Trace | None = None
        self._note = note
        self._kept: list[Trace] | None = [] if keep else None
        self._checkpoints = checkpoints
        self._wrong: list[AskwhenError] = []
        self._writer: TraceWriter | None = None
        if trace is not None:
            self._writer = TraceWriter(trace, about, sampler.round)
            self.before = self._writer.before
        if self._kept is not None and self.before is not None:
            self._kept.append(self.before)

    def play(self, chunks: Iterable[Any], watch: Callable[[Trace], None], **scoring: Any) -> Progress:
        """Play the stream.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, times)
            The stream in pieces; checkpoints are saved between two of them.
        watch : callable
            Receives the trace of every piece.
        **scoring
            For :func:`askwhen.evaluate.progressive`.
        """

        def noted(trace: Trace) -> None:
            self._add(trace)
            if self._checkpoints.due():
                self._checkpoint()
            watch(trace)

        before = None if self.sampler.learner.regression else self.before  # squared errors need the labels
        return progressive(self.sampler, chunks, watch=noted, before=before, **scoring)

    def _checkpoint(self, announced: bool = True) -> None:
        """Save one, after the trace up to it is safe."""
        with self._without_trace():
            if self._writer is not None:
                self._writer.sync()
        self._checkpoints.save(announced)

    @contextlib.contextmanager
    def _without_trace(self) -> Iterator[None]:
        """Continue without a trace if it cannot be written, for example on a full disk."""
        try:
            yield
        except AskwhenError as error:
            assert self._writer is not None
            self._writer.discard()
            self._writer = None
            self._wrong.append(error)

    def _add(self, trace: Trace) -> None:
        with self._without_trace():
            if self._writer is not None:
                self._writer.add(trace)
        if self._kept is not None:
            self._kept.append(trace)

    def trace(self) -> Trace:
        """The trace of all rounds, those before included, if ``keep`` was given."""
        return join(self._kept or [])

    def end(self, save: bool, finished: bool = True) -> list[AskwhenError]:
        """Finish the trace and, if ``save``, save the sampler; the errors of both.

        At every moment a crash leaves something to resume from: the checkpoint is removed once the sampler is saved, or
        when the run has finished and its sampler is not wanted.
        """
        if save and self._writer is not None:
            self._checkpoint(announced=False)
        with _noted(self._wrong):
            if self._writer is not None:
                self._writer.close()
        with _noted(self._wrong):
            if save:
                self._save()
            if save or finished:
                self._checkpoints.remove()
        return self._wrong

    def _save(self) -> None:
        """Save the sampler; on a full disk, in the space that an unfinished trace took."""
        try:
            self.sampler.save(self.saved, note=self._note())
        except AskwhenError:
            if self._writer is None or not self._wrong:
                raise
            self._writer.discard()
            self.sampler.save(self.saved, note=self._note())


@contextlib.contextmanager
def _noted(wrong: list[AskwhenError]) -> Iterator[None]:
    try:
        yield
    except AskwhenError as error:
        wrong.append(error)
