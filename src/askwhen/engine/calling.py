"""Advisers that are called only where their advice is likely to change what happens. Not from a paper.

Before a round the sampler looks at what it would do without the adviser, and with each of the answers that it may give.
Counted in answers of people, a call is worth

    value = sum over j of s_j (r_j(b_j) - r_j(b) + max(P - P_j, 0))

where the second difference is 0 for a budget, which asks later what it does not ask now.

==========  ==========================================================
b, P        what is predicted without the adviser, and the probability of asking a person
b_j, P_j    the same if the adviser says label j, with the probability that it usually states
s_j         the probability of label j without the adviser; only the five likeliest labels are looked at
r_j         the probabilities of the labels if the adviser says j; r_j(b_j) - r_j(b) is what a changed prediction gains
==========  ==========================================================

A person's answer would correct the prediction too, so a corrected one is worth an answer. How far the adviser changes
the prediction is for the mixture to say, which has learnt how far it can be trusted. Before the first label nothing is
known, and the value is infinite. All of this comes before the random draw of the round, and never depends on it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..compiled.frames import new_frame
from ..compiled.steps import entry_point
from ..contracts.abilities import CalledAdviser, provides
from ..errors import InputError
from ..linalg.rows import DenseRows, Rows, matrix_of
from ..rules.budget import BudgetRule
from .batch_run import margins
from .engine import Engine
from .inputs.advice import SILENT, Columns, Statement, check_advice, read_columns, read_statement
from .inputs.instance_checks import check_instances
from .round.preview import chance_at
from .state_arrays import copy_state
from .tally.call_count import CallCount, CallTerms

_ANSWERS = 5
"""Number of answers of an adviser that are looked at."""


class Call(NamedTuple):
    """What became of an adviser in a round: the value of a call, whether it was called, and what it says."""

    terms: CallTerms
    value: float
    is_made: bool
    said: Any = None
    statement: Statement | None = None


def called_in(owner: str, advice: Any, engine: Engine) -> dict[str, CalledAdviser]:
    """The advisers that are called only where that is worth it, by name, after a check of all names."""
    if not isinstance(advice, Mapping):
        return {}
    found = {name: each for name, each in advice.items() if provides(each, CalledAdviser)}
    if found:
        known = engine.advisers
        check_advice(owner, advice, [] if known is None else known.names, known is not None and known.is_open)
        if engine.regression:
            raise InputError(
                "an adviser is called where it may change a predicted label, and this sampler predicts numbers; give "
                "its numbers as advice.",
                owner=owner,
                parameter="advice",
            )
    return found


def terms_of(adviser: CalledAdviser) -> CallTerms:
    """The price and the budget of an adviser."""
    return CallTerms(adviser.price, adviser.rate, adviser.most)


def consider(
    engine: Engine, name: str, adviser: CalledAdviser, rows: Rows | None, others: Mapping[str, Columns], now: float
) -> Call:
    """Whether to call an adviser in the next round, whose one row this is; nothing changes.

    ``others`` is the advice that is known already, as columns of one row.
    """
    assert engine.advisers is not None
    terms = terms_of(adviser)
    count = engine.advisers.calls.get(name, CallCount())
    value = math.inf
    if rows is not None and engine.has_learnt and name in engine.advisers.names:
        value = value_of_call(engine, name, count, rows, others, now)
    return Call(terms, value, count.is_due(terms, value))


def made(owner: str, call: Call, name: str, said: Any, engine: Engine, adviser: CalledAdviser) -> Call:
    """The call with what the adviser said; what cannot be advice is silence, and the adviser is told why."""
    try:
        statement, _ = read_statement(owner, name, said, engine)
    except InputError as error:
        adviser.refuse(error.sentence)
        return call
    return call._replace(said=None if statement.label == SILENT else said, statement=statement)


def note(engine: Engine, calls: Mapping[str, Call]) -> None:
    """Count what became of the called advisers in the round that was just played."""
    assert engine.advisers is not None
    for name, call in calls.items():
        if name in engine.advisers.names:
            stated = call.statement.p if call.statement is not None else math.nan
            count = engine.advisers.calls.setdefault(name, CallCount())
            count.note(call.terms, call.value, call.is_made, call.said is not None, stated)


def value_of_call(
    engine: Engine, name: str, count: CallCount, rows: Rows, others: Mapping[str, Columns], now: float
) -> float:
    """The value of a call in the next round, see above."""
    labels: list[Any] = engine.pair.labels if engine.classes is None else engine.classes
    without = _predicted(engine, _repeated(rows, 1), others)
    if len(labels) < 2:
        return math.inf
    likely = np.argsort(-without.shares[0], kind="stable")[:_ANSWERS].tolist()
    stated = count.stated
    answers: list[Any] = [labels[j] if stated != stated else (labels[j], stated) for j in likely]
    n = len(answers)
    advice = {other: _columns(each, n) for other, each in others.items()}
    advice[name] = read_columns("ask", name, answers, n, engine, {})
    found = _predicted(engine, _repeated(rows, n), advice)
    best, row = without.best[0], np.arange(n)
    gained = found.shares[row, found.best] - found.shares[:, best]
    chances = without.shares[0, likely]
    return float((chances * (gained + _saved(engine, without.margin[0], found.margin, now))).sum() / chances.sum())


def _saved(engine: Engine, without: float, found: np.ndarray, now: float) -> np.ndarray:
    """By how much less probable it is at these margins that a person is asked."""
    if isinstance(engine.parts.rule, BudgetRule):  # what is not asked now is asked later
        return np.zeros(len(found))
    asking = _chance(engine, without, now)
    return np.array([max(asking - _chance(engine, p, now), 0.0) for p in found.tolist()])


class _Predicted(NamedTuple):
    """For each row the probability of every label, the predicted one, and the margin that a rule reads."""

    shares: np.ndarray
    best: np.ndarray
    margin: np.ndarray


def _predicted(engine: Engine, rows: Rows, advice: Mapping[str, Columns]) -> _Predicted:
    """What the next round would predict of these rows."""
    assert engine.advisers is not None
    p = margins(engine, rows, True, engine.advisers.of_known(advice))
    if engine.classes is None:
        positive = engine.probabilities(p)
        return _Predicted(np.column_stack([1.0 - positive, positive]), (p > 0.0).astype(int), p)
    if p.shape[1] < 2:
        return _Predicted(np.ones_like(p), np.zeros(len(p), int), np.zeros(len(p)))
    second, first = np.partition(p, -2, axis=1)[:, -2:].T
    return _Predicted(engine.shares(p), p.argmax(axis=1), 0.5 * (first - second))


def _chance(engine: Engine, p: float, now: float) -> float:
    """The probability of asking about this margin in the next round."""
    rule = copy_state(engine.rule)
    (_held, address), kind = new_frame(rule)
    return float(entry_point(chance_at, kind, 0.0, 0.0, what=engine.parts.rule)(address, now, float(p)))


def _repeated(rows: Rows, n: int) -> Rows:
    """One row n times."""
    X = matrix_of(rows)
    return check_instances("ask", sp.vstack([X] * n, "csr")) if sp.issparse(X) else DenseRows(np.repeat(X, n, axis=0))


def _columns(one: Columns, n: int) -> Columns:
    """What is said of one row, said of n rows."""
    return Columns(np.repeat(one.label, n), np.repeat(one.p, n), np.repeat(one.line, n), one.lines)


def columns_of(said: Mapping[str, Statement]) -> dict[str, Columns]:
    """Statements about one row as columns."""
    found = {}
    for name, each in said.items():
        has_line = each.line is not None
        lines = np.zeros((0, 0)) if each.line is None else each.line.reshape(1, -1)
        found[name] = Columns(np.array([each.label]), np.array([each.p]), np.array([0 if has_line else -1]), lines)
    return found
