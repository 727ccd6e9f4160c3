"""Asking a small, uniformly random share of the rounds, whatever the rule says.

What a rule asks about is no fair sample of the stream, and a rule without coins (BBQ) never asks about the rounds it
passes over: no estimate of the accuracy can be made from its questions alone. An audit asks iff u >= 1 - rate, with
the round's one coin u, so that a rule of probability P asks with min(1, P + rate) in all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..compiled.steps import step
from ..validation import check_flag, check_number


@dataclass(frozen=True)
class Audit:
    """Questions at random that keep the estimate of the accuracy honest.

    Parameters
    ----------
    rate : float
        The share of the rounds that are asked about, whatever the rule says; between 0 and 1. A ``BudgetRule`` counts
        these labels too, and where its budget is spent nothing is asked.
    learn : bool, default True
        Whether the learner learns from these labels too. Without, a deterministic algorithm is watched without being
        changed.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.5), audit=aw.Audit(0.02), seed=7)
    """

    rate: float
    learn: bool = True

    def __post_init__(self) -> None:
        check_number(self, "rate", self.rate, "a number from 0 to 1", 0.0, 1.0, open_low=False)
        check_flag(self, "learn", self.learn)


class AuditState(NamedTuple):
    """An audit inside a round: its rate, 0 without an audit, and whether the learner learns from it."""

    rate: float
    learns: bool


def audit_state(audit: Audit | None) -> AuditState:
    """The audit inside a round."""
    return AuditState(0.0, True) if audit is None else AuditState(float(audit.rate), bool(audit.learn))


@step
def audits(audit: Any, u: float) -> Any:
    """Whether this round is one that the audit asks about."""
    return audit.rate > 0.0 and u >= 1.0 - audit.rate
