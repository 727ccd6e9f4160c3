"""The engine of a sampler: owns the state and plays rounds on rows that have passed the door.

The arithmetic of a round is in :mod:`askwhen.engine.round.rounds`. Nothing here checks arguments; what a step refuses,
because only the step can see it, is raised here as one sentence.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from ..contracts.abilities import ExpertLearner, LengthRule, SteeringRule, ViewLearner, classes_of, provides
from ..contracts.drift import NoDrift, has_room_for, take_due, watches
from ..contracts.learner import State, grow, open_class, quadratic_bound, ready, restart, widen
from ..contracts.rule import least_chance, note_class, period_length, restart_rule
from ..contracts.sampler import Parts
from ..errors import InputError, called
from ..linalg.rows import (
    Row,
    size,
    values_of,
)
from ..linalg.vectors import SOUND, UNSOUND
from ..prepare import (
    PrepareState,
    ViewsState,
    start_views,
    width_of,
)
from ..rules.audit import audit_state
from ..trace.trace import Ask, Origin, RoundResult
from ..validation import short
from ..weights.class_slots import repeat_last
from .draws import Draws
from .inputs.instance_checks import describe_unsound
from .label_spaces import Classes, LabelSets
from .round.each_class import EachState, start_classes
from .round.rounds import (
    LABEL_REFUSED,
    LEVEL,
    NO_ROOM,
    PERIOD,
    SWITCHED,
    Record,
)
from .round.step_table import NOT_READY
from .session import Session
from .state_arrays import copy_state, writeable
from .tally.class_tally import ClassTally
from .tally.error_model import boundary, log_cost_of, log_odds, sigmoid
from .tally.label_tally import LabelTally
from .tally.round_tally import ANSWERED, Tally, forget_round, new_tally

_CHUNK = 1 << 16
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


class InFrame:
    """An attribute for a state that is in the frame: setting it makes the frame stale."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, engine: Any, owner: type) -> State:
        return engine.__dict__[self.name]

    def __set__(self, engine: Any, state: State) -> None:
        engine.session.invalidate()
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

    learner, rule, drift, tally, prepare = (InFrame() for _ in range(5))

    def __init__(
        self,
        parts: Parts,
        seed: int | None,
        costs: Costs | None = None,
        answers: Classes | LabelSets | None = None,
    ) -> None:
        self.session = Session()
        self.parts = parts
        self.costs = costs
        self.answers = answers
        self.origin = Origin(seed)
        self.draws = Draws(seed)
        self.regression = bool(parts.learner.regression)
        self.has_uncertainty = bool(parts.learner.has_uncertainty)
        self.learner = None
        self.audit = audit_state(parts.audit)
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
    def seed(self) -> int | None:
        """The seed of the random draws."""
        return self.draws.seed

    def lengthen(self, rounds: int) -> None:
        """Change the length of a budget for a known number of rounds: its file has grown, or another one follows."""
        rule = self.parts.rule
        if provides(rule, LengthRule) and rule.length not in (None, rounds):
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

    @property
    def takes_sparse(self) -> bool:
        """Whether instances are sparse as they come."""
        return self.shape.sparse

    def expert_names(self) -> tuple[str, ...]:
        """The names of the experts of a mixture; empty for other learners."""
        learner = self.parts.learner
        return tuple(learner.names(*self.shape)) if provides(learner, ExpertLearner) else ()

    def begin(self, owner: str, name: str, d: int, sparse: bool, learner: State = None) -> None:
        """Make the state for the dimension and the form of the first instance; later ones must agree.

        A state of the learner may be given, where decisions are made on margins from elsewhere.
        """
        if self.learner is not None:
            if d != self.shape.d:
                raise InputError(f"{called(name)} must have {self.shape.d} features as before, got {d}.", owner=owner)
            return
        first, learner, drift = self.first_states(owner, name, d, sparse, learner)
        self._become(prepare=first, learner=learner, drift=drift, shape=Shape(d, sparse))

    def first_states(
        self, owner: str, name: str, d: int, sparse: bool, given: State = None
    ) -> tuple[PrepareState | ViewsState | None, State, State]:
        """The states before the first round."""
        learner, _, drift, prepare, _ = self.parts
        try:
            layout = learner.layout(d, sparse) if given is None and provides(learner, ViewLearner) else None
            first: PrepareState | ViewsState | None = None
            if layout is not None:
                # Of a copy, so that an instance that is only looked at, or is refused, leaves nothing behind.
                first, sparse = start_views(prepare, layout, copy.deepcopy(self.draws.randomness)), False
            elif prepare is not None:
                first = prepare.start(d, sparse, provides(learner, ViewLearner))
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
        self.__dict__.update(states, session=Session(), plain=None, plain_csr=None)

    def restart_if_due(self) -> None:
        """Start afresh where a switch has been declared, as the next round would."""
        if take_due(self.drift):
            restart(self.learner)
            restart_rule(self.rule)

    def seen(self, x: Row) -> Row:
        """What the learner sees of x; the next instance may overwrite it."""
        if self.session.frame is None:
            self._compile()
        return x if self.prepare is None else self._prepared_row(x)

    def _compile(self) -> tuple[Any, int]:
        """Compile rounds for the states as they are; the frame of the states."""
        try:
            frame = self.session.compile(self)
        except BaseException:  # an interrupt, most likely
            self.begin_afresh()
            raise
        d, sparse = self.shape
        if not self.needs_time:
            self.plain, self.plain_csr = (None, (1, d)) if sparse else ((d,), None)
        return frame

    def ask(self, x: Row, time: float = 0.0, given: float | None = None) -> Ask:
        """Play one round, with a random draw that is given or the next of its own."""
        session, draws = self.session, self.draws
        _held, address = session.frame or self._compile()  # held, so that no other thread frees it
        live = session.live
        if session.preparing is None:
            seen = x
            live.take(x)
        else:
            seen = self._prepared_row(x)
        number, ahead = self.round, draws.ahead
        ask_round = session.ask  # an attribute that is called is looked up slowly
        coin = given if given is not None else ahead.pop() if ahead else draws.next()
        status, p, r, chance, query, marks, certainty, raw, best = ask_round(address, live.address, 0, time, coin)
        if status != SOUND:
            if given is None:
                ahead.append(coin)
            return self._ask_again(status, x, seen, time, given)
        if seen is not x:
            session.absorb(session.preparing[1], x)
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
        coin = self.draws.next()
        try:
            ask = self.ask(x, time, coin)
        except BaseException:
            self.draws.ahead.append(coin)  # a refused round draws nothing
            raise
        question = self.pending.get(ask.round)
        switched = bool(self.switches) and self.switches[-1] == ask.round
        return RoundResult(ask, coin, switched, 0 if question is None else self._bet_on(question)[2])

    def _prepared_row(self, x: Row) -> Row:
        """What the learner sees of x, in the live row, which the next instance overwrites."""
        session = self.session
        seen = session.room_for(x, self.dimension - self.shape.d)
        status = session.transform(session.preparing[1], x, seen)
        if status != SOUND:
            self._refuse(status, x)
        return seen

    def _refuse(self, status: int, x: Row) -> None:
        self.begin_afresh()
        raise self.refusal(status, x, "ask", "x")

    def _ask_again(self, status: int, x: Row, seen: Row, time: float, given: float | None) -> Ask:
        """Grow and play a round that could not be played, or raise why it cannot be."""
        if status != NOT_READY:
            self._refuse(status, seen)
        self.make_ready(status, seen, "ask", "x")
        return self.ask(x, time, given)

    def tell(self, question: OpenQuestion, y: float) -> None:
        """Settle an open question."""
        asked, x, marks = question
        number, prediction, margin, _, chance, _, _ = asked
        session = self.session
        _held, address = session.frame or self._compile()  # before the compiled round is looked at
        tell_round = session.tell
        label = y if self.answers is None else self.answers.said(int(y))
        mistaken = bool(label != prediction and not self.regression)
        before = self._take_signs(number) if self.signs else None
        rows = session.live.take(x)
        raw = self.raw.get(number, margin)
        told = (self.round - number, chance, bool(margin > 0.0), raw)
        status, updated = tell_round(address, rows, y, mistaken, marks, *told)
        if status != SOUND:
            if before is not None and status != NOT_READY:  # some classes may have learnt before one refused
                self.learner = before
            self.make_ready(status, x, "tell", f"the instance of round {number}")
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

    def predictions(self, kept: Record) -> np.ndarray:
        """What was predicted: -1 and +1, a class, or the margin itself."""
        if self.answers is not None:
            return self.answers.all_said(kept.best)
        return cast(np.ndarray, kept.margin if self.regression else kept.prediction)

    def least_chance(self) -> float:
        """No probability of asking is below this, but for rounds in which nothing may be asked."""
        return min(float(least_chance(self.rule)) + self.audit.rate, 1.0)

    def is_blind(self, every_margin: bool) -> bool:
        """Whether it depends on the coin which margins are computed."""
        rule = self.parts.rule
        steers = provides(rule, SteeringRule) and rule.reads_every_margin
        watched = not isinstance(self.drift, NoDrift) and bool(watches(self.drift))
        return not (every_margin or steers or watched or self.costs) and type(self.learner) in quadratic_bound

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
        return states, self.shape, self.draws.generator.bit_generator.state, self.draws.randomness.bit_generator.state

    def restore(self, before: Any) -> None:
        """Go back to a checkpoint."""
        states, self.shape, coins, randomness = before
        for name, state in zip(_STATES, states, strict=True):
            setattr(self, name, state)
        self.draws.generator.bit_generator.state = coins
        self.draws.randomness.bit_generator.state = randomness

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _COMPILED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, session=Session(), plain=None, plain_csr=None)
        for name in _STATES:
            setattr(self, name, writeable(getattr(self, name)))

    def make_ready(self, status: int, x: Row, owner: str, where: str) -> None:
        """Grow what must grow before this row can be taken, or raise why it cannot be."""
        if status != NOT_READY:
            raise self.refusal(status, x, owner, where)
        if ready(self.learner, x):
            assert not has_room_for(self.drift, x)
            self.drift = grow(self.drift, size(x), self.draws.randomness)
        else:
            self.learner = grow(self.learner, size(x), self.draws.randomness)

    def refusal(self, status: int, x: Row, owner: str, where: str) -> InputError:
        """Why a row cannot be taken."""
        if status == UNSOUND:
            return describe_unsound(owner, x, where)
        if status == NO_ROOM:
            return no_room(owner, self.most, where)
        largest = np.abs(values_of(x)).max()
        trouble = "would overflow the weights of" if status == LABEL_REFUSED else "is too large for"
        return InputError(
            f"{where}, with a value of {largest:.3g}, {trouble} {short(self.parts.learner)}; "
            "scale the instances first, for example to unit norm.",
            owner=owner,
        )


_STATES = ("learner", "rule", "drift", "prepare", "tally", "class_tally")
_COMPILED = ("plain", "plain_csr", "session")


def no_room(owner: str, most: int, where: str) -> InputError:
    """Why a label opens no class."""
    return InputError(
        f"the label of {where} would be one class more than the {most:,} that may appear; is it free text?",
        owner=owner,
    )
