"""The sampler: owns the state, opens the door, orders the rounds.

The arithmetic of a round is in :mod:`askwhen.round`.
"""

from __future__ import annotations

import os
from typing import Any, NamedTuple

import numpy as np

from . import snapshot
from .compiling import entry_point
from .contracts import Drift, Learner, Rule, State, grow, ready, weights
from .drift.switch import NoDrift
from .errors import InputError, QuestionError, SnapshotError
from .linalg import SOUND, UNSOUND, DenseRows, SparseRow, SparseRows, row, size
from .persistence import PARTS, arrays_of, build, copy_state, describe, with_arrays
from .round import LABEL_REFUSED, NOT_READY, Record, ask_round, new_record, run_rounds, score_rows, tell_round
from .trace import Ask, Trace
from .validation import (
    Row,
    Rows,
    canonical,
    check_instance,
    check_instances,
    check_label,
    check_labels,
    copy_of,
    describe_unsound,
    is_canonical,
    part_of,
    shape_of,
    values_of,
)

_CHUNK = 1 << 16
_FLOAT64 = np.dtype(np.float64)
_new = tuple.__new__  # a NamedTuple of its own, without the cost of its keywords


class Question(NamedTuple):
    """An ask that waits for its label."""

    ask: Ask
    x: Row
    by_rule: bool
    period: int


class Shape(NamedTuple):
    """The dimension and the form of the instances; ``plain`` is the shape of one that needs no conversion."""

    d: int
    sparse: bool
    plain: tuple[int, ...]


_UNKNOWN = Shape(-1, False, ())


