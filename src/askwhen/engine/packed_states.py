"""The states of an engine with all their arrays in one block of memory, so that they can be copied as words.

Making an engine costs a hundred times as much as a round. Where many engines of one kind take turns in memory, one of
them can be filled with the words of another instead.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..compiled.steps import entry, entry_point
from .engine import Engine
from .state_arrays import arrays_of, map_arrays
from .tally.error_model import update_limits
from .tally.round_tally import DERIVED, WINDOWS

_STATES = ("learner", "rule", "drift", "prepare", "tally")
_OUTSIDE = frozenset(f"tally.{name}" for name in DERIVED)
"""Arrays that are computed from the others, and not in the block."""
_FAR = ("tally.cells", "tally.block_cells")
_LAST = "tally.strata"
"""Behind all other arrays, since blocks of earlier versions lack it and are read as the beginning of one of today."""
_FIRST_BLOCK_END = min(WINDOWS) // 10
"""Before so many rounds no block of the tally has ended, so that the arrays of ``_FAR`` are unchanged."""


class PackedStates:
    """The states of an engine in one block; ``words`` is that block.

    Empty arrays are not in it, because they may grow; a state that grows is replaced, and then ``is_intact`` is False.
    """

    __slots__ = ("_derived", "_engine", "_restore", "_states", "_words_before_far", "words")

    def __init__(self, engine: Engine) -> None:
        states = {name: getattr(engine, name) for name in _STATES if getattr(engine, name) is not None}
        arrays = {name: array for at, state in states.items() for name, array in arrays_of(state, at).items()}
        inside = [name for name, array in arrays.items() if array.size > 0 and name not in _OUTSIDE]
        places, size = dict[str, int](), 0
        for name in sorted(inside, key=lambda name: (name in _FAR) + 2 * (name == _LAST)):
            if name not in (*_FAR, _LAST):
                self._words_before_far = size + -(-arrays[name].nbytes // 8)
            places[name], size = size, size + -(-arrays[name].nbytes // 8)
        self.words = block = np.zeros(size, np.int64)

        def moved(name: str, array: np.ndarray) -> np.ndarray:
            if name not in places:
                return array
            here = block[places[name] :].view(np.uint8)[: array.nbytes].view(array.dtype).reshape(array.shape)
            here[...] = array
            return here

        for name, state in states.items():
            setattr(engine, name, map_arrays(state, moved, name))
        self._engine, tally = engine, engine.tally
        self._states = [getattr(engine, name) for name in _STATES]
        self._derived = (tally.now, tally.touched, tally.count, tally.model, tally.limits)
        self._restore = entry_point(_restore_derived, *self._derived)

    @property
    def is_intact(self) -> bool:
        """Whether every state of the engine is still in the block."""
        now, (learner, rule, drift, prepare, tally) = vars(self._engine), self._states
        return (
            now["learner"] is learner
            and now["rule"] is rule
            and now["drift"] is drift
            and now["prepare"] is prepare
            and now["tally"] is tally
        )

    @property
    def changed_length(self) -> int:
        """The number of words, from the first on, among which all are that may have changed since the first round."""
        return self._words_before_far if self._engine.round < _FIRST_BLOCK_END else len(self.words)

    def restore_derived(self) -> None:
        """Compute the arrays that are not in the block, after words were written to it."""
        self._restore(*self._derived)


@entry
def _restore_derived(now: Any, touched: Any, count: Any, model: Any, limits: Any) -> None:
    found = 0
    for cell in range(len(now)):
        if now[cell] != 0:
            touched[found] = cell
            found += 1
    count[2] = found
    update_limits(model, limits)
