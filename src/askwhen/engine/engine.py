"""The engine of a sampler: owns the state and plays rounds on rows that have passed the door.

The arithmetic of a round is in :mod:`askwhen.engine.round.rounds`. Nothing here checks arguments; what a step refuses,
because only the step can see it, is raised here as one sentence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.abilities import ExpertLearner, LengthRule, SteeringRule, ViewLearner, classes_of
from ..contracts.drift import NoDrift, has_room_for, take_due, watches
from ..contracts.learner import State, experts, grow, open_class, quadratic_bound, ready, restart, widen
from ..contracts.rule import least_chance, note_class, period_length, restart_rule
from ..contracts.sampler import Parts
from ..errors import INSTANCES, InputError, at_row, called
from ..linalg.rows import (
    Row,
    Rows,
    SparseRow,
    SparseRows,
    copy_rows,
    example_rows,
    in_order,
    part_of,
    row,
    shape_of,
    size,
    values_of,
)
from ..linalg.vectors import SOUND, UNSOUND
from ..prepare import (
    PrepareState,
    ViewsState,
    absorb_row,
    room_for,
    start_views,
    transform_row,
    transform_rows,
    width_of,
)
from ..rules.audit import audit_state
from ..trace.trace import Ask, Origin, RoundResult, Trace
from ..validation import short
from ..weights.class_slots import repeat_last
from .inputs.instance_checks import canonical, describe_unsound, is_canonical
from .label_spaces import Classes, LabelSets
from .round.each_class import EachState, calls_of, start_classes
from .round.live_row import LiveRow
from .round.rounds import (
    LABEL_REFUSED,
    LEVEL,
    NO_ROOM,
    PERIOD,
    SWITCHED,
    Board,
    Record,
    ask_round,
    learn_rows,
    new_record,
    run_rounds,
    score_rows,
    tell_round,
)
from .round.step_table import NOT_READY, drift_calls
from .state_arrays import copy_state, writeable
from .tally.class_tally import ClassTally
from .tally.error_model import boundary, log_cost_of, log_odds, sigmoid
from .tally.label_tally import LabelTally
from .tally.round_tally import ANSWERED, Tally, counts_in_rounds, forget_round, new_tally, note_rounds_at

_CHUNK = 1 << 16
_FEW, _AHEAD = 4, 256  # twice as many coins are drawn at first, and at most so many at once
Beginning = Callable[[], tuple[int, dict[str, Any]]]
_PREPARED = 1 << 22  # so many prepared numbers are held at once
_NO_TIMES = np.zeros(0)
_NOBODY = np.zeros(0, np.bool_)
_NO_PLACES = np.zeros(0, np.int64)
_FLOAT64, _INT32 = np.dtype(np.float64), np.dtype(np.int32)
_new = tuple.__new__  # a NamedTuple of its own, without the cost of its keywords


OpenQuestion = tuple[Ask, Row, int]
"""An ask that waits for its label, its instance, and the marks of its round. A plain tuple, for speed."""

Waiting = tuple[int, float, int, bool]
"""What an estimate needs of an open question: how many rounds ago it was, P, its level, whether +1 was predicted."""


Costs = tuple[float, float]
"""What a false positive and a false negative cost."""


class Shape(NamedTuple):
    """The dimension and the form of the instances."""

    d: int
    sparse: bool


UNKNOWN = Shape(-1, False)


class _InFrame:
    """An attribute for a state that is in the frame: setting it makes the frame stale."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, engine: Any, owner: type) -> State:
        return engine.__dict__[self.name]

    def __set__(self, engine: Any, state: State) -> None:
        engine._frame = engine._board = engine._alone = None
        engine.__dict__[self.name] = state


