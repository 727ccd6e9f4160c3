"""Weights of the experts of a mixture: exponential in the loss, with a small share given back to all (fixed share).

On a label: v_e *= exp(-eta loss_e), normalised, then v_e = (1 - share) v_e + share / E. Herbster, Warmuth: Tracking the
best expert, 1998.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import epoch, experts, learns, note_experts
from ..linalg.vectors import all_within

ETA = 0.5
SHARE = 0.01


@step
def shift_weights(mix: Any, losses: Any) -> None:
    """Update the weights by the losses, in place."""
    total = 0.0
    for e in range(len(mix)):
        mix[e] *= math.exp(-ETA * losses[e])
        total += mix[e]
    for e in range(len(mix)):
        mix[e] = (1.0 - SHARE) * mix[e] / total + SHARE / len(mix)


@step
def weigh_alike(mix: Any) -> None:
    """Give all experts the same weight, in place."""
    for e in range(len(mix)):
        mix[e] = 1.0 / len(mix)


def is_mixture(mix: np.ndarray) -> bool:
    """Whether these are weights with sum 1, none of them smaller than fixed share allows."""
    return all_within(mix, SHARE / (2 * len(mix)), 1.0) and all_within(mix.sum(), 1.0 - 1e-9, 1.0 + 1e-9)


def register_mixture(kind: type) -> None:
    """Register the steps that all states of a mixture share: their weights are in ``mix``, every label is learnt."""
    learns.of(kind)(_always)
    epoch.of(kind)(_every_update)
    experts.of(kind)(_weights)
    note_experts.of(kind)(_write_weights)


def _always(state: Any, mistaken: bool) -> Any:
    return True


def _every_update(state: Any) -> Any:
    return math.nan


def _weights(state: Any) -> Any:
    return state.mix


def _write_weights(state: Any, record: Any, i: int) -> None:
    for e in range(len(state.mix)):
        record[i, e] = state.mix[e]
