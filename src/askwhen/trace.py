"""What a round says (:class:`Ask`) and what happened in many of them (:class:`Trace`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


class Ask(NamedTuple):
    """The answer to one instance.

    ``prediction`` is -1 or +1 (the margin itself for a regressor); ``uncertainty`` is None for a learner that has
    none; ``query`` says whether the label is worth asking for: if so, answer with ``sampler.tell(ask, y)``.
    """

    round: int
    prediction: Any
    margin: float
    uncertainty: float | None
    probability: float
    query: bool


@dataclass(frozen=True, eq=False)
class Trace:
    """What happened in every round of a run.

    Attributes
    ----------
    start : int
        The number of the first round; rounds count from 0 over the life of the sampler.
    margin : array of float
        p, signed. NaN where ``margins=False`` made it unnecessary.
    prediction : array
        -1 or +1, or the margin itself for a regressor.
    probability : array of float
        The probability with which the label was asked for. NaN where the margin is.
    coin : array of float
        u, uniform on [0, 1): what the probability was tossed against.
    queried, updated : array of bool
        Whether the label was asked for; whether the learner moved.
    mistaken : array of bool
        Whether the prediction was wrong, asked or not: a simulation knows. Always False for a regressor.
    switches : array of int
        The rounds in which a switch was declared.
    drift_weights : array of float
        For ``AutoLasec``, the weight of each drift level (columns, as in ``AutoLasec.grid``) in each round; no columns
        for other learners.

    floor : float
        No probability that was not computed is below this.

    With ``run(..., trace=False)`` the arrays are empty and only ``start``, ``switches`` and the counts are kept.
    """

    start: int
    rounds: int
    questions: int
    updates: int
    mistakes: int
    margin: np.ndarray
    prediction: np.ndarray
    probability: np.ndarray
    coin: np.ndarray
    queried: np.ndarray
    updated: np.ndarray
    mistaken: np.ndarray
    switches: np.ndarray
    drift_weights: np.ndarray
    floor: float = 0.0

    def __repr__(self) -> str:
        return (
            f"Trace({self.rounds} rounds from {self.start}: {self.questions} questions, {self.updates} updates, "
            f"{self.mistakes} mistakes, {len(self.switches)} switches)"
        )


def join(traces: list[Trace]) -> Trace:
    """One trace of rounds that followed each other."""
    if len(traces) == 1:
        return traces[0]
    names = (
        "margin",
        "prediction",
        "probability",
        "coin",
        "queried",
        "updated",
        "mistaken",
        "switches",
        "drift_weights",
    )
    arrays: dict[str, Any] = {name: np.concatenate([getattr(trace, name) for trace in traces]) for name in names}
    return Trace(
        start=traces[0].start,
        rounds=sum(trace.rounds for trace in traces),
        questions=sum(trace.questions for trace in traces),
        updates=sum(trace.updates for trace in traces),
        mistakes=sum(trace.mistakes for trace in traces),
        floor=traces[0].floor,
        **arrays,
    )
