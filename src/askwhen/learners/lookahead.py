"""Quadratic forms of the next rows of a run, computed before their turn: four rows in one pass over each matrix.

A round reads every matrix to compute q = x'Qx, and most rounds learn nothing. In a run the next rows are known, so what
they need of a matrix is computed for four of them at once, which takes half the time of four passes. A label changes
the matrices, and what was computed ahead is then discarded; where labels come often, nothing is computed ahead.

The sums have the order that they have in a round by itself, so that ``ask`` and ``run`` give the same bits. Recent
labels are written into a row when its round begins; the part of a form that they belong to is added then.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..linalg.rows import beginning, count_rows, row
from ..linalg.single import EIGHT, begin_forms, form_in_single, form_onwards, put_eight

ROWS = 4
"""Number of rows that are scored ahead at once."""

NO_ROW = -1

FIRST, STOP, PLACE, QUIET = range(4)

FREQUENT = 3.0
"""If labels come more often than every so many rounds, nothing is computed ahead."""

_MEMORY = 8.0


class Lookahead(NamedTuple):
    """What was computed ahead; empty outside of runs, and never stored.

    ``rows`` has two rows of the run in each line, eight features of one and eight of the other in turns. ``sums`` has
    the sums of each expert. about = (the number of the first row, that behind the last row, the place among ``ROWS`` of
    the row that is scored next or ``NO_ROW``, rounds since the last label). pace = the mean of these rounds.
    """

    rows: Any
    sums: Any
    about: Any
    pace: Any


def no_lookahead() -> Lookahead:
    """Nothing is computed ahead."""
    return Lookahead(np.zeros((0, 0), np.float32), np.zeros((0, 0), np.float32), np.zeros(0, np.int64), np.zeros(0))


def new_lookahead(width: int, experts: int) -> Lookahead:
    """Space to compute forms ahead, of rows with so many features before the words."""
    rows, sums = np.zeros((ROWS // 2, 2 * width), np.float32), np.zeros((experts, 2 * EIGHT * ROWS), np.float32)
    return Lookahead(rows, sums, np.array([0, 0, NO_ROW, 0]), np.array([_MEMORY]))


@step
def is_due(ahead: Any, i: int) -> Any:
    """Note that row i comes next, in place; return whether forms must be computed first, from that row on."""
    if len(ahead.about) == 0:
        return False
    about = ahead.about
    about[QUIET] += 1
    if i == 0 or not about[FIRST] <= i < about[STOP]:  # a new run begins with row 0
        about[FIRST] = about[STOP] = i
    about[PLACE] = i - about[FIRST] if i < about[STOP] else NO_ROW
    return about[PLACE] == NO_ROW and ahead.pace[0] >= FREQUENT


@apart
def take_rows(ahead: Any, rows: Any, i: int, width: int) -> None:
    """Copy the next rows of the run, from row i on, in place."""
    about, n = ahead.about, min(count_rows(rows) - i, ROWS)
    about[FIRST], about[STOP], about[PLACE] = i, i + n, 0
    for k in range(n):
        dense, line = beginning(row(rows, i + k), width), ahead.rows[k // 2]
        if len(dense) == width:  # else it is a row from a file, which will be refused
            for j in range(0, width, EIGHT):
                put_eight(line, 2 * j + EIGHT * (k % 2), dense, j)


@apart
def compute_ahead(ahead: Any, block: Any, scored: Any, before: int) -> None:
    """Compute the sums of a block's scored experts for the rows taken, of its features up to ``before``, in place."""
    for i in range(len(block.drift)):
        e = block.first + i
        if scored[e]:
            begin_forms(
                block.Q[i], ahead.rows[0, 2 * block.start :], ahead.rows[1, 2 * block.start :], before, ahead.sums[e]
            )


@step
def form_of(ahead: Any, Q: Any, e: int, x: Any, before: int) -> Any:
    """X'Qx of expert e, where the features up to ``before`` may have been added up ahead."""
    if len(ahead.about) == 0 or ahead.about[PLACE] == NO_ROW:
        return form_in_single(Q, x)
    return form_onwards(Q, x, before, ahead.sums[e], ahead.about[PLACE])


@step
def note_scored_row(ahead: Any) -> None:
    """Note that the row was scored, in place: the next one may not belong to the run."""
    if len(ahead.about) > 0:
        ahead.about[PLACE] = NO_ROW


@step
def forget_ahead(ahead: Any) -> None:
    """Discard what was computed, in place, since the matrices change."""
    if len(ahead.about) > 0:
        about, pace = ahead.about, ahead.pace
        about[FIRST] = about[STOP] = 0
        about[PLACE] = NO_ROW
        if about[QUIET] > 0:
            pace[0] += (about[QUIET] - pace[0]) / _MEMORY
        about[QUIET] = 0
