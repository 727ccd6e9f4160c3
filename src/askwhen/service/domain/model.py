"""The sampler of a stream, made from the stream's settings and used with the stream's own labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...algorithms import algorithm
from ...contracts.sampler import Parts
from ...engine import promise_log
from ...engine.engine import Engine
from ...engine.inputs.advice import ANY, MOST_ADVISERS, check_advisers
from ...engine.inputs.two_labels import Pair
from ...engine.label_spaces import LabelSets
from ...errors import InputError, SnapshotError
from ...learners import Mixture
from ...prepare import Prepare
from ...rules import BudgetRule, PromiseRule
from ...sampler import Sampler
from ...snapshot import engine_state, file_format
from ...trace.trace import RoundResult
from ..events import label_sets, numbers
from ..events.advice import Advice, Said
from ..events.numbers import NUMBERS
from ..events.settings import MOST_OPEN, OPEN, Budget, Settings
from . import row_codec
from .features import kinds_of_features, schema_of_features, schema_of_model

_MOST_WARMING = 20

Guess = tuple[str | None, float | None]
"""A prediction, and the probability that it is right; None where no label is known."""


class Model:
    """A sampler, and the labels of its stream.

    Parameters
    ----------
    settings : Settings
        The settings of the stream.
    sampler : Sampler, optional
        From a snapshot; without it a new one is made.
    pair : list of str, optional
        The labels of a sampler of two, the negative one first; by default those of the settings.

    Attributes
    ----------
    pair : list of str
        The labels of a sampler of two; empty for others.
    sampler : Sampler
        Plays the rounds; it counts them from 0, also where it started in the middle of a log.
    needs_time : bool
        Whether its budget is per period of time, so that rounds need a time.
    has_budget : bool
        Whether a budget decides when it asks, and not a rule of the algorithm.
    is_number : bool
        Whether its labels are numbers.
    has_promise : bool
        Whether it promises a share of errors on the delivered labels, and keeps an account of them.
    """

    def __init__(self, settings: Settings, sampler: Sampler | None = None, pair: Sequence[str] = ()) -> None:
        self._take(build(settings) if sampler is None else sampler)
        self.is_number, self._within = settings.labels == NUMBERS, settings.within or 0.0
        if self.is_number:
            self.sampler.engine.within = settings.within
        is_pair = not self.is_number and self.sampler.engine.classes is None
        self._name(list(pair or settings.labels) if is_pair else [])

    @property
    def is_multi(self) -> bool:
        """Whether several labels may apply at once; they are texts as ``label_sets`` writes them."""
        answers = self.sampler.engine.answers
        return answers is not None and answers.multi

    def _name(self, pair: list[str]) -> None:
        self.pair = pair
        self._values: dict[str, Any] = dict(zip(pair, (-1.0, 1.0), strict=False))
        self._words = {value: label for label, value in self._values.items()}

    def _take(self, sampler: Sampler) -> None:
        self.sampler = sampler
        self.needs_time = sampler.needs_time
        self.has_budget = isinstance(sampler.rule, BudgetRule)
        self.has_promise = isinstance(sampler.rule, PromiseRule)

    def ask(self, x: Any, time: float, decision: Any = None, advice: Advice | None = None) -> RoundResult:
        """Play a round; ``decision`` replaces that of the rule, see ``Sampler.play``."""
        heard = None if advice is None else self._heard(advice)
        return self.sampler.play(x, time if self.needs_time else None, decision, advice=heard)

    def guess(self, x: Any, advice: Advice | None = None) -> Guess:
        """The current prediction for an instance and the probability that it is right, without playing a round."""
        return self.guesses([x], [advice])[0]

    def guesses(self, instances: Sequence[Any], advice: Sequence[Advice | None] = ()) -> list[Guess]:
        """The same for many instances; where any comes with advice, there is an entry for each of them."""
        if self.sampler.classes == [] or not instances:
            return [(None, None)] * len(instances)
        said = self._columns(advice)
        margins = self.sampler.margins(row_codec.stacked(instances), live=True, advice=said)  # also before any label
        engine = self.sampler.engine
        if self.is_number:
            return [(numbers.written(each), None) for each in margins.tolist()]
        if engine.classes is None:
            found = engine.probabilities(margins)
            signs = np.where(margins > 0.0, 1.0, -1.0)
            return [
                (self.word(float(sign)), float(p if sign > 0.0 else 1.0 - p))
                for sign, p in zip(signs, found, strict=True)
            ]
        if self.is_multi:
            names = self.sampler.classes or []
            sets = [[name for name, m in zip(names, row, strict=True) if m > 0.0] for row in margins.tolist()]
            return [(label_sets.written(each), None) for each in sets]
        classes, shares = self.sampler.classes or [], engine.shares(margins).max(axis=1)
        return [(classes[i], float(p)) for i, p in zip(margins.argmax(axis=1), shares, strict=True)]

    @property
    def has_second(self) -> bool:
        """Whether there is a label that is likely besides the prediction: of two labels, it is always the other one."""
        return self.sampler.classes is not None and self.sampler.engine.classes is not None and not self.is_multi

    def second(self, x: Any, prediction: str | None, advice: Advice | None = None) -> str | None:
        """The most likely label of an instance besides the prediction."""
        classes = self.sampler.classes or []
        if len(classes) < 2:
            return None
        margins = self.sampler.margins(row_codec.stacked([x]), live=True, advice=self._columns([advice]))[0]
        first, second = margins.argsort()[:-3:-1]
        return str(classes[second] if classes[first] == prediction else classes[first])

    @property
    def advisers(self) -> list[str]:
        """The advisers that the sampler has an account of."""
        return self.sampler.advisers or []

    def _heard(self, advice: Advice) -> dict[str, Any]:
        """Advice as the sampler takes it.

        Of the advisers of one instance beyond the most that a sampler can have, nothing is heard: more may have come to
        a backlog, where they are not counted, before the first of them is decided.
        """
        known = self.advisers
        new = [name for name in advice if name not in known]
        beyond = new[max(MOST_ADVISERS - len(known), 0) :]
        return {name: self._statement(said) for name, said in advice.items() if name not in beyond}

    def _statement(self, said: Said) -> Any:
        if said.shares is not None:
            return {self.value(label): share for label, share in said.shares.items()}
        label = self.value(said.label or "")
        return label if said.confidence is None else (label, said.confidence)

    def _columns(self, advice: Sequence[Advice | None]) -> dict[str, list[Any]] | None:
        """The advice of many instances by adviser; of advisers who were never heard, nothing can be made of it."""
        known = self.advisers
        spoken = {name for each in advice if each is not None for name in each}
        found = {name: [self._known(each, name) for each in advice] for name in known if name in spoken}
        return found or None

    def _known(self, advice: Advice | None, name: str) -> Any:
        """What an adviser says with labels that the sampler knows; a label may be newer than a copy of the sampler."""
        said = None if advice is None else advice.get(name)
        if said is None:
            return None
        engine, labels = self.sampler.engine, said.shares if said.shares is not None else (said.label or "",)
        is_any = self.is_number or engine.most > 0
        known = is_any or all(label in self._values or label in engine.places for label in labels)
        return self._statement(said) if known else None

    def add_advisers(self, settings: Settings) -> None:
        """Take advice from more advisers from now on, those of other settings."""
        engine, (names, is_open) = self.sampler.engine, check_advisers("stream", settings.advisers)
        if engine.advisers is not None:
            engine.advisers.take_up([name for name in names if name not in engine.advisers.names], engine)
            engine.advisers.is_open = is_open

    def least_certain(self, certainty: float | None) -> float | None:
        """A stored certainty, or if that is larger, the least that the sampler gives to a label it predicts."""
        return None if certainty is None else max(certainty, self.sampler.engine.least_certainty)

    def waits(self, played: int) -> bool:
        """Whether the sampler has this question open."""
        return self.sampler.is_open(played)

    def tell(self, played: int, label: str) -> None:
        """Give the label of an open question to the sampler."""
        self.sampler.tell(played, self.value(label))
        if self.has_promise:
            self.sampler.promise.released()  # the log has them, and a snapshot would store them

    def learn(self, x: Any, label: str) -> None:
        """Learn the label of an instance that the sampler itself has not asked about."""
        if self.is_multi:
            self.sampler.learn(row_codec.stacked([x]), [self.value(label)])
        else:
            self.sampler.learn(x, self.value(label))

    def forget(self, played: int) -> None:
        """Drop an open question."""
        self.sampler.forget(played)

    def held(self) -> set[bytes]:
        """The instances that the sampler stores unchanged, to rank others among them, as bytes."""
        return self.sampler.held_instances()

    def let_go(self, x: Any) -> None:
        """Stop storing an instance."""
        self.sampler.discard_instance(x)

    def value(self, label: str) -> Any:
        """A label as the sampler has it: -1 or +1 where there are two, a number for a set of labels, or the number."""
        if self.is_number:
            return numbers.read(label)
        answers = self.sampler.engine.answers
        if answers is not None and answers.multi:
            return answers.number(label_sets.read(label))
        return self._values.get(label, label)

    def word(self, prediction: Any) -> Any:
        """A prediction as a label of the stream; None while no label is known."""
        if self.is_number:
            return numbers.written(float(prediction))
        if isinstance(prediction, tuple):
            return label_sets.written(prediction)
        return self._words.get(prediction, prediction)

    def differs(self, prediction: str | None, label: str | None) -> bool | None:
        """Whether a prediction is not this label, or farther from it than is allowed; None without a label."""
        if label is None or prediction is None:
            return None if label is None else True
        return numbers.differ(prediction, label, self._within) if self.is_number else label != prediction

    def rename(self, label: str, new: str) -> None:
        """Give a label another name."""
        if self.pair:
            self._name([new if each == label else each for each in self.pair])
        elif label in self.sampler.engine.places:  # an open label is a class only once the model has learnt it
            self.sampler.engine.rename(label, new)
        if self.sampler.engine.advisers is not None:
            self.sampler.engine.advisers.rename(label, new)

    def change_budget(self, settings: Settings, asked: int) -> None:
        """Ask by the budget of other settings from now on; ``asked`` questions were paid so far."""
        self.sampler.engine.change_budget(build(settings).rule, asked)
        self._take(self.sampler)

    def take_account(self, other: Model) -> None:
        """Take over the promise of the model that this one replaces, with what was delivered so far."""
        if self.has_promise:
            promise_log.take_over(self.sampler.engine, other.sampler.engine)

    def dump(self) -> Any:
        """Copy the current model; returns a function that packs the copy, which may run in another thread."""
        header, arrays = engine_state.dump(self.sampler.engine, [])
        copied = {name: np.array(array) for name, array in arrays.items()}
        return lambda: file_format.pack(header, copied)

    def portable(self, settings: Settings) -> bytes:
        """The model as a file for use without the service: it takes what the stream took, and predicts its labels.

        ``aw.load`` reads it, or ``MultiLabel.load`` where several labels may apply.
        """
        engine = self.sampler.engine
        if engine.schema is None and engine.shape.d > 0:
            engine.schema = schema_of_model(settings.features, settings.version)
        if self._words:
            engine.pair = Pair(self._words[-1.0], self._words[1.0])
        header, arrays = engine_state.dump(engine, [])
        if self.is_multi:
            header = {"multi_label": {"labels": self.sampler.classes, "question": "one"}, "model": header}
        return file_format.pack(header, arrays)

    @classmethod
    def load(cls, settings: Settings, content: bytes, pair: Sequence[str] = ()) -> Model:
        """The model of a snapshot."""
        header, arrays = file_format.unpack(content)
        engine_state.check_kind(header, "Sampler")
        (engine,) = engine_state.restore(header, arrays, None)
        if engine.seed is None:
            raise SnapshotError("the snapshot has no seed.", owner="load")
        if engine.schema != schema_of_features(settings.features):
            raise SnapshotError("the snapshot has another schema than the settings of its stream.", owner="load")
        return cls(settings, Sampler.of(engine), pair)


def check_budget_change(before: Settings, after: Settings) -> None:
    """Refuse another budget where the algorithm asks by a rule of its own, and another kind of promise."""
    rules = [build(each).rule for each in (before, after)]
    promises = [each for each in rules if isinstance(each, PromiseRule)]
    if len(promises) == 1:
        raise InputError(
            "a promise of errors is about all labels that were delivered, so it cannot begin or end in the middle of a "
            "stream; make another stream like it.",
            owner="stream",
            parameter="budget",
        )
    if promises and promises[0].confidence != promises[1].confidence:
        raise InputError(
            f"the confidence of a promise cannot be changed; it is {promises[0].confidence:g}.",
            owner="stream",
            parameter="budget",
        )
    if not promises and not all(isinstance(each, BudgetRule) for each in rules):
        raise InputError(
            f"budget cannot be changed, since {before.algorithm} asks by a rule of its own with one of the two; make "
            "another stream like it.",
            owner="stream",
            parameter="budget",
        )


def has_classes(settings: Settings) -> bool:
    """Whether the sampler has several classes."""
    return settings.labels == OPEN or (settings.labels != NUMBERS and len(settings.labels) > 2)


def build(settings: Settings) -> Sampler:
    """A sampler that has played no round."""
    if settings.seed is None:
        raise InputError("the stream has no seed.", owner="stream")
    is_number = settings.labels == NUMBERS
    kind, budget = algorithm("regression" if is_number else settings.algorithm), settings.budget
    prepare = None if settings.raw else Prepare()
    classes: Any = None
    if has_classes(settings):
        classes = OPEN if settings.labels == OPEN else list(settings.labels)
    given: dict[str, Any] = {"prepare": prepare, "seed": settings.seed, "classes": classes}
    if budget is None:
        made = kind.build(settings.letters, **given)
    elif budget.per is None and budget.count is None and budget.errors is None:
        made = kind.build(settings.letters, share=budget.rate, most=budget.most, **given)
    else:
        made = kind.build(settings.letters, share=0.5, **given)
    if made.classes is None and not is_number:
        raise InputError(f'{settings.algorithm} predicts numbers; give "labels": "numbers" with it.', owner="stream")
    rule = made.rule
    if budget is not None and not isinstance(rule, BudgetRule) and budget != Budget(rate=budget.rate):
        raise InputError(
            f"{settings.algorithm} asks by a rule of its own: its budget is a rate alone, and no promise.",
            owner="stream",
            parameter="budget",
        )
    if budget is not None and isinstance(rule, BudgetRule):
        rule = rule_of_budget(budget, settings.within)
    if settings.several:
        return _of_sets(settings, rule, prepare)
    learner = _learner(made.learner, settings)
    how: dict[str, Any] = {"seed": settings.seed, "classes": classes, "most_classes": MOST_OPEN}
    how |= {"schema": schema_of_features(settings.features), "advisers": settings.advisers}
    if settings.advisers is not None and classes is None and not is_number:
        how["labels"] = [-1, 1]  # as advice names them, which may come before any label
    sampler = Sampler(learner, rule, made.drift, prepare, **how)
    sampler.engine.limits_certainty = settings.certainty == 2
    return sampler


def _of_sets(settings: Settings, rule: Any, prepare: Prepare | None) -> Sampler:
    """A sampler of several labels at once."""
    learner = _learner(Mixture(classes=len(settings.labels), multi=True), settings)
    engine = Engine(Parts(learner, rule, None, prepare, None), settings.seed, None, LabelSets(list(settings.labels)))
    schema = schema_of_features(settings.features)
    if schema is not None:
        engine.give_schema(schema)
    engine.limits_certainty = settings.certainty == 2
    return Sampler.of(engine)


def _learner(learner: Any, settings: Settings) -> Any:
    """The learner of a stream; the default one in the stream's version, for its kinds of features."""
    if not isinstance(learner, Mixture):
        return learner
    if settings.version in (None, 1):
        return replace(learner, version=1)
    kinds = kinds_of_features(settings.features)
    return learner if kinds is None else learner.with_kinds(kinds)


