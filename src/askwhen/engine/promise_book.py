"""The records of a promise besides the rule's state: facts of open questions, labels released later, periods."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..contracts.sampler import Parts
from ..errors import SnapshotError
from ..linalg.vectors import all_finite
from ..rules.promise import PromiseRule
from ..rules.promise_account import (
    ANSWERED,
    FORGOTTEN,
    FORM,
    IS_ELSEWHERE,
    IS_OPEN,
    IS_WITHHELD,
    MARGIN,
    ROUND,
    STAKES,
    E,
    P,
    PromiseState,
    hold,
    release,
    wealth_logs,
    write_factors,
)
from ..trace.trace import Ask

MOST_RELEASED = 10_000
"""Number of released labels that are kept until they are fetched; older ones are dropped."""


_Account = tuple[np.ndarray, np.ndarray]
"""L and the sums."""


@dataclass(frozen=True)
class Period:
    """A stretch of rounds with an account of its own: L and the sums at its beginning."""

    name: str
    first: int
    logs: np.ndarray
    sums: np.ndarray


class PromiseBook:
    """What a sampler with a :class:`askwhen.PromiseRule` remembers in Python."""

    def __init__(self) -> None:
        self.released: deque[tuple[int, float]] = deque(maxlen=MOST_RELEASED)
        self.periods: list[Period] = []
        self.shift = 0
        """Number of rounds that are in the account and that the sampler has not played."""
        self.open: dict[int, tuple[float, float]] = {}
        """P and e of open questions of the account that the sampler has not asked, by their number there, from 1."""
        self.elsewhere: set[int] = set()
        """Open questions of the sampler whose answers are not for its account."""

    @staticmethod
    def of(parts: Parts, costs: Any) -> PromiseBook | None:
        """The book of a sampler with these parts; None where its rule is another one."""
        if not isinstance(parts.rule, PromiseRule):
            return None
        parts.rule.check_use(parts.learner, parts.audit, costs)
        return PromiseBook()

    def number_of(self, ask: Ask) -> float:
        """The number of a round in the account, which counts from 1."""
        return ask.round + 1.0 + self.shift

    def note_ask(self, state: PromiseState, ask: Ask) -> None:
        """Write to an Ask what the rule has noted about its round."""
        ask.expected = state.last.item(E)
        ask.withheld = state.last.item(IS_WITHHELD) != 0.0

    def before_tell(self, state: PromiseState, ask: Ask) -> _Account | None:
        """Prepare the state for the answer to this question; returns L and the sums if the question is an earlier one.

        The facts of the last round's question are in the state. Those of an earlier one, and which one it is, are
        written to it.
        """
        if ask.round in self.elsewhere:
            state.told[[IS_OPEN, IS_ELSEWHERE]] = 1.0
            return None
        if state.last[ROUND] == self.number_of(ask) and state.last[IS_OPEN]:
            state.told[IS_OPEN] = 0.0
            return None
        uncertainty = ask.uncertainty or 0.0
        expected = math.nan if ask.expected is None else ask.expected
        facts = 1.0, ask.probability, expected, ask.margin, self.number_of(ask), 0.0
        state.told[[IS_OPEN, P, E, MARGIN, ROUND, IS_ELSEWHERE]] = facts
        state.told[FORM] = uncertainty / (1.0 - uncertainty) if uncertainty < 1.0 else math.inf
        return wealth_logs(state), state.sums.copy()

    def after_tell(self, state: PromiseState, ask: Ask, y: float, before: _Account) -> None:
        """Note that an earlier question was answered; ``before`` are L and the sums until then."""
        self.released.append((ask.round, float(y)))
        self.adjust(ask.round, wealth_logs(state) - before[0], state.sums - before[1])

    def adjust(self, number: int, logs: np.ndarray, sums: np.ndarray) -> None:
        """Leave what changed in a round out of the periods that began after it."""
        self.periods = [
            Period(each.name, each.first, each.logs + logs, each.sums + sums) if each.first > number else each
            for each in self.periods
        ]

    def forget(self, state: PromiseState, ask: Ask) -> None:
        """Count a question that will never be answered, in place: its bet stays as if the prediction was wrong."""
        if ask.round in self.elsewhere:
            return
        if state.last[ROUND] == self.number_of(ask) and state.last[IS_OPEN]:
            hold(state)
        if ask.expected is not None:
            self.release(state, self.number_of(ask), ask.probability, ask.expected, False)
        state.sums[FORGOTTEN] += 1.0

    def release(self, state: PromiseState, number: float, chance: float, e: float, agrees: bool) -> None:
        """Let a question that is held wait no longer, in place."""
        write_factors(state, chance, e)
        release(state, number, agrees)
        if state.last[IS_OPEN]:
            write_factors(state, float(state.last[P]), float(state.last[E]))

    def begin_period(self, name: str, first: int, state: PromiseState) -> None:
        """Begin an account at this round."""
        self.periods.append(Period(name, first, wealth_logs(state), state.sums.copy()))

    def dump(self, pending: Iterable[Ask]) -> dict[str, Any]:
        """The book in the header of a snapshot."""
        asks = list(pending)
        elsewhere = [ask.round for ask in asks if ask.round in self.elsewhere]
        found: dict[str, Any] = {
            "expected": [[ask.round, ask.expected] for ask in asks if ask.expected is not None],
            "released": [list(each) for each in self.released],
            "periods": [[each.name, each.first, each.logs.tolist(), each.sums.tolist()] for each in self.periods],
        }
        if self.shift or self.open or elsewhere:
            questions = [[number, chance, e] for number, (chance, e) in self.open.items()]
            found["account"] = [self.shift, questions, elsewhere]
        return found

    def restore(self, header: dict[str, Any], pending: dict[int, Any]) -> None:
        """Read the book of a snapshot, and the facts of open questions."""
        for number, expected in header["expected"]:
            if type(expected) is not float or not 0.0 <= expected <= 1.0:
                raise SnapshotError("the snapshot's open questions cannot be used.", owner="load")
            pending[number][0].expected = expected
        for number, y in header["released"]:
            if type(number) is not int or type(y) is not float:
                raise SnapshotError("the snapshot's released labels cannot be used.", owner="load")
            self.released.append((number, y))
        for name, first, logs, sums in header["periods"]:
            found = Period(str(name), int(first), np.array(logs, float), np.array(sums, float))
            if (
                len(found.logs) != STAKES
                or len(found.sums) <= ANSWERED
                or not all_finite(np.r_[found.logs, found.sums])
            ):
                raise SnapshotError("the snapshot's periods cannot be used.", owner="load")
            self.periods.append(found)
        shift, questions, elsewhere = header.get("account", (0, [], []))
        self.shift, self.elsewhere = int(shift), set(map(int, elsewhere))
        for number, chance, e in questions:
            if not (0.0 < chance <= 1.0 and 0.0 <= e <= 1.0):
                raise SnapshotError("the snapshot's open questions cannot be used.", owner="load")
            self.open[int(number)] = float(chance), float(e)
