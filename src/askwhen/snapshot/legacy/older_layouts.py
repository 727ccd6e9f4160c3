"""Supplies the arrays that snapshots of earlier layouts lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...contracts.drift import NoDrift
from ...engine.engine import Engine
from ...engine.state_arrays import arrays_of
from ..header import count
from . import first_release_tally


def with_missing_arrays(engine: Engine, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The arrays of an older snapshot, and those it lacks: nothing is spent, and all its rounds are unobserved."""
    layout, missing = header.get("layout", 1), dict[str, Any]()
    if not isinstance(engine.drift, NoDrift):
        missing |= arrays_of(engine.drift, "drift")
    if engine.prepare is not None and layout < 3:
        missing["prepare.ahead"] = arrays_of(engine.prepare, "prepare")["prepare.ahead"]
    if layout == 1:
        missing |= arrays_of(engine.rule, "rule")
    rounds = count(header["round"])
    if layout < 4 and rounds > 0:
        old = {name.removeprefix("tally."): array for name, array in arrays.items() if name.startswith("tally.")}
        waiting = {line[0] for line in header["pending"]}
        tally = (
            first_release_tally.unobserved(rounds)
            if layout == 1
            else first_release_tally.converted(old, rounds, waiting)
        )
        arrays = {name: array for name, array in arrays.items() if not name.startswith("tally.")}
        missing |= arrays_of(tally, "tally")
    return missing | arrays
