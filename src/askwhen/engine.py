"""The engine of a sampler: owns the state and plays rounds on rows that have passed the door.

The arithmetic of a round is in :mod:`askwhen.round`. Nothing here checks arguments; what a step refuses, because only
the step can see it, is raised here as one sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from .compiling import entry_point
from .contracts import State, grow, ready
from .drift.switch import NoDrift
from .errors import InputError
from .linalg import SOUND, UNSOUND, DenseRows, SparseRows, row, size
from .round import LABEL_REFUSED, NOT_READY, Record, ask_round, new_record, run_rounds, score_rows, tell_round
from .states import copy_state
from .trace import Ask, Trace
from .validation import (
    Row,
    Rows,
    canonical,
    copy_of,
    describe_unsound,
    is_canonical,
    part_of,
    shape_of,
    short,
    values_of,
)

_CHUNK = 1 << 16
_new = tuple.__new__  # a NamedTuple of its own, without the cost of its keywords


class Question(NamedTuple):
    """An ask that waits for its label."""

    ask: Ask
    x: Row
    by_rule: bool
    period: int
    switched: bool


class Shape(NamedTuple):
    """The dimension and the form of the instances; ``plain`` is the shape of one that needs no conversion, if any."""

    d: int
    sparse: bool
    plain: tuple[int] | None


UNKNOWN = Shape(-1, False, None)


class Engine:
    """Everything a sampler remembers: three states, the coins, and the open questions.

    ``parts`` are the parameters (learner, rule, drift guard or None); ``learner``, ``rule`` and ``drift`` are the
    states that they made, and ``learner`` is None before the first instance.
    """

    def __init__(self, parts: tuple[Any, Any, Any], seed: int | None) -> None:
        self.parts = parts
        self.seed = seed
        self.coins = np.random.Generator(np.random.PCG64(seed))
        self.randomness = self.coins.spawn(1)[0]
        self.regression = bool(parts[0].regression)
        self.has_uncertainty = bool(parts[0].has_uncertainty)
        self.learner: State = None
        self.rule: State = parts[1].start()
        self.drift: State = NoDrift(0)
        self.shape = UNKNOWN
        self.round = 0
        self.questions = 0
        self.updates = 0
        self.switches: list[int] = []
        self.pending: dict[int, Question] = {}
        self._ask: Any = None
        self._tell: Any = None

    @property
    def form(self) -> bool | None:
        """Whether instances are sparse, or None before the first."""
        return None if self.learner is None else self.shape.sparse

    def begin(self, owner: str, name: str, d: int, sparse: bool) -> None:
        """Make the state for the dimension and the form of the first instance; later ones must agree."""
        if self.learner is not None:
            if d != self.shape.d:
                raise InputError(f"{owner}: {name} must have {self.shape.d} features as before, got {d}.")
            return
        try:
            learner = self.parts[0].start(d, sparse)
            drift = self.drift if self.parts[2] is None else self.parts[2].start(d, sparse)
        except MemoryError:
            raise InputError(
                f"{owner}: {name} has {d} features, and the matrices of {short(self.parts[0])} for so many do not "
                "fit in memory; use the dual form."
            ) from None
        self.shape, self.learner, self.drift = Shape(d, sparse, None if sparse else (d,)), learner, drift

    def _begin_afresh(self) -> None:
        """Forget the first instance, if it is still the first: let the next one decide the dimension."""
        if self.round == 0:
            self.learner, self.drift, self.shape, self._ask, self._tell = None, NoDrift(0), UNKNOWN, None, None

    def _compile(self) -> None:
        """Look up the compiled rounds of ``ask`` and ``tell``, or compile them, which takes a while."""
        x = row(_example_rows(self.shape.sparse), 0)
        state = (self.learner, self.rule, self.drift)
        try:
            self._tell = entry_point(tell_round, *state, x, 1.0, True, True, 0, True)
            self._ask = entry_point(ask_round, *state, x, 0.5)
        except BaseException:  # an interrupt, most likely
            self._begin_afresh()
            raise

    def ask(self, x: Row) -> Ask:
        """Play one round."""
        if self._ask is None:
            self._compile()
        verdict, p, r, probability, by_rule, period, switched = self._ask(
            self.learner, self.rule, self.drift, x, self.coins.random()
        )
        if verdict != SOUND:
            return self._ask_again(verdict, x)
        number = self.round
        self.round = number + 1
        if switched:
            self.switches.append(number)
        prediction = p if self.regression else (1 if p > 0.0 else -1)
        query = by_rule or period > 0
        ask = _new(Ask, (number, prediction, p, r if self.has_uncertainty else None, probability, query))
        if query:
            self.questions += 1
            self.pending[number] = _new(Question, (ask, copy_of(x), by_rule, period, switched))
        return ask

    def _ask_again(self, verdict: int, x: Row) -> Ask:
        """Take back the coin of a round that could not be played; grow and play it, or raise why it cannot be."""
        self.coins.bit_generator.advance(-1)  # type: ignore[attr-defined]
        try:
            self._make_ready(verdict, x, "ask", "x")
        except InputError:
            self._begin_afresh()
            raise
        return self.ask(x)

    def tell(self, question: Question, y: float) -> None:
        """Settle an open question."""
        if self._tell is None:
            self._compile()
        asked, x, by_rule, period, switched = question
        mistaken = not self.regression and y != asked[1]
        while True:
            verdict, updated = self._tell(
                self.learner, self.rule, self.drift, x, y, mistaken, by_rule, period, switched
            )
            if verdict == SOUND:
                break
            self._make_ready(verdict, x, "tell", f"the instance of round {asked.round}")
        self.updates += updated
        del self.pending[asked[0]]

    def run(self, rows: Rows, labels: np.ndarray, every_margin: bool, keep: bool, before: int = 0) -> Trace:
        """Play a round for every row, telling each asked label at once; rounds before an error stay played.

        ``before`` rows of X came earlier, which an error counts in.
        """
        n, d = shape_of(rows)
        start, room = self.round, n if keep else min(n, _CHUNK)
        kept = new_record(room)
        counts = np.zeros(3, np.int64)
        switches: list[int] = []
        example = (_example_rows(self.shape.sparse), labels, 0, True, True, kept)
        play = entry_point(run_rounds, self.learner, self.rule, self.drift, *example)
        for first in range(0, n, _CHUNK):
            last = min(n, first + _CHUNK)
            here = slice(first, last) if keep else slice(0, last - first)
            record = Record(*(array[here] for array in kept))
            self.coins.random(out=record.coin)
            done = 0
            while done < last - first:
                state = (self.learner, self.rule, self.drift)
                part = part_of(rows, first, last)
                done, verdict = play(*state, part, labels[first:last], done, every_margin, self.regression, record)
                if verdict == UNSOUND and not is_canonical(row(part, done), d):
                    rows = canonical("run", rows)
                elif verdict != SOUND:
                    self._make_ready(verdict, row(part, done), "run", f"row {before + first + done} of X")
            counts += [np.count_nonzero(flags) for flags in (record.queried, record.updated, record.mistaken)]
            switches.extend((np.flatnonzero(record.switched) + start + first).tolist())
        if not keep:
            kept = new_record(0)
        questions, updates, mistakes = counts.tolist()
        trace = Trace(
            start=start,
            rounds=n,
            questions=questions,
            updates=updates,
            mistakes=mistakes,
            margin=kept.margin,
            prediction=kept.margin if self.regression else kept.prediction,
            probability=kept.probability,
            coin=kept.coin,
            queried=kept.queried,
            updated=kept.updated,
            mistaken=kept.mistaken,
            switches=np.array(switches, np.int64),
        )
        self.round += n
        self.questions += questions
        self.updates += updates
        self.switches.extend(switches)
        return trace

    def margins(self, rows: Rows) -> np.ndarray:
        """The margins of many rows, without playing a round."""
        n, d = shape_of(rows)
        if self.learner is not None and d != self.shape.d:
            raise InputError(f"margins: X must have {self.shape.d} columns as before, got {d}.")
        sparse = isinstance(rows, SparseRows)
        learner = self.learner or self.parts[0].start(d, sparse)
        p = np.empty(n)
        score = entry_point(score_rows, learner, _example_rows(sparse), 1, p)
        stopped, verdict = score(learner, part_of(rows, 0, n), n, p)
        if verdict == UNSOUND and not is_canonical(row(rows, stopped), d):
            rows = canonical("margins", rows)
            stopped, verdict = score(learner, part_of(rows, 0, n), n, p)
        if verdict != SOUND:
            raise self._refusal(verdict, row(rows, stopped), "margins", f"row {stopped} of X")
        return p

    def checkpoint(self, copied: Callable[[State], State] = copy_state) -> Any:
        """Everything that a run changes before it succeeds, copied."""
        states = [copied(state) for state in (self.learner, self.rule, self.drift)]
        return states, self.shape, self.coins.bit_generator.state, self.randomness.bit_generator.state

    def restore(self, before: Any) -> None:
        """Go back to a checkpoint."""
        (self.learner, self.rule, self.drift), self.shape, coins, randomness = before
        self.coins.bit_generator.state = coins
        self.randomness.bit_generator.state = randomness

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_ask", "_tell")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _ask=None, _tell=None)

    def _make_ready(self, verdict: int, x: Row, owner: str, where: str) -> None:
        """Grow what must grow before this row can be taken, or raise why it cannot be."""
        if verdict != NOT_READY:
            raise self._refusal(verdict, x, owner, where)
        if ready(self.learner, x):
            self.drift = grow(self.drift, size(x), self.randomness)
        else:
            self.learner = grow(self.learner, size(x), self.randomness)

    def _refusal(self, verdict: int, x: Row, owner: str, where: str) -> InputError:
        if verdict == UNSOUND:
            return describe_unsound(owner, x, where)
        largest = np.abs(values_of(x)).max()
        trouble = "would overflow the weights of" if verdict == LABEL_REFUSED else "is too large for"
        return InputError(
            f"{owner}: {where}, with a value of {largest:.3g}, {trouble} {short(self.parts[0])}; "
            "scale the instances first, for example to unit norm."
        )


def _example_rows(sparse: bool) -> Rows:
    """Rows of the right types, to look up compiled steps by."""
    if sparse:
        return SparseRows(np.zeros(1), np.zeros(1, np.uint32), np.array([0, 1]), 1)
    return DenseRows(np.zeros((1, 1)))
