"""The interface of a drift detector: parameters that start a state, and the steps that a round calls on that state.

A detector sees every round and every label. When it finds that the stream has switched, the learner and the clock of
the rule restart. Every family below has a default that does nothing, so that a detector registers only what it needs;
a detector that declares switches needs ``watch`` and ``take_due``::

    begin(drift)                                  # the round begins
    period = window_period(drift)                 # a positive number: ask in this round, whatever the rule decides
    switched = watch(drift, x, m, q)              # p = m / (1 + q) is the margin of this round
    absorb_label(drift, x, y, mistaken, by_rule, period)   # when the label arrives, now or later
    take_due(drift)                               # at the end of the round, or before the next one: restart?
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol

from ..compiled.steps import Family
from .learner import State


def _nothing(drift: Any) -> None:
    return


def _no(drift: Any) -> Any:
    return False


def _yes(drift: Any) -> Any:
    return True


def _no_window(drift: Any) -> Any:
    return 0


def _no_switch(drift: Any, x: Any, m: float, q: float) -> Any:
    return False


def _absorb_nothing(drift: Any, x: Any, y: float, mistaken: bool, by_rule: bool, period: int) -> None:
    return


def _has_room(drift: Any, x: Any) -> Any:
    return True


begin = Family("begin", default=_nothing)
"""``begin(drift)``: begin a round, in place."""

watches = Family("watches", default=_yes)
"""``watches(drift)`` -> whether the detector needs the margin of every round; constant for a type of state."""

window_period = Family("window_period", default=_no_window)
"""``window_period(drift)`` -> a positive number if this round must be asked about, whatever the rule decides; or 0.

The number is passed back with the label, to ``absorb_label``, however late the label arrives.
"""

watch = Family("watch", default=_no_switch)
"""``watch(drift, x, m, q)`` -> whether this round declares a switch; ``take_due`` must then return True once."""

take_due = Family("take_due", default=_no)
"""``take_due(drift)`` -> whether a restart is due; the call resets it."""

absorb_label = Family("absorb_label", default=_absorb_nothing)
"""``absorb_label(drift, x, y, mistaken, by_rule, period)``: take a label, in place.

``by_rule`` says whether the learner may learn it too; ``period`` is the result of ``window_period`` in its round.
"""

has_room_for = Family("has_room_for", default=_has_room)
"""``has_room_for(drift, x)`` -> whether x can be taken without more memory; if not, ``grow`` is called."""


class NoDrift(NamedTuple):
    """The state of a sampler without a drift detector."""

    nothing: int


@watches.of(NoDrift)
def _watches_nothing(drift: Any) -> Any:
    return False


class Drift(Protocol):
    """A drift detector, which decides when the learner restarts: a dataclass of parameters.

    It may also have ``needs_uncertainty``, True if it needs a learner with an uncertainty, and
    ``check_learner(learner)``, which raises an ``InputError`` for a learner that does not fit.
    """

    def start(self, d: int, sparse: bool) -> State:
        """The state before the first round, for instances of dimension d."""