class Sampler:
    """Predicts every instance of a stream and asks for the few labels worth paying for.

    Parameters
    ----------
    learner
        How the weights move, for example ``Lasec(b=1.0, c=300.0)``.
    rule
        How likely we ask, for example ``MarginRule(0.05)``.
    drift : optional
        When the learner restarts, for example ``SwitchDetector()``.
    seed : int, optional
        Seeds the coins: one uniform number for every round, whatever the rule, from
        ``numpy.random.Generator(numpy.random.PCG64(seed))``. Any other randomness comes from a generator spawned from
        it. Without a seed, every sampler tosses its own.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((1000, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=7)
    >>> trace = sampler.run(X, y)
    >>> trace.questions < 400 and trace.mistakes < 100
    True
    """

    def __init__(self, learner: Learner, rule: Rule, drift: Drift | None = None, *, seed: int | None = None) -> None:
        _check_parts(learner, rule, drift)
        if seed is not None and (isinstance(seed, bool) or not isinstance(seed, (int, np.integer)) or seed < 0):
            raise InputError(f"Sampler: seed must be a whole number of at least 0, got {seed!r}.")
        self.learner = learner
        self.rule = rule
        self.drift = drift
        self._coins = np.random.Generator(np.random.PCG64(seed))
        self._randomness = self._coins.spawn(1)[0]
        self._regression = bool(learner.regression)
        self._has_uncertainty = bool(learner.has_uncertainty)
        self._rule: State = rule.start()
        self._learner: State = None
        self._drift: State = NoDrift(0)
        self._shape = _UNKNOWN
        self._round = 0
        self._questions = 0
        self._updates = 0
        self._switches: list[int] = []
        self._pending: dict[int, Question] = {}
        self._ask_entry: Any = None
        self._tell_entry: Any = None

    def __repr__(self) -> str:
        parts = ", ".join(repr(part) for part in (self.learner, self.rule, self.drift) if part is not None)
        return f"<Sampler({parts}) in round {self._round} with {len(self._pending)} questions open>"

    @property
    def round(self) -> int:
        """How many rounds have been played; also the number of the next one."""
        return self._round

    @property
    def questions(self) -> int:
        """How many labels have been asked for."""
        return self._questions

    @property
    def updates(self) -> int:
        """How often the learner has moved."""
        return self._updates

    @property
    def switches(self) -> list[int]:
        """The rounds in which a switch was declared."""
        return list(self._switches)

    @property
    def pending(self) -> list[Ask]:
        """The questions that wait for a label, oldest first."""
        return [question.ask for question in self._pending.values()]

    @property
    def weights(self) -> np.ndarray:
        """The weight vector w, a copy; empty before the first instance."""
        return np.zeros(0) if self._learner is None else np.array(weights(self._learner))

    def ask(self, x: Any) -> Ask:
        """Play one round: predict x and decide whether its label is worth asking for.

        Parameters
        ----------
        x : array or sparse row
            One instance: a 1-d array of numbers, or one row of a scipy CSR matrix.

        Returns
        -------
        Ask
            If ``ask.query``, answer with ``tell(ask, y)`` now, later, in any order, or drop it with ``forget(ask)``.
        """
        # The checks of an instance that is right already, in the cheapest order; everything else goes to the door.
        plain = type(x) is np.ndarray and x.dtype is _FLOAT64 and x.shape == self._shape.plain
        if not plain or not x.flags.carray:
            x = self._door(x)
        return self._play(x)

    def tell(self, ask: Ask | int, y: Any) -> None:
        """Give the label of a question: at once, later, or in any order.

        The label is judged against the prediction made when it was asked, and moves the weights from where they are
        now. A label for a question that is not open is refused, and so is one that is no label; nothing changes then.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        y : number
            -1 or +1; any finite number for a regressor.
        """
        question = self._open_question("tell", ask)
        label = check_label("tell", y, self._regression)
        asked, x, by_rule, period = question
        mistaken = not self._regression and label != asked[1]
        while True:
            verdict, updated = self._tell_entry(
                self._learner, self._rule, self._drift, x, label, mistaken, by_rule, period
            )
            if verdict == SOUND:
                break
            self._make_ready(verdict, x, "tell", f"the instance of round {asked.round}")
        self._updates += updated
        del self._pending[asked[0]]

    def forget(self, ask: Ask | int) -> None:
        """Drop a question that will never be answered, by its Ask or the number of its round."""
        del self._pending[self._open_question("forget", ask).ask.round]

    def run(self, X: Any, y: Any, *, margins: bool = True, trace: bool = True) -> Trace:
        """Play a round for every row of X, telling each asked label at once: the same bits as ``ask`` and ``tell``.

        Only the labels that are asked for are learnt from; the others serve to count mistakes. A run goes on where
        the sampler is, so a long stream can be run chunk by chunk. If any row is refused, no round was played.

        Parameters
        ----------
        X : array or CSR matrix
            The instances, one in each row.
        y : array
            Their labels: -1 and +1, or finite numbers for a regressor.
        margins : bool, default True
            False skips the quadratic form of second-order learners wherever it cannot change a decision: the same
            predictions, questions and updates, faster; the margins of those rounds are NaN.
        trace : bool, default True
            False keeps only the counts and the switches, so that memory does not grow with the number of rounds.

        Returns
        -------
        Trace
            What happened in every round.
        """
        rows = check_instances("run", X, self._form)
        labels = check_labels("run", y, shape_of(rows)[0], self._regression)
        before = self._checkpoint()
        try:
            self._begin("run", "X", shape_of(rows)[1], isinstance(rows, SparseRows))
            return self._run(rows, labels, bool(margins) or self._regression, bool(trace))
        except BaseException:
            self._restore(before)
            raise

    def margins(self, X: Any) -> np.ndarray:
        """The margins of many instances, without asking and without playing a round."""
        rows = check_instances("margins", X, self._form)
        n, d = shape_of(rows)
        if self._learner is not None and d != self._shape.d:
            raise InputError(f"margins: X must have {self._shape.d} columns as before, got {d}.")
        learner = self._learner or self.learner.start(d, isinstance(rows, SparseRows))
        p = np.empty(n)
        score = entry_point(score_rows, learner, _example_rows(isinstance(rows, SparseRows)), 1, p)
        stopped, verdict = score(learner, part_of(rows, 0, n), n, p)
        if verdict == UNSOUND and not is_canonical(row(rows, stopped), d):
            rows = canonical("margins", rows)
            stopped, verdict = score(learner, part_of(rows, 0, n), n, p)
        if verdict != SOUND:
            raise self._refusal(verdict, row(rows, stopped), "margins", f"row {stopped} of X")
        return p

    def predict(self, X: Any) -> np.ndarray:
        """The labels of many instances, without asking and without playing a round."""
        p = self.margins(X)
        return p if self._regression else np.where(p > 0.0, 1, -1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to a file: weights, coins, open questions. A crash leaves the old file whole."""
        header = {
            "parts": [describe(self.learner), describe(self.rule), describe(self.drift)],
            "d": self._shape.d,
            "sparse": self._shape.sparse,
            "round": self._round,
            "questions": self._questions,
            "updates": self._updates,
            "switches": self._switches,
            "coins": self._coins.bit_generator.state,
            "randomness": self._randomness.bit_generator.state,
            "pending": [[*question.ask, question.by_rule, question.period] for question in self._pending.values()],
        }
        arrays = arrays_of(self._rule, "rule") | arrays_of(self._drift, "drift")
        if self._learner is not None:
            arrays |= arrays_of(self._learner, "learner")
        for number, question in self._pending.items():
            arrays[f"pending.{number}"] = values_of(question.x)
            if isinstance(question.x, SparseRow):
                arrays[f"pending.{number}.indices"] = question.x.indices
        snapshot.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Sampler:
        """A sampler that goes on from a file exactly where ``save`` left it."""
        header, arrays = snapshot.read(path)
        try:
            return cls._rebuilt(header, arrays)
        except (KeyError, TypeError, ValueError) as error:
            if isinstance(error, SnapshotError):
                raise
            raise SnapshotError(f"load: {os.fspath(path)} holds no sampler that this version can read.") from error

    @classmethod
    def _rebuilt(cls, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> Sampler:
        learner, rule, drift = (build(part) for part in header["parts"])
        sampler = cls(learner, rule, drift)
        if header["d"] >= 0:
            sampler._begin("load", "X", header["d"], header["sparse"])
            sampler._learner = with_arrays(sampler._learner, "learner", arrays)
        sampler._rule = with_arrays(sampler._rule, "rule", arrays)
        sampler._drift = with_arrays(sampler._drift, "drift", arrays)
        for name in ("round", "questions", "updates", "switches"):
            setattr(sampler, f"_{name}", header[name])
        sampler._coins.bit_generator.state = header["coins"]
        sampler._randomness.bit_generator.state = header["randomness"]
        for *ask, by_rule, period in header["pending"]:
            x: Row = arrays[f"pending.{ask[0]}"]
            if header["sparse"]:
                x = SparseRow(x, arrays[f"pending.{ask[0]}.indices"], 0, len(x))
            if values_of(x).dtype != _FLOAT64 or not (
                is_canonical(x, header["d"]) and (header["sparse"] or len(x) == header["d"])
            ):
                raise SnapshotError(f"load: the instance of the open question of round {ask[0]} cannot be used.")
            sampler._pending[ask[0]] = Question(Ask(*ask), x, by_rule, period)
        return sampler

    @property
    def _form(self) -> bool | None:
        """Whether instances are sparse, or None before the first."""
        return None if self._learner is None else self._shape.sparse

    def _door(self, x: Any) -> Row:
        """One instance as a row of the sampler's form, with the state ready for its dimension."""
        found, d = check_instance("ask", x, self._form)
        self._begin("ask", "x", d, isinstance(found, SparseRow))
        return found

    def _begin(self, owner: str, name: str, d: int, sparse: bool) -> None:
        """Make the state for the dimension and the form of the first instance; later ones must agree."""
        if self._learner is not None:
            if d != self._shape.d:
                raise InputError(f"{owner}: {name} must have {self._shape.d} features as before, got {d}.")
            return
        self._shape = Shape(d, sparse, () if sparse else (d,))
        self._learner = self.learner.start(d, sparse)
        if self.drift is not None:
            self._drift = self.drift.start(d, sparse)
        x = row(_example_rows(sparse), 0)
        state = (self._learner, self._rule, self._drift)
        self._ask_entry = entry_point(ask_round, *state, x, 0.5)
        self._tell_entry = entry_point(tell_round, *state, x, 1.0, True, True, 0)

    def _play(self, x: Row) -> Ask:
        """Play one round on a row that has passed the door."""
        verdict, p, r, probability, by_rule, period, switched = self._ask_entry(
            self._learner, self._rule, self._drift, x, self._coins.random()
        )
        if verdict != SOUND:
            return self._ask_again(verdict, x)
        number = self._round
        self._round = number + 1
        if switched:
            self._switches.append(number)
        prediction = p if self._regression else (1 if p > 0.0 else -1)
        query = by_rule or period > 0
        ask = _new(Ask, (number, prediction, p, r if self._has_uncertainty else None, probability, query))
        if query:
            self._questions += 1
            self._pending[number] = _new(Question, (ask, copy_of(x), by_rule, period))
        return ask

    def _ask_again(self, verdict: int, x: Row) -> Ask:
        """Take back the coin of a round that could not be played; grow and play it, or raise why it cannot be."""
        self._coins.bit_generator.advance(-1)  # type: ignore[attr-defined]
        try:
            self._make_ready(verdict, x, "ask", "x")
        except InputError:
            if self._round == 0:  # the first instance of all: let the next one decide the dimension
                self._learner, self._drift, self._shape = None, NoDrift(0), _UNKNOWN
            raise
        return self._play(x)

    def _make_ready(self, verdict: int, x: Row, owner: str, where: str) -> None:
        """Grow what must grow before this row can be taken, or raise why it cannot be."""
        if verdict != NOT_READY:
            raise self._refusal(verdict, x, owner, where)
        if ready(self._learner, x):
            self._drift = grow(self._drift, size(x), self._randomness)
        else:
            self._learner = grow(self._learner, size(x), self._randomness)

    def _refusal(self, verdict: int, x: Row, owner: str, where: str) -> InputError:
        if verdict == UNSOUND:
            return describe_unsound(owner, x, where)
        largest = np.abs(values_of(x)).max()
        trouble = "would overflow the weights of" if verdict == LABEL_REFUSED else "is too large for"
        return InputError(
            f"{owner}: {where}, with a value of {largest:.3g}, {trouble} {self.learner!r}; "
            "scale the instances first, for example to unit norm."
        )

    def _open_question(self, owner: str, ask: Ask | int) -> Question:
        number = ask[0] if type(ask) is Ask else ask
        question = self._pending.get(number) if isinstance(number, (int, np.integer)) else None
        if question is not None and question[0] is ask:
            return question
        if question is None:
            raise QuestionError(
                f"{owner}: round {number!r} has no open question; it never asked, or was answered or forgotten."
            )
        if isinstance(ask, Ask) and question.ask != ask:
            raise QuestionError(f"{owner}: the question of round {number} is another one, of another sampler.")
        return question

    def _run(self, rows: Rows, labels: np.ndarray, every_margin: bool, keep: bool) -> Trace:
        n, d = shape_of(rows)
        start, room = self._round, n if keep else min(n, _CHUNK)
        kept = new_record(room)
        counts = np.zeros(3, np.int64)
        switches: list[int] = []
        example = (_example_rows(self._shape.sparse), labels, 0, True, True, kept)
        play = entry_point(run_rounds, self._learner, self._rule, self._drift, *example)
        for first in range(0, n, _CHUNK):
            last = min(n, first + _CHUNK)
            here = slice(first, last) if keep else slice(0, last - first)
            record = Record(*(array[here] for array in kept))
            self._coins.random(out=record.coin)
            done = 0
            while done < last - first:
                state = (self._learner, self._rule, self._drift)
                part = part_of(rows, first, last)
                done, verdict = play(*state, part, labels[first:last], done, every_margin, self._regression, record)
                if verdict == UNSOUND and not is_canonical(row(part, done), d):
                    rows = canonical("run", rows)
                elif verdict != SOUND:
                    self._make_ready(verdict, row(part, done), "run", f"row {first + done} of X")
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
            prediction=kept.margin if self._regression else kept.prediction,
            probability=kept.probability,
            coin=kept.coin,
            queried=kept.queried,
            updated=kept.updated,
            mistaken=kept.mistaken,
            switches=np.array(switches, np.int64),
        )
        self._round += n
        self._questions += trace.questions
        self._updates += trace.updates
        self._switches.extend(switches)
        return trace

    def _checkpoint(self) -> Any:
        """Everything that a run may change, copied."""
        states = [copy_state(state) for state in (self._learner, self._rule, self._drift)]
        return (
            states,
            self._shape,
            self._coins.bit_generator.state,
            self._randomness.bit_generator.state,
        )

    def _restore(self, before: Any) -> None:
        (self._learner, self._rule, self._drift), self._shape, coins, randomness = before
        self._coins.bit_generator.state = coins
        self._randomness.bit_generator.state = randomness


