"""Background tasks of the event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Coroutine
from typing import Any


@contextlib.asynccontextmanager
async def run_in_background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Run coroutines as tasks inside the ``with`` block; at its end they are cancelled and awaited."""
    tasks = [asyncio.create_task(each) for each in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await task
