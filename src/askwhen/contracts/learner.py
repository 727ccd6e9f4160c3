"""What a learner provides: parameters that start a state, and the steps that a round calls on that state.

Learners, rules and drift guards are plain parameters. The state they make lives in the sampler, as a NamedTuple of
arrays that steps change in place; its type selects the implementation of every family below.

Every learner's state has a field ``w``: a vector, or an expansion over kept instances. What differs between the two
is in the families of :mod:`askwhen.linalg.vectors`, so that most learners need only ``score``, ``learn`` and
``restart``.

A round scores the instance, asks or not, and learns::

    enter(state, x)                          # not where a question is answered: x is as it was when it was asked
    m, norm2, status = score(state, x)      # p = m / (1 + q), and q = 0 for first-order learners
    q = quadratic(state, x)                  # may be skipped where quadratic_bound settles the question
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
"""No count of rounds, updates or periods is larger: beyond it, floating point cannot tell one from the next."""


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


def _grow_w(state: Any, room: int, randomness: Any) -> Any:
    return state._replace(w=grow(state.w, room, randomness))


def _one(state: Any) -> Any:
    return 1.0


def _constant(state: Any) -> Any:
    return 0.0


def _vector(state: Any) -> Any:
    return scale(state) * as_vector(state.w)


def _enter_nothing(state: Any, x: Any) -> None:
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


def _no_experts(state: Any) -> Any:
    return np.zeros(0)


score = Family("score")
"""``score(state, x) -> (m, |x|^2, status)``; a status other than SOUND means nothing else may be read."""

quadratic = Family("quadratic", default=_zero)
"""``quadratic(state, x)`` -> q = x'Qx >= 0; leaves what ``learn`` needs in the state's scratch arrays."""

quadratic_bound = Family("quadratic_bound", default=_zero)
"""``quadratic_bound(state, norm2)`` -> an upper bound of q for every x of that squared norm."""

learns = Family("learns", default=_mistaken)
"""``learns(state, mistaken)`` -> whether a label that was asked for is learnt."""

learn = Family("learn")
"""``learn(state, x, norm2, m, q, y)`` -> UPDATED, UNCHANGED or REFUSED; changes the state in place."""

enter = Family("enter", default=_enter_nothing)
"""``enter(state, x)``: write to a row of its own layout what only the learner knows of this moment, in place."""

leave = Family("leave", default=_leave_nothing)
"""``leave(state)``: note that a round has passed, whether it was asked about or not, in place."""

hear = Family("hear", default=_hear_nothing)
"""``hear(state, y, chance)``: note a label before it is learnt, and how likely it was to be asked for, in place."""

restart = Family("restart")
"""``restart(state)``: forget everything that was learnt, in place."""

arrive = Family("arrive", default=_set_row, without_w=_ignore_row)
"""``arrive(state, i)``: note that the i-th row of the rounds being played is now, in place."""

ready = Family("ready", default=_has_room, without_w=_always)
"""``ready(state, x)`` -> whether learning x now needs no memory and no randomness that is not there yet."""

grow = Family("grow", default=_grow_w)
"""``grow(state, room, randomness)`` -> the same state, ready for an instance of ``room`` entries (Python only)."""

is_sound = Family("is_sound", default=_w_is_sound)
"""``is_sound(state)`` -> whether a state that came from a file can be followed safely (Python only).

The types and shapes of its arrays are as ``start`` made them, but what starts empty may have any length. Every number
that becomes a place, a count, a divisor or a probability must be one.
"""

scale = Family("scale", default=_one)
"""``scale(state)`` -> the positive number by which w must be multiplied to give the weights that m comes from."""

epoch = Family("epoch", default=_constant)
"""``epoch(state)`` -> changes when an update rewrote weights outside x's features; NaN: every update does."""

weights = Family("weights", default=_vector)
"""``weights(state)`` -> the weight vector w, a copy (Python only)."""

best_class = Family("best_class", default=_no_class)
"""``best_class(state)`` -> the class that the last ``score`` found best, or -1 for two labels or for numbers.

The m of a learner of several classes is positive: half the gap between the two best classes, times 1 + q. Its y is the
number of a class."""

write_margins = Family("write_margins", default=_note_nothing)
"""``write_margins(state, record, i)``: write the margin of every class, as the last ``score`` found it, to row i."""

open_class = Family("open_class", default=_no_more)
"""``open_class(state)`` -> the number of a class that is told for the first time, in place, or -1 if there is no room.

The rooms beyond the classes that are open have learnt -1 from every label, as a class that was never told does."""

widen = Family("widen")
"""``widen(state, rooms)`` -> the same state with room for so many classes; one is never opened (Python only)."""

experts = Family("experts", default=_no_experts)
"""``experts(state)`` -> the weight of each drift level of a mixture; empty for a learner that is none."""

note_experts = Family("note_experts", default=_note_nothing)
"""``note_experts(state, record, i)``: write the weights of a mixture to row i of the record, in place."""

UNCHANGED, UPDATED, REFUSED = 0, 1, 2


class Learner(Protocol):
    """How the weights move."""

    @property
    def regression(self) -> bool:
        """Whether labels are numbers and the prediction is the margin itself."""

    @property
    def has_uncertainty(self) -> bool:
        """Whether the learner knows its uncertainty r, which BBQ and the switch detector need."""

    def start(self, d: int, sparse: bool) -> State:
        """The state before the first round, for instances of dimension d."""
