"""What a promise takes: how many labels are asked for at several shares of errors, and how good the others are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ...errors import InputError
from ...multi_label import MultiLabel
from ...rules import PromiseRule
from ...sampler import Sampler
from ...trace.trace import Trace
from ...validation import check_count, check_flag, check_seed
from .advice_rows import advice_of_run, rows_at
from .cluster import workers_of
from .known_margins import KnownMargins
from .label_order import order_warning
from .workers import Watch

ERRORS = (0.01, 0.02, 0.05, 0.1, 0.2)
"""The shares of errors that are promised by default."""


@dataclass(frozen=True, eq=False)
class PromisePoint:
    """What a promise took; the arrays have one number for each repeat.

    Attributes
    ----------
    error : float
        The share of errors that was promised.
    rows : int
        Number of instances.
    questions : array of int
        Number of labels asked for.
    delivered : array of int
        Number of instances that got a label; the others were withheld.
    wrong : array of int
        Number of wrong labels among those delivered. Where people's labels are right, all of them are predictions.
    certified : array of float
        The certificate at the end: with the confidence of the promise at most this share of them is wrong.
    """

    error: float
    rows: int
    questions: np.ndarray
    delivered: np.ndarray
    wrong: np.ndarray
    certified: np.ndarray

    @property
    def asked(self) -> float:
        """The share of the instances that were asked about, averaged over the repeats."""
        return float(self.questions.mean()) / self.rows

    @property
    def saved(self) -> float:
        """The share of the instances that were not asked about."""
        return 1.0 - self.asked

    @property
    def coverage(self) -> float:
        """The share of the instances that got a label."""
        return float(self.delivered.mean()) / self.rows

    @property
    def errors(self) -> float:
        """The share of wrong labels among those delivered, averaged over the repeats; 0 if nothing was delivered."""
        return float((self.wrong / np.maximum(self.delivered, 1)).mean())

    @property
    def is_met(self) -> bool:
        """Whether the certificate was within the promise at the end of every repeat."""
        return bool((self.certified[self.delivered > 0] <= self.error).all())

    def __str__(self) -> str:
        found = f"{100 * self.error:.3g} % errors promised: {100 * self.asked:.1f} % asked, {100 * self.errors:.1f} %"
        withheld = f", {100 * (1 - self.coverage):.1f} % withheld" if self.coverage < 1.0 else ""
        return f"{found} wrong, at most {100 * float(self.certified.mean()):.1f} % certified{withheld}"


@dataclass(frozen=True, eq=False)
class PromiseCurve:
    """Questions against errors: one point for each promised share, in increasing order.

    Attributes
    ----------
    points : list of PromisePoint
        What each promise took.
    rows : int
        Number of instances.
    repeats : int
        Number of runs of each promise, with different seeds.
    confidence : float
        The confidence of the promises.
    most, rate : int or None, float or None
        The budget, if there was one: the number of labels, or their share.
    predicted : bool
        Whether the predictions were those of a trace, so that nothing was learnt on the way.
    order_warning : str or None
        A warning if the labels come sorted or in blocks.
    """

    points: list[PromisePoint]
    rows: int
    repeats: int
    confidence: float
    most: int | None = None
    rate: float | None = None
    predicted: bool = False
    order_warning: str | None = None

    @property
    def has_budget(self) -> bool:
        """Whether labels may be withheld, since only so many can be asked for."""
        return self.most is not None or self.rate is not None

    @property
    def middle(self) -> PromisePoint:
        """The point that a sentence speaks of: 5 % errors, or else the one in the middle."""
        found = next((point for point in self.points if point.error == 0.05), None)
        return self.points[(len(self.points) - 1) // 2] if found is None else found

    def __str__(self) -> str:
        return "\n".join(map(str, self.points))


def promise_curve(
    X: Any,
    y: Any = None,
    errors: Iterable[float] = ERRORS,
    *,
    sampler: Any = None,
    most: int | None = None,
    rate: float | None = None,
    within: float | None = None,
    confidence: float = 0.95,
    known_length: bool = True,
    repeats: int = 3,
    shuffle: bool = False,
    seed: int = 0,
    advice: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    cluster: str | None = None,
) -> PromiseCurve:
    """Promise several shares of errors on a labelled stream, and see how many labels each of them takes.

    Of questions, errors and coverage two can be fixed: without a budget every instance gets a label, and fewer errors
    take more questions; with ``most`` or ``rate``, labels that could be neither asked for nor certified are withheld.

    Parameters
    ----------
    X, y : array, CSR matrix or table, array
        The stream, with all of its labels. Or only a trace, as X: then its predictions are taken as they were, which
        is fast; a sampler that asks for other labels would learn from those.
    errors : iterable of float
        The shares of errors to promise.
    sampler : Sampler or MultiLabel, optional
        A new one, whose learner, preparation, drift detector, labels and advisers are taken; its rule is not. By
        default ``Sampler()``.
    most, rate, within, confidence
        As for :class:`askwhen.PromiseRule`.
    known_length : bool, default True
        Whether the rule knows how many instances there are, as it does for a pile.
    repeats : int, default 3
        Number of runs of each promise, with different seeds.
    shuffle : bool, default False
        Whether every repeat takes the stream in another order, the same for all promises.
    seed : int, default 0
        Seed of the random draws and of the orders.
    advice : dict, optional
        What each adviser of the sampler says of the instances, as for ``Sampler.run``.
    watch : callable, optional
        Called with the number of finished runs, the number of all runs, and the promise of the last one.
    cluster : str, optional
        Ray cluster to run on, as for :func:`askwhen.evaluate.compare`.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((4000, 5))
    >>> y = np.where(X[:, 0] > 0, "spam", "ham")
    >>> few, many = aw.evaluate.promise_curve(X, y, [0.1, 0.02], repeats=2).points
    >>> few.error, few.errors <= 0.02, few.coverage, few.saved < many.saved
    (0.02, True, 1.0, True)
    """
    # The parameters are public; _PromiseWork bundles them for the work itself.
    check_count("promise_curve", "repeats", repeats)
    check_flag("promise_curve", "shuffle", shuffle)
    check_flag("promise_curve", "known_length", known_length)
    check_seed("promise_curve", seed)
    if isinstance(X, Trace):
        if y is not None or sampler is not None or advice is not None:
            raise InputError(
                "a trace has its predictions and knows which were wrong; leave out y, sampler and advice.",
                owner="promise_curve",
            )
        X, y = _of_trace(X)
        predicted, sampler = True, Sampler(KnownMargins(), seed=0)
    else:
        predicted, sampler = False, Sampler() if sampler is None else sampler
        _check_new(sampler)
    if y is None:
        raise InputError("y must be given, the labels of X, or X must be a trace.", owner="promise_curve")
    n = len(y)
    if n == 0:
        raise InputError("X must have at least one row.", owner="promise_curve")
    length = n if known_length else None
    rules = [
        PromiseRule(error, confidence, most, rate, within, length)
        for error in sorted(dict.fromkeys(map(float, errors)))
    ]
    if not rules:
        raise InputError("give at least one share of errors.", owner="promise_curve")
    for rule in rules:  # what cannot be promised must raise before any run begins
        _promising(sampler, rule, 0)
    X = X.tocsr() if sp.issparse(X) else X
    work = _PromiseWork(X, y, sampler, shuffle, int(seed), advice)
    again = int(repeats)
    with workers_of(cluster, watch, len(rules) * again) as workers:
        runs = workers.all(
            [(f"{100 * rule.error:.3g} % errors", partial(work.run, rule, k)) for rule in rules for k in range(again)]
        )
    return PromiseCurve(
        points=[_point(rule, n, runs[again * at : again * (at + 1)]) for at, rule in enumerate(rules)],
        rows=n,
        repeats=again,
        confidence=float(confidence),
        most=most,
        rate=rate,
        predicted=predicted,
        order_warning=None if shuffle or predicted else _order_warning(sampler, y),
    )


class _Run(NamedTuple):
    """One run: numbers of questions, of delivered labels and of wrong ones among them, and the certificate."""

    questions: int
    delivered: int
    wrong: int
    certified: float


def _point(rule: PromiseRule, rows: int, runs: list[_Run]) -> PromisePoint:
    questions, delivered, wrong, certified = (np.array(values) for values in zip(*runs, strict=True))
    return PromisePoint(rule.error, rows, questions, delivered, wrong, certified)


@dataclass(frozen=True, eq=False)
class _PromiseWork:
    """A stream, and a run of one promise on it."""

    X: Any
    y: Any
    sampler: Any
    shuffle: bool
    seed: int
    advice: Mapping[str, Any] | None

    def run(self, rule: PromiseRule, k: int) -> _Run:
        """Play the stream with the seed of repeat k."""
        X, y, order = self.X, self.y, None
        if self.shuffle:
            order = np.random.default_rng([self.seed, k]).permutation(len(y))
            X, y = rows_at(X, order), rows_at(y, order)
        made = _promising(self.sampler, rule, self.seed + k)
        advice = {} if self.advice is None else {"advice": advice_of_run(self.advice, order)}
        trace = made.run(X, y, **advice)
        wrong = trace.mistaken if rule.within is None else np.abs(trace.margin - np.asarray(y, float)) > rule.within
        promise = made.promise
        predicted = ~(trace.queried | trace.withheld)
        return _Run(trace.questions, promise.delivered, int((wrong & predicted).sum()), promise.certified)


def _check_new(sampler: Any) -> None:
    if not isinstance(sampler, (Sampler, MultiLabel)):
        raise InputError.about("promise_curve", "sampler", "a Sampler or a MultiLabel", sampler)
    if isinstance(sampler, Sampler) and sampler.tasks:
        raise InputError("sampler must be of one task.", owner="promise_curve")
    if sampler.round:
        raise InputError(
            f"sampler must be a new one, since every promise begins at the first row; this one has played "
            f"{sampler.round:,} rounds.",
            owner="promise_curve",
        )


def _promising(sampler: Any, rule: PromiseRule, seed: int) -> Any:
    """A new sampler with the parts of another one, this promise and this seed."""
    parts = sampler.parts
    if isinstance(sampler, MultiLabel):
        return MultiLabel(sampler.labels, parts.learner, rule, parts.prepare, seed=seed, question=sampler.question)
    engine = sampler.engine
    pair, advisers = engine.pair, engine.advisers
    classes = None if engine.classes is None else "open" if engine.most else sampler.classes
    return Sampler(
        parts.learner,
        rule,
        parts.drift,
        parts.prepare,
        seed=seed,
        costs=sampler.costs,
        classes=classes,
        most_classes=engine.most or 100,
        labels=(pair.negative, pair.positive) if pair.known == 2 else None,
        columns=engine.columns if engine.schema is None else None,
        schema=engine.schema,
        advisers=None if advisers is None else "any" if advisers.is_open else list(advisers.names),
    )


def _of_trace(trace: Trace) -> tuple[np.ndarray, np.ndarray]:
    """The margins of a trace as instances of one feature, and labels of which as many are predicted wrongly."""
    if len(trace.queried) != trace.rounds:
        raise InputError("this trace holds only counts; run with trace=True.", owner="promise_curve")
    if trace.rounds == 0:
        raise InputError("the trace has no round.", owner="promise_curve")
    if not trace.several and trace.prediction.dtype.kind == "f" and not (np.abs(trace.prediction) == 1.0).all():
        raise InputError(
            "a trace of numbers does not say how far each is off; give X, y and within.", owner="promise_curve"
        )
    if not np.isfinite(trace.margin).all():
        raise InputError("this trace lacks margins; run with margins=True.", owner="promise_curve")
    predicted = np.where(trace.margin > 0.0, 1.0, -1.0)
    return trace.margin[:, None].copy(), np.where(trace.mistaken, -predicted, predicted)


def _order_warning(sampler: Any, y: Any) -> str | None:
    if isinstance(sampler, MultiLabel) or sampler.learner.regression:
        return None
    if sampler.engine.classes is None:
        return order_warning(y)
    return order_warning(y, list(dict.fromkeys(np.asarray(y).tolist())) if sampler.engine.most else sampler.classes)
