"""An engine as what a snapshot can hold, and back.

A state is rebuilt from the parameters that made it, and only its arrays come from the snapshot: numbers that follow
from parameters are never stored twice. What comes from a file is checked before any step follows it.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from .contracts import Parts, is_sound
from .engine import Engine
from .errors import SnapshotError
from .kernels import Kernel
from .linalg import SparseRow
from .parts import build, check_parts, describe
from .round import BY_RULE, PERIOD, SWITCHED, unmarked
from .states import arrays_of, with_arrays
from .trace import Ask
from .validation import Row, is_instance, values_of

Content = tuple[dict[str, Any], dict[str, np.ndarray]]


def dump(engine: Engine, tasks: list[Engine]) -> Content:
    """Everything, as a header and arrays."""
    header, arrays = _dump(engine)
    header["tasks"] = []
    for j, task in enumerate(tasks):
        task_header, task_arrays = _dump(task)
        header["tasks"].append(task_header)
        arrays |= {f"task.{j}.{name}": array for name, array in task_arrays.items()}
    first: dict[int, str] = {}
    header["same"] = {}
    for name, array in list(arrays.items()):
        if first.setdefault(id(array), name) != name:  # what tasks share is written once
            header["same"][name] = first[id(array)]
            del arrays[name]
    return header, arrays


def _dump(engine: Engine) -> Content:
    header = {
        "layout": 2,
        "parts": [describe(part) for part in engine.parts],
        "seed": engine.seed,
        "d": engine.shape.d,
        "sparse": engine.shape.sparse,
        "round": engine.round,
        "questions": engine.questions,
        "updates": engine.updates,
        "switches": list(engine.switches),
        "coins": engine.coins.bit_generator.state,
        "randomness": engine.randomness.bit_generator.state,
        "pending": [[*ask, *unmarked(marks)] for ask, _, marks in engine.pending.values()],
    }
    arrays: dict[str, np.ndarray] = {}
    for name, state in _states(engine, engine.round):
        arrays |= arrays_of(state, name)
    for number, (_, x, _) in engine.pending.items():
        arrays[f"pending.{number}"] = values_of(x)
        if isinstance(x, SparseRow):
            arrays[f"pending.{number}.indices"] = x.indices
    return header, arrays


def _states(engine: Engine, rounds: int) -> list[tuple[str, Any]]:
    """The states that there are, by name; the tally of a sampler that has played no round is empty, and left out."""
    names = ("learner", "rule", "drift", "prepare") + ("tally",) * (rounds > 0)
    return [(name, getattr(engine, name)) for name in names if getattr(engine, name) is not None]


def restore(header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> list[Engine]:
    """The engine that was dumped and those of its tasks, with the user's own kernel where they had one."""
    try:
        arrays = arrays | {name: arrays[other] for name, other in header["same"].items()}
        engines = [_restore(header, arrays, kernel)]
        for j, task in enumerate(header["tasks"]):
            prefix = f"task.{j}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            engines.append(_restore(task, own, kernel))
        return engines
    except SnapshotError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, MemoryError) as error:
        raise SnapshotError("load: the file holds no sampler that this version can read.") from error


def _with_what_came_later(engine: Engine, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> dict[str, Any]:
    """The arrays of an older snapshot, and those it lacks: nothing spent, and all its rounds unobserved."""
    later = arrays_of(engine.rule, "rule") | arrays_of(engine.tally, "tally")
    later["tally.rounds"][0, -1] = index(header["round"])
    return later | arrays


def _restore(header: dict[str, Any], arrays: dict[str, np.ndarray], kernel: Kernel | None) -> Engine:
    parts = Parts(*(build(part, kernel) for part in header["parts"]))
    check_parts(parts)
    engine = Engine(parts, None if header["seed"] is None else index(header["seed"]))
    if header["d"] >= 0:
        engine.begin("load", "X", header["d"], header["sparse"])
    if header.get("layout", 1) == 1:
        arrays = _with_what_came_later(engine, header, arrays)
    for name, state in _states(engine, header["round"]):
        setattr(engine, name, with_arrays(state, name, arrays))
    if not (is_sound(engine.learner) and is_sound(engine.drift)):
        raise SnapshotError("load: the snapshot's arrays contradict each other.")
    for name in ("round", "questions", "updates"):
        setattr(engine, name, index(header[name]))
    engine.switches = [index(number) for number in header["switches"]]
    engine.coins.bit_generator.state = header["coins"]
    engine.randomness.bit_generator.state = header["randomness"]
    for *ask, by_rule, period, switched in header["pending"]:
        x: Row = arrays[f"pending.{ask[0]}"]
        if header["sparse"]:
            x = SparseRow(x, arrays[f"pending.{ask[0]}.indices"], 0, len(x))
        if not (is_instance(x, engine.dimension) and index(ask[0]) < engine.round):
            raise SnapshotError(f"load: the open question of round {ask[0]} cannot be used.")
        engine.pending[ask[0]] = (Ask(*ask), x, _marks(by_rule, index(period), switched))
    return engine


def _marks(by_rule: Any, period: int, switched: Any) -> int:
    """What a question keeps of its round, from a header that may say anything."""
    if not 0 <= period < 1 << 53:
        raise SnapshotError("load: an open question is of a window that cannot be.")
    return BY_RULE * bool(by_rule) + SWITCHED * bool(switched) + PERIOD * period
