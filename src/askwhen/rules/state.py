"""What a rule is inside a step: plain data, so that one compiled loop serves all rules."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

ALWAYS, FIXED, MARGIN, ADAPTIVE, BBQ = 0, 1, 2, 3, 4

PASS, ASK, UNDECIDED = 0, 1, 2
"""What a rule says before q is known: UNDECIDED means that q must be computed."""


class RuleState(NamedTuple):
    """value is the rule's one parameter; memory = (t, K, X2).

    t counts rounds from 1 since the last restart, K the updates since then, and X2 is the largest squared norm among
    the updated instances.
    """

    kind: int
    value: float
    memory: Any


def new_state(kind: int, value: float) -> RuleState:
    """A rule that has seen no round."""
    return RuleState(kind, float(value), np.zeros(3))
