"""Backs up a database of an older version before it is upgraded."""

from __future__ import annotations

import logging
from datetime import UTC, datetime
from pathlib import Path

from ...errors import InputError
from ..errors import StoreError
from ..store import Store, open_store
from ..store.backups import backup
from ..store.urls import is_postgresql

log = logging.getLogger("askwhen.service")


def open_upgraded(address: str, folder: str | None = None, patience: float | None = None) -> Store:
    """The store at an address, upgraded where it is older.

    The backup goes into ``folder``, by default the directory of an SQLite file, or the working directory. ``patience``
    is the number of seconds to wait for another server of a PostgreSQL to end.
    """
    return open_store(address, lambda version: _back_up(address, version, folder), patience)


def _back_up(address: str, version: int, folder: str | None) -> None:
    file = Path("askwhen.db" if is_postgresql(address) else address.removeprefix("sqlite:///"))
    moment = datetime.now(UTC).strftime("%Y%m%dT%H%M%S.%f")
    target = Path(file.parent if folder is None else folder) / f"{file.name}.version-{version}.{moment}.backup"
    try:
        found = backup(address, str(target))
    except (InputError, OSError, StoreError) as error:
        why = error.strerror if isinstance(error, OSError) else getattr(error, "sentence", str(error)).rstrip(".")
        raise StoreError(
            f"the database is of an older askwhen, and no backup could be made in {target.parent} before changing it: "
            f"{why}; name another directory with --backups.",
            owner="serve",
        ) from error
    log.warning(
        f"made the backup {target} before an upgrade",
        extra={"facts": {"version": version, "events": found.events}},
    )
