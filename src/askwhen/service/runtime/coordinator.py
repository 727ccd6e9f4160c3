"""The owner of all streams: one thread, the event loop's, plays and answers; what happened is committed, then told.

A request changes memory, puts its events into the next batch, waits for the commit, and only then replies. So memory
may be ahead of the disk, but nobody is told of it. An error of the database stops the process: the log is what is true,
and a process that starts again makes everything from it. Any other error sets the stream aside whose model or books it
came from, and the other streams go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import logging
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from ...errors import AskwhenError
from ..domain.stream import Stream
from ..domain.subscribers import Subscribers
from ..domain.summary import StreamSummary
from ..domain.tokens import Tokens
from ..domain.webhooks import Webhooks
from ..errors import ConflictError, NotFoundError, SetAsideError, StoppingError, StoreError, TooManyError
from ..events.kinds import Created, Fact, WentOn, encoded, facts_of
from ..events.settings import Settings
from ..store.records import Change, Delivered, Event, Message, Reader, Snapshot, Store
from .clock import Clock
from .group_commit import GroupCommit, Made
from .idempotency import Idempotency
from .key_lookups import KeyLookups
from .provenance import provenance
from .recovery import created, last_summary, looking, recover, shell
from .snapshot_policy import SnapshotPolicy
from .threaded_reader import ThreadedReader, reading
from .warmup import Warmups

TICK = 0.2
LONGEST_COMMIT = 60.0
"""Seconds after which a database that does not answer is taken for lost."""

MOST_EXPORTS = 8

CLOSING, SAVED_AT_ONCE = 2.0, 50
"""Seconds for the last snapshots when the service ends, and how many streams are looked at between two commits."""

REST = 60.0
"""Seconds for which an archived stream that was looked at stays in memory."""

SERVICE = 0
"""The number of the log of the service itself."""

T = TypeVar("T")
log = logging.getLogger("askwhen.service")


class Coordinator:
    """Everything the service knows, and the only one who changes it.

    Parameters
    ----------
    store : Store
        Where the log is; the desk closes it.
    clock : Clock, optional
        What time it is.
    stop : callable, optional
        Is called with the error when the process must stop.
    """

    def __init__(
        self, store: Store, clock: Clock | None = None, stop: Callable[[BaseException], None] | None = None
    ) -> None:
        self._store, self.clock = store, Clock() if clock is None else clock
        self._stop = stop
        self.streams: dict[str, Stream] = {}
        self.by_number: dict[int, Stream] = {}
        self.tokens = Tokens()
        self.webhooks = Webhooks()
        self.idempotency = Idempotency(self.events_of_keys)
        self.subscribers = Subscribers()
        self.warmups = Warmups()
        self.deliver: Callable[[Sequence[Message]], None] | None = None
        self.history_lock = asyncio.Lock()
        self.stopping = asyncio.Event()
        self.broken: BaseException | None = None
        self._seq = 0
        self._about = provenance()
        self._snapshot_policy = SnapshotPolicy()
        self._listening = asyncio.Lock()
        self._exports = 0
        self._woken: dict[int, float] = {}

    async def start(self, play: bool = True) -> None:
        """Recover every stream, then begin to commit and to tick."""
        with _without_collecting():
            went_on = self._recover(play)
        if not all(stream.loaded for stream in self.by_number.values()):
            gc.collect()  # of archived streams only their names and counts stay
        self.commits = GroupCommit(self._store, self.crash)
        for stream, note in went_on:
            stream.note("went on", note, self.clock.now())
            await self.committed(stream, snapshot=True)
        self._ticking = asyncio.create_task(self._tick())

    def _recover(self, play: bool) -> list[tuple[Stream, WentOn]]:
        """Make everything from the log; the streams of which something is to be noted."""
        try:
            self._reader = self._store.reader()
            self._other_reader = self._store.reader()
            self._event_reader = self._store.reader()
            self._key_lookups = KeyLookups(self._other_reader, self._store.quick)
            self.clock.not_before(self._reader.last_time())
            return [found for event in created(self._reader) if (found := self._follow(event, play)) is not None]
        except AskwhenError:
            raise
        except Exception as error:
            said = str(error) if isinstance(error, self._store.errors) else f"a part of it is no text ({_kind(error)})"
            raise StoreError(
                f"the database cannot be read: {said}; if it is damaged, restore a backup.", owner="serve"
            ) from error

    def _follow(self, event: Event, play: bool) -> tuple[Stream, WentOn] | None:
        """Do what an event in the log of the service itself says; a stream of which something is to be noted."""
        try:
            fact = facts_of(event)
            self._seq = event.seq
            if not isinstance(fact, Created):
                self.tokens.apply(fact)
                self.webhooks.apply(fact)
                return None
        except Exception as error:
            raise StoreError(
                f"the database is damaged: event {event.seq} of its first log cannot be read; restore a backup.",
                owner="serve",
            ) from error
        stream = shell(fact, self._reader)
        try:
            note, tail = recover(stream, self._reader, self._about, say, play)
        except self._store.errors:
            raise
        except Exception as error:
            self._set_aside(stream, error, *last_summary(fact, self._reader))
            note, tail = None, 0
        self._make_way(stream)
        self._know(stream)
        self._snapshot_policy.add(stream.number, tail)
        if note is None and tail == 0 and self._is_idle(stream):
            self._rest(stream)
        return None if note is None else (stream, note)

    def _is_idle(self, stream: Stream) -> bool:
        """Whether a stream is archived, and nothing is due on it."""
        if not stream.loaded or not stream.state.archived or stream.uncommitted or stream.state.received:
            return False
        if time.monotonic() - self._woken.get(stream.number, -REST) < REST:
            return False
        return not any(each.is_full and not each.disputed for each in stream.questions.open.values())

    def _rest(self, stream: Stream) -> None:
        """Give the memory of a stream back until somebody looks at it."""
        stream.unload(lambda: self._wake(stream))

    def _wake(self, stream: Stream) -> None:
        """Bring a stream back into memory."""
        self._woken[stream.number], summary = time.monotonic(), stream.summary()
        try:
            recover(stream, self._reader, self._about, say)
        except self._store.errors as error:
            self.crash(error)
            raise StoppingError("the database failed, so that the service stops.", owner="serve") from error
        except Exception as error:
            self._set_aside(stream, error, summary)
            raise SetAsideError(stream.aside, owner="stream") from error

    async def rest(self) -> None:
        """Let archived streams that nobody looks at leave the memory, once they are on the disk as they are."""
        for stream in list(self.by_number.values()):
            if self._is_idle(stream):
                with contextlib.suppress(SetAsideError):
                    await self.committed(stream, snapshot=self._snapshot_policy.length(stream.number) > 0)
                    if self._is_idle(stream) and self._snapshot_policy.length(stream.number) == 0:
                        self._rest(stream)

    def _set_aside(
        self, stream: Stream, error: Exception, summary: StreamSummary | None = None, seq: int | None = None
    ) -> None:
        """Let one stream stop, and the others go on."""
        known = error if isinstance(error, AskwhenError) else None  # which says what is wrong in a sentence
        stream.set_aside(known.sentence.rstrip(".") if known else f"its model failed ({_kind(error)})", summary, seq)
        facts = {"stream": stream.name, "error": _kind(error), "said": stream.aside}
        log.error("a stream is set aside", extra={"facts": facts}, exc_info=None if known else error)

    def _failed(self, stream: Stream, error: Exception) -> None:
        """An error came up in a stream: it is set aside, unless the database is what failed."""
        if isinstance(error, (StoppingError, *self._store.errors)):
            self.crash(error)
        elif not stream.aside:
            self._set_aside(stream, error)

    @property
    def set_aside(self) -> list[Stream]:
        """The streams that are set aside."""
        return [stream for stream in self.by_number.values() if stream.aside]

    def _make_way(self, stream: Stream) -> None:
        """Give a stream that is set aside another name, where its last one cannot be read and another stream has it."""
        other = self.streams.get(stream.name)
        if other is not None and stream.aside:
            stream.summary().name += f"-{stream.number}"
        elif other is not None and other.aside:
            del self.streams[other.name]
            other.summary().name += f"-{other.number}"
            self.streams[other.name] = other

    def _know(self, stream: Stream) -> None:
        if stream.name in self.streams:
            raise ConflictError(f"there is a stream {stream.name} already.", owner="stream", parameter="name")
        self.streams[stream.name] = self.by_number[stream.number] = stream

    async def close(self) -> None:
        """End in order: snapshots of what changed, the last commit, the store."""
        self._ticking.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._ticking
        if self.broken is None:
            try:
                self._store.check()
                await self._save()
            except StoreError as error:
                self.crash(error)
        await self.commits.close()
        if self.broken is not None:
            return  # whatever the store would still write is not to be written
        async with self._listening:
            for reader in (self._reader, self._other_reader, self._event_reader):
                reader.close()
        self._store.close()

    async def _save(self) -> None:
        """Snapshots of what changed, as many as fit into a few seconds: a start plays the rest of the logs again."""
        end = time.monotonic() + CLOSING
        for place, stream in enumerate(list(self.by_number.values())):
            if place % SAVED_AT_ONCE == 0:
                await self.commits.settled()
            in_time = time.monotonic() < end
            if stream.uncommitted or (in_time and self._snapshot_policy.length(stream.number) > 0):
                with contextlib.suppress(SetAsideError):
                    self.commit(stream, snapshot=in_time)

    def until_stopping(self, items: Iterable[T]) -> Iterator[T]:
        """These, until the service is asked to stop: a thread that reads much must not keep the process."""
        for item in items:
            if self.stopping.is_set():
                raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")
            yield item

    def crash(self, error: BaseException) -> None:
        """Stop: what is in memory is not to be trusted, or cannot be kept."""
        if self.broken is None:
            self.broken = error
            said = {"error": type(error).__name__, "said": str(error)}
            log.critical("stopping", extra={"facts": said}, exc_info=error)
            if self._stop is not None:
                self._stop(error)

    def stream(self, name: str) -> Stream:
        """A stream by its name."""
        self.check()
        found = self.streams.get(name)
        if found is None:
            raise NotFoundError(f"there is no stream {name[:100]!r}.", owner="stream")
        return found

    def check(self) -> None:
        """Refuse everything once the desk is broken."""
        if self.broken is not None:
            raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")

    # Commits.

    @contextlib.contextmanager
    def changing(self, stream: Stream | None = None) -> Iterator[None]:
        """Inside, memory is changed or the log read: a refusal changes nothing.

        Any other error sets the stream aside that is changed, or stops the process where that is not known.
        """
        self.check()
        try:
            yield
        except (AskwhenError, asyncio.CancelledError):
            raise
        except BaseException as error:
            if stream is not None and isinstance(error, Exception):
                self._failed(stream, error)
                if self.broken is None:
                    raise SetAsideError(stream.aside, owner="stream") from error
            self.crash(error)
            raise StoppingError("the service met an error and stops; send it again.", owner="serve") from error

    def commit(self, stream: Stream, snapshot: bool = False, changes: Sequence[Change] = ()) -> asyncio.Future[None]:
        """Put what happened on a stream into the next batch; done when it is on the disk."""
        made = self._made(stream) if snapshot else None
        if stream.aside:
            raise SetAsideError(stream.aside, owner="stream")
        events = stream.pop_uncommitted()
        messages = self.webhooks.messages(stream.name, events)
        if made is None:
            self._snapshot_policy.add(stream.number, len(events))
        found = self.commits.add(events, made, [*changes, *messages])
        self._deliver(messages, found)
        if self.subscribers.count(stream.number):
            found.add_done_callback(lambda _: self.subscribers.notify(stream.number))
        due = self._snapshot_policy.due() if made is None else None
        made = None if due is None else self._made(self.by_number[due])
        if made is not None:
            self.commits.add([], made)
        return found

    def _made(self, stream: Stream) -> Made | None:
        """A snapshot of a stream; None where its model fails, so that it is set aside."""
        try:
            return self._snapshot(stream)
        except Exception as error:
            self._failed(stream, error)
            self._snapshot_policy.cut(stream.number)
            return None

    async def committed(self, stream: Stream, snapshot: bool = False) -> None:
        """Wait until what happened on a stream is on the disk; whoever no longer waits does not harm the others."""
        if stream.uncommitted or snapshot:
            await asyncio.shield(self.commit(stream, snapshot))
        else:
            await self.commits.settled()

    def _snapshot(self, stream: Stream) -> Callable[[], Snapshot]:
        seq, books, pack = stream.dump()
        self._snapshot_policy.cut(stream.number)

        def make() -> Snapshot:
            model = pack()
            self._snapshot_policy.weigh(stream.number, len(books) + len(model))
            return Snapshot(stream.number, seq, self._about, books, model)

        return make

    def _deliver(self, messages: Sequence[Message], committed: asyncio.Future[None]) -> None:
        """Let messages be sent once they are on the disk."""
        if messages and self.deliver is not None:
            deliver = self.deliver
            committed.add_done_callback(lambda done: None if done.exception() else deliver(messages))

    def post(self, messages: Sequence[Message]) -> asyncio.Future[None]:
        """Put messages to webhooks into the outbox."""
        found = self.commits.add([], None, messages)
        self._deliver(messages, found)
        return found

    @property
    def next_number(self) -> int:
        """Of the next event in the log of the service itself."""
        return self._seq + 1

    def note(
        self,
        kind: str,
        fact: Fact,
        snapshot: Made | None = None,
        key: str | None = None,
        changes: Sequence[Change] = (),
        messages: Sequence[Message] = (),
    ) -> tuple[Event, asyncio.Future[None]]:
        """Write an event into the log of the service itself."""
        self._seq += 1
        event = Event(SERVICE, self._seq, self.clock.now(), kind, None, key, encoded(fact))
        found = self.commits.add([event], snapshot, [*changes, *messages])
        self._deliver(messages, found)
        return event, found

    async def add(self, stream: Stream, key: str | None = None) -> Event:
        """Take a new stream, with a snapshot that says what made it."""
        snapshot = self._snapshot(stream)
        with self.changing():
            self._know(stream)
            fact = Created(stream.number, stream.name, stream.settings)
            event, done = self.note("created", fact, snapshot, key)
            self.warmups.begin(stream.number, stream.settings)
        await asyncio.shield(done)
        return event

    async def _tick(self) -> None:
        while True:
            await asyncio.sleep(TICK)
            self.tick()
            with contextlib.suppress(StoppingError):
                await self.rest()

    def tick(self) -> None:
        """Do what is due on every stream."""
        if self.broken is not None:
            return
        try:
            if self.commits.taking > LONGEST_COMMIT:
                raise StoreError("a commit takes longer than a minute.", owner="serve")
            if self._store.missing:
                self.commits.add([], None, [Delivered([])])  # which fails
            now = self.clock.now()
        except Exception as error:
            self.crash(error)
            return
        for stream in list(self.by_number.values()):
            if stream.loaded:
                try:
                    stream.tick(now)
                    if stream.uncommitted:
                        self.commit(stream)
                except Exception as error:  # also a refusal: what is due was checked when it came
                    self._failed(stream, error)

    # Reading.

    async def events_of_keys(self, number: int, keys: Sequence[str]) -> list[Event]:
        """The committed events of these keys."""
        with self.changing():
            return await self._key_lookups.find(number, keys)

    def reader(self) -> Reader:
        """A new connection that only reads, for whoever reads much."""
        return self._store.reader()

    def reading(self) -> AbstractAsyncContextManager[ThreadedReader]:
        """The same for whoever reads in another thread."""
        return reading(self._store.reader)

    @contextlib.asynccontextmanager
    async def exporting(self) -> AsyncIterator[ThreadedReader]:
        """The same for an export; refused where too many are under way, since a database has not many connections."""
        if self._exports >= MOST_EXPORTS:
            raise TooManyError(f"{MOST_EXPORTS} exports are under way; wait a moment.", owner="export")
        self._exports += 1
        try:
            async with self.reading() as found:
                yield found
        finally:
            self._exports -= 1

    async def news(self, stream: Stream, after: int, limit: int, kinds: tuple[str, ...]) -> tuple[list[Event], int]:
        """The committed events after one of them, and up to which event these are all; one reader for all listeners."""
        async with self._listening:
            return await asyncio.shield(asyncio.to_thread(self._news, stream.number, after, limit, kinds))

    def _news(self, number: int, after: int, limit: int, kinds: tuple[str, ...]) -> tuple[list[Event], int]:
        last = self._event_reader.last(number)
        found = self._event_reader.events(number, after, limit, kinds)
        return found, found[-1].seq if len(found) == limit else last

    def new_stream(self, name: str, settings: Settings) -> Stream:
        """A stream with a log of its own, which nobody knows yet."""
        number = max(self.by_number, default=0) + 1
        return Stream(number, name, settings, *looking(self._reader, number))

    async def scrub(self) -> None:
        """Let what was erased be gone from the database's files."""
        await asyncio.to_thread(self._store.scrub)

    async def scrub_again(self) -> None:
        """Commit nothing, where a reader was in the way of that."""
        if self._store.scrubbing:
            await asyncio.shield(self.commits.add([], None, [Delivered([])]))

    def event(self, stream: Stream, seq: int) -> Event | None:
        """One committed event."""
        with self.changing():
            return self._reader.event(stream.number, seq)


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Inside, objects are made that stay: looking for garbage among them again and again takes most of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _kind(error: BaseException) -> str:
    """The name of an error; its text may have contents of an instance."""
    return type(error).__name__


def say(what: str, facts: dict[str, Any]) -> None:
    """A line of the structured log; never the content of an instance."""
    log.warning(what, extra={"facts": facts})
