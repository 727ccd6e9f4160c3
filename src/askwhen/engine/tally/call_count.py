"""How often an adviser was called that is called only where that is worth its price, and whether it is so now.

A call in the next round is worth a number of answers of people, its *value*, see :mod:`askwhen.engine.calling`. It is
made where that is more than the price, and at least once in a hundred rounds, so that an adviser that has become better
is noticed. With a rate it is made where the value is among the highest of that share of the rounds:

==========  ==========================================================
threshold   ln of the least value. It moves by 0.2 ([the value is above it] - rate) with every round
calls       at most rate x rounds + 20, and at most ``most``
==========  ==========================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

_AT_LEAST = 100
_AHEAD = 20.0
_GAIN = 0.2
_FIRST = 0.1
_LARGEST = 2.0
_MEMORY = 50.0


@dataclass(frozen=True)
class CallTerms:
    """What an adviser costs: the price of a call in answers of people, the share of rounds, and the most calls."""

    price: float
    rate: float | None
    most: int | None


@dataclass
class CallCount:
    """The rounds in which an adviser could be called, and the calls so far.

    ``silent`` is the number of calls without an answer, ``since`` that of the rounds since the last call, and
    ``stated`` the running mean of the probability that it states; NaN where it names labels only.
    """

    rounds: int = 0
    calls: int = 0
    silent: int = 0
    since: int = 0
    threshold: float = math.log(_FIRST)
    stated: float = math.nan

    def is_due(self, terms: CallTerms, value: float) -> bool:
        """Whether to call it in a round in which that has this value."""
        if terms.most is not None and self.calls >= terms.most:
            return False
        if terms.rate is not None and self.calls + 1 > terms.rate * (self.rounds + 1) + _AHEAD:
            return False
        return self.since + 1 >= _AT_LEAST or self._is_worth(terms, value)

    def _is_worth(self, terms: CallTerms, value: float) -> bool:
        return value > terms.price and (terms.rate is None or value >= math.exp(self.threshold))

    def note(self, terms: CallTerms, value: float, called: bool, speaks: bool, stated: float) -> None:
        """Count a round, in place."""
        if terms.rate is not None and value < math.inf:
            moved = self.threshold + _GAIN * (self._is_worth(terms, value) - terms.rate)
            self.threshold = min(max(moved, math.log(max(terms.price, 1e-6))), math.log(_LARGEST))
        self.rounds += 1
        self.since = 0 if called else self.since + 1
        self.calls += called
        self.silent += called and not speaks
        if called and speaks and stated == stated:
            known = stated if self.stated != self.stated else self.stated
            self.stated = known + (stated - known) / _MEMORY
