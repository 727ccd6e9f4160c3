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
    IN_STRATUM,
    MISTAKES,
    RESIDUAL,
    ROUNDS,
    UNOBSERVED,
    Tally,
    doubted,
    stratum_length,
)
from .confidence import least, most

BLOCKS_OF_WINDOW = 10
"""Number of full blocks in a window; the current block is added, as far as it is."""

LEAST_ANSWERS = 20
"""Answers that a stretch of time needs to stand for its own questions; with fewer, stretches are joined."""


@dataclass(frozen=True)
class TallyView:
    """The sums over some rounds.

    ``sums`` as in a tally, A of the wealth by stake, and the number of open questions, or None where questions without
    an answer are not counted. ``unseen`` is what the weighted
    difference of the answers lacks for questions without an answer, for which answers of the same time stand.
    ``is_whole`` if every question is answered.
    """

    sums: np.ndarray
    A: np.ndarray
    stakes: np.ndarray
    open: Any = 0
    unseen: Any = 0.0
    is_whole: bool = True

    def __add__(self, other: TallyView) -> TallyView:
        return replace(
            self,
            sums=self.sums + other.sums,
            A=self.A + other.A,
            open=None if self.open is None or other.open is None else self.open + other.open,
            unseen=self.unseen + other.unseen,
            is_whole=self.is_whole and other.is_whole,
        )

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
        """Number of questions that are open or forgotten; None where they are not counted."""
        return None if self.open is None else self.sums[..., FORGOTTEN] + self.open

    @property
    def estimate(self) -> Any:
        """Estimate of the number of mistakes: predicted for every round, corrected where a label was given.

        It is unbiased if every question is answered; otherwise answers stand for the questions that are not.
        """
        return self.sums[..., EXPECTED] + (self.sums[..., RESIDUAL] + self.unseen)

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


def unseen_of(answered: np.ndarray, unanswered: np.ndarray, residual: np.ndarray) -> np.ndarray:
    """What the weighted differences of the answers lack for questions without an answer.

    One row for each stretch of time, oldest first; ``residual`` may have columns, for parts of the rounds. In each
    stretch the answers stand for all of its questions: their sum is multiplied by questions / answers. Stretches are
    joined with the next ones until there are ``LEAST_ANSWERS`` answers, and the last ones, if those have fewer, with
    those before.
    """
    starts, known = [0], 0.0
    for row, number in enumerate(answered.tolist()):
        if known >= LEAST_ANSWERS:
            starts.append(row)
            known = 0.0
        known += number
    if known < LEAST_ANSWERS and len(starts) > 1:
        starts.pop()
    told, lacking, sums = (np.add.reduceat(each, starts, axis=0) for each in (answered, unanswered, residual))
    missing = np.divide(lacking, told, out=np.zeros(len(told)), where=told > 0.0)
    return np.asarray(missing @ sums)


def sides_of(tally: Tally, waiting: Iterable[Waiting] = ()) -> list[TallyView]:
    """The whole life: rounds in which -1 was predicted, and those in which +1 was."""
    logs, opened = tally.logs + tally.carried + np.log(tally.product), [0, 0]
    ago, positive, doubts = _open_bets(tally, waiting)
    for side in (0, 1):
        logs[side] += doubts[positive == side].sum(axis=0)
        opened[side] = int(np.count_nonzero(positive == side))
    sums = tally.sums + tally.fresh
    A = _wealth(tally, tally.cells + tally.now.reshape(2, CELLS), logs, sums)
    is_whole = not (sum(opened) or sums[:, FORGOTTEN].any())
    unseen = np.zeros(2) if is_whole else _unseen(tally, ago)
    return [TallyView(sums[s], A[s], tally.stakes, opened[s], float(unseen[s]), is_whole) for s in (0, 1)]


