"""The advisers of an engine in a snapshot: their names and accounts, and the advice of open questions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..betting import LEVELS
from ..contracts.learner import is_sound
from ..engine.advisers import Advisers, Question, Said
from ..engine.engine import Engine
from ..engine.inputs.advice import SILENT, UNKNOWN, Statement, check_advisers, check_name
from ..engine.state_arrays import arrays_of, with_arrays
from ..engine.tally.advice_account import Account, Comparison
from ..engine.tally.call_count import CallCount
from ..engine.tally.paired_rounds import BOTH
from ..engine.tally.round_tally import DERIVED, LATER, Tally, complete
from ..errors import InputError, SnapshotError
from ..linalg.vectors import LARGEST, all_within
from .class_tallies import stored_arrays, with_stored_arrays
from .header import CONTRADICTION, count, flag

GIVEN = "learner.given."
"""The advice of the current round, which is nothing between two rounds and not stored."""


def described(advisers: Advisers) -> dict[str, Any]:
    """What a header says of the advisers."""
    return {
        "names": list(advisers.names),
        "open": advisers.is_open,
        "alone": advisers.alone,
        "rounds": advisers.rounds,
        "since": list(advisers.since),
        "compared": [each.rounds for _, each in _comparisons(advisers)],
        "calls": {name: _written_calls(each) for name, each in advisers.calls.items()},
        "waiting": [[number, *_written(question)] for number, question in advisers.waiting.items()],
    }


def arrays_in(advisers: Advisers) -> dict[str, np.ndarray]:
    """The arrays of all accounts and comparisons."""
    found = dict[str, np.ndarray]()
    for a, account in enumerate(advisers.accounts):
        found |= _of_tally(account.tally, f"advisers.{a}.tally")
        found[f"advisers.{a}.stated"] = account.stated
        if account.classes is not None:
            for name in stored_arrays(account.classes):
                found[f"advisers.{a}.classes.{name}"] = getattr(account.classes, name)
    for name, comparison in _comparisons(advisers):
        found |= _of_tally(comparison.tally, f"{name}.tally") | {f"{name}.sizes": comparison.sizes}
    return found


def _of_tally(tally: Tally, path: str) -> dict[str, np.ndarray]:
    return {name: array for name, array in arrays_of(tally, path).items() if name.rsplit(".", 1)[1] not in DERIVED}


def _comparisons(advisers: Advisers) -> Iterator[tuple[str, Comparison]]:
    for a, comparison in enumerate(advisers.against):
        yield f"advisers.{a}.against", comparison
    for (a, b), comparison in advisers.between.items():
        yield f"advisers.{a}.and.{b}", comparison


def _written(question: Question) -> list[Any]:
    said = [
        [
            each.adviser,
            each.statement.label,
            None if each.statement.p != each.statement.p else each.statement.p,
            None if each.statement.line is None else each.statement.line.tolist(),
            each.statement.word,
            each.at,
            each.level,
            each.place,
            each.levels,
        ]
        for each in question.said
    ]
    return [question.among, said, [list(pair) for pair in question.pairs]]


def _written_calls(calls: CallCount) -> list[Any]:
    stated = None if calls.stated != calls.stated else calls.stated
    return [calls.rounds, calls.calls, calls.silent, calls.since, calls.threshold, stated]


def _read_calls(line: list[Any], rounds: int) -> CallCount:
    """How often an adviser was called; the content of a file is not trusted."""
    played, calls, silent, since = (count(number, rounds) for number in line[:4])
    threshold, stated = float(line[4]), math.nan if line[5] is None else float(line[5])
    if calls > played or silent > calls or not abs(threshold) < LARGEST or not (stated != stated or 0 <= stated <= 1):
        raise SnapshotError(CONTRADICTION, owner="load")
    return CallCount(played, calls, silent, since, threshold, stated)


def read_names(header: dict[str, Any]) -> tuple[list[str], bool] | None:
    """The names of the advisers of a file, and whether further ones may appear; None without advisers."""
    given = header.get("advisers")
    if given is None:
        return None
    try:
        names = [check_name("load", name) for name in given["names"]]
        if names:
            check_advisers("load", names)
    except InputError as error:
        raise SnapshotError(error.sentence, owner="load") from error
    return names, flag(given["open"])


def restore(engine: Engine, header: dict[str, Any], arrays: dict[str, np.ndarray]) -> None:
    """Read the accounts and the advice of open questions, after the engine's own states and questions."""
    advisers, given = engine.advisers, header.get("advisers")
    if advisers is None or given is None:
        return
    advisers.alone, advisers.rounds = flag(given["alone"]), count(given["rounds"], engine.round)
    advisers.since = [count(number, advisers.rounds) for number in given["since"]]
    if len(advisers.since) != len(advisers.names):
        raise SnapshotError(CONTRADICTION, owner="load")
    advisers.calls = {name: _read_calls(line, advisers.rounds) for name, line in given.get("calls", {}).items()}
    if not advisers.calls.keys() <= {*advisers.names}:
        raise SnapshotError(CONTRADICTION, owner="load")
    for a, account in enumerate(advisers.accounts):
        _read_account(account, f"advisers.{a}", arrays)
    for (name, comparison), rounds in zip(_comparisons(advisers), given["compared"], strict=True):
        comparison.tally = _read_tally(comparison.tally, f"{name}.tally", arrays)
        comparison.sizes, comparison.rounds = arrays[f"{name}.sizes"].copy(), count(rounds, engine.round)
        sizes = comparison.sizes.shape == (2,) and comparison.sizes.dtype == float
        if not (sizes and all_within(comparison.sizes, 0.0, LARGEST)):
            raise SnapshotError(CONTRADICTION, owner="load")
    for number, among, said, pairs in given["waiting"]:
        if number not in engine.pending:
            raise SnapshotError(CONTRADICTION, owner="load")
        found = [_read_said(advisers, each, engine) for each in said]
        compared = [_read_pair(advisers, each) for each in pairs]
        advisers.waiting[number] = Question(count(among, 1000), found, compared)