class Engine:
    """Everything a sampler remembers: the states of its parts, its tally, the coins, and the open questions.

    ``parts`` are the parameters; ``learner``, ``rule``, ``drift`` and ``prepare`` are the states that they made;
    ``learner`` is None before the first instance, and ``prepare`` where nothing is prepared. ``plain`` is the shape of
    an array, and ``plain_csr`` that of a CSR matrix, that can be asked about as it is, with no conversion and no time,
    once rounds are compiled. ``names`` are those of the features, or None as long as no instance had any. ``raw`` has
    the raw margins of open questions, where costs make them other than the margins, and ``signs`` what the learner of
    each class said, where there is one for each. ``answers`` are what it predicts if that is not -1 and +1.
    """

    learner, rule, drift, tally, prepare = _InFrame(), _InFrame(), _InFrame(), _InFrame(), _InFrame()

    def __init__(
        self,
        parts: Parts,
        seed: int | None,
        costs: Costs | None = None,
        answers: Classes | LabelSets | None = None,
    ) -> None:
        self.parts = parts
        self.costs = costs
        self.answers = answers
        self.origin = Origin(seed)
        self._seed = seed
        self._coins = np.random.Generator(np.random.PCG64(seed))
        self._drawn: list[float] = []
        self._ahead = _FEW
        self._randomness = self._coins.spawn(1)[0]
        self._beginning: Beginning | None = None
        self.regression = bool(parts.learner.regression)
        self.has_uncertainty = bool(parts.learner.has_uncertainty)
        self.learner = None
        self._audit = audit_state(parts.audit)
        self.rule = parts.rule.start()
        for k in range(len(() if answers is None else answers.names)):
            note_class(self.rule, k + 1)
        self.needs_time = bool(period_length(self.rule) > 0.0)
        self.drift = NoDrift(0)
        self.prepare = None
        self.tally = new_tally(log_cost=log_cost_of(costs))
        self.shape = UNKNOWN
        self.names: tuple[str, ...] | None = None
        self.round = 0
        self.questions = 0
        self.volunteered = 0
        self.updates = 0
        self.switches: list[int] = []
        self.pending: dict[int, OpenQuestion] = {}
        self.raw: dict[int, float] = {}
        self.signs: dict[int, np.ndarray] = {}
        self.plain: tuple[int] | None = None
        self.plain_csr: tuple[int, int] | None = None
        self._frame: tuple[Any, int] | None = None
        self._board: Any = None
        self._alone: Any = None
        self._kind: Any = None
        self._ask: Any = None
        self._tell: Any = None
        self._preparing: Any = None
        self._transform: Any = None
        self._absorb: Any = None
        self._in_order: Any = None
        self._live: Any = None

    @property
    def classes(self) -> list[Any] | None:
        """The classes, or the labels of which any may apply; None where labels are -1 and +1, or numbers."""
        return None if self.answers is None else self.answers.names

    @property
    def most(self) -> int:
        """How many classes may appear; 0 where they are known, or there are none."""
        return 0 if self.answers is None else self.answers.most

    @property
    def places(self) -> dict[Any, int]:
        """The number of each class."""
        return {} if self.answers is None else self.answers.places

    @property
    def class_tally(self) -> Any:
        """What is known of each class, or label."""
        return None if self.answers is None else self.answers.tally

    @class_tally.setter
    def class_tally(self, tally: State) -> None:
        if self.answers is not None:
            self.answers.tally = tally

    @property
    def coins(self) -> np.random.Generator:
        """The generator of the coins, at the coin of the next round: those drawn ahead for ``ask`` are given back."""
        if self._drawn:
            self._coins.bit_generator.advance(-len(self._drawn))  # type: ignore[attr-defined]
            self._drawn.clear()
        self._ahead = _FEW
        return self._coins

    @property
    def seed(self) -> int | None:
        """The seed that the coins began with."""
        self._look_back()
        return self._seed

    @property
    def randomness(self) -> np.random.Generator:
        """The generator of whatever else is drawn."""
        self._look_back()
        return self._randomness

    def begin_as(self, coins: dict[str, Any], beginning: Beginning) -> None:
        """Toss the coins that follow this state of their generator, as one with that beginning.

        It gives the seed and the state of the other generator, and is asked for them only by whoever needs them.
        """
        self._drawn.clear()
        self._ahead = _FEW
        self._coins.bit_generator.state = coins
        self._beginning = beginning

    def _look_back(self) -> None:
        if self._beginning is not None:
            self._seed, self._randomness.bit_generator.state = self._beginning()
            self._beginning = None

    def _draw(self) -> float:
        """The next coin, and ever more ahead: one by one they cost as much as half a round."""
        self._ahead = min(2 * self._ahead, _AHEAD)
        self._drawn.extend(self._coins.random(self._ahead)[::-1].tolist())
        return self._drawn.pop()

    def lengthen(self, rounds: int) -> None:
        """Change the length of a budget for a known number of rounds: its file has grown, or another one follows."""
        rule = self.parts.rule
        if isinstance(rule, LengthRule) and rule.length not in (None, rounds):
            rule = rule.with_length(rounds)
            self.parts = self.parts._replace(rule=rule)
            self.rule = rule.resized(self.rule)

    @property
    def has_learnt(self) -> bool:
        """Whether any label was learnt from; before that, a prediction means nothing."""
        told = self.tally.sums[:, ANSWERED] + self.tally.fresh[:, ANSWERED]
        return bool(self.updates or self.volunteered or told.any())

    @property
    def dimension(self) -> int:
        """The dimension of what the learner sees."""
        return width_of(self.prepare, self.shape.d)

    @property
    def sees_sparse(self) -> bool:
        """Whether the learner sees sparse rows: those of several views are dense."""
        return self.shape.sparse and not isinstance(self.prepare, ViewsState)

    @property
    def form(self) -> bool | None:
        """Whether instances are sparse, or None before the first."""
        return None if self.learner is None else self.shape.sparse

    def expert_names(self) -> tuple[str, ...]:
        """The names of the experts of a mixture; empty for other learners."""
        learner = self.parts.learner
        return tuple(learner.names(*self.shape)) if isinstance(learner, ExpertLearner) else ()

    def begin(self, owner: str, name: str, d: int, sparse: bool, learner: State = None) -> None:
        """Make the state for the dimension and the form of the first instance; later ones must agree.

        A state of the learner may be given, where decisions are made on margins from elsewhere.
        """
        if self.learner is not None:
            if d != self.shape.d:
                raise InputError(f"{called(name)} must have {self.shape.d} features as before, got {d}.", owner=owner)
            return
        first, learner, drift = self._start(owner, name, d, sparse, learner)
        self._become(prepare=first, learner=learner, drift=drift, shape=Shape(d, sparse))

    def _start(
        self, owner: str, name: str, d: int, sparse: bool, given: State = None
    ) -> tuple[PrepareState | ViewsState | None, State, State]:
        """The states before the first round."""
        learner, _, drift, prepare, _ = self.parts
        try:
            layout = learner.layout(d, sparse) if given is None and isinstance(learner, ViewLearner) else None
            first: PrepareState | ViewsState | None = None
            if layout is not None:
                # Of a copy, so that an instance that is only looked at, or is refused, leaves nothing behind.
                first, sparse = start_views(prepare, layout, copy.deepcopy(self.randomness)), False
            elif prepare is not None:
                first = prepare.start(d, sparse, isinstance(learner, ViewLearner))
            seen = width_of(first, d)
            watching: State = NoDrift(0)
            if drift is not None and self.classes is None:
                watching = drift.start(seen, sparse)
            elif drift is not None:
                watching = drift.start_classes(seen, sparse, len(self.places))
            if given is None and layout is not None:
                given = learner.start_views(layout)
            elif given is None and self.answers is not None and classes_of(learner) is None:
                by_uncertainty = bool(self.parts.rule.needs_uncertainty)
                given = start_classes(learner, seen, sparse, self.answers.begun, by_uncertainty, self.answers.multi)
            elif given is None:
                given = learner.start(seen, sparse)
            return first, given, watching
        except MemoryError:
            raise InputError(
                f"{called(name)} has {d} features, and the matrices of {short(learner)} for so many do not fit in "
                "memory; use the dual form.",
                owner=owner,
            ) from None

    def begin_afresh(self) -> None:
        """Undo ``begin`` if nothing was played or learnt yet: the next instance decides the dimension."""
        if self.round == 0 and self.volunteered == 0:
            self._become(learner=None, drift=NoDrift(0), prepare=None, shape=UNKNOWN)

    def _become(self, **states: Any) -> None:
        """Replace states and drop what was compiled for the old ones, in one step that no interrupt can split."""
        self.__dict__.update(dict.fromkeys(_COMPILED) | states)

    def _framed(self) -> tuple[Any, int]:
        """The states as they are, with their address, and the rounds for them, which take a while to compile."""
        learner = self.parts.learner
        try:
            frame, kind = self._boarded()
            if kind is not self._kind:
                self._kind = None
                self._live = LiveRow(self.dimension, self.sees_sparse)
                self._tell = entry_point(tell_round, kind, 0, 1.0, True, 0, 1, 1.0, True, 1.0, what=learner)
                x = row(example_rows(self.shape.sparse), 0)
                if self.shape.sparse:
                    self._in_order = entry_point(in_order, x, 1)
                self._ask = entry_point(ask_round, kind, 0, 0, 0.0, 0.5, what=learner)
                self._kind = kind
            if self.prepare is not None:
                x, seen = (row(example_rows(sparse), 0) for sparse in (self.shape.sparse, self.sees_sparse))
                self._preparing, preparing = new_frame(self.prepare)
                self._transform = entry_point(transform_row, preparing, x, seen)
                self._absorb = entry_point(absorb_row, preparing, x)
        except BaseException:  # an interrupt, most likely
            self.begin_afresh()
            raise
        self._frame = frame
        d, sparse = self.shape
        if not self.needs_time:
            self.plain, self.plain_csr = (None, (1, d)) if sparse else ((d,), None)
        return frame

    def _boarded(self) -> tuple[tuple[Any, int], Any]:
        """A frame of the states as they are, with all that must be held as long as it is used; and its kind."""
        if self._board is None:
            sparse, guard = self.sees_sparse, self.drift
            if self.classes is not None and not isinstance(guard, NoDrift):  # it reads what the learner has just said
                each = self.learner.q if isinstance(self.learner, EachState) else _NO_TIMES
                guard = guard._replace(margins=self.learner.mean, forms=each)
            drift, watching = drift_calls(guard, sparse, self.parts.drift)
            learner, learning = calls_of(self.learner, sparse, drift.state != 0, self.parts.learner)
            board = Board(learner, self.rule, self._audit, drift, self.tally, self.regression)
            (block, address), kind = new_frame(board)
            self._board = ((block, learning, watching, new_frame(self.tally)), address), kind
        return cast(tuple[tuple[Any, int], Any], self._board)

    def alone(self) -> tuple[int, Any]:
        """The address of the learner without a round around it, and the type of that address."""
        if self._alone is None:
            calls, block = calls_of(self.learner, self.sees_sparse, False, self.parts.learner)
            (held, address), kind = new_frame(calls)
            self._alone = (address, kind), (held, block)
        return cast(tuple[int, Any], self._alone[0])

    def restart_if_due(self) -> None:
        """Start afresh where a switch has been declared, as the next round would."""
        if take_due(self.drift):
            restart(self.learner)
            restart_rule(self.rule)

    def plain_row(self, x: Any) -> SparseRow | None:
        """A row of a CSR matrix as it is, or None where it must be looked at closely."""
        data, indices, pointers = x.data, x.indices, x.indptr.tolist()
        if data.dtype is not _FLOAT64 or indices.dtype is not _INT32 or len(pointers) != 2:
            return None
        if not (data.flags.carray and indices.flags.carray):
            return None
        found: SparseRow = _new(SparseRow, (data, indices.view(np.uint32), *pointers))
        return found if self._in_order(found, self.shape.d) else None

    def seen(self, x: Row) -> Row:
        """What the learner sees of x; the next instance may overwrite it."""
        if self._frame is None:
            self._framed()
        return x if self.prepare is None else self._prepared_row(x)

    def ask(self, x: Row, time: float = 0.0, given: float | None = None) -> Ask:
        """Play one round, with a coin that is given or the next of its own."""
        _held, address = self._frame or self._framed()  # held, so that no other thread frees it
        live = self._live
        if self._preparing is None:
            seen = x
            live.take(x)
        else:
            seen = self._prepared_row(x)
        number, coins = self.round, self._drawn
        coin = given if given is not None else coins.pop() if coins else self._draw()
        verdict, p, r, chance, query, marks, certainty, raw, best = self._ask(address, live.address, 0, time, coin)
        if verdict != SOUND:
            if given is None:
                coins.append(coin)
            return self._ask_again(verdict, x, seen, time, given)
        if seen is not x:
            self._absorb(self._preparing[1], x)
        self.round = number + 1
        if marks & SWITCHED:
            self.switches.append(number)
        r = r if self.has_uncertainty else None
        if self.regression:
            ask = _new(Ask, (number, p, p, r, chance, query, None))
        elif self.answers is not None:
            ask = _new(Ask, (number, self.answers.said(best), p, r, chance, query, certainty))
            self.answers.count(best, chance, marks % PERIOD // LEVEL, query)
        else:
            ask = _new(Ask, (number, 1 if p > 0.0 else -1, p, r, chance, query, certainty))
        if query:
            self.questions += 1
            ask.origin = self.origin
            self.pending[number] = (ask, seen.copy(), marks)
            if self.costs is not None:
                self.raw[number] = raw
            if self.answers is not None and isinstance(self.learner, EachState):
                self.signs[number] = self.learner.signs.copy()
        return ask

    def play(self, x: Row, time: float = 0.0) -> RoundResult:
        """Play one round as ``ask`` does, with the next random draw, and return all that happened in it."""
        coin = self._drawn.pop() if self._drawn else self._draw()
        try:
            ask = self.ask(x, time, coin)
        except BaseException:
            self._drawn.append(coin)  # a refused round draws nothing
            raise
        question = self.pending.get(ask.round)
        switched = bool(self.switches) and self.switches[-1] == ask.round
        return RoundResult(ask, coin, switched, 0 if question is None else self._bet_on(question)[2])

    def _prepared_row(self, x: Row) -> Row:
        """What the learner sees of x, in the live row, which the next instance overwrites."""
        seen = self._live.row
        if isinstance(x, SparseRow) and seen is None:
            seen = self._live.room(x.stop - x.start + self.dimension - self.shape.d)
        verdict = self._transform(self._preparing[1], x, seen)
        if verdict != SOUND:
            self._refuse(verdict, x)
        return cast(Row, seen)

    def _refuse(self, verdict: int, x: Row) -> None:
        self.begin_afresh()
        raise self.refusal(verdict, x, "ask", "x")

    def _ask_again(self, verdict: int, x: Row, seen: Row, time: float, given: float | None) -> Ask:
        """Grow and play a round that could not be played, or raise why it cannot be."""
        if verdict != NOT_READY:
            self._refuse(verdict, seen)
        self._make_ready(verdict, seen, "ask", "x")
        return self.ask(x, time, given)

    def tell(self, question: OpenQuestion, y: float) -> None:
        """Settle an open question."""
        asked, x, marks = question
        number, prediction, margin, _, chance, _, _ = asked
        _held, address = self._frame or self._framed()  # before the compiled round is looked at
        label = y if self.answers is None else self.answers.said(int(y))
        mistaken = bool(label != prediction and not self.regression)
        before = self._take_signs(number) if self.signs else None
        rows = self._live.take(x)
        raw = self.raw.get(number, margin)
        told = (self.round - number, chance, bool(margin > 0.0), raw)
        verdict, updated = self._tell(address, rows, y, mistaken, marks, *told)
        if verdict != SOUND:
            if before is not None and verdict != NOT_READY:  # some classes may have learnt before one refused
                self.learner = before
            self._make_ready(verdict, x, "tell", f"the instance of round {number}")
            self.tell(question, y)
            return
        self.updates += updated
        if self.answers is not None:
            self.answers.settle(prediction, y, chance, marks % PERIOD // LEVEL)
        del self.pending[number]
        if self.raw or self.signs:
            self._drop(number)

    def _drop(self, number: int) -> None:
        self.raw.pop(number, None)
        self.signs.pop(number, None)

    def _take_signs(self, number: int) -> State:
        """Let the learners of all classes hear a label as of its round; their states, where one of them may refuse."""
        before = None if self.has_uncertainty else copy_state(self.learner)
        self.learner.signs[:] = repeat_last(self.signs[number], len(self.learner.signs))
        return before

    def make_room(self, classes: int) -> None:
        """Have room for so many classes, where they may appear, up to the most of them."""
        rooms = min(classes, self.most) + 1
        if self.learner is not None and len(self.learner.mean) < rooms:
            self.learner = widen(self.learner, rooms)
        assert isinstance(self.answers, Classes)
        self.answers.make_room(rooms)

    def open(self, label: Any) -> int | None:
        """The number of a class that is told for the first time, or None if there are as many as there may be."""
        assert isinstance(self.answers, Classes)
        k = len(self.answers.names)
        if k >= self.most:
            return None
        if self.learner is None or k + 1 >= len(self.learner.mean) or k + 2 >= len(self.class_tally.sums):
            self.make_room(2 * (k + 1))
        open_class(self.learner)
        note_class(self.rule, k + 1)
        self.answers.add(label)
        return k

    def close(self, label: Any) -> None:
        """Take back that a class was opened, the last one."""
        assert isinstance(self.answers, Classes)
        self.answers.remove(label)
        self.learner.opened[0] -= 1

    def forget(self, question: OpenQuestion) -> None:
        """Drop an open question."""
        if not self.regression:
            ago, chance, level, positive = self._bet_on(question)
            forget_round(self.tally, ago, chance, level, positive)
            if self.answers is not None:
                self.answers.doubt(self.answers.tally, question[0].prediction, chance, level)
        del self.pending[question[0].round]
        self._drop(question[0].round)

    def _bet_on(self, question: OpenQuestion) -> Waiting:
        asked, _, marks = question
        return self.round - asked.round, float(asked.probability), marks % PERIOD // LEVEL, bool(asked.margin > 0.0)

    def counted(self) -> tuple[Tally, int, int, list[Waiting]]:
        """What an estimate of the accuracy reads: sums, rounds, questions, and the open questions, as copies."""
        waiting = [self._bet_on(question) for question in self.pending.values()]
        return copy_state(self.tally), self.round, self.questions, waiting

    def counted_by_class(self) -> ClassTally | LabelTally:
        """What an estimate of each class, or label, reads, with open questions in doubt, as a copy."""
        assert self.answers is not None
        found: ClassTally | LabelTally = copy_state(self.answers.tally)
        for question in self.pending.values():
            _, chance, level, _ = self._bet_on(question)
            self.answers.doubt(found, question[0].prediction, chance, level)
        return found

    def prepared(self, rows: Rows, before: int = 0) -> Rows:
        """What the learner sees of these rows, which are taken into the running statistics."""
        assert self.prepare is not None
        return _transformed(self.prepare, rows, True, "run", before)

    def run(
        self,
        rows: Rows,
        labels: np.ndarray,
        every_margin: bool,
        keep: bool,
        times: np.ndarray = _NO_TIMES,
        before: int = 0,
        is_prepared: bool = False,
        given: np.ndarray = _NOBODY,
        coins: np.ndarray | None = None,
        new: Sequence[Any] = (),
    ) -> Trace:
        """Play a round for every row, telling each asked label at once; rounds before an error stay played.

        Where classes may appear, labels that are none yet are ``new``, numbered after the classes. ``before`` rows of X
        came earlier, which an error counts in. ``is_prepared`` rows are what the learner sees. Labels that are
        ``given`` are learnt even if they are not asked for. ``coins`` may be tossed elsewhere.
        """
        n, d = shape_of(rows)
        prepares = self.prepare is not None and not is_prepared
        size = self.chunk if prepares else _CHUNK
        start, room = self.round, n if keep else min(n, size)
        several = self.answers is not None
        kept = new_record(room, len(experts(self.learner)), several)
        counts = np.zeros(3, np.int64)
        volunteered = 0
        switches: list[int] = []
        floor, blind = self._least_chance(), self._is_blind(every_margin)
        places = _NO_PLACES
        if new:
            self.make_room(len(self.places) + len(new))
            places = np.r_[np.arange(len(self.places)), np.full(len(new), -1)]
        example = (0, labels, _NO_TIMES, 0, True, 0.0, True, _NOBODY, places, kept)
        frame, kind = self._boarded()
        play = entry_point(run_rounds, kind, *example, what=self.parts.learner)
        for first in range(0, n, size):
            last = min(n, first + size)
            here = slice(first, last) if keep else slice(0, last - first)
            record = Record(*(array[here] for array in kept))
            if coins is None:
                self.coins.random(out=record.coin)
            else:
                record.coin[:] = coins[first:last]
            now = times[first:last]
            chunk = self.prepared(part_of(rows, first, last), before + first) if prepares else None
            done = 0
            while done < last - first:
                part = chunk or part_of(rows, first, last)
                (_held, address), _ = new_frame(part)
                told = (labels[first:last], now, done, every_margin, floor, blind, given[first:last], places)
                done, verdict = play(frame[1], address, *told, record)
                if verdict == UNSOUND and not prepares and not is_canonical(row(part, done), d):
                    rows = canonical("run", rows)
                elif verdict != SOUND:
                    self._make_ready(verdict, row(part, done), "run", at_row(before + first + done))
                    frame, _ = self._boarded()
            if not (self.regression or counts_in_rounds(self.tally)):
                rounds = (record.probability, record.margin, record.prediction, record.queried, record.mistaken)
                (_block, counted), counting = frame[0][-1]
                levels = np.zeros(len(record.best), np.int8)
                note_rounds_at(counted, counting, *rounds, floor, blind, levels)
                if self.answers is not None:
                    numbers = places[labels[first:last].astype(int)].astype(float) if new else labels[first:last]
                    answers = (numbers, record.probability, record.queried, levels)
                    self.answers.note(record.best, *answers)
            volunteered += int(np.count_nonzero(given[first:last] & ~record.queried)) if len(given) else 0
            counts += [np.count_nonzero(flags) for flags in (record.queried, record.updated, record.mistaken)]
            switches.extend((np.flatnonzero(record.switched) + start + first).tolist())
        if not keep:
            kept = new_record(0, kept.experts.shape[1], several)
        if new:
            opened = np.argsort(places[len(self.places) :])[np.count_nonzero(places < 0) :].tolist()
            for code in opened:
                cast(Classes, self.answers).add(new[code])
        questions, updates, mistakes = counts.tolist()
        trace = Trace(
            start=start,
            rounds=n,
            questions=questions,
            updates=updates,
            mistakes=mistakes,
            margin=kept.margin,
            prediction=self._predictions(kept),
            probability=kept.probability,
            coin=kept.coin,
            queried=kept.queried,
            updated=kept.updated,
            mistaken=kept.mistaken,
            switches=np.array(switches, np.int64),
            drift_weights=kept.experts,
            floor=floor,
            blind=blind,
            costs=self.costs,
            several=several,
            experts=self.expert_names(),
        )
        self.round += n
        self.questions += questions
        self.updates += updates
        self.volunteered += volunteered
        self.switches.extend(switches)
        return trace

    def _predictions(self, kept: Record) -> np.ndarray:
        """What was predicted: -1 and +1, a class, or the margin itself."""
        if self.answers is not None:
            return self.answers.all_said(kept.best)
        return cast(np.ndarray, kept.margin if self.regression else kept.prediction)

    def _least_chance(self) -> float:
        """No probability of asking is below this, but for rounds in which nothing may be asked."""
        return min(float(least_chance(self.rule)) + self._audit.rate, 1.0)

    def _is_blind(self, every_margin: bool) -> bool:
        """Whether it depends on the coin which margins are computed."""
        rule = self.parts.rule
        steers = isinstance(rule, SteeringRule) and rule.reads_every_margin
        watched = not isinstance(self.drift, NoDrift) and bool(watches(self.drift))
        return not (every_margin or steers or watched or self.costs) and type(self.learner) in quadratic_bound

    def learn(self, rows: Rows, labels: np.ndarray, new: Sequence[Any] = ()) -> None:
        """Learn labels that nobody asked for: no round is played, no coin tossed, and nothing is counted as asked.

        Where classes may appear, those that are ``new`` are opened first, which changes nothing that they learn.
        """
        for opened, label in enumerate(new):
            if self.open(label) is None:
                for known in reversed(new[:opened]):
                    self.close(known)
                raise no_room("learn", self.most, at_row(int(np.argmax(labels == len(self.places)))))
        try:
            self._learn(rows, labels)
        except BaseException:
            for label in reversed(new):
                self.close(label)
            raise

    def _learn(self, rows: Rows, labels: np.ndarray) -> None:
        self.restart_if_due()
        seen = rows if self.prepare is None else _transformed(self.prepare, rows, True, "learn", 0)
        (_held, address), _ = new_frame(part_of(seen, 0, len(labels)))
        done = 0
        while done < len(labels):
            learner, kind = self.alone()
            step = entry_point(learn_rows, kind, 0, labels, 0, True, what=self.parts.learner)
            done, verdict = step(learner, address, labels, done, self.regression)
            if verdict != SOUND:
                self._make_ready(verdict, row(seen, done), "learn", at_row(done))
        self.volunteered += len(labels)

    def margins(self, rows: Rows) -> np.ndarray:
        """The margins of many rows, without playing a round."""
        n, d = shape_of(rows)
        if self.learner is not None and d != self.shape.d:
            raise InputError(f"{INSTANCES} must have {self.shape.d} columns as before, got {d}.", owner="margins")
        sparse = isinstance(rows, SparseRows)
        prepare, learner = self.prepare, self.learner
        if learner is None:
            prepare, learner, _ = self._start("margins", "X", d, sparse)
        rows = seen_rows(prepare, rows)
        p = np.empty((n, 1 if self.classes is None else len(self.classes)))
        calls, _learning = calls_of(learner, isinstance(rows, SparseRows), False, self.parts.learner)
        (_block, address), kind = new_frame(calls)
        score = entry_point(score_rows, kind, 0, 1, p)
        (_held, seen), _ = new_frame(part_of(rows, 0, n))
        stopped, verdict = score(address, seen, n, p)
        if verdict == UNSOUND and not is_canonical(row(rows, stopped), shape_of(rows)[1]):
            rows = canonical("margins", rows)
            (_held, seen), _ = new_frame(part_of(rows, 0, n))
            stopped, verdict = score(address, seen, n, p)
        if verdict != SOUND:
            raise self.refusal(verdict, row(rows, stopped), "margins", at_row(stopped))
        return p if self.classes is not None else p[:, 0] - boundary(self.tally.model, self.tally.log_cost)

    def probabilities(self, margins: np.ndarray) -> np.ndarray:
        """P(y = +1) for these margins."""
        raw = margins + boundary(self.tally.model, self.tally.log_cost)
        return np.array([sigmoid(log_odds(self.tally.model, p)) for p in raw.tolist()])

    def shares(self, margins: np.ndarray) -> np.ndarray:
        """The probability of each class for these margins, a column each.

        That of the best class is how likely the prediction is right; the others share the rest by their margins.
        """
        if margins.shape[1] < 2:
            return np.ones_like(margins)
        rows, best = np.arange(len(margins)), margins.argmax(axis=1)
        second, first = np.partition(margins, -2, axis=1)[:, -2:].T
        right = np.maximum(self.probabilities(np.maximum(0.5 * (first - second), 5e-324)), 1.0 / margins.shape[1])
        others = margins - second[:, None]
        others[rows, best] = 0.0
        weights = np.exp(others)
        weights[rows, best] = 0.0
        found = weights * ((1.0 - right) / weights.sum(axis=1))[:, None]
        found[rows, best] = np.maximum(right, np.nextafter(found.max(axis=1), 1.0))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def checkpoint(self, copied: Callable[[State], State] = copy_state) -> Any:
        """Everything that a run changes before it succeeds, copied."""
        states = [copied(getattr(self, name)) for name in _STATES]
        return states, self.shape, self.coins.bit_generator.state, self.randomness.bit_generator.state

    def restore(self, before: Any) -> None:
        """Go back to a checkpoint."""
        states, self.shape, coins, randomness = before
        for name, state in zip(_STATES, states, strict=True):
            setattr(self, name, state)
        self.coins.bit_generator.state = coins
        self.randomness.bit_generator.state = randomness

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _COMPILED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, **dict.fromkeys(_COMPILED))
        for name in _STATES:
            setattr(self, name, writeable(getattr(self, name)))

    @property
    def chunk(self) -> int:
        """How many rows are prepared at once."""
        return _CHUNK if self.sees_sparse else max(1, min(_CHUNK, _PREPARED // self.dimension))

    def _make_ready(self, verdict: int, x: Row, owner: str, where: str) -> None:
        """Grow what must grow before this row can be taken, or raise why it cannot be."""
        if verdict != NOT_READY:
            raise self.refusal(verdict, x, owner, where)
        if ready(self.learner, x):
            assert not has_room_for(self.drift, x)
            self.drift = grow(self.drift, size(x), self.randomness)
        else:
            self.learner = grow(self.learner, size(x), self.randomness)

    def refusal(self, verdict: int, x: Row, owner: str, where: str) -> InputError:
        """Why a row cannot be taken."""
        if verdict == UNSOUND:
            return describe_unsound(owner, x, where)
        if verdict == NO_ROOM:
            return no_room(owner, self.most, where)
        largest = np.abs(values_of(x)).max()
        trouble = "would overflow the weights of" if verdict == LABEL_REFUSED else "is too large for"
        return InputError(
            f"{where}, with a value of {largest:.3g}, {trouble} {short(self.parts.learner)}; "
            "scale the instances first, for example to unit norm.",
            owner=owner,
        )


_STATES = ("learner", "rule", "drift", "prepare", "tally", "class_tally")
_COMPILED = (
    "plain",
    "plain_csr",
    "_frame",
    "_board",
    "_alone",
    "_kind",
    "_ask",
    "_tell",
    "_preparing",
    "_transform",
    "_absorb",
    "_in_order",
    "_live",
)


def no_room(owner: str, most: int, where: str) -> InputError:
    """Why a label opens no class."""
    return InputError(
        f"the label of {where} would be one class more than the {most:,} that may appear; is it free text?",
        owner=owner,
    )


def seen_rows(prepare: PrepareState | ViewsState | None, rows: Rows) -> Rows:
    """What a learner sees of rows that are not played."""
    return rows if prepare is None else _transformed(prepare, rows, False, "margins", 0)


def _transformed(prepare: PrepareState | ViewsState, rows: Rows, learns: bool, owner: str, before: int) -> Rows:
    """Rows as the learner sees them; an unsound one is refused."""
    n, d = shape_of(rows)
    out = room_for(prepare, rows)
    done, verdict = transform_rows(prepare, part_of(rows, 0, n), n, out, learns)
    if isinstance(rows, SparseRows) and verdict == UNSOUND and not is_canonical(row(rows, done), d):
        first, last = int(rows.indptr[0]), int(rows.indptr[-1])
        alone = SparseRows(rows.data[first:last], rows.indices[first:last], rows.indptr - first, d)
        rows, before_it = canonical(owner, alone), out
        out = room_for(prepare, rows)
        copy_rows(before_it, out, done)  # the rows until here were canonical, so they are the same
        more, verdict = transform_rows(prepare, part_of(rows, done, n), n - done, part_of(out, done, n), learns)
        done += more
    if verdict != SOUND:
        raise describe_unsound(owner, row(rows, done), at_row(before + done))
    return out
