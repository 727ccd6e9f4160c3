"""Replays a run block by block and yields how each update changed the hypothesis, without holding the stream."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..compiled.steps import entry_point
from ..contracts.learner import grow
from ..data.stream_pieces import Piece
from ..drift.switch import SwitchState
from ..engine.batch_run import RowBatch, chunk_size, prepared, run
from ..engine.engine import Engine
from ..engine.inputs.argument_checks import check_class_labels, round_times
from ..engine.inputs.instance_checks import all_canonical, check_instances, check_names
from ..engine.inputs.two_labels import signs_of
from ..engine.state_arrays import copy_state
from ..linalg.rows import DenseRows, Rows, SparseRows, example_rows, part_of, row, shape_of, size
from ..sampler import Sampler
from ..trace.trace import Trace
from ..weights.expansion import HELD, expansion_of, support_of
from .change_log import COLUMNS, DONE, ENTRIES, MUST_GROW, ROWS, follow_rounds, new_log, vector_of

_ENTRIES = 1 << 18  # entries of a log in memory at once


class Run:
    """A run over the pieces of a stream, block by block."""

    def __init__(self, sampler: Sampler, pieces: Iterator[Piece], rng: np.random.Generator) -> None:
        self.sampler = sampler
        self.engine = sampler.engine
        self.rng = rng
        self.counts = np.zeros(4, np.int64)
        self.hypotheses = 1
        self._pieces = pieces

    @property
    def rounds(self) -> int:
        """Number of rounds played."""
        return int(self.counts[0])

    def blocks(self) -> Iterator[StreamBlock]:
        """The blocks that are still to be played."""
        for piece in self._pieces:
            with piece.named():
                rows, labels, when = self._checked(piece)
            n, size = len(labels), chunk_size(self.engine)
            for first in range(0, n, size):
                here = slice(first, min(n, first + size))
                yield StreamBlock(part_of(rows, here.start, here.stop), labels[here], when[here], first, piece)

    def _checked(self, piece: Piece) -> tuple[Rows, np.ndarray, np.ndarray]:
        owner, engine = "online_to_batch", self.engine
        rows = all_canonical(owner, check_instances(owner, piece.X, engine.form))
        names = check_names(owner, piece.X, engine.names)
        n, d = shape_of(rows)
        pair = engine.pair
        if engine.answers is None:
            labels, pair = signs_of(owner, piece.y, n, pair)
        else:
            labels = check_class_labels(owner, engine.places, piece.y, n)
        when = round_times(engine, owner, piece.times, n)
        engine.begin(owner, "X", d, isinstance(rows, SparseRows))
        engine.names, engine.pair = names, pair
        return rows, labels, when

    def play(self, block: StreamBlock) -> tuple[Rows, Trace]:
        """Play a block: its rows as the learner saw them, and the trace."""
        engine, is_prepared = self.engine, self.engine.prepare is not None
        with block.piece.named():
            seen = prepared(engine, block.rows, block.before) if is_prepared else block.rows
            trace = run(engine, RowBatch(seen, block.labels, False, True, block.times, block.before, is_prepared))
        self.counts += [trace.rounds, trace.questions, trace.updates, trace.mistakes]
        self.hypotheses += trace.updates + len(trace.switches)
        return seen, trace


class StreamBlock(NamedTuple):
    """Rows with labels and times (perhaps empty), and the number of earlier rows of their piece."""

    rows: Rows
    labels: np.ndarray
    times: np.ndarray
    before: int
    piece: Piece

    def cut(self, first: int, last: int) -> StreamBlock:
        """Some of these rows."""
        rows = part_of(self.rows, first, last)
        return StreamBlock(rows, self.labels[first:last], self.times[first:last], self.before + first, self.piece)


class Changes(NamedTuple):
    """Rows of a log, as a matrix; ``births`` are the numbers of rounds before each hypothesis was first used."""

    rows: sp.csr_matrix
    whole: np.ndarray
    scale: np.ndarray
    births: np.ndarray


class Follower:
    """Repeats the updates of a run and yields the changes."""

    def __init__(self, engine: Engine) -> None:
        if isinstance(engine.drift, SwitchState):
            engine.restart_if_due()
        self.learner = copy_state(engine.learner)
        self._randomness = copy.deepcopy(engine.draws.randomness)
        self._sparse = engine.sees_sparse
        self._log = new_log(_ENTRIES // 4, _ENTRIES)
        self._begun = False
        w = expansion_of(self.learner)
        if w is not None:
            self._log.counts[COLUMNS] = w.counts[HELD]
            self._make_places(np.arange(w.counts[HELD]))

    def follow(
        self, rows: Rows, labels: np.ndarray, updated: np.ndarray, switched: np.ndarray, before: int
    ) -> Iterator[Changes]:
        """The changes in these rounds, before which ``before`` others were played."""
        rounds = np.flatnonzero(updated | switched)
        births = before + 1 + np.repeat(rounds, updated[rounds].astype(int) + switched[rounds])
        if not self._begun:
            births = np.concatenate([[before], births])
        done = 0 if self._begun else -1
        self._begun = True
        flags = (updated, switched)
        example = (example_rows(self._sparse), np.zeros(0), rounds, *flags, 0, self._log)
        step = entry_point(follow_rounds, self.learner, *example)
        while True:
            done, why = step(self.learner, rows, labels, rounds, *flags, done, self._log)
            if why == MUST_GROW:
                x = row(rows, int(rounds[done]))
                self.learner = grow(self.learner, size(x), self._randomness)
                self._make_places(self._log.places)
                continue
            n = int(self._log.counts[ROWS])
            yield self._take(births[:n])
            births = births[n:]
            if why == DONE:
                return
            if n == 0:
                self._log = new_log(len(self._log.ends), 2 * len(self._log.values))._replace(
                    places=self._log.places, counts=self._log.counts
                )

    def _make_places(self, places: np.ndarray) -> None:
        w = expansion_of(self.learner)
        if w is not None:
            longer = np.zeros(len(w.slots), np.int64)
            longer[: len(places)] = places[: len(longer)]
            self._log = self._log._replace(places=longer)

    def _take(self, births: np.ndarray) -> Changes:
        """Take the rows out of the log, which is empty afterwards."""
        log, n = self._log, len(births)
        entries = int(log.counts[ENTRIES])
        ends = np.concatenate([[0], log.ends[:n]])
        w = expansion_of(self.learner)
        columns = vector_of(self.learner).shape[-1] if w is None else int(log.counts[COLUMNS])
        parts = (log.values[:entries].copy(), log.columns[:entries].copy(), ends)
        log.counts[[ROWS, ENTRIES]] = 0
        return Changes(sp.csr_matrix(parts, (n, columns)), log.whole[:n].copy(), log.scale[:n].copy(), births)


class LearntInstances:
    """In dual form, all instances that were learnt, as the learner saw them: the columns of the log."""

    def __init__(self, engine: Engine) -> None:
        w = expansion_of(engine.learner)
        self.is_dual = w is not None
        self._pieces: list[Any] = [] if w is None else [support_of(w)[0]]

    def add(self, rows: Rows, updated: np.ndarray) -> None:
        """Add the rows that were learnt."""
        if self.is_dual:
            self._pieces.append(rows_at(rows, np.flatnonzero(updated)))

    def matrix(self) -> Any:
        """All of them, as an array or a CSR matrix."""
        return stacked(self._pieces)


def rows_at(rows: Rows, which: np.ndarray) -> Any:
    """Some of the rows, copied to an array or a CSR matrix."""
    if isinstance(rows, DenseRows):
        return rows.X[which]
    lengths = np.diff(rows.indptr)[which]
    ends = np.cumsum(lengths)
    entries = np.repeat(rows.indptr[which] - (ends - lengths), lengths) + np.arange(int(lengths.sum()))
    parts = (rows.data[entries], rows.indices[entries].astype(np.int32), np.concatenate([[0], ends]))
    return sp.csr_matrix(parts, (len(which), rows.d))


def stacked(pieces: list[Any]) -> Any:
    """Matrices on top of each other."""
    return sp.vstack(pieces, "csr") if sp.issparse(pieces[0]) else np.concatenate(pieces)


def followed(run: Run, take: Callable[[Changes], None]) -> LearntInstances:
    """Play a run and pass its changes to ``take``, block by block."""
    follower = learnt = None
    for block in run.blocks():
        if follower is None or learnt is None:
            follower, learnt = Follower(run.engine), LearntInstances(run.engine)
        rows, trace = run.play(block)
        learnt.add(rows, trace.updated)
        before = run.rounds - trace.rounds
        for changes in follower.follow(rows, block.labels, trace.updated, trace.switched, before):
            take(changes)
    assert learnt is not None
    return learnt


class HypothesisMean:
    """The mean of all hypotheses, computed from their changes in O(entries) for each log.

    A hypothesis counts once for every round in which it was used. ``now`` is the one in use, since round ``born``.
    """

    def __init__(self) -> None:
        self.total = np.zeros(0)
        self._now = np.zeros(0)
        self._born = 0
        self._scale = 1.0

    def take(self, changes: Changes) -> None:
        """Count the hypotheses that these changes made, but for the last one."""
        rows, whole, scale, births = changes
        if len(births) == 0:
            return
        self._resize(rows.shape[1])
        self.close(int(births[0]))
        lived = scale * np.diff(births, append=births[-1])  # the last one is still in use
        stretch = np.cumsum(whole)  # every stretch but number 0 begins with a whole row
        after = np.append(np.cumsum(lived[::-1])[::-1], 0.0)
        uses = (
            after[:-1] - after[np.searchsorted(stretch, stretch, "right")]
        )  # of each row: rounds of all hypotheses that contain it
        self.total += self._now * lived[stretch == 0].sum() + rows.T @ uses
        self._now = self._now * (stretch[-1] == 0) + rows.T @ (stretch == stretch[-1]).astype(float)
        self._born, self._scale = int(births[-1]), float(scale[-1])

    def close(self, t: int) -> None:
        """Count the hypothesis in use until round t."""
        self.total += (t - self._born) * self._scale * self._now
        self._born = t

    def _resize(self, columns: int) -> None:
        more = columns - len(self.total)
        self.total, self._now = np.pad(self.total, (0, more)), np.pad(self._now, (0, more))
