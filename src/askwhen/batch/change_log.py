"""The hypotheses of a run, as a log of what each update changed.

A run is played first; then a second learner with the same start *follows* only its updates, with the same steps and
hence the same bits, and logs the change of its weights after each update::

    hypothesis j = hypothesis j - 1 + row j         or row j alone, where ``whole[j]``

A row has one column for each feature, or in dual form for each instance that was ever learnt. First-order learners
change only where the instance has entries, so that a row costs O(nnz), or one number in dual form; second-order
learners change everywhere. An instance that is evicted for another one begins a whole row too, since
subtraction would not leave exactly 0 of it. The weights themselves are ``scale[j]`` times the hypothesis, which never
changes a sign.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import Family, borrow, entry, step
from ..contracts.learner import epoch, learn, quadratic, ready, restart, scale, score
from ..learners.auto_lasec import AutoDualState, AutoState
from ..learners.mixture_sparse import DiagonalState
from ..learners.mixture_state import MixtureState
from ..learners.word_experts import EXPERTS
from ..linalg.rows import position, row, size
from ..linalg.vectors import look
from ..weights.expansion import HELD, Expansion, fill_row, place_to_fill

DONE, LOG_IS_FULL, MUST_GROW = range(3)
"""Why :func:`follow_rounds` stopped."""

ROWS, ENTRIES, COLUMNS, PLACE = range(4)
"""Places in a log's counts: rows and entries written, columns used, and the place of the current instance."""


class Log(NamedTuple):
    """Rows of changes: row j ends at entry ends[j]. ``places`` are the columns of the instances that w keeps now."""

    ends: Any
    columns: Any
    values: Any
    whole: Any
    scale: Any
    places: Any
    counts: Any


def new_log(rows: int, entries: int) -> Log:
    """An empty log for this many rows and entries."""
    return Log(
        ends=np.zeros(rows, np.int64),
        columns=np.zeros(entries, np.int64),
        values=np.zeros(entries),
        whole=np.zeros(rows, np.bool_),
        scale=np.zeros(rows),
        places=np.zeros(0, np.int64),
        counts=np.zeros(4, np.int64),
    )


longest_row = Family("longest_row")
"""longest_row(w) -> largest number of entries of the next row."""

covers = Family("covers")
"""covers(w, x) -> whether an update with x may change all of w."""

look_before = Family("look_before")
"""look_before(w, x, log): remember what the update with x is about to change, in place."""

write_change = Family("write_change")
"""write_change(w, x, log): after the update, write what it changed, in place."""

write_weights = Family("write_weights")
"""write_weights(w, log): write all of w, in place."""


def _w_of(state: Any) -> Any:
    return state.w


vector_of = Family("vector_of", default=_w_of)
"""vector_of(state) -> an array with one column for each weight, or the sum of instances that they are."""


def _write_w(state: Any, log: Any) -> None:
    write_weights(state.w, log)


write_all = Family("write_all", default=_write_w)
"""write_all(state, log): write all of the weights, in place."""


@longest_row.of(np.ndarray)
def _length(w: Any) -> Any:
    return w.shape[-1]


@longest_row.of(Expansion)
def _length_of_sum(w: Any) -> Any:
    return w.counts[HELD] + 1


@covers.of(np.ndarray)
def _covers(w: Any, x: Any) -> Any:
    return size(x) >= w.shape[-1]


@covers.of(Expansion)
def _covers_sum(w: Any, x: Any) -> Any:
    return place_to_fill(w) < w.counts[HELD]


@look_before.of(np.ndarray)
def _look_before(w: Any, x: Any, log: Any) -> None:
    if w.ndim == 1:  # a mixture has a matrix, and always writes all of its weights
        first = log.counts[ENTRIES]
        for j in range(size(x)):
            log.values[first + j] = -w[position(x, j)]


@write_change.of(np.ndarray)
def _write_change(w: Any, x: Any, log: Any) -> None:
    if w.ndim == 1:
        first = log.counts[ENTRIES]
        for j in range(size(x)):
            log.columns[first + j] = position(x, j)
            log.values[first + j] += w[position(x, j)]
        log.counts[ENTRIES] += size(x)


@write_weights.of(np.ndarray)
def _write_weights(w: Any, log: Any) -> None:
    for i in range(len(w)):
        write_entry(log, i, w[i])


@look_before.of(Expansion)
def _look_before_sum(w: Any, x: Any, log: Any) -> None:
    place, counts = place_to_fill(w), log.counts
    counts[PLACE] = place
    log.places[place] = counts[COLUMNS]
    counts[COLUMNS] += 1


@write_change.of(Expansion)
def _write_change_of_sum(w: Any, x: Any, log: Any) -> None:
    write_entry(log, log.counts[COLUMNS] - 1, w.coef[log.counts[PLACE]])


