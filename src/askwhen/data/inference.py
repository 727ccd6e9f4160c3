"""The schema of a table, found from its first rows and from what the user says about columns."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from .. import encoders
from ..errors import InputError, argument
from .column_choices import LABELS, ColumnChoices
from .column_decisions import (
    EMPTY,
    PLACES,
    SHORTEST_VECTOR,
    Undecided,
    Words,
    asked_numbers,
    category,
    decide,
    holds_lists,
    is_constant,
    is_embedding,
    names,
    of_lists,
)
from .column_table import ColumnTable
from .files import listed, perhaps, shortened
from .hashing import DEFAULT_FEATURES
from .label_copies import warn_of_copies
from .label_guess import label_wanted
from .schema import Schema, TextEncoder
from .schema_columns import (
    ASKED,
    Column,
    MeasuredColumn,
    NumberColumn,
    OtherColumn,
    TextColumn,
    VectorColumn,
)

ROWS = 10_000
"""Number of the first rows that decide."""

_MOST_SENTENCES = 4
_NUMBERED = re.compile(r"(.*?)(\d+)", re.DOTALL)
_ROLES = ("text", "categories", "numbers", "vector", "drop")


def infer(table: ColumnTable, choices: ColumnChoices, path: Any = "the table") -> Schema:
    """What each column of a table is taken for, by the user's choices and its first rows.

    What cannot be decided is refused, all columns at once, with arguments that would do; where ``choices`` are not
    strict, such columns are left out.
    """
    columns = found_columns(table, choices, path)
    label = choices.label_in(table.known) if choices.labelled else None
    if label is not None:
        head = table.head(ROWS)
        cure = "drop={0!r} (--drop {0}) leaves it out"
        warn_of_copies(path, head, columns, head.coded(label)[1], cure)
    return complete(columns, choices, path)


def found_columns(table: ColumnTable, choices: ColumnChoices, path: Any = "the table") -> list[Column]:
    """The columns of a schema that ``complete`` makes of them."""
    every, table = table, table.head(ROWS)
    vectors = _chosen_vectors(table, choices, path)
    expanded = tuple(part for parts in vectors.values() for part in parts)
    checked = choices._replace(vector=expanded)
    if choices.labelled and choices.label_in(table.known) is None:
        checked._replace(labelled=False).check(table.known, path)
        raise label_wanted(table, checked, path)
    checked.check(table.known, path)
    others = _others(table.names, choices)
    found: dict[str, Column | Undecided] = {}
    numbered = {part: name for name, parts in vectors.items() for part in parts}
    numbered |= _embeddings(
        table, [name for name in table.names if name not in others and not _is_chosen(name, choices)]
    )
    for name in table.names:
        whole = numbered.get(name, name)
        if whole in found:
            continue
        if name in others:
            found[name] = others[name]
        elif name in numbered:
            parts = [part for part in table.names if numbered.get(part) == whole]
            found[whole] = _vector(table, whole, parts)
        elif _is_chosen(name, choices):
            found[name] = _chosen(table, name, choices)
        else:
            found[name] = decide(table, name, choices.time_format, choices.decimal)
            if is_constant(found[name]) and every.rows > table.rows:
                found[name] = decide(every, name, choices.time_format, choices.decimal)
    columns = _settled(found, choices, path)
    if all(isinstance(column, OtherColumn) for column in columns):
        columns = [_spared(table, column) for column in columns]
    return columns


def _spared(table: ColumnTable, column: Column) -> Column:
    """A column of numbers that was left out, where nothing else is left to learn from."""
    asked = column.role != "dropped" or column.why in (ASKED, EMPTY)
    plain = None if asked else table.plain_numbers(column.name)
    if plain is None:
        return column
    why = f"nothing else is left to learn from, although it is {column.why}"
    return NumberColumn(column.name, gaps=bool(np.isnan(plain[0]).any()), why=why)


def _is_chosen(name: str, choices: ColumnChoices) -> bool:
    """Whether the user says what a column is."""
    return any(name in getattr(choices, role) for role in _ROLES)


def _others(known: Sequence[str], choices: ColumnChoices) -> dict[str, OtherColumn]:
    """The columns that are not features, as far as their names say it."""
    found = {name: OtherColumn(name, why=ASKED) for name in choices.drop}
    if choices.time is not None:
        found[choices.time] = OtherColumn(choices.time, "time", why="the time")
    label = choices.label_in(list(known)) if choices.labelled or choices.label is not None else None
    usual = LABELS if choices.hides_labels else ()
    hidden = [name for name in usual if not _is_chosen(name, choices)] if label is None else [label]
    return found | {name: OtherColumn(name, "label", why="the label") for name in hidden if name not in found}


def _chosen(table: ColumnTable, name: str, choices: ColumnChoices) -> Column | Undecided:
    """A column whose role the user chose."""
    if name in choices.text:
        return TextColumn(name, why="texts, as asked")
    if name in choices.vector:
        return of_lists(table, name, is_vector=True)
    if name in choices.categories:
        words = Words.of(table, name)
        found = category(words) if len(words.texts) <= PLACES - 2 else names(words)
        return replace(found, why=f"{found.why}, as asked")
    if holds_lists(table, name):
        found_lists = of_lists(table, name)
        return NumberColumn(name, found_lists.width) if isinstance(found_lists, VectorColumn) else found_lists
    return asked_numbers(table, name, choices.decimal)


def _chosen_vectors(table: ColumnTable, choices: ColumnChoices, path: Any) -> dict[str, list[str]]:
    """The columns of numbers of each vector that the user names: its prefix stands for them."""
    found = {}
    for name in choices.vector:
        if name in table.known:
            if not holds_lists(table, name):
                raise InputError(
                    f"column {name!r} of {path} does not hold lists of numbers; name lists in {argument('vector')}, or "
                    "what columns of numbers such as e0, e1, e2 have in common, as in e.",
                    owner="read",
                    column=name,
                )
            continue
        parts = _by_prefix(table.names).get(name)
        if parts is None:
            near = perhaps(name, table.known)
            raise InputError(
                f"{path} has no column {name!r}{near}, and no columns {name}0, {name}1 and so on; it has "
                f"{listed(table.known)}.",
                owner="read",
                file=str(path),
            )
        found[name] = parts
    return found


def _by_prefix(known: Sequence[str]) -> dict[str, list[str]]:
    """Columns whose names are one prefix and consecutive numbers, in their order, by the prefix."""
    found: dict[str, list[tuple[int, str]]] = {}
    for name in known:
        parts = _NUMBERED.fullmatch(name)
        if parts is not None:
            found.setdefault(parts[1], []).append((int(parts[2]), name))
    groups = {prefix: sorted(each) for prefix, each in found.items()}
    return {
        prefix: [name for _, name in each]
        for prefix, each in groups.items()
        if len(each) > 1 and [i for i, _ in each] == list(range(each[0][0], each[0][0] + len(each)))
    }


def _embeddings(table: ColumnTable, free: list[str]) -> dict[str, str]:
    """The columns of numbers that together look like an embedding, each with the name of the vector."""
    found: dict[str, str] = {}
    for prefix, parts in _by_prefix(free).items():
        if len(parts) < SHORTEST_VECTOR or prefix in table.names:
            continue
        numbers = [table.plain_numbers(part) for part in parts]
        values = [each[0] for each in numbers if each is not None]
        if len(values) == len(parts) and is_embedding(np.column_stack(values)):
            found |= dict.fromkeys(parts, prefix)
    return found


def _vector(table: ColumnTable, name: str, parts: list[str]) -> VectorColumn:
    """Columns of numbers as one vector."""
    why = f"{len(parts)} columns of numbers, {parts[0]} to {parts[-1]}"
    return VectorColumn(name, len(parts), tuple(parts), why=why)


def _settled(found: dict[str, Column | Undecided], choices: ColumnChoices, path: Any) -> list[Column]:
    """The columns, if all are decided about."""
    undecided = [each for each in found.values() if isinstance(each, Undecided)]
    if undecided and choices.strict:
        raise _refusal(undecided, choices, path)
    return [OtherColumn(each.name, why=each.what) if isinstance(each, Undecided) else each for each in found.values()]


def complete(columns: list[Column], choices: ColumnChoices, path: Any) -> Schema:
    """The schema of columns: texts get their salts, and missing numbers their features."""
    texts = [column.name for column in columns if isinstance(column, TextColumn)]
    order = [*choices.text, *(name for name in texts if name not in choices.text)]
    columns = [
        replace(column, salt="" if column.name == order[0] else column.name)
        if isinstance(column, TextColumn)
        else column
        for column in columns
    ]
    if choices.missing != "auto":
        columns = [
            replace(column, gaps=choices.missing == "feature") if isinstance(column, MeasuredColumn) else column
            for column in columns
        ]
    found = encoders.settled(choices.encoder) if texts else None
    encoder = None if found is None else TextEncoder(**encoders.remember(found))
    schema = Schema(tuple(columns), choices.given_places or DEFAULT_FEATURES, choices.missing, encoder)
    if not schema.kinds.d:
        left = [f"{shortened(column.name)} ({column.why})" for column in columns if column.role == "dropped"]
        rest = f"; left out: {', '.join(left[:12])}" if left else ""
        what = "feature besides its label" if choices.labelled else "column to learn from"
        raise InputError(f"{path} has no {what}{rest}.", owner="read", file=str(path))
    return schema


def _refusal(undecided: list[Undecided], choices: ColumnChoices, path: Any) -> InputError:
    """The error for columns that the user must decide about."""
    sentences, mend = list[str](), dict[str, Any]()
    for each in undecided:
        cure = each.cure if "{" in each.cure else "name it in {drop}"
        cure = cure.replace(
            f"{{{each.mend}}}", " or ".join(argument(each.mend, value) for value in each.values or ("",))
        )
        for name in _ROLES:
            cure = cure.replace(f"{{{name}}}", argument(name))
        if len(sentences) < _MOST_SENTENCES:
            sentences.append(f"column {each.name!r} of {path} {each.what}; {cure}.")
        if each.values:
            mend[each.mend] = each.values[0]
            continue
        if each.name in choices.numbers:
            before = mend.get("numbers", choices.numbers)
            mend["numbers"] = tuple(name for name in before if name != each.name)
        mend[each.mend] = (*mend.get(each.mend, getattr(choices, each.mend)), each.name)
    others = [each.name for each in undecided[_MOST_SENTENCES:]]
    if others:
        sentences.append(f"there is something to say about {len(others):,} more columns too: {listed(others)}.")
    return InputError(
        " ".join(each[0].upper() + each[1:] if i else each for i, each in enumerate(sentences)),
        owner="read",
        file=str(path),
        column=undecided[0].name,
        row=undecided[0].row,
        mend=mend,
    )
