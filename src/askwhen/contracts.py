"""What a learner, a rule and a drift guard must offer: parameters in Python, steps in compiled form.

Learners, rules and drift guards are plain parameters. The state they make lives in the sampler, as a NamedTuple of
arrays that steps change in place; its type selects the implementation of every family below.

A round scores the instance, asks or not, and learns::

    m, norm2, verdict = score(state, x)      # p = m / (1 + q), and q = 0 for first-order learners
    q = quadratic(state, x)                  # may be skipped where quadratic_bound settles the question
    if learns(state, mistaken):
        learn(state, x, norm2, m, q, y)      # directly after score and quadratic of the same x
"""

from __future__ import annotations

from typing import Any, Protocol

from .compiling import Family

State = Any
"""A NamedTuple of arrays and numbers."""


def _zero(state: Any, _: Any) -> Any:
    return 0.0


def _true(state: Any, _: Any) -> Any:
    return True


def _mistaken(state: Any, mistaken: bool) -> Any:
    return mistaken


def _copy_w(state: Any) -> Any:
    return state.w.copy()


score = Family("score")
"""score(state, x) -> (m, |x|^2, verdict); a verdict other than SOUND means nothing else may be read."""

quadratic = Family("quadratic", default=_zero)
"""quadratic(state, x) -> q = x'Qx >= 0; leaves what ``learn`` needs in the state's scratch arrays."""

quadratic_bound = Family("quadratic_bound", default=_zero)
"""quadratic_bound(state, norm2) -> an upper bound of q for every x of that squared norm."""

learns = Family("learns", default=_mistaken)
"""learns(state, mistaken) -> whether a label that was asked for is learnt."""

learn = Family("learn")
"""learn(state, x, norm2, m, q, y) -> UPDATED, UNCHANGED or REFUSED; changes the state in place."""

restart = Family("restart")
"""restart(state): forget everything that was learnt, in place."""

ready = Family("ready", default=_true)
"""ready(state, x) -> whether learning x now needs no memory and no randomness that is not there yet."""

grow = Family("grow")
"""grow(state, room, randomness) -> the same state, ready for one more instance of ``room`` entries (Python only)."""

weights = Family("weights", default=_copy_w)
"""weights(state) -> the weight vector w, a copy (Python only)."""

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


class Rule(Protocol):
    """How likely we ask."""

    @property
    def needs_uncertainty(self) -> bool:
        """Whether the rule reads r."""

    @property
    def needs_margin(self) -> bool:
        """Whether the rule reads p as a distance from a decision boundary."""

    def start(self) -> State:
        """The state before the first round."""


class Drift(Protocol):
    """When the learner restarts."""

    def start(self, d: int, sparse: bool) -> State:
        """The state before the first round, for instances of dimension d."""
