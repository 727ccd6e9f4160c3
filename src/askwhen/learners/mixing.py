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
LASTING_ETA = 0.1
NUMBERS_BEGIN, WORDS_BEGIN = 0.05, 0.3


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
def shift_lasting(lasting: Any, lasts: Any, losses: Any) -> None:
    """Update the weights of the lasting experts by their losses, in place; the others keep the weight 0."""
    total = count = 0.0
    for e in range(len(lasting)):
        if lasts[e]:
            lasting[e] *= math.exp(-LASTING_ETA * losses[e])
            total += lasting[e]
            count += 1.0
    for e in range(len(lasting)):
        if lasts[e]:
            lasting[e] = (1.0 - SHARE) * lasting[e] / total + SHARE / count


@step
def begin_weights(mix: Any, words: int, directions: int, alike: bool) -> None:
    """Set the weights before the first label, in place: the last experts are those on directions, and then on words.

    Where there are several kinds, most of the weight begins on vectors, then on words: numbers beside a text are mostly
    of no use, and where they are of use a few labels show it. If ``alike``, all experts begin alike.
    """
    numbers = len(mix) - words - directions
    of_numbers = 0.0 if numbers == 0 else 1.0 if words + directions == 0 else NUMBERS_BEGIN
    of_words = 0.0 if words == 0 else (1.0 - of_numbers) * (1.0 if directions == 0 else WORDS_BEGIN)
    of_directions = 1.0 - of_numbers - of_words
    for e in range(len(mix)):
        if alike:
            mix[e] = 1.0 / len(mix)
        elif e < numbers:
            mix[e] = of_numbers / numbers
        elif e < numbers + directions:
            mix[e] = of_directions / directions
        else:
            mix[e] = of_words / words


@step
def lasting_experts(lasting: Any, lasts: Any, mix: Any) -> None:
    """Give the lasting experts their share of the weights, in place."""
    total = 0.0
    for e in range(len(lasting)):
        total += mix[e] if lasts[e] else 0.0
    for e in range(len(lasting)):
        lasting[e] = mix[e] / total if lasts[e] else 0.0


@step
def note_scored(mix: Any, least: float, scored: Any, words: int) -> None:
    """Choose the experts that are scored, in place: those on words, the last ones, all or none of them."""
    top = 0.0
    for e in range(len(mix)):
        top = max(top, mix[e])
    for e in range(len(mix)):
        scored[e] = mix[e] >= least * top
    any_word = False
    for e in range(len(mix) - words, len(mix)):
        any_word = any_word or scored[e]
    for e in range(len(mix) - words, len(mix)):
        scored[e] = any_word


@step
def weigh_alike(mix: Any) -> None:
    """Give all experts the same weight, in place."""
    for e in range(len(mix)):
        mix[e] = 1.0 / len(mix)


def is_mixture(mix: np.ndarray) -> bool:
    """Whether these are weights with sum 1, none of them smaller than fixed share allows."""
    return all_within(mix, SHARE / (2 * len(mix)), 1.0) and all_within(mix.sum(), 1.0 - 1e-9, 1.0 + 1e-9)


def is_lasting_mixture(lasting: np.ndarray, lasts: np.ndarray) -> bool:
    """Whether these are the weights of the lasting experts, with sum 1, and 0 for the others."""
    return len(lasts) == 0 or (is_mixture(lasting[lasts]) and not lasting[~lasts].any())


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
