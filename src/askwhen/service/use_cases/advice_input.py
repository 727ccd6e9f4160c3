"""Advice as it comes with an instance, checked by the rules of the library."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

from ...engine.inputs.advice import ANY, check_advice, is_nothing, read_statement
from ...engine.inputs.argument_checks import shortened
from ...engine.inputs.two_labels import NO_PAIR, Pair
from ...errors import InputError
from ..domain.stream import ServiceStream
from ..events.advice import GivenAdvice, Said
from ..events.numbers import written
from ..events.settings import MOST_OPEN, OPEN

_FORMS = 'a label, {"label": ..., "confidence": ...}, or an object with the probability of each label'


class _Words:
    """The labels of a stream as the library knows labels."""

    regression = False
    pair: Pair = NO_PAIR

    def __init__(self, labels: tuple[str, ...], is_open: bool) -> None:
        self.classes: list[Any] | None = list(labels)
        self.places: dict[Any, int] = {label: i for i, label in enumerate(labels)}
        self.most = MOST_OPEN if is_open else 0


_words = lru_cache(maxsize=64)(_Words)


def read_advice(stream: ServiceStream, advice: dict[str, Any] | None, owner: str = "instance") -> GivenAdvice | None:
    """What advisers say, by name; None where they say nothing."""
    if not advice:
        return None
    wanted = stream.settings.advisers
    if wanted is None:
        raise InputError(
            'the stream takes no advice; make one with the setting advisers, a list of names or "any".',
            owner=owner,
            parameter="advice",
        )
    given = check_advice(owner, advice, stream.model.advisers if wanted == ANY else wanted, wanted == ANY)
    words = _words(tuple(stream.questions.labels), stream.settings.labels == OPEN)
    found = {name: _said(stream, words, name, each, owner) for name, each in given.items()}
    said = {name: each for name, each in found.items() if each is not None}
    return GivenAdvice(stream.seq, said) if said else None


def _number(stream: ServiceStream, given: Any, owner: str) -> Said | None:
    """The number that an adviser says; numbers have no confidence."""
    if isinstance(given, dict) and given.keys() <= {"label", "confidence"} and is_nothing(given.get("confidence")):
        given = given.get("label")
    if is_nothing(given):
        return None
    if not isinstance(given, (int, float, str)) or isinstance(given, bool):
        raise InputError(f"it must be a number, got {shortened(given)}.", owner=owner)
    found = written(float(given)) if isinstance(given, (int, float)) and math.isfinite(given) else str(given)
    return Said(_label(stream, found, owner))


def _said(stream: ServiceStream, words: _Words, name: str, given: Any, owner: str) -> Said | None:
    """What one adviser says; None for nothing."""
    try:
        if stream.model.is_number:
            return _number(stream, given, owner)
        value = _in_words(stream, given, owner)
    except InputError as error:
        raise InputError(f"advice of {name!r}: {error.sentence}", owner=owner, parameter="advice", got=given) from error
    if value is None:
        return None
    read_statement(owner, name, value, words)
    if isinstance(value, dict):
        return Said(shares={label: float(share) for label, share in value.items()})
    label, confidence = value
    return Said(label, None if is_nothing(confidence) else float(confidence))


def _in_words(stream: ServiceStream, given: Any, owner: str) -> tuple[str, Any] | dict[str, Any] | None:
    """A label with what is stated of it, or the probability of each label, under the current names of the labels."""
    if is_nothing(given):
        return None
    if isinstance(given, str):
        return _label(stream, given, owner), None
    if isinstance(given, list) and len(given) == 2:
        given = {"label": given[0], "confidence": given[1]}
    if not isinstance(given, dict) or not given:
        raise InputError(f"it must be {_FORMS}, got {shortened(given)}.", owner=owner)
    if "label" in given and not isinstance(given["label"], (int, float)):  # numbers are of a label that is called so
        if not given.keys() <= {"label", "confidence"}:
            raise InputError(f"beside the label it may have a confidence, got {shortened(given)}.", owner=owner)
        if is_nothing(given["label"]):
            return None
        return _label(stream, given["label"], owner), given.get("confidence")
    shares: dict[str, Any] = {}
    for label, share in given.items():
        name = _label(stream, label, owner)
        both = isinstance(share, (int, float)) and isinstance(shares.get(name), (int, float))
        shares[name] = shares[name] + share if both else share
    return shares


def _label(stream: ServiceStream, label: Any, owner: str) -> str:
    """The current name of a label of the stream."""
    if not isinstance(label, str):
        raise InputError(f"a label must be a text, got {shortened(label)}.", owner=owner)
    found = stream.label_now(label) or ""
    stream.questions.check_label(found, owner)
    return found
