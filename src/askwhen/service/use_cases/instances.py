"""Instances in, predictions and questions out."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable
from typing import Any, NamedTuple

import msgspec

from ...errors import AskwhenError, InputError
from ..domain import deliveries, row_codec
from ..domain.model import Guess
from ..domain.stream import NewInstance, ServiceStream
from ..errors import ConflictError
from ..events.advice import Advice, GivenAdvice, unpacked
from ..events.kinds import Instance, facts_of, id_of
from ..events.label_sets import Label
from ..runtime.coordinator import Coordinator
from ..runtime.idempotency import Claim
from ..store.records import BacklogItem, Event
from .advice_input import read_advice

LONGEST_KEY = 200
DEEPEST = 32
"""Largest nesting of objects and arrays in what annotators see."""


class PlayedRound(NamedTuple):
    """A round: its event, its facts where they are at hand, and whether an earlier request played it."""

    event: Event
    fact: Instance | None
    again: bool


class Waiting(NamedTuple):
    """An instance in the backlog with its prediction; without one, an earlier request put it there."""

    item: BacklogItem
    guess: Guess | None = None


class Raw(msgspec.Struct, forbid_unknown_fields=True):
    """An instance as it comes: ``x`` as the stream's features say; ``show`` is what annotators see in addition.

    ``subject`` is the key of the client or person it is about, so that all of theirs can be erased together.
    ``source`` is the file or program it comes from, so that all of those can be withdrawn together. ``advice`` is what
    advisers say of it, by name: a label, a label with a confidence, or the probability of each label.
    """

    x: Any
    id: str | None = None
    priority: float = 0.0
    show: Any = None
    subject: str | None = None
    source: str | None = None
    advice: dict[str, Any] | None = None


class Decision(msgspec.Struct, omit_defaults=True):
    """The decision about an instance. ``question`` is the number to answer with, where the label is wanted.

    Where the content was answered before, ``label`` is that answer and ``repeats`` its round. With a promise,
    ``delivered`` is the label to use now; it is null while the question waits, and where the label is ``withheld``.
    """

    round: int
    prediction: Label | None
    margin: float
    probability: float
    asked: bool
    why: str
    id: str | None = None
    question: int | None = None
    certainty: float | None = None
    uncertainty: float | None = None
    again: bool = False
    repeats: int | None = None
    label: Label | None = None
    delivered: Label | msgspec.UnsetType | None = msgspec.UNSET
    withheld: bool = False


class Provisional(msgspec.Struct, omit_defaults=True):
    """An instance that waits in the backlog at a ``place``; the prediction is today's, and may change until then."""

    provisional: bool
    place: int
    prediction: Label | None
    certainty: float | None
    id: str | None = None
    again: bool = False


Reply = Decision | Provisional


def checked(stream: ServiceStream, raw: Raw) -> NewInstance:
    """Validate an instance and turn it into features."""
    key = None if raw.id is None else key_of(raw.id)
    if not math.isfinite(raw.priority):
        raise InputError("priority must be a finite number.", owner="instance", parameter="priority")
    if raw.show is not None and not is_shallow(raw.show, DEEPEST):
        raise InputError(f"show must be nested at most {DEEPEST} deep.", owner="instance", parameter="show")
    x = stream.reader.instance(raw.x)
    shown = None
    if stream.reader.keeps_input or raw.show is not None:
        seen = {"x": raw.x} if stream.reader.keeps_input else {}
        shown = msgspec.json.encode(seen | ({} if raw.show is None else {"show": raw.show}))
    if raw.subject is not None:
        check_word(raw.subject, "subject")
    if raw.source is not None:
        check_word(raw.source, "source")
    advice = read_advice(stream, raw.advice)
    return NewInstance(x, shown, key, raw.priority, raw.subject, raw.source, advice=advice)


def check_word(word: str, parameter: str) -> None:
    """Refuse a subject or a source that cannot be stored."""
    if not 0 < len(word) <= LONGEST_KEY:
        raise InputError(f"{parameter} must have 1 to {LONGEST_KEY} characters.", owner="instance", parameter=parameter)
    _storable(word, parameter)


