"""The advisers of an engine: who they are, what they say in a round, and the account of each.

What is said before a round's random draw is written to the learner's state, counted by account, and kept with a
question until its label comes. Rounds that are played one by one and rounds of a run give the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..contracts.learner import State
from ..trace.trace import Ask
from .inputs.advice import SAYS_NOTHING, SILENT, UNKNOWN, Columns, Labels, Statement
from .round.advised import AdvisedState, Given, silence, start_advised, with_size
from .tally.advice_account import Account, Comparison
from .tally.call_count import CallCount

LATER = 1 << 32
"""Numbers below minus this are of labels that have become no class by the end of a run."""

MOST_COMPARED = 10
"""The first so many advisers are compared with each other too."""


class Advised(Labels, Protocol):
    """The attributes of an engine that its advisers read and change."""

    round: int
    learner: State


class Said(NamedTuple):
    """What one adviser said in a round that waits for its label, and how it was counted."""

    adviser: int
    statement: Statement
    at: int
    level: int
    place: int
    levels: int


class Question(NamedTuple):
    """The advice of a question: the number of classes then, what was said, and the comparisons of two advisers."""

    among: int
    said: list[Said]
    pairs: list[tuple[int, int, int, int]]


class Advisers:
    """The advisers by number. ``waiting`` has the advice of open questions, ``calls`` how often who was called."""

    def __init__(self, names: list[str], is_open: bool, labels: Labels) -> None:
        self.names: list[str] = []
        self.is_open = is_open
        self.alone = False
        self.rounds = 0
        self.two = labels.classes is None
        self.several = labels.most > 0 or len(labels.classes or ()) > 2
        self._k = len(labels.classes or ()) if not labels.most else 0
        self._counts = not labels.regression
        self.since: list[int] = []
        self.accounts: list[Account] = []
        self.against: list[Comparison] = []
        self.between: dict[tuple[int, int], Comparison] = {}
        self.waiting: dict[int, Question] = {}
        self.calls: dict[str, CallCount] = {}
        self._now: list[Statement] = []
        self._now_at = 0
        for name in names:
            self.add(name)

    def add(self, name: str) -> None:
        """Take up a new adviser."""
        a = len(self.names)
        self.names.append(name)
        self.since.append(self.rounds)
        if self._counts:
            self.accounts.append(Account(self._k))
            self.against.append(Comparison(self.several))
            if a < MOST_COMPARED:
                self.between |= {(b, a): Comparison(self.several) for b in range(a)}

    def place(self, name: str) -> int:
        """The number of an adviser."""
        return self.names.index(name)

    def wrap(self, base: State, labels: Labels) -> AdvisedState:
        """The state of a learner with these advisers, before the first round."""
        largest = labels.most or len(labels.classes or ())
        several = labels.classes is not None
        return start_advised(base, len(self.names), several, labels.regression, largest)

    def expert_names(self, learner: AdvisedState) -> tuple[str, ...]:
        """The names of the experts on advice."""
        one, together = ([f"c = {1.0 / drift:g}" for drift in each.drift] for each in (learner.own, learner.joint))
        own = [f"adviser {name}, {level}" for name in self.names for level in one]
        return (*own, *(f"all advisers, {level}" for level in together))

    def take_up(self, names: list[str], engine: Advised) -> None:
        """Take up new advisers, also in the learner's state."""
        for name in names:
            self.add(name)
        if names and isinstance(engine.learner, AdvisedState):
            engine.learner = with_size(engine.learner, len(self.names), engine.learner.code.shape[1])

    def say(self, engine: Advised, said: Mapping[str, Statement]) -> None:
        """Write what is said of the next instance to the learner's state."""
        self._now = [said.get(name, SAYS_NOTHING) for name in self.names]
        self._write(engine.learner.given, self._now, 0)

    def _write(self, given: Given, statements: list[Statement], among: int) -> None:
        for a, each in enumerate(statements):
            given.label[0, a], given.p[0, a], given.line[0, a] = each.label, each.p, -1
            if each.line is not None:
                given.line[0, a] = a
                given.lines[a] = 0.0
                given.lines[a, : len(each.line)] = each.line
        given.among[0] = among

    def be_silent(self, engine: Advised) -> None:
        """Remove what was said from the learner's state; all are silent until the next call of ``say``."""
        self._now = []
        if isinstance(engine.learner, AdvisedState):
            given = engine.learner.given
            given.label[:], given.p[:], given.line[:], given.lines[:], given.among[:] = SILENT, 0.0, -1, 0.0, 0

    def after_ask(self, engine: Advised, ask: Ask) -> None:
        """Count the round that was played, and keep its advice if it is a question."""
        self.rounds += 1
        speaking = [(a, each) for a, each in enumerate(self._now) if each.label != SILENT]
        if not speaking:
            return
        P, asked, said = float(ask.probability), bool(ask.query), list[Said]()
        own = self._own_label(engine, ask)
        for a, each in speaking:
            at = level = levels = 0
            place = -1
            if self._counts:
                account, raw = self.accounts[a], self.raw_of(each)
                level = account.count(P, raw, self.is_positive(each), asked, stated_of(each))
                account.count_class(each.label, P, level, asked)
                at = account.at
                place, levels = self.against[a].count(float(ask.margin), raw, self._differs(own, each), P, asked)
            said.append(Said(a, each, at, level, place, levels))
        pairs = []
        for i, (a, one) in enumerate(speaking):
            for b, other in speaking[i + 1 :]:
                if (a, b) in self.between:
                    differs = one.word != other.word if one.label == UNKNOWN else one.label != other.label
                    found = self.between[a, b].count(self.raw_of(one), self.raw_of(other), differs, P, asked)
                    pairs.append((a, b, *found))
        if asked:
            k = len(engine.classes or ())
            self.waiting[ask.round] = Question(k, said, pairs)

    def _own_label(self, engine: Advised, ask: Ask) -> int:
        """The number of the label that the sampler predicts itself."""
        if self.two:
            return int(ask.margin > 0.0)
        return -1 if ask.prediction is None else engine.places[ask.prediction]

    def _differs(self, own: int, each: Statement) -> bool:
        return own != each.label

    def raw_of(self, each: Statement) -> float:
        """The log odds that are stated, which the model of mistakes reads; with a sign if there are two labels."""
        raw = 2.0 if each.p != each.p else log_odds(each.p)
        return raw if not self.two or each.label == 1 else -raw

    def is_positive(self, each: Statement) -> bool:
        """The side on which a statement is counted."""
        return each.label == 1 if self.two else True

    def before_tell(self, engine: Advised, number: int) -> None:
        """Write the advice of a question to the learner's state again."""
        question = self.waiting.get(number)
        if question is None:
            return
        statements = [SAYS_NOTHING] * len(self.names)
        for each in question.said:
            statements[each.adviser] = each.statement
        self._write(engine.learner.given, statements, question.among)

    def after_tell(self, engine: Advised, ask: Ask, y: float) -> None:
        """Count the label of a question."""
        self.be_silent(engine)
        question = self.waiting.pop(ask.round, None)
        if question is None or not self._counts:
            return
        P, label = float(ask.probability), int(y > 0.0) if self.two else int(y)
        own_wrong = self._own_label(engine, ask) != label
        wrong = dict[int, bool]()
        for each in question.said:
            statement = each.statement
            said = engine.places.get(statement.word, UNKNOWN) if engine.most else statement.label
            wrong[each.adviser] = said != label
            account = self.accounts[each.adviser]
            ago = account.at - each.at + 1
            mark = (self.raw_of(statement), each.level, self.is_positive(statement), wrong[each.adviser])
            account.settle(ago, P, *mark, stated_of(statement))
            account.settle_class(statement.label, label, P, each.level)
            if each.place >= 0:
                self.against[each.adviser].settle(each.place, each.levels, P, own_wrong, wrong[each.adviser])
        for a, b, place, levels in question.pairs:
            if place >= 0:
                self.between[a, b].settle(place, levels, P, wrong[a], wrong[b])

    def rename(self, label: Any, new: Any) -> None:
        """Give a label another name, also where an adviser named it in a question that is still open."""
        for question in self.waiting.values():
            question.said[:] = [
                each._replace(statement=each.statement._replace(word=new)) if each.statement.word == label else each
                for each in question.said
            ]

    def forget(self, number: int, P: float) -> None:
        """Count a question that will never be answered."""
        question = self.waiting.pop(number, None)
        if question is None or not self._counts:
            return
        for each in question.said:
            account = self.accounts[each.adviser]
            account.forget(account.at - each.at + 1, P, each.level, self.is_positive(each.statement))
            account.doubt_class(each.statement.label, P, each.level)
            if each.place >= 0:
                self.against[each.adviser].forget(each.place, each.levels, P)
        for a, b, place, levels in question.pairs:
            if place >= 0:
                self.between[a, b].forget(place, levels, P)

    def of_known(self, said: Mapping[str, Columns]) -> dict[str, Columns]:
        """What those say who were taken up; others have said nothing so far."""
        return {name: each for name, each in said.items() if name in self.names}

    def hand_over(self, engine: Advised, given: Given | None) -> None:
        """Let the learner read the advice of some rounds; None for silence."""
        learner = engine.learner
        if isinstance(learner, AdvisedState):
            found = silence(*learner.code.shape) if given is None else given
            engine.learner = learner._replace(given=found)

    def given_rows(self, learner: AdvisedState, columns: Mapping[str, Columns], n: int, places: np.ndarray) -> Given:
        """The advice of n rows, as compiled steps read it."""
        A = len(self.names)
        found = Given(
            np.full((n, A), SILENT),
            np.zeros((n, A)),
            np.full((n, A), -1),
            np.zeros((0, learner.code.shape[1])),
            np.zeros(n, np.int64),
            places,
        )
        lines = [found.lines]
        for name, said in columns.items():
            a = self.place(name)
            found.label[:, a], found.p[:, a] = said.label, said.p
            found.line[:, a] = np.where(said.line >= 0, said.line + sum(map(len, lines)), -1)
            lines.append(said.lines)
        width = max(each.shape[1] for each in lines)
        joined = np.zeros((sum(map(len, lines)), width))
        first = 0
        for each in lines:
            joined[first : first + len(each), : each.shape[1]] = each
            first += len(each)
        return found._replace(lines=joined)

    def count_run(self, given: Given, labels: np.ndarray, record: Any) -> None:
        """Count the rounds of a run, whose labels came at once."""
        self.rounds += len(labels)
        if not self._counts:
            return
        y = (labels > 0.0).astype(np.int64) if self.two else labels.astype(np.int64)
        own = (record.prediction > 0).astype(np.int64) if self.two else record.best
        if len(given.places):  # with open classes, labels are numbered as they come, and their classes as they are told
            classes = np.where(given.places >= 0, given.places, -2 - LATER - np.arange(len(given.places)))
            y = classes[y]
            named = np.where(given.label >= 0, classes[np.maximum(given.label, 0)], given.label)
            given = given._replace(label=named)
        P, asked = record.probability, record.queried
        said, raw = given.label != SILENT, self._raw_of_rows(given)
        wrong, own_wrong = given.label != y[:, None], own != y

        def cut(a: np.ndarray, *arrays: np.ndarray) -> list[np.ndarray]:
            return [np.ascontiguousarray(each[a]) for each in arrays]

        for a, account in enumerate(self.accounts):
            here = said[:, a]
            if not here.any():
                continue
            label, p = given.label[:, a], given.p[:, a]
            differs = own != label
            rows = cut(here, P, raw[:, a], label, asked, wrong[:, a], y, p)
            account.note(self.two, *rows)
            pair = (record.margin, raw[:, a], differs, P, asked, asked, own_wrong, wrong[:, a])
            self.against[a].note(*cut(here, *pair))
        for (a, b), between in self.between.items():
            here = said[:, a] & said[:, b]
            if here.any():
                differs = given.label[:, a] != given.label[:, b]
                between.note(*cut(here, raw[:, a], raw[:, b], differs, P, asked, asked, wrong[:, a], wrong[:, b]))

    def _raw_of_rows(self, given: Given) -> np.ndarray:
        """What ``raw_of`` gives for each statement of many rounds."""
        known = dict[float, float]()
        flat = given.p.ravel().tolist()
        raw = np.array([2.0 if p != p else known.get(p) or known.setdefault(p, log_odds(p)) for p in flat])
        raw = raw.reshape(given.p.shape)
        return np.where(given.label == 1, raw, -raw) if self.two else raw


def log_odds(p: float) -> float:
    """The log odds of a stated probability, clipped to +-4."""
    if not 0.0 < p < 1.0:
        return 4.0 if p > 0.5 else -4.0
    return min(max(math.log(p / (1.0 - p)), -4.0), 4.0)


def stated_of(each: Statement) -> float:
    """The stated probability of the label that is named; NaN where none is stated."""
    return each.p


__all__ = ["Advisers", "Question", "Said", "silence"]
