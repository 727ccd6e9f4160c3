"""Several labels at once as one text: a JSON array in alphabetical order, so that equal sets are equal texts."""

from __future__ import annotations

from collections.abc import Iterable

import msgspec

from ...errors import InputError

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


def text_of(label: str | list[str] | None) -> str | None:
    """A label, or several, as the log has them."""
    return written(label) if isinstance(label, list) else label