def key_of(id: str) -> str:
    """The id of an instance as it is stored in the log."""
    if not 0 < len(id) <= LONGEST_KEY:
        raise InputError(f"id must have 1 to {LONGEST_KEY} characters.", owner="instance", parameter="id")
    return _storable("i:" + id, "id")


def is_shallow(value: Any, deepest: int) -> bool:
    """Whether objects and arrays in a value are nested at most so deep."""
    if not isinstance(value, (dict, list)):
        return True
    inside = value.values() if isinstance(value, dict) else value
    return deepest > 0 and all(is_shallow(each, deepest - 1) for each in inside)


def _storable(text: str, parameter: str) -> str:
    """A text that every database can store; others are refused."""
    if "\0" in text:
        raise InputError(f"{parameter} must not have a null character.", owner="instance", parameter=parameter)
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{parameter} must be text.", owner="instance", parameter=parameter) from None
    return text


async def play(coordinator: Coordinator, stream: ServiceStream, raw: Raw, backlog: bool | None = None) -> Reply:
    """Play one instance, or put it into the backlog."""
    (found,) = await play_all(coordinator, stream, [raw], backlog)
    if isinstance(found, AskwhenError):
        raise found
    return found


async def play_all(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError], backlog: bool | None = None
) -> list[Reply | AskwhenError]:
    """Play instances in order, in one commit; each gives a decision or the reason of its refusal."""
    return await (await begin(coordinator, stream, raws, backlog))


async def play_now(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError]
) -> list[Decision | AskwhenError]:
    """Play instances now, whatever the mode of the stream is; those that wait in its backlog are refused."""
    found = await play_all(coordinator, stream, raws, backlog=False)
    waits = ConflictError("the instance waits in the backlog for its decision.", owner="instance")
    return [waits if isinstance(each, Provisional) else each for each in found]


async def begin(
    coordinator: Coordinator, stream: ServiceStream, raws: list[Raw | AskwhenError], backlog: bool | None = None
) -> Awaitable[list[Reply | AskwhenError]]:
    """Play instances; the awaitable returned waits for their commit, so that the next ones can be played meanwhile.

    With ``backlog`` they wait there for their decision; without it, the stream's mode decides.
    """
    await coordinator.warmups.wait_for_rounds(stream.number)
    waits = stream.settings.mode == "backlog" if backlog is None else backlog
    if waits:
        await coordinator.warmups.wait_for_guesses(stream.number, stream.settings)
    items: list[NewInstance | AskwhenError] = []
    for raw in raws:
        try:
            items.append(raw if isinstance(raw, AskwhenError) else checked(stream, raw))
        except AskwhenError as error:
            items.append(error)
    keys = [item.key for item in items if isinstance(item, NewInstance) and item.key is not None]
    claim = await coordinator.idempotency.claim(stream.number, keys)
    try:
        found = _play(coordinator, stream, items, claim, waits)
        done = coordinator.commit(stream) if stream.has_uncommitted else None
    except BaseException:
        claim.release()
        raise
    return _end(stream, found, claim, done)


Outcome = PlayedRound | Waiting | AskwhenError | str
"""What came of an instance: a round, a place in the backlog, an error, or the key that another request is playing."""


def _play(
    coordinator: Coordinator, stream: ServiceStream, items: list[NewInstance | AskwhenError], claim: Claim, waits: bool
) -> list[Outcome]:
    """What came of each instance."""
    found: list[Outcome] = []
    with coordinator.changing(stream):
        now = coordinator.clock.now()
        guesses = _guessed(stream, items) if waits else []
        for place, item in enumerate(items):
            if isinstance(item, AskwhenError):
                found.append(item)
            elif item.key is not None and item.key in claim.known:
                found.append(_known(claim.known[item.key]))
            elif item.key is not None and item.key in claim.elsewhere:
                found.append(item.key)
            else:
                made: Event | BacklogItem
                try:
                    stream.check_playing()
                    if waits:
                        guess = guesses[place]
                        if isinstance(guess, AskwhenError):
                            raise guess
                        made = stream.accept(item, now)
                        found.append(Waiting(made, guess))
                    else:
                        made, fact = stream.play(item, now)
                        found.append(PlayedRound(made, fact, False))
                except AskwhenError as error:
                    found.append(error)
                    continue
                if item.key is not None:  # the same key may come again in this batch
                    claim.known[item.key] = made
    return found


