"""The server process: listens, serves one database, shuts down cleanly, and exits at once if the database fails."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import os
import socket
import ssl
import threading
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import uvicorn

from ...errors import InputError
from ..errors import StoreError
from ..http.app import create_app
from ..http.middleware.root_path import checked_root
from ..http.middleware.tracing import spans
from ..http.openid.options import openid_of
from ..http.options import Options
from ..http.proxy_auth import proxy_of
from ..http.role_table import role_table
from ..runtime.coordinator import Coordinator
from ..store import Store
from ..store.urls import is_postgresql
from ..use_cases.webhook_delivery.addresses import networks_of
from ..use_cases.webhook_delivery.mail import mail_server
from .header_limits import LimitedHeaders
from .logging_json import log_to_stderr
from .standby import owned
from .upgrades import open_upgraded

BROKEN = 70
"""The exit status after an error of the database: a supervisor should start the process again, and it recovers."""

T = TypeVar("T")
log = logging.getLogger("askwhen.service")


@dataclass(frozen=True)
class Serving:
    """The address, the database and the options of a server.

    Attributes
    ----------
    db : str
        The name of an SQLite file, or postgresql://...
    host, port
        The address to listen on.
    certificate, key : str, optional
        Files for TLS.
    behind_proxy : bool
        A proxy in front speaks TLS, and only it can reach this address.
    spans : bool
        Export spans to OpenTelemetry, even where the environment does not configure it.
    play : bool
        False continues from snapshots without playing rounds again.
    backups : str, optional
        The directory for the backup that is made before an older database is changed.
    standby : bool
        Wait until no other server owns the database.
    """

    db: str = "askwhen.db"
    host: str = "127.0.0.1"
    port: int = 8300
    certificate: str | None = None
    key: str | None = None
    behind_proxy: bool = False
    play: bool = True
    options: Options = field(default_factory=Options)
    backups: str | None = None
    spans: bool = False
    standby: bool = False

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Serving:
        """Make it from the values of the table of options."""
        role_table(given)  # refused where nothing signs people in
        options = Options(
            tokens=given["tokens"],
            largest_body=given["largest_body"],
            largest_line=given["largest_body"],
            requests=given["requests"],
            webhook_networks=given["webhook_allow"],
            root=given["root_path"].rstrip("/"),
            behind_proxy=given["behind_proxy"],
            access_log=given["access_log"],
            proxy=proxy_of(given),
            openid=openid_of(given),
            mail=mail_server(given["smtp"], given["smtp_from"]),
        )
        return cls(
            given["db"],
            given["host"],
            given["port"],
            given["tls_certificate"],
            given["tls_key"],
            given["behind_proxy"],
            not given["from_snapshots"],
            options,
            given["backups"],
            given["otel"],
            given["standby"],
        )


def check(serving: Serving) -> None:
    """Refuse invalid or unsafe options, in a sentence."""
    if is_public(serving.host) and not (serving.behind_proxy or serving.certificate):
        raise InputError(
            f"{serving.host} can be reached from other hosts: give --tls-certificate and --tls-key, or --behind-proxy "
            "where a proxy speaks TLS.",
            owner="serve",
        )
    networks_of(serving.options.webhook_networks)
    checked_root(serving.options.root, set())
    if serving.standby and not is_postgresql(serving.db):
        raise InputError(
            "standby needs a PostgreSQL: a file of SQLite can have no other server to wait for.", owner="serve"
        )
    if not serving.db:
        raise InputError("db must not be empty.", owner="serve", parameter="db")
    if serving.certificate is not None:
        try:
            ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(serving.certificate, serving.key)
        except OSError as error:  # errors of TLS are OSErrors, too
            raise InputError(
                f"{serving.certificate} and {serving.key} are not a certificate and its key in PEM format.",
                owner="serve",
            ) from error


def is_public(host: str) -> bool:
    """Whether other hosts may reach an address."""
    try:
        return not ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host != "localhost"


class _Server(uvicorn.Server):
    """A server that ends streams of events when the process is asked to stop."""

    coordinator: Coordinator | None = None

    def handle_exit(self, sig: int, frame: Any) -> None:
        """On SIGTERM or SIGINT."""
        if self.coordinator is not None:
            self.coordinator.stopping.set()
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End cleanly; where the database has failed, with the exit status for that, and not by the signal."""
        await super().shutdown(sockets)
        if self.coordinator is not None and self.coordinator.broken is not None:
            os._exit(BROKEN)


