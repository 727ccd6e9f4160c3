"""Labels as texts: several at once are a JSON array in alphabetical order, so that equal sets are equal texts."""

from __future__ import annotations

import math
from collections.abc import Iterable

import msgspec

from ...errors import InputError
from . import numbers

Label = str | float | list[str]
"""A label as clients give and see it: a text, a number, or a list where several may apply at once."""

_decoder = msgspec.json.Decoder(list[str])


def written(labels: Iterable[str]) -> str:
    """A set of labels as a text."""
    return msgspec.json.encode(sorted(labels)).decode()


def read(text: str) -> list[str]:
    """The labels of a text; refused where it is not one of a set."""
    try:
        return _decoder.decode(text)
    except msgspec.MsgspecError:
        raise InputError(
            f"several labels may apply here: give a list of them, got {text[:100]!r}.", owner="label", parameter="label"
        ) from None


def renamed(text: str, label: str, new: str) -> str:
    """A set with another name of a label; where both were in it, it has one label less."""
    labels = read(text)
    return written({new if each == label else each for each in labels}) if label in labels else text


def text_of(label: Label | None) -> str | None:
    """A label, several labels, or a number, as the log has them."""
    if isinstance(label, float):
        return numbers.written(label) if math.isfinite(label) else repr(label)
    return written(label) if isinstance(label, list) else label
