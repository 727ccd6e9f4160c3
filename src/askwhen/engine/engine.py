"""The engine of a sampler: owns the state and plays rounds on rows that were validated before.

The arithmetic of a round is in :mod:`askwhen.engine.round.rounds`. Arguments are checked in
:mod:`askwhen.engine.inputs`. Only a compiled step can see some problems, such as an overflow; it returns a status,
which becomes an ``InputError`` here.
"""

from __future__ import annotations

import contextlib
import copy
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, cast

import numpy as np

from ..contracts.abilities import (
    ClassDrift,
    ExpertLearner,
    KindLearner,
    LengthRule,
    SteeringRule,
    ViewLearner,
    classes_of,
    provides,
)
from ..contracts.drift import NoDrift, has_room_for, take_due, watches
from ..contracts.kinds import Kinds, kinds_of
from ..contracts.learner import Learner, State, enter, grow, open_class, quadratic_bound, ready, restart, widen
from ..contracts.rule import Rule, least_chance, note_class, period_length, restart_rule
from ..contracts.sampler import Parts
from ..data.columns import Columns
from ..data.schema import Schema
from ..errors import InputError, called
from ..linalg.rows import (
    Row,
    size,
    values_of,
)
from ..linalg.vectors import SOUND, UNSOUND
from ..logistic import sigmoid
from ..prepare import (
    PrepareState,
    ViewsState,
    is_sparse_after,
    start_views,
    width_of,
)
from ..rules.audit import audit_state
from ..rules.budget import BudgetRule
from ..rules.promise import PromiseRule
from ..trace.trace import Ask, Origin, RoundResult
from ..validation import short
from ..weights.class_slots import repeat_last
from .advisers import Advisers
from .compiled_session import CompiledSession
from .draws import Draws
from .inputs.advice_arguments import in_place_of
from .inputs.instance_checks import describe_unsound
from .inputs.named_rows import (
    TEXT,
    as_text,
    check_in_memory,
    check_unnamed,
    is_record,
    is_table,
    rows_of,
    schema_of,
    texts_as_records,
)
from .inputs.two_labels import NO_PAIR, Pair
from .label_spaces import Classes, LabelSets
from .promise_book import PromiseBook
from .round.each_class import EachState, start_classes
from .round.rounds import (
    BY_ITSELF,
    FOR_FREE,
    IS_ASKED,
    LABEL_REFUSED,
    LEVEL,
    NOT_ASKED,
    PERIOD,
    SWITCHED,
    TOO_MANY_CLASSES,
    Record,
)
from .round.step_table import NOT_READY
from .state_arrays import copy_state, writeable
from .tally.class_tally import ClassTally
from .tally.error_model import LABELS, boundary, log_cost_of, log_odds, most_certain
from .tally.label_tally import LabelTally
from .tally.number_tally import note_number, settle_number
from .tally.round_tally import ANSWERED, Tally, forget_round, new_tally

_new = tuple.__new__  # makes a NamedTuple without the cost of its keywords


OpenQuestion = tuple[Ask, Row, int]
"""An Ask that waits for its label, its instance, and the packed marks of its round. A plain tuple, for speed."""

Waiting = tuple[int, float, int, bool]
"""An open question as estimates read it: its age in rounds, its P, its level, and whether +1 was predicted."""


Costs = tuple[float, float]
"""The costs of a false positive and of a false negative."""


class Shape(NamedTuple):
    """The dimension and the form of the instances."""

    d: int
    sparse: bool


UNKNOWN = Shape(-1, False)

Decided = tuple[int, float]
"""Who decides whether a round asks, and the probability of an earlier decision; see ``rounds``."""

BY_RULE: Decided = (BY_ITSELF, 0.0)


def decided_as(decision: tuple[bool, float] | str | None) -> Decided:
    """A decision that the caller has made: "certain", an earlier one with its probability, or None for none."""
    if decision is None:
        return BY_RULE
    if isinstance(decision, str):
        return FOR_FREE, 1.0
    return IS_ASKED if decision[0] else NOT_ASKED, float(decision[1])


