"""The columns of a table that look like its labels, for a file whose label column was not named."""

from __future__ import annotations

from ..errors import InputError, argument
from .column_choices import ColumnChoices
from .column_decisions import Words, holds_lists
from .column_table import ColumnTable
from .files import listed
from .written_values import is_number

_USUAL = ("category", "classification", "intent", "outcome", "sentiment", "tag", "topic", "type")
"""Names that labels often have, although other columns have them too."""

_FEW_NUMBERS, _MOST, _RECURRING, _LONGEST = 10, 200, 5.0, 4.0
_SHOWN, _CUT = 3, 30


def label_wanted(table: ColumnTable, choices: ColumnChoices, path: object) -> InputError:
    """The error for a table that needs a label, with the columns that look like one, the likeliest first."""
    likely = _likely(table, choices)
    hint, mend = "", choices.renamed(table.known)
    if likely and not mend:
        hint = f"; perhaps {' or '.join(_shown(words) for words in likely[:_SHOWN])}"
        mend = {"label": likely[0].name}
    return InputError(
        f"{path} needs {argument('label')}, the name of its label column; it has {listed(list(table.known))}{hint}.",
        owner="read",
        file=str(path),
        mend=mend,
    )


def _likely(table: ColumnTable, choices: ColumnChoices) -> list[Words]:
    """The columns with few values that come again and again: those with usual names, the last and the first before."""
    free = [name for name in table.names if not choices.names_it(name)]
    found = [words for name in free if not holds_lists(table, name) and _is_likely(words := Words.of(table, name))]
    ends = {free[-1]: 1, free[0]: 2} if free else {}

    def rank(words: Words) -> tuple[int, int]:
        return 0 if words.name.strip().lower() in _USUAL else ends.get(words.name, 3), len(words.texts)

    return sorted(found, key=rank)


def _is_likely(words: Words) -> bool:
    different = len(words.texts)
    if not 2 <= different <= _MOST or words.n < _RECURRING * different or words.length > _LONGEST:
        return False
    numbers = [text for text in words.texts if is_number(text)]
    return not numbers or (different <= _FEW_NUMBERS and all(_is_whole(text) for text in numbers))


def _is_whole(text: str) -> bool:
    return text.strip().lstrip("+-").isdigit()


def _shown(words: Words) -> str:
    """A column with some of its values."""
    some = ", ".join(repr(text[:_CUT]) for text in words.texts[:2])
    more = f" and {len(words.texts) - 2:,} more" if len(words.texts) > 2 else ""
    return f"{words.name!r} ({some}{more})"
