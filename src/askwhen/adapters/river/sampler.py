"""river's classifiers under our rules."""

from __future__ import annotations

import copy
import math
import threading
from collections.abc import Iterable
from typing import Any, NoReturn

import numpy as np
from river import base

from ...contracts.sampler import Parts
from ...engine.decider import Decider
from ...engine.inputs.argument_checks import open_question, round_time
from ...engine.inputs.registry import check_parts
from ...engine.promise import Promise
from ...errors import InputError
from ...learners import Perceptron
from ...rules import BudgetRule
from ...system.fork_safe_lock import new_lock
from ...trace.trace import Ask
from ...validation import check_seed
from ...weights.class_slots import TINY


class RiverSampler:
    """A river classifier under one of our rules: predicts every instance, asks for the few labels worth paying for.

    Its margin is the probability of the positive label less that of the negative one; of more than two labels, how far
    the most likely one is above the next. Rounds are played in Python.

    Parameters
    ----------
    classifier : river.base.Classifier
        With ``predict_proba_one``.
    rule : optional
        The rule; by default ``BudgetRule(0.1)``. Rules that need an uncertainty cannot be used.
    labels : (negative, positive), default (False, True)
        The labels, two or more. With two labels the classifier learns False and True, unless it has already learnt
        the labels themselves.
    seed : int, optional
        Random seed.

    Examples
    --------
    >>> import askwhen as aw
    >>> from river import linear_model, preprocessing
    >>> from askwhen.adapters.river import RiverSampler
    >>> model = preprocessing.StandardScaler() | linear_model.LogisticRegression()
    >>> sampler = RiverSampler(model, aw.MarginRule(0.5), seed=1)
    >>> ask = sampler.ask({"a": 1.0, "b": 2.0})
    >>> ask.prediction, ask.probability
    (False, 1.0)
    >>> sampler.tell(ask, True)
    """

    def __init__(
        self, classifier: Any, rule: Any = None, labels: tuple[Any, ...] = (False, True), seed: int | None = None
    ):
        if not isinstance(classifier, base.Classifier) and not hasattr(classifier, "predict_proba_one"):
            raise InputError(
                f"classifier must be one of river's, got {type(classifier).__name__}.", owner="RiverSampler"
            )
        if not isinstance(labels, (tuple, list)) or not 2 <= len(labels) == len(set(labels)):
            raise InputError(f"labels must be two or more different ones, got {labels!r}.", owner="RiverSampler")
        check_seed("RiverSampler", seed)
        rule = rule if rule is not None else BudgetRule(0.1)
        if getattr(rule, "needs_uncertainty", False) or getattr(rule, "by", "margin") == "uncertainty":
            raise InputError(f"{rule!r} needs an uncertainty, which a river classifier lacks.", owner="RiverSampler")
        parts = Parts(Perceptron(), rule)
        check_parts(parts)
        self.classifier = classifier
        self.labels = tuple(labels)
        self._judge = Decider(parts, seed)
        self._judge.labels = len(labels)
        self._begin()
        self._row = np.zeros(1)
        self._lock = new_lock(self, threading.RLock)
        self._by_truth = len(labels) == 2
        self._open: dict[int, tuple[Ask, dict[Any, Any]]] = {}

    def _begin(self) -> None:
        """Start the decider, unless it is started; the first round may have been interrupted before that."""
        if self._judge.learner is None:
            self._judge.begin("RiverSampler", "x", 1, False)

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            state: dict[str, Any] = copy.deepcopy({k: value for k, value in self.__dict__.items() if k != "_lock"})
            return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _lock=new_lock(self, threading.RLock))

    @property
    def classes(self) -> list[Any]:
        """The labels; of two, the negative one first."""
        return list(self.labels)

    def tally(self) -> Any:
        """The tally that ``evaluate.accuracy`` reads, as ``Sampler.tally``."""
        with self._lock:
            return self._judge.counted()

    @property
    def promise(self) -> Promise:
        """What is promised about the delivered labels, with a :class:`askwhen.PromiseRule`, as ``Sampler.promise``."""
        return Promise(self._judge, self._lock, self.labels)

    @property
    def round(self) -> int:
        """Number of rounds played; also the number of the next round."""
        return self._judge.round

    @property
    def questions(self) -> int:
        """Number of labels asked for."""
        return self._judge.questions

    @property
    def pending(self) -> list[Ask]:
        """Open questions, oldest first."""
        return [ask for ask, _ in self._open.values()]

    def ask(self, x: dict[Any, Any], time: Any = None) -> Ask:
        """Play one round: predict x and decide whether its label is worth asking for."""
        with self._lock:
            now = round_time(self._judge, "ask", time)
            self._begin()
            if len(self.labels) > 2:
                best, gap = self._best(x)
                ask = self._judge.decide(self._row, now, max(gap, TINY))._replace(prediction=best)
            else:
                asked = self._judge.decide(self._row, now, self._margin(x))
                ask = asked._replace(prediction=self.labels[1 if asked.margin > 0.0 else 0])
            if ask.query:
                self._open[ask.round] = ask, dict(x)
            return ask

    def _chances(self, x: dict[Any, Any]) -> dict[Any, Any]:
        """The probability of every label that the classifier knows."""
        model = type(self.classifier).__name__
        try:
            return dict(self.classifier.predict_proba_one(x))
        except (NotImplementedError, AttributeError) as error:
            raise InputError(f"{model} gives no probabilities, which a rule needs to decide.", owner="ask") from error

    def _best(self, x: dict[Any, Any]) -> tuple[Any, float]:
        """The most likely label, the first among equals, and how far it is above the next."""
        chances, model = self._chances(x), type(self.classifier).__name__
        if not set(chances) <= set(self.labels):
            raise InputError(f"{model} knows the labels {list(chances)}, which are not {self.labels}.", owner="ask")
        each = [float(chances.get(label, 0.0)) for label in self.labels]
        if not all(map(math.isfinite, each)):
            raise InputError(f"{model} gave the probabilities {chances!r}.", owner="ask")
        second, first = sorted(each)[-2:]
        return self.labels[each.index(first)], first - second

    def _margin(self, x: dict[Any, Any]) -> float:
        """P(+1) - P(-1), by the labels themselves or by False and True."""
        chances, model = self._chances(x), type(self.classifier).__name__
        if not set(chances) <= {False, True}:
            if not set(chances) <= set(self.labels):
                raise InputError(f"{model} knows the labels {list(chances)}, which are not {self.labels}.", owner="ask")
            self._by_truth = False
        negative, positive = (False, True) if self._by_truth else self.labels
        p = float(chances.get(positive, 0.0)) - float(chances.get(negative, 0.0))
        if not math.isfinite(p):
            raise InputError(f"{model} gave the probabilities {chances!r}.", owner="ask")
        return p

    def tell(self, ask: Ask | int, y: Any) -> None:
        """Give the label of a question: the classifier learns it."""
        if y not in self.labels:
            raise InputError(f"y must be one of {self.labels}, got {y!r}.", owner="tell")
        with self._lock:
            asked, x = open_question("tell", self._open, ask)
            self.classifier.learn_one(x, y == self.labels[1] if self._by_truth else y)
            number = asked.round
            right = y == (self.labels[1] if len(self.labels) == 2 else asked.prediction)
            self._judge.settle(number, 1.0 if right else -1.0)
            del self._open[number]

    def forget(self, ask: Ask | int) -> None:
        """Drop a question that will never be answered."""
        with self._lock:
            number = open_question("forget", self._open, ask)[0].round
            self._judge.drop(number)
            del self._open[number]

    def run(self, stream: Iterable[tuple[dict[Any, Any], Any]]) -> dict[str, int]:
        """Play a round for every (x, y), giving each asked label immediately; counts rounds, questions and mistakes."""
        rounds = questions = mistakes = 0
        for x, y in stream:
            ask = self.ask(x)
            rounds += 1
            questions += ask.query
            mistakes += ask.prediction != y
            if ask.query:
                self.tell(ask, y)
        return {"rounds": rounds, "questions": questions, "mistakes": mistakes}

    def save(self, path: Any) -> NoReturn:
        """Raises an error: a snapshot holds arrays only, and a river model is Python objects; pickle the sampler."""
        raise InputError(
            "a river classifier is made of Python objects, which a snapshot does not hold; pickle the sampler.",
            owner="save",
        )