def _check_parts(learner: Any, rule: Any, drift: Any) -> None:
    """Refuse parts that do not fit together."""
    for name, part, room in (("learner", learner, "learners"), ("rule", rule, "rules"), ("drift", drift, "drift")):
        if part is None and name == "drift":
            continue
        if type(part).__name__ not in PARTS or f".{room}." not in type(part).__module__:
            raise InputError(f"Sampler: {name} must be one of askwhen's {room}, got {part!r}.")
    if rule.needs_uncertainty and not learner.has_uncertainty:
        raise InputError(
            f"Sampler: {rule!r} needs a learner with an uncertainty, such as LeastSquares, got {learner!r}."
        )
    if learner.regression and rule.needs_margin:
        raise InputError(f"Sampler: {rule!r} asks near a decision boundary, which the regressor {learner!r} has not.")
    if drift is not None and not learner.has_uncertainty:
        raise InputError(
            f"Sampler: {drift!r} needs a learner with an uncertainty, such as LeastSquares, got {learner!r}."
        )
    if drift is not None and learner.regression != (drift.noise_bound is not None):
        raise InputError("Sampler: a SwitchDetector needs noise_bound for a regressor, and only for a regressor.")


def _example_rows(sparse: bool) -> Rows:
    """Rows of the right types, to look up compiled steps by."""
    if sparse:
        return SparseRows(np.zeros(1), np.zeros(1, np.uint32), np.array([0, 1]), 1)
    return DenseRows(np.zeros((1, 1)))
