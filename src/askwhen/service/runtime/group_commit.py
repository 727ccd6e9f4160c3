"""Group commit: everything that arrives during one commit is written by the next one, in one transaction.

The event loop adds to a list; one thread takes the whole list and commits it. The thread is woken once the loop has
handled all requests of the same turn, so that they share a commit. An error is final: the thread ends, every
waiting request fails, and the owner of the commits stops the process. There is no second try: after a failed fsync the
pages may be marked clean, and a second fsync would "succeed" without writing them.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Sequence

from ..errors import StoppingError
from ..store.records import Change, Event, Snapshot, Store
from .histogram import Histogram

Failed = Callable[[BaseException], None]
MakeSnapshot = Callable[[], Snapshot]


class GroupCommit:
    """Writes batches to the store. Everything but ``_work`` runs in the thread of the event loop.

    Parameters
    ----------
    store : Store
        Where batches go.
    failed : callable
        Called with the error that ended the commits, in the event loop.
    """

    def __init__(self, store: Store, failed: Failed) -> None:
        self._store, self._failed = store, failed
        self._loop = asyncio.get_running_loop()
        self._events: list[Event] = []
        self._snapshots: list[MakeSnapshot] = []
        self._changes: list[Change] = []
        self._batch: asyncio.Future[None] = self._loop.create_future()
        self._committing: asyncio.Future[None] | None = None
        self._committing_events: list[Event] = []
        self._lock = threading.Condition()
        self._closed = self._wakes_soon = self._woken = False
        self.error: BaseException | None = None
        self.started: float | None = None
        self.times = Histogram()
        self._thread = threading.Thread(target=self._work, name="commits", daemon=True)
        self._thread.start()

    def add(
        self, events: Sequence[Event], snapshot: MakeSnapshot | None = None, changes: Sequence[Change] = ()
    ) -> asyncio.Future[None]:
        """Put events and changes into the next batch; the future is done when they are on disk.

        A snapshot is given as a function, which the other thread calls, since packing one takes a while.
        """
        if self.error is not None or self._closed:
            raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")
        with self._lock:
            self._events.extend(events)
            if snapshot is not None:
                self._snapshots.append(snapshot)
            self._changes.extend(changes)
            if not self._wakes_soon:
                self._wakes_soon = True
                self._loop.call_soon(self._wake)
            return self._batch

    def _wake(self) -> None:
        """Wake the thread that commits, after what was added in one turn of the event loop."""
        self._wakes_soon = False
        with self._lock:
            self._woken = True
            self._lock.notify()

    async def settled(self) -> None:
        """Wait until everything that was added so far is on disk."""
        with self._lock:
            batch = self._batch if self._waits else self._committing
        if batch is not None:
            await asyncio.shield(batch)
        if self.error is not None:
            raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")

    @property
    def taking(self) -> float:
        """Duration of the current commit so far, in seconds."""
        started = self.started
        return 0.0 if started is None else time.monotonic() - started

    @property
    def _waits(self) -> bool:
        return bool(self._events or self._snapshots or self._changes)

    def unsettled(self) -> list[Event]:
        """The events that may not be on disk yet, in order; all others are."""
        with self._lock:
            return [*self._committing_events, *self._events]

    def _work(self) -> None:
        while True:
            with self._lock:
                while not (self._woken or self._closed):
                    self._lock.wait()
                self._woken = False
                if not self._waits:
                    if self._closed:
                        return
                    continue
                events, snapshots, changes, batch = self._events, self._snapshots, self._changes, self._batch
                self._events, self._snapshots, self._changes = [], [], []
                self._batch = self._loop.create_future()
                self._committing, self._committing_events = batch, events
            self.started = started = time.monotonic()
            try:
                self._store.write(events, [make() for make in snapshots], changes)
            except BaseException as error:
                self._loop.call_soon_threadsafe(self._fail, batch, error)
                return
            self.started = None
            self._loop.call_soon_threadsafe(self._done, batch, time.monotonic() - started)

    def _done(self, batch: asyncio.Future[None], seconds: float) -> None:
        self.times.add(seconds)
        with self._lock:
            if self._committing is batch:
                self._committing, self._committing_events = None, []
        batch.set_result(None)

    def _fail(self, batch: asyncio.Future[None], error: BaseException) -> None:
        self.error = error
        for each in {batch, self._batch}:
            if not each.done():
                each.set_exception(
                    StoppingError("the database failed, so that the service stops; send it again.", owner="serve")
                )
                each.exception()  # so that asyncio does not complain where no request waits
        self._failed(error)

    async def close(self) -> None:
        """Commit what waits and end the thread; the store stays open."""
        with self._lock:
            self._closed = True
            self._lock.notify()
        await asyncio.to_thread(self._thread.join)
