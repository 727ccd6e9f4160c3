"""Tuning in hindsight: the settings, and what decides how much is asked, on one seed of a stream."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from .results import Played

S = TypeVar("S")
STEPS = 8
"""How often a knob is moved in search of a share."""


def tuned(
    play: Callable[[S, float], Played],
    settings: Sequence[S],
    knobs: tuple[float, float],
    share: float,
    near: dict[S, float] | None = None,
) -> tuple[S, float]:
    """The setting and the knob that ask for this share, and of those, the ones with the best accuracy.

    A knob between the two ends is found by bisection for each setting; the larger it is, the more is asked. *near* has
    the knobs to begin with, from a search for the same share elsewhere, and is given those that this search ends with.
    """
    tries = []
    for place, setting in enumerate(settings):
        low, high = knobs
        knob = share if low < share < high else math.sqrt(low * high)
        if near is not None:
            knob = near.get(setting, knob)
        for _ in range(STEPS):
            played = play(setting, knob)
            off = abs(played.asked / share - 1.0)
            tries.append((off > 0.1, off if off > 0.1 else -played.accuracy, place, knob))
            if near is not None:
                near[setting] = knob
            if off < 0.04:
                break
            low, high = (low, knob) if played.asked > share else (knob, high)
            close = knob * share / max(played.asked, 1e-9)
            knob = close if off < 0.3 and low < close < high else math.sqrt(low * high)
    _, _, place, knob = min(tries)
    return settings[place], knob
