"""Supplies the arrays that snapshots of earlier layouts lack."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...contracts.drift import NoDrift
from ...engine.engine import Engine
from ...engine.state_arrays import arrays_of
from ...learners.mixture_classes import SeveralState
from ...learners.mixture_state import MixtureState
from ...learners.word_classes import of_every_feature
from ...prepare import ViewsState
from ..header import count
from . import first_release_tally


def with_missing_arrays(engine: Engine, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The arrays of an older snapshot, and those it lacks: nothing is spent, and all its rounds are unobserved."""
    layout, missing = header.get("layout", 1), dict[str, Any]()
    missing |= {name: array for name, array in _later_arrays(engine).items() if array.size == 0}
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
    return missing | arrays | _lines_of_words(engine, arrays)


def _lines_of_words(engine: Engine, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The lines of words for several classes, of which an older snapshot has one for every feature."""
    found: dict[str, np.ndarray] = {}
    for path, where in arrays_of(engine.learner, "learner").items():
        base = path.removesuffix("where")
        if base == path or path in arrays:
            continue
        lines, taken = arrays.get(f"{base}lines"), arrays.get(f"{base}taken")
        if lines is None or taken is None:
            found |= {path: where, f"{base}used": np.zeros(1, np.int64)}
        elif lines.dtype == taken.dtype == float and lines.ndim == 3 and len(lines) == len(taken) == len(where):
            names = [f"{base}{name}" for name in ("lines", "taken", "where", "used")]
            found |= dict(zip(names, of_every_feature(lines, taken), strict=True))
    return found


def _later_arrays(engine: Engine) -> dict[str, np.ndarray]:
    """The arrays of kinds of features, of which an older snapshot has none."""
    found: dict[str, np.ndarray] = {}
    for name in ("learner", "prepare"):
        state = getattr(engine, name)
        later = (
            ("direction", "clusters", "lines", "taken", "gain", "lasting", "lasts")
            if name == "learner"
            else ("raw", "vectors")
        )
        if isinstance(state, (MixtureState, SeveralState, ViewsState)):
            arrays = arrays_of(state, name)
            found |= {path: array for path, array in arrays.items() if path.split(".")[1] in later}
    return found
