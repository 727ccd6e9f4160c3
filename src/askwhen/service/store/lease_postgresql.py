"""Ownership of a PostgreSQL database: a lease in the database's time, and a number that grows with every owner.

The owner renews its lease while it lives. Another server takes the database over once the lease has expired, or at once
where the owner's connection has gone, which happens when its process is killed. Every commit checks the number, so that
a former owner that was only frozen, or cut off for a while, cannot change anything when it wakes.

The number is in the table ``owner``, which every commit locks for share: taking over waits for commits under way, and
ends the connection of an owner that was frozen in the middle of one. The lease has a table of its own, so that renewing
it waits for no commit. It is made before any migration, which it protects, and so is not part of one.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import psycopg

from ..errors import StoreError

LEASE = 3.0
"""Seconds for which a lease is valid, by the clock of the database."""

RENEWAL = 0.5
"""Seconds between two renewals."""

_LOCK = 0x61736B7768656E  # "askwhen"; servers before 0.2 hold it as long as they live
_TABLE = """
    create table if not exists lease (
        number bigint not null, until timestamptz not null, pid integer, started timestamptz,
        single boolean primary key default true check (single)
    )
"""
# The started time tells a connection from a later one with the same process number; roles that may not see it get null.
_LIVES = """
    exists (select 1 from pg_stat_activity as a where a.pid = lease.pid
    and (a.backend_start is null or a.backend_start = lease.started))
"""
_IS_FREE = f"(until < clock_timestamp() or not {_LIVES})"
_TAKE = f"""
    update lease set until = clock_timestamp() + make_interval(secs => %s), pid = pg_backend_pid(),
    started = (select backend_start from pg_stat_activity where pid = pg_backend_pid())
    where {_IS_FREE} returning 1
"""
_RENEW = """
    update lease set until = clock_timestamp() + make_interval(secs => %s)
    where number = %s and exists (select 1 from owner where owner.number = lease.number) returning 1
"""
_END_FROZEN = f"select pg_terminate_backend(pid) from lease where until < clock_timestamp() and {_LIVES}"
log = logging.getLogger("askwhen.service")


def replaced() -> StoreError:
    """The error of a former owner."""
    return StoreError("another server owns the database now.", owner="serve")


class Lease:
    """The lease of one server.

    Parameters
    ----------
    address : str
        Of the database.
    connection : psycopg.Connection
        The one that writes: as long as it lives and the lease is valid, no other server takes the database over.
    """

    def __init__(self, address: str, connection: psycopg.Connection[Any]) -> None:
        self._address, self._connection = address, connection
        self._ended = threading.Event()
        self._lost: Callable[[StoreError], None] | None = None
        self._is_lost = False
        self._keeper: threading.Thread | None = None
        self.number = -1

    def try_to_take(self, make_tables: Callable[[], None]) -> bool:
        """Become the owner, if there is none; ``make_tables`` fills an empty database."""
        try:
            with self._connection.transaction():
                return self._taken(make_tables)
        except psycopg.errors.LockNotAvailable:
            # The owner is in the middle of a commit. One that has not renewed its lease either is frozen.
            self._connection.execute(_END_FROZEN)
            return False

    def _taken(self, make_tables: Callable[[], None]) -> bool:
        run = self._connection.execute
        if not _first(run("select pg_try_advisory_xact_lock(%s)", (_LOCK,))):
            return False
        if _first(run("select to_regclass('lease') is null")):
            run(_TABLE)
            run("insert into lease values (0, '-infinity', null, null)")
        if run(_TAKE, (LEASE,)).fetchone() is None:
            return False
        make_tables()
        run("set local lock_timeout = '500ms'")
        self.number = _first(run("update owner set number = number + 1 returning number"))
        run("update lease set number = %s", (self.number,))
        return True

    def keep(self) -> None:
        """Renew the lease from now on, in a thread."""
        self._keeper = threading.Thread(target=self._keep, name="lease", daemon=True)
        self._keeper.start()

    def watch(self, lost: Callable[[StoreError], None]) -> None:
        """Call a function, in another thread, once another server owns the database."""
        self._lost = lost
        if self._is_lost:
            lost(replaced())

    def check(self) -> None:
        """Within a transaction: keep every other server from taking over until it ends, or fail where one has."""
        query = "select 1 from owner where number = %s for share"
        if self._connection.execute(query, (self.number,)).fetchone() is None:
            raise replaced()

    def is_replaced(self) -> bool:
        """Whether another server owns the database, as far as that can be found out on a new connection."""
        with contextlib.suppress(psycopg.Error), self._connect() as connection:
            return connection.execute("select 1 from owner where number = %s", (self.number,)).fetchone() is None
        return False

    def release(self) -> None:
        """Let another server take over at once."""
        self._ended.set()
        if self._keeper is not None:
            self._keeper.join(LEASE)
        with contextlib.suppress(psycopg.Error):
            self._connection.execute("update lease set until = '-infinity' where number = %s", (self.number,))

    def _connect(self) -> psycopg.Connection[Any]:
        return psycopg.connect(self._address, autocommit=True, connect_timeout=2, tcp_user_timeout=2000)

    def _keep(self) -> None:
        """Renew until the end. A database that does not answer is tried again: it may come back without a new owner."""
        connection: psycopg.Connection[Any] | None = None
        while not self._ended.is_set():
            try:
                if connection is None:
                    connection = self._connect()
                if connection.execute(_RENEW, (LEASE, self.number)).fetchone() is None:
                    self._is_lost = True
                    break
            except psycopg.Error:
                if connection is not None:
                    connection.close()
                connection = None
            self._ended.wait(RENEWAL)
        if connection is not None:
            connection.close()
        if self._is_lost and self._lost is not None:
            self._lost(replaced())


def _first(found: Any) -> Any:
    return found.fetchone()[0]
