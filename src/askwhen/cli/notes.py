"""What a saved sampler says of the file that it has learnt from, so that others can be read alike."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from .source import Source

_READING = (
    "label",
    "text",
    "time",
    "drop",
    "categories",
    "missing",
    "delimiter",
    "encoding",
    "n_features",
    "zero_based",
)


class Note(NamedTuple):
    """How the file was read, the names of its features, what -1 and +1 are in it, and the seed of its order."""

    reading: dict[str, Any]
    names: list[str] | None
    words: list[Any] | None
    seed: int | None


def written(source: Source) -> str:
    """The note of a sampler that has learnt from this source."""
    reading = {name: source.reading[name] for name in _READING if source.reading.get(name)}
    return json.dumps({"reading": reading, "names": source.names, "words": source.words, "seed": source.seed})


def read(path: str) -> Note:
    """The note of a saved sampler; one that says nothing where it has none, or another one."""
    from ..snapshot import read as read_snapshot

    try:
        found = json.loads(read_snapshot(path)[0].get("note") or "")
        return Note(*(found.get(name) for name in Note._fields))._replace(reading=dict(found["reading"]))
    except (ValueError, TypeError, KeyError, AttributeError):
        return Note({}, None, None, None)
