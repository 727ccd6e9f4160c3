"""Counts of a regressor in a tally: a prediction is right where it is off by at most so much.

Numbers have no margin from which a mistake could be predicted: as in blind rounds, the share of mistakes so far is.
"""

from __future__ import annotations

from ...betting import SMALLEST_COIN, place_of
from .error_model import count_label
from .round_tally import Tally, count_round, note_blind_round, settle_bet


def note_number(tally: Tally, P: float, positive: bool, asked: bool) -> int:
    """Count a round in place; return the level of its bet."""
    if SMALLEST_COIN <= P < 1.0:
        return int(note_blind_round(tally, place_of(P), positive, asked))
    count_round(tally, place_of(P), 0, positive, asked, P >= SMALLEST_COIN)
    return 0


def settle_number(tally: Tally, ago: int, P: float, level: int, positive: bool, wrong: bool) -> None:
    """Count the label of the round that is ``ago`` rounds back, in place."""
    count_label(tally.model, tally.limits)
    settle_bet(tally, ago, P, place_of(P), level, positive, wrong)
