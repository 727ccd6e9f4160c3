"""Conversion of a tally of the first release to one of today, which stays valid and continues to count.

For the stakes gamma = 1/2, 1/4, .. the old tally has, by side,

==========  ==========================================================
rounds      number of rounds with P in (2^-(j+1), 2^-j], at place j; smaller ones at place 16, and P = 0 at the last
high        sum of -ln(1 - gamma / P) over asked mistakes with P > gamma; ``up`` are factors not added to it yet
low         sum of ln(1 + gamma / P) over asked mistakes, and ``down`` likewise
sums        mistakes weighted by 1/P, mistakes, answers, and questions that were forgotten
chance      P of the last rounds one by one, with ``side`` and ``status``, round t at place t modulo their length
==========  ==========================================================

Its martingales are those of today with the stakes -ln(1 -+ gamma) and a = 0, except in rounds with P not above gamma,
which counted as possible mistakes: a = -c. So the sums become A for these stakes, which the tally uses from then on,
and in the same way the last rounds become blocks of the windows.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...betting import EARLIER, FIRST_RELEASE, HALVINGS, LEVELS, PLACES, SMALLEST_COIN, bet
from ...engine.tally.round_tally import (
    ANSWERED,
    BLOCKS,
    FORGOTTEN,
    MISTAKES,
    RESIDUAL,
    ROUNDS,
    UNOBSERVED,
    Tally,
    first_of_block,
    new_tally,
)
from ...errors import SnapshotError
from ...linalg.vectors import all_within

_OPEN, _FORGOTTEN, _RIGHT, _WRONG = -1, 1, 2, 3
"""Status of a round besides 0, never asked. The old file has the same status for open and for forgotten questions."""

_SHAPES = {"rounds": (2, 18), "high": (2, 16), "low": (2, 16), "up": (2, 16), "down": (2, 16), "sums": (2, 4)}


def unobserved(rounds: int) -> Tally:
    """A tally that counts all rounds as unobserved."""
    tally = new_tally()
    tally.count[:2] = rounds, first_of_block(rounds, int(tally.steps[0]))
    tally.cells[0, (PLACES - 1) * LEVELS] = rounds
    tally.sums[0, [ROUNDS, UNOBSERVED]] = rounds
    return tally


def converted(old: dict[str, np.ndarray], rounds: int, pending: set[int]) -> Tally:
    """A tally that continues from the arrays of an old one, after ``rounds`` rounds; ``pending`` are open questions."""
    _check(old)
    tally = new_tally(stakes=FIRST_RELEASE)
    tally.count[:2] = rounds, first_of_block(rounds, int(tally.steps[0]))
    total = old["rounds"].sum(axis=1)
    unstaked = total[:, None] - np.cumsum(old["rounds"], axis=1)[:, :HALVINGS]
    high, low = old["high"] - np.log(old["up"]), old["low"] + np.log(old["down"])
    tally.logs[:, :HALVINGS] = -high - FIRST_RELEASE[:HALVINGS] * unstaked
    tally.logs[:, HALVINGS:] = low
    tally.sums[:, ROUNDS], tally.sums[:, UNOBSERVED] = total, old["rounds"][:, -1]
    for place, old_place in ((RESIDUAL, 0), (MISTAKES, 1), (ANSWERED, 2), (FORGOTTEN, 3)):
        tally.sums[:, place] = old["sums"][:, old_place]
    length = len(old["chance"])
    for t in range(max(rounds - length, 0), rounds):
        chance, status = (old[name][t % length] for name in ("chance", "status"))
        _add_to_windows(tally, t, float(chance), int(status) if t not in pending else _OPEN)
    return tally


def _add_to_windows(tally: Tally, t: int, P: float, status: int) -> None:
    """Count one of the last rounds in the windows, in place."""
    last, wrong, factors = int(tally.count[0]) - 1, status == _WRONG, np.ones(len(tally.stakes))
    if status in (_FORGOTTEN, _RIGHT, _WRONG):
        bet(factors, tally.growth, tally.loss, P, 0, EARLIER, wrong or status == _FORGOTTEN, wrong)
    logs = np.log(factors) - np.where((1.0 - P) * tally.growth < 1.0, 0.0, np.maximum(tally.stakes, 0.0))
    for w, size in enumerate(tally.steps.tolist()):
        block = t // size
        if last // size - block >= BLOCKS:
            continue
        tally.block_logs[w, block % BLOCKS] += logs
        sums = tally.block_sums[w, block % BLOCKS]
        sums[ROUNDS] += 1.0
        sums[UNOBSERVED] += P == 0.0
        sums[FORGOTTEN] += status == _FORGOTTEN
        sums[ANSWERED] += status in (_RIGHT, _WRONG)
        sums[MISTAKES] += wrong
        sums[RESIDUAL] += wrong / max(P, SMALLEST_COIN)


def _check(old: dict[str, Any]) -> None:
    """Refuse arrays that no file of the first release can hold."""
    ends = {"up": (1e-300, 1.0), "down": (1.0, 1e300), "chance": (0.0, 1.0), "side": (0, 1), "status": (0, 3)}
    try:
        shapes = all(old[name].shape == shape for name, shape in _SHAPES.items())
        ring = {old[name].shape for name in ("chance", "side", "status")}
        sound = all(all_within(old[name], *ends.get(name, (0.0, 1e300))) for name in (*_SHAPES, *ends))
    except (KeyError, AttributeError):
        shapes, ring, sound = False, set(), False
    if not (shapes and sound and len(ring) == 1 and len(next(iter(ring))) == 1 and next(iter(ring)) != (0,)):
        raise SnapshotError("the snapshot's arrays contradict each other.", owner="load")
