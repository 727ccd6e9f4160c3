"""What a sampler promises: its certificate now, by class and by period, and what it would take to meet the promise."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np

from ..betting import HALVINGS, LEVELS, PLACES, STANDARD, all_unasked, log_weights
from ..contracts.rule import Rule
from ..errors import InputError
from ..rules.promise import PromiseRule
from ..rules.promise_account import (
    ANSWERED,
    ASKED,
    CORRECTED,
    DELIVERED,
    ERROR,
    EXPECTED,
    GIVEN,
    REPLACED,
    ROUNDS,
    UNASKED,
    WITHHELD,
    PromiseState,
    most_wrong,
    refresh,
    wealth_logs,
)
from ..rules.promise_policy import planned_questions
from ..trace.trace import Ask
from ..validation import check_number
from .engine import Engine
from .promise_book import Period, PromiseBook
from .promise_log import correct_answer, replace_prediction
from .tally import class_tally, round_tally

_LEAST_UNASKED = 50
"""Number of labels delivered without asking from which on the number of further questions can be foreseen."""

_LEAST_DELIVERED = 100
"""Number of delivered labels from which on the share of a class is spoken of."""


@dataclass(frozen=True)
class Certificate:
    """How many of some delivered labels may be wrong.

    Attributes
    ----------
    delivered : int
        Number of labels delivered.
    asked : int
        Number of those that a person gave.
    certified : float
        At most this share of them is wrong, with the given confidence; 1 where nothing was delivered.
    confidence : float
        The probability with which that holds at all times.
    """

    delivered: int
    asked: int
    certified: float
    confidence: float

    def __str__(self) -> str:
        share, sure = f"{100 * self.certified:.1f} %", f"{100 * self.confidence:.4g} % confidence"
        return f"{self.delivered:,} labels delivered, {self.asked:,} by you; at most {share} of them are wrong, {sure}"


class Promise:
    """The promise of a sampler whose rule is a :class:`askwhen.PromiseRule`, as it stands now.

    Made by ``sampler.promise``. Every attribute is that of the moment at which it is read.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 5))
    >>> sampler = aw.Sampler(rule=aw.PromiseRule(0.1), seed=7)
    >>> trace = sampler.run(X, np.where(X[:, 0] > 0, "spam", "ham"))
    >>> sampler.promise.is_met, sampler.promise.delivered, sampler.promise.asked == trace.questions
    (True, 3000, True)
    >>> sorted(sampler.promise.classes)
    ['ham', 'spam']
    """

    def __init__(self, engine: Engine, lock: Any, labels: Sequence[Any] | None = None) -> None:
        if engine.promise is None:
            raise InputError("there is none; give the sampler rule=PromiseRule(...).", owner="promise")
        self._engine, self._lock = engine, lock
        self._labels = None if labels is None else tuple(labels)  # where the engine only knows right and wrong

    def __repr__(self) -> str:
        return f"<Promise of {100 * self.error:g} % errors: {self.certificate}>"

    @property
    def _state(self) -> PromiseState:
        return cast(PromiseState, self._engine.rule)

    @property
    def _book(self) -> PromiseBook:
        return cast(PromiseBook, self._engine.promise)

    def _count(self, which: int) -> int:
        return int(self._state.sums[which])

    @property
    def error(self) -> float:
        """The largest share of wrong labels that is promised."""
        return float(self._state.sums[ERROR])

    @property
    def confidence(self) -> float:
        """The probability with which the promise holds at all times."""
        return cast(PromiseRule, self._engine.parts.rule).confidence

    @property
    def delivered(self) -> int:
        """Number of labels delivered: predictions that were not asked about, and answers."""
        return self._count(DELIVERED)

    @property
    def asked(self) -> int:
        """Number of questions asked."""
        return self._count(ASKED)

    @property
    def answered(self) -> int:
        """Number of questions answered, whose answers were delivered."""
        return self._count(ANSWERED)

    @property
    def waiting(self) -> int:
        """Number of instances that are not delivered since their questions wait for an answer, or were dropped."""
        return self._count(ASKED) - self._count(ANSWERED)

    @property
    def withheld(self) -> int:
        """Number of instances that are not delivered since they could be neither asked about nor certified."""
        return self._count(WITHHELD)

    @property
    def coverage(self) -> float:
        """The share of the instances that have a delivered label."""
        return self.delivered / max(self._count(ROUNDS), 1)

    @property
    def corrected(self) -> int:
        """Number of corrections; those of answers may lift the certificate above the promise."""
        return self._count(CORRECTED)

    @property
    def certificate(self) -> Certificate:
        """Labels delivered, those by people, and the largest share of them that may be wrong."""
        with self._lock:
            state = self._state
            alpha = 1.0 - self.confidence
            return _certificate(wealth_logs(state), state.weights, state.sums, alpha)

    @property
    def certified(self) -> float:
        """The largest share of the delivered labels that may be wrong, with the given confidence."""
        return self.certificate.certified

    @property
    def is_met(self) -> bool:
        """Whether the certificate is within the promise; true before anything was delivered."""
        return self.delivered == 0 or self.certified <= self.error

    @property
    def estimated(self) -> float | None:
        """Estimate of the share of delivered labels that are wrong; None before anything was delivered."""
        sums = self._state.sums
        wrong = max(float(sums[EXPECTED] - sums[REPLACED]), 0.0)
        return min(wrong / float(sums[DELIVERED]), 1.0) if sums[DELIVERED] else None

    @property
    def needed(self) -> int:
        """Number of answers, of questions that are certain to be asked, after which the promise would be met."""
        found = self.certificate
        wrong = round(found.certified * found.delivered)
        if self.is_met:
            return 0
        return max(math.ceil(wrong / self.error - 1e-9) - found.delivered, 1)

    def expected_questions(self, rounds: int) -> float | None:
        """About how many of so many further rounds will be asked about, if they are like the last 2,000.

        None as long as nearly everything is asked about.
        """
        with self._lock:
            if self._state.sums[UNASKED] < _LEAST_UNASKED:
                return None
            return planned_questions(self._state, float(rounds)) if rounds > 0 else 0.0

    @property
    def classes(self) -> dict[Any, Certificate]:
        """For each label, how many of the delivered labels that say so may be wrong, each with the same confidence.

        Empty for numbers, and where several labels apply at once.
        """
        engine = self._engine
        if engine.regression or (engine.answers is not None and engine.answers.multi):
            return {}
        if self._labels is not None and len(self._labels) > 2:
            return {}
        with self._lock:
            found = _sides(engine) if engine.answers is None else _classes(engine)
        if self._labels is not None:
            found = dict(zip(self._labels, found.values(), strict=True))
        return {label: _class_certificate(*each, self.confidence) for label, each in found.items()}

    @property
    def warning(self) -> str | None:
        """A sentence where the promise could be kept although every label of some class is wrong; else None."""
        found = {label: each.delivered for label, each in self.classes.items()}
        total = sum(found.values())
        if total < max(_LEAST_DELIVERED, 1):
            return None
        rarest = min(found, key=lambda label: found[label])
        share = found[rarest] / total
        if share >= self.error:
            return None
        return (
            f"{rarest!r} is {100 * share:.2g} % of the labels: a promise of {100 * self.error:g} % errors says little "
            f"about it; promise less than its share, or look at the certificate of each class."
        )

    def released(self) -> list[tuple[int, Any]]:
        """The labels of questions that were answered late, as (round, label), since the last call.

        The last 10,000 are kept. What was withheld is not among them: ask about such an instance again later.
        """
        if self._labels is not None and len(self._labels) > 2:
            raise InputError("this sampler does not keep labels; keep those that you tell.", owner="released")
        with self._lock:
            found = [(number, self._label(y)) for number, y in self._book.released]
            self._book.released.clear()
        return found

    def _label(self, y: float) -> Any:
        engine = self._engine
        if engine.regression:
            return y
        if self._labels is not None:
            return self._labels[int(y > 0.0)]
        return engine.pair[int(y > 0.0)] if engine.answers is None else engine.answers.decode(int(y))

    def begin_period(self, name: str) -> None:
        """Begin an account for the rounds from now on, such as a month or a batch; see ``periods``."""
        with self._lock:
            self._book.begin_period(name, self._engine.round, self._state)

    @property
    def periods(self) -> dict[str, Certificate]:
        """The certificate of each period from its beginning until now.

        All of them hold together with the given confidence: the k-th has the confidence 1 - alpha / (k (k + 1)).
        """
        with self._lock:
            return {each.name: self._of_period(k, each) for k, each in enumerate(self._book.periods, 1)}

    def _of_period(self, k: int, period: Period) -> Certificate:
        state = self._state
        alpha = (1.0 - self.confidence) / (k * (k + 1))
        return _certificate(wealth_logs(state) - period.logs, state.weights, state.sums - period.sums, alpha)

    def change(self, error: float) -> None:
        """Promise another share of errors from now on; what has been certified so far still counts."""
        check_number("change", "error", error, "a share between 0 and 1", 0.0, 1.0, open_high=True)
        with self._lock:
            engine = self._engine
            rule = replace(cast(PromiseRule, engine.parts.rule), error=float(error))
            engine.parts = engine.parts._replace(rule=cast(Rule, rule))
            self._state.sums[ERROR] = error
            refresh(self._state)

    def correct(self, ask: Ask, was: Any, now: Any) -> None:
        """Replace a delivered label that was found to be wrong.

        An answer is exchanged in the account, after which the certificate may exceed the promise until more labels
        are delivered. A prediction that was delivered without asking is counted as replaced: it is no longer wrong.

        Parameters
        ----------
        ask : Ask
            What ``ask`` returned for the instance.
        was, now : label
            The label delivered so far, and the right one.
        """
        with self._lock:
            state, before = self._state, (wealth_logs(self._state), self._state.sums.copy())
            if ask.withheld or ask.expected is None:
                raise InputError("ask has no delivered label; give the Ask of a delivered one.", owner="correct")
            if ask.query and self._engine.pending.get(ask.round) is not None:
                raise InputError(f"the question of round {ask.round} waits for its answer; use tell.", owner="correct")
            before_it, then = self._is_wrong(ask, was), self._is_wrong(ask, now)
            if ask.query:
                correct_answer(self._engine, ask.probability, ask.expected, before_it, then)
            else:
                replace_prediction(self._engine, then - before_it, then - before_it)
            self._book.adjust(ask.round, wealth_logs(state) - before[0], state.sums - before[1])

    def _is_wrong(self, ask: Ask, label: Any) -> bool:
        within = self._state.within
        return abs(ask.margin - label) > within if within else bool(label != ask.prediction)


def _certificate(logs: np.ndarray, weights: np.ndarray, sums: np.ndarray, alpha: float) -> Certificate:
    wrong = most_wrong(logs, weights, alpha, float(sums[UNASKED])) - float(sums[REPLACED])
    delivered = int(sums[DELIVERED])
    share = min(max(wrong, 0.0) / delivered, 1.0) if delivered else 1.0
    return Certificate(delivered, int(sums[[ANSWERED, GIVEN, REPLACED]].sum()), share, 1.0 - alpha)


_OfClass = tuple[np.ndarray, float, float, float]
"""L, and the numbers of unasked labels, of delivered ones and of answers."""


def _class_certificate(
    logs: np.ndarray, unasked: float, delivered: float, answered: float, confidence: float
) -> Certificate:
    wrong = most_wrong(logs, log_weights(STANDARD[:HALVINGS]), 1.0 - confidence, unasked)
    share = min(wrong / delivered, 1.0) if delivered else 1.0
    return Certificate(int(delivered), int(answered), share, confidence)


def _unasked(cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What unasked rounds add to L, a row for each class, and their number; withheld ones have the last place."""
    table = all_unasked(STANDARD)[: PLACES - 1, :, :HALVINGS].reshape(-1, HALVINGS)
    seen = cells.reshape(len(cells), PLACES, LEVELS)[:, :-1].reshape(len(cells), -1)
    return -(seen @ table), seen.sum(axis=1)


