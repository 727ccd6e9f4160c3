"""The worker of one partition: reads from the committed offset, plays events, and commits all results at once.

It pulls its events, and does not depend on what started it. Killed at any moment, it leaves the last commit; the next
worker goes on from there and plays the same rounds with the same random draws, so that the store ends as that of a
worker which was never killed.
"""

from __future__ import annotations

import gc
import logging
from collections import defaultdict
from typing import Any

import numpy as np

from ..contracts.rule import last_time
from ..engine.inputs.argument_checks import check_time, round_time
from ..errors import AskwhenError
from ..linalg.rows import SparseRow
from ..trace.trace import Ask
from .advice import advice_of
from .decisions import DecisionLine, ndjson_of
from .events import EventBatch, Refusal, Time
from .logs.protocols import DecisionSink, PartitionReader
from .sampler_cache import SamplerCache
from .sampler_pool import PooledSampler, SamplerPool
from .sampler_spec import SamplerSpec
from .stores.records import Commit, Counts, PartitionStore

log = logging.getLogger("askwhen.keyed")
_FIRST_BATCH = 2_000
_MOST_BYTES = 1 << 27
"""Bytes of a commit, at most, as far as the last one tells how many an event takes."""


class PartitionWorker:
    """Plays one partition.

    Parameters
    ----------
    partition : str
        Its name.
    reader, store : PartitionReader, PartitionStore
        The reader of its log, and its part of the store, claimed by this worker.
    spec : SamplerSpec
        The parameters of all samplers.
    cache : int
        Number of samplers held in memory.
    batch : int
        Largest number of events in a commit.
    sink : DecisionSink, optional
        An output log; without one, decisions stay in the store.
    shows : bool, default False
        Whether questions include their instances, for people to see.
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
        self._cache_size, self._batch, self._sink, self._shows = cache, batch, sink, shows
        self._cache: SamplerCache | None = None
        self._d = store.features if store.features is not None else spec.features
        self._published = 0
        self._next_batch = min(batch, _FIRST_BATCH)
        self._keeps_refused = sink is not None and sink.keeps_refused
        if sink is not None:
            waiting = store.decisions()  # of a commit whose worker was killed before it published them
            sink.begin(partition, store.counts, sum(body.count(b"\n") for _, body in waiting))
            for first, body in waiting:
                self._publish(sink, first, body)

    def step(self) -> int:
        """Play and commit the next events; their number."""
        collects = gc.isenabled()
        gc.disable()  # it would traverse all samplers again and again, and nothing here has reference cycles
        try:
            return self._step()
        except BaseException:
            self._cache = None  # its samplers have played events that are not committed
            raise
        finally:
            if collects:
                gc.enable()

    def _step(self) -> int:
        store = self._store
        batch, position = self._reader.read(store.position, self._next_batch)
        if not batch.keys:
            if position != store.position:  # past what is not for readers, or to where the log is to be read from
                store.commit(Commit(position, store.counts, self._d, [], store.counts.events, b"", self._published))
            return 0
        decisions, counts, changed = self._play(batch)
        if store.counts.events == 0:
            _warn_of_refusals(self._partition, batch, decisions)
        first, body = store.counts.events, ndjson_of(decisions)
        total = Counts(*(before + now for before, now in zip(store.counts, counts, strict=True)))
        published = self._published if self._sink is not None else 0
        store.commit(Commit(position, total, self._d, changed, first, body, published))
        size = len(body) + sum(len(state) for _, state in changed)
        self._next_batch = min(self._batch, len(batch.keys) * _MOST_BYTES // size + 1) if size else self._batch
        if self._sink is not None and body:
            self._publish(self._sink, first, body)
        return len(batch.keys)

    def close(self) -> None:
        """Close the store and the output log."""
        self._store.close()
        if self._sink is not None:
            self._sink.close()

    def _publish(self, sink: DecisionSink, first: int, body: bytes) -> None:
        sink.publish(self._partition, first, body)
        self._published = first + 1

    def _opened_cache(self, batch: EventBatch) -> SamplerCache | None:
        """The cache, made once the number of features is known: the first instance may determine it."""
        if self._cache is None:
            if self._d is None:
                instances = (x for x in batch.instances if x is not None and not isinstance(x, Refusal))
                self._d = next((len(x) for x in instances), None)
            if self._d is not None:
                self._cache = SamplerCache(SamplerPool(self._spec, self._d), self._store.load, self._cache_size)
        return self._cache

    def _play(self, batch: EventBatch) -> tuple[list[DecisionLine], Counts, list[tuple[str, bytes]]]:
        """Play events: their decisions, the counts, and the new states of the samplers that changed.

        Samplers are independent, so that each plays all of its events before the next one does.
        """
        cache = self._opened_cache(batch)
        first = self._store.counts.events
        if cache is None:  # no instance has come yet, so that there is no question to answer
            return _all_refused(batch, first, self._keeps_refused)
        events = defaultdict[str, list[Any]](list)
        for key, event in zip(batch.keys, zip(range(len(batch.keys)), *batch[1:6], strict=True), strict=True):
            events[key].append(event)
        decisions: list[DecisionLine | None] = [None] * len(batch.keys)
        changed: list[tuple[str, bytes]] = []
        shape = None if self._spec.sparse else (self._d,)
        shows, advice = self._shows, batch.advice
        texts = batch.texts if self._keeps_refused else None
        timeless = not self._spec.needs_time
        instances = questions = answers = unsolicited = forgotten = refused = 0
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
                        said = None if advice is None else advice[i]
                        if said is not None:
                            ask = _advised(held, x, None if timeless else _time_of(held, time), said, self._d)
                        else:
                            ask = held.engine.ask(x) if timeless else held.engine.ask(x, _time_of(held, time))
                        instances += 1
                        questions += ask[5]
                        decisions[i] = made = DecisionLine(key, *ask, name)
                        if shows and ask[5]:
                            made.x = _json_values(x) if batch.given is None else batch.given[i]
                    else:
                        _learn(held, x, label, self._d)
                        unsolicited += 1
                    is_changed = True
                except AskwhenError as error:
                    refused += 1
                    decisions[i] = refusal = DecisionLine(key, id=name, refused=error.sentence, event=first + i)
                    if texts is not None:
                        refusal.given = texts[i]
                    if held.engine.learner is None:
                        held = cache.replace_playing(key)
            if is_changed:
                changed.append((key, cache.serialize_and_free(held)))
        counts = Counts(len(batch.keys), instances, questions, answers, unsolicited, forgotten, refused)
        return [each for each in decisions if each is not None], counts, changed


def _all_refused(
    batch: EventBatch, first: int, keeps: bool
) -> tuple[list[DecisionLine], Counts, list[tuple[str, bytes]]]:
    decisions = []
    for i, (key, x, name) in enumerate(zip(batch.keys, batch.instances, batch.ids, strict=True)):
        sentence = x.sentence if isinstance(x, Refusal) else "no instance came before this event."
        given = batch.texts[i] if keeps and batch.texts is not None else None
        decisions.append(DecisionLine(key, id=name, refused=sentence, event=first + i, given=given))
    return decisions, Counts(events=len(decisions), refused=len(decisions)), []


def _warn_of_refusals(partition: str, batch: EventBatch, decisions: list[DecisionLine]) -> None:
    """Warn if all of the first events, or all of those with labels, were refused: a field may be misspelt."""
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


def _json_values(x: np.ndarray | SparseRow) -> list[float] | dict[str, float]:
    """An instance as JSON values."""
    if isinstance(x, SparseRow):
        indices, numbers = x.indices[x.start : x.stop].tolist(), x.data[x.start : x.stop].tolist()
        return {str(index): number for index, number in zip(indices, numbers, strict=True)}
    values: list[float] = x.tolist()
    return values


def _time_of(held: PooledSampler, time: Time) -> float:
    """The time of an event, or the last one if that is later: producers' clocks may differ."""
    engine = held.engine
    if time is not None:
        now, last = check_time("ask", time), float(last_time(engine.rule))
        time = last if now < last else now
    return round_time(engine, "ask", time)


def _advised(held: PooledSampler, x: Any, time: float | None, advice: dict[str, Any], d: int | None) -> Ask:
    """Play a round with what advisers say."""
    return held.sampler.ask(_given(x, d), time, advice_of(held.engine, advice))


def _learn(held: PooledSampler, x: np.ndarray | SparseRow, label: float | str, d: int | None) -> None:
    """Learn an unsolicited label."""
    held.sampler.learn(_given(x, d), label)


def _given(x: np.ndarray | SparseRow, d: int | None) -> Any:
    """An instance as a sampler takes it."""
    if not isinstance(x, SparseRow):
        return x
    import scipy.sparse as sp

    return sp.csr_matrix((x.data, x.indices.astype("i4"), [0, x.stop]), (1, d))
