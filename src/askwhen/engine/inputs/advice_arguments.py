"""The argument ``advice`` of a sampler's functions: of one round, and of many."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from ...contracts.abilities import LearningAdviser, provides
from ...errors import InputError
from .advice import SILENT, Columns, Labels, Statement, check_advice, read_columns, read_statement
from .two_labels import Pair


class Known(Protocol):
    """The advisers of an engine."""

    names: list[str]
    is_open: bool
    alone: bool


class OneRound(NamedTuple):
    """What is said in a round by name, the names of new advisers, and how two labels are written."""

    said: dict[str, Statement]
    new: list[str]
    pair: Pair


class LabelsNow:
    """The labels of an engine, with another pair or further open classes."""

    def __init__(self, labels: Labels, pair: Pair, new: Sequence[Any] = ()) -> None:
        self.classes, self.most, self.regression, self.pair = labels.classes, labels.most, labels.regression, pair
        self.places = labels.places | {label: len(labels.places) + j for j, label in enumerate(new)}


def read_round(owner: str, advice: Any, known: Known | None, labels: Labels) -> OneRound:
    """The advice of one round."""
    given = _checked(owner, advice, known)
    names = [] if known is None else known.names
    said, pair = dict[str, Statement](), labels.pair
    for name, each in given.items():
        said[name], pair = read_statement(owner, name, each, LabelsNow(labels, pair))
    new = [name for name in given if name not in names and said[name].label != SILENT]
    return OneRound({name: each for name, each in said.items() if name in names or name in new}, new, pair)


def read_rounds(
    owner: str, advice: Any, known: Known | None, labels: Labels, n: int, new: Sequence[Any] = ()
) -> dict[str, Columns]:
    """The advice of n rounds; ``new`` are labels that may become classes on the way."""
    unknown = dict[Any, int]()
    now = LabelsNow(labels, labels.pair, new)
    given = _checked(owner, advice, known).items()
    return {name: read_columns(owner, name, each, n, now, unknown) for name, each in given}


def _checked(owner: str, advice: Any, known: Known | None) -> dict[str, Any]:
    if advice is None:
        return {}
    if known is None:
        return check_advice(owner, advice, [], False)
    return check_advice(owner, advice, known.names, known.is_open)


def learning_in(advice: Any) -> dict[str, LearningAdviser]:
    """The advisers that are asked about each row and told labels, by name."""
    given = advice if isinstance(advice, Mapping) else {}
    return {name: each for name, each in given.items() if provides(each, LearningAdviser)}


def asked_about(adviser: LearningAdviser, X: Any, labels: Labels) -> Any:
    """What an adviser says of these rows, as ``run`` takes it."""
    found = adviser.advise_rows(X)
    if found is None:
        return [None] * X.shape[0]
    names, P = found
    known = labels.classes if labels.classes is not None else labels.pair.labels
    if labels.most or not set(names) <= set(known):
        return [dict(zip(names, row, strict=True)) for row in P.tolist()]
    ordered = np.zeros((len(P), len(known)))
    ordered[:, [known.index(name) for name in names]] = P
    return ordered


def joined_advice(parts: Sequence[Any], labels: Labels) -> Any:
    """What an adviser said of rows that followed each other, as ``run`` takes it: an array if all parts are arrays."""
    speaks = [not isinstance(part, list) or any(each is not None for each in part) for part in parts]
    widths = {part.shape[1] for part in parts if isinstance(part, np.ndarray)}
    if len(widths) == 1 and all(
        isinstance(part, np.ndarray) or not says for part, says in zip(parts, speaks, strict=True)
    ):
        width = widths.pop()
        arrays = [part if isinstance(part, np.ndarray) else np.full((len(part), width), np.nan) for part in parts]
        return np.concatenate(arrays)
    known = labels.classes if labels.classes is not None else labels.pair.labels
    return [
        dict(zip(known, each.tolist(), strict=True)) if isinstance(part, np.ndarray) else each
        for part in parts
        for each in part
    ]


def appearances(columns: Mapping[str, Columns], known: Known | None) -> dict[int, list[str]]:
    """The rows in which new advisers say something for the first time, and their names; others are never taken up."""
    found = dict[int, list[str]]()
    for name, each in columns.items():
        says = each.label != SILENT
        if known is not None and name not in known.names and says.any():
            found.setdefault(int(np.argmax(says)), []).append(name)
    return dict(sorted(found.items()))


def rows_from(advice: Mapping[str, Any] | None, first: int, last: int) -> dict[str, Any] | None:
    """The advice of some of the rows."""
    if advice is None:
        return None
    return {
        name: tuple(np.asarray(part, object)[first:last] for part in each)
        if isinstance(each, tuple) and len(each) == 2 and all(np.ndim(part) == 1 for part in each)
        else (each if isinstance(each, (list, np.ndarray)) else np.asarray(each, object))[first:last]
        for name, each in advice.items()
    }


def in_place_of(owner: str, x: Any, n: int, known: Known | None, played: int) -> Any:
    """The instance, or n of them; where there are none, one number that is always 0 for each."""
    if known is None:
        raise InputError("x may be None only where there is advice; give the sampler advisers=.", owner=owner)
    if played and known.alone != (x is None):
        before = "without instances, by advice alone" if known.alone else "with instances"
        raise InputError(
            f"x must {'' if known.alone else 'not '}be None, since earlier rounds were played {before}.", owner=owner
        )
    known.alone = x is None
    if x is not None:
        return x
    return np.zeros((n, 1)) if n else np.zeros(1)


def row_count(owner: str, advice: Any) -> int:
    """The number of rows that advice is about."""
    for each in (advice or {}).values() if isinstance(advice, Mapping) or advice is None else ():
        return len(each[0]) if isinstance(each, tuple) else len(each)
    raise InputError("X may be None only with advice.", owner=owner)
