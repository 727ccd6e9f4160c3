"""``askwhen backup``, ``restore`` and ``migrate-db``: everything of a service, elsewhere."""

from __future__ import annotations

from typing import Any

import click

from ..command import Output, command
from .serve import DB


def _said(out: Output, found: Any, what: str) -> None:
    from rich.markup import escape

    out.result(
        found._asdict(),
        f"{escape(what)}: {found.streams:,} streams, {found.events:,} events, {found.snapshots:,} snapshots.",
    )


@command
@click.argument("file")
@DB
def backup(out: Output, file: str, db: str) -> None:
    """Copy everything of a service into FILE, while it runs.

    What is copied is the database as it is at one moment, with a checksum. FILE is whole or not there.

    \b
    askwhen backup monday.backup --db mails.db
    askwhen backup monday.backup --db postgresql://user@host/name
    """
    from ...service.store.backups import backup as make

    _said(out, make(db, file), f"{file} has")


@command
@click.argument("file")
@DB
def restore(out: Output, file: str, db: str) -> None:
    """Put the backup FILE into a new database.

    SQLite or PostgreSQL, whichever it came from.

    The checksum is looked at first; a database that has streams is refused, and all is written or nothing.

    \b
    askwhen restore monday.backup --db mails-again.db
    """
    from ...service.store.backups import restore as put

    _said(out, put(file, db), "Restored")


@command
@click.argument("source")
@click.argument("target")
def migrate_db(out: Output, source: str, target: str) -> None:
    """Copy a service into another database.

    From SQLite to PostgreSQL, or back: SOURCE and TARGET are files or addresses.

    Stop the service first: what comes after the moment of the copy is not in it.

    \b
    askwhen migrate-db mails.db postgresql://user@host/name
    """
    from ...service.store.backups import migrate

    _said(out, migrate(source, target), "Copied")
