"""The account of a promise where a log decides what was delivered: rounds of other models, later corrections.

A service that retrains its model, or that continues without playing some rounds again, has delivered the labels of
earlier models. What is certified are those, so the account stays and another sampler takes it over. Its open questions
are then settled by their number in the account, and the sampler learns their answers without counting them twice.
"""

from __future__ import annotations

from typing import cast

from ..contracts.rule import begin_round, end_round
from ..rules.promise_account import (
    ANSWERED,
    CORRECTED,
    DELIVERED,
    EXPECTED,
    FORGOTTEN,
    FORM,
    GIVEN,
    IS_CERTAIN,
    IS_OPEN,
    IS_WITHHELD,
    MARGIN,
    REPLACED,
    ROUND,
    ROUNDS,
    WRONG,
    E,
    P,
    PromiseState,
    deliver,
    hold,
    log_factors,
    refresh,
    write_factors,
)
from .engine import Engine
from .promise_book import PromiseBook
from .state_arrays import copy_state

FREE = 0.0
"""The e of a question that was asked about for free, on which nothing was bet."""


def _parts(engine: Engine) -> tuple[PromiseState, PromiseBook]:
    return cast(PromiseState, engine.rule), cast(PromiseBook, engine.promise)


def separate(engine: Engine) -> None:
    """From now on, let the account settle its open questions by their number, apart from the sampler; in place."""
    state, book = _parts(engine)
    if state.last[IS_OPEN]:
        hold(state)
    for ask, _, _ in engine.pending.values():
        if ask.round not in book.elsewhere:
            e = FREE if ask.expected is None else ask.expected
            book.open[int(book.number_of(ask))] = float(ask.probability), e
            book.elsewhere.add(ask.round)


def take_over(engine: Engine, other: Engine) -> None:
    """Give a sampler the promise of another one, with its account and its open questions, in place."""
    separate(other)
    state, book = _parts(other)
    found = PromiseBook()
    found.released, found.periods, found.open = book.released, book.periods, dict(book.open)
    found.shift = int(state.sums[ROUNDS]) - engine.round
    found.elsewhere = set(engine.pending)
    engine.promise = found
    engine._become(rule=copy_state(state), parts=engine.parts._replace(rule=other.parts.rule))


def add_round(engine: Engine, margin: float, chance: float, e: float | None, asked: bool, withheld: bool) -> None:
    """Add a round that the sampler has not played, in place; without e it was asked about for free."""
    separate(engine)
    state, book = _parts(engine)
    book.shift += 1
    begin_round(state, 0.0)
    number = int(state.sums[ROUNDS])
    if e is None:
        book.open[number] = 1.0, FREE
        return
    facts = [P, E, MARGIN, FORM, ROUND, IS_WITHHELD, IS_CERTAIN]
    state.last[facts] = chance, e, margin, 0.0, number, withheld, False
    write_factors(state, chance, e)
    end_round(state, margin, 0.0, asked)
    if asked:
        hold(state)
        book.open[number] = chance, e


def settle(engine: Engine, number: int, wrong: bool | None) -> None:
    """Note whether the answer to an open question differs from the prediction, in place; None if it was dropped.

    Nothing happens where the question is the sampler's own, which has noted it.
    """
    state, book = _parts(engine)
    if number not in book.open:
        return
    chance, e = book.open.pop(number)
    if e != FREE:
        book.release(state, number, chance, e, wrong is False)
    if wrong is None:
        state.sums[FORGOTTEN] += 1.0
        return
    state.sums[GIVEN if e == FREE else ANSWERED] += 1.0
    if e != FREE:
        state.sums[WRONG] += wrong
        state.sums[EXPECTED] += (wrong - e) * (1.0 - chance) / chance
    deliver(state)


def correct_answer(engine: Engine, chance: float, e: float | None, was: bool | None, now: bool | None) -> None:
    """Exchange an answer that was noted, in place: whether it differs from the prediction; None where there is none."""
    state, _ = _parts(engine)
    sums, count = state.sums, float(now is not None) - float(was is not None)
    sums[CORRECTED] += 1.0
    sums[DELIVERED] += count
    if e is None:
        sums[GIVEN] += count
    else:
        _, right, wrong = log_factors(chance, e)
        state.logs[:] += (float(now is not False) - float(was is not False)) * (wrong - right)
        sums[ANSWERED] += count
        sums[WRONG] += float(now is True) - float(was is True)
        sums[EXPECTED] += _estimated(chance, e, now) - _estimated(chance, e, was)
    refresh(state)


def _estimated(chance: float, e: float, wrong: bool | None) -> float:
    """What an answer adds to the estimate of the number of wrong labels."""
    return 0.0 if wrong is None else (wrong - e) * (1.0 - chance) / chance


def replace_prediction(engine: Engine, differs: int, people: int) -> None:
    """Note that a delivered prediction was replaced by a person's label, or is back again, in place.

    The changes are those of the number of replaced labels that differ, and of all that people gave.
    """
    state, _ = _parts(engine)
    state.sums[CORRECTED] += 1.0
    state.sums[REPLACED] += differs
    state.sums[GIVEN] += people - differs


def give(engine: Engine, change: int) -> None:
    """Note that a person has labelled an instance without a delivered label (1), or took that back (-1); in place."""
    state, _ = _parts(engine)
    state.sums[GIVEN] += change
    state.sums[DELIVERED] += change
    refresh(state)