class InFrame:
    """An attribute for a state that the compiled frame points to: setting it invalidates the frame."""

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, engine: Any, owner: type) -> State:
        return engine.__dict__[self.name]

    def __set__(self, engine: Any, state: State) -> None:
        engine.session.invalidate()
        engine.__dict__[self.name] = state


class Engine:
    """Everything a sampler remembers: the states of its parts, its tally, the random draws, and the open questions.

    ``parts`` are the parameters; ``learner``, ``rule``, ``drift`` and ``prepare`` are the states that they made.
    ``learner`` is None before the first instance, and ``prepare`` is None where nothing is prepared. ``plain`` is the
    shape of an array, and ``plain_csr`` that of a CSR matrix, that ``ask`` can take without a conversion; both are None
    before rounds are compiled, and where every round needs a time. ``names`` are the names of the features, or None as
    long as no instance had any. ``schema`` says what features rows with named values have, once one came, and
    ``columns`` what the user has said about that. ``raw`` has the raw margins of open questions, where costs have moved
    the boundary, and ``signs`` the predictions of each class's learner, where every class has its own. ``answers``
    describes the classes or labels; it is None for two labels, and for numbers. ``pair`` says how the two labels are
    written; labels come to an engine as -1 and +1. ``copies`` is the number of labels learnt in rounds that asked for
    certain at no cost, and ``free`` has such rounds while their question is open.
    """

    pair: Pair = NO_PAIR
    within: float | None = None
    """How far a regressor may be off in rounds that count as right in the tally; without it, it counts none."""

    learner, rule, drift, tally, prepare = (InFrame() for _ in range(5))
    limits_certainty = InFrame()
    """Whether certainty is limited by the number of answers; not so in logs and files of earlier versions."""

    def __init__(
        self,
        parts: Parts,
        seed: int | None,
        costs: Costs | None = None,
        answers: Classes | LabelSets | None = None,
        advisers: tuple[list[str], bool] | None = None,
    ) -> None:
        self.session = CompiledSession()
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
        self.promise = PromiseBook.of(parts, costs)
        self.needs_time = bool(period_length(self.rule) > 0.0)
        self.drift = NoDrift(0)
        self.prepare = None
        self.tally = new_tally(log_cost=log_cost_of(costs))
        self.shape = UNKNOWN
        self.names: tuple[str, ...] | None = None
        self._given_learner = parts.learner
        self.columns: Columns | None = None
        self.schema: Schema | None = None
        self._given_schema: Schema | None = None
        self.round = 0
        self.questions = 0
        self.volunteered = 0
        self.updates = 0
        self.copies = 0
        self.known = np.array([0.0, 2.0, 0.5])
        self.free: set[int] = set()
        self.switches: list[int] = []
        self.pending: dict[int, OpenQuestion] = {}
        self.raw: dict[int, float] = {}
        self.signs: dict[int, np.ndarray] = {}
        self.limits_certainty = True
        self.advisers = None if advisers is None else Advisers(*advisers, self)
        self.plain: tuple[int] | None = None
        self.plain_csr: tuple[int, int] | None = None
        self._unshare_attributes()

    def _unshare_attributes(self) -> None:
        """Keep attributes in a dict that shares no keys with other engines.

        States are read through ``__dict__``, and CPython 3.11 reads attributes of an object slowly whose dict was asked
        for and still shares its keys.
        """
        self.__dict__ = dict(self.__dict__)

    @property
    def classes(self) -> list[Any] | None:
        """The classes, or the labels of which several may apply; None where labels are -1 and +1, or numbers."""
        return None if self.answers is None else self.answers.names

    @property
    def most(self) -> int:
        """Largest number of classes if they are open, else 0."""
        return 0 if self.answers is None else self.answers.most

    @property
    def places(self) -> dict[Any, int]:
        """The number of each class."""
        return {} if self.answers is None else self.answers.places

    @property
    def class_tally(self) -> State:
        """The tally of each class, or label."""
        return None if self.answers is None else self.answers.tally

    @class_tally.setter
    def class_tally(self, tally: State) -> None:
        if self.answers is not None:
            self.answers.tally = tally

    def may_predict(self, label: Any) -> bool:
        """Whether an open question may have this prediction: a label, or None while there is no open class."""
        if self.answers is None:
            return self.pair.may_predict(label)
        return label in self.answers.names or (self.most > 0 and label is None)

    @property
    def seed(self) -> int | None:
        """The seed of the random draws."""
        return self.draws.seed

    def lengthen(self, rounds: int) -> None:
        """Change the length of a budget for a known number of rounds, when its file has grown or another follows."""
        rule = self.parts.rule
        if provides(rule, LengthRule) and rule.length not in (None, rounds):
            resized = rule.with_length(rounds)
            self.parts = self.parts._replace(rule=cast(Rule, resized))
            self.rule = resized.resized(self.rule)

    def change_budget(self, rule: BudgetRule | PromiseRule, asked: int) -> None:
        """Ask by another budget from now on; ``asked`` labels were paid so far."""
        state = rule.following(self.rule, asked)
        parts = self.parts._replace(rule=cast(Rule, rule))
        self._become(parts=parts, rule=state, needs_time=bool(period_length(state) > 0.0))

    @property
    def has_learnt(self) -> bool:
        """Whether any label was learnt from; before that, a prediction means nothing."""
        answered = self.tally.sums[:, ANSWERED] + self.tally.fresh[:, ANSWERED]
        return bool(self.updates or self.volunteered or answered.any())

    def check_learnt(self, owner: str) -> None:
        """Refuse to predict before there is anything to predict from."""
        if not self.has_learnt:
            raise InputError("nothing was learnt yet; give it a label first, by tell, learn or run.", owner=owner)

    @property
    def dimension(self) -> int:
        """The dimension of what the learner sees."""
        return width_of(self.prepare, self.shape.d)

    @property
    def sees_sparse(self) -> bool:
        """Whether the learner sees sparse rows; rows of several views are dense."""
        return is_sparse_after(self.prepare, self.shape.sparse)

    @property
    def form(self) -> bool | None:
        """Whether instances are sparse, or None before the first; those of several kinds always are."""
        learner = self.parts.learner
        if self.learner is None:
            return True if provides(learner, KindLearner) and learner.kinds is not None else None
        return self.shape.sparse

    def by_name(self, owner: str, X: Any) -> Any:
        """Rows with named values as instances, whose schema the first of them decide; other rows as they are."""
        check_in_memory(X)
        schema, given = self.schema, X
        is_new = schema is None and self.learner is None and provides(self.parts.learner, KindLearner)
        name = schema.text if schema is not None else TEXT if is_new else None
        if name is not None:
            X = texts_as_records(X, name)
        if not (is_record(X) or is_table(X)):
            if schema is not None:
                check_unnamed(owner, X, schema)
            return X
        if is_new:
            schema = schema_of(X, self.columns if X is given else as_text(self.columns))
        if schema is None:
            return X
        found = rows_of(X, schema, owner)
        self.schema = schema
        self.take_kinds(kinds_of(found))
        return found

    def or_nothing(self, owner: str, x: Any, n: int = 0) -> Any:
        """The instance, or n of them; where there is nothing but advice, one number that is always 0."""
        return x if self.advisers is None and x is not None else in_place_of(owner, x, n, self.advisers, self.round)

    def give_schema(self, schema: Schema) -> None:
        """Take rows with named values by this schema, before the first one came, or as those that came were made."""
        kinds = schema.kinds
        if (kinds.vectors or kinds.words) and self.learner is None:
            if not provides(self.parts.learner, KindLearner):
                raise InputError(
                    f"columns of texts, of vectors and of categories without their values are for the default learner, "
                    f"got {short(self.parts.learner)}.",
                    owner="schema",
                )
            self.take_kinds(kinds)
        self.schema = self._given_schema = schema
        self._given_learner = self.parts.learner

    def take_kinds(self, kinds: Kinds | None) -> None:
        """Learn instances of these kinds, if they are the first."""
        learner = self.parts.learner
        if kinds is not None and self.learner is None and provides(learner, KindLearner):
            self.parts = self.parts._replace(learner=cast(Learner, learner.with_kinds(kinds)))

    @property
    def takes_sparse(self) -> bool:
        """Whether instances are sparse before they are prepared."""
        return self.shape.sparse

    def expert_names(self) -> tuple[str, ...]:
        """The names of the experts of a mixture; empty for other learners."""
        learner = self.parts.learner
        names = tuple(learner.names(*self.shape)) if provides(learner, ExpertLearner) else ()
        return names if self.advisers is None else names + self.advisers.expert_names(self.learner)

    def begin(self, owner: str, name: str, d: int, sparse: bool, learner: State = None) -> None:
        """Make the states for the dimension and the form of the first instance; later instances must agree.

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
            if layout is not None and layout.features != d:
                raise InputError(f"{called(name)} must have {layout.features} features, got {d}.", owner=owner)
            first: PrepareState | ViewsState | None = None
            if layout is not None:
                # With a copy of the generator, so that a call that only scores, or is refused, draws nothing from it.
                first = start_views(prepare, layout, copy.deepcopy(self.draws.randomness))
                sparse = is_sparse_after(first, sparse)
            elif prepare is not None:
                first = prepare.start(d, sparse, provides(learner, ViewLearner))
            seen = width_of(first, d)
            watching: State = NoDrift(0)
            if drift is not None and self.classes is None:
                watching = drift.start(seen, sparse)
            elif drift is not None:
                watching = cast(ClassDrift, drift).start_classes(seen, sparse, len(self.places))
            if given is None and layout is not None:
                given = cast(ViewLearner, learner).start_views(layout)
            elif given is None and self.answers is not None and classes_of(learner) is None:
                by_uncertainty = bool(self.parts.rule.needs_uncertainty)
                given = start_classes(learner, seen, sparse, self.answers.begun, by_uncertainty, self.answers.multi)
            elif given is None:
                given = learner.start(seen, sparse)
            return first, given if self.advisers is None else self.advisers.wrap(given, self), watching
        except MemoryError:
            raise InputError(
                f"{called(name)} has {d} features, and the matrices of {short(learner)} for this many do not fit in "
                "memory; use the dual form.",
                owner=owner,
            ) from None

    def reset_if_unused(self) -> None:
        """Undo ``begin`` if nothing was played or learnt yet: the next instance decides the dimension and the kinds."""
        if self.round == 0 and self.volunteered == 0:
            parts = self.parts._replace(learner=self._given_learner)
            self._become(learner=None, drift=NoDrift(0), prepare=None, shape=UNKNOWN, parts=parts)
            self.schema = self._given_schema

    def _become(self, **states: Any) -> None:
        """Replace states and drop what was compiled for the old ones.

        One ``dict.update`` is atomic: a KeyboardInterrupt cannot leave new states with old compiled functions.
        """
        self.__dict__.update(states, session=CompiledSession(), plain=None, plain_csr=None)

    def restart_if_due(self) -> None:
        """Restart the learner and the rule if a switch was declared, as the next round would."""
        if take_due(self.drift):
            restart(self.learner)
            restart_rule(self.rule)

    def seen(self, x: Row) -> Row:
        """The instance x as the learner sees it; the next instance may overwrite this memory."""
        if self.session.frame is None:
            self._compile()
        return x if self.prepare is None else self._prepared_row(x)

    def _compile(self) -> tuple[Any, int]:
        """Compile rounds for the current states, and return the frame of the states."""
        try:
            self._note_known()
            frame = self.session.compile(self)
        except BaseException:  # an interrupt, most likely
            self.reset_if_unused()
            raise
        others = (self.answers, self.costs, self.promise, self.advisers)
        plain = type(self) is Engine and not self.regression and others == (None,) * 4
        self.session.is_plain = plain and type(self.learner) not in enter
        self.session.labels_vary = type(self) is not Engine or self.most > 0
        d, sparse = self.shape
        if not self.needs_time:
            self.plain, self.plain_csr = (None, (1, d)) if sparse else ((d,), None)
        return frame

    def ask(self, x: Row, time: float = 0.0, given: float | None = None, decided: Decided = BY_RULE) -> Ask:
        """Play one round, with the given random draw or the engine's next one."""
        session, number, ahead = self.session, self.round, self.draws.ahead
        _held, address = session.frame or self._compile()  # this reference keeps another thread from freeing the block
        live, ask_round, is_plain = session.live, session.ask, session.is_plain
        session.held = -1
        if session.preparing is None:
            seen, rows = x, live.take(x)
        else:
            seen = self._prepared_row(x)
            rows = live.address
        if session.labels_vary:
            self._note_known()
        draw = given if given is not None else ahead.pop() if ahead else self.draws.next()
        who, fixed = decided
        found = ask_round(address, rows, 0, time, draw, who, fixed)
        status, p, r, chance, query, marks, certainty, raw, best = found
        if status != SOUND:
            if given is None:
                ahead.append(draw)
            return self._ask_again(status, x, seen, time, given, decided)
        if seen is not x:
            session.absorb(session.preparing[1], x)
        self.round = number + 1
        if marks & SWITCHED:
            self.switches.append(number)
        if not self.has_uncertainty:
            r = None
        if is_plain:
            ask = _new(Ask, (number, self.pair[p > 0.0], p, r, chance, query, certainty))
        elif self.regression:
            if self.within is not None:
                marks += LEVEL * note_number(self.tally, chance, bool(p > 0.0), query)
            ask = _new(Ask, (number, p, p, r, chance, query, None))
        elif self.answers is not None:
            ask = _new(Ask, (number, self.answers.decode(best), p, r, chance, query, certainty))
            self.answers.count(best, chance, marks % PERIOD // LEVEL, query)
        else:
            ask = _new(Ask, (number, self.pair[p > 0.0], p, r, chance, query, certainty))
        if query:
            self.questions += 1
            if who == FOR_FREE:
                self.free.add(number)
            ask.origin = self.origin
            self.pending[number] = (ask, seen.copy(), marks)
        if is_plain:
            session.held = number
            return ask
        if query:
            if self.costs is not None:
                self.raw[number] = raw
            if self.answers is not None and isinstance(self.learner, EachState):
                self.signs[number] = self.learner.signs.copy()
        if self.promise is not None and decided[0] != FOR_FREE:
            self.promise.note_ask(self.rule, ask)
        if self.advisers is not None:
            self.advisers.after_ask(self, ask)
        return ask

    def _note_known(self) -> None:
        """Write the limits of the certainty where a round reads them."""
        labels = max(self.number_of_labels, 2) if self.limits_certainty else 1  # with one there is no upper limit
        self.known[:] = self.copies, labels, self.least_certainty

    def play(self, x: Row, time: float = 0.0, decided: Decided = BY_RULE) -> RoundResult:
        """Play one round as ``ask`` does, with the next random draw, and return all of its results."""
        draw = self.draws.next()
        try:
            ask = self.ask(x, time, draw, decided)
        except BaseException:
            self.draws.ahead.append(draw)  # a refused round must not use up a draw
            raise
        question = self.pending.get(ask.round)
        switched = bool(self.switches) and self.switches[-1] == ask.round
        return RoundResult(ask, draw, switched, 0 if question is None else self._waiting(question)[2])

    def _prepared_row(self, x: Row) -> Row:
        """The instance x as the learner sees it, in the live row, which the next instance overwrites."""
        session = self.session
        session.held = -1
        seen = session.buffer_for(x, self.prepare)
        status = session.transform(session.preparing[1], x, seen)
        if status != SOUND:
            self._refuse(status, x)
        return seen

    def _refuse(self, status: int, x: Row) -> None:
        self.reset_if_unused()
        raise self.refusal(status, x, "ask", "x")

    def _ask_again(self, status: int, x: Row, seen: Row, time: float, given: float | None, decided: Decided) -> Ask:
        """Let a state grow and play the round again, or raise the reason why it cannot be played."""
        if status != NOT_READY:
            self._refuse(status, seen)
        self.make_ready(status, seen, "ask", "x")
        return self.ask(x, time, given, decided)

    def tell(self, question: OpenQuestion, y: float) -> None:
        """Learn and count the label of an open question."""
        asked, x, marks = question
        number, prediction, margin, _, chance, _, _ = asked
        session = self.session
        _held, address = session.frame or self._compile()  # first, since compiling sets session.live and session.tell
        tell_round = session.tell
        if session.is_plain:
            if session.held != number:
                session.held = -1
                session.live.take(x)
            positive, ago = bool(margin > 0.0), self.round - number
            mistaken = (y > 0.0) != positive
            status, updated = tell_round(
                address, session.live.address, y, mistaken, marks, ago, chance, positive, margin
            )
            if status != SOUND:
                self.make_ready(status, x, "tell", f"the instance of round {number}")
                self.tell(question, y)
                return
            self.updates += updated
            del self.pending[number]
            if self.free:
                self._count_copy(number)
            return
        if self.answers is None:
            mistaken = not self.regression and (y > 0.0) != (margin > 0.0)
        else:
            mistaken = bool(self.answers.decode(int(y)) != prediction)
        before = self._take_signs(number) if self.signs else None
        if self.advisers is not None:
            self.advisers.before_tell(self, number)
        rows = session.live.take(x)
        raw = self.raw.get(number, margin)
        asked_then = (self.round - number, chance, bool(margin > 0.0), raw)
        promised = None if self.promise is None else self.promise.before_tell(self.rule, asked)
        status, updated = tell_round(address, rows, y, mistaken, marks, *asked_then)
        if status != SOUND:
            if before is not None and status != NOT_READY:  # some classes may have learnt the label before one refused
                self.learner = before
            self.make_ready(status, x, "tell", f"the instance of round {number}")
            self.tell(question, y)
            return
        self.updates += updated
        if self.within is not None:
            level, wrong = marks % PERIOD // LEVEL, abs(y - prediction) > self.within
            settle_number(self.tally, asked_then[0], float(chance), level, bool(margin > 0.0), bool(wrong))
        if self.promise is not None and promised is not None:
            self.promise.after_tell(self.rule, asked, y, promised)
        if self.advisers is not None:
            self.advisers.after_tell(self, asked, y)
        if self.answers is not None:
            self.answers.settle(prediction, y, chance, marks % PERIOD // LEVEL)
        del self.pending[number]
        self._count_copy(number)
        if self.raw or self.signs:
            self._drop(number)

    def _count_copy(self, number: int) -> None:
        """Count the label of a round that asked for it at no cost."""
        if number in self.free:
            self.free.discard(number)
            self.copies += 1
            self.known[0] = self.copies

    def _drop(self, number: int) -> None:
        self.free.discard(number)
        self.raw.pop(number, None)
        self.signs.pop(number, None)

    def _take_signs(self, number: int) -> State:
        """Set the learners' predictions back to those of the question's round; return a backup if one may refuse."""
        before = None if self.has_uncertainty else copy_state(self.learner)
        self.learner.signs[:] = repeat_last(self.signs[number], len(self.learner.signs))
        return before

    def reserve_classes(self, classes: int) -> None:
        """Make the states large enough for this many open classes, up to the most that are allowed."""
        slots = min(classes, self.most) + 1  # the last slot is never opened, so that more slots can be copies of it
        if self.learner is not None and len(self.learner.mean) < slots:
            self.learner = widen(self.learner, slots)
        assert isinstance(self.answers, Classes)
        self.answers.reserve_classes(slots)

    def open(self, label: Any) -> int | None:
        """Open a class for a new label, and return its number, or None if no more classes are allowed."""
        assert isinstance(self.answers, Classes)
        k = len(self.answers.names)
        if k >= self.most:
            return None
        if self.learner is None or k + 1 >= len(self.learner.mean) or k + 2 >= len(self.class_tally.sums):
            self.reserve_classes(2 * (k + 1))
        open_class(self.learner)
        note_class(self.rule, k + 1)
        self.answers.add(label)
        return k

    def rename(self, label: Any, new: Any) -> None:
        """Give a class, or one of several labels, another name; nothing else changes."""
        assert self.answers is not None
        for number, (asked, x, marks) in self.pending.items():
            said = asked.prediction
            named = tuple(new if each == label else each for each in said) if self.answers.multi else new
            if named != said and (self.answers.multi or said == label):
                self.pending[number] = (asked._replace(prediction=named), x, marks)
        self.answers.rename(label, new)

    def close(self, label: Any) -> None:
        """Undo ``open`` for the class that was opened last."""
        assert isinstance(self.answers, Classes)
        self.answers.remove(label)
        self.learner.opened[0] -= 1

    def forget(self, question: OpenQuestion) -> None:
        """Drop an open question."""
        if self.promise is not None:
            self.promise.forget(self.rule, question[0])
        if not self.regression or self.within is not None:
            ago, chance, level, positive = self._waiting(question)
            forget_round(self.tally, ago, chance, level, positive)
            if self.answers is not None:
                self.answers.doubt(self.answers.tally, question[0].prediction, chance, level)
        if self.advisers is not None:
            self.advisers.forget(question[0].round, float(question[0].probability))
        del self.pending[question[0].round]
        self._drop(question[0].round)

    def _waiting(self, question: OpenQuestion) -> Waiting:
        asked, _, marks = question
        return self.round - asked.round, float(asked.probability), marks % PERIOD // LEVEL, bool(asked.margin > 0.0)

    def counted(self) -> tuple[Tally, int, int, list[Waiting]]:
        """The input of an estimate of the accuracy: sums, rounds, questions, and the open questions, as copies."""
        waiting = [self._waiting(question) for question in self.pending.values()]
        return copy_state(self.tally), self.round, self.questions, waiting

    def counted_by_class(self) -> ClassTally | LabelTally:
        """The input of an estimate for each class, or label, as a copy; open questions count as the worst case."""
        assert self.answers is not None
        found: ClassTally | LabelTally = copy_state(self.answers.tally)
        for question in self.pending.values():
            _, chance, level, _ = self._waiting(question)
            self.answers.doubt(found, question[0].prediction, chance, level)
        return found

    def predictions(self, record: Record) -> np.ndarray:
        """The predictions of recorded rounds: labels, classes, or the margins themselves."""
        if self.answers is not None:
            return self.answers.decode_all(record.best)
        return cast(np.ndarray, record.margin) if self.regression else self.pair.decode(record.prediction)

    @contextlib.contextmanager
    def writing(self, pair: Pair) -> Iterator[None]:
        """Inside and afterwards, the two labels are written in this way; as before, if anything inside fails."""
        before, self.pair = self.pair, pair
        try:
            yield
        except BaseException:
            self.pair = before
            raise

    def least_chance(self) -> float:
        """Lower bound of the probability of asking, except in rounds in which nothing may be asked."""
        return min(float(least_chance(self.rule)) + self.audit.rate, 1.0)

    def is_blind(self, every_margin: bool) -> bool:
        """Whether the random draw decides which margins are computed."""
        rule = self.parts.rule
        steers = provides(rule, SteeringRule) and rule.reads_every_margin
        watched = not isinstance(self.drift, NoDrift) and bool(watches(self.drift))
        return not (every_margin or steers or watched or self.costs) and type(self.learner) in quadratic_bound

    @property
    def least_certainty(self) -> float:
        """The least probability of a predicted label, whatever the error model says; 0 where costs move the boundary.

        The model is a curve that need not be one half at the boundary, but of two labels the predicted one is never
        called the less likely one.
        """
        if self.costs is not None:
            return 0.0
        return 0.5 if self.answers is None else self.answers.least_certainty

    @property
    def most_certainty(self) -> float:
        """The largest probability of a predicted label; labels of copies, which were known already, do not count."""
        n = self.tally.model.item(LABELS) - self.copies
        return float(most_certain(n, max(self.number_of_labels, 2)))

    @property
    def number_of_labels(self) -> int:
        """Number of labels that are known; 2 where several may apply at once."""
        return 2 if self.answers is None or self.answers.multi else len(self.answers.names)

    def probabilities(self, margins: np.ndarray) -> np.ndarray:
        """P(y = +1) for these margins: without costs, above one half exactly where +1 is predicted."""
        found = self._modelled(margins)
        if self.costs is not None:
            return found
        return np.asarray(np.where(margins > 0.0, np.maximum(found, _ABOVE_HALF), np.minimum(found, 0.5)))

    def _modelled(self, margins: np.ndarray) -> np.ndarray:
        """P(y = +1) by the error model."""
        raw = margins + boundary(self.tally.model, self.tally.log_cost)
        found = np.array([sigmoid(log_odds(self.tally.model, p)) for p in raw.tolist()])
        most = self.most_certainty if self.limits_certainty else 1.0
        return np.asarray(np.clip(found, 1.0 - most, most))

    def shares(self, margins: np.ndarray) -> np.ndarray:
        """The probability of each class for these margins, a column each.

        The best class has the probability that the prediction is right; the others share the rest by their margins.
        """
        if margins.shape[1] < 2:
            return np.ones_like(margins)
        rows, best = np.arange(len(margins)), margins.argmax(axis=1)
        second, first = np.partition(margins, -2, axis=1)[:, -2:].T
        right = np.maximum(self._modelled(np.maximum(0.5 * (first - second), 5e-324)), 1.0 / margins.shape[1])
        others = margins - second[:, None]
        others[rows, best] = 0.0
        weights = np.exp(others)
        weights[rows, best] = 0.0
        found = weights * ((1.0 - right) / weights.sum(axis=1))[:, None]
        found[rows, best] = np.maximum(right, np.nextafter(found.max(axis=1), 1.0))
        return np.asarray(found / found.sum(axis=1, keepdims=True))

    def checkpoint(self, copied: Callable[[State], State] = copy_state) -> Any:
        """Copies of everything that a run may change before it fails."""
        states = [copied(getattr(self, name)) for name in _STATES]
        generators = self.draws.generator, self.draws.randomness
        facts = self.parts, self.shape, self.schema, copy.deepcopy(self.advisers)
        return states, facts, *(each.bit_generator.state for each in generators)

    def restore(self, before: Any) -> None:
        """Go back to a checkpoint."""
        states, (self.parts, self.shape, self.schema, self.advisers), generator, randomness = before
        for name, state in zip(_STATES, states, strict=True):
            setattr(self, name, state)
        self.draws.generator.bit_generator.state = generator
        self.draws.randomness.bit_generator.state = randomness

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in _COMPILED}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(
            {"copies": 0, "free": set(), "limits_certainty": False} | state,
            known=np.zeros(3),  # written again before it is read; those of a mapped file cannot be written to
            session=CompiledSession(),
            plain=None,
            plain_csr=None,
        )
        for name in _STATES:
            setattr(self, name, writeable(getattr(self, name)))
        self._unshare_attributes()

    def make_ready(self, status: int, x: Row, owner: str, where: str) -> None:
        """Let the state grow that has no memory left for this row, or raise the reason why the row is refused."""
        if status != NOT_READY:
            raise self.refusal(status, x, owner, where)
        if ready(self.learner, x):
            assert not has_room_for(self.drift, x)
            self.drift = grow(self.drift, size(x), self.draws.randomness)
        else:
            self.learner = grow(self.learner, size(x), self.draws.randomness)

    def refusal(self, status: int, x: Row, owner: str, where: str) -> InputError:
        """The error that explains why a row is refused."""
        if status == UNSOUND:
            return describe_unsound(owner, x, where)
        if status == TOO_MANY_CLASSES:
            return too_many_classes(owner, self.most, where)
        largest = np.abs(values_of(x)).max()
        trouble = "would overflow the weights of" if status == LABEL_REFUSED else "is too large for"
        return InputError(
            f"{where}, with a value of {largest:.3g}, {trouble} {short(self.parts.learner)}; "
            "scale the instances first, for example to unit norm.",
            owner=owner,
        )


_ABOVE_HALF = float(np.nextafter(0.5, 1.0))
_STATES = ("learner", "rule", "drift", "prepare", "tally", "class_tally")
_COMPILED = ("plain", "plain_csr", "session")


def too_many_classes(owner: str, most: int, where: str) -> InputError:
    """The error for a label that would open one class too many."""
    return InputError(
        f"the label of {where} would open more than the {most:,} classes that are allowed; is it free text?",
        owner=owner,
    )
