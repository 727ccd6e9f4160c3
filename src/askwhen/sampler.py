"""The public sampler: validates its input and delegates to the engine."""

from __future__ import annotations

import contextlib
import copy
import dataclasses
import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, cast

import numpy as np
import scipy.sparse as sp

from .contracts.abilities import ClassDrift, ViewLearner, classes_of, is_multi, provides
from .contracts.drift import Drift
from .contracts.kinds import Kinds, check_kinds, kinds_of
from .contracts.learner import Learner, experts, scale, weights
from .contracts.rule import Rule, labels_left
from .contracts.sampler import Parts
from .data.columns import Columns, check_columns
from .data.schema import Schema
from .data.schema_given import schema_from
from .engine.batch_run import NO_ADVICE, RowBatch, learn, part_of_batch, run
from .engine.batch_run import margins as margins_of
from .engine.calling import Call, called_in, columns_of, consider, made, note
from .engine.engine import Engine, OpenQuestion, Waiting, decided_as, too_many_classes
from .engine.inputs.advice import check_advisers
from .engine.inputs.advice_arguments import (
    appearances,
    asked_about,
    joined_advice,
    learning_in,
    read_round,
    read_rounds,
    row_count,
    rows_from,
)
from .engine.inputs.argument_checks import (
    check_class,
    check_class_labels,
    check_classes,
    check_costs,
    check_decision,
    check_flags,
    check_most,
    check_new_label,
    check_open_labels,
    check_time,
    dimensions_of,
    given_rows,
    one_column,
    open_question,
    round_time,
    round_times,
)
from .engine.inputs.instance_checks import check_instance, check_instances, check_names
from .engine.inputs.named_rows import check_same_index, is_table, warn_of_labels
from .engine.inputs.registry import check_parts
from .engine.inputs.two_labels import NO_PAIR, SIGNS, Pair, check_number, check_numbers, check_pair, sign_of, signs_of
from .engine.label_spaces import Classes
from .engine.promise import Promise
from .engine.round.each_class import EachState
from .engine.shared_tasks import run_tasks
from .engine.tally.class_tally import ClassTally
from .engine.tally.label_tally import LabelTally
from .engine.tally.round_tally import Tally
from .errors import InputError, QuestionError, owned_by
from .learners import Mixture
from .linalg.rows import Row, SparseRow, SparseRows, matrix_of, shape_of
from .prepare import Prepare, held_rows, let_go
from .rules import Audit, BudgetRule
from .snapshot import engine_state, file_format
from .system.fork_safe_lock import new_lock
from .trace.trace import Ask, RoundResult, Trace, join
from .validation import check_flag, check_seed, short
from .weights.expansion import effective_expansion, expansion_of, support_of
from .weights.kernels import Kernel

_NO_CALLS: Mapping[str, Call] = {}
_ARRAY, _FLOAT64 = np.ndarray, np.dtype(np.float64)
_CSR = (sp.csr_matrix, sp.csr_array)


# One argument for each that cannot be combined.
def _check_with_classes(learner: Any, names: list[Any], regression: bool, costs: Any, drift: Any, labels: Any) -> None:
    """Refuse arguments that cannot be combined with several classes."""
    for what, given in (("regression", regression), ("costs", costs is not None), ("labels", labels is not None)):
        if given:
            raise InputError(f"classes cannot be combined with {what}.", owner="Sampler")
    if drift is not None and (not names or not provides(drift, ClassDrift)):
        reason = "works with two labels only" if names else "must know all classes from the start"
        raise InputError(f"{short(drift)} {reason}.", owner="Sampler")
    number = classes_of(learner)
    if getattr(learner, "regression", False) or (number is not None and number != len(names)):
        raise InputError(f"{short(learner)} does not learn {len(names)} classes.", owner="Sampler")
    if provides(learner, ViewLearner) and number is None:
        raise InputError(
            f"{short(learner)} is for two labels; leave it out, or use Mixture(classes={len(names)}).", owner="Sampler"
        )


