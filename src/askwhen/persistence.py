"""States and parameters as what a snapshot can hold, and back.

Parameters become a class name with its arguments; states become named arrays. A state is rebuilt from the parameters
that made it, and only its arrays come from the snapshot: numbers that follow from parameters are never stored twice.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from . import drift, learners, rules
from .contracts import State
from .errors import InputError, SnapshotError

PARTS: dict[str, Callable[..., Any]] = {
    name: getattr(room, name) for room in (learners, rules, drift) for name in room.__all__
}
"""Every learner, rule and drift guard by name."""


def describe(part: Any) -> list[Any] | None:
    """A learner, rule or drift guard as its name and parameters."""
    if part is None:
        return None
    values = {field.name: getattr(part, field.name) for field in dataclasses.fields(part)}
    return [type(part).__name__, {name: _plain(value) for name, value in values.items()}]


def build(described: list[Any] | None) -> Any:
    """The learner, rule or drift guard of this description."""
    if described is None:
        return None
    name, values = described
    if name not in PARTS:
        raise SnapshotError(f"load: this version of askwhen has no {name!r}.")
    try:
        return PARTS[name](**values)
    except (TypeError, InputError) as error:
        raise SnapshotError(f"load: the parameters of {name} cannot be used ({error}).") from error


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def map_arrays(state: State, change: Callable[[str, np.ndarray], np.ndarray], path: str = "") -> State:
    """The same state with every array replaced by what ``change(its path, it)`` gives."""
    fields = {}
    for name, value in state._asdict().items():
        here = f"{path}.{name}" if path else name
        if isinstance(value, np.ndarray):
            fields[name] = change(here, value)
        elif hasattr(value, "_asdict"):
            fields[name] = map_arrays(value, change, here)
    return state._replace(**fields)


def copy_state(state: State) -> State:
    """The same state in arrays of its own."""
    return None if state is None else map_arrays(state, lambda _, array: array.copy())


def arrays_of(state: State, path: str) -> dict[str, np.ndarray]:
    """Every array of a state by its path."""
    found: dict[str, np.ndarray] = {}

    def note(name: str, array: np.ndarray) -> np.ndarray:
        found[name] = array
        return array

    map_arrays(state, note, path)
    return found


def with_arrays(state: State, path: str, arrays: dict[str, np.ndarray]) -> State:
    """The same state with its arrays taken from a snapshot, which may have grown since."""

    def take(name: str, old: np.ndarray) -> np.ndarray:
        new = arrays.get(name)
        may_grow = old.ndim > 0 and old.shape[0] == 0  # what grows starts empty
        if new is None or new.dtype != old.dtype or new.shape[may_grow:] != old.shape[may_grow:]:
            raise SnapshotError(f"load: the snapshot's array {name!r} is missing or of another kind.")
        return new

    return map_arrays(state, take, path)
