"""The note in a saved sampler about the file that it has learnt from, so that other files are read in the same way."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from ..data.formats import is_known
from ..data.schema import Schema
from ..data.schema_json import from_json, to_json
from ..errors import ArgumentsError, InputError, SnapshotError, argument
from ..sampler import Sampler
from ..snapshot import file_format
from .source import Source

_OF_FEATURES = ("text", "categories", "numbers", "vector", "missing", "n_features", "positive", "fold_labels")
"""Arguments that decide about features and labels, and must not change."""
_OF_FILE = ("format", "label", "time", "time_format", "drop", "delimiter", "encoding", "zero_based")
"""Arguments that may differ in another file."""


class Note(NamedTuple):
    """How the file was read, what -1 and +1 are in it, and the seed of its order.

    ``schema`` says what its columns were taken for; models of earlier versions have only the ``names`` of features.
    ``places`` are its hashed features, where there are so few that each has a place of its own.

    ``offset`` is how many more instances were skipped than rounds had been played. ``source`` is the identity of the
    file, by which a resumed run knows whether its rows were played already. ``repeats`` says whether rows whose content
    was answered before took that answer. ``advice`` has the name and the columns of each adviser.
    """

    reading: dict[str, Any] = {}  # noqa: RUF012, it is never changed
    names: list[str] | None = None
    words: list[Any] | None = None
    seed: int | None = None
    offset: int = 0
    places: list[int] | None = None
    source: dict[str, Any] | None = None
    schema: Schema | None = None
    is_known: bool = False
    repeats: bool = False
    advice: list[list[Any]] = []  # noqa: RUF012, it is never changed


def written(source: Source, identity: dict[str, Any] | None, offset: int, advice: Sequence[Sequence[Any]] = ()) -> str:
    """The note of a sampler that has learnt from this source, with the advice in these columns."""
    used = source.reading | source.found
    reading = {name: used[name] for name in (*_OF_FEATURES, *_OF_FILE) if used.get(name)}
    facts: dict[str, Any] = {
        "reading": reading,
        "names": source.names,
        "words": source.words,
        "seed": source.seed,
        "offset": offset,
    }
    if source.schema is not None:
        facts["schema"] = to_json(source.schema)
    if source.places is not None:
        facts["places"] = source.places
    if advice:
        facts["advice"] = [list(each) for each in advice]
    if identity is not None:
        facts["source"] = identity
    return json.dumps(facts)


def read(path: str) -> Note:
    """The note of a saved sampler; an empty one where the file has none, or one of another kind."""
    try:
        found = json.loads(file_format.read(path)[0].get("note") or "")
        facts = {name: found[name] for name in Note._fields if name in found}
        note = Note(**facts | {"reading": dict(found["reading"]), "is_known": True})
    except (ValueError, TypeError, KeyError, AttributeError):
        return Note()
    return note if note.schema is None else note._replace(schema=_schema(path, note.schema))


def _schema(path: str, value: Any) -> Schema:
    try:
        return from_json(value)
    except InputError as error:
        raise SnapshotError(f"{path} cannot be used: {error.sentence}", owner="load") from error


def read_as(note: Note, given: dict[str, Any], chosen: Collection[str], file: str) -> dict[str, Any]:
    """The arguments for reading a file: those chosen now, and otherwise those of the file that was learnt from.

    ``chosen`` names those of ``given`` that the user chose; the others are defaults.
    """
    for name in _OF_FEATURES:
        before, now = _plain(note.reading.get(name)), _plain(given.get(name))
        if name == "missing" and note.schema is None:
            before = before or "refuse"  # as versions without schemas did
        if note.is_known and name in chosen and (before != now and not (name == "n_features" and before is None)):
            was = f"with {argument(name, before)}" if before else f"without {argument(name)}"
            raise ArgumentsError(f"{argument(name)} must be as before: this sampler has learnt {was}.", owner="run")
    stored = {name: value for name, value in note.reading.items() if name not in chosen}
    if is_known(file):  # its own name says its format
        stored.pop("format", None)
    if note.names is not None:  # all other columns are left out, and need not be there
        stored.pop("drop", None)
    if note.names is not None and note.schema is None and "missing" not in chosen:
        stored.setdefault("missing", "refuse")
    return given | stored


def expect(source: Source, note: Note, sampler: Sampler) -> None:
    """Let a source have the features that a saved sampler has learnt; one that was saved in Python may have no note."""
    if note.is_known:
        source.expect(note.schema, note.names, note.places)
    elif source.is_table:
        source.expect(sampler.schema, sampler.feature_names)
        source.fit(sampler.engine.shape.d)


def _plain(value: Any) -> Any:
    """A setting as one text, to be compared and shown; None where it is the default."""
    if isinstance(value, (list, tuple)):
        return ",".join(value) or None
    return None if value in (None, "auto") else str(value)
