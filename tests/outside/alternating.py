"""A rule in one file: likely in every other round, unlikely in the rounds between."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from askwhen.contracts.rule import begin_round, decide, least_chance, probability, toss


class AlternatingState(NamedTuple):
    high: float
    low: float
    rounds: Any


@begin_round.of(AlternatingState)
def _begin(rule, time):
    rule.rounds[0] += 1


@probability.of(AlternatingState)
def _probability(rule, m, q, norm2):
    return rule.high if rule.rounds[0] % 2 == 1 else rule.low


@decide.of(AlternatingState)
def _decide(rule, m, q_low, q_high, norm2, u):
    return toss(probability(rule, m, q_high, norm2), u)


@least_chance.of(AlternatingState)
def _least(rule):
    return rule.low


@dataclass(frozen=True)
class Alternating:
    """Ask with probability ``high`` and ``low`` in turn."""

    high: float = 0.8
    low: float = 0.1

    @property
    def needs_uncertainty(self):
        return False

    @property
    def needs_margin(self):
        return False

    def start(self):
        return AlternatingState(self.high, self.low, np.zeros(1, np.int64))