def _unseen(tally: Tally, ago: np.ndarray) -> np.ndarray:
    """What each side lacks for questions without an answer, by the strata of the whole life."""
    count, begun = int(tally.count[0]), int(tally.count[1])
    length = stratum_length(begun, int(tally.steps[0]))
    strata = np.zeros((2, max(count - 1, 0) // length + 1, len(IN_STRATUM)))
    ended = min(tally.strata.shape[1], strata.shape[1])
    strata[:, :ended] = tally.strata[:, :ended]
    which = list(IN_STRATUM)
    strata[:, 0] += tally.sums[:, which] - strata.sum(axis=1)  # what earlier versions have counted without strata
    strata[:, -1] += tally.fresh[:, which]
    answered, forgotten, residual = np.moveaxis(strata, -1, 0)
    opened = np.bincount(np.maximum(count - ago, 0) // length, minlength=strata.shape[1])
    return unseen_of(answered.sum(axis=0), forgotten.sum(axis=0) + opened, residual.T)


def sums_of(tally: Tally, window: tuple[int, int] | None) -> np.ndarray:
    """The sums over the whole life, or over a window from one of its blocks on."""
    fresh = tally.fresh.sum(axis=0)
    if window is None:
        return np.asarray(tally.sums.sum(axis=0) + fresh)
    return np.asarray(tally.block_sums[window[0], _slots(tally, *window)].sum(axis=0) + fresh)


def unasked_of(tally: Tally, window: tuple[int, int] | None) -> np.ndarray:
    """The part of A from rounds that were not asked about, of the whole life or of a window."""
    now = tally.now.reshape(2, CELLS).sum(axis=0)
    if window is None:
        cells = tally.cells.sum(axis=0)
    else:
        cells = tally.block_cells[window[0], _slots(tally, *window)].astype(float).sum(axis=0)
    return np.asarray((cells + now) @ _table(tally.stakes.tobytes()))


def _slots(tally: Tally, which: int, first: int) -> np.ndarray:
    """The places in the ring of the blocks from ``first`` to the current one."""
    return np.arange(first, max(int(tally.count[0]) - 1, 0) // int(tally.steps[which]) + 1) % BLOCKS


def as_if_answered(tally: Tally, waiting: Iterable[Waiting]) -> TallyView:
    """The whole life, as it should be once the open questions are answered like the others."""
    negative, positive = sides_of(tally)
    found = negative + positive
    logs = (tally.logs + tally.carried + np.log(tally.product)).sum(axis=0)
    share = sum(1 for _ in waiting) / max(float(found.answered), 1.0)
    return replace(found, A=found.A - share * logs)


def blocks_of(tally: Tally, which: int, first: int, last: int, waiting: Iterable[Waiting] = ()) -> TallyView:
    """The blocks from first to last, the last excluded, of one of the windows."""
    size, count = int(tally.steps[which]), int(tally.count[0])
    slots = np.arange(first, last) % BLOCKS
    cells = tally.block_cells[which, slots].astype(float).sum(axis=0)
    logs, blocks = tally.block_logs[which, slots].sum(axis=0), tally.block_sums[which, slots]
    sums = blocks.sum(axis=0)
    if last * size >= count:  # the current block of the shortest window is not stored in the blocks yet
        cells = cells + tally.now.reshape(2, CELLS).sum(axis=0)
        logs = logs + (tally.carried + np.log(tally.product)).sum(axis=0)
        sums = sums + tally.fresh.sum(axis=0)
        blocks[-1] += tally.fresh.sum(axis=0)
    ago, _, doubts = _open_bets(tally, waiting)
    place = count - ago
    here = (first * size <= place) & (place < last * size)
    logs = logs + doubts[here].sum(axis=0)
    opened, unseen = np.bincount(place[here] // size - first, minlength=last - first), 0.0
    is_whole = not (here.any() or sums[FORGOTTEN])
    if not is_whole:
        unseen = float(unseen_of(blocks[:, ANSWERED], blocks[:, FORGOTTEN] + opened, blocks[:, RESIDUAL]))
    A = _wealth(tally, cells, logs, sums)
    return TallyView(sums, A, tally.stakes, int(np.count_nonzero(here)), unseen, is_whole)


def window_of(tally: Tally, which: int, waiting: Iterable[Waiting] = ()) -> TallyView:
    """The last rounds: those of ten blocks, and the current block as far as it is."""
    size, count = int(tally.steps[which]), int(tally.count[0])
    first = max(count - BLOCKS_OF_WINDOW * size, 0) // size
    return blocks_of(tally, which, first, max(count - 1, 0) // size + 1, waiting)
