"""Dictionaries as rows: every name has a column of its own, or a place by hashing.

A name has the same column forever, so that a sampler can standardise it. What a row holds where a known name is
absent depends on the values that the name has had:

==========  ==========================================================
COUNTS      whole numbers from 1 up, and 1 among them: flags, counts, text. In these, zeros are usually left out,
            so absent is 0
otherwise   absent is missing: the row holds the running mean, which standardises to 0 and has no effect
seen        number of rounds in which the name was present, the coming one included; k is the number of that round,
            from 1
==========  ==========================================================

A sampler weighs the k-th value of a feature by 1/k. A number that came late, or is missing now and then, should be
weighed by 1/seen: ``settle`` moves its statistics before the round to where the round will lead them to what its own
values give. Without a gap seen is k, and nothing is moved.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp

from ...compiled.steps import borrow, entry
from ...data.hashing import hash_name
from ...errors import InputError
from ...linalg.vectors import SOUND, look
from ...prepare import K, PrepareState, moved
from ...trace.trace import Ask

UNDECIDED, COUNTS, NUMBERS = 0, 1, 2

_place_of = lru_cache(1 << 16)(hash_name)


@entry
def settle(state: Any, seen: Any, kind: Any, x: Any, present: Any) -> None:
    """Make the statistics and the row x ready for the round of x, in place; an unsound row changes nothing."""
    state = borrow(state)
    if look(state.mean, x)[2] != SOUND:
        return
    k = state.counts[K] + 1.0
    share, _, _ = moved(0.0, 0.0, 0.0, k, 1.0)
    for i in range(len(x)):
        mean, var = state.mean[i], state.var[i]
        if present[i]:
            seen[i] += 1.0
            if x[i] < 1.0 or x[i] != math.floor(x[i]):
                if kind[i] == COUNTS and seen[i] < k:
                    seen[i] = 1.0  # its absences were not zeros: its statistics start again
                kind[i] = NUMBERS
            elif x[i] == 1.0 and kind[i] == UNDECIDED:
                kind[i] = COUNTS
                if seen[i] < k:  # it was 0 where it was thought to be missing
                    f = (seen[i] - 1.0) / (k - 1.0)
                    state.mean[i], state.var[i] = f * mean, f * (var + (1.0 - f) * mean * mean)
        if kind[i] == COUNTS or seen[i] == 0.0:
            continue
        if not present[i]:
            x[i], state.var[i] = mean, var / (1.0 - share)
        elif seen[i] < k:
            after, var, reach = moved(mean, var, state.reach[i], seen[i], x[i])
            if abs(x[i] - mean) <= reach:  # an outlier is left to the round, which clips it
                before = (after - share * x[i]) / (1.0 - share)
                gap = x[i] - before
                state.mean[i], state.reach[i] = before, reach
                state.var[i] = max(var / (1.0 - share) - share * gap * gap, 0.0)


class NamedColumns:
    """The column of each name, and the kind of its values.

    Parameters
    ----------
    n_features : int
        Number of columns. Names for which no column is left are ignored, with one warning.
    """

    def __init__(self, n_features: int) -> None:
        self.places: dict[Any, int] = {}
        self.seen = np.zeros(n_features)
        self.kind = np.zeros(n_features, np.int8)
        self.has_warned = False

    def row(self, values: dict[Any, float], statistics: PrepareState | None) -> np.ndarray:
        """The row of an instance that is only predicted; names that no round has had are left out."""
        row = np.zeros(len(self.seen)) if statistics is None else np.where(self.kind == COUNTS, 0.0, statistics.mean)
        for name, value in values.items():
            place = self.places.get(name)
            if place is not None:
                row[place] = value
        return row

    def play(
        self, owner: str, values: dict[Any, float], statistics: PrepareState | None, ask: Callable[[np.ndarray], Ask]
    ) -> Ask:
        """Ask about the row of an instance, with columns for its new names; if that is refused, nothing has changed."""
        places = self._with_new(owner, values)
        row, present = np.zeros(len(self.seen)), np.zeros(len(self.seen), np.bool_)
        for name, value in values.items():
            place = places.get(name)
            if place is not None:
                row[place], present[place] = value, True
        changing: list[np.ndarray] = [self.seen, self.kind]
        if statistics is not None:
            changing += [statistics.mean, statistics.var, statistics.reach]
        before = [array.copy() for array in changing]
        try:
            if statistics is not None:
                settle(statistics, self.seen, self.kind, row, present)
            asked = ask(row)
        except BaseException:
            for array, old in zip(changing, before, strict=True):
                array[:] = old
            raise
        self.places = places
        return asked

    def _with_new(self, owner: str, values: dict[Any, float]) -> dict[Any, int]:
        """The places, with those of new names, in an order that does not depend on that of the dictionary."""
        new = sorted((name for name in values if name not in self.places), key=str)
        if not new:
            return self.places
        size, taken = len(self.seen), len(self.places)
        if taken == 0 and len(new) > size:
            raise InputError(
                f"x must have at most n_features={size} names, got {len(new)}; give n_features={len(new)} or "
                "more, or features='hashing' if they are words.",
                owner=owner,
            )
        if taken + len(new) > size and not self.has_warned:
            self.has_warned = True
            warnings.warn(
                f"{owner}: {str(new[size - taken])!r} and every new name after it is left out, since the "
                f"n_features={size} columns are taken; give a larger n_features, or features='hashing' for words.",
                stacklevel=5,
            )
        return self.places | dict(zip(new, range(taken, size), strict=False))


def hashed_row(values: dict[Any, float], n_features: int) -> sp.csr_matrix:
    """A sparse row with names in places by hashing; names that share one add up."""
    found: dict[int, float] = {}
    for name in sorted(values, key=str):
        place = _place_of(str(name), n_features)
        found[place] = found.get(place, 0.0) + values[name]
    places = sorted(found)
    data = [found[place] for place in places]
    return sp.csr_matrix((data, places, [0, len(places)]), (1, n_features), dtype=float)
