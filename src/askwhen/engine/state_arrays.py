"""States as named arrays: copy a state, list its arrays by path, and replace them with those of a snapshot."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..contracts.learner import State
from ..errors import SnapshotError


def map_arrays(state: State, change: Callable[[str, np.ndarray], np.ndarray], path: str = "") -> State:
    """The same state with every array replaced by ``change(path, array)``."""
    fields: dict[str, State] = {}
    for name, value in state._asdict().items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, np.ndarray):
            fields[name] = change(here, value)
        elif hasattr(value, "_asdict"):
            fields[name] = map_arrays(value, change, here)
        elif isinstance(value, tuple) and value and hasattr(value[0], "_asdict"):
            fields[name] = tuple(map_arrays(each, change, f"{here}.{j}") for j, each in enumerate(value))
    return state._replace(**fields)


def copy_state(state: State) -> State:
    """A copy of the state that shares no arrays with it.

    Without the names that ``map_arrays`` spells out: every run begins with copies.
    """
    if isinstance(state, np.ndarray):
        return state.copy()
    if not isinstance(state, tuple):
        return state
    parts = map(copy_state, state)
    return tuple.__new__(type(state), parts)


def writeable(state: State) -> State:
    """The same state with copies of the arrays that cannot be written to, such as those mapped from a file."""
    if state is None:
        return None
    return map_arrays(state, lambda _, array: array if array.flags.writeable else array.copy())


def arrays_of(state: State, path: str) -> dict[str, np.ndarray]:
    """Every array of a state by its path."""
    found: dict[str, np.ndarray] = {}

    def note(name: str, array: np.ndarray) -> np.ndarray:
        found[name] = array
        return array

    map_arrays(state, note, path)
    return found


def with_arrays(state: State, path: str, arrays: dict[str, np.ndarray]) -> State:
    """The same state with the arrays of a snapshot; an array that starts empty may have any length there."""

    def take(name: str, old: np.ndarray) -> np.ndarray:
        new = arrays.get(name)
        may_grow = old.ndim > 0 and old.shape[0] == 0  # arrays that grow start empty
        if new is None or new.dtype != old.dtype or new.shape[may_grow:] != old.shape[may_grow:]:
            raise SnapshotError(f"the snapshot's array {name!r} is missing or has a wrong type or shape.", owner="load")
        return new

    return map_arrays(state, take, path)
