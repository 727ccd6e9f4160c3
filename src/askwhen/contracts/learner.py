"""The interface of a learner: parameters that start a state, and the steps that a round calls on that state.

Learners, rules and drift detectors are plain parameters. The state they make lives in the sampler, as a NamedTuple of
arrays that steps change in place; its type selects the implementation of every family below.

Most learners' states have a field ``w``: a vector, or an expansion over stored instances. The families of
:mod:`askwhen.linalg.vectors` handle both, so that such a learner needs only ``score``, ``learn`` and ``restart``.

A round scores the instance, asks or not, and learns::

    enter(state, x)                          # not when a late answer is learnt: x is as it was when it was asked
    m, norm2, status = score(state, x)      # p = m / (1 + q), and q = 0 for first-order learners
    q = quadratic(state, x)                  # may be skipped where quadratic_bound is enough to decide
    leave(state)
    if learns(state, mistaken):
        hear(state, y, chance)
        learn(state, x, norm2, m, q, y)      # directly after score and quadratic of the same x
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from ..compiled.steps import Family
from ..linalg.vectors import all_finite, as_vector, has_room, set_row

State = Any
"""A NamedTuple of arrays and numbers."""

LARGEST_COUNT = 1 << 53
"""Largest count of rounds, updates or periods: beyond it, a float cannot represent every whole number."""


def _zero(state: Any, _: Any) -> Any:
    return 0.0


def _mistaken(state: Any, mistaken: bool) -> Any:
    return mistaken


def _w_is_sound(state: Any) -> Any:
    if not hasattr(state, "w"):
        return True
    return all_finite(state.w) if isinstance(state.w, np.ndarray) else is_sound(state.w)


def _set_row(state: Any, i: int) -> None:
    set_row(state.w, i)


def _has_room(state: Any, x: Any) -> Any:
    return has_room(state.w, x)


def _ignore_row(state: Any, i: int) -> None:
    return


def _always(state: Any, x: Any) -> Any:
    return True


def _grow_w(state: Any, entries: int, randomness: Any) -> Any:
    return state._replace(w=grow(state.w, entries, randomness))


def _one(state: Any) -> Any:
    return 1.0


def _constant(state: Any) -> Any:
    return 0.0


def _vector(state: Any) -> Any:
    return scale(state) * as_vector(state.w)


def _enter_nothing(state: Any, x: Any) -> None:
    return


def _foresee_nothing(state: Any, rows: Any, i: int) -> None:
    return


def _leave_nothing(state: Any) -> None:
    return


def _hear_nothing(state: Any, y: float, chance: float) -> None:
    return


def _note_nothing(state: Any, record: Any, i: int) -> None:
    return


def _no_class(state: Any) -> Any:
    return -1


def _no_more(state: Any) -> Any:
    return -1


def _as_it_is(state: Any) -> Any:
    return state


def _no_experts(state: Any) -> Any:
    return np.zeros(0)


score = Family("score")
"""``score(state, x) -> (m, |x|^2, status)``; if the status is not SOUND, the other two mean nothing."""

score_lasting = Family("score_lasting")
"""``score_lasting(state, x) -> (m, q, status)``: the score for a model that goes on predicting without labels.

Optional: without it ``score`` and ``quadratic`` serve. It may write to the row."""

quadratic = Family("quadratic", default=_zero)
"""``quadratic(state, x)`` -> q = x'Qx >= 0; leaves in the state's scratch arrays what ``learn`` needs."""

quadratic_bound = Family("quadratic_bound", default=_zero)
"""``quadratic_bound(state, norm2)`` -> an upper bound of q for every x of that squared norm."""

learns = Family("learns", default=_mistaken)
"""``learns(state, mistaken)`` -> whether a label that was asked for is learnt."""

learn = Family("learn")
"""``learn(state, x, norm2, m, q, y)`` -> UPDATED, UNCHANGED or REFUSED; changes the state in place."""

enter = Family("enter", default=_enter_nothing)
"""``enter(state, x)``: write features that only the learner knows, such as recent labels, into its row x, in place."""

leave = Family("leave", default=_leave_nothing)
"""``leave(state)``: note that a round has ended, whether it was asked about or not, in place."""

hear = Family("hear", default=_hear_nothing)
"""``hear(state, y, chance)``: note a label before it is learnt, and the probability of asking for it, in place."""

restart = Family("restart")
"""``restart(state)``: forget everything that was learnt, in place."""

arrive = Family("arrive", default=_set_row, without_w=_ignore_row)
"""``arrive(state, i)``: note that row i of a run is the current one, in place."""

foresee = Family("foresee", default=_foresee_nothing)
"""``foresee(state, rows, i)``: before row i of a run is scored, compute what it and the next rows need, in place.

When a row is scored, only the features that ``enter`` writes may differ. Live rounds do not call it, and must give the
same bits."""

ready = Family("ready", default=_has_room, without_w=_always)
"""``ready(state, x)`` -> whether x can be learnt now without more memory or random numbers; if not, see ``grow``."""

grow = Family("grow", default=_grow_w)
"""``grow(state, entries, randomness)`` -> the same state, ready for an instance of so many entries (Python only)."""

is_sound = Family("is_sound", default=_w_is_sound)
"""``is_sound(state)`` -> whether a state that came from a file can be used safely by compiled steps (Python only).

The types and shapes of its arrays are as ``start`` made them, but arrays that start empty may have any length. Every
number that is used as an index, a count, a divisor or a probability must be checked to be valid as such.
"""

scale = Family("scale", default=_one)
"""``scale(state)`` -> the positive factor by which w must be multiplied to give the weights that m comes from."""

epoch = Family("epoch", default=_constant)
"""``epoch(state)`` -> a number that changes when an update changes weights outside x's features; NaN if all do."""

weights = Family("weights", default=_vector)
"""``weights(state)`` -> the weight vector w, a copy (Python only)."""

best_class = Family("best_class", default=_no_class)
"""``best_class(state)`` -> the best class of the last ``score``, or -1 for two labels or for numbers.

The m of a learner of several classes is positive: half the gap between the two best classes, times 1 + q. Its y is the
number of a class."""

write_margins = Family("write_margins", default=_note_nothing)
"""``write_margins(state, record, i)``: write the margin of every class, from the last ``score``, to row i."""

open_class = Family("open_class", default=_no_more)
"""``open_class(state)``: open a class for a new label, in place -> its number, or -1 if there is no spare slot.

Spare slots have learnt -1 from every label so far, exactly as a class without any label would have."""

widen = Family("widen")
"""``widen(state, slots)`` -> the same state with more slots for classes; the last is never opened (Python only)."""

with_lookahead = Family("with_lookahead", default=_as_it_is)
"""``with_lookahead(state)`` -> the same state with memory for ``foresee`` (Python only)."""

experts = Family("experts", default=_no_experts)
"""``experts(state)`` -> the weight of each expert of a mixture; empty for other learners."""

note_experts = Family("note_experts", default=_note_nothing)
"""``note_experts(state, record, i)``: write the weights of a mixture to row i of the record, in place."""

UNCHANGED, UPDATED, REFUSED = 0, 1, 2


class Learner(Protocol):
    """A learner, which updates the weights: a dataclass of parameters."""

    @property
    def regression(self) -> bool:
        """Whether labels are numbers and the prediction is the margin itself."""

    @property
    def has_uncertainty(self) -> bool:
        """Whether the learner knows its uncertainty r, which BBQ and the switch detector need."""

    def start(self, d: int, sparse: bool) -> State:
        """The state before the first round, for instances of dimension d."""
