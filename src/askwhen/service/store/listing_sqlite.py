"""The listing of instances in SQLite, with a full-text index of what was shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import apsw

from .listing import MOST_RENAMED, MOST_SORTED, Found, Listed, Mark, Predicted, Wanted, search, statement

_STREAM, _MIDDLE = 1 << 40, 1 << 39
_SELECT = f"select {', '.join(f'l.{name}' for name in Found._fields)}"
_UPSERT = """
    insert into listing (stream, item, seq, time, prediction, certainty, label, state, source, flagged, comments)
    select ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?
    where ?3 is not null or exists (select 1 from backlog where stream = ?1 and place = -?2)
    on conflict (stream, item) do update set seq = excluded.seq, time = excluded.time, prediction = excluded.prediction,
    certainty = excluded.certainty, label = excluded.label, state = excluded.state, flagged = excluded.flagged,
    comments = excluded.comments
"""
_WORDS = """
    insert into listing_words (rowid, words) select ?1, ?2 where
    not exists (select 1 from listing_words where rowid = ?1)
    and (exists (select 1 from events where stream = ?3 and seq = ?4 and row is not null)
    or exists (select 1 from backlog where stream = ?3 and place = -?5))
"""


def _row(stream: int, item: int) -> int:
    """The row of an item among the words of all streams."""
    return stream * _STREAM + _MIDDLE + item


def write(connection: apsw.Connection, change: Listed | Predicted) -> None:
    """Write rows of the listing; none for instances that have left the backlog, and no words of erased ones."""
    stream = change.stream
    if isinstance(change, Predicted):
        guesses = [(now, certainty, stream, item) for item, now, certainty in change.guesses]
        sql = "update listing set now = ?, now_certainty = ? where stream = ? and item = ?"
        connection.executemany(sql, guesses)
        return
    if change.renamed is not None:
        _rename(connection, stream, *change.renamed)
    rows = [(stream, *each[:8], int(each.flagged), each.comments) for each in change.items]
    connection.executemany(_UPSERT, rows)
    gone = "delete from listing_people where stream = ? and item = ?"
    connection.executemany(gone, [(stream, each.item) for each in change.items if each.words is None])
    people = [(stream, person, each.item) for each in change.items for person in each.people]
    connection.executemany("insert or ignore into listing_people values (?, ?, ?)", people)
    new = [each for each in change.items if each.words]
    words = [(_row(stream, each.item), each.words, stream, each.seq, each.item) for each in new]
    connection.executemany(_WORDS, words)
    forget(connection, stream, change.gone)
    connection.execute("insert or replace into listed values (?, ?, ?, ?)", (stream, *map(int, change.mark)))


def _rename(connection: apsw.Connection, stream: int, label: str, new: str) -> None:
    """Give some rows with a label the new one; what is predicted now follows what was predicted."""
    for name in ("label", "prediction"):
        rest = ", now = case when now = ?2 then ?1 else now end" if name == "prediction" else ""
        sql = (
            f"update listing set {name} = ?1{rest} where stream = ?3 and item in (select item from listing indexed by "
            f"listing_by_{name} where stream = ?3 and {name} = ?2 limit {MOST_RENAMED})"
        )
        connection.execute(sql, (new, label, stream))
    sql = (
        "update listing set now = ?1 where stream = ?3 and item in "
        "(select item from listing indexed by listing_changed "
        f"where stream = ?3 and now <> prediction and now = ?2 and prediction = ?1 limit {MOST_RENAMED})"
    )
    connection.execute(sql, (new, label, stream))


def labels(connection: apsw.Connection, stream: int) -> list[str]:
    """All labels that rows have, or that were predicted for them."""
    found: set[str] = set()
    for name in ("label", "prediction"):  # each from the last one on, since SQLite would read the whole index
        last: str | None = ""
        sql = f"select min({name}) from listing indexed by listing_by_{name} where stream = ? and {name} > ?"
        while (last := connection.execute(sql, (stream, last)).get) is not None:
            found.add(last)
    return sorted(found)


def forget(connection: apsw.Connection, stream: int, items: Sequence[int]) -> None:
    """Forget instances that are not there any more."""
    connection.executemany("delete from listing where stream = ? and item = ?", [(stream, item) for item in items])
    _forget_words(connection, stream, items)


def drop(connection: apsw.Connection, stream: int) -> None:
    """Forget all instances of a stream."""
    rows = (_row(stream, 1 - _MIDDLE), _row(stream, _MIDDLE - 1))
    connection.execute("delete from listing_words where rowid between ? and ?", rows)
    for table in ("listing", "listing_people", "listed"):
        connection.execute(f"delete from {table} where stream = ?", (stream,))


def erased(connection: apsw.Connection, stream: int, seqs: Iterable[int]) -> None:
    """Forget what was shown of decided instances."""
    sql = "select item from listing where stream = ? and seq = ?"
    found = [connection.execute(sql, (stream, seq)).get for seq in seqs]
    _forget_words(connection, stream, [item for item in found if item is not None])


def _forget_words(connection: apsw.Connection, stream: int, items: Iterable[int]) -> None:
    connection.executemany("delete from listing_words where rowid = ?", [(_row(stream, item),) for item in items])


def mark(connection: apsw.Connection, stream: int) -> Mark:
    """Up to where the listing of a stream is made."""
    found = connection.execute("select seq, place, untidy from listed where stream = ?", (stream,)).fetchone()
    return Mark() if found is None else Mark(found[0], found[1], bool(found[2]))


def withdrawn(connection: apsw.Connection, stream: int, limit: int) -> list[int]:
    """Waiting items that are in the backlog no more: they were withdrawn, or decided after the mark."""
    sql = (
        "select item from listing l where stream = ? and state = 'waiting' and not exists "
        "(select 1 from backlog b where b.stream = l.stream and b.place = -l.item) limit ?"
    )
    return [item for (item,) in connection.execute(sql, (stream, limit))]


def find(connection: apsw.Connection, wanted: Wanted) -> list[Found] | None:
    """The wanted items; None where too many have the words to be sorted."""
    return search(wanted, lambda part: _find(connection, part))


def _find(connection: apsw.Connection, wanted: Wanted) -> list[Found] | None:
    where, order, values = statement(wanted)
    if not wanted.words and wanted.person is not None and wanted.label is None:  # few of all have labels of a person
        source = "listing_people q cross join listing l on l.stream = q.stream and l.item = q.item"
        if not wanted.by:
            where, order = (
                where.replace("l.item <", "q.item <").replace("l.item >", "q.item >"),
                order.replace("l.", "q."),
            )
        sql = f"{_SELECT} from {source} where q.stream = ? and q.person = ? and {where} {order}"
        return [Found(*row) for row in connection.execute(sql, (wanted.stream, wanted.person, *values))]
    if not wanted.words:
        sql = f"{_SELECT} from listing l {_index(wanted)} where {where} {order}"
        return [Found(*row) for row in connection.execute(sql, values)]
    match = " ".join(f'"{word}"' for word in wanted.words)
    low, high = _row(wanted.stream, 1 - _MIDDLE), _row(wanted.stream, _MIDDLE - 1)
    if wanted.of_backlog is not None:
        low, high = (low, _row(wanted.stream, -1)) if wanted.of_backlog else (_row(wanted.stream, 1), high)
    if wanted.by:
        count = (
            "select count(*) from (select 1 from listing_words where words match ? and rowid between ? and ? limit ?)"
        )
        if connection.execute(count, (match, low, high, MOST_SORTED + 1)).get > MOST_SORTED:
            return None
    else:  # the index of words gives them in this order
        if wanted.after is not None:
            after = _row(wanted.stream, wanted.after[1])
            low, high = (low, after - 1) if wanted.is_descending else (after + 1, high)
        order = order.replace("l.item", "w.rowid")
    source = "listing_words w cross join listing l on l.item = w.rowid - ?"
    base = wanted.stream * _STREAM + _MIDDLE
    sql = f"{_SELECT} from {source} where w.words match ? and w.rowid between ? and ? and {where} {order}"
    return [Found(*row) for row in connection.execute(sql, (base, match, low, high, *values))]


def _index(wanted: Wanted) -> str:
    """The index for a search: without statistics of the table, SQLite would often read all of it instead."""
    end = f"_and_{wanted.by}" if wanted.by else ""
    found = f"by_{wanted.by}" if wanted.by else ""
    if wanted.item is not None:
        found = ""
    elif wanted.label is not None:
        found = f"by_label{end}"
    elif wanted.flagged:
        found = "flagged"
    elif wanted.prediction is not None and wanted.by != "time":
        found = f"by_prediction{end}"
    elif wanted.changed and not wanted.by:
        found = "changed"
    elif wanted.state is not None and not wanted.by:
        found = "by_state"
    elif wanted.source is not None and not wanted.by:
        found = "by_source"
    return f"indexed by listing_{found}" if found else ""
