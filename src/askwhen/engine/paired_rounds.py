"""Rounds of two samplers with one coin, as bets on the mistakes of the first where they differ."""

from __future__ import annotations

from typing import Any

from ..compiled.frames import lend
from ..compiled.steps import borrow, entry
from .error_model import level_at
from .stakes import place_of
from .tally import count_round, settle_bet


@entry
def compare_rounds(
    address: Any, sizes: Any, a: Any, b: Any, apart: Any, chance: Any, asked: Any, told: Any, wrong: Any
) -> Any:
    """Count rounds with margins a and b, in place; ``wrong`` says whether a is, where it was told: the last level."""
    (tally,) = lend(address)
    sizes, a, b, apart, chance = borrow(sizes), borrow(a), borrow(b), borrow(apart), borrow(chance)
    asked, told, wrong = borrow(asked), borrow(told), borrow(wrong)
    level = 0
    for i in range(len(a)):
        sizes[0] += abs(a[i])
        sizes[1] += abs(b[i])
        if not apart[i]:
            continue
        mine, other = abs(a[i]) * sizes[1], abs(b[i]) * sizes[0]
        level = level_at(other / (mine + other) if mine + other > 0.0 else 0.5)
        count_round(tally, place_of(chance[i]), level, True, asked[i], chance[i] > 0.0)
        if told[i]:
            settle_bet(tally, 1, chance[i], place_of(chance[i]), level, True, wrong[i])
    return level


@entry
def settle_one(address: Any, ago: int, chance: float, level: int, wrong: bool) -> None:
    """Count the label of the round that is ``ago`` rounds back among those that differ, in place."""
    (tally,) = lend(address)
    settle_bet(tally, ago, chance, place_of(chance), level, True, wrong)
