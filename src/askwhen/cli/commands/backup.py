"""``askwhen backup``, ``restore`` and ``migrate-db``: copy the database of a service."""

from __future__ import annotations

from typing import Any

import click

from ..command import Output, command
from .serve import DB


def _print_counts(out: Output, found: Any, what: str) -> None:
    from rich.markup import escape

    out.result(
        found._asdict(),
        f"{escape(what)}: {found.streams:,} streams, {found.events:,} events, {found.snapshots:,} snapshots.",
    )


@command
@click.argument("file")
@DB
def backup(out: Output, file: str, db: str) -> None:
    """Back up the database of a service to FILE, while it runs.

    The backup is the database as it is at one moment, with a checksum. FILE appears only when it is complete.

    \b
    askwhen backup monday.backup --db mails.db
    askwhen backup monday.backup --db postgresql://user@host/name
    """
    from ...service.store.backups import backup as make

    _print_counts(out, make(db, file), f"{file} has")


@command
@click.argument("file")
@DB
def restore(out: Output, file: str, db: str) -> None:
    """Restore the backup FILE into a new database.

    The database may be SQLite or PostgreSQL, whichever the backup came from.

    The checksum is verified first; a database that has streams is refused, and all is written or nothing.

    \b
    askwhen restore monday.backup --db mails-again.db
    """
    from ...service.store.backups import restore as put

    _print_counts(out, put(file, db), "Restored")


@command
@click.argument("source")
@click.argument("target")
def migrate_db(out: Output, source: str, target: str) -> None:
    """Copy a service into another database.

    From SQLite to PostgreSQL, or back: SOURCE and TARGET are files or addresses.

    Stop the service first: the copy lacks what arrives after it was made.

    \b
    askwhen migrate-db mails.db postgresql://user@host/name
    """
    from ...service.store.backups import migrate

    _print_counts(out, migrate(source, target), "Copied")
