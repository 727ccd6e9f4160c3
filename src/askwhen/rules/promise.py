"""Rule: promise that at most a given share of the delivered labels is wrong, and ask only as much as that needs.

Not from a paper; Candes, Ilyas and Zrnic, "Probably approximately correct labels", 2025, promise it once, for a whole
pile. Every instance gets a *delivered* label: the person's where it was asked for, and the prediction otherwise. The
account of :mod:`askwhen.rules.promise_account` bounds how many of them are wrong, at all times, and the policy of
:mod:`askwhen.rules.promise_policy` says with which probability to ask. Before the random draw

1. that probability is raised by 1.3, up to 1, until both outcomes of the draw keep the promise;
2. the label is withheld where a budget could not pay the question, and where answers are late, as follows.

A question that waits counts as if its answer disagreed, so late answers raise that probability. They must not make the
rule ask more: it is compared with what it would be if all answers on their way agreed, and as soon as twice the
difference adds up to a whole question, rounds are withheld for as many questions. They are also withheld while more
questions wait than a quarter of the answers so far, and those of the beginning. Questions open for some 2,000 rounds do
not count as being on their way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from ..compiled.steps import step
from ..contracts import rule as contract
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..contracts.rule import PASS, UNDECIDED, toss
from ..errors import InputError
from ..linalg.vectors import LARGEST, all_finite, all_within
from ..logistic import is_sound_logistic
from ..validation import check_count, check_number
from .promise_account import (
    ANSWERED,
    ASKED,
    BUCKETS,
    CORRECTED,
    DELIVERED,
    ERROR,
    EXPECTED,
    FORM,
    GIVEN,
    IS_CERTAIN,
    IS_ELSEWHERE,
    IS_OPEN,
    IS_WITHHELD,
    MARGIN,
    ROUND,
    ROUNDS,
    STAKES,
    SUMS,
    UNASKED,
    WITHHELD,
    WRONG,
    E,
    P,
    PromiseState,
    age,
    deliver,
    first_weights,
    hold,
    hopeful,
    is_full,
    is_lost,
    keeps,
    number_hoped,
    refresh,
    release,
    stakes,
    take_answer,
    take_unasked,
    write_factors,
    write_ones,
)
from .promise_policy import (
    BINS,
    LABELS,
    LEAST,
    OWED,
    PERIOD,
    RECENT,
    TOKENS,
    VARIANCES,
    distance_of,
    earn,
    focused,
    is_due,
    learn,
    look_ahead,
    new_model,
    new_plan,
    note_distance,
    note_prediction,
    pays,
    predicted,
    wanted,
)

_RAISED = 1.3
_CAUSED = 2.0  # late answers also teach late, so that more is asked than the higher probability says


@contract.begin_round.of(PromiseState)
def _begin_round(rule: Any, time: float) -> None:
    sums = rule.sums
    sums[ROUNDS] += 1.0
    age(rule)
    if rule.last[IS_OPEN] != 0.0:
        hold(rule)
    earn(rule)
    rounds = int(sums[ROUNDS])
    if rounds % PERIOD == 1:
        refresh(rule)
    if is_due(rounds):
        look_ahead(rule)


@step
def raised(rule: Any, chance: float, e: float, wealth: Any, delivered: float) -> Any:
    """The probability, raised until both outcomes keep the promise; the factors are those of the result, in place."""
    if chance < 1.0 and is_lost(wealth):
        chance = 1.0
        write_ones(rule)
    while chance < 1.0 and not keeps(rule, wealth, delivered):
        chance = min(_RAISED * chance, 1.0)
        write_factors(rule, chance, e)
    return chance


@step
def choose(rule: Any, p: float, q: float) -> Any:
    """The probability of asking about this margin, and whether the label is withheld, before the draw; in place."""
    last, on_the_way = rule.last, number_hoped(rule)
    e = predicted(rule, p, q)
    chance = focused(rule, distance_of(rule, p, q), wanted(rule, e), e)
    delivered, withheld = rule.sums[DELIVERED], False
    if chance < 1.0:
        write_factors(rule, chance, e)
    else:
        write_ones(rule)
    if on_the_way > 0.0:
        hopeful(rule, on_the_way, rule.factors[3])
        chance = raised(rule, chance, e, rule.factors[3], delivered + on_the_way)
        in_time = chance
        chance = raised(rule, chance, e, rule.standing, delivered)
    else:
        chance = in_time = raised(rule, chance, e, rule.standing, delivered)
    if on_the_way > 0.0 and (rule.plan[OWED] >= 1.0 or is_full(rule, on_the_way)):
        rule.plan[OWED] -= in_time
        withheld = True
    elif not pays(rule, chance):
        withheld = True
    else:
        rule.plan[OWED] += _CAUSED * (chance - in_time)
    last[P], last[E], last[MARGIN], last[FORM], last[ROUND] = chance, e, p, q, rule.sums[ROUNDS]
    last[IS_WITHHELD], last[IS_CERTAIN] = 1.0 if withheld else 0.0, 0.0
    return chance


@contract.decide.of(PromiseState)
def _decide(rule: Any, m: float, q_low: float, q_high: float, norm2: float, u: float) -> Any:
    if q_low != q_high:
        return UNDECIDED
    chance = choose(rule, m / (1.0 + q_low), q_low)
    return PASS if rule.last[IS_WITHHELD] != 0.0 else toss(chance, u)


@contract.probability.of(PromiseState)
def _probability(rule: Any, m: float, q: float, norm2: float) -> Any:
    return 0.0 if rule.last[IS_WITHHELD] != 0.0 else rule.last[P]


@contract.forbids.of(PromiseState)
def _forbids(rule: Any) -> Any:
    return rule.last[IS_WITHHELD] != 0.0


@contract.ask_surely.of(PromiseState)
def _ask_surely(rule: Any) -> None:
    rule.last[P], rule.last[IS_CERTAIN] = 1.0, 1.0
    write_ones(rule)


@contract.end_round.of(PromiseState)
def _end_round(rule: Any, m: float, q: float, asked: bool) -> None:
    sums, last, e = rule.sums, rule.last, rule.last[E]
    rule.told[IS_OPEN] = 0.0
    note_distance(rule, distance_of(rule, last[MARGIN], q))
    note_prediction(rule, e)
    if last[IS_WITHHELD] != 0.0:
        sums[WITHHELD] += 1.0
        return
    if asked:
        sums[ASKED] += 1.0
        if rule.length == math.inf:
            rule.plan[TOKENS] -= 1.0
        last[IS_OPEN] = 1.0
        return
    take_unasked(rule)
    sums[UNASKED] += 1.0
    sums[EXPECTED] += e
    deliver(rule)


@contract.judge.of(PromiseState)
def _judge(rule: Any, y: float, mistaken: bool) -> Any:
    if rule.within == 0.0:
        return mistaken
    predicted_number = rule.told[MARGIN] if rule.told[IS_OPEN] != 0.0 else rule.last[MARGIN]
    return abs(predicted_number - y) > rule.within


@contract.note_label.of(PromiseState)
def _note_label(rule: Any, right: bool, chance: float) -> None:
    sums, is_late, wrong = rule.sums, rule.told[IS_OPEN] != 0.0, not right
    facts = rule.told if is_late else rule.last
    e = facts[E]
    if is_late and facts[IS_ELSEWHERE] != 0.0:
        facts[IS_OPEN] = facts[IS_ELSEWHERE] = 0.0
        return
    if is_late:
        rule.told[IS_OPEN] = 0.0
        if not math.isnan(e):
            write_factors(rule, facts[P], e)
            release(rule, facts[ROUND], right)
            if rule.last[IS_OPEN] != 0.0:
                write_factors(rule, rule.last[P], rule.last[E])
    else:
        rule.last[IS_OPEN] = 0.0
        take_answer(rule, wrong)
    if math.isnan(e):  # asked about for free, so that there is no bet
        sums[GIVEN] += 1.0
    else:
        sums[ANSWERED] += 1.0
        if wrong:
            sums[WRONG] += 1.0
        sums[EXPECTED] += ((1.0 if wrong else 0.0) - e) * (1.0 - facts[P]) / facts[P]
    deliver(rule)
    learn(rule, facts[MARGIN], facts[FORM], wrong, facts[P])


@contract.restart_rule.of(PromiseState)
def _restart_rule(rule: Any) -> None:
    rule.model[LABELS] = 0.0  # a learner that starts again is not to be trusted, whatever its margins were worth


@contract.least_chance.of(PromiseState)
def _least_chance(rule: Any) -> Any:
    return LEAST


@contract.labels_left.of(PromiseState)
def _labels_left(rule: Any, now: float) -> Any:
    return rule.most - float(rule.sums[ASKED])


@is_sound.of(PromiseState)
def _is_sound(rule: Any) -> Any:
    counts = rule.sums[[ROUNDS, DELIVERED, UNASKED, ASKED, ANSWERED, WRONG, WITHHELD, CORRECTED, GIVEN]]
    return (
        all_within(counts, 0.0, LARGEST_COUNT)
        and all_within(rule.sums[ERROR], 0.0, 1.0)
        and all_within(rule.sums[EXPECTED], -LARGEST, LARGEST)
        and all_within(rule.logs, -LARGEST, LARGEST)
        and all_within(rule.product, 1.0 / LARGEST, LARGEST)
        and all_finite(rule.plan)
        and all_finite(rule.hope)
        and all_within(rule.hoped, 0.0, LARGEST_COUNT)
        and all_within(rule.weights, -LARGEST, 0.0)
        and abs(float(np.exp(rule.weights).sum()) - 1.0) < 1e-9
        and all_within(rule.standing, 0.0, np.inf)
        and all_within(rule.factors, 0.0, np.inf)
        and is_sound_logistic(rule.model, VARIANCES)
        and all_within(rule.recent, 0, BINS - 1)
        and all_within(rule.histogram, 0.0, RECENT)
    )


@dataclass(frozen=True)
class PromiseRule:
    """Promise that at most a share ``error`` of the delivered labels is wrong, and ask only as much as that needs.

    Every instance gets a label: the person's where it was asked for, the prediction otherwise. At every moment, with
    the given confidence, at most this share of the labels delivered so far is wrong, whatever the stream does. People's
    own mistakes are not counted. See ``sampler.promise``, ``ask.delivered`` and ``trace.delivered``.

    Parameters
    ----------
    error : float, default 0.05
        The largest share of wrong labels, between 0 and 1.
    confidence : float, default 0.95
        Probability with which the promise holds at all times, from 0.5 on.
    most : int, optional
        Largest number of labels in total. What can then be neither asked about nor certified is withheld.
    rate : float, optional
        Largest share of the rounds that may be asked about, after a few questions at the beginning, or with ``length``
        of all of them; with the same effect.
    within : float, optional
        For numbers: how far a prediction may be off without being wrong.
    length : int, optional
        The number of rounds, where it is known, as for a pile: then fewer questions are needed.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((3000, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> sampler = aw.Sampler(rule=aw.PromiseRule(0.05), seed=7)
    >>> trace = sampler.run(X, y)
    >>> sampler.promise.certified <= 0.05, bool((trace.delivered != y).mean() <= 0.05), trace.questions < 1200
    (True, True, True)
    """

    error: float = 0.05
    confidence: float = 0.95
    most: int | None = None
    rate: float | None = None
    within: float | None = None
    length: int | None = None

    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = False  # with numbers it reads q, see check_use
    reads_every_margin: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_number(self, "error", self.error, "a share between 0 and 1", 0.0, 1.0, open_high=True)
        check_number(
            self,
            "confidence",
            self.confidence,
            "a number from 0.5 to below 1",
            0.5,
            1.0,
            open_low=False,
            open_high=True,
        )
        if self.rate is not None:
            check_number(self, "rate", self.rate, "a number above 0 and at most 1", 0.0, 1.0)
        if self.within is not None:
            check_number(self, "within", self.within, "a positive finite number", 0.0, open_high=True)
        for name in ("most", "length"):
            if getattr(self, name) is not None:
                check_count(self, name, getattr(self, name))

    def check_use(self, learner: Any, audit: Any, costs: Any) -> None:
        """Refuse what the promise cannot hold with."""
        if costs is not None:
            raise InputError(
                "costs weigh mistakes differently, and a promise counts them; leave out costs.", owner="PromiseRule"
            )
        if audit is not None:
            raise InputError(
                "every round may be asked about, so an audit adds nothing; leave out audit.", owner="PromiseRule"
            )
        if learner.regression and self.within is None:
            raise InputError(
                "give within, how far a predicted number may be off without being wrong.", owner="PromiseRule"
            )
        if not learner.regression and self.within is not None:
            raise InputError("within is for numbers, and this learner predicts labels.", owner="PromiseRule")

    def with_length(self, rounds: int) -> PromiseRule:
        """The same promise for this number of rounds."""
        return replace(self, length=rounds)

    def resized(self, state: PromiseState) -> PromiseState:
        """The state of a promise of another length or budget, with those of this one."""
        most, rate, length = self._limits()
        return state._replace(most=most, rate=rate, length=length)

    def following(self, state: PromiseState, asked: int) -> PromiseState:
        """The state of another promise or budget, which takes over the account of this one and its questions."""
        if state.rate >= 1.0:
            state.plan[TOKENS] = new_plan()[TOKENS]  # without a rate, questions took tokens that were never earned
        found = self.resized(state)
        found.sums[ERROR] = self.error
        refresh(found)
        return found

    def _limits(self) -> tuple[float, float, float]:
        most, length = (math.inf if given is None else float(given) for given in (self.most, self.length))
        rate = 1.0 if self.rate is None else float(self.rate)
        if length < math.inf and rate < 1.0:
            most = min(most, math.ceil(rate * length - 1e-9))
        return most, min(rate, most / length) if length < math.inf else rate, length

    def start(self) -> PromiseState:
        """The state before the first round."""
        c, alpha, (most, rate, length) = stakes(), 1.0 - self.confidence, self._limits()
        weights, sums = first_weights(length, self.error), np.zeros(SUMS)
        sums[ERROR] = self.error
        state = PromiseState(
            most,
            rate,
            length,
            0.0 if self.within is None else float(self.within),
            float(alpha),
            np.exp(c),
            -np.expm1(c),
            weights,
            np.zeros(STAKES),
            np.ones(STAKES),
            np.zeros(STAKES),
            np.ones((4, STAKES)),
            np.zeros(8),
            np.zeros(8),
            np.zeros((BUCKETS, STAKES)),
            np.zeros(BUCKETS),
            sums,
            new_model(),
            new_plan(),
            np.zeros(RECENT, np.uint8),
            np.zeros(BINS),
        )
        refresh(state)
        return state
