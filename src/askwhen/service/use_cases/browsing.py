"""The table of instances that people search, and one instance with its history."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import msgspec

from ...errors import InputError
from ..domain import row_codec
from ..domain.model import Guess
from ..domain.stream import ServiceStream
from ..errors import NotFoundError
from ..events.kinds import Advised, Instance, Reserved, facts_of
from ..events.label_sets import Label
from ..runtime.coordinator import Coordinator
from ..store.listing import UNKNOWN, Found, Predicted, Sort, Wanted, words_in
from ..store.records import BacklogItem, Event, Reader
from .advice_shown import AdviceShown, late_advice, shown_advice
from .instance_outcomes import State
from .listing import Listings, item_of
from .predicting import advice_of, guesses_of, predictor_of

AT_ONCE = 2_000
_HIDDEN = ("leased", "released")


class Filters(msgspec.Struct):
    """Which instances are wanted: those to which everything that is given applies."""

    search: str = ""
    label: str | None = None
    prediction: str | None = None
    state: State | None = None
    person: str | None = None
    source: str | None = None
    flagged: bool = False
    changed: bool = False
    since: float | None = None
    until: float | None = None
    least: float | None = None
    most: float | None = None
    sort: Sort = "newest"


class Listed(msgspec.Struct):
    """An instance in the table.

    ``prediction`` and ``certainty`` are those of its decision, the same ``_now`` what today's model says. ``item`` is
    its number in the table: that of its event, or where it came through the backlog, minus its place there.
    """

    item: int
    round: int | None
    id: str | None
    time: float
    x: Any
    show: Any
    state: State
    asked: bool
    label: Label | None
    prediction: Label | None
    certainty: float | None
    prediction_now: Label | None
    certainty_now: float | None
    source: str | None
    flagged: bool
    comments: int
    erased: bool


class Page(msgspec.Struct):
    """A page of the table; ``next`` is the ``after`` of the next one. ``left`` is how much is not listed yet."""

    rows: list[Listed]
    next: str | None
    left: int


class Happened(msgspec.Struct, omit_defaults=True):
    """An event in the history of an instance."""

    kind: str
    time: float
    by: str | None = None
    label: Label | None = None
    text: str | None = None


class One(msgspec.Struct):
    """An instance with what advisers say of it, and its history, oldest first."""

    instance: Listed
    history: list[Happened]
    advice: list[AdviceShown] = []


class Again(msgspec.Struct):
    """Number of instances that were predicted again, and of those for which the prediction is another one now."""

    instances: int
    changed: int


async def browse(
    coordinator: Coordinator, listings: Listings, stream: ServiceStream, filters: Filters, after: str | None, limit: int
) -> Page:
    """A page of the table."""
    left = await listings.catch_up(stream)
    async with coordinator.reading() as log:
        wanted = _wanted(stream.number, filters, after, limit)
        found = await log.in_thread(log.reader.found, wanted)
        if found is None:
            raise InputError("too many instances have these words for sorting by certainty; add one.", owner="browse")
        contents = await log.in_thread(_contents, log.reader, stream.number, found[:limit])
    rows = await _rows(coordinator, stream, found[:limit], contents)
    last = found[limit - 1] if len(found) > limit else None
    place = 0.0 if last is None or not wanted.by else last.time if wanted.by == "time" else last.certainty
    return Page(rows, None if last is None else f"{place!r}_{last.item}", left)


def _wanted(stream: int, filters: Filters, after: str | None, limit: int) -> Wanted:
    return Wanted(
        stream,
        words_in(filters.search),
        filters.prediction,
        filters.label,
        filters.state,
        filters.person,
        filters.source,
        filters.flagged,
        filters.changed,
        None,
        filters.since,
        filters.until,
        filters.least,
        filters.most,
        filters.sort,
        None if after is None else _cursor(after),
        limit + 1,
    )


def _cursor(after: str) -> tuple[float, int]:
    place, _, item = after.partition("_")
    try:
        found = float(place), int(item)
    except ValueError:
        found = (math.nan, 0)
    if not math.isfinite(found[0]) or abs(found[1]) >= 1 << 39:
        raise InputError("after must be next of an earlier page.", owner="browse", parameter="after")
    return found


Contents = dict[int, Event | BacklogItem]


def _contents(reader: Reader, stream: int, items: Sequence[Found]) -> Contents:
    """What the log or the backlog has of some items; those that were withdrawn or decided meanwhile are left out."""
    found: Contents = {}
    for each in items:
        if each.seq is not None:
            event = reader.event(stream, each.seq)
            found |= {} if event is None else {each.item: event}
        else:
            waiting = next(iter(reader.backlog(stream, -each.item - 1, 1)), None)
            found |= {each.item: waiting} if waiting is not None and waiting.place == -each.item else {}
    return found


async def _rows(
    coordinator: Coordinator, stream: ServiceStream, found: Sequence[Found], contents: Contents
) -> list[Listed]:
    """The rows of items that are still there, with what the model predicts now, all at once."""
    await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
    there = [each for each in found if each.item in contents]
    held = [contents[each.item] for each in there]
    with coordinator.changing(stream):
        guesses = iter(guesses_of(stream.model, [each for each in held if each.row is not None]))
    return [
        _row(stream, each, content, next(guesses) if content.row is not None else (None, None))
        for each, content in zip(there, held, strict=True)
    ]


def _row(stream: ServiceStream, found: Found, content: Event | BacklogItem, now: Guess) -> Listed:
    seen = {} if content.row is None or content.shown is None else msgspec.json.decode(content.shown)
    fact: Instance | None = facts_of(content) if isinstance(content, Event) else None
    x = seen.get("x")
    if content.row is not None and not stream.reader.keeps_input:
        x = stream.reader.shown(row_codec.from_bytes(content.row))
    return Listed(
        found.item,
        None if fact is None else fact.round,
        None if content.key is None else content.key[2:],
        content.time,
        x,
        seen.get("show"),
        found.state,  # type: ignore[arg-type]
        fact is not None and fact.asked,
        stream.seen_label(found.label),
        stream.seen_label(found.prediction),
        None if found.certainty == UNKNOWN else found.certainty,
        stream.seen_label(now[0]),
        now[1],
        found.source,
        bool(found.flagged),
        found.comments,
        content.row is None,
    )


async def one(coordinator: Coordinator, listings: Listings, stream: ServiceStream, item: int) -> One:
    """An instance with its history."""
    await listings.catch_up(stream)
    async with coordinator.reading() as log:
        found = await log.in_thread(log.reader.found, Wanted(stream.number, item=item, limit=1)) or []
        contents = await log.in_thread(_contents, log.reader, stream.number, found)
        rows = await _rows(coordinator, stream, found, contents)
        if not rows:
            raise NotFoundError(f"the stream {stream.name} has no such instance.", owner="browse")
        history: list[Event] = []
        if rows[0].round is not None:
            history = await log.in_thread(log.reader.of_question, stream.number, rows[0].round)
    events = {event.seq: event for event in (contents[item], *history) if isinstance(event, Event)}
    shown = [_happened(stream, event) for _, event in sorted(events.items()) if event.kind not in _HIDDEN]
    return One(rows[0], shown, shown_advice(stream, advice_of(contents[item]), late_advice(history)))


def _happened(stream: ServiceStream, event: Event) -> Happened:
    fact = facts_of(event)
    label = fact.prediction if isinstance(fact, Instance) else getattr(fact, "label", None)
    text = getattr(fact, "why", "") or None
    if event.kind == "commented":
        text = None if event.shown is None else msgspec.json.decode(event.shown, type=str)
    kind = "unflagged" if event.kind == "flagged" and not fact.flagged else event.kind
    if isinstance(fact, Reserved):
        kind, text = ("reserved", f"for {', '.join(fact.who)}") if fact.who else ("unreserved", None)
    if isinstance(fact, Advised):
        text = ", ".join(f"{name}: {said.named[0]}" for name, said in fact.advice.items())
    return Happened(kind, event.time, getattr(fact, "annotator", None), stream.seen_label(label), text)


async def predict_again(coordinator: Coordinator, listings: Listings, stream: ServiceStream) -> Again:
    """Let today's model predict every instance, in bulk; what was delivered stays as it is."""
    await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
    while await listings.catch_up(stream):
        pass
    with coordinator.changing(stream):
        predictor = predictor_of(stream)
    instances = changed = 0
    for which in ("decided", "waiting"):
        after = 0
        async with coordinator.reading() as log:
            while True:
                part = await log.in_thread(_part, log.reader, stream.number, which, after)
                if not part:
                    break
                after = part[-1].place
                guesses = await asyncio.to_thread(predictor.guesses, [each.content for each in part])
                pairs = list(zip(part, guesses, strict=True))
                known = [(each.item, *guess) for each, guess in pairs]
                instances += len(part)
                changed += sum(
                    None not in (guess[0], each.before) and bool(stream.model.differs(guess[0], each.before))
                    for each, guess in pairs
                )
                await asyncio.shield(coordinator.commits.add([], None, [Predicted(stream.number, known)]))
    return Again(instances, changed)


class _ToPredict(NamedTuple):
    """An instance to be predicted again: its event or place in the backlog, what was stored, what was predicted."""

    place: int
    item: int
    content: Event | BacklogItem
    before: str | None


def _part(reader: Reader, stream: int, which: Literal["decided", "waiting"], after: int) -> list[_ToPredict]:
    """The next instances after an event, or after a place of the backlog."""
    if which == "waiting":
        waiting = reader.backlog(stream, after, AT_ONCE)
        return [_ToPredict(item.place, -item.place, item, None) for item in waiting]
    events = [(event, facts_of(event)) for event in reader.events(stream, after, AT_ONCE, ("instance",))]
    return [_ToPredict(event.seq, item_of(event.seq, fact), event, fact.prediction) for event, fact in events]
