"""Audit: asks about a small, uniformly random share of the rounds, independently of the rule.

The questions of a rule are not a fair sample of the stream, and a deterministic rule (BBQ) never asks about the rounds
it skips: the accuracy cannot be estimated from its questions. An audit asks iff u >= 1 - rate, where u is the random
draw that the rule uses too, so that a rule with probability P asks with probability min(1, P + rate) in total.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from ..compiled.steps import step
from ..validation import check_flag, check_number


@dataclass(frozen=True)
class Audit:
    """Random questions that make an unbiased estimate of the accuracy possible.

    Parameters
    ----------
    rate : float
        The share of the rounds that are asked about, independently of the rule; between 0 and 1. A ``BudgetRule``
        counts these labels too, and where its budget is spent nothing is asked.
    learn : bool, default True
        Whether the learner learns from these labels too. If False, an audit measures an algorithm without changing it.

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
    """The state of an audit: its rate, 0 without an audit, and whether the learner learns from it."""

    rate: float
    learns: bool


def audit_state(audit: Audit | None) -> AuditState:
    """The state of an audit, or of no audit."""
    return AuditState(0.0, True) if audit is None else AuditState(float(audit.rate), bool(audit.learn))


@step
def audits(audit: Any, u: float) -> Any:
    """Whether the audit asks in a round with the random draw u."""
    return audit.rate > 0.0 and u >= 1.0 - audit.rate
