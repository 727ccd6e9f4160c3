"""The sampler for several labels, any of which may apply to an instance; one question for all, or one for each."""

from __future__ import annotations

import copy
import os
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from .contracts.abilities import ViewLearner, is_multi, provides
from .contracts.learner import Learner
from .contracts.rule import Rule
from .contracts.sampler import Parts
from .engine.engine import Engine, Waiting
from .engine.inputs.argument_checks import check_classes, check_label_set, check_label_sets, open_question
from .engine.inputs.registry import check_parts
from .engine.label_spaces import LabelSets
from .engine.promise import Promise
from .engine.tally.label_tally import LabelTally
from .engine.tally.round_tally import Tally
from .errors import InputError, SnapshotError, owned_by
from .learners import Mixture
from .prepare import Prepare
from .rules import Audit, BudgetRule, PromiseRule
from .sampler import Sampler
from .snapshot import engine_state, file_format
from .snapshot.header import UNREADABLE
from .validation import check_choice, check_seed, short
from .weights.class_slots import MOST_LABELS
from .weights.kernels import Kernel

ONE, EACH = "one", "each"


class MultiLabel:
    """Predicts which of several labels apply to an instance, and asks for the few answers worth paying for.

    Parameters
    ----------
    labels : list
        Two to 52 different labels, strings or numbers.
    learner, rule, prepare, audit, seed : optional
        As in :class:`askwhen.Sampler`, with the same defaults.
    question : {"one", "each"}, default "one"
        "one" asks for all labels of an instance at once, depending on the label with the smallest margin; the budget
        counts such questions. "each" asks about every label separately, with a budget for each: one sampler for each
        label, whose seeds are seed, seed + 1, ...

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 4))
    >>> Y = X[:, :3] > 0.5
    >>> sampler = aw.MultiLabel(["sport", "politics", "local"], seed=7)
    >>> trace = sampler.run(X, Y)
    >>> trace.questions <= 330
    True
    >>> ask = sampler.ask([2.0, -1.0, 2.0, 0.0])
    >>> ask.prediction
    ('sport', 'local')
    >>> if ask.query:
    ...     sampler.tell(ask, ["sport", "local"])
    >>> sampler.predict(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        labels: Any,
        learner: Learner | None = None,
        rule: Rule | None = None,
        prepare: Prepare | None = None,
        audit: Audit | None = None,
        seed: int | None = None,
        question: str = ONE,
    ) -> None:
        names = check_classes("MultiLabel", labels, "labels")
        check_choice("MultiLabel", "question", question, (ONE, EACH))
        check_seed("MultiLabel", seed)
        if len(names) > MOST_LABELS:
            raise InputError(f"labels must be at most {MOST_LABELS}, got {len(names)}.", owner="MultiLabel")
        if learner is None:
            learner = Mixture(classes=len(names), multi=True) if question == ONE else Mixture()
            prepare = Prepare() if prepare is None else prepare
        elif question == ONE and provides(learner, ViewLearner) and not is_multi(learner):
            raise InputError(f"{short(learner)} is for two labels; leave it out.", owner="MultiLabel")
        if learner.regression:
            raise InputError(f"needs a classifier, got the regressor {short(learner)}.", owner="MultiLabel")
        if question == EACH and isinstance(rule, PromiseRule):
            raise InputError(
                'a promise is about whole items; leave question="each" out, so that one question serves all labels.',
                owner="MultiLabel",
            )
        parts = Parts(learner, BudgetRule(0.1) if rule is None else rule, None, prepare, audit)
        check_parts(parts)
        self._labels, self._question = names, question
        if question == ONE:
            self._sampler = Sampler.of(Engine(parts, None if seed is None else int(seed), None, LabelSets(names)))
        else:
            self._sampler = Sampler(*parts, seed=seed)
            self._sampler.begin_tasks(len(names))

    def __repr__(self) -> str:
        parts = ", ".join(short(part) for part in self._sampler.parts if part is not None)
        return f"<MultiLabel({len(self._labels)} labels, {parts}, {self._question} question) in round {self.round}>"

    @property
    def labels(self) -> list[Any]:
        """The labels."""
        return list(self._labels)

    @property
    def classes(self) -> list[Any]:
        """The labels, under the name that other samplers use."""
        return list(self._labels)

    @property
    def question(self) -> str:
        """Whether there is "one" question for all labels, or one for "each"."""
        return self._question

    @property
    def tasks(self) -> dict[Any, Sampler]:
        """The sampler of every label, if each has its own question; else empty."""
        return dict(zip(self._labels, self._sampler.tasks, strict=True)) if self._sampler.tasks else {}

    @property
    def parts(self) -> Parts:
        """All parameters: learner, rule, drift detector, preparation and audit."""
        return self._sampler.parts

    @property
    def rule(self) -> Any:
        """The rule's parameters."""
        return self._sampler.rule

    @property
    def promise(self) -> Promise:
        """What is promised about the delivered labels, with a ``PromiseRule``: a label set is wrong if any label is."""
        return self._sampler.promise

    @property
    def round(self) -> int:
        """Number of rounds played so far; also the number of the next one."""
        return (self._sampler.tasks or [self._sampler])[0].round

    @property
    def questions(self) -> int:
        """Number of questions asked so far, summed over the labels if each has its own."""
        return sum(sampler.questions for sampler in self._sampler.tasks or [self._sampler])

    @property
    def pending(self) -> Any:
        """The open questions: a list, or a dict with a list for each label."""
        if self._question == ONE:
            return self._sampler.pending
        return {label: task.pending for label, task in self.tasks.items()}

    def ask(self, x: Any, time: Any = None) -> Any:
        """Play one round: predict x and decide what is worth asking for.

        Returns an :class:`askwhen.Ask` whose prediction is a tuple of labels; with a question for each label, a dict
        of one for every label, whose prediction is -1 or +1.

        Parameters
        ----------
        x : array or one row of a CSR matrix
            The instance.
        time : float or date, optional
            Time of the instance, for a budget per period of time; never earlier than the last one.
        """
        if self._question == ONE:
            return self._sampler.ask(x, time)
        for task in self.tasks.values():
            task.check(x, time)  # if one task would refuse the instance, none must play it
        return {label: task.ask(x, time) for label, task in self.tasks.items()}

    def tell(self, ask: Any, labels: Any) -> None:
        """Give the labels that apply, as a list or a set; with a question for each label, only asked ones are learnt.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        labels : list or set
            Those that apply; may be empty.
        """
        label_set = check_label_set("tell", self._places, labels)
        if self._question == ONE:
            self._sampler.tell(ask, label_set)
            return
        if not isinstance(ask, Mapping):
            raise InputError("ask must be what ask returned, a question for each label.", owner="tell")
        for label, each in ask.items():  # check all first, so that either all tasks take their answers or none does
            if each.query:
                open_question("tell", self.tasks[label].engine.pending, each)
        for label, each in ask.items():
            if each.query:
                self.tasks[label].tell(each, 1 if label_set >> self._places[label] & 1 else -1)

    def forget(self, ask: Any) -> None:
        """Drop a question that will never be answered.

        Parameters
        ----------
        ask : Ask or int
            What ``ask`` returned, or the number of its round.
        """
        if self._question == ONE:
            self._sampler.forget(ask)
            return
        for label, each in ask.items():
            if each.query:
                self.tasks[label].forget(each)

    @property
    def _places(self) -> dict[Any, int]:
        return {label: k for k, label in enumerate(self._labels)}

    def run(self, X: Any, Y: Any, times: Any = None) -> Any:
        """Play a round for every row of X, and learn each asked answer at once.

        Parameters
        ----------
        X, times
            As for ``Sampler.run``.
        Y : matrix or list
            For each row a column of truth values, or 0 and 1, for every label; or a list of those labels that apply.

        Returns
        -------
        Trace
            With a matrix of predictions; a round counts as a mistake if any label was wrong. With a question for each
            label, a dict with a trace for every label.
        """
        columns = getattr(Y, "columns", None)
        if columns is not None:  # the columns of a table are matched by name
            if sorted(map(str, columns)) != sorted(map(str, self._labels)):
                raise InputError(f"Y must have the columns {self._labels}, got {list(columns)}.", owner="run")
            named = {str(name): name for name in columns}
            Y = Y[[named[str(label)] for label in self._labels]].to_numpy()
        sets = check_label_sets("run", self._places, Y)
        if self._question == ONE:
            return self._sampler.run_sets(X, sets, times)
        signs = np.where((sets[:, None] >> np.arange(len(self._labels))) & 1, 1.0, -1.0)
        return dict(zip(self._labels, self._sampler.run_tasks(X, signs, times), strict=True))

    def margins(self, X: Any) -> np.ndarray:
        """The margins of many instances, a column for each label: positive where it is predicted.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        """
        if self._question == ONE:
            return self._sampler.margins(X)
        return np.column_stack([task.margins(X) for task in self._sampler.tasks])

    def predict(self, X: Any) -> np.ndarray:
        """Predict the labels of many instances: True or False in a column for each label.

        Parameters
        ----------
        X : array, CSR or table
            Instances, a row each.
        """
        tasks = [self._sampler] if self._question == ONE else list(self.tasks.values())
        if not all(task.engine.has_learnt for task in tasks):
            raise InputError("nothing was learnt yet; give labels first, by tell or run.", owner="predict")
        with owned_by("predict"):
            return self.margins(X) > 0.0

    def tally(self) -> tuple[Tally, int, int, list[Waiting]]:
        """Copies of the sums that :func:`askwhen.evaluate.accuracy` reads; a round is right if all its labels are."""
        return self._sampler.tally()

    def class_tally(self) -> LabelTally:
        """A copy of the sums of every label that :func:`askwhen.evaluate.accuracy` reads."""
        return self._sampler.class_tally()  # type: ignore[return-value]

    def save(self, path: str | os.PathLike[str], *, note: str | None = None) -> None:
        """Write the whole state to a file, and a note, as ``Sampler.save`` does.

        Parameters
        ----------
        path : str or path
            The file.
        note : str, optional
            Any text to store in the file.
        """
        with self._sampler.turn:
            tasks = [task.engine for task in self._sampler.tasks]
            header, arrays = engine_state.dump(self._sampler.engine, tasks)
        about = {"labels": self._labels, "question": self._question}
        file_format.write(path, {"multi_label": about, "model": header}, arrays, note)

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], *, kernel: Kernel | None = None, parts: Iterable[type] = ()
    ) -> MultiLabel:
        """Load from a file; it continues exactly where ``save`` left it; see ``Sampler.load``.

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
        try:
            engine_state.check_kind(header, "MultiLabel")
            about = header["multi_label"]
            made = cls.__new__(cls)
            made._labels, made._question = check_classes("load", about["labels"]), about["question"]
            engine, *tasks = engine_state.restore(header["model"], arrays, kernel, given=parts)
            one = isinstance(engine.answers, LabelSets) and engine.answers.names == made._labels and not tasks
            each = engine.answers is None and len(tasks) == len(made._labels)
            if not (one if made._question == ONE else made._question == EACH and each):
                raise SnapshotError("the snapshot's labels contradict each other.", owner="load")
            made._sampler = Sampler.of(engine, tasks)
            return made
        except SnapshotError:
            raise
        except UNREADABLE as error:
            raise SnapshotError(
                "the file does not hold a MultiLabel that this version can read.", owner="load"
            ) from error

    def __copy__(self) -> MultiLabel:
        """A deep copy: a shallow one would share states that rounds change in place."""
        return copy.deepcopy(self)