@write_weights.of(Expansion)
def _write_sum(w: Any, log: Any) -> None:
    for place in range(w.counts[HELD]):
        write_entry(log, log.places[place], w.coef[place])


@write_all.of(AutoState)
def _write_mixture(state: Any, log: Any) -> None:
    for i in range(state.w.shape[1]):
        total = 0.0
        for e in range(len(state.mix)):
            total += state.mix[e] * state.w[e, i]
        write_entry(log, i, total)


@write_all.of(AutoDualState)
def _write_mixture_of_sums(state: Any, log: Any) -> None:
    count = len(state.mix)
    k = len(state.coef) // count
    for place in range(state.w.counts[HELD]):
        total = 0.0
        for e in range(count):
            total += state.mix[e] * state.coef[e * k + place]
        write_entry(log, log.places[place], total)


@vector_of.of(MixtureState)
def _row_of_mixture(state: Any) -> Any:
    return state.single


@write_all.of(MixtureState)
def _write_views(state: Any, log: Any) -> None:
    first = log.counts[ENTRIES]
    for i in range(len(state.single)):
        write_entry(log, i, 0.0)
    add_block(state.linear, state.mix, log, first)
    add_block(state.curved, state.mix, log, first)
    add_block(state.deviation, state.mix, log, first)
    add_block(state.ranks, state.mix, log, first)
    add_block(state.direction, state.mix, log, first)
    for i in range(len(state.lines)):
        for e in range(EXPERTS):
            log.values[first + state.lines_at + i] += state.mix[len(state.mix) - EXPERTS + e] * state.lines[i, e]


@step
def add_block(block: Any, mix: Any, log: Any, first: int) -> None:
    """Add the weights of a block to the row that begins at entry ``first``, in place."""
    for e in range(len(block.drift)):
        for j in range(block.w.shape[1]):
            log.values[first + block.start + j] += mix[block.first + e] * block.w[e, j]


@vector_of.of(DiagonalState)
def _column_of_lines(state: Any) -> Any:
    return state.lines[:, 0]


@write_all.of(DiagonalState)
def _write_lines(state: Any, log: Any) -> None:
    for i in range(len(state.lines)):
        total = 0.0
        for e in range(len(state.mix)):
            total += state.mix[e] * state.lines[i, e]
        write_entry(log, i, total)


@step
def write_entry(log: Any, column: int, value: float) -> None:
    """Append an entry to the row that is being written, in place."""
    at = log.counts[ENTRIES]
    log.columns[at] = column
    log.values[at] = value
    log.counts[ENTRIES] = at + 1


@step
def end_row(log: Any, whole: bool, scale: float) -> None:
    """Finish the row that is being written, in place."""
    j = log.counts[ROWS]
    log.ends[j] = log.counts[ENTRIES]
    log.whole[j] = whole
    log.scale[j] = scale
    log.counts[ROWS] = j + 1


@step
def write_whole(learner: Any, log: Any) -> None:
    """Append a row that holds all the weights, in place."""
    write_all(learner, log)
    end_row(log, True, scale(learner))


@entry
def follow_rounds(
    learner: Any, rows: Any, y: Any, rounds: Any, updated: Any, switched: Any, first: int, log: Any
) -> Any:
    """Repeat the updates and restarts of these rounds, in place, from ``first`` on: (next round, reason of stopping).

    If ``first`` is -1, it begins with a row of the current weights.
    """
    learner, rows, log = borrow(learner), borrow(rows), borrow(log)
    if first < 0:
        if longest_row(vector_of(learner)) > len(log.values):
            return first, LOG_IS_FULL
        write_whole(learner, log)
        first = 0
    for e in range(first, len(rounds)):
        i = rounds[e]
        x = row(rows, i)
        room = 2 * max(longest_row(vector_of(learner)), size(x))
        if log.counts[ROWS] + 2 > len(log.ends) or log.counts[ENTRIES] + room > len(log.values):
            return e, LOG_IS_FULL
        if updated[i]:
            if not ready(learner, x):
                return e, MUST_GROW
            before, whole = epoch(learner), covers(vector_of(learner), x)
            look_before(vector_of(learner), x, log)
            m, norm2, _ = score(learner, x)
            learn(learner, x, norm2, m, quadratic(learner, x), y[i])
            if whole or epoch(learner) != before:
                write_whole(learner, log)
            else:
                write_change(vector_of(learner), x, log)
                end_row(log, False, scale(learner))
        if switched[i]:
            restart(learner)
            write_whole(learner, log)
    return len(rounds), DONE


@entry
def kernel_rows(w: Any, rows: Any, out: Any) -> None:
    """Write K(x_i, x) of every stored instance and each row, which must be sound, to out."""
    w, rows, out = borrow(w), borrow(rows), borrow(out)
    for i in range(len(out)):
        x = row(rows, i)
        _, norm2, _ = look(w.scratch, x)
        fill_row(w, x, norm2)
        out[i] = w.row[: w.counts[HELD]]
