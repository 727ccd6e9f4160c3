"""A run over a stream as a user starts it: traced, saved at checkpoints, and gone on with after a stop or a crash.

A checkpoint is a snapshot beside the file in which the sampler will be saved, renewed every minute or so. It is removed
when the run has ended and its sampler is saved; a checkpoint that is found was left by a run that was killed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from ..errors import AskwhenError
from ..evaluate import Progress, progressive
from ..sampler import Sampler
from ..trace.files import TraceWriter
from ..trace.trace import Trace, join

_SUFFIX = ".checkpoint"
_LARGEST_PART = 0.05
"""Of the time of a run, for saving checkpoints: a large sampler is saved less often."""

Say = Callable[[str], None]
"""Is told what the person who looks on should know."""


def checkpoint_of(model: str) -> str:
    """The checkpoint that belongs to a file for a sampler."""
    return f"{model}{_SUFFIX}"


def model_of(path: str) -> str:
    """The file for a sampler that a checkpoint belongs to; any other name as it is."""
    return path.removesuffix(_SUFFIX)


def newest(path: str) -> str:
    """What to go on from: the checkpoint of a file, where a killed run left one that is newer, or the file itself."""
    checkpoint = checkpoint_of(path)
    if not Path(checkpoint).is_file():
        return path
    if not Path(path).is_file() or Path(checkpoint).stat().st_mtime_ns >= Path(path).stat().st_mtime_ns:
        return checkpoint
    return path


class Checkpoints:
    """Saves a sampler every so often, so that a crash loses no more than what came since.

    Parameters
    ----------
    sampler : Sampler
        Is saved between two pieces of its stream.
    model : str
        The file that it will be saved in at the end; checkpoints go beside it.
    every : float or None
        Seconds between two of them, at least; None for no checkpoints.
    note : callable
        Gives the note of a snapshot.
    say : callable
        Is told where the first one is, and once if one cannot be written: the run goes on without.
    going_on : str
        How to go on from one, for the person who looks on.
    """

    def __init__(
        self, sampler: Sampler, model: str, every: float | None, note: Callable[[], str], say: Say, going_on: str
    ) -> None:
        self._sampler = sampler
        self._model = model
        self._every = every
        self._note = note
        self._say = say
        self._going_on = going_on
        self._said: set[str] = set()
        self._took = 0.0
        self._last: float | None = None

    def due(self) -> bool:
        """Whether it is time for one."""
        if self._every is None:
            return False
        if self._last is None:  # compiling, before the first piece, is no work that could be lost
            self._last = time.monotonic()
        return time.monotonic() - self._last >= max(self._every, self._took / _LARGEST_PART)

    def save(self) -> None:
        """Save one now."""
        started = time.monotonic()
        path = checkpoint_of(self._model)
        try:
            self._sampler.save(path, note=self._note())
            self._once(f"Saving a checkpoint to {path} now and then; after a crash, {self._going_on}")
        except AskwhenError as error:
            reason = error.sentence
            self._once(f"No checkpoint could be saved, and the run goes on without: {reason}")
        self._last = time.monotonic()
        self._took = self._last - started

    def _once(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            self._say(sentence)

    def remove(self) -> None:
        """Take the last one away, now that the sampler is safe elsewhere or no longer wanted."""
        with contextlib.suppress(OSError):
            Path(checkpoint_of(self._model)).unlink(missing_ok=True)


class Run:
    """One run of a sampler over a stream, with the files that it leaves.

    Parameters
    ----------
    sampler : Sampler
        Goes on from where it is.
    saved : str
        Where the sampler is saved if the run is stopped, and beside which checkpoints go.
    trace : str, optional
        The trace, a Parquet or CSV file. Where the sampler goes on and the file (or what a killed run left of it)
        ends just before, the new one begins with the old rounds.
    keep : bool, default False
        Whether to keep the trace in memory too, for a report.
    checkpoint : float or None, default 60
        Seconds between two checkpoints; None for none.
    note : callable, optional
        Gives the note with which the sampler is saved.
    about : dict, optional
        What the trace says of the run.
    say : callable, optional
        Is told what the person who looks on should know.
    going_on : str, optional
        How to go on after a crash, for that person.

    Attributes
    ----------
    before : Trace or None
        Earlier rounds of the same trace.
    """

    def __init__(
        self,
        sampler: Sampler,
        saved: str,
        *,
        trace: str | None = None,
        keep: bool = False,
        checkpoint: float | None = 60.0,
        note: Callable[[], str] = str,
        about: dict[str, Any] | None = None,
        say: Say = lambda _: None,
        going_on: str = "load it to go on.",
    ) -> None:
        self.sampler = sampler
        self.saved = saved
        self.begins = sampler.round
        self.before: Trace | None = None
        self._note = note
        self._kept: list[Trace] | None = [] if keep else None
        self._checkpoints = Checkpoints(sampler, saved, checkpoint, note, say, going_on)
        self._wrong: list[AskwhenError] = []
        self._writer: TraceWriter | None = None
        if trace is not None:
            self._writer = TraceWriter(trace, about, sampler.round)
            self.before = self._writer.before
        if self._kept is not None and self.before is not None:
            self._kept.append(self.before)

    def play(self, chunks: Iterable[Any], watch: Callable[[Trace], None], **scoring: Any) -> Progress:
        """Play the stream, and say how it went.

        Parameters
        ----------
        chunks : iterable of (X, y) or (X, y, times)
            The stream in pieces; checkpoints are saved between two of them.
        watch : callable
            Is given the trace of every piece.
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

    def _checkpoint(self) -> None:
        """Save one, after the trace up to it is safe."""
        with self._without_trace():
            if self._writer is not None:
                self._writer.sync()
        self._checkpoints.save()

    @contextlib.contextmanager
    def _without_trace(self) -> Iterator[None]:
        """Give the trace up where it cannot be written, for example on a full disk, and go on."""
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
        """All rounds, with those before, if they were to be kept."""
        return join(self._kept or [])

    def end(self, save: bool, finished: bool = True) -> list[AskwhenError]:
        """Put the trace in its place and, if so wished, save the sampler; what went wrong with either.

        At every moment a crash leaves something to go on from: the checkpoint is removed once the sampler is saved, or
        where nobody wants a finished run's.
        """
        if save and self._writer is not None:
            self._checkpoint()
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
        """Save the sampler; where the disk is full, in the place of a trace that could not be written either."""
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
