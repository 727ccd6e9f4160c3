"""The application of a service in this process, with what begins and ends it."""

import asyncio
import contextlib
import warnings

import httpx
from litestar.exceptions import LitestarDeprecationWarning

from askwhen.service.http.app import create_app
from askwhen.service.http.options import Options
from askwhen.service.runtime.coordinator import Coordinator
from askwhen.service.store import open_store


@contextlib.asynccontextmanager
async def running(db, options=None, spans=None):
    """The desk, and a client of its application."""
    with warnings.catch_warnings(category=LitestarDeprecationWarning, action="ignore"):  # as in a process of its own
        app = create_app(
            lambda: coordinator, options or Options(), spans
        )  # before the desk has threads with filters of theirs
    coordinator = Coordinator(open_store(str(db)))
    await coordinator.start()
    told, came = asyncio.Queue(), asyncio.Queue()
    await told.put({"type": "lifespan.startup"})
    life = asyncio.create_task(app({"type": "lifespan", "app": app, "state": {}}, told.get, came.put))
    assert (await came.get())["type"] == "lifespan.startup.complete"
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 1))
    try:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            yield coordinator, http
    finally:
        await told.put({"type": "lifespan.shutdown"})
        assert (await came.get())["type"] == "lifespan.shutdown.complete"
        await life
