"""An alarm for an accuracy that falls below a level, valid however often you look.

The null hypothesis is that the accuracy reaches the level in every window of a given length, that is, that no window
holds more than m mistakes. A window that begins now bets on more; if there are at most m, its wealth
(:mod:`askwhen.evaluate.estimation.confidence`) has mean at most 1 as long as the window lasts, so it ever exceeds 1/a
with probability at most a. Windows begin at every tenth of their length, and the k-th has the share a_k of alpha, with
1 / (k ln^2 k) falling slowly: over the whole life of a stream the alarm is raised by chance with probability alpha.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from ...engine.tally.round_tally import BLOCKS, WINDOWS
from ...errors import InputError
from ...validation import check_count, check_number
from .accuracy import RECENT, check_window
from .confidence import evidence
from .tally_views import blocks_of

_SUM = 2.1098
"""The sum of 1 / (n ln^2 n) from n = 2 on, rounded up."""


@dataclass(frozen=True)
class Alarm:
    """Whether the accuracy has fallen below a level; true where it has.

    Attributes
    ----------
    raised : bool
        Whether a window shows it.
    level, recent : float, int
        The accuracy that every window should reach, and the number of rounds in a window.
    since : int or None
        The round in which the window with the most evidence began.
    evidence : float
        Progress of the test: 0 without any evidence; the alarm is raised at 1. It is the logarithm of the wealth over
        that of the threshold.
    """

    raised: bool
    level: float
    recent: int
    since: int | None
    evidence: float

    def __bool__(self) -> bool:
        return self.raised

    def __str__(self) -> str:
        state = "has fallen" if self.raised else "is not known to have fallen"
        since = f" in the {self.recent:,} rounds from round {self.since:,} on" if self.raised else ""
        return f"the accuracy {state} below {self.level:.1%}{since}"


def alarm(sampler: Any, level: float, recent: int = RECENT, *, confidence: float = 0.95) -> Alarm:
    """Test whether the accuracy of the last rounds is below a level, from the asked labels, at any time.

    If every window of ``recent`` rounds reaches the level, an alarm is raised in at most one of twenty streams, however
    often you look: no correction for repeated tests is needed. Only windows that are under way, or have just ended, are
    tested, so call it at least once per window, and store an alarm that was raised. The documentation has measurements
    of the delay after a real drop.

    Parameters
    ----------
    sampler : any sampler
        The sampler to test; it is not changed.
    level : float
        The accuracy that every window should reach, as 0.9.
    recent : int, default 5000
        Number of rounds in a window: 1,000, 5,000 or 20,000.
    confidence : float, default 0.95
        One minus the probability of a false alarm.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((9000, 5))
    >>> y = np.where(X[:, 0] > 0, 1, -1)
    >>> y[4000:] = np.random.default_rng(1).choice([-1, 1], 5000)      # from here on nothing can be learnt
    >>> sampler = aw.Sampler(seed=7)
    >>> trace = sampler.run(X[:4000], y[:4000])
    >>> bool(aw.evaluate.alarm(sampler, 0.8, recent=1000))
    False
    >>> trace = sampler.run(X[4000:], y[4000:])
    >>> print(aw.evaluate.alarm(sampler, 0.8, recent=1000))
    the accuracy has fallen below 80.0% in the 1,000 rounds from round 7,900 on
    """
    check_number("alarm", "level", level, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_number("alarm", "confidence", confidence, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
    check_count("alarm", "recent", recent)
    check_window("alarm", recent)
    if getattr(sampler, "tasks", None):
        raise InputError("this sampler has tasks; use sampler.tasks[j].", owner="alarm")
    if not hasattr(sampler, "tally") or getattr(sampler, "classes", None) is None:
        raise InputError(
            f"sampler must be a sampler that predicts labels, got {type(sampler).__name__}.", owner="alarm"
        )
    tally, now, _, waiting = sampler.tally()
    which, allowed = WINDOWS.index(recent), (1.0 - float(level)) * recent
    size, count = int(tally.steps[which]), int(tally.count[0])
    present, best = max(count - 1, 0) // size, (0.0, None)
    for first in range(max(present - BLOCKS + 1, 0), present + 1):
        found = blocks_of(tally, which, first, min(first + 10, present + 1), waiting)
        wealth = float(evidence(found.A, found.stakes, allowed))
        needed = math.log(_SUM * (first + 2) * math.log(first + 2) ** 2 / (1.0 - confidence))
        if wealth / needed > best[0]:
            best = wealth / needed, first * size + now - count
    return Alarm(best[0] >= 1.0, float(level), int(recent), best[1], best[0])
