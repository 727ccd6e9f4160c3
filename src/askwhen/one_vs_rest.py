"""Several classes: one learner for each against the rest, and one question for all of them.

In every round one rule decides for all classes, and a budget holds for the questions, not for each class. A rule that
asks near the boundary is given half the gap between the two best classes in the place of the margin: of two classes
that is the margin of one of them. One that asks by uncertainty is given the numbers of the most uncertain class. A
label that comes is +1 for its class and -1 for the others.
"""

from __future__ import annotations

import copy
import dataclasses
import os
from collections.abc import Iterable
from typing import Any, NamedTuple, cast

import numpy as np

from .compiled.steps import entry_point
from .contracts.learner import Learner, grow
from .contracts.rule import Rule, least_chance
from .contracts.sampler import Parts
from .engine.class_tally import (
    KEPT,
    ClassTally,
    count_class,
    doubt_class,
    level_of_certainty,
    new_class_tally,
    settle_class,
)
from .engine.decider import Decider
from .engine.door import check_class, check_classes, moment, moments, open_question
from .engine.engine import Engine, Shape, Waiting, seen_rows
from .engine.error_model import LABELS
from .engine.instances import all_canonical, check_instance, check_instances, check_names
from .engine.live_row import LiveRow
from .engine.parts import check_parts
from .engine.players import NOT_READY
from .engine.round import BY_RULE, learn_row, score_row
from .engine.stakes import LEVELS
from .engine.state_arrays import copy_state
from .engine.tally import Tally
from .errors import INSTANCES, InputError, SnapshotError, at_row
from .learners import AutoLasec
from .linalg.rows import DenseRows, Row, Rows, SparseRow, part_of, row, shape_of, size
from .linalg.vectors import SOUND
from .prepare import Prepare
from .rules import Always, Audit, BudgetRule
from .snapshot import engine_state, file_format
from .system.turns import new_lock
from .trace.trace import Ask, Trace
from .validation import check_seed, short
from .weights.choose_form import check_memory, fitting, matrix_bytes
from .weights.kernels import Kernel

_TINY = 5e-324  # so that the rule's side of the boundary is always the positive one: it stands for "predicted right"


