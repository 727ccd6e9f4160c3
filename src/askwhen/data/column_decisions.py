"""What a single column of a table is taken for, by its values in the first rows."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .column_table import LIST, NUMBER, ColumnTable
from .date_features import DateForm, date_form
from .schema_columns import (
    CategoryColumn,
    Column,
    DateColumn,
    FlagColumn,
    NamesColumn,
    NumberColumn,
    OtherColumn,
    TextColumn,
    VectorColumn,
)
from .times import UNIX
from .written_numbers import NUMERIC, SIGNS, NumberForm, forms_of
from .written_values import CODE, FLAGS, is_list, is_missing, is_number, number_in

PLACES = 64
"""Largest number of places of a category, of which one is for other values and one for a missing one."""
SHORTEST_VECTOR = 16
"""Fewer numbers than this in a list, or in columns with one prefix, are not taken for a vector."""

EMPTY = "empty"

_ALWAYS = "always "

_ENOUGH = 20
"""With fewer rows no column is left out for being constant or an identifier."""
_MANY = 1000
_MOSTLY = 0.9
_LONGEST_TOKEN = 40
_WORDY, _RECURRING = 3.0, 10
_UNLIKE, _SAME_LENGTH = 20.0, 0.05
_CALLED_ID = re.compile(r"(?i:(^|[\W_])(id|ids|uuid|guid|index|idx|rowid|rownum)$|^unnamed: 0$)|[a-z](ID|Id)$")
_CALLED_TIME = re.compile(r"(?i)time|date|_at$|_on$|(^|_)ts$|^when$|epoch|unix")
"""Names of whole numbers that count seconds, and not rows."""


class Undecided(NamedTuple):
    """A column that the user must decide about: what is wrong, how to go on, and the argument that may do.

    ``values`` are those that the argument may have, where it does not take names of columns.
    """

    name: str
    what: str
    cure: str
    mend: str
    row: int | None = None
    values: tuple[str, ...] = ()


def decide(
    table: ColumnTable, name: str, time_format: str | None = None, decimal: str | None = None
) -> Column | Undecided:
    """What a column is taken for."""
    if holds_lists(table, name):
        return of_lists(table, name)
    kind = table.kind(name)
    if kind not in (NUMBER, *_TEXTS) and not kind.startswith(_WRITTEN):
        return Undecided(name, f"holds {kind}", "drop", "drop")
    numbers = table.plain_numbers(name)
    if numbers is not None:
        return _compact_dates(name, numbers[0]) or _unix_times(name, numbers[0]) or _of_numbers(name, *numbers)
    return _of_texts(Words.of(table, name), time_format, decimal)


def is_constant(column: Column | Undecided) -> bool:
    """Whether a column is left out for being empty or always the same."""
    if not isinstance(column, OtherColumn) or column.role != "dropped":
        return False
    return column.why == EMPTY or column.why.startswith(_ALWAYS)


_TEXTS = ("text", "string", "large_string")
_WRITTEN = ("date", "timestamp", "dictionary", "decimal")
"""Types of columns whose values are read by how they are written, besides texts."""


def holds_lists(table: ColumnTable, name: str) -> bool:
    """Whether a column holds lists of numbers, perhaps written as text."""
    kind = table.kind(name)
    if kind not in _TEXTS:
        return kind == LIST
    first = next((text for text in table.head(_ENOUGH).words(name) if not is_missing(text)), "") or ""
    return is_list(first.strip()) and all(is_list(text.strip()) for text in Words.of(table, name).texts)


def of_lists(table: ColumnTable, name: str, is_vector: bool = False) -> Column | Undecided:
    """A column of lists of numbers: a vector if they are long and their numbers are of like size."""
    lengths, flat = table.lists(name, 0)
    widths = np.unique(lengths[lengths > 0]).tolist()
    if not widths:
        return OtherColumn(name, why=EMPTY)
    if len(widths) > 1:
        return Undecided(name, f"holds lists of {widths[0]} to {widths[-1]} numbers", "drop", "drop")
    width = int(widths[0])
    values = flat.reshape(-1, width)
    if is_vector or (width >= SHORTEST_VECTOR and _are_alike(values)):
        return VectorColumn(name, width, why=f"lists of {width} numbers")
    gaps = bool((lengths == 0).any() or not np.isfinite(values).all())
    return NumberColumn(name, width, gaps=gaps, why=f"lists of {width} numbers, each taken for itself")


def is_embedding(values: np.ndarray) -> bool:
    """Whether rows look like embeddings: of numbers with decimals, of like size, and all about as long."""
    values = values[np.isfinite(values).all(axis=1)]
    lengths = np.sqrt(np.einsum("ij,ij->i", values, values))
    lengths = lengths[lengths > 0.0]
    if len(lengths) < 2 or (values == np.trunc(values)).all():
        return False
    return bool(lengths.std() < _SAME_LENGTH * lengths.mean() and _are_alike(values))


def _are_alike(values: np.ndarray) -> bool:
    """Whether the largest column is not much larger than a usual one."""
    values = values[np.isfinite(values).all(axis=1)]
    sizes = np.sqrt((values**2).mean(axis=0)) if len(values) else np.zeros(1)
    return bool(sizes.max() < _UNLIKE * np.median(sizes))


def _compact_dates(name: str, values: np.ndarray) -> Column | None:
    """A column of dates that are written as whole numbers, as 20210131; None if it is of other numbers."""
    present = np.unique(values[np.isfinite(values)])
    if len(present) < 2 or present[0] < _FIRST_DATE or present[-1] > _LAST_DATE or (present % 1.0).any():
        return None
    form = date_form([str(int(value)) for value in present], "%Y%m%d")
    why = f"dates such as {str(int(present[0]))!r}"
    gaps = not np.isfinite(values).all()
    return DateColumn(name, form, gaps=gaps, why=why) if isinstance(form, DateForm) else None


_FIRST_DATE, _LAST_DATE = 19000101, 21001231


def _unix_times(name: str, values: np.ndarray) -> Column | None:
    """A column of seconds or milliseconds since 1970, if its name says so and its numbers are of this size."""
    present = np.unique(values[np.isfinite(values)])
    if len(present) < 2 or not _CALLED_TIME.search(name):
        return None
    for format, unit in UNIX.items():
        if _FIRST_SECOND * unit <= present[0] and present[-1] <= _LAST_SECOND * unit:
            form = date_form([repr(value) for value in present.tolist()], format)
            gaps = not np.isfinite(values).all()
            return DateColumn(name, form, gaps=gaps, why=format) if isinstance(form, DateForm) else None
    return None


_FIRST_SECOND, _LAST_SECOND = 3e8, 4.2e9
"""Between 1979 and 2103; the milliseconds of these dates are larger numbers."""


def _of_numbers(name: str, values: np.ndarray, whole: bool) -> Column:
    """A column of numbers: an identifier or a constant is left out, but never one with decimals."""
    present = values[np.isfinite(values)]
    gaps = len(present) < len(values)
    if not len(present):
        return OtherColumn(name, why=EMPTY)
    low, high = present.min(), present.max()
    if whole and len(values) >= _ENOUGH:
        if low == high and not gaps:
            return OtherColumn(name, why=f"{_ALWAYS}{low:g}")
        why = _why_identifier(name, present)
        if why is not None:
            return OtherColumn(name, why=why)
    rest = ", some are missing" if gaps else ""
    return NumberColumn(name, gaps=gaps, why=f"numbers from {low:.6g} to {high:.6g}{rest}")


def is_called_id(name: str) -> bool:
    """Whether a column has the name of an identifier."""
    return _CALLED_ID.search(name) is not None


def _why_identifier(name: str, numbers: np.ndarray) -> str | None:
    """Why whole numbers are an identifier, or None."""
    steps = np.diff(numbers)
    if len(steps) and steps[0] > 0 and (steps == steps[0]).all():
        return f"an identifier: each number is {steps[0]:g} more than the last"
    n = len(numbers)
    if len(np.unique(numbers)) < n or n < _ENOUGH:
        return None
    if _CALLED_TIME.search(name):
        return None
    dense = np.ptp(numbers) < 2 * n and n >= 2 * _ENOUGH
    sizes = np.char.str_len(np.abs(numbers).astype(np.int64).astype(str)) if n >= _MANY else np.zeros(1)
    alike = n >= _MANY and float(np.mean(sizes == np.median(sizes))) >= _MOSTLY
    return "an identifier: every value is different" if dense or alike or is_called_id(name) else None


class Words(NamedTuple):
    """The different texts of a column that are not missing, how often each comes, the rows, and where one is first."""

    name: str
    texts: list[str]
    counts: np.ndarray
    rows: int
    first: np.ndarray

    @classmethod
    def of(cls, table: ColumnTable, name: str) -> Words:
        """The texts of a column."""
        texts, index = table.coded(name)
        counts = np.bincount(index, minlength=len(texts))
        first = np.full(len(texts), table.rows)
        np.minimum.at(first, index, np.arange(table.rows))
        here = [i for i, text in enumerate(texts) if text is not None and not is_missing(text) and counts[i]]
        return cls(name, [str(texts[i]) for i in here], counts[here], table.rows, first[here])

    @property
    def n(self) -> int:
        """Number of rows that have a text."""
        return int(self.counts.sum())

    @property
    def length(self) -> float:
        """Number of words of a text, on average."""
        return float(self.mean([len(text.split()) for text in self.texts]))

    def mean(self, values: Any) -> float:
        """The mean of a value of each text, over all rows that have one."""
        return float(np.dot(values, self.counts) / max(self.n, 1))

    def share(self, are: list[bool]) -> float:
        """The share of rows that such texts have."""
        return self.mean(np.array(are, float))


def _of_texts(words: Words, time_format: str | None, decimal: str | None) -> Column | Undecided:
    """A column of texts that are not all numbers."""
    name, texts = words.name, words.texts
    if not texts:
        return OtherColumn(name, why=EMPTY)
    if len(texts) == 1 and words.n == words.rows >= _ENOUGH:
        return OtherColumn(name, why=f"{_ALWAYS}{texts[0]!r:.40}")
    pair = {text.strip().lower() for text in texts}
    for flags in FLAGS:
        if pair == {*flags}:
            return FlagColumn(name, flags, gaps=words.n < words.rows, why=f"{flags[0]} and {flags[1]} as 0 and 1")
    found = _written_numbers(words, decimal) or _dates(words, time_format)
    return found if found is not None else _of_words(words)


def _written_numbers(words: Words, decimal: str | None) -> Column | Undecided | None:
    """Numbers with a decimal comma, marks between thousands or a sign, if all are written in one way."""
    texts = words.texts
    looks = [NUMERIC.fullmatch(text) is not None for text in texts]
    if words.share(looks) < _MOSTLY or any(CODE.fullmatch(text.strip()) for text in texts):
        return None
    forms = forms_of(texts, decimal)
    values = np.array([[form.number(text) for text in texts] for form in forms])
    if len(forms) == 1 and np.isfinite(values).all():
        gaps = words.n < words.rows
        why = f"numbers from {values.min():.6g} to {values.max():.6g}, written with {forms[0].described}"
        return NumberColumn(words.name, writing=forms[0].code, gaps=gaps, why=why)
    if len(forms) > 1 and np.isfinite(values).all():
        return _either_decimal(words, values)
    plain = np.array([is_number(text) for text in texts])
    odd = np.array([any(form.number(text) == form.number(text) for form in _FORMS) for text in texts])
    if words.share(plain | odd) < _MOSTLY or not (plain.any() or odd.any()):
        return None
    usual = np.isfinite(values[0]) if forms and np.isfinite(values[0]).sum() > plain.sum() else plain
    at = int(np.argmin(usual))
    what = f"holds {texts[at]!r:.80} in instance {words.first[at]:,}, counted from 0, where a number is expected"
    if odd[at] or plain[at]:
        what += f" that is written as {texts[int(np.argmax(usual))]!r:.80}"
    cure = "correct it, or name the column in {numbers}, so that what is not a number is missing, or in {categories}"
    return Undecided(words.name, what, cure, "numbers", int(words.first[at]))


_FORMS = [NumberForm(decimal, sign) for decimal in ".," for sign in ("", *SIGNS)]


def _either_decimal(words: Words, values: np.ndarray) -> Undecided:
    """What to ask where a comma may be before decimals or between thousands."""
    at = int(np.argmax((values[0] != values[1]) & np.isfinite(values).all(axis=0)))
    low, high = sorted(values[:, at])
    what = (
        f"holds {words.texts[at]!r} in instance {words.first[at]:,}, counted from 0, which may be {low:g} or {high:g}"
    )
    cure = "give {decimal}, the mark before decimals, or name the column in {drop}"
    return Undecided(words.name, what, cure, "decimal", int(words.first[at]), (",", "."))


def _dates(words: Words, time_format: str | None) -> Column | Undecided | None:
    """A column of dates, or what to ask about it; None if it has none."""
    found = None if time_format is None else date_form(words.texts, time_format)
    found = found or date_form(words.texts)
    if isinstance(found, DateForm):
        why = f"dates such as {words.texts[0]!r}"
        return DateColumn(words.name, found, gaps=words.n < words.rows, why=why)
    if found is None:
        return None
    what = f"has dates such as {words.texts[0]!r}, and no day above 12 shows whether the month or the day is first"
    return Undecided(words.name, what, "give {time_format}, or name the column in {drop}", "time_format", values=found)


def _of_words(words: Words) -> Column:
    """A column of words: an identifier, a category or a text."""
    name, different, n = words.name, len(words.texts), words.n
    are_tokens = all(len(text) <= _LONGEST_TOKEN and not any(map(str.isspace, text.strip())) for text in words.texts)
    distinct = different == n or (_CALLED_ID.search(name) is not None and different > 0.99 * n)
    if are_tokens and distinct and n >= _ENOUGH:
        return OtherColumn(name, why="an identifier: every value is different")
    long, rare = words.length >= _WORDY, words.rows < _ENOUGH
    recurs = n >= different * (_RECURRING if long else 2)
    if different <= PLACES - 2 and (recurs or (rare and not long)):
        return category(words)
    size = words.mean([len(text) for text in words.texts])
    if long or (different > n / 2 and words.length >= _WORDY / 2) or size > _LONGEST_TOKEN:
        return TextColumn(name, why=f"texts of {words.length:.0f} words on average")
    return names(words)


def category(words: Words) -> CategoryColumn:
    """A category of the most frequent words."""
    order = np.lexsort((words.first, -words.counts))[: PLACES - 2]
    values = tuple(words.texts[i] for i in order)
    some = ", ".join(f"{value!r:.30}" for value in values[:3])
    return CategoryColumn(words.name, values, why=f"{len(words.texts):,} values, such as {some}")


def names(words: Words) -> NamesColumn:
    """A category of very many words."""
    return NamesColumn(
        words.name, why=f"{len(words.texts):,} different values in the first {words.rows:,} rows, hashed"
    )


def asked_numbers(table: ColumnTable, name: str, decimal: str | None) -> Column | Undecided:
    """A column that is to be taken for numbers, of which whatever is not a number is missing."""
    plain = table.plain_numbers(name)
    if plain is not None:
        return NumberColumn(name, lenient=True, gaps=bool(np.isnan(plain[0]).any()), why="numbers, as asked")
    words = Words.of(table, name)
    forms = forms_of(words.texts, decimal) if words.texts else []
    values = np.array([[form.number(text) for text in words.texts] for form in forms])
    usual = np.array([np.isfinite(number_in(text)) for text in words.texts], bool)
    if len(forms) and np.isfinite(values[0]).sum() > usual.sum():
        if len(forms) > 1:
            return _either_decimal(words, values)
        usual, form = np.isfinite(values[0]), forms[0]
        column = NumberColumn(name, lenient=True, writing=form.code, why=f"numbers with {form.described}, as asked")
    else:
        column = NumberColumn(name, lenient=True, why="numbers, as asked")
    if not usual.any():
        what = f"holds no number, as {words.texts[0]!r:.80} in instance {words.first[0]:,}, counted from 0"
        return Undecided(name, what, "name it in {categories}, {text} or {drop}", "drop", int(words.first[0]))
    odd = int(words.counts[~usual].sum())
    why = f"{column.why}; {odd:,} of the first {words.rows:,} are taken for missing, such as " if odd else column.why
    why += f"{words.texts[int(np.argmin(usual))]!r:.40}" if odd else ""
    return replace(column, gaps=words.n - odd < words.rows, why=why)
