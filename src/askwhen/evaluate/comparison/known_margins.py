"""A learner that learns nothing: the first feature of an instance is its margin.

With it a rule is played on margins that are known beforehand, as those of a trace or of a model that answers already.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ...contracts.learner import UNCHANGED, learn, learns, quadratic, restart, score
from ...errors import InputError
from ...linalg.vectors import SOUND


class KnownMarginsState(NamedTuple):
    """Nothing is learnt; w only says of how many features instances are."""

    w: Any


@score.of(KnownMarginsState)
def _score(state: Any, x: Any) -> Any:
    return x[0], 1.0, SOUND


@quadratic.of(KnownMarginsState)
def _quadratic(state: Any, x: Any) -> Any:
    return 0.0


@learns.of(KnownMarginsState)
def _learns(state: Any, mistaken: bool) -> Any:
    return False


@learn.of(KnownMarginsState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    return UNCHANGED


@restart.of(KnownMarginsState)
def _restart(state: Any) -> None:
    return


@dataclass(frozen=True)
class KnownMargins:
    """A learner whose margin is the first feature, always."""

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = False

    def start(self, d: int, sparse: bool) -> KnownMarginsState:
        """The state before the first round."""
        if sparse:
            raise InputError("margins must be a dense array.", owner="KnownMargins")
        return KnownMarginsState(np.zeros(d))