def serve(serving: Serving, ready: Callable[[Coordinator], Awaitable[None]] | None = None) -> None:
    """Serve until a signal comes; an error of the database ends the process at once, with status 70.

    ``ready`` is a coroutine function that runs alongside the service once it has started, for the demo.
    """
    check(serving)
    log_to_stderr()
    exporter = spans(serving.spans)
    coordinators: list[Coordinator] = []
    app = create_app(lambda: coordinators[0], serving.options, exporter)
    opened = None if serving.standby else _opened(serving)

    def stop(error: BaseException) -> None:
        # Waiting requests get their replies; then the process ends without touching the database again.
        threading.Timer(0.3, os._exit, (BROKEN,)).start()

    given: dict[str, Any] = {
        "host": serving.host,
        "port": serving.port,
        "access_log": False,
        "log_config": None,
        "timeout_graceful_shutdown": 5,
        "ssl_certfile": serving.certificate,
        "ssl_keyfile": serving.key,
        "proxy_headers": False,  # the address of the socket's peer must stay known
        "server_header": False,
        "http": LimitedHeaders,
        "ws": "none",
    }
    config = uvicorn.Config(app, lifespan="on", **given)
    server = _Server(config)
    try:
        listening = _listen(serving.host, serving.port)
    except OSError as error:
        if opened is not None:
            opened.close()
        raise InputError(
            f"cannot listen on {serving.host}, port {serving.port}: {error.strerror or error}.", owner="serve"
        ) from error
    with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:  # uvloop where it is installed

        async def run() -> None:
            store = opened
            if store is None:
                store = await owned(serving.db, serving.backups, serving.options.root, given, listening)
                if store is None:
                    return
                check_reachable(serving, store)
            coordinators.append(Coordinator(store, stop=stop))
            try:
                await coordinators[0].start(serving.play)
            except BaseException:
                store.close()
                raise
            gc.freeze()  # what was recovered stays, so that the garbage collector need not scan it
            await _run(server, coordinators[0], listening, ready)

        runner.run(run())
    if coordinators and not server.started:
        raise InputError("the service could not start; the log says why.", owner="serve")


def _opened(serving: Serving) -> Store:
    """The store, if this server may be reached from where it listens."""
    store = open_upgraded(serving.db, serving.backups)
    check_reachable(serving, store)
    return store


def check_reachable(serving: Serving, store: Store) -> None:
    """Refuse a public address where nothing would tell who sends a request; that closes the store."""
    signs_in = serving.options.proxy is not None or serving.options.openid is not None
    if is_public(serving.host) and not signs_in and not _has_tokens(store):
        store.close()
        raise InputError("a public address needs tokens; make one with askwhen token first.", owner="serve")


def _has_tokens(store: Store) -> bool:
    try:
        reader = store.reader()
        found = reader.events(0, 0, 1, ("token made",))
        reader.close()
    except store.errors as error:
        store.close()
        raise StoreError(
            f"the database cannot be read: {error}; if it is damaged, restore a backup.", owner="serve"
        ) from error
    return bool(found)


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens on an address."""
    family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    return socket.create_server(address[:2], family=family, backlog=2048)


async def _run(
    server: _Server,
    coordinator: Coordinator,
    listening: socket.socket,
    ready: Callable[[Coordinator], Awaitable[None]] | None,
) -> None:
    server.coordinator = coordinator
    task = asyncio.ensure_future(server.serve([listening]))
    background = None
    while not server.started and not task.done():
        await asyncio.sleep(0.02)
    if server.started:
        config = server.config
        port = listening.getsockname()[1]
        facts = {"address": f"{'https' if config.ssl_certfile else 'http'}://{config.host}:{port}"}
        log.info("serving", extra={"facts": facts | {"streams": len(coordinator.by_number)}})
        if ready is not None:
            background = asyncio.ensure_future(ready(coordinator))
    try:
        await task
    finally:
        if background is not None:
            background.cancel()


def run_on_database(db: str, act: Callable[[Coordinator], Awaitable[T]], make: bool = False) -> T:
    """Run a function on a database that no service has open; ``make`` allows a new database."""
    if not make and "://" not in db and not Path(db).exists():
        raise InputError(f"there is no database {db}.", owner="db")

    async def go() -> T:
        coordinator = Coordinator(open_upgraded(db))
        await coordinator.start()
        try:
            return await act(coordinator)
        finally:
            await coordinator.close()

    return asyncio.run(go())