def _known(made: Event | BacklogItem) -> PlayedRound | Waiting:
    """What an earlier request has made of an instance."""
    return PlayedRound(made, None, True) if isinstance(made, Event) else Waiting(made)


def _guessed(stream: ServiceStream, items: list[NewInstance | AskwhenError]) -> list[Guess | AskwhenError]:
    """What the model predicts for each instance now, or why it refuses it, as it would refuse to play it."""
    wanted = [item for item in items if isinstance(item, NewInstance)]
    found: list[Guess | AskwhenError] = []
    try:
        found += stream.model.guesses([item.x for item in wanted], [_said(stream, item.advice) for item in wanted])
    except (AskwhenError, ValueError):  # one of them at least: the others are taken
        for item in wanted:
            try:
                found.append(stream.model.guess(item.x, _said(stream, item.advice)))
            except AskwhenError as error:
                found.append(error)
    guesses = iter(found)
    return [next(guesses) if isinstance(item, NewInstance) else item for item in items]


def _said(stream: ServiceStream, given: GivenAdvice | None) -> Advice | None:
    return None if given is None else stream.label_names.advice(given)


async def _end(
    stream: ServiceStream, found: list[Outcome], claim: Claim, done: asyncio.Future[None] | None
) -> list[Reply | AskwhenError]:
    """Wait for the commit, and for the requests that claimed some keys before."""
    try:
        if done is not None:
            await asyncio.shield(done)
        claim.resolve(claim.known)
    finally:
        claim.release()
    for i, each in enumerate(found):
        try:
            if isinstance(each, str):
                made = await claim.wait(each)
                assert made is not None
                found[i] = _known(made)
        except AskwhenError as error:
            found[i] = error
    return [_reply(stream, each) for each in found]


def _reply(stream: ServiceStream, found: Outcome) -> Reply | AskwhenError:
    """The reply to an instance; one that waits in the backlog has a provisional prediction."""
    if isinstance(found, AskwhenError):
        return found
    if isinstance(found, PlayedRound):
        return decided(stream, found)
    assert isinstance(found, Waiting)
    item, guess = found
    again = guess is None
    if guess is None:
        guess = stream.model.guess(row_codec.from_bytes(item.row), _said(stream, unpacked(item.advice)))
    prediction, certainty = guess
    return Provisional(
        True, item.place, stream.seen_label(prediction), certainty, None if item.key is None else item.key[2:], again
    )


def _delivered(stream: ServiceStream, fact: Instance, again: bool) -> str | None:
    """The label that is delivered for an instance now; people may have given one since an earlier request."""
    if not again:
        return fact.answer if fact.asked else None if fact.withheld else fact.prediction
    given = deliveries.standing(stream.volunteered(fact.round))
    if given is not None or fact.withheld:
        return given
    return stream.questions.find(fact.round).label if fact.asked else fact.prediction


def decided(stream: ServiceStream, played: PlayedRound) -> Decision:
    """What was decided about an instance, from its event."""
    event = played.event
    fact = facts_of(event) if played.fact is None else played.fact
    assert isinstance(fact, Instance)
    return Decision(
        fact.round,
        stream.seen_label(fact.prediction),
        fact.margin,
        fact.probability,
        fact.is_question,
        fact.why,
        id_of(event),
        fact.round if fact.is_question else None,
        fact.certainty,
        fact.uncertainty,
        played.again,
        fact.repeats,
        stream.seen_label(fact.answer),
        stream.seen_label(_delivered(stream, fact, played.again)) if stream.model.has_promise else msgspec.UNSET,
        fact.withheld,
    )