def _sides(engine: Engine) -> dict[Any, _OfClass]:
    """For two labels: by the predicted one, from the tally."""
    tally, _, _, waiting = engine.counted()
    cells = tally.cells + tally.now.reshape(2, -1)
    sums = tally.sums + tally.fresh
    logs = (tally.logs + tally.carried + np.log(tally.product))[:, :HALVINGS]
    doubts = sums[:, round_tally.FORGOTTEN].copy()
    for _, chance, level, positive in waiting:
        logs[int(positive)] += round_tally.doubted(tally, np.array([chance]), np.array([level]))[0, :HALVINGS]
        doubts[int(positive)] += 1.0
    seen, mistakes = sums[:, round_tally.ANSWERED], sums[:, round_tally.MISTAKES]
    uncounted = sums[:, round_tally.CERTAIN]
    L, unasked = _unasked(cells)
    c = STANDARD[:HALVINGS]
    L = L + logs + np.outer(mistakes - uncounted + doubts, c)
    answers = seen - mistakes + mistakes[::-1]
    return {engine.pair[s]: (L[s], unasked[s], unasked[s] + answers[s], answers[s]) for s in (0, 1)}


def _classes(engine: Engine) -> dict[Any, _OfClass]:
    """For several classes: by the predicted one, from their tally."""
    tally = cast(class_tally.ClassTally, engine.counted_by_class())
    sums, c = tally.sums, STANDARD[:HALVINGS]
    L, unasked = _unasked(tally.cells)
    seen = sums[:, class_tally.ANSWERED]
    doubts = sums[:, class_tally.ROUNDS] - sums[:, class_tally.UNOBSERVED] - unasked - seen
    L = L + tally.false[:, :HALVINGS] + np.outer(sums[:, class_tally.FALSE] + doubts, c)
    answers = seen - sums[:, class_tally.FALSE] + tally.seen[:, :, 0].sum(axis=0)
    names = cast(Any, engine.answers).names
    return {name: (L[k], unasked[k], unasked[k] + answers[k], answers[k]) for k, name in enumerate(names)}
