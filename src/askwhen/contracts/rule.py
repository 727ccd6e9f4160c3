"""What a rule provides: parameters that start a state, and the steps that a round calls on that state."""

from __future__ import annotations

from typing import Protocol

from .learner import State


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
