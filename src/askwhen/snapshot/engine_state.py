"""Conversion of an engine to the header and arrays of a snapshot, and back.

A state is rebuilt from the parameters that made it, and only its arrays come from the snapshot: numbers that follow
from parameters are never stored twice. Everything from a file is checked before compiled code uses it as an index: the
header and what several states share here, the arrays of each state by its own ``is_sound``.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from ..contracts.abilities import MultiClassLearner, ViewLearner, classes_of, provides
from ..contracts.learner import is_sound
from ..contracts.sampler import Parts
from ..data.columns import Columns
from ..data.schema_json import from_json, to_json
from ..engine.decider import Decider, GivenMargins
from ..engine.engine import Engine
from ..engine.inputs.argument_checks import check_classes, check_costs, check_most, check_new_label
from ..engine.inputs.registry import build, check_parts, describe
from ..engine.inputs.two_labels import read_pair, written_pair
from ..engine.label_spaces import Classes, LabelSets
from ..engine.state_arrays import arrays_of, with_arrays
from ..engine.tally.round_tally import DERIVED, LATER, complete
from ..errors import InputError, SnapshotError
from ..weights.choose_form import fitting, matrix_bytes
from ..weights.class_slots import FIRST_SLOTS, MOST_LABELS
from ..weights.expansion import BASE, BORROWED, expansion_of
from ..weights.kernels import Kernel
from . import adviser_accounts, open_questions
from .class_tallies import stored_arrays, with_stored_arrays
from .header import CONTRADICTION, UNREADABLE, count, flag
from .legacy.older_layouts import with_missing_arrays

Content = tuple[dict[str, Any], dict[str, np.ndarray]]

LAYOUT = 7
"""Version of the set of arrays. Since 2 there are a tally and the spending of a rule, since 3 the look-ahead statistics
of Prepare, since 4 a tally that predicts mistakes; since 5 the open questions share one array;
since 6 the default learner has experts on vectors and words, and weights for models that only predict; since 7 only
words of labelled instances have a line where there are several classes."""

LARGEST_DIMENSION = (1 << 31) - 1

_OTHERS = {
    "one_vs_rest": "OneVsRest",
    "multi_label": "MultiLabel",
    "batch": "BatchClassifier",
    "side_by_side": "SideBySide",
}
"""Header keys of files that do not hold a Sampler, and the class that reads each of them."""


def check_kind(header: dict[str, Any], wanted: str) -> None:
    """Refuse the file of another class; the error names the class that reads it."""
    found = next((name for key, name in _OTHERS.items() if key in header), "Sampler")
    if found != wanted:
        raise SnapshotError(f"the file holds a {found}; use {found}.load, not {wanted}.load.", owner="load")


def dump(engine: Engine, tasks: list[Engine]) -> Content:
    """An engine and its tasks as a header and arrays."""
    header, arrays = _dump(engine)
    header["tasks"] = []
    for j, task in enumerate(tasks):
        task_header, task_arrays = _dump(task)
        header["tasks"].append(task_header)
        arrays |= {f"task.{j}.{name}": array for name, array in task_arrays.items()}
    first: dict[int, str] = {}
    header["same"] = {}
    for name, array in list(arrays.items()):
        if first.setdefault(id(array), name) != name:  # arrays that tasks share are written once
            header["same"][name] = first[id(array)]
            del arrays[name]
    return header, arrays


def _dump(engine: Engine) -> Content:
    header = {
        "layout": LAYOUT,
        "parts": [describe(part) for part in engine.parts],
        "seed": engine.seed,
        "d": engine.shape.d,
        "sparse": engine.shape.sparse,
        "round": engine.round,
        "questions": engine.questions,
        "updates": engine.updates,
        "volunteered": engine.volunteered,
        "switches": list(engine.switches),
        "coins": engine.draws.generator.bit_generator.state,
        "randomness": engine.draws.randomness.bit_generator.state,
        "pending": open_questions.lines(engine),
    }
    if engine.limits_certainty:
        header["certainty"] = 2
    if engine.copies or engine.free:
        header |= {"copies": engine.copies, "free": sorted(engine.free)}
    if engine.costs is not None:
        header["costs"] = list(engine.costs)
        header["raw"] = [[number, raw] for number, raw in engine.raw.items()]
    if engine.classes is not None:
        header["classes"] = list(engine.classes)
    if engine.answers is not None and engine.answers.multi:
        header["multi"] = True
    if engine.most:
        slots = 0 if engine.learner is None else len(engine.learner.mean)
        header |= {"most": engine.most, "rooms": slots}
    if engine.advisers is not None:
        header["advisers"] = adviser_accounts.described(engine.advisers)
    if engine.names is not None:
        header["names"] = list(engine.names)
    if engine.schema is not None:
        header["schema"] = to_json(engine.schema)
    elif engine.columns is not None:
        header["choices"] = engine.columns.to_json()
    pair = written_pair(engine.pair, engine.has_learnt) if engine.answers is None and not engine.regression else None
    if pair is not None:
        header["pair"] = pair
    if engine.promise is not None:
        header["promise"] = engine.promise.dump(ask for ask, _, _ in engine.pending.values())
    arrays: dict[str, np.ndarray] = {}
    for name, state in _states(engine, engine.round):
        arrays |= arrays_of(state, name)
    arrays = {name: array for name, array in arrays.items() if not _is_scratch(name)}
    for name in DERIVED:
        arrays.pop(f"tally.{name}", None)
    if engine.advisers is not None:
        arrays |= adviser_accounts.arrays_in(engine.advisers)
    if engine.answers is not None:
        tally = engine.answers.tally
        arrays |= {f"classes.{name}": getattr(tally, name) for name in stored_arrays(tally)}
    return header, arrays | open_questions.stacked(engine)


def _is_scratch(path: str) -> bool:
    """Whether an array means nothing between two rounds, and is not stored."""
    return path.startswith(adviser_accounts.GIVEN) or ".lookahead." in path


def _states(engine: Engine, rounds: int) -> list[tuple[str, Any]]:
    """The states that exist, by name; before the first round the tally is empty and left out."""
    names = ("learner", "rule", "drift", "prepare") + ("tally",) * (rounds > 0)
    states = [(name, getattr(engine, name)) for name in names if getattr(engine, name) is not None]
    return [(name, state) for name, state in states if not isinstance(state, GivenMargins)]


def restore(
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    kernel: Kernel | None,
    is_decider: bool = False,
    given: Iterable[type] = (),
) -> list[Engine]:
    """The engine that was dumped and those of its tasks, with the user's own kernel where they had one.

    If ``is_decider``, the engine decides on margins of the others and has no learner's state.
    """
    try:
        arrays = arrays | dict(_shared(header["same"], arrays))
        engines = [_restore(header, arrays, kernel, is_decider, given)]
        for j, task in enumerate(header["tasks"]):
            prefix = f"task.{j}."
            own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
            engines.append(_restore(task, own, kernel, given=given))
        _check_together(engines[1:])
        if any(task.regression != engines[0].regression for task in engines[1:]):
            raise SnapshotError("the snapshot's tasks are not of one kind.", owner="load")
        return engines
    except SnapshotError:
        raise
    except UNREADABLE as error:
        raise SnapshotError("the file does not hold a sampler that this version can read.", owner="load") from error


def _shared(same: dict[str, str], arrays: dict[str, np.ndarray]) -> Iterator[tuple[str, np.ndarray]]:
    """The arrays that are written once for several tasks; only stored instances may be shared."""
    for name, other in same.items():
        path = name.split(".", 2)[2]
        is_stored = path.endswith(".norms") or ".store." in path
        if not is_stored or path != other.split(".", 2)[2] or name in arrays:
            raise SnapshotError(CONTRADICTION, owner="load")
        yield name, arrays[other]


def _check_together(tasks: list[Engine]) -> None:
    """Refuse tasks with different parameters, and tasks that share part of a store, or one that could still grow."""
    stores: dict[int, list[int]] = {}
    users: dict[int, int] = {}
    sums = [None if task.learner is None else expansion_of(task.learner) for task in tasks]
    for task, w in zip(tasks, sums, strict=True):
        if task.parts != tasks[0].parts or task.shape != tasks[0].shape:
            raise SnapshotError("the snapshot's tasks are not of one kind.", owner="load")
        if w is not None:
            arrays = [id(w.norms), *map(id, w.store)]
            for array in arrays:
                users[array] = users.get(array, 0) + 1
                if stores.setdefault(array, arrays) != arrays:
                    raise SnapshotError(CONTRADICTION, owner="load")
    for w in sums:
        if w is not None and users[id(w.norms)] > 1 and w.counts[BASE] != BORROWED:
            raise SnapshotError(CONTRADICTION, owner="load")


def _restore(
    header: dict[str, Any],
    arrays: dict[str, np.ndarray],
    kernel: Kernel | None,
    is_decider: bool = False,
    given: Iterable[type] = (),
) -> Engine:
    if header.get("layout", 1) not in range(1, LAYOUT + 1):
        raise SnapshotError(
            f"the snapshot has layout {header['layout']!r}, of a later version of askwhen.", owner="load"
        )
    parts = Parts(*(build(part, kernel, given) for part in header["parts"]))
    check_parts(parts)
    engine = _begun(parts, header, arrays, is_decider)
    if header.get("layout", 1) < LAYOUT:
        arrays = with_missing_arrays(engine, header, arrays)
    for name in ("round", "questions", "updates"):
        setattr(engine, name, count(header[name]))
    engine.volunteered = count(header.get("volunteered", 0))
    engine.limits_certainty = count(header.get("certainty", 1)) > 1
    if not engine.updates <= engine.questions <= engine.round:
        raise SnapshotError("the snapshot's counts contradict each other.", owner="load")
    derived, later = ({f"tally.{name}": getattr(engine.tally, name) for name in names} for names in (DERIVED, LATER))
    for name, state in _states(engine, engine.round):
        scratch = {path: array for path, array in arrays_of(state, name).items() if _is_scratch(path)}
        sound = with_arrays(state, name, later | arrays | derived | scratch)
        if not is_sound(sound):
            raise SnapshotError(CONTRADICTION, owner="load")
        if name == "tally":
            complete(sound)
        setattr(engine, name, sound)
    if engine.class_tally is not None:
        engine.class_tally = with_stored_arrays(engine.class_tally, arrays)
    engine.names = read_names(header.get("names"), engine.shape.d)
    _read_columns(engine, header)
    engine.switches = [count(number, engine.round - 1) for number in header["switches"]]
    engine.draws.generator.bit_generator.state = header["coins"]
    engine.draws.randomness.bit_generator.state = header["randomness"]
    if engine.answers is None and not engine.regression:
        engine.pair = read_pair(header.get("pair"), engine.has_learnt)
    open_questions.reopen(engine, header, arrays)
    if engine.promise is not None:
        engine.promise.restore(header["promise"], engine.pending)
    adviser_accounts.restore(engine, header, arrays)
    engine.copies = count(header.get("copies", 0), engine.questions)
    engine.free = {count(number, engine.round - 1) for number in header.get("free", ())}
    if not engine.free <= engine.pending.keys():
        raise SnapshotError(CONTRADICTION, owner="load")
    for number, raw in header.get("raw", []):
        if type(raw) is not float or not math.isfinite(raw) or number not in engine.pending:
            raise SnapshotError(CONTRADICTION, owner="load")
        engine.raw[number] = raw
    return engine


def _read_columns(engine: Engine, header: dict[str, Any]) -> None:
    """The schema of rows with named values, which must be that of the instances, or what was said about columns."""
    try:
        if header.get("schema") is not None:
            engine.give_schema(from_json(header["schema"]))
        if header.get("choices") is not None:
            engine.columns = Columns.from_json(header["choices"])
    except InputError as error:
        raise SnapshotError(error.sentence, owner="load") from error
    if engine.schema is not None and engine.schema.kinds.d != engine.shape.d and engine.learner is not None:
        raise SnapshotError(CONTRADICTION, owner="load")


def _begun(parts: Parts, header: dict[str, Any], arrays: dict[str, np.ndarray], is_decider: bool) -> Engine:
    """An engine before its first round, for instances of the dimension and form in the header."""
    costs = header.get("costs")
    seed = None if header["seed"] is None else count(header["seed"], None)
    paid, classes = None if costs is None else check_costs("load", costs), header.get("classes")
    names, most = None if classes is None else list(classes), header.get("most", 0)
    if names is not None and most:
        names = [check_new_label("load", names[:j], label) for j, label in enumerate(names)]
    elif names is not None:
        names = check_classes("load", names)
    most = 0 if not most else check_most("load", most)
    number = classes_of(parts.learner)
    if (names is None and number is not None) or number not in (None, 0 if most else len(names or ())):
        raise SnapshotError(CONTRADICTION, owner="load")
    answers: Any = None if names is None else Classes([] if most else names, most)
    if names is not None and flag(header.get("multi", False)):
        if len(names) > MOST_LABELS or most:
            raise SnapshotError(CONTRADICTION, owner="load")
        answers = LabelSets(names)
    learner = parts.learner
    if answers is not None and provides(learner, MultiClassLearner) and answers.multi != learner.multi:
        raise SnapshotError(CONTRADICTION, owner="load")
    who = adviser_accounts.read_names(header)
    if who is not None and not provides(learner, ViewLearner):
        raise SnapshotError(CONTRADICTION, owner="load")
    engine = (Decider if is_decider else Engine)(parts, seed, paid, answers, who)
    d, sparse = header["d"], flag(header["sparse"])
    if type(d) is int and d == -1:
        return engine
    d = count(d, LARGEST_DIMENSION)
    learner = parts.learner if answers is None else fitting(parts.learner, d, sparse, answers.begun or FIRST_SLOTS)
    needed = 0 if is_decider else max(4 * d, matrix_bytes(learner, d, sparse))
    if d == 0 or needed > sum(array.nbytes for array in arrays.values()):  # before memory is allocated
        raise SnapshotError(CONTRADICTION, owner="load")
    engine.begin("load", "X", d, sparse)
    if most:
        _open(engine, names or [], count(header["rooms"], most + 1))
    if "learner.w" in arrays and not is_decider and expansion_of(engine.learner) is not None:
        # Saved in primal form by a version that chose it for this many features, where this one would choose the dual.
        primal = parts._replace(learner=dataclasses.replace(parts.learner, form="primal"))  # type: ignore[type-var]
        return _begun(primal, header, arrays, is_decider)
    return engine


def _open(engine: Engine, names: list[Any], slots: int) -> None:
    """Open the classes of a snapshot, with the number of slots that it had."""
    engine.reserve_classes(max(slots - 1, 1))
    for label in names:
        if label in engine.places or engine.open(label) is None:
            raise SnapshotError(CONTRADICTION, owner="load")
    if len(engine.learner.mean) != slots:
        raise SnapshotError(CONTRADICTION, owner="load")


def read_names(names: Any, d: int) -> tuple[str, ...] | None:
    """The names of d features, or of any number of features if d is not known yet."""
    if names is None:
        return None
    if (
        type(names) is not list
        or not all(type(name) is str for name in names)
        or len(names) != (d if d > 0 else len(names))
    ):
        raise SnapshotError("the snapshot's names are not those of its features.", owner="load")
    return tuple(names)
