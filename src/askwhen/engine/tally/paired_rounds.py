"""Which of two samplers with the same random draws errs less, by betting on the rounds in which they differ."""

from __future__ import annotations

from typing import Any

from ...betting import place_of
from ...compiled.frames import lend
from ...compiled.steps import borrow, entry, step
from .error_model import level_at
from .round_tally import count_round, settle_bet

BOTH = 16
"""The two levels of a round's bets are stored as one number: the first, plus this factor times the second."""


# More than eight arguments: a compiled step takes numbers one by one, without building a tuple of them.
@entry
def compare_rounds(
    address: Any,
    sizes: Any,
    a: Any,
    b: Any,
    differs: Any,
    chance: Any,
    asked: Any,
    answered: Any,
    wrong: Any,
    other_wrong: Any,
    several: bool,
) -> Any:
    """Count rounds with margins a and b, in place, and their immediate answers; return the last levels.

    The mistakes of the first sampler are on side 1; with several classes, those of the second are on side 0, right
    after.
    """
    (tally,) = lend(address)
    sizes, a, b, differs, chance = borrow(sizes), borrow(a), borrow(b), borrow(differs), borrow(chance)
    asked, answered, wrong, other_wrong = borrow(asked), borrow(answered), borrow(wrong), borrow(other_wrong)
    level = other_level = 0
    for i in range(len(a)):
        sizes[0] += abs(a[i])
        sizes[1] += abs(b[i])
        if not differs[i]:
            continue
        mine, other = abs(a[i]) * sizes[1], abs(b[i]) * sizes[0]
        e = other / (mine + other) if mine + other > 0.0 else 0.5
        place, level, other_level = place_of(chance[i]), level_at(e), level_at(1.0 - e)
        count_round(tally, place, level, True, asked[i], chance[i] > 0.0)
        if several:
            count_round(tally, place, other_level, False, asked[i], chance[i] > 0.0)
        if answered[i]:
            settle_pair(tally, 2 if several else 1, chance[i], level, other_level, wrong[i], other_wrong[i], several)
    return level + BOTH * other_level


@step
def settle_pair(
    tally: Any, ago: int, chance: float, level: int, other_level: int, wrong: bool, other_wrong: bool, several: bool
) -> None:
    """Count the label of a round in which the two differ, whose first count is ``ago`` counts back, in place."""
    place = place_of(chance)
    settle_bet(tally, ago, chance, place, level, True, wrong)
    if several:
        settle_bet(tally, ago - 1, chance, place, other_level, False, other_wrong)


@entry
def settle_one(
    address: Any, ago: int, chance: float, levels: int, wrong: bool, other_wrong: bool, several: bool
) -> None:
    """Count the label of such a round whose question had to wait, in place."""
    (tally,) = lend(address)
    settle_pair(tally, ago, chance, levels % BOTH, levels // BOTH, wrong, other_wrong, several)