class Sampler:
    """Predicts every instance of a stream and asks for the few labels worth paying for.

    Parameters
    ----------
    learner : optional
        The learner, which updates the weights, for example ``Lasec(b=1.0, c=300.0)``.
    rule : optional
        The rule, which gives the probability of asking, for example ``MarginRule(0.05)``; by default
        ``BudgetRule(0.1)``, one label in ten.
    drift : optional
        The drift detector, which restarts the learner, for example ``SwitchDetector()``.
    prepare : Prepare, optional
        How raw features are scaled before the learner sees them. Without it, they are not changed.
    audit : Audit, optional
        A share of the rounds to ask about at random, independently of the rule.
    seed : int, optional
        Random seed. Every round draws one uniform number, whatever the rule, from
        ``numpy.random.Generator(numpy.random.PCG64(seed))``. Any other randomness comes from a generator spawned from
        it. Without a seed, every sampler draws different numbers.

    regression : bool, default False
        Without a learner: predict numbers instead of one of two labels.
    costs : (float, float), optional
        The costs of a false positive and of a false negative, as ``(1, 20)`` where a missed fraud costs as much as
        twenty false alarms. The decision boundary then moves to where both are expected to cost the same; the margin is
        the distance from there.
    classes : list or "open", optional
        Predict one of these labels, strings or numbers, where there may be more than two. One question serves all of
        them; the margin is half the gap between the two best classes. Use "open" if the labels are not known
        beforehand: every new label then adds a class.
    most_classes : int, default 100
        Largest number of open classes, from 3 to 1,000: further new labels are refused, since they are most likely free
        text.
    kinds : Kinds, optional
        How many features are numbers, vectors and words, in this order, where they are not all of one kind. Instances
        from :func:`askwhen.data.read` know it themselves.
    columns : Columns, optional
        What columns of data frames and records are to be taken for, where their types and values do not say it: texts,
        categories, numbers, vectors, or nothing to learn from.
    advisers : list of str or "any", optional
        The names of those whose advice may come with an instance, such as a language model, last year's classifier or
        a rule of thumb. It is mixed with what the sampler learns itself, and :func:`askwhen.evaluate.advisers` says how
        good each of them is. With "any", further names may appear on the way. For the default learner.
    schema : Schema or dict, optional
        What the columns of data frames and records are, where it is known beforehand: that of a file or of another
        sampler, or for each name "number", "date", "category", "text" or "drop", as for
        :func:`askwhen.data.make_schema`. By default it is found from the first instances. Texts and vectors are for
        the default learner.
    labels : (negative, positive), optional
        The two labels, strings or numbers, where they are not to be found from the data. Otherwise, 1 and True are
        positive and 0, -1 and False negative; of two strings in ``run`` or ``learn`` the second in sorted order is
        positive, as in scikit-learn, or the one that says so ("yes", "true"). Give them if the first string comes
        alone, by ``tell``; for numbers such as 1 and 2; or to choose which label is positive. Predictions come back as
        labels are written; until that is known, they are -1 and +1.

    Without a learner, the sampler uses the recommended one and prepares instances for it: ``Sampler()`` is
    ``Sampler(Mixture(), BudgetRule(0.1), prepare=Prepare())``, and needs no tuning.

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

    Labels are taken as they are, and predictions come back in the same form:

    >>> sampler = aw.Sampler(seed=7)
    >>> trace = sampler.run(X, np.where(y > 0, "spam", "ham"))
    >>> sampler.classes, sampler.predict([[2.0, 0, 0, 0, 0]]).tolist()
    (['ham', 'spam'], ['spam'])
    """

    # More than eight arguments: these are the public parameters, and each of them is documented by name.
    def __init__(
        self,
        learner: Learner | None = None,
        rule: Rule | None = None,
        drift: Drift | None = None,
        prepare: Prepare | None = None,
        audit: Audit | None = None,
        seed: int | None = None,
        regression: bool = False,
        costs: tuple[float, float] | None = None,
        classes: Any = None,
        most_classes: int = 100,
        kinds: Kinds | None = None,
        columns: Columns | None = None,
        labels: Sequence[Any] | None = None,
        schema: Any = None,
        advisers: Any = None,
    ) -> None:
        check_flag("Sampler", "regression", regression)
        opens = isinstance(classes, str) and classes == "open"
        names = None if classes is None else [] if opens else check_classes("Sampler", classes)
        number = classes_of(learner)
        if is_multi(learner):
            raise InputError(f"{short(learner)} is for several labels at once; use MultiLabel.", owner="Sampler")
        if names is None and number is not None:
            names, opens = list(range(number)), number == 0
        most = check_most("Sampler", most_classes) if opens else 0
        if names is not None:
            _check_with_classes(learner, names, regression, costs, drift, labels)
        if learner is None:
            learner = Mixture(regression, None if names is None else len(names))
            learner = learner if kinds is None else learner.with_kinds(check_kinds("Sampler", kinds))
            prepare = Prepare() if prepare is None else prepare
        elif regression and not getattr(learner, "regression", True):
            raise InputError(
                f"regression=True applies only to the default learner; got {short(learner)}.", owner="Sampler"
            )
        elif kinds is not None or columns is not None:
            what = "kinds" if kinds is not None else "columns"
            raise InputError(f"{what} are for the default learner; got {short(learner)}.", owner="Sampler")
        if rule is None:
            rule = BudgetRule(0.1, by="uncertainty" if getattr(learner, "regression", False) else "margin")
        parts = Parts(learner, rule, drift, prepare, audit)
        check_parts(parts)
        check_seed("Sampler", seed)
        paid = None if costs is None else check_costs("Sampler", costs)
        if paid is not None and learner.regression:
            raise InputError("costs are for a classifier: a regressor makes no mistakes to pay for.", owner="Sampler")
        if labels is not None and learner.regression:
            raise InputError("labels are for a classifier: a regressor predicts numbers.", owner="Sampler")
        answers = None if names is None else Classes(names, most)
        who = None if advisers is None else check_advisers("Sampler", advisers)
        if who is not None and not provides(learner, ViewLearner):
            raise InputError(f"advisers are for the default learner; got {short(learner)}.", owner="Sampler")
        engine = Engine(parts, None if seed is None else int(seed), paid, answers, who)
        engine.pair = NO_PAIR if labels is None else check_pair("Sampler", labels)
        engine.columns = None if columns is None else check_columns("Sampler", columns)
        if schema is not None:
            if kinds is not None or columns is not None:
                raise InputError("schema says it all; leave out kinds and columns.", owner="Sampler")
            engine.give_schema(schema_from(schema))
        self._own(engine)

    def _own(self, engine: Engine) -> None:
        self._engine = engine
        self._tasks: list[Sampler] = []
        self._lock = new_lock(self)

    def __repr__(self) -> str:
        parts = ", ".join(short(part) for part in self._engine.parts if part is not None)
        if self._tasks:
            return f"<Sampler({parts}) of {len(self._tasks)} tasks>"
        return f"<Sampler({parts}) in round {self.round} with {len(self._engine.pending)} questions open>"

    @property
    def learner(self) -> Any:
        """The learner's parameters."""
        return self._engine.parts.learner

    @property
    def rule(self) -> Any:
        """The rule's parameters."""
        return self._engine.parts.rule

    @property
    def drift(self) -> Any:
        """The drift detector's parameters, or None."""
        return self._engine.parts.drift

    @property
    def prepare(self) -> Prepare | None:
        """How instances are prepared, or None."""
        return self._engine.parts.prepare  # type: ignore[no-any-return]

    @property
    def audit(self) -> Audit | None:
        """The audit's parameters, or None."""
        return self._engine.parts.audit  # type: ignore[no-any-return]

    @property
    def parts(self) -> Parts:
        """All parameters: learner, rule, drift detector, preparation and audit."""
        return self._engine.parts

    @property
    def seed(self) -> int | None:
        """The random seed."""
        return self._engine.seed

    @property
    def costs(self) -> tuple[float, float] | None:
        """The costs of a false positive and of a false negative, or None where all mistakes cost the same."""
        return self._engine.costs

    @property
    def classes(self) -> list[Any] | None:
        """The labels it predicts: the negative and the positive one, or the classes so far; None for a regressor.

        Of two labels they are -1 and +1 until it is known how they are written.
        """
        if self._engine.classes is not None:
            return list(self._engine.classes)
        return None if self._engine.regression else self._engine.pair.labels

    @property
    def advisers(self) -> list[str] | None:
        """The names of the advisers so far; None where advice is not taken."""
        return None if self._engine.advisers is None else list(self._engine.advisers.names)

    @property
    def engine(self) -> Engine:
        """The engine behind this sampler, for other modules of this package that replay rounds or change states."""
        return self._engine

    @property
    def turn(self) -> Any:
        """The lock of this sampler: inside ``with sampler.turn:`` no other thread plays rounds on it."""
        return self._lock

    @classmethod
    def of(cls, engine: Engine, tasks: Iterable[Engine] = ()) -> Sampler:
        """A sampler around an engine and the engines of its tasks, for other modules of this package."""
        made = cls.__new__(cls)
        made._own(engine)
        made._tasks = [Sampler.of(task) for task in tasks]
        return made

    def begin_tasks(self, number: int) -> None:
        """Create this many tasks before the first of them is played; see ``run_tasks``."""
        self._tasks = self._new_tasks(number)

    def _new_tasks(self, number: int) -> list[Sampler]:
        engine = self._engine
        labels = engine.pair.labels if engine.pair.known == 2 else None
        seeds = [None if engine.seed is None else engine.seed + j for j in range(number)]
        return [Sampler(*engine.parts, seed=seed, costs=engine.costs, labels=labels) for seed in seeds]

    @property
    def needs_time(self) -> bool:
        """Whether every round needs a time, because the budget is per period of time."""
        return self._engine.needs_time

    def labels_left(self, time: Any = None) -> float | None:
        """Number of labels that the budget still allows: in the period of this time, or in all.

        None where a budget bounds only the share of labels, and for rules without a budget.

        Parameters
        ----------
        time : number or datetime, optional
            Needed for a budget per period of time.

        Examples
        --------
        >>> import askwhen as aw
        >>> aw.Sampler(rule=aw.BudgetRule(0.1, most=500), seed=7).labels_left()
        500.0
        """
        with self._lock:
            now = check_time("labels_left", time) if self.needs_time else 0.0
            left = float(labels_left(self._engine.rule, now))
        return None if math.isinf(left) else left

    @property
    def promise(self) -> Promise:
        """What is promised about the delivered labels, with a :class:`askwhen.PromiseRule`: the certificate as of now.

        Examples
        --------
        >>> import askwhen as aw
        >>> sampler = aw.Sampler(rule=aw.PromiseRule(0.02), seed=7)
        >>> sampler.promise.error, sampler.promise.delivered
        (0.02, 0)
        """
        if self._tasks:
            raise InputError("every task has a promise of its own; see the promise of each of tasks.", owner="promise")
        return Promise(self._engine, self._lock)

    def is_open(self, ask: Ask | int) -> bool:
        """Whether a question waits for its label.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        """
        return (ask if isinstance(ask, int) else ask.round) in self._engine.pending

    def held_instances(self) -> set[bytes]:
        """The raw instances that the default learner stores to rank others among them, as bytes of their features."""
        with self._lock:
            return held_rows(self._engine.prepare)

    def discard_instance(self, x: np.ndarray) -> None:
        """Remove one of the ``held_instances``, as erasing a person's data requires; copies of others take its place.

        Parameters
        ----------
        x : array
            The raw instance.
        """
        with self._lock:
            let_go(self._engine.prepare, x)

    @property
    def drift_weights(self) -> np.ndarray:
        """The weight of each expert of a mixture, see ``experts``; empty for other learners."""
        learner = self._engine.learner
        return np.zeros(0) if learner is None else np.array(experts(learner))

    @property
    def experts(self) -> list[str]:
        """The names of the experts of a mixture, one for each of ``drift_weights``; empty for other learners."""
        return [] if self._engine.learner is None else list(self._engine.expert_names())

    @property
    def schema(self) -> Schema | None:
        """What each column of data frames and records is taken for; None where instances are arrays or numbers."""
        return self._engine.schema

    @property
    def feature_names(self) -> tuple[str, ...] | None:
        """The names of the features, from the first instances that had any; later ones must have the same."""
        return self._engine.names

    @property
    def round(self) -> int:
        """Number of rounds played so far; also the number of the next one."""
        return self._engine.round

    @property
    def questions(self) -> int:
        """Number of labels asked for so far."""
        return self._engine.questions

    @property
    def volunteered(self) -> int:
        """Number of unsolicited labels learnt so far, see ``learn``."""
        return self._engine.volunteered

    @property
    def updates(self) -> int:
        """Number of asked labels that have changed the learner's weights."""
        return self._engine.updates

    @property
    def switches(self) -> list[int]:
        """The rounds in which a switch was declared."""
        return list(self._engine.switches)

    @property
    def pending(self) -> list[Ask]:
        """The questions that wait for a label, oldest first."""
        return [ask for ask, _, _ in list(self._engine.pending.values())]

    @property
    def weights(self) -> np.ndarray:
        """The weight vector w, a copy; empty before the first instance."""
        learner = self._engine.learner
        return np.zeros(0) if learner is None else np.array(weights(learner))

    @property
    def form(self) -> str:
        """The form of the learner's weights: "primal", "dual", or "unknown" before the first instance."""
        learner = self._engine.learner
        if learner is None:
            return "unknown"
        one = learner.learners[0] if isinstance(learner, EachState) else getattr(learner, "one", learner)
        return "primal" if expansion_of(one) is None else "dual"

    @property
    def support(self) -> tuple[Any, np.ndarray]:
        """The instances that the dual form stores, as rows, and their coefficients; both empty in primal form."""
        learner = self._engine.learner
        if self._engine.answers is not None and learner is not None:
            raise InputError("support is not available with several classes.", owner="support")
        w = None if learner is None else effective_expansion(learner)
        if w is None:
            return np.zeros((0, max(self._engine.dimension, 0))), np.zeros(0)
        rows, coef = support_of(w)
        return rows, scale(learner) * coef

    def ask(self, x: Any, time: Any = None, advice: Any = None) -> Ask:
        """Play one round: predict x and decide whether its label is worth asking for.

        Parameters
        ----------
        x : array, sparse row or Series
            One instance: a 1-d array of numbers, one row of a scipy CSR matrix, or a pandas Series, whose index are the
            names of the features. None where there is nothing but advice.
        time : number or datetime, optional
            Time of the instance, never earlier than the last one; needed for a budget per period of time.
        advice : dict, optional
            What advisers say of it, by name: a label, ``(label, confidence)``, the probability of each label as a dict,
            of two labels the probability of the positive one, for a regressor a number, or None for nothing. Or a
            :class:`askwhen.advisers.Called`, which is called only where that is worth it.

        Returns
        -------
        Ask
            If ``ask.query``, answer with ``tell(ask, y)`` now, later, in any order, or drop it with ``forget(ask)``.
        """
        engine, calls = self._engine, _NO_CALLS
        if advice is not None:
            advice, calls = self._call(x, time, advice)
        with self._lock:
            # Fast path for instances that need no conversion, with the cheapest checks first.
            if advice is not None or x is None:
                return self._ask(x, time, None, advice, calls)
            if type(x) is _ARRAY:
                if time is None and x.dtype is _FLOAT64 and x.shape == engine.plain and x.flags.carray:
                    return engine.ask(x)
            elif time is None and type(x) in _CSR and x.shape == engine.plain_csr:
                plain = engine.session.plain_row(x, engine.shape.d)
                if plain is not None:
                    return engine.ask(plain)
            return self._ask(x, time, None)

    def play(self, x: Any, time: Any = None, decision: Any = None, *, advice: Any = None) -> RoundResult:
        """Play one round as ``ask`` does, and return with the ``Ask`` what a log of the stream needs to store.

        Parameters
        ----------
        x, time, advice
            As for ``ask``.
        decision : "certain" or (bool, float), optional
            Replaces that of the rule. "certain" asks with probability 1, at no cost to the budget: for an instance
            whose label is known already. A decision of an earlier log, whether it asked and with which probability, is
            taken over, as if the rule had made it again.

        Returns
        -------
        RoundResult
            The ``ask``, the random draw ``coin`` that decided it, whether a switch was declared (``switched``), and the
            ``level`` of certainty with which a question is counted.

        Examples
        --------
        >>> import askwhen as aw
        >>> result = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=7).play([1.0, 2.0])
        >>> result.ask.query == (result.coin < result.ask.probability), result.switched
        (True, False)
        """
        check_decision(decision)
        engine = self._engine
        calls: Mapping[str, Call] = {}
        if advice is not None:
            advice, calls = self._call(x, time, advice)
        with self._lock:
            decided = decided_as(decision)
            is_plain = advice is None and time is None and type(x) is _ARRAY and x.dtype is _FLOAT64
            if is_plain and x.shape == engine.plain and x.flags.carray:  # as in ``ask``: it needs no conversion
                return engine.play(x, 0.0, decided)
            played = self._played(x, time, advice, lambda row, now: self._engine.play(row, now, decided), calls)
            return cast(RoundResult, played)

    def ask_on(self, coin: float, x: Any, time: Any = None) -> Ask:
        """Play one round with a random draw that several samplers share; its own draws are not used up."""
        with self._lock:
            return self._ask(x, time, coin)

    def check(self, x: Any, time: Any = None) -> None:
        """Refuse what ``ask`` would refuse, without playing a round.

        Parameters
        ----------
        x : array or one row of a CSR matrix
            The instance.
        time : float or date, optional
            Time of the instance, for a budget per period of time; never earlier than the last one.
        """
        with self._lock:
            engine = self._engine
            if self._tasks:
                raise self._has_tasks("ask")
            round_time(engine, "ask", time)
            try:
                x = engine.by_name("ask", x)
                rows, _ = given_rows("ask", x, 1, engine.form)
                check_names("ask", x, engine.names)
                margins_of(engine, rows, live=True)
            except InputError as error:
                raise InputError(error.sentence, owner="ask") from error
            finally:
                if engine.learner is None:
                    engine.reset_if_unused()

    def _ask(
        self, x: Any, time: Any, coin: float | None, advice: Any = None, calls: Mapping[str, Call] = _NO_CALLS
    ) -> Ask:
        return cast(Ask, self._played(x, time, advice, lambda row, now: self._engine.ask(row, now, coin), calls))

    def _call(self, x: Any, time: Any, advice: Any) -> tuple[Any, dict[str, Call]]:
        """Call the advisers that are worth a call in the next round; return all advice, and what became of the calls.

        The sampler is not locked while an adviser thinks.
        """
        engine = self._engine
        with self._lock:
            called = called_in("ask", advice, engine)
        if not called:
            return advice, {}
        if x is not None:
            self.check(x, time)
        others, calls = {name: each for name, each in advice.items() if name not in called}, dict[str, Call]()
        for name, adviser in called.items():
            with self._lock:
                now, rows = round_time(engine, "ask", time), None
                said = columns_of(read_round("ask", others, engine.advisers, engine).said)
                if engine.has_learnt:
                    rows, _ = given_rows("ask", engine.by_name("ask", engine.or_nothing("ask", x)), 1, engine.form)
                call = consider(engine, name, adviser, rows, said, now)
            if call.is_made:
                answer = adviser.say(x)
                with self._lock:
                    call = made("ask", call, name, answer, engine, adviser)
            calls[name], others[name] = call, call.said
        return others, calls

    # Five arguments: the last is for advisers that are called.
    def _played(
        self,
        x: Any,
        time: Any,
        advice: Any,
        play: Callable[[Row, float], Any],
        calls: Mapping[str, Call] = _NO_CALLS,
    ) -> Any:
        """Validate a round's instance and advice, and play it."""
        engine = self._engine
        if advice is None:
            row, now, names = self._checked(x, time)
            played = play(row, now)
            engine.names = names
            return played
        said, new, pair = read_round("ask", advice, engine.advisers, engine)
        assert engine.advisers is not None
        first = [name for name in calls if name not in engine.advisers.names]
        new = first + [name for name in new if name not in first]
        before = engine.checkpoint() if new else None
        try:
            row, now, names = self._checked(x, time)
            engine.advisers.take_up(new, engine)
            engine.advisers.say(engine, said)
            with engine.writing(pair):
                played = play(row, now)
        except BaseException:
            if before is not None:
                engine.restore(before)
            raise
        finally:
            engine.advisers.be_silent(engine)
        engine.names = names
        if calls:
            note(engine, calls)
            ask = played.ask if isinstance(played, RoundResult) else played
            ask.advice = {name: call.said for name, call in calls.items()}
        return played

    def _checked(self, x: Any, time: Any) -> tuple[Row, float, tuple[str, ...] | None]:
        """The validated instance, its time, and the names of the features; begins the engine for the first one."""
        engine = self._engine
        if self._tasks:
            raise self._has_tasks("ask")
        now = round_time(engine, "ask", time)
        try:
            x = engine.by_name("ask", engine.or_nothing("ask", x))
            engine.take_kinds(kinds_of(x))
            row, d = check_instance("ask", x, engine.form)
            names = check_names("ask", x, engine.names)
            engine.begin("ask", "x", d, isinstance(row, SparseRow))
        except BaseException:
            engine.reset_if_unused()
            raise
        return row, now, names

    def tell(self, ask: Ask | int, y: Any) -> None:
        """Give the label of a question: at once, later, or in any order.

        The label is compared with the prediction made when it was asked for, and updates the current weights. An
        invalid label, and a label for a question that is not open, are refused; nothing changes then.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        y : label
            One of the two labels: 0 or 1, True or False, -1 or +1, or one of the strings that are known; one of the
            classes; any finite number for a regressor.
        """
        engine = self._engine
        if engine.answers is not None:
            self._tell_one_of(ask, y)
            return
        with self._lock:
            pair = engine.pair
            if engine.regression:
                y = check_number("tell", y)
            elif type(y) is not float or (pair is not SIGNS and pair != SIGNS) or (y != 1.0 and y != -1.0):
                y, pair = sign_of("tell", y, pair)
            try:
                question = engine.pending.get(ask[0]) if type(ask) is Ask else None
            except TypeError:  # ask[0] is not hashable
                question = None
            if question is None or question[0] is not ask:  # not the same object as the open Ask: compare in detail
                question = self._open_question("tell", ask)
            engine.tell(question, y)
            engine.pair = pair

    def _tell_one_of(self, ask: Ask | int, y: Any) -> None:
        """Give a label that is a class, possibly a new one, or the number of a set of labels."""
        engine = self._engine
        assert engine.answers is not None
        with self._lock:
            if engine.most:
                label = check_new_label("tell", engine.answers.names, y)
            else:
                label = y if engine.answers.multi else check_class("tell", engine.places, y)
            question = self._open_question("tell", ask)
            new = engine.most > 0 and label not in engine.places
            if new and engine.open(label) is None:
                raise too_many_classes("tell", engine.most, f"round {question[0].round}")
            try:
                engine.tell(question, float(engine.places[label] if engine.most else label))
            except BaseException:
                if new:
                    engine.close(label)
                raise

    def forget(self, ask: Ask | int) -> None:
        """Drop a question that will never be answered, by its Ask or the number of its round.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        """
        with self._lock:
            self._engine.forget(self._open_question("forget", ask))

    def learn(self, x: Any, y: Any) -> None:
        """Learn an unsolicited label: from a seed set, a complaint or a correction.

        It updates the learner and the running statistics of ``prepare``. No round is played and no random number is
        drawn; the budget and the estimate of the accuracy stay as they are.

        Parameters
        ----------
        x : array, sparse row, Series or table
            One instance, or many: an array, a CSR matrix or a table with one in each row.
        y : label or array
            Its label, or one for each of them, as for ``run``.

        Examples
        --------
        >>> import askwhen as aw
        >>> sampler = aw.Sampler(seed=7)
        >>> sampler.learn([[0.0, 1.0], [1.0, 0.0]], [-1, 1])
        >>> sampler.round, sampler.volunteered
        (0, 2)
        """
        engine = self._engine
        with self._lock:
            if self._tasks:
                raise self._has_tasks("learn")
            before = engine.checkpoint()
            try:
                check_same_index("learn", x, y)
                x = engine.by_name("learn", x)
                engine.take_kinds(kinds_of(x))
                rows, y = given_rows("learn", x, one_column(y), engine.form)
                names = check_names("learn", x, engine.names)
                labels, new, pair = self._labels("learn", y, shape_of(rows)[0])
                engine.begin("learn", "x", shape_of(rows)[1], isinstance(rows, SparseRows))
                with engine.writing(pair):
                    learn(engine, rows, labels, new)
            except BaseException:
                engine.restore(before)
                raise
            engine.names = names

    # More than eight arguments: these are public parameters, and each of them is documented by name.
    def run(
        self,
        X: Any,
        y: Any,
        times: Any = None,
        margins: bool = True,
        trace: bool = True,
        volunteered: Any = None,
        advice: Any = None,
    ) -> Trace:
        """Play a round for every row of X, and learn each asked label at once: the same bits as ``ask`` and ``tell``.

        Only the labels that are asked for are learnt from; the others serve to count mistakes. A run continues from the
        current state, so a long stream can be run chunk by chunk. If any row is refused, no round is played.

        Parameters
        ----------
        X : array, CSR matrix or data frame
            The instances, one in each row. The column names of a table (pandas, polars, Arrow) are remembered, and a
            later table with other names, or another order, is refused; arrays have no names and are always accepted.
            None where there is nothing but advice.
        y : array
            Their labels: 0 and 1, False and True, -1 and +1, or two strings, in an array, a list, or a column of a
            table (see ``labels`` of the class); the classes; finite numbers for a regressor. A matrix is passed to
            ``run_tasks``, whose list of traces is returned; call ``run_tasks`` directly in new code.
        times : array, optional
            Times of the instances, numbers or datetime64, never decreasing; needed for a budget per period of time.
        margins : bool, default True
            False skips the quadratic form of second-order learners wherever it cannot change a decision: the same
            predictions, questions and updates, faster; the margins of those rounds are NaN.
        trace : bool, default True
            False records only the counts and the switches, so that memory does not grow with the number of rounds.
        volunteered : array of bool, optional
            Rounds whose label arrives unsolicited after the prediction, as a complaint does: it is learnt as by
            ``learn`` where it was not asked for.
        advice : dict, optional
            What advisers say, by name: labels, a pair ``(labels, confidences)``, an array with the probability of each
            label, or a list with an entry for each row as for ``ask``; None and NaN are silence. Or one of
            :mod:`askwhen.advisers`, which is asked about the rows and told the labels that were asked for.

        Returns
        -------
        Trace
            The record of every round.
        """
        check_flag("run", "margins", margins)
        check_flag("run", "trace", trace)
        y = one_column(y)
        with self._lock:
            if not self._tasks and dimensions_of("run", y) != 2:
                return self._run(X, y, times, margins, trace, volunteered, advice=advice)
            for name, given in (("volunteered", volunteered), ("advice", advice)):
                if given is not None:
                    raise InputError(f"{name} cannot be combined with several tasks.", owner="run")
            return cast(Trace, self._run_tasks("run", X, y, times, margins, trace))  # a list, as in earlier versions

    def run_on(self, coins: np.ndarray, X: Any, y: Any, times: Any = None) -> Trace:
        """Play a round for every row of X with random draws that were made elsewhere; its own are not used up."""
        with self._lock:
            return self._run(X, y, times, draws=coins)

    def run_sets(self, X: Any, sets: np.ndarray, times: Any = None) -> Trace:
        """Play a round for every row of X, whose sets of labels are numbers; see :class:`askwhen.MultiLabel`."""
        with self._lock:
            return self._run(X, sets, times)

    def _run(
        self,
        X: Any,
        y: Any,
        times: Any,
        margins: bool = True,
        trace: bool = True,
        volunteered: Any = None,
        draws: np.ndarray | None = None,
        advice: Any = None,
    ) -> Trace:
        engine = self._engine
        if self._tasks:
            raise self._has_tasks("run")
        before, given_X = engine.checkpoint(), X
        try:
            check_same_index("run", X, y)
            given, is_new = X, engine.schema is None
            X = engine.by_name("run", engine.or_nothing("run", X, len(y) if X is None else 1))
            engine.take_kinds(kinds_of(X))
            rows = check_instances("run", X, engine.form)
            names = check_names("run", X, engine.names)
            n, d = shape_of(rows)
            (labels, new, pair), when = self._labels("run", y, n), round_times(engine, "run", times, n)
            if is_new and engine.schema is not None and is_table(given):
                warn_of_labels(given, labels, engine.schema)
            given = check_flags("run", "volunteered", volunteered, n)
            engine.begin("run", "X", d, isinstance(rows, SparseRows))
            every = margins or engine.regression
            batch = RowBatch(rows, labels, every, trace, when, unsolicited=given, draws=draws, new=new)
            with engine.writing(pair):
                played = run(engine, batch) if advice is None else self._run_advised(batch, given_X, y, advice)
        except BaseException:
            engine.restore(before)
            raise
        engine.names = names
        return played

    def _run_advised(self, batch: RowBatch, X: Any, y: Any, advice: Any) -> Trace:
        """Play rows with advice, asking advisers that learn whenever they may have learnt, and others row by row."""
        engine, learning = self._engine, learning_in(advice)
        called = called_in("run", advice, engine)
        if not learning and not called:
            return self._run_with(batch, y, advice)
        labels, n, first = y if isinstance(y, list) else np.asarray(y), len(batch.labels), 0
        for adviser in called.values():
            adviser.check_rows(n, X)
        traces, logged = list[Trace](), {name: list[Any]() for name in (*learning, *called)}
        plain = {name: each for name, each in advice.items() if name not in logged}
        read_rounds("run", plain, engine.advisers, engine, n, batch.new)  # refuse bad rows before anything is called
        while first < n:
            last = first + 1 if called else min(n, first + min(each.rows_to_next_look for each in learning.values()))
            part = part_of_batch(batch, first, last)
            rows = matrix_of(part.rows)
            said = rows_from(plain, first, last) or {}
            said |= {name: asked_about(each, rows, engine) for name, each in learning.items()}
            calls = dict[str, Call]()
            for name, adviser in called.items():
                calls[name] = self._called_row(name, adviser, part, said, X, first)
                said[name] = [calls[name].said]
            for name, each in logged.items():
                each.append(said[name])
            numbers, later, _ = self._labels("run", labels[first:last], last - first)
            part = part._replace(labels=numbers, new=later, keep=True)
            trace = self._run_with(part, labels[first:last], said, list(called))
            note(engine, calls)
            asked = np.flatnonzero(trace.queried)
            for learner in learning.values():
                learner.tell_rows(rows[asked], [labels[first + i] for i in asked.tolist()])
            traces.append(trace)
            first = last
        found = {name: joined_advice(parts, engine) for name, parts in logged.items()}
        return dataclasses.replace(join(traces), advice=found)

    # Six arguments: the row is that of the batch and of X, which may be another form of it.
    def _called_row(self, name: str, adviser: Any, part: RowBatch, said: Any, X: Any, row: int) -> Call:
        """Call an adviser about the one row of a batch, which is this row of X, if that is worth it."""
        engine = self._engine
        others = read_rounds("run", said, engine.advisers, engine, 1)
        now = float(part.times[0]) if len(part.times) else 0.0
        call = consider(engine, name, adviser, part.rows, others, now)
        return made("run", call, name, adviser.say(X, row), engine, adviser) if call.is_made else call

    def _run_with(self, batch: RowBatch, y: Any, advice: Any, called: Sequence[str] = ()) -> Trace:
        """Play rows with advice; new advisers are taken up in the round in which they first say something.

        Those that are called are taken up at once.
        """
        engine, n = self._engine, len(batch.labels)
        said = read_rounds("run", advice, engine.advisers, engine, n, batch.new)
        assert engine.advisers is not None
        new, traces = appearances(said, engine.advisers), list[Trace]()
        first_called = [name for name in called if name not in engine.advisers.names]
        if first_called:
            new[0] = first_called + [name for name in new.get(0, []) if name not in first_called]
        starts = sorted({0, *new})
        for first, last in zip(starts, [*starts[1:], n], strict=True):
            engine.advisers.take_up(new.get(first, []), engine)
            part = batch
            if len(starts) > 1:
                labels, later, _ = self._labels("run", y[first:last], last - first)
                part = part_of_batch(batch, first, last)._replace(labels=labels, new=later)
                said = read_rounds("run", rows_from(advice, first, last), engine.advisers, engine, last - first, later)
            traces.append(run(engine, part._replace(advice=engine.advisers.of_known(said))))
        return join(traces)

    def _labels(self, owner: str, y: Any, n: int) -> tuple[np.ndarray, list[Any], Pair]:
        """Labels as numbers, the new labels that are not a class yet, and how two labels are written."""
        engine = self._engine
        if engine.most:
            return *check_open_labels(owner, engine.places, y, n), engine.pair
        if engine.answers is not None and engine.answers.multi:
            if len(y) != n:
                raise InputError(f"Y must have {n} rows, as many as X, got {len(y)}.", owner=owner)
            return np.asarray(y, float), [], engine.pair
        if engine.classes is not None:
            return check_class_labels(owner, engine.places, y, n), [], engine.pair
        if engine.regression:
            return check_numbers(owner, y, n), [], engine.pair
        signs, pair = signs_of(owner, y, n, engine.pair)
        return signs, [], pair

    def run_tasks(self, X: Any, Y: Any, times: Any = None, margins: bool = True, trace: bool = True) -> list[Trace]:
        """Play several tasks over one stream, one for each column of Y: the same bits as a separate sampler for each.

        The tasks share instances and kernel values, and run in parallel. Task j has seed + j; see ``tasks``. A sampler
        plays either tasks or its own rounds, and always the same number of tasks.

        Parameters
        ----------
        X, times, margins, trace
            As for ``run``.
        Y : matrix
            The labels, a row for each instance and a column for each task, written as for ``run``.

        Returns
        -------
        list of Trace
            The record of every round of each task.

        Examples
        --------
        >>> import numpy as np, askwhen as aw
        >>> X = np.random.default_rng(0).standard_normal((500, 3))
        >>> sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=7)
        >>> traces = sampler.run_tasks(X, np.sign(X))
        >>> len(traces), len(sampler.tasks), all(trace.mistakes < 100 for trace in traces)
        (3, 3, True)
        """
        check_flag("run_tasks", "margins", margins)
        check_flag("run_tasks", "trace", trace)
        with self._lock:
            return self._run_tasks("run_tasks", X, Y, times, margins, trace)

    def _run_tasks(self, owner: str, X: Any, Y: Any, times: Any, margins: bool, trace: bool) -> list[Trace]:
        engine = self._engine
        if engine.classes is not None:
            raise InputError("tasks are for two labels, but this sampler has classes.", owner=owner)
        if engine.volunteered > 0:
            raise InputError(
                "this sampler has already learnt labels as a single task; let each task learn its own.", owner=owner
            )
        if engine.round > 0:
            raise InputError(
                "y must be a vector of labels, since this sampler has already played rounds as a single task.",
                owner=owner,
            )
        check_same_index(owner, X, Y)
        rows = check_instances(owner, X, self._tasks[0]._engine.form if self._tasks else None)
        if dimensions_of(owner, Y) != 2 or np.shape(Y)[1] != (len(self._tasks) or np.shape(Y)[1]) or 0 in np.shape(Y):
            wanted = f"{len(self._tasks)} columns as before" if self._tasks else "at least one column"
            raise InputError(f"y must be a matrix of labels with {wanted}, got shape {np.shape(Y)}.", owner=owner)
        n, columns = shape_of(rows)[0], np.asarray(Y).T
        tasks = self._tasks or self._new_tasks(len(columns))
        found = [task._labels(owner, column, n) for task, column in zip(tasks, columns, strict=True)]
        labels, when = np.column_stack([each[0] for each in found]), round_times(tasks[0]._engine, owner, times, n)
        names = [check_names(owner, X, each.names) for each in (engine, *(task._engine for task in tasks))]
        with contextlib.ExitStack() as held:
            for task in tasks:  # after the lock of this sampler, and always in the same order, so without deadlocks
                held.enter_context(task._lock)
            for task, (_, _, pair) in zip(tasks, found, strict=True):
                held.enter_context(task._engine.writing(pair))
            played = run_tasks(
                [task._engine for task in tasks], rows, labels, margins or engine.regression, trace, when
            )
        self._tasks = tasks
        for each, known in zip((engine, *(task._engine for task in tasks)), names, strict=True):
            each.names = known
        return played

    def _has_tasks(self, owner: str) -> InputError:
        return InputError(f"this sampler has {len(self._tasks)} tasks; use sampler.tasks[j].{owner}.", owner=owner)

    @property
    def tasks(self) -> list[Sampler]:
        """One sampler for each column of labels, after ``run_tasks``; task j has seed + j."""
        return list(self._tasks)

    def margins(self, X: Any, live: bool = False, advice: Any = None) -> np.ndarray:
        """The margins of many instances, without playing a round: positive where the positive label is predicted.

        With classes, a column for each of them.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        live : bool, default False
            True gives each instance the margin that it would have in the next round. By default the margin is that of
            what the model knows for long, which matters to the default learner: in a round it also uses the labels of
            the last rounds and what has just changed, and without further labels these soon mislead.
        advice : dict, optional
            What advisers say, as for ``run``.
        """
        with self._lock:
            if self._tasks:
                raise self._has_tasks("margins")
            try:
                engine = self._engine
                if X is None:
                    X = engine.or_nothing("margins", X, row_count("margins", advice))
                X = engine.by_name("margins", X)
                rows = check_instances("margins", X, engine.form)
                check_names("margins", X, engine.names)
                said = read_rounds("margins", advice, engine.advisers, engine, shape_of(rows)[0])
                return margins_of(engine, rows, live, engine.advisers.of_known(said) if engine.advisers else NO_ADVICE)
            finally:
                if self._engine.learner is None:
                    self._engine.reset_if_unused()

    def predict(self, X: Any, live: bool = False, advice: Any = None) -> np.ndarray:
        """The labels of many instances, as they are written in ``classes``, without asking or playing a round.

        Before the first label was learnt there is nothing to predict from, and the call is refused.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        live : bool, default False
            Whether labels go on coming, see ``margins``.
        advice : dict, optional
            What advisers say, as for ``run``; with advice, there is something to predict from before the first label.
        """
        if self._tasks:
            raise self._has_tasks("predict")
        with self._lock:
            if not advice:
                self._engine.check_learnt("predict")
        with owned_by("predict"):
            p = self.margins(X, live, advice)
        if self._engine.classes is not None:
            return np.asarray(np.array(self._engine.classes)[p.argmax(axis=1)])
        return p if self._engine.regression else self._engine.pair.decode(np.where(p > 0.0, 1, -1))

    def probabilities(self, X: Any, live: bool = False, advice: Any = None) -> np.ndarray:
        """The probability of the positive label for many instances, or of every class, without playing a round.

        A logistic function of the margin, fitted to the labels that were asked for; it follows a drift. Of two labels,
        the one that is predicted is never the less likely one, unless ``costs`` move the boundary. See
        ``ask.certainty`` for the current round.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        live : bool, default False
            Whether labels go on coming, see ``margins``.
        advice : dict, optional
            What advisers say, as for ``run``.
        """
        if self._engine.regression:
            raise InputError("a regressor predicts numbers, which have no probability.", owner="probabilities")
        engine = self._engine
        if self._tasks:
            raise self._has_tasks("probabilities")
        with owned_by("probabilities"):
            p = self.margins(X, live, advice)
        return engine.probabilities(p) if engine.classes is None else engine.shares(p)

    def class_tally(self) -> ClassTally | LabelTally | None:
        """A copy of the sums of every class that :func:`askwhen.evaluate.accuracy` reads; None without classes."""
        with self._lock:
            return None if self._engine.classes is None else self._engine.counted_by_class()

    def tally(self) -> tuple[Tally, int, int, list[Waiting]]:
        """Copies of what :func:`askwhen.evaluate.accuracy` reads: sums, rounds, questions, and the open questions."""
        with self._lock:
            return self._engine.counted()

    def save(self, path: str | os.PathLike[str], *, note: str | None = None) -> None:
        """Write the whole state to a file: weights, random generators, open questions. A crash keeps the old file.

        A note is stored in the header, where ``askwhen.snapshot.read`` finds it.

        Parameters
        ----------
        path : str or path
            The file.
        note : str, optional
            Any text to store in the file.
        """
        with self._lock:
            file_format.write(path, *engine_state.dump(self._engine, [task._engine for task in self._tasks]), note)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None, parts: Iterable[type] = ()) -> Sampler:
        """Load a sampler from a file; it continues exactly where ``save`` left it.

        A file holds no code: a custom ``Kernel`` must be given again here, and so must the classes of your own
        learners, rules and drift detectors, unless an installed package announces them as entry points.

        Parameters
        ----------
        path : str or path
            The file.
        kernel : Kernel, optional
            The custom kernel that it was saved with.
        parts : iterable of classes, optional
            The classes of your own learner, rule or drift detector that it was saved with.
        """
        header, arrays = file_format.read(path)
        engine_state.check_kind(header, "Sampler")
        engines = engine_state.restore(header, arrays, kernel, given=parts)
        return cls.of(engines[0], engines[1:])

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return copy.deepcopy({name: value for name, value in self.__dict__.items() if name != "_lock"})

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=new_lock(self))

    def __copy__(self) -> Sampler:
        """A deep copy: a shallow one would share states that rounds change in place."""
        return copy.deepcopy(self)

    def _open_question(self, owner: str, ask: Ask | int) -> OpenQuestion:
        if self._tasks:
            raise QuestionError(self._has_tasks(owner).sentence, owner=owner)
        return open_question(owner, self._engine.pending, ask)
