"""Checkpoints of a run: a snapshot every minute or so, so that a crash loses little.

A checkpoint is next to the file in which the sampler will be saved. It is removed when the run has ended and its
sampler is saved; a checkpoint that is found was left by a run that was killed.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from pathlib import Path

from ..errors import AskwhenError
from ..sampler import Sampler
from .observer import Say

_SUFFIX = ".checkpoint"
_LARGEST_SHARE = 0.05
"""Largest part of a run's time for saving checkpoints: a large sampler is saved less often."""


def checkpoint_of(model: str) -> str:
    """The checkpoint that belongs to a file for a sampler."""
    return f"{model}{_SUFFIX}"


def model_of(path: str) -> str:
    """The file for a sampler that a checkpoint belongs to; any other name as it is."""
    return path.removesuffix(_SUFFIX)


def newest(path: str) -> str:
    """The file to resume from: the checkpoint, if a killed run left one that is newer, or the file itself."""
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
        The file that it will be saved in at the end; its name with a suffix is that of the checkpoint.
    every : float or None
        Seconds between two of them, at least; None for no checkpoints.
    note : callable
        Returns the note of a snapshot.
    say : callable
        Receives a message with the place of the first one, and one if none can be written: the run continues without.
    how_to_resume : str
        How to continue from one, for the message about the first one.
    """

    def __init__(
        self, sampler: Sampler, model: str, every: float | None, note: Callable[[], str], say: Say, how_to_resume: str
    ) -> None:
        self._sampler = sampler
        self._model = model
        self._every = every
        self._note = note
        self._say = say
        self._how_to_resume = how_to_resume
        self._messages: set[str] = set()
        self._took = 0.0
        self._last: float | None = None

    def due(self) -> bool:
        """Whether it is time for one."""
        if self._every is None:
            return False
        if self._last is None:  # compiling, before the first piece, cannot be lost
            self._last = time.monotonic()
        return time.monotonic() - self._last >= max(self._every, self._took / _LARGEST_SHARE)

    def save(self, announced: bool = True) -> None:
        """Save one now; the first time, and if ``announced``, a message says where."""
        started = time.monotonic()
        path = checkpoint_of(self._model)
        try:
            self._sampler.save(path, note=self._note())
            if announced:
                self._once(f"Saving a checkpoint to {path} now and then; after a crash, {self._how_to_resume}")
        except AskwhenError as error:
            reason = error.sentence
            self._once(f"No checkpoint could be saved, and the run goes on without: {reason}")
        self._last = time.monotonic()
        self._took = self._last - started

    def _once(self, sentence: str) -> None:
        if sentence not in self._messages:
            self._messages.add(sentence)
            self._say(sentence)

    def remove(self) -> None:
        """Delete the last one, now that the sampler is saved elsewhere or no longer wanted."""
        with contextlib.suppress(OSError):
            Path(checkpoint_of(self._model)).unlink(missing_ok=True)
