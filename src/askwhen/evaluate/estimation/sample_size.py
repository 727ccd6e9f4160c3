"""How many more labels narrow the accuracy's interval to a given width, asked for by the rule or at random."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...betting import CHANCES, ERRORS, STAKES, bet, place_of, unasked
from ...engine.tally.error_model import level_at
from .confidence import least, most
from .tally_views import TallyView

_MOST_ROUNDS = 1e12
_STEPS = 30


class Needed(NamedTuple):
    """Number of further labels for an interval of some width; None where no number of labels is enough.

    Attributes
    ----------
    by_rule : int or None
        If the rule goes on asking as before.
    at_random : int or None
        If every round is asked about with the same probability, at the same rate.
    """

    by_rule: int | None
    at_random: int | None


def needed_labels(found: TallyView, questions: int, width: float, alpha: float) -> Needed:
    """Number of further labels until the interval has this width, if the stream continues as it was."""
    rounds = float(found.rounds)
    if rounds == 0 or questions == 0 or found.answered == 0:
        return Needed(None, None)
    rate = questions / rounds

    def by_rule(more: float) -> float:
        return _width(found.A * (1.0 + more / rounds), found.stakes, rounds + more, alpha)

    each = _at_random(found, rate)

    def at_random(more: float) -> float:
        return _width(found.A + more * each, found.stakes, rounds + more, alpha)

    return Needed(*(_labels(wide, width, rate) for wide in (by_rule, at_random)))


def random_labels(found: TallyView, width: float, alpha: float) -> int | None:
    """Number of labels asked at random over the same rounds whose interval would be as narrow; None if there is none.

    It is an expectation: mistakes are taken to be as frequent as they are estimated to be.
    """
    rounds = float(found.rounds)
    if rounds == 0 or width >= 1.0:
        return None

    def wide(rate: float) -> float:
        return _width(rounds * _at_random(found, rate), found.stakes, rounds, alpha)

    few, many = 0.0, 1.0
    for _ in range(_STEPS):
        middle = 0.5 * (few + many)
        few, many = (few, middle) if wide(middle) <= width else (middle, many)
    return math.ceil(many * rounds)


def _width(A: np.ndarray, stakes: np.ndarray, rounds: float, alpha: float) -> float:
    fewest, largest = least(A, stakes, rounds, alpha / 2.0), most(A, stakes, rounds, alpha / 2.0)
    return float(largest - fewest) / rounds


def _at_random(found: TallyView, rate: float) -> np.ndarray:
    """Mean contribution of a round to A, if it is asked about at this rate and mistakes stay as frequent."""
    error = min(max(float(found.estimate) / max(float(found.rounds - found.unobserved), 1.0), 1e-3), 1.0)
    place, level = place_of(rate), level_at(error)
    k, loss = np.exp(found.stakes), -np.expm1(found.stakes)
    a = np.log([unasked(k[j], loss[j], CHANCES[place], ERRORS[level]) for j in range(STAKES)])
    right, wrong = np.zeros(STAKES), np.zeros(STAKES)
    bet(right, k, loss, rate, place, level, False, False)
    bet(wrong, k, loss, rate, place, level, True, True)
    return -((1.0 - rate) * a + rate * ((1.0 - error) * np.log(right) + error * np.log(wrong)))


def _labels(wide: Callable[[float], float], width: float, rate: float) -> int | None:
    """Number of labels, at this rate, until the interval is as narrow as this width; None if it never is."""
    if wide(0.0) <= width:
        return 0
    few, many = 0.0, 100.0
    while wide(many) > width:
        few, many = many, 2.0 * many
        if many > _MOST_ROUNDS:
            return None
    for _ in range(_STEPS):
        middle = 0.5 * (few + many)
        few, many = (few, middle) if wide(middle) <= width else (middle, many)
    return math.ceil(many * rate)