def rule_of_budget(budget: Budget, within: float | None = None) -> BudgetRule | PromiseRule:
    """The rule that spends a budget, or keeps a promise; ``within`` is how far numbers may be off."""
    if budget.errors is not None:
        confidence = 0.95 if budget.confidence is None else budget.confidence
        return PromiseRule(budget.errors, confidence, budget.most, budget.rate, within=within)
    by: Any = "margin" if within is None else "uncertainty"
    return BudgetRule(budget.rate, budget.per, budget.count, most=budget.most, by=by)


def warm(settings: Settings) -> None:
    """Compile what rounds of a stream with these settings need; takes seconds where the compiler's cache is empty."""
    model, x = _scratch(settings)
    label = _scratch_label(settings)
    advice = _scratch_advice(settings, label)
    for time in range(_MOST_WARMING):
        ask = model.ask(x, float(time), None, advice).ask
        if ask.query:
            if settings.specialists and model.has_second:
                model.second(x, None, advice)
            model.tell(ask.round, label)
            return


def warm_guesses(settings: Settings) -> None:
    """Compile what ``Model.guess`` needs for a stream with these settings, in addition to its rounds."""
    model, x = _scratch(settings)
    advice = _scratch_advice(settings, _scratch_label(settings))
    model.ask(x, 0.0, None, advice)
    model.guess(x, advice)


def _scratch_label(settings: Settings) -> str:
    label = {OPEN: "a", NUMBERS: "0"}[settings.labels] if isinstance(settings.labels, str) else settings.labels[0]
    return label_sets.written([label]) if settings.several else label


def _scratch_advice(settings: Settings, label: str) -> Advice | None:
    """Advice of two advisers, who are then compared with each other."""
    if settings.advisers is None:
        return None
    names = ["a", "b"] if settings.advisers == ANY else settings.advisers[:2]
    sure = None if settings.labels == NUMBERS else 0.8
    return {name: Said(label, sure) for name in names}


def _scratch(settings: Settings) -> tuple[Model, Any]:
    """A throwaway model for compilation, and an instance for it."""
    x: Any = np.ones(3)
    kinds = kinds_of_features(settings.features)
    is_dense = settings.features.kind == "numbers" or (settings.features.kind == "columns" and kinds is None)
    if not is_dense:
        d = 3 if kinds is None or settings.version in (None, 1) else kinds.d
        x = sp.csr_matrix(([1.0], [0], [0, 1]), (1, d))
    return Model(settings, build(settings)), x
