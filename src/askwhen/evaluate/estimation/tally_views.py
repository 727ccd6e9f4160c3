"""The parts of a tally that estimates use: all rounds, split by predicted label, and the recent rounds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from ...betting import STAKES, all_unasked
from ...engine.engine import Waiting
from ...engine.tally.round_tally import (
    ANSWERED,
    BLOCKS,
    CELLS,
    CERTAIN,
    EXPECTED,
    FORGOTTEN,
    MISTAKES,
    RESIDUAL,
    ROUNDS,
    UNOBSERVED,
    Tally,
    doubted,
)
from .confidence import least, most


@dataclass(frozen=True)
class TallyView:
    """The sums over some rounds: ``sums`` as in a tally, A of the wealth by stake, and the number of open questions."""

    sums: np.ndarray
    A: np.ndarray
    stakes: np.ndarray
    open: Any = 0

    def __add__(self, other: TallyView) -> TallyView:
        return replace(self, sums=self.sums + other.sums, A=self.A + other.A, open=self.open + other.open)

    @property
    def rounds(self) -> Any:
        """Number of rounds."""
        return self.sums[..., ROUNDS]

    @property
    def unobserved(self) -> Any:
        """Number of rounds in which nothing could be asked."""
        return self.sums[..., UNOBSERVED]

    @property
    def answered(self) -> Any:
        """Number of labels given."""
        return self.sums[..., ANSWERED]

    @property
    def unanswered(self) -> Any:
        """Number of questions that are open or forgotten."""
        return self.sums[..., FORGOTTEN] + self.open

    @property
    def estimate(self) -> Any:
        """Unbiased estimate of the number of mistakes: predicted for every round, corrected where a label was given."""
        return self.sums[..., EXPECTED] + self.sums[..., RESIDUAL]

    def mistakes(self, alpha: float) -> tuple[Any, Any]:
        """Lower and upper bound on the number of mistakes."""
        seen, right = self.sums[..., MISTAKES], self.answered - self.sums[..., MISTAKES]
        fewest = np.maximum(least(self.A, self.stakes, self.rounds, alpha / 2.0), seen)
        return fewest, np.minimum(most(self.A, self.stakes, self.rounds, alpha / 2.0), self.rounds - right)


@lru_cache(4)
def _table(stakes: bytes) -> np.ndarray:
    return all_unasked(np.frombuffer(stakes)).reshape(CELLS, STAKES)


def _wealth(tally: Tally, cells: np.ndarray, logs: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """A from counts of unasked rounds, the log wealth of answered bets, and the mistakes that needed no bet."""
    return np.asarray(cells @ _table(tally.stakes.tobytes()) - logs + sums[..., CERTAIN, None] * tally.stakes)


def _open_bets(tally: Tally, waiting: Iterable[Waiting]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """For each open question: its age in rounds, what was predicted, and its effect on the log wealth."""
    ago, P, level, positive = np.array([tuple(map(float, each)) for each in waiting]).reshape(-1, 4).T
    return ago.astype(int), positive.astype(int), doubted(tally, P.copy(), level.astype(np.int64))


def sides_of(tally: Tally, waiting: Iterable[Waiting] = ()) -> list[TallyView]:
    """The whole life: rounds in which -1 was predicted, and those in which +1 was."""
    logs, opened = tally.logs + tally.carried + np.log(tally.product), [0, 0]
    _, positive, doubts = _open_bets(tally, waiting)
    for side in (0, 1):
        logs[side] += doubts[positive == side].sum(axis=0)
        opened[side] = int(np.count_nonzero(positive == side))
    sums = tally.sums + tally.fresh
    A = _wealth(tally, tally.cells + tally.now.reshape(2, CELLS), logs, sums)
    return [TallyView(sums[s], A[s], tally.stakes, opened[s]) for s in (0, 1)]


def blocks_of(tally: Tally, which: int, first: int, last: int, waiting: Iterable[Waiting] = ()) -> TallyView:
    """The blocks from first to last, the last excluded, of one of the windows."""
    size, count = int(tally.steps[which]), int(tally.count[0])
    slots = np.arange(first, last) % BLOCKS
    cells = tally.block_cells[which, slots].astype(float).sum(axis=0)
    logs, sums = tally.block_logs[which, slots].sum(axis=0), tally.block_sums[which, slots].sum(axis=0)
    if last * size >= count:  # the current block of the shortest window is not stored in the blocks yet
        cells = cells + tally.now.reshape(2, CELLS).sum(axis=0)
        logs = logs + (tally.carried + np.log(tally.product)).sum(axis=0)
        sums = sums + tally.fresh.sum(axis=0)
    ago, _, doubts = _open_bets(tally, waiting)
    here = (first * size <= count - ago) & (count - ago < last * size)
    logs = logs + doubts[here].sum(axis=0)
    return TallyView(sums, _wealth(tally, cells, logs, sums), tally.stakes, int(np.count_nonzero(here)))


def window_of(tally: Tally, which: int, waiting: Iterable[Waiting] = ()) -> TallyView:
    """The last rounds: those of ten blocks, and the current block as far as it is."""
    size, count = int(tally.steps[which]), int(tally.count[0])
    first = max(count - 10 * size, 0) // size
    return blocks_of(tally, which, first, max(count - 1, 0) // size + 1, waiting)
