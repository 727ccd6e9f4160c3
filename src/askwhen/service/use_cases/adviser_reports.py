"""How good the advisers of a stream are, by the labels that people were asked for, and whether one has become worse."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from ...evaluate.estimation.accuracy import accuracy
from ...evaluate.estimation.advisers import AdviserAccuracy, CountedAdvisers
from ...evaluate.estimation.alarms import alarm
from ...evaluate.estimation.difference import Difference
from ...evaluate.estimation.estimate import Estimate
from ..domain.model import Model
from ..domain.stream import ServiceStream

CONFIDENCE = 0.95
DROPS = ((1_000, 0.10), (5_000, 0.05))
"""Numbers of an adviser's rounds in a row, and by how much it must be worse in them than it once was on average: so
much that it does not happen by chance, however many such windows a stream has."""

Facts = dict[str, Any]
Place = tuple[int, ...]


class _Known(NamedTuple):
    """Estimates, and how far the stream was when they were made."""

    place: Place
    found: list[Facts]


class AdviserReports:
    """The advisers of all streams; estimates are made again only where something has come since."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._turns: dict[int, asyncio.Lock] = {}

    async def of(self, stream: ServiceStream, confidence: float = CONFIDENCE) -> list[Facts] | None:
        """The advisers of a stream, the best first and last those not known yet; None without any, and of numbers."""
        if stream.settings.advisers is None or stream.model.is_number:
            return None
        if confidence != CONFIDENCE:
            return await estimated(stream, confidence)
        async with self._turns.setdefault(stream.number, asyncio.Lock()):
            place, known = _place_of(stream), self._known.get(stream.number)
            if known is None or known.place != place:
                known = _Known(place, await estimated(stream, CONFIDENCE))
                self._known[stream.number] = known
            return known.found


def _place_of(stream: ServiceStream) -> Place:
    stored = stream.questions.stored
    return stream.state.round, stored.told, stored.forgotten, len(stream.state.replays), len(stream.model.advisers)


async def estimated(stream: ServiceStream, confidence: float) -> list[Facts]:
    """How good they are, estimated in another thread from a copy of their accounts."""
    counted, model = CountedAdvisers(stream.model.sampler), stream.model
    found = await asyncio.to_thread(counted.estimated, confidence)
    return [_facts(each, model) for each in found.values()]


def _facts(found: AdviserAccuracy, model: Model) -> Facts:
    classes = {
        str(model.word(label)): {name: _estimate(getattr(each, name)) for name in ("precision", "recall")}
        for label, each in found.classes.items()
    }
    return {
        "name": found.name,
        "overall": _estimate(found.overall),
        "recent": _estimate(found.recent),
        "rounds": found.rounds,
        "silent": _number(found.silent),
        "random_labels": found.random_labels,
        "gain": _difference(found.gain),
        "against": {name: _difference(each) for name, each in found.against.items()},
        "classes": classes,
        "calibration": [
            {
                "low": each.low,
                "high": each.high,
                "rounds": each.rounds,
                "stated": _number(each.stated),
                "right": _number(each.right),
                "answered": each.answered,
            }
            for each in found.calibration
        ],
        "warning": found.warning or None,
        "sentence": sentence(found),
    }


def sentence(found: AdviserAccuracy) -> str:
    """How good an adviser is, for the person who answers for a stream."""
    overall = found.overall
    ends = f"{overall.low:.1%} to {overall.high:.1%}"
    if found.rounds == 0:
        return f"{found.name} has said nothing yet."
    if not overall.is_known:
        return f"How often {found.name} is right is not known yet with {overall.why_unknown} ({ends})."
    as_good = f", as good as {found.random_labels:,} random labels" if found.random_labels else ""
    times = f"{found.rounds:,} instance{'' if found.rounds == 1 else 's'}"
    return f"{found.name} is right in {overall.value:.1%} of {times} ({ends}){as_good}."


def _estimate(found: Estimate) -> Facts:
    return {
        "value": _number(found.value) if found.is_known else None,
        "low": _number(found.low),
        "high": _number(found.high),
        "rounds": found.rounds,
        "answered": found.answered,
        "why_unknown": found.why_unknown or None,
    }


def _difference(found: Difference) -> Facts:
    names = ("value", "low", "high")
    return {name: _number(getattr(found, name)) for name in names} | {"rounds": found.rounds, "apart": found.apart}


def _number(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


class Look(msgspec.Struct, omit_defaults=True):
    """What was known of an adviser at one moment.

    ``low`` is a lower bound of how often it was right so far, on average; ``fell`` is an accuracy that it did not reach
    lately, if it became much worse than it had been.
    """

    low: float
    fell: float | None = None


def looked_at(counted: CountedAdvisers, best: Mapping[str, float]) -> dict[str, Look]:
    """All advisers now, given the largest ``low`` of each so far.

    With 95 % confidence no adviser is said to have become worse that has not, however often this is called: both the
    lower bounds and the alarms hold at all times together.
    """
    share, found = (1.0 - CONFIDENCE) / 2, dict[str, Look]()
    for name, source in counted.sources().items():
        low = float(accuracy(source, confidence=1.0 - share).overall.low)
        was = max(low, best.get(name, 0.0))
        levels = [
            was - drop
            for rounds, drop in DROPS
            if was > drop and alarm(source, was - drop, rounds, confidence=1.0 - share / len(DROPS))
        ]
        found[name] = Look(low, min(levels, default=None))
    return found
