"""Refitted models beside the algorithms of a comparison, and beside one run of a sampler."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ...errors import InputError, argument
from ...sampler import Sampler
from ..progress import ASKED, Progress, Refitted
from .baselines import LabelNumbering
from .model_rows import ModelRows
from .plans import CellRun, ComparisonWork
from .refitted import RefittedModel, Tick, fitting, models_for, play_refitted, require_models

Opened = Callable[[str, int], AbstractContextManager[Tick]]
"""Opens a display of progress, given the name of a model and the number of rows."""


class Interrupt:
    """Ends plays in other threads, which look at it before every fit."""

    def __init__(self) -> None:
        self.is_set = False

    def tick(self, played: int) -> None:
        """Raise if plays are to end."""
        if self.is_set:
            raise KeyboardInterrupt


class RefittedPiece(NamedTuple):
    """A model at a share of labels, in one repeat."""

    model: RefittedModel
    share: float
    repeat: int


@dataclass(frozen=True, eq=False)
class RefittedWork:
    """The refitted models of a comparison, on its stream."""

    work: ComparisonWork
    rows: ModelRows
    y: np.ndarray
    pieces: list[RefittedPiece]
    repeats: int
    left_out: list[str]
    interrupt: Interrupt = field(default_factory=Interrupt)

    @classmethod
    def of(cls, work: ComparisonWork, shares: list[float], repeats: int) -> RefittedWork:
        """All models that suit the instances, at these shares."""
        require_models("compare")
        rows, classes = ModelRows.of("compare", work.X), work.classes
        models, left_out = models_for(rows, 2 if classes is None else len(classes))
        pieces = [RefittedPiece(model, share, k) for share in shares for model in models for k in range(repeats)]
        return cls(work, rows, class_numbers(work.y, classes), pieces, repeats, left_out)

    def play(self, workers: Any) -> list[tuple[RefittedModel, float, list[CellRun]]]:
        """All runs of each model at each share."""
        work = [(f"{piece.model.name}, at {piece.share:.3g}", partial(self.run, piece)) for piece in self.pieces]
        try:
            with fitting():
                runs = workers.all(work)
        except BaseException:
            self.interrupt.is_set = True
            raise
        firsts = range(0, len(runs), self.repeats)
        return [(*self.pieces[at][:2], runs[at : at + self.repeats]) for at in firsts]

    def run(self, piece: RefittedPiece) -> CellRun:
        """Play the stream once."""
        model, share, k = piece
        order, n = self.work.order(k), len(self.y)
        rows, y = (self.rows, self.y) if order is None else (self.rows.taken(order), self.y[order])
        started = time.perf_counter()
        played = play_refitted(model, rows, y, labels_of_share(share, n), self.work.seed + k, self.interrupt.tick)
        seconds, right = time.perf_counter() - started, played.prediction == y
        asked = float(played.queried.mean())
        return CellRun(asked, float(right.mean()), self.work.windowed(right), seconds, {}, played.refits)


def labels_of_share(share: float, rows: int) -> int:
    """The most labels that a sampler with this share may ask for."""
    return math.ceil((share - 1e-9) * rows)


def class_numbers(y: np.ndarray, classes: list[Any] | None) -> np.ndarray:
    """Labels as numbers of classes from 0; without classes they are -1 and +1."""
    return (y > 0).astype(int) if classes is None else LabelNumbering(classes).numbers(y)


def check_can_have_baselines(owner: str, sampler: Sampler) -> None:
    """Raise unless refitted models can be played beside this sampler."""
    require_models(owner)
    if sampler.round or sampler.tasks or sampler.volunteered:
        raise InputError(
            f"{argument('baselines')} needs a sampler that has not learnt before: they are given the labels of this "
            "stream only.",
            owner=owner,
        )
    if sampler.costs is not None:
        raise InputError(f"{argument('baselines')} are compared by accuracy, and not by costs.", owner=owner)


def with_refitted(
    owner: str, progress: Progress, sampler: Sampler, X: Any, y: np.ndarray, opened: Opened | None = None
) -> Progress:
    """The results of a run with those of refitted models on the same rows, given as many labels as were asked for.

    Parameters
    ----------
    owner : str
        The function that was called.
    progress : Progress
        The results of the run.
    sampler : Sampler
        The sampler that was run.
    X, y : arrays
        All instances and labels of the run.
    opened : callable, optional
        Opens a display of progress for each model.
    """
    regression = bool(sampler.learner.regression)
    numbers = np.asarray(y, float) if regression else class_numbers(np.asarray(y), progress.classes)
    rows, labels = ModelRows.of(owner, X), int(progress.counts[:, :, ASKED].sum())
    models, left_out = models_for(rows, len(progress.classes or ()), regression)
    seed, found = sampler.seed or 0, []
    with fitting():
        for model in models:
            with nullcontext(None) if opened is None else opened(model.name, len(numbers)) as tick:
                played = play_refitted(model, rows, numbers, labels, seed, tick)
            wrong = played.prediction - numbers
            score = float((wrong**2).mean()) if regression else float((wrong == 0).mean())
            found.append(Refitted(model.name, score, int(played.queried.sum()), played.refits))
    return replace(progress, refitted=found, left_out=left_out)
