"""The worker of one partition: reads from the committed offset, plays events, commits all that came of them at once.

It knows no engine that places it, and nobody pushes anything to it. Killed at any moment, it leaves the last commit;
whoever comes next goes on from there and plays the same rounds with the same coins, so that what is stored in the end
is that of a worker which was never killed.
"""

from __future__ import annotations

import gc
import logging
from collections import defaultdict
from typing import Any

from ..contracts.rule import last_time
from ..engine.inputs.argument_checks import check_time, moment
from ..errors import AskwhenError
from ..linalg.rows import SparseRow
from .decisions import Decision, written
from .events import Batch, Refusal
from .logs.protocols import DecisionSink, PartitionReader
from .sampler_cache import Cache
from .sampler_pool import Held, Slots
from .sampler_spec import SamplerSpec
from .stores.records import Commit, Counts, PartitionStore

log = logging.getLogger("askwhen.keyed")
_FIRST_BATCH = 2_000
_MOST_BYTES = 1 << 27
"""About so much is committed at once, by what the last commit took for each event."""


class PartitionWorker:
    """Plays one partition.

    Parameters
    ----------
    partition : str
        Its name.
    reader, store : PartitionReader, PartitionStore
        Its log, and where it is kept, claimed by this worker.
    spec : SamplerSpec
        What all samplers have in common.
    cache : int
        How many samplers are held in memory.
    batch : int
        How many events are committed at once, at most.
    sink : DecisionSink, optional
        An output log. Without one, decisions stay in the store.
    shows : bool, default False
        Whether questions bear their instances, for people to see.
    """

    def __init__(
        self,
        partition: str,
        reader: PartitionReader,
        store: PartitionStore,
        spec: SamplerSpec,
        *,
        cache: int,
        batch: int,
        sink: DecisionSink | None = None,
        shows: bool = False,
    ) -> None:
        self._partition, self._reader, self._store, self._spec = partition, reader, store, spec
        self._most, self._batch, self._sink, self._shows = cache, batch, sink, shows
        self._cache: Cache | None = None
        self._d = store.features if store.features is not None else spec.features
        self._published = 0
        self._room = min(batch, _FIRST_BATCH)
        if sink is not None:
            sink.begin(partition, store.counts.events)
            for first, body in store.decisions():  # of a commit whose worker was killed before it could
                self._publish(sink, first, body)

    def step(self) -> int:
        """Play and commit the next events; how many there were."""
        collects = gc.isenabled()
        gc.disable()  # it would look at all samplers again and again, and nothing here refers to itself
        try:
            return self._step()
        except BaseException:
            self._cache = None  # which has played what is not committed
            raise
        finally:
            if collects:
                gc.enable()

    def _step(self) -> int:
        store = self._store
        batch, position = self._reader.read(store.position, self._room)
        if not batch.keys:
            return 0
        decisions, counts, changed = self._play(batch)
        if store.counts.events == 0:
            _warn_of_refusals(self._partition, batch, decisions)
        first, body = store.counts.events, written(decisions)
        total = Counts(*(before + now for before, now in zip(store.counts, counts, strict=True)))
        published = self._published if self._sink is not None else 0
        store.commit(Commit(position, total, self._d, changed, first, body, published))
        size = len(body) + sum(len(state) for _, state in changed)
        self._room = min(self._batch, len(batch.keys) * _MOST_BYTES // size + 1) if size else self._batch
        if self._sink is not None and body:
            self._publish(self._sink, first, body)
        return len(batch.keys)

    def close(self) -> None:
        """Let go of the store and the output log."""
        self._store.close()
        if self._sink is not None:
            self._sink.close()

    def _publish(self, sink: DecisionSink, first: int, body: bytes) -> None:
        sink.publish(self._partition, first, body)
        self._published = first + 1

    def _begin(self, batch: Batch) -> Cache | None:
        """The cache, once it is known how many features there are: the first instance may say so."""
        if self._cache is None:
            if self._d is None:
                instances = (x for x in batch.instances if x is not None and not isinstance(x, Refusal))
                self._d = next((len(x) for x in instances), None)
            if self._d is not None:
                self._cache = Cache(Slots(self._spec, self._d), self._store.load, self._most)
        return self._cache

    def _play(self, batch: Batch) -> tuple[list[Decision], Counts, list[tuple[str, bytes]]]:
        """What comes of these events.

        Keys have nothing to do with each other, so that each plays all of its events before the next one does.
        """
        cache = self._begin(batch)
        first = self._store.counts.events
        if cache is None:  # no instance came yet, so that nothing can be answered
            return _all_refused(batch, first)
        events = defaultdict[str, list[Any]](list)
        for key, event in zip(batch.keys, zip(range(len(batch.keys)), *batch[1:], strict=True), strict=True):
            events[key].append(event)
        decisions: list[Decision | None] = [None] * len(batch.keys)
        changed: list[tuple[str, bytes]] = []
        taken_out, shape = cache.taken_out, None if self._spec.sparse else (self._d,)
        shows = self._shows
        timeless = not self._spec.needs_time
        instances = questions = answers = volunteered = forgotten = refused = 0
        for key, held in cache.visit(list(events)):
            is_changed = False
            for i, x, number, label, time, name in events[key]:
                try:
                    if x is None:
                        if label is None:
                            held.sampler.forget(number)
                            forgotten += 1
                        else:
                            held.sampler.tell(number, label)
                            answers += 1
                    elif type(x) is Refusal:
                        raise _RefusedError(x.sentence)
                    elif shape is not None and x.shape != shape:
                        raise _RefusedError(f"x must have {self._d} features as before, got {len(x)}.")
                    elif label is None:
                        ask = held.engine.ask(x) if timeless else held.engine.ask(x, _moment(held, time))
                        instances += 1
                        questions += ask[5]
                        decisions[i] = made = Decision(key, *ask, name)
                        if shows and ask[5]:
                            made.x = _plain(x)
                    else:
                        _learn(held, x, label, self._d)
                        volunteered += 1
                    is_changed = True
                except AskwhenError as error:
                    refused += 1
                    decisions[i] = Decision(key, id=name, refused=error.sentence, event=first + i)
                    if held.engine.learner is None:
                        held = cache.renewed(key)
            if is_changed:
                changed.append((key, taken_out(held)))
        counts = Counts(len(batch.keys), instances, questions, answers, volunteered, forgotten, refused)
        return [each for each in decisions if each is not None], counts, changed


def _all_refused(batch: Batch, first: int) -> tuple[list[Decision], Counts, list[tuple[str, bytes]]]:
    decisions = []
    for i, (key, x, name) in enumerate(zip(batch.keys, batch.instances, batch.ids, strict=True)):
        sentence = x.sentence if isinstance(x, Refusal) else "no instance came before this event."
        decisions.append(Decision(key, id=name, refused=sentence, event=first + i))
    return decisions, Counts(events=len(decisions), refused=len(decisions)), []


def _warn_of_refusals(partition: str, batch: Batch, decisions: list[Decision]) -> None:
    """Warn where all of the first events were refused, or all of those with labels: a name may be wrong everywhere."""
    refused = {each.event: each.refused for each in decisions if each.event is not None}
    labels = [i for i, label in enumerate(batch.labels) if label is not None]
    for what, events in (("events", range(len(batch.keys))), ("events with labels", labels)):
        if events and all(i in refused for i in events):
            log.warning(
                "partition %s: all of the first %d %s were refused: %s",
                partition,
                len(events),
                what,
                refused[events[0]],
            )
            return


class _RefusedError(AskwhenError):
    """An event that cannot be taken."""


def _plain(x: Any) -> Any:
    """An instance as it is written."""
    if isinstance(x, SparseRow):
        places, values = x.indices[x.start : x.stop].tolist(), x.data[x.start : x.stop].tolist()
        return {str(place): value for place, value in zip(places, values, strict=True)}
    return x.tolist()


def _moment(held: Held, time: Any) -> float:
    """The time of an event, or the last one where it would go back: producers' clocks may differ."""
    engine = held.engine
    if time is not None:
        now, last = check_time("ask", time), float(last_time(engine.rule))
        time = last if now < last else now
    return moment(engine, "ask", time)


def _learn(held: Any, x: Any, label: Any, d: Any) -> None:
    """Learn a label that nobody asked for."""
    if hasattr(x, "indices"):
        import scipy.sparse as sp

        x = sp.csr_matrix((x.data, x.indices.astype("i4"), [0, x.stop]), (1, d))
    held.sampler.learn(x, label)
