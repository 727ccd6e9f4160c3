"""A server that waits until no other one owns the database.

Meanwhile it answers health checks, and refuses everything else with Retry-After, so that a proxy or a client tries the
owner. It compiles what the streams of the database need, so that taking over takes no longer than reading the log.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import socket
import threading
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import uvicorn

from ..domain.model import warm
from ..errors import ServedError, StoppingError, StoreError
from ..events.kinds import Created, facts_of
from ..http.asgi import Receive, Scope, Send
from ..http.middleware.security_headers import SecurityHeaders
from ..http.problems import MEDIA, replied
from ..http.routes.health import Health
from ..store import Store
from ..store.urls import open_reader
from .upgrades import open_upgraded

TRY = 1.0
"""Seconds for which one connection tries to become the owner."""

MOST_KINDS = 50
log = logging.getLogger("askwhen.service")


class StandbyApp:
    """The ASGI application of a server that waits; ``root`` is the path prefix of the service."""

    def __init__(self, root: str) -> None:
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            return
        status, body, fields = 200, msgspec.json.encode(Health("standby", 0)), {"content-type": "application/json"}
        if scope["path"].removeprefix(self._root) != "/healthz":
            error = StoppingError("this server waits, and another one owns the database; send it again.", owner="serve")
            status, more, body = replied(scope["path"], error)
            fields = {"content-type": MEDIA} | more
        fields["content-length"] = str(len(body))
        listed = [(name.lower().encode(), value.encode()) for name, value in fields.items()]
        await send({"type": "http.response.start", "status": status, "headers": listed})
        await send({"type": "http.response.body", "body": body})


async def owned(
    db: str, backups: str | None, root: str, given: dict[str, Any], listening: socket.socket
) -> Store | None:
    """The store, once this server owns it; None where the process is asked to end before.

    ``given`` are the options of uvicorn, and ``listening`` is the socket, which stays open.
    """
    config = uvicorn.Config(SecurityHeaders(StandbyApp(root)), **(given | {"lifespan": "off"}))
    async with _serving(uvicorn.Server(config), listening) as task:
        stopped = threading.Event()
        log.info("waiting", extra={"facts": {"for": "the ownership of the database"}})
        threading.Thread(target=_compile, args=(db, stopped), name="warming", daemon=True).start()
        opening = asyncio.ensure_future(asyncio.to_thread(_open, db, backups, stopped))
        try:
            await asyncio.wait({task, opening}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopped.set()
        return await opening


@contextlib.asynccontextmanager
async def _serving(server: uvicorn.Server, listening: socket.socket) -> AsyncIterator[asyncio.Task[None]]:
    """A server on a copy of a socket, which uvicorn closes at its end."""
    task = asyncio.create_task(server.serve([listening.dup()]))
    try:
        yield task
    finally:
        server.should_exit = True
        await task


def _open(db: str, backups: str | None, stopped: threading.Event) -> Store | None:
    """Try to open the store until that succeeds. The database may be away for a while, as the owner may be."""
    said = ""
    while not stopped.is_set():
        try:
            found = open_upgraded(db, backups, TRY)
        except ServedError:
            continue
        except StoreError as error:
            if error.sentence != said:
                said = error.sentence
                log.warning("cannot take over", extra={"facts": {"said": said}})
            stopped.wait(TRY)
            continue
        if stopped.is_set():
            found.close()
            return None
        log.info("taking over", extra={"facts": {}})
        return found
    return None


def _compile(db: str, stopped: threading.Event) -> None:
    """Compile what the streams need, each kind of stream once. Where that fails, taking over takes longer."""
    seen: set[bytes] = set()
    with contextlib.suppress(Exception), contextlib.closing(open_reader(db)) as reader:
        for event in reader.events(0, 0, 1 << 40, ("created",)):
            fact = facts_of(event)
            assert isinstance(fact, Created)
            kind = msgspec.json.encode(msgspec.structs.replace(fact.settings, seed=0))
            if kind not in seen and len(seen) < MOST_KINDS and not stopped.is_set():
                seen.add(kind)
                warm(fact.settings)
