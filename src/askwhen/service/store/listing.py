"""The listing of instances: a table that is derived from the log and the backlog, so that instances can be searched.

It may lag behind: ``Mark`` says up to where it has been made. It is not part of backups, and is made again after one is
restored. An item is the event of an instance, or where it came through the backlog, minus its place there.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

UNKNOWN = -1.0
"""The certainty of an instance that has none."""

MOST_SORTED = 20_000
"""Largest number of instances with some words that are sorted by certainty."""

MOST_RENAMED = 5_000
"""Largest number of rows whose label, and of those whose prediction, gets another name in one commit."""

LONGEST_TEXT, LONGEST_WORD = 20_000, 60
_WORD = re.compile(r"[^\W_]+")

Sort = Literal["newest", "oldest", "certain", "uncertain"]


class Mark(NamedTuple):
    """The last event, and the last place of the backlog, that the listing knows.

    ``untidy`` says that it may still have instances that were withdrawn.
    """

    seq: int = 0
    place: int = 0
    untidy: bool = False


class ListedItem(NamedTuple):
    """A row of the listing: ``seq`` is the event of a decided instance, None of one that waits.

    ``words`` are those of what was shown, None where the row is there already.
    """

    item: int
    seq: int | None
    time: float
    prediction: str | None
    certainty: float
    label: str | None
    state: str
    source: str | None
    flagged: bool
    comments: int
    people: Sequence[str] = ()
    words: str | None = None


class Listed(NamedTuple):
    """Rows that the listing gets, items that it loses, and up to where it is made then.

    With ``renamed``, a former and a new label, some rows that have the former one get the new one first.
    """

    stream: int
    mark: Mark
    items: Sequence[ListedItem] = ()
    gone: Sequence[int] = ()
    renamed: tuple[str, str] | None = None


class Predicted(NamedTuple):
    """What a model predicts now for some items: item, prediction, certainty."""

    stream: int
    guesses: Sequence[tuple[int, str | None, float | None]]


class Found(NamedTuple):
    """An item that was found."""

    item: int
    seq: int | None
    time: float
    prediction: str | None
    certainty: float
    label: str | None
    state: str
    source: str | None
    flagged: int
    comments: int
    now: str | None
    now_certainty: float | None


class Wanted(NamedTuple):
    """Which items are wanted, in which order, after which one (its certainty or time, and number).

    ``of_backlog`` wants only items that came through the backlog, or only others.
    """

    stream: int
    words: Sequence[str] = ()
    prediction: str | None = None
    label: str | None = None
    state: str | None = None
    person: str | None = None
    source: str | None = None
    flagged: bool = False
    changed: bool = False
    item: int | None = None
    since: float | None = None
    until: float | None = None
    least: float | None = None
    most: float | None = None
    sort: Sort = "newest"
    after: tuple[float, int] | None = None
    limit: int = 50
    of_backlog: bool | None = None

    @property
    def by(self) -> str:
        """The column by which they are sorted before their number; empty for the number alone."""
        if self.sort in ("certain", "uncertain"):
            return "certainty"
        return "time" if not self.words and (self.since, self.until) != (None, None) else ""

    @property
    def is_descending(self) -> bool:
        """Whether large numbers of items come first; those of the backlog are the larger the earlier they came."""
        return (self.sort in ("newest", "certain")) != bool(self.of_backlog)

    def parts(self) -> list[Wanted]:
        """Searches one after the other, each in the order of an index: by their numbers alone, items come as they came.

        Those of the backlog are taken for older than others, since nothing orders both.
        """
        if self.by or self.item is not None:
            return [self]
        first, second = self._replace(of_backlog=False), self._replace(of_backlog=True)
        if self.sort == "oldest":
            first, second = second, first
        if self.after is None:
            return [first, second]
        is_first = (self.after[1] < 0) == first.of_backlog
        return [first, second._replace(after=None)] if is_first else [second]


def search(wanted: Wanted, find: Callable[[Wanted], list[Found] | None]) -> list[Found] | None:
    """What ``find`` gives for each part, until there are enough; None where too many have the words to be sorted."""
    found: list[Found] = []
    for part in wanted.parts():
        more = find(part._replace(limit=wanted.limit - len(found)))
        if more is None:
            return None
        found += more
        if len(found) == wanted.limit:
            break
    return found


def words_in(text: str) -> list[str]:
    """The words of a text as they are searched: without case, accents and signs."""
    plain = text[:LONGEST_TEXT].casefold()
    if not plain.isascii():
        plain = "".join(c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c))
    return [word[:LONGEST_WORD] for word in _WORD.findall(plain)]


def statement(wanted: Wanted) -> tuple[str, str, list[Any]]:
    """The conditions of a query, its order and limit, and the values, with a question mark for each.

    The words are left to the database.
    """
    where: list[str] = ["l.stream = ?"]
    values: list[Any] = [wanted.stream]
    if wanted.prediction is not None:
        where.append("l.prediction = ?")
        values.append(wanted.prediction)
    for name in ("label", "state", "source"):
        if getattr(wanted, name) is not None:
            where.append(f"l.{name} = ?")
            values.append(getattr(wanted, name))
    if wanted.person is not None:
        where.append("exists (select 1 from listing_people p where p.stream = ? and p.person = ? and p.item = l.item)")
        values += [wanted.stream, wanted.person]
    where += ["l.flagged = 1"] if wanted.flagged else []
    where += ["l.now <> l.prediction"] if wanted.changed else []
    for condition, value in (
        ("item = ?", wanted.item),
        ("time >= ?", wanted.since),
        ("time < ?", wanted.until),
        ("certainty >= ?", wanted.least),
        ("certainty <= ?", wanted.most),
    ):
        if value is not None:
            where.append(f"l.{condition}")
            values.append(value)
    where += ["l.certainty >= 0"] if wanted.by == "certainty" or wanted.most is not None else []
    if wanted.of_backlog is not None:
        where.append("l.item < 0" if wanted.of_backlog else "l.item > 0")
    sign, order = ("<", "desc") if wanted.is_descending else (">", "asc")
    if wanted.after is not None:
        where.append(f"(l.{wanted.by}, l.item) {sign} (?, ?)" if wanted.by else f"l.item {sign} ?")
        values += list(wanted.after) if wanted.by else [wanted.after[1]]
    by = f"l.{wanted.by} {order}, l.item {order}" if wanted.by else f"l.item {order}"
    return " and ".join(where), f"order by {by} limit {int(wanted.limit)}", values