class OneVsRest:
    """Predicts one of several classes for every instance and asks for the few labels worth paying for.

    Parameters
    ----------
    classes : list
        At least two different labels: strings or numbers.
    learner, rule, prepare, audit, seed : optional
        As in :class:`askwhen.Sampler`, with the same defaults; every class has a learner of its own, and all share the
        rule, the preparation, the audit and the coins.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> y = np.array(["a", "b", "c"])[X[:, :3].argmax(axis=1)]
    >>> sampler = aw.OneVsRest(["a", "b", "c"], seed=7)
    >>> trace = sampler.run(X, y)
    >>> trace.questions <= 330 and trace.mistakes < 600
    True
    >>> ask = sampler.ask([3.0, 0.0, 0.0, 0.0])
    >>> ask.prediction
    'a'
    """

    def __init__(
        self,
        classes: Any,
        learner: Learner | None = None,
        rule: Rule | None = None,
        prepare: Prepare | None = None,
        audit: Audit | None = None,
        seed: int | None = None,
    ) -> None:
        found = check_classes("OneVsRest", classes)
        if learner is None:
            learner, prepare = AutoLasec(), Prepare() if prepare is None else prepare
        elif hasattr(learner, "layout"):
            raise InputError(
                f"learner must see instances as they are, which {short(learner)} does not.", owner="OneVsRest"
            )
        if getattr(learner, "regression", False):
            raise InputError(f"needs a classifier, got the regressor {short(learner)}.", owner="OneVsRest")
        parts = Parts(learner, rule if rule is not None else BudgetRule(0.1), None, prepare, audit)
        check_parts(parts)
        check_seed("OneVsRest", seed)
        seed = None if seed is None else int(seed)
        alone = Parts(learner, Always())
        self._own(found, Decider(parts, seed), [Engine(alone, seed) for _ in found])

    def _own(self, classes: list[Any], judge: Decider, learners: list[Engine]) -> None:
        self.classes = classes
        self._judge = judge
        self._learners = learners
        self._open: dict[int, _Open] = {}
        self._classes = new_class_tally(len(classes))
        self._by_uncertainty = bool(judge.parts.rule.needs_uncertainty)
        self._unpickled()

    def _unpickled(self) -> None:
        self._places = {label: k for k, label in enumerate(self.classes)}
        self._lock = new_lock(self)
        self._live: Any = None
        self._score: Any = None
        self._learn: Any = None

    def __repr__(self) -> str:
        parts = ", ".join(short(part) for part in self._judge.parts if part is not None)
        return f"<OneVsRest({len(self.classes)} classes, {parts}) in round {self.round}>"

    @property
    def parts(self) -> Parts:
        """All parameters: learner, rule, drift guard, preparation and audit."""
        return self._judge.parts

    @property
    def seed(self) -> int | None:
        """What seeded the coins."""
        return self._judge.seed

    @property
    def learner(self) -> Any:
        """The parameters of every class's learner."""
        return self._judge.parts.learner

    @property
    def rule(self) -> Any:
        """The rule's parameters."""
        return self._judge.parts.rule

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, from the first instances that had any; later ones must have the same."""
        return self._judge.names

    @property
    def round(self) -> int:
        """How many rounds have been played; also the number of the next one."""
        return self._judge.round

    @property
    def questions(self) -> int:
        """How many labels have been asked for."""
        return self._judge.questions

    @property
    def updates(self) -> int:
        """How many labels have moved a learner."""
        return self._judge.updates

    @property
    def pending(self) -> list[Ask]:
        """The questions that wait for a label, oldest first."""
        return [waiting.ask for waiting in self._open.values()]

    def ask(self, x: Any, time: Any = None) -> Ask:
        """Play one round: predict the class of x and decide whether its label is worth asking for.

        ``prediction`` is a class, ``margin`` half the gap between it and the next best one, by which the rule decides,
        and ``uncertainty`` that of its learner.
        """
        with self._lock:
            now = moment(self._judge, "ask", time)
            row, d = check_instance("ask", x, self._judge.form)
            names = check_names("ask", x, self.feature_names)
            try:
                self._begin("ask", "x", d, isinstance(row, SparseRow))
                ask = self._ask(row, now, "ask", "x")
            except BaseException:  # refused, or interrupted
                self._begin_afresh()
                raise
            self._judge.names = names
            return ask

    def _begin(self, owner: str, name: str, d: int, sparse: bool) -> None:
        judge, first = self._judge, self._judge.learner is None
        judge.begin(owner, name, d, sparse)
        if first:
            seen, copies = judge.dimension, len(self._learners)
            learner = fitting(judge.parts.learner, seen, sparse, copies)
            check_memory(learner, seen, copies * matrix_bytes(learner, seen, sparse))
            for engine in self._learners:
                engine.parts = Parts(learner, Always())
                engine.begin(owner, name, seen, sparse)

    def _begin_afresh(self) -> None:
        """Before the first round has been played, let the next instance decide the dimension."""
        if self.round == 0:
            for engine in (self._judge, *self._learners):
                engine.begin_afresh()
            self._score = self._learn = None

    def _ask(self, x: Row, time: float, owner: str, where: str) -> Ask:
        judge = self._judge
        m, q, norm2 = self._scores(judge.seen(x), owner, where)
        p = m / (1.0 + q)
        best = int(p.argmax())
        if self._by_uncertainty:
            j = int(q.argmax())
            asked = judge.decide(x, time, max(abs(m[j]), _TINY), q[j], norm2[j])
        else:
            gap = 0.5 * (p[best] - np.delete(p, best).max())
            asked = judge.decide(x, time, max(gap * (1.0 + q[best]), _TINY), q[best], norm2[best])
        r = float(q[best] / (1.0 + q[best])) if judge.has_uncertainty else None
        ask = asked._replace(prediction=self.classes[best], uncertainty=r)
        certainty = 1.0 if asked.certainty is None else asked.certainty
        level = level_of_certainty(certainty, float(judge.tally.model[LABELS]))
        count_class(self._classes, best, ask.probability, level, ask.query)
        if ask.query:
            self._open[ask.round] = _Open(ask, p > 0.0, judge.numbers.copy(), level)
        return ask

    def _compile(self) -> None:
        if self._score is None:
            kind = self._learners[0].alone()[1]
            self._live = LiveRow(self._judge.dimension, self._judge.shape.sparse)
            self._score = entry_point(score_row, kind, 0)
            self._learn = entry_point(learn_row, kind, 0, 1.0, True)

    def _scores(self, x: Row, owner: str, where: str) -> np.ndarray:
        """m, q and |x|^2 of every class, in rows."""
        self._compile()
        found, rows = np.empty((3, len(self._learners))), self._live.take(x)
        for k, engine in enumerate(self._learners):
            verdict, *numbers = self._score(engine.alone()[0], rows)
            while verdict == NOT_READY:
                engine.learner = grow(engine.learner, size(x), engine.randomness)
                verdict, *numbers = self._score(engine.alone()[0], rows)
            if verdict != SOUND:
                raise engine.refusal(verdict, x, owner, where)
            found[:, k] = numbers
        return found

    def tell(self, ask: Ask | int, label: Any) -> None:
        """Give the label of a question, one of the classes: at once, later, or in any order."""
        k = self._place("tell", label)
        with self._lock:
            self._tell(open_question("tell", self._open, ask), k)

    def _tell(self, waiting: _Open, k: int) -> bool:
        """Let every learner learn that the label was class k; whether any of them moved."""
        judge, number = self._judge, waiting.ask.round
        question, moved = judge.pending[number], False
        _, x, marks = question
        where = f"the instance of round {number}"
        self._scores(x, "tell", where)  # refuses for all classes what any of them would refuse
        before = [] if judge.has_uncertainty else [copy_state(engine.learner) for engine in self._learners]
        rows = self._live.take(x)
        for place, engine in enumerate(self._learners if marks & BY_RULE else ()):
            told = (rows, 1.0 if place == k else -1.0, bool(waiting.signs[place] != (place == k)))
            verdict, updated = self._learn(engine.alone()[0], *told)
            while verdict == NOT_READY:
                engine.learner = grow(engine.learner, size(x), engine.randomness)
                verdict, updated = self._learn(engine.alone()[0], *told)
            if verdict != SOUND:  # only a first-order step can overflow: take back what other classes learnt
                for other, state in zip(self._learners, before, strict=True):
                    other.learner = state
                raise engine.refusal(verdict, x, "tell", where)
            moved = moved or bool(updated)
        judge.numbers[:] = waiting.numbers
        updates = judge.updates
        judge.tell(question, 1.0 if waiting.ask.prediction == self.classes[k] else -1.0)
        judge.updates = updates + moved
        settle_class(self._classes, self._places[waiting.ask.prediction], k, waiting.ask.probability, waiting.level)
        del self._open[number]
        return moved

    def forget(self, ask: Ask | int) -> None:
        """Drop a question that will never be answered, by its Ask or the number of its round."""
        with self._lock:
            waiting = open_question("forget", self._open, ask)
            self._judge.drop(waiting.ask.round)
            doubt_class(self._classes, self._places[waiting.ask.prediction], waiting.ask.probability, waiting.level)
            del self._open[waiting.ask.round]

    def class_tally(self) -> ClassTally:
        """What :func:`askwhen.evaluate.accuracy` reads of every class, with open questions in doubt, as a copy."""
        with self._lock:
            found = copy_state(self._classes)
            for ask, _, _, level in self._open.values():
                doubt_class(found, self._places[ask.prediction], ask.probability, level)
            return cast(ClassTally, found)

    def _place(self, owner: str, label: Any) -> int:
        return check_class(owner, self._places, label)

    def run(self, X: Any, y: Any, times: Any = None) -> Trace:
        """Play a round for every row of X, telling each asked label at once; if any row is refused, none was played.

        Parameters
        ----------
        X, y : array or CSR matrix, array
            Instances and their classes; unasked labels serve to count mistakes.
        times : array, optional
            When each instance came, for a rule that allows for labels by time.
        """
        with self._lock:
            judge = self._judge
            rows = all_canonical("run", check_instances("run", X, judge.form))
            names = check_names("run", X, self.feature_names)
            n, d = shape_of(rows)
            labels = np.asarray(y)
            if labels.shape != (n,):
                raise InputError(
                    f"y must hold {n} labels, one for each row of X, got shape {labels.shape}.", owner="run"
                )
            places = np.array([self._place("run", label) for label in labels])
            when = moments(judge, "run", times, n)
            before = copy.deepcopy((judge, self._learners, self._open, self._classes))
            coins = copy.deepcopy(judge.coins)
            try:
                self._begin("run", "X", d, not isinstance(rows, DenseRows))
                played = self._run(rows, places, when, coins.random(n))
            except BaseException:
                self._judge, self._learners, self._open, self._classes = before
                self._begin_afresh()
                raise
            judge.names = names
            return played

    def _run(self, rows: Rows, places: np.ndarray, times: np.ndarray, coins: np.ndarray) -> Trace:
        start, n = self.round, len(places)
        margin, chance = np.empty(n), np.empty(n)
        queried, updated, predicted = np.zeros(n, np.bool_), np.zeros(n, np.bool_), np.empty(n, np.int64)
        part = part_of(rows, 0, n)
        for i in range(n):
            ask = self._ask(row(part, i).copy(), float(times[i]) if len(times) else 0.0, "run", at_row(i))
            margin[i], chance[i], queried[i] = ask.margin, ask.probability, ask.query
            predicted[i] = self._places[ask.prediction]
            if ask.query:
                updated[i] = self._tell(self._open[ask.round], int(places[i]))
        mistaken = predicted != places
        return Trace(
            start=start,
            rounds=n,
            questions=int(queried.sum()),
            updates=int(updated.sum()),
            mistakes=int(mistaken.sum()),
            margin=margin,
            prediction=np.array(self.classes)[predicted],
            probability=chance,
            coin=coins,
            queried=queried,
            updated=updated,
            mistaken=mistaken,
            switches=np.zeros(0, np.int64),
            drift_weights=np.zeros((n, 0)),
            floor=least_chance(self._judge.rule),
            several=True,
        )

    def margins(self, X: Any) -> np.ndarray:
        """The margins of many instances, one column for each class, without asking and without playing a round."""
        with self._lock:
            judge = self._judge
            rows = check_instances("margins", X, judge.form)
            check_names("margins", X, judge.names)
            if judge.learner is None:
                return np.zeros((shape_of(rows)[0], len(self.classes)))
            if shape_of(rows)[1] != judge.shape.d:
                raise InputError(
                    f"{INSTANCES} must have {judge.shape.d} columns as before, got {shape_of(rows)[1]}.",
                    owner="margins",
                )
            seen = seen_rows(judge.prepare, rows)
            return np.column_stack([engine.margins(seen) for engine in self._learners])

    def probabilities(self, X: Any) -> np.ndarray:
        """The probability of every class for many instances, a column each, without asking or playing a round."""
        return self.shares(self.margins(X))

    def shares(self, margins: np.ndarray) -> np.ndarray:
        """The probability of each class for these margins, a column each."""
        return self._judge.shares(margins)

    def predict(self, X: Any) -> np.ndarray:
        """The classes of many instances, without asking and without playing a round."""
        found: np.ndarray = np.array(self.classes)[self.margins(X).argmax(axis=1)]
        return found

    def tally(self) -> tuple[Tally, int, int, list[Waiting]]:
        """What :func:`askwhen.evaluate.accuracy` reads: sums, rounds, questions, and the open questions, as copies."""
        with self._lock:
            return self._judge.counted()

    def save(self, path: str | os.PathLike[str], *, note: str | None = None) -> None:
        """Write everything to a file, and a note, as ``Sampler.save`` does."""
        with self._lock:
            header, arrays = engine_state.dump(self._judge, self._learners)
            waiting = [
                [*item.ask, item.signs.tolist(), item.numbers.tolist(), item.level] for item in self._open.values()
            ]
            about = {"classes": self.classes, "open": waiting}
            arrays |= {f"classes.{name}": getattr(self._classes, name) for name in KEPT}
            file_format.write(path, {"one_vs_rest": about, "model": header}, arrays, note)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None, parts: Iterable[type] = ()
    ) -> OneVsRest:
        """One that goes on from a file exactly where ``save`` left it; see ``Sampler.load``."""
        header, arrays = file_format.read(path)
        try:
            engine_state.check_kind(header, "OneVsRest")
            about = header["one_vs_rest"]
            judge, *learners = engine_state.restore(header["model"], arrays, kernel, True, parts)
            assert isinstance(judge, Decider)
            classes = check_classes("load", about["classes"])
            _check_learners(classes, judge, learners)
            made = cls.__new__(cls)
            made._own(classes, judge, learners)
            if f"classes.{KEPT[0]}" in arrays:  # older files have counted nothing by class
                made._classes = engine_state.with_kept(made._classes, arrays)
            made._open = {waiting.ask.round: waiting for waiting in map(_open_of, about["open"])}
            known = all(waiting.ask.prediction in made._places for waiting in made._open.values())
            whole = all(len(waiting.signs) == len(classes) for waiting in made._open.values())
            if list(made._open) != list(judge.pending) or not (known and whole):
                raise SnapshotError("the snapshot's open questions contradict each other.", owner="load")
            return made
        except SnapshotError:
            raise
        except engine_state.UNREADABLE as error:
            raise SnapshotError("the file holds no OneVsRest that this version can read.", owner="load") from error

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            left_out = ("_lock", "_live", "_score", "_learn", "_places")
            return copy.deepcopy({name: value for name, value in self.__dict__.items() if name not in left_out})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._unpickled()


class _Open(NamedTuple):
    """A question that waits: which learners said +1, the numbers that the rule decided on, and the level of its bet."""

    ask: Ask
    signs: np.ndarray
    numbers: np.ndarray
    level: int


def _open_of(line: list[Any]) -> _Open:
    """An open question from the header of a file, checked, since a file may say anything."""
    *ask, signs, numbers, level = line if type(line[-1]) is int else [*line, 0]
    found = [engine_state.flag(sign) for sign in signs]
    if len(numbers) != 3 or not all(type(number) is float and 0.0 <= number < np.inf for number in numbers):
        raise SnapshotError("the snapshot's open questions contradict each other.", owner="load")
    level = engine_state.count(level, LEVELS - 1)
    return _Open(engine_state.read_ask(ask), np.array(found, bool), np.array(numbers), level)


def _check_learners(classes: list[Any], judge: Engine, learners: list[Engine]) -> None:
    """Refuse learners from a file that are not one for each class, or do not see what the judge prepares."""
    shape = judge.shape if judge.learner is None else Shape(judge.dimension, judge.shape.sparse)
    alone = all(engine.parts[1:] == (Always(), None, None, None) and engine.shape == shape for engine in learners)
    apart = judge.parts.drift is None and not judge.regression and not any(engine.pending for engine in learners)
    like = all(_in_any_form(engine.parts.learner) == _in_any_form(judge.parts.learner) for engine in learners)
    if len(learners) != len(classes) or not (alone and apart and like):
        raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")


def _in_any_form(learner: Any) -> Any:
    """The learner as it was before it took a form by itself."""
    free = getattr(learner, "form", None) and learner.kernel is None and learner.budget is None
    return dataclasses.replace(learner, form="auto") if free else learner
