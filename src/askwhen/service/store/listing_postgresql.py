"""The listing of instances in PostgreSQL, with an index of the words of what was shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import psycopg
from psycopg import sql

from .listing import MOST_RENAMED, MOST_SORTED, Found, Listed, Mark, Predicted, Wanted, search, statement

_SELECT = f"select {', '.join(f'l.{name}' for name in Found._fields)} from listing l"
_UPSERT = """
    insert into listing as l
        (stream, item, seq, time, prediction, certainty, label, state, source, flagged, comments, words)
    select %(stream)s, f.item, f.seq, f.time, f.prediction, f.certainty, f.label, f.state, f.source, f.flagged,
        f.comments, case when f.seq is null or e.row is not null then to_tsvector('simple', f.words) end
    from unnest(%(item)s::bigint[], %(seq)s::bigint[], %(time)s::float8[], %(prediction)s::text[],
        %(certainty)s::float8[], %(label)s::text[], %(state)s::text[], %(source)s::text[], %(flagged)s::bigint[],
        %(comments)s::bigint[], %(words)s::text[])
        as f (item, seq, time, prediction, certainty, label, state, source, flagged, comments, words)
    left join events e on e.stream = %(stream)s and e.seq = f.seq
    where f.seq is not null or exists (select 1 from backlog b where b.stream = %(stream)s and b.place = -f.item)
    on conflict (stream, item) do update set seq = excluded.seq, time = excluded.time, prediction = excluded.prediction,
    certainty = excluded.certainty, label = excluded.label, state = excluded.state, flagged = excluded.flagged,
    comments = excluded.comments, words = coalesce(excluded.words, l.words)
"""


def write(connection: psycopg.Connection[Any], change: Listed | Predicted) -> None:
    """Write rows of the listing; none for instances that have left the backlog, and no words of erased ones."""
    stream = change.stream
    if isinstance(change, Predicted):
        items, now, certainty = (list(column) for column in zip(*change.guesses, strict=True))
        connection.execute(
            "update listing set now = f.now, now_certainty = f.certainty from "
            "unnest(%s::bigint[], %s::text[], %s::float8[]) as f (item, now, certainty) "
            "where stream = %s and listing.item = f.item",
            (items, now, certainty, stream),
        )
        return
    if change.renamed is not None:
        _rename(connection, stream, *change.renamed)
    last = {each.item: each for each in change.items}  # one statement may change a row once
    new = {each.item: each.words for each in change.items if each.words is not None}
    rows = [each._replace(words=new.get(each.item)) for each in last.values()]
    if rows:
        columns = {name: [getattr(row, name) for row in rows] for name in rows[0]._fields if name != "people"}
        columns["flagged"] = [int(row.flagged) for row in rows]
        connection.execute(_UPSERT, {"stream": stream, **columns})
    connection.execute(
        "delete from listing_people where stream = %s and item = any(%s)",
        (stream, [each.item for each in last.values() if each.item not in new or each.people]),
    )
    people = [(person, each.item) for each in last.values() for person in each.people]
    connection.execute(
        "insert into listing_people select %s, * from unnest(%s::text[], %s::bigint[]) on conflict do nothing",
        (stream, [person for person, _ in people], [item for _, item in people]),
    )
    forget(connection, stream, change.gone)
    connection.execute(
        "insert into listed values (%s, %s, %s, %s) on conflict (stream) do update set seq = excluded.seq, "
        "place = excluded.place, untidy = excluded.untidy",
        (stream, *map(int, change.mark)),
    )


def _rename(connection: psycopg.Connection[Any], stream: int, label: str, new: str) -> None:
    """Give some rows with a label the new one; what is predicted now follows what was predicted."""
    given = {"stream": stream, "label": label, "new": new, "most": MOST_RENAMED}
    some = "item in (select item from listing where stream = %(stream)s and {} limit %(most)s)"
    for change, which in (
        ("label = %(new)s", "label = %(label)s"),
        (
            "prediction = %(new)s, now = case when now = %(label)s then %(new)s else now end",
            "prediction = %(label)s",
        ),
        ("now = %(new)s", "now <> prediction and now = %(label)s and prediction = %(new)s"),
    ):
        query = f"update listing set {change} where stream = %(stream)s and {some.format(which)}"
        connection.execute(query.encode(), given)


def labels(connection: psycopg.Connection[Any], stream: int) -> list[str]:
    """All labels that rows have, or that were predicted for them."""
    query = (
        "select label from listing where stream = %(stream)s and label is not null "
        "union select prediction from listing where stream = %(stream)s and prediction is not null"
    )
    return sorted(label for (label,) in connection.execute(query, {"stream": stream}).fetchall())


def forget(connection: psycopg.Connection[Any], stream: int, items: Sequence[int]) -> None:
    """Forget instances that are not there any more."""
    connection.execute("delete from listing where stream = %s and item = any(%s)", (stream, list(items)))


def drop(connection: psycopg.Connection[Any], stream: int) -> None:
    """Forget all instances of a stream."""
    for table in ("listing", "listing_people", "listed"):
        delete = sql.SQL("delete from {} where stream = %s").format(sql.Identifier(table))
        connection.execute(delete, (stream,))


def erased(connection: psycopg.Connection[Any], stream: int, seqs: Iterable[int]) -> None:
    """Forget what was shown of decided instances."""
    connection.execute("update listing set words = null where stream = %s and seq = any(%s)", (stream, list(seqs)))


def mark(connection: psycopg.Connection[Any], stream: int) -> Mark:
    """Up to where the listing of a stream is made."""
    found = connection.execute("select seq, place, untidy from listed where stream = %s", (stream,)).fetchone()
    return Mark() if found is None else Mark(found[0], found[1], bool(found[2]))


def withdrawn(connection: psycopg.Connection[Any], stream: int, limit: int) -> list[int]:
    """Waiting items that are in the backlog no more: they were withdrawn, or decided after the mark."""
    query = (
        "select item from listing l where stream = %s and state = 'waiting' and not exists "
        "(select 1 from backlog b where b.stream = l.stream and b.place = -l.item) limit %s"
    )
    return [item for (item,) in connection.execute(query, (stream, limit)).fetchall()]


def find(connection: psycopg.Connection[Any], wanted: Wanted) -> list[Found] | None:
    """The wanted items; None where too many have the words to be sorted."""
    return search(wanted, lambda part: _find(connection, part))


def _find(connection: psycopg.Connection[Any], wanted: Wanted) -> list[Found] | None:
    where, order, values = statement(wanted)
    if wanted.words:
        where += " and l.words @@ to_tsquery('simple', ?)"
        values.append(" & ".join(f"'{word}'" for word in wanted.words))
        if wanted.by:
            count = f"select count(*) from (select 1 from listing l where {where} limit {MOST_SORTED + 1}) s"
            found: Any = connection.execute(count.replace("?", "%s").encode(), values).fetchone()
            if found[0] > MOST_SORTED:
                return None
    query = f"{_SELECT} where {where} {order}".replace("?", "%s").encode()
    return [Found(*row) for row in connection.execute(query, values).fetchall()]
