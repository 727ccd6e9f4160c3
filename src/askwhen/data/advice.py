"""Errors about the columns of a table: all that are wrong at once, with arguments that would fix them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import InputError, argument
from .files import listed

MARKS = ("?", "-", "--", ".", " ", "None", "none")
"""Texts that people write for a missing number, besides nothing, NA and NaN."""

_TEXTS = ("string", "large_string", "text")
_MOSTLY = 0.9
_FEW_ROWS, _FEW = 10, 4
_SENTENCE, _LONG_SENTENCE = 3, 8


def refusal(table: Any, columns: Any, kinds: dict[str, str], numbers: Sequence[str], path: Any) -> InputError:
    """The error for columns of a table that hold no numbers and were not named.

    ``kinds`` are the types of their values, and ``numbers`` are the columns that do hold numbers.
    """
    odd = {name: found for name in kinds if (found := _odd_number(_words(table, name, kinds[name]))) is not None}
    others = [name for name in kinds if name not in odd]
    mend = suggestions(table, columns, {name: kinds[name] for name in others})
    unmarked = tuple(name for name in odd if odd[name][1] not in MARKS)
    if unmarked:
        mend["drop"] = (*mend.get("drop", columns.drop), *unmarked)
    used = (*numbers, *mend.get("categories", columns.categories))
    gaps = any(table.gap(name) is not None for name in used)
    if columns.missing == "refuse" and (gaps or len(unmarked) < len(odd)):
        mend["missing"] = "feature"
    sentences = [_about_words(others, kinds, path)] if others else []
    sentences += [odd_sentence(name, value, row, columns.missing, path) for name, (row, value) in odd.items()]
    first = next(iter(kinds))
    return InputError(
        " ".join(each[0].upper() + each[1:] if i else each for i, each in enumerate(sentences)),
        owner="read",
        file=str(path),
        column=first,
        row=odd[first][0] if first in odd else None,
        mend=mend,
    )


def shown_only(names: Sequence[str]) -> str:
    """A message about columns that are shown to annotators but not learnt from."""
    some = ", ".join(map(repr, names[:_FEW])) + (f" and {len(names) - _FEW} more" if len(names) > _FEW else "")
    return f"Shown, but not learnt from: {some}. To learn from them too, name them as text or categories."


def suggestions(table: Any, columns: Any, kinds: dict[str, str]) -> dict[str, Any]:
    """Arguments that name each of these columns as what it might be, in addition to those that are named already."""
    found: dict[str, Any] = {}
    for name, kind in kinds.items():
        suited = _suited(_words(table, name, kind))
        found[suited] = (*found.get(suited, getattr(columns, suited)), name)
    return found


def odd_sentence(name: str, value: str, row: int, missing: str, path: Any, what: str = "a number") -> str:
    """A sentence about a value in a column of numbers that is not a number."""
    cure = f"correct it, or name the column in {argument('drop')}"
    if value in MARKS and missing == "refuse":
        cure = f"give {argument('missing', 'feature')} if it stands for a missing one"
    where = f"in instance {row:,}, counted from 0"
    return f"column {name!r} of {path} holds {value!r} {where}, where {what} is expected; {cure}."


def _about_words(names: list[str], kinds: dict[str, str], path: Any) -> str:
    options = f"{argument('drop')}, {argument('text')} or {argument('categories')}"
    if len(names) == 1:
        return f"column {names[0]!r} of {path} holds {kinds[names[0]]}, not numbers; name it in {options}."
    return f"{len(names)} columns of {path} hold no numbers: {listed(names)}; name each in {options}."


def _words(table: Any, name: str, kind: str) -> list[str]:
    """The texts of a column, empty where a value is missing."""
    return [word or "" for word in table.words(name)] if kind in _TEXTS else []


def _odd_number(words: list[str]) -> tuple[int, str] | None:
    """The first text that is not a number, with its row, if most are numbers or all others mark missing ones."""
    present = [(row, word) for row, word in enumerate(words) if word]
    odd = [(row, word) for row, word in present if not _is_number(word)]
    few = len(odd) <= (1.0 - _MOSTLY) * len(present)
    all_marks = len(odd) < len(present) and all(word in MARKS for _, word in odd)
    return odd[0] if odd and (few or all_marks) else None


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _suited(words: list[str]) -> str:
    """The argument in which a column of these texts might be named: a guess that the user may follow or not."""
    present = [word for word in words if word.strip()]
    if not present:
        return "drop"
    length = sum(len(word.split()) for word in present) / len(present)
    mostly_different = len({*present}) > len(present) / 2
    if length >= (_SENTENCE if mostly_different else _LONG_SENTENCE):
        return "text"
    return "drop" if mostly_different and len(present) >= _FEW_ROWS else "categories"
