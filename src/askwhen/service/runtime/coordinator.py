"""The owner of all streams. Only the thread of the event loop changes them; another thread commits their events.

A request changes memory, puts its events into the next batch, waits for the commit, and only then replies. So memory
may be ahead of the disk, but no reply is. An error of the database stops the process: the log is authoritative, and the
next start recovers everything from it. Any other error sets the stream aside that it came from, and the other streams
go on.
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
from ..domain.backlog import MOST_AT_ONCE
from ..domain.invitations import Invitations
from ..domain.people import People
from ..domain.sign_ins import SignIns
from ..domain.stream import ServiceStream, no_stream
from ..domain.subscribers import Subscribers
from ..domain.summary import StreamSummary
from ..domain.tokens import Tokens
from ..domain.webhooks import Webhook, Webhooks
from ..errors import ConflictError, SetAsideError, StoppingError, StoreError, TooManyError
from ..events.kinds import Created, Deleted, Fact, WentOn, encoded, facts_of
from ..events.label_names import LabelNames
from ..events.settings import Settings
from ..store.records import ALL, BacklogItem, Change, Delivered, Dropped, Event, Message, Reader, Snapshot, Store
from .clock import Clock
from .group_commit import GroupCommit, MakeSnapshot
from .idempotency import Idempotency
from .key_lookups import KeyLookups, Made
from .named_reader import named
from .presence import Presence
from .provenance import provenance
from .recovery import created, event_lookups, last_summary, recover, shell, stored_backlog
from .snapshot_policy import SnapshotPolicy
from .threaded_reader import ThreadedReader, threaded_reader
from .warmup import Warmups

TICK = 0.2
LONGEST_COMMIT = 60.0
"""Seconds after which a database that does not answer is considered lost."""

MOST_EXPORTS = 8

CLOSING, SAVED_AT_ONCE = 2.0, 50
"""Seconds for the last snapshots when the service ends, and number of streams that are saved between two commits."""

REST = 60.0
"""Seconds for which an archived stream stays in memory after it was used."""

SERVICE = 0
"""The number of the log of the service itself."""

T = TypeVar("T")
log = logging.getLogger("askwhen.service")


class Coordinator:
    """All streams, tokens, sign-ins, invitations and webhooks, and the only place where they are changed.

    Parameters
    ----------
    store : Store
        Where the log is; the coordinator closes it.
    clock : Clock, optional
        Gives the time of events.
    stop : callable, optional
        Called with the error when the process must stop.

    Attributes
    ----------
    history_lock : asyncio.Lock
        Held by whatever depends on closed questions or older instances, which are read from the log: such work runs one
        after the other, always after ``commits.settled()``, since the readers see committed events only.
    deleted : set of int
        The numbers of deleted streams of which rows may be left in the database.
    broken : BaseException or None
        The error after which everything is refused.
    """

    def __init__(
        self, store: Store, clock: Clock | None = None, stop: Callable[[BaseException], None] | None = None
    ) -> None:
        self._store, self.clock = store, Clock() if clock is None else clock
        self._stop = stop
        self.streams: dict[str, ServiceStream] = {}
        self.by_number: dict[int, ServiceStream] = {}
        self.tokens = Tokens()
        self.sign_ins = SignIns(self.tokens.changes)
        self.invitations = Invitations()
        self.webhooks = Webhooks(self._owner_may_see)
        self.people = People()
        self.idempotency = Idempotency(self.made_by_keys)
        self.subscribers = Subscribers()
        self.warmups = Warmups()
        self.presence = Presence()
        self.deliver: Callable[[Sequence[Message]], None] | None = None
        self.history_lock = asyncio.Lock()
        self.stopping = asyncio.Event()
        self.broken: BaseException | None = None
        self.deleted: set[int] = set()
        self._seq = self._largest = 0
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
            gc.collect()  # of archived streams only names and counts stay in memory
        self.commits = GroupCommit(self._store, self.crash)
        self._store.watch(self._crash_soon(asyncio.get_running_loop()))
        for stream, note in went_on:
            stream.note("went on", note, self.clock.now())
            await self.committed(stream, snapshot=True)
        self._ticking = asyncio.create_task(self._tick())

    def _recover(self, play: bool) -> list[tuple[ServiceStream, WentOn]]:
        """Recover everything from the log; returns streams for which an event must be recorded."""
        try:
            self._reader = self._store.reader()
            self._other_reader = self._store.reader()
            self._event_reader = self._store.reader()
            self._key_lookups = KeyLookups(named(self._other_reader, self.names_of), self._store.quick)
            self.clock.not_before(self._reader.last_time())
            self.deleted = {facts_of(event).stream for event in self._reader.events(SERVICE, 0, ALL, ("deleted",))}
            return [found for event in created(self._reader) if (found := self._follow(event, play)) is not None]
        except AskwhenError:
            raise
        except Exception as error:
            why = str(error) if isinstance(error, self._store.errors) else f"a part of it is not text ({_kind(error)})"
            raise StoreError(
                f"the database cannot be read: {why}; if it is damaged, restore a backup.", owner="serve"
            ) from error

    def _follow(self, event: Event, play: bool) -> tuple[ServiceStream, WentOn] | None:
        """Apply an event of the log of the service itself; returns a stream for which an event must be recorded."""
        try:
            fact = facts_of(event)
            self._seq = event.seq
            if isinstance(fact, Created):
                self._largest = max(self._largest, fact.stream)
            if isinstance(fact, Deleted) or (isinstance(fact, Created) and fact.stream in self.deleted):
                return None
            if not isinstance(fact, Created):
                self.tokens.apply(fact)
                self.sign_ins.apply(fact, event.time)
                self.invitations.apply(fact)
                self.webhooks.apply(fact)
                self.people.apply(fact)
                return None
        except Exception as error:
            raise StoreError(
                f"the database is damaged: event {event.seq} of its first log cannot be read; restore a backup.",
                owner="serve",
            ) from error
        stream = shell(fact, self._reader)
        try:
            note, tail = recover(stream, self._reader, self._about, warn, play)
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

    def _is_idle(self, stream: ServiceStream) -> bool:
        """Whether a stream is archived, has not been used lately, and has nothing to do."""
        if not stream.loaded or not stream.state.archived or stream.has_uncommitted or stream.state.received:
            return False
        if time.monotonic() - self._woken.get(stream.number, -REST) < REST:
            return False
        return not any(each.is_full and not each.disputed for each in stream.questions.open.values())

    def _rest(self, stream: ServiceStream) -> None:
        """Release the memory of a stream until it is used again."""
        stream.unload(lambda: self._wake(stream))

    def _wake(self, stream: ServiceStream) -> None:
        """Bring a stream back into memory."""
        self._woken[stream.number], summary = time.monotonic(), stream.summary()
        try:
            recover(stream, self._reader, self._about, warn)
        except self._store.errors as error:
            self.crash(error)
            raise StoppingError("the database failed, so that the service stops.", owner="serve") from error
        except Exception as error:
            self._set_aside(stream, error, summary)
            raise SetAsideError(stream.aside, owner="stream") from error

    async def rest(self) -> None:
        """Release the memory of archived streams that are not used, once they are stored as they are."""
        for stream in list(self.by_number.values()):
            if self._is_idle(stream):
                with contextlib.suppress(SetAsideError):
                    await self.committed(stream, snapshot=self._snapshot_policy.length(stream.number) > 0)
                    if self._is_idle(stream) and self._snapshot_policy.length(stream.number) == 0:
                        self._rest(stream)

    def _set_aside(
        self, stream: ServiceStream, error: Exception, summary: StreamSummary | None = None, seq: int | None = None
    ) -> None:
        """Stop one stream because of an error; the others go on."""
        known = error if isinstance(error, AskwhenError) else None  # these say in a sentence what is wrong
        stream.set_aside(known.sentence.rstrip(".") if known else f"its model failed ({_kind(error)})", summary, seq)
        facts = {"stream": stream.name, "error": _kind(error), "said": stream.aside}
        log.error("a stream is set aside", extra={"facts": facts}, exc_info=None if known else error)

    def _failed(self, stream: ServiceStream, error: Exception) -> None:
        """Set a stream aside because of an error, or stop everything where the database failed."""
        if isinstance(error, (StoppingError, *self._store.errors)):
            self.crash(error)
        elif not stream.aside:
            self._set_aside(stream, error)

    @property
    def set_aside(self) -> list[ServiceStream]:
        """The streams that are set aside."""
        return [stream for stream in self.by_number.values() if stream.aside]

    def _make_way(self, stream: ServiceStream) -> None:
        """Rename a stream that is set aside, where another stream has the same name.

        That happens where its last name could not be read, and its former one was given to another stream.
        """
        other = self.streams.get(stream.name)
        if other is not None and stream.aside:
            stream.summary().name += f"-{stream.number}"
        elif other is not None and other.aside:
            del self.streams[other.name]
            other.summary().name += f"-{other.number}"
            self.streams[other.name] = other

    def _know(self, stream: ServiceStream) -> None:
        if stream.name in self.streams:
            raise ConflictError(f"there is a stream {stream.name} already.", owner="stream", parameter="name")
        stream.people = self.people
        self.streams[stream.name] = self.by_number[stream.number] = stream

    async def close(self) -> None:
        """Shut down: snapshots of what changed, the last commit, the store."""
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
            return  # closing the store could write to a database that has failed
        async with self._listening:
            for reader in (self._reader, self._other_reader, self._event_reader):
                reader.close()
        self._store.close()

    async def _save(self) -> None:
        """Make snapshots of what changed, as many as fit into a few seconds; a start plays the other logs again."""
        end = time.monotonic() + CLOSING
        for place, stream in enumerate(list(self.by_number.values())):
            if place % SAVED_AT_ONCE == 0:
                await self.commits.settled()
            in_time = time.monotonic() < end
            if stream.has_uncommitted or (in_time and self._snapshot_policy.length(stream.number) > 0):
                with contextlib.suppress(SetAsideError):
                    self.commit(stream, snapshot=in_time)

    def until_stopping(self, items: Iterable[T]) -> Iterator[T]:
        """Pass items on until the service is asked to stop, so that a long read in a thread does not delay its end."""
        for item in items:
            if self.stopping.is_set():
                raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")
            yield item

    def _crash_soon(self, loop: asyncio.AbstractEventLoop) -> Callable[[BaseException], None]:
        """A function that stops the service from another thread."""

        def crash(error: BaseException) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has ended already
                loop.call_soon_threadsafe(self.crash, error)

        return crash

    def crash(self, error: BaseException) -> None:
        """Stop the service: what is in memory cannot be trusted, or cannot be stored."""
        if self.broken is None:
            self.broken = error
            facts = {"error": type(error).__name__, "said": str(error)}
            log.critical("stopping", extra={"facts": facts}, exc_info=error)
            if self._stop is not None:
                self._stop(error)

    def stream(self, name: str) -> ServiceStream:
        """A stream by its name."""
        self.check()
        found = self.streams.get(name)
        if found is None:
            raise no_stream(name)
        return found

    def _owner_may_see(self, hook: Webhook, number: int) -> bool:
        """Whether the person who made a webhook for themselves may still see a stream."""
        stream = self.by_number.get(number)
        if stream is None or (hook.is_by_token and not self.tokens.gives(hook.owner, number, self.clock.now())):
            return False
        return bool(set(hook.roles) - {"annotator"}) or stream.is_for(hook.owner)

    def check(self) -> None:
        """Refuse everything after an error that stops the service."""
        if self.broken is not None:
            raise StoppingError("the service is stopping; send it again when it is back.", owner="serve")

    # Commits.

    def changing(self, stream: ServiceStream | None = None) -> Changing:
        """Wrap code that changes memory or reads the log. Refusals (AskwhenError) pass through: they change nothing.

        Any other error sets ``stream`` aside; without a stream, it stops the service.
        """
        return Changing(self, stream)

    def fail(self, error: BaseException, stream: ServiceStream | None) -> StoppingError | SetAsideError:
        """Set a stream aside, or stop the service, because of an error; returns what its request is told."""
        if stream is not None and isinstance(error, Exception):
            self._failed(stream, error)
            if self.broken is None:
                return SetAsideError(stream.aside, owner="stream")
        self.crash(error)
        return StoppingError("the service met an error and stops; send it again.", owner="serve")

    def commit(
        self, stream: ServiceStream, snapshot: bool = False, changes: Sequence[Change] = ()
    ) -> asyncio.Future[None]:
        """Put the uncommitted events of a stream into the next batch; the future is done when they are on disk."""
        made = self._try_snapshot(stream) if snapshot else None
        if stream.aside:
            raise SetAsideError(stream.aside, owner="stream")
        events = stream.pop_uncommitted()
        messages = self.webhooks.messages(stream.name, events)
        if made is None:
            self._snapshot_policy.add(stream.number, len(events))
        moved, when_moved = stream.backlog.pop_changes()
        found = self.commits.add(events, made, [*moved, *changes, *messages])
        if moved:
            found.add_done_callback(lambda done: None if done.exception() else when_moved())
        self._deliver(messages, found)
        if self.subscribers.count(stream.number):
            found.add_done_callback(lambda _: self.subscribers.notify(stream.number))
        due = self._snapshot_policy.due() if made is None else None
        made = None if due is None else self._try_snapshot(self.by_number[due])
        if made is not None:
            self.commits.add([], made)
        return found

    def _try_snapshot(self, stream: ServiceStream) -> MakeSnapshot | None:
        """A snapshot of a stream; where its model fails, the stream is set aside and there is none."""
        try:
            return self._snapshot(stream)
        except Exception as error:
            self._failed(stream, error)
            self._snapshot_policy.cut(stream.number)
            return None

    async def committed(self, stream: ServiceStream, snapshot: bool = False) -> None:
        """Wait until the events of a stream are on disk. A cancelled caller does not cancel the batch of others."""
        if stream.has_uncommitted or snapshot:
            await asyncio.shield(self.commit(stream, snapshot))
        else:
            await self.commits.settled()

    def _snapshot(self, stream: ServiceStream) -> Callable[[], Snapshot]:
        seq, state, pack = stream.dump()
        self._snapshot_policy.cut(stream.number)

        def make() -> Snapshot:
            model = pack()
            self._snapshot_policy.weigh(stream.number, len(state) + len(model))
            return Snapshot(stream.number, seq, self._about, state, model)

        return make

    def _deliver(self, messages: Sequence[Message], committed: asyncio.Future[None]) -> None:
        """Send messages once they are on disk."""
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
        """The number of the next event in the log of the service itself."""
        return self._seq + 1

    def note(
        self,
        kind: str,
        fact: Fact,
        snapshot: MakeSnapshot | None = None,
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

    async def add(self, stream: ServiceStream, key: str | None = None, by: str = "") -> Event:
        """Add a new stream, with a first snapshot, which records the versions that made it."""
        snapshot = self._snapshot(stream)
        with self.changing():
            self._know(stream)
            fact = Created(stream.number, stream.name, stream.settings, by)
            self._largest = max(self._largest, stream.number)
            event, done = self.note("created", fact, snapshot, key)
            self.warmups.begin(stream.number, stream.settings)
        await asyncio.shield(done)
        return event

    async def remove(self, stream: ServiceStream, by: str, messages: Sequence[str]) -> None:
        """Delete a stream, whose events are all on disk, and these messages; ``deleted`` has its number from now on."""
        with self.changing():
            fact = Deleted(stream.number, stream.name, by, stream.summary().rounds)
            stream.set_deleted()
            self._snapshot_policy.drop(stream.number)
            del self.streams[fact.name], self.by_number[stream.number]
            self.deleted.add(stream.number)
            _, done = self.note("deleted", fact, changes=[Delivered(messages)])
            self.subscribers.notify(stream.number)
        await asyncio.shield(done)

    async def drop(self, number: int, until: int) -> None:
        """Delete rows of a deleted stream."""
        await asyncio.shield(self.commits.add([], None, [Dropped(number, until)]))

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
                self.commits.add([], None, [Delivered([])])  # a commit finds the missing files and fails
            now = self.clock.now()
        except Exception as error:
            self.crash(error)
            return
        for stream in list(self.by_number.values()):
            if stream.loaded:
                try:
                    stream.tick(now)
                    if self.warmups.is_ready(stream.number):
                        wanted = stream.wanted_questions(self.presence.count(stream.number, now))
                        stream.decide_until(wanted, now, MOST_AT_ONCE)
                    if stream.has_uncommitted:
                        self.commit(stream)
                except Exception as error:  # refusals included: what is due was checked when it came
                    self._failed(stream, error)

    # Reading.

    async def made_by_keys(self, number: int, keys: Sequence[str]) -> list[Made]:
        """What these keys have made: committed events, and instances of the backlog."""
        with self.changing():
            return await self._key_lookups.find(number, keys)

    async def events_of_keys(self, number: int, keys: Sequence[str]) -> list[Event]:
        """The committed events of these keys."""
        return [each for each in await self.made_by_keys(number, keys) if isinstance(each, Event)]

    def names_of(self, number: int) -> LabelNames:
        """The current names of the labels of a stream; those of a log without labels never change."""
        found = self.by_number.get(number)
        return LabelNames() if found is None else found.label_names

    def reader(self) -> Reader:
        """A new read-only connection, for callers that read much; labels have their current names."""
        return named(self._store.reader(), self.names_of)

    def reading(self) -> AbstractAsyncContextManager[ThreadedReader]:
        """A new read-only connection that is used in another thread."""
        return threaded_reader(self.reader)

    @contextlib.asynccontextmanager
    async def exporting(self) -> AsyncIterator[ThreadedReader]:
        """The same for an export; refused while too many are under way, since connections are limited."""
        if self._exports >= MOST_EXPORTS:
            raise TooManyError(f"{MOST_EXPORTS} exports are under way; wait a moment.", owner="export")
        self._exports += 1
        try:
            async with self.reading() as found:
                yield found
        finally:
            self._exports -= 1

    async def news(
        self, stream: ServiceStream, after: int, limit: int, kinds: tuple[str, ...]
    ) -> tuple[list[Event], int]:
        """The committed events after one of them, and the event up to which the list is complete.

        All listeners share one reader, so the calls take turns.
        """
        async with self._listening:
            return await asyncio.shield(asyncio.to_thread(self._news, stream.number, after, limit, kinds))

    def _news(self, number: int, after: int, limit: int, kinds: tuple[str, ...]) -> tuple[list[Event], int]:
        last = self._event_reader.last(number)
        found = self._event_reader.events(number, after, limit, kinds)
        return found, found[-1].seq if len(found) == limit else last

    def new_stream(self, name: str, settings: Settings) -> ServiceStream:
        """A stream with a log of its own, not yet added."""
        number = self._largest + 1
        lookups, backlog = event_lookups(self._reader, number), stored_backlog(self._reader, number)
        return ServiceStream(number, name, settings, *lookups, backlog=backlog)

    async def scrub(self) -> None:
        """Remove what was erased from the files of the database."""
        await asyncio.to_thread(self._store.scrub)

    async def scrub_again(self) -> None:
        """Try again to empty the write-ahead log, by an empty commit, where a reader was in the way before."""
        if self._store.scrubbing:
            await asyncio.shield(self.commits.add([], None, [Delivered([])]))

    def backlog_places(
        self, stream: ServiceStream, subject: str | None = None, source: str | None = None, before: float | None = None
    ) -> list[int]:
        """The committed instances of the backlog about a subject, from a source, or accepted before a time."""
        with self.changing():
            found = self._reader.backlog_places(stream.number, subject, source, before)
        return [place for place in found if not stream.backlog.is_leaving(place)]

    def backlog_at(self, stream: ServiceStream, places: Sequence[int]) -> list[int]:
        """Those of these places in the backlog that have a committed instance."""
        with self.changing():
            found = [self._reader.backlog(stream.number, place - 1, 1) for place in sorted({*places}) if place > 0]
        there = [items[0].place for items in found if items]
        return [place for place in there if place in places and not stream.backlog.is_leaving(place)]

    def backlog_by_keys(self, stream: ServiceStream, keys: Sequence[str]) -> list[int]:
        """The committed instances of the backlog with these keys."""
        with self.changing():
            found = self._reader.backlog_by_keys(stream.number, keys)
        return [item.place for item in found if not stream.backlog.is_leaving(item.place)]

    def waiting_item(self, stream: ServiceStream, key: str) -> BacklogItem | None:
        """The committed instance of the backlog with a key, also while it leaves."""
        with self.changing():
            return next(iter(self._reader.backlog_by_keys(stream.number, [key])), None)

    def event(self, stream: ServiceStream, seq: int) -> Event | None:
        """One committed event."""
        with self.changing():
            found = self._reader.event(stream.number, seq)
        return None if found is None else stream.label_names.event(found)


class Changing:
    """What ``Coordinator.changing`` returns: a class of its own, since a generator takes three times as long."""

    __slots__ = ("_coordinator", "_stream")

    def __init__(self, coordinator: Coordinator, stream: ServiceStream | None) -> None:
        self._coordinator, self._stream = coordinator, stream

    def __enter__(self) -> None:
        self._coordinator.check()

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if error is not None and not isinstance(error, (AskwhenError, asyncio.CancelledError)):
            raise self._coordinator.fail(error, self._stream) from error


@contextlib.contextmanager
def _without_collecting() -> Iterator[None]:
    """Switch the garbage collector off while many long-lived objects are made, which it would scan repeatedly."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


def _kind(error: BaseException) -> str:
    """The type of an error; its message is not logged, since it may have contents of an instance."""
    return type(error).__name__


def warn(what: str, facts: dict[str, Any]) -> None:
    """Write a warning to the structured log; never the contents of an instance."""
    log.warning(what, extra={"facts": facts})