def _read_account(account: Account, path: str, arrays: dict[str, np.ndarray]) -> None:
    account.tally = _read_tally(account.tally, f"{path}.tally", arrays)
    stated = arrays[f"{path}.stated"]
    if stated.shape != account.stated.shape or stated.dtype != float or not all_within(stated, 0.0, LARGEST):
        raise SnapshotError(CONTRADICTION, owner="load")
    account.stated = stated.copy()
    if account.classes is not None:
        prefix = f"{path}."
        own = {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
        account.classes = with_stored_arrays(account.classes, own)


def _read_tally(tally: Tally, path: str, arrays: dict[str, np.ndarray]) -> Tally:
    later, derived = ({f"{path}.{name}": getattr(tally, name) for name in names} for names in (LATER, DERIVED))
    own = {name: array.copy() for name, array in arrays.items() if name.startswith(f"{path}.")}
    found: Tally = with_arrays(tally, path, later | own | derived)
    if not is_sound(found):
        raise SnapshotError(CONTRADICTION, owner="load")
    complete(found)
    return found


def _read_said(advisers: Advisers, line: list[Any], engine: Engine) -> Said:
    """What an adviser said of an open question; the content of a file is not trusted."""
    a, label, p, shares, word, at, level, place, levels = line
    a = count(a, len(advisers.names) - 1)
    k = 2 if engine.classes is None else len(engine.classes)
    if type(label) is not int or not (label == UNKNOWN or 0 <= label < k) or label == SILENT:
        raise SnapshotError(CONTRADICTION, owner="load")
    p = math.nan if p is None else float(p)
    row = None if shares is None else np.array(shares, float)
    if row is not None and (row.ndim != 1 or len(row) > k or not all_within(row, 0.0, 1.0)):
        raise SnapshotError(CONTRADICTION, owner="load")
    if not isinstance(word, (str, int, float, type(None))):
        raise SnapshotError(CONTRADICTION, owner="load")
    if not engine.regression and not (math.isnan(p) or 0.0 <= p <= 1.0):
        raise SnapshotError(CONTRADICTION, owner="load")
    if advisers.accounts:
        count(at, advisers.accounts[a].at)
        _check_place(advisers.against[a], place, levels)
    return Said(a, Statement(label, p, row, word), count(at), count(level, LEVELS - 1), place, count(levels))


def _check_place(comparison: Comparison, place: Any, levels: Any) -> None:
    if place != -1:
        count(place, int(comparison.tally.count[0]) - 1)
    if max(divmod(count(levels), BOTH)) >= LEVELS:
        raise SnapshotError(CONTRADICTION, owner="load")


def _read_pair(advisers: Advisers, line: list[Any]) -> tuple[int, int, int, int]:
    a, b, place, levels = line
    _check_place(advisers.between[count(a), count(b)], place, levels)
    return a, b, place, levels
