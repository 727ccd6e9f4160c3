"""Rounds in which a question depends on the margin and the random draw alone, many in one loop.

For rules that know their thresholds beforehand (``Always``, ``FixedRate``, ``MarginRule``, ``FocusedRule``) and
learners of first order. The learner's steps are compiled into the loop, so that no step is called by its address and
nothing passes through memory between them: a round of a small learner takes a third of the time of
:func:`askwhen.engine.round.rounds.run_rounds`, with the same bits. Everything that belongs to the rule, the record and
the tally is done for many rounds at once, before and after the loop.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, cast

import numba
import numpy as np

from ...compiled.by_address import ADDRESS, address_of, calling
from ...compiled.frames import LentType, lend, new_frame
from ...compiled.steps import by_address, entry, type_of
from ...contracts.learner import (
    REFUSED,
    UNCHANGED,
    UPDATED,
    State,
    arrive,
    best_class,
    enter,
    experts,
    hear,
    learn,
    learns,
    leave,
    quadratic,
    ready,
    score,
    score_lasting,
)
from ...contracts.rule import chances, note_many, thresholds
from ...linalg.rows import example_rows, row
from ...linalg.vectors import SOUND, TOO_LARGE
from ..tally.many_rounds import count_many
from .rounds import LABEL_REFUSED
from .step_table import NOT_READY

_AT_ONCE = 512  # rounds whose numbers stay in the processor's first cache between one step and the next


class Played(NamedTuple):
    """The labels and the random draws of rounds, and the arrays that their results are written to."""

    label: Any
    coin: Any
    margin: Any
    probability: Any
    prediction: Any
    queried: Any
    updated: Any
    mistaken: Any
    levels: Any


class AheadContext(NamedTuple):
    """The states of a sampler: the learner and its loop are addresses."""

    learner: int
    play: int
    rule: Any
    tally: Any


# Five arguments, and the loop below: everything that happens in a round, once.
@by_address
def play_at(learner: Any, rows: Any, played: Any, first: int, last: int) -> Any:
    """Play rounds, in place, until a row cannot be taken: (its number, the status, updates, their largest |x|^2).

    The thresholds of the draws are in ``played.probability``.
    """
    updates, largest = 0, 0.0
    label, threshold = played.label[first:last], played.probability[first:last]
    margin, prediction, queried = played.margin[first:last], played.prediction[first:last], played.queried[first:last]
    updated, mistaken = played.updated[first:last], played.mistaken[first:last]
    for k in range(last - first):
        i = first + k
        x = row(rows, i)
        arrive(learner, i)
        m, norm2, status = score(learner, x)
        if status == SOUND and not ready(learner, x):
            status = NOT_READY
        if status == SOUND and not abs(m) < math.inf:
            status = TOO_LARGE
        if status != SOUND:
            return i, int(status), updates, largest
        y, asked = label[k], abs(m) < threshold[k]
        predicted = 1.0 if m > 0.0 else -1.0
        is_wrong = predicted != y
        outcome = UNCHANGED
        if asked and learns(learner, is_wrong):
            outcome = int(learn(learner, x, norm2, m, 0.0, y))
            if outcome == REFUSED:
                return i, LABEL_REFUSED, updates, largest
            if outcome == UPDATED:
                updates += 1
                largest = max(largest, norm2)
        margin[k] = m + 0.0  # -0.0 becomes 0.0
        prediction[k] = predicted
        queried[k] = asked
        updated[k] = outcome == UPDATED
        mistaken[k] = is_wrong
    return last, SOUND, updates, largest


_INT, _FLOAT = numba.types.int64, numba.types.float64
_PLAYED = cast(Any, numba.types.Tuple)([_INT, _INT, _INT, _FLOAT])
call_play = calling(_PLAYED, ADDRESS, ADDRESS, _INT, _INT)


@entry
def play_ahead(address: Any, rows: int, played_address: Any, played_number: int, first: int) -> Any:
    """Play and count rounds from ``first`` on, in place, until a row cannot be taken: (its number, the status)."""
    (context,) = lend(address)
    (played,) = lend(played_address)
    i, n, status = first, len(played.label), SOUND
    while i < n and status == SOUND:
        last = min(n, i + _AT_ONCE)
        thresholds(context.rule, played.coin[i:last], played.probability[i:last])
        stopped, status, updates, norm2 = call_play(context.play, context.learner, rows, played_number, i, last)
        note_many(context.rule, stopped - i, updates, norm2)
        chances(context.rule, played.margin[i:stopped], played.probability[i:stopped])
        count_many(context.tally, played, i, stopped, 0, False)
        i = stopped
    return i, status


def is_ahead(learner: State, rule: State) -> bool:
    """Whether these states play rounds ahead."""
    if any(type(learner) in family for family in (quadratic, hear, leave, enter, best_class, score_lasting)):
        return False
    nothing = np.zeros(0)
    return not len(experts(learner)) and bool(thresholds(rule, nothing, nothing))


_known: dict[Any, int] = {}


def ahead_context(learner: State, rule: State, tally: State, sparse: bool, what: Any) -> tuple[Any, Any, Any]:
    """What a loop needs: the memory that must stay alive, an address, and its type."""
    (block, state), kind = new_frame(learner)
    key = kind, sparse
    if key not in _known:
        rows, played = (LentType(type_of(example)) for example in (example_rows(sparse), _no_rounds()))
        _known[key] = address_of(play_at, LentType(kind.states[0]), rows, played, 0, 0, what=what)
    (held, address), kind = new_frame(AheadContext(state, _known[key], rule, tally))
    return (block, held), address, kind


def _no_rounds() -> Played:
    numbers, flags = np.zeros(0), np.zeros(0, np.bool_)
    return Played(numbers, numbers, numbers, numbers, np.zeros(0, np.int8), flags, flags, flags, np.zeros(0, np.int8))
