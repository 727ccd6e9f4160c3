"""Estimates of the accuracy where labels were corrected after the sampler had learnt from them.

A correction exchanges one answer for another, or for none: in a copy of the tally the bets on the old answer are
subtracted and those on the new one added. What the sampler has learnt, and how it predicted mistakes, does not change.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from ...betting import ERRORS, LEVELS, SMALLEST_COIN, STAKES, bet, place_of
from ...engine.engine import Waiting
from ...engine.tally.class_tally import (
    STORED,
    ClassTally,
    doubt_class,
    new_class_tally,
    settle_class,
    widen_class_tally,
)
from ...engine.tally.round_tally import (
    ANSWERED,
    BLOCKS,
    CERTAIN,
    FORGOTTEN,
    IN_STRATUM,
    MISTAKES,
    RESIDUAL,
    STRATA,
    Tally,
    doubted,
    stratum_length,
)
from ...sampler import Sampler


class LabelCorrection(NamedTuple):
    """The label of a round that was given as ``old`` and is now ``new``; None for no label."""

    round: int
    probability: float
    level: int
    positive: bool
    prediction: Any
    old: Any
    new: Any


class CorrectedSampler:
    """A sampler with corrected answers, as a source for :func:`askwhen.evaluate.accuracy`."""

    def __init__(self, sampler: Sampler, corrections: Iterable[LabelCorrection]) -> None:
        self._sampler, self._corrections = sampler, list(corrections)

    @property
    def classes(self) -> Any:
        """The labels it predicts; with open classes, those that only appear in corrections come last."""
        known = self._sampler.classes
        if known is None or not self._appear:
            return known
        labels = (label for each in self._corrections for label in (each.old, each.new) if label is not None)
        return list(dict.fromkeys([*known, *labels]))

    @property
    def _appear(self) -> bool:
        return self._sampler.engine.most > 0

    @property
    def rule(self) -> Any:
        """The rule by which it asks."""
        return self._sampler.rule

    @property
    def costs(self) -> tuple[float, float] | None:
        """Costs of a false positive and of a false negative."""
        return self._sampler.costs

    def tally(self) -> tuple[Tally, int, int, list[Waiting]]:
        """The tally as if the corrected labels had been given."""
        tally, rounds, questions, waiting = self._sampler.tally()
        for each in self._corrections:
            _exchange(tally, each, each.old, -1.0)
            _exchange(tally, each, each.new, 1.0)
        return tally, rounds, questions, waiting

    def class_tally(self) -> Any:
        """The same tally for every class."""
        tally, classes = self._sampler.class_tally(), self.classes
        if not isinstance(tally, ClassTally) or classes is None:
            return tally
        if self._appear and len(classes) >= len(tally.sums):
            tally = widen_class_tally(tally, len(classes) + 1)
        places: dict[Any, int] = {label: place for place, label in enumerate(classes)}
        places[None] = -1  # the last row is for rounds in which no class was open yet
        for each in self._corrections:
            for label, sign in ((each.old, -1.0), (each.new, 1.0)):
                change, predicted = new_class_tally(len(tally.sums), self._appear), places[each.prediction]
                if label is None:
                    doubt_class(change, predicted, each.probability, each.level)
                else:
                    settle_class(change, predicted, places[label], each.probability, each.level)
                for name in STORED:
                    getattr(tally, name)[...] += sign * getattr(change, name)
        return tally


def _exchange(tally: Tally, each: LabelCorrection, label: Any, sign: float) -> None:
    """Add the bets on an answer (None: no answer) to the tally in place; subtract them where sign is -1."""
    P, side, sums = each.probability, int(each.positive), np.zeros(len(tally.sums[0]))
    logs = np.zeros(STAKES)
    if label is None:
        logs = doubted(tally, np.array([P]), np.array([each.level]))[0]
        sums[FORGOTTEN] = 1.0
    else:
        wrong, place = label != each.prediction, place_of(P)
        certain = P == 1.0 and place == 0 and each.level < LEVELS
        if not certain:
            bet(logs, tally.growth, tally.loss, P, place, each.level, wrong, wrong)
            np.log(logs, out=logs)
        expected = ERRORS[each.level] if each.level < LEVELS else 0.0
        sums[ANSWERED], sums[MISTAKES], sums[CERTAIN] = 1.0, float(wrong), float(wrong and certain)
        sums[RESIDUAL] = (float(wrong) - expected) / max(P, SMALLEST_COIN)
    tally.logs[side] += sign * logs
    tally.sums[side] += sign * sums
    stratum = each.round // stratum_length(int(tally.count[1]), int(tally.steps[0]))
    tally.strata[side, min(stratum, STRATA - 1)] += sign * sums[list(IN_STRATUM)]
    last = int(tally.count[0]) - 1
    for w, size in enumerate(tally.steps.tolist()):
        block = each.round // size
        if last // size - block < BLOCKS:
            tally.block_logs[w, block % BLOCKS] += sign * logs
            tally.block_sums[w, block % BLOCKS] += sign * sums
