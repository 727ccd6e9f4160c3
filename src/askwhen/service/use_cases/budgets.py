"""What is left of a budget."""

from __future__ import annotations

import math

from ...rules.state import PERIOD, SPENT, RuleState
from ..domain.stream import Stream


def labels_left(stream: Stream, now: float) -> float | None:
    """How many labels may still be asked for, in this period or in all; None where only their share is bounded."""
    rule = stream.model.sampler.engine.rule
    if not isinstance(rule, RuleState):
        return None
    spent = float(rule.spending[SPENT])
    if rule.per > 0.0:
        return rule.value - (spent if rule.spending[PERIOD] == math.floor(now / rule.per) else 0.0)
    return rule.most - spent if math.isfinite(rule.most) else None
