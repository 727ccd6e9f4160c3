"""A drift guard in one file: start afresh after so many mistakes among the last labels that were told."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from askwhen.contracts.drift import absorb_label, take_due, watch, watches

HELD, DUE = 0, 1


class MistakesState(NamedTuple):
    last: Any
    counts: Any
    most: int


@watches.of(MistakesState)
def _watches(drift):
    return False  # it reads labels, not margins


@absorb_label.of(MistakesState)
def _absorb(drift, x, y, mistaken, by_rule, period):
    drift.last[drift.counts[HELD] % len(drift.last)] = 1 if mistaken else 0
    drift.counts[HELD] += 1


@watch.of(MistakesState)
def _watch(drift, x, m, q):
    total = 0
    for i in range(len(drift.last)):
        total += drift.last[i]
    if total < drift.most:
        return False
    for i in range(len(drift.last)):
        drift.last[i] = 0
    drift.counts[DUE] = 1
    return True


@take_due.of(MistakesState)
def _take_due(drift):
    due = drift.counts[DUE] == 1
    drift.counts[DUE] = 0
    return due


@dataclass(frozen=True)
class TooManyMistakes:
    """Restart when ``most`` of the last ``window`` labels told were predicted wrong."""

    most: int = 12
    window: int = 20

    def start(self, d, sparse):
        return MistakesState(np.zeros(self.window, np.int64), np.zeros(2, np.int64), self.most)
