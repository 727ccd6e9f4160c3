"""What the named columns of a new stream are: as its settings say, and else as its examples show."""

from __future__ import annotations

from typing import Any

import msgspec

from ... import encoders
from ...data.column_choices import ColumnChoices
from ...data.inference import complete, found_columns
from ...data.records import Records
from ...data.schema import Schema
from ...data.schema_columns import TextColumn
from ...data.schema_given import make_schema, schema_from
from ...data.schema_json import to_json
from ...errors import InputError, Wording
from ..domain.features import check_size
from ..events.settings import NEWEST, Features, Settings, TextVectors

MOST_EXAMPLES = 10_000


class _InSchema(Wording):
    """Arguments of functions in errors, as the schema of a stream says the same."""

    def argument(self, name: str, value: str) -> str:
        """What stands for the column in the schema."""
        if name == "time_format":
            return f'{{"date": "{value or "..."}"}} in schema'
        if name == "decimal":
            return f'{{"number": "{value or "..."}"}} in schema'
        roles = {"numbers": "number", "categories": "category", "vector": "vector"}
        return f'"{roles.get(name, name)}" in schema'


def settled(settings: Settings, encode: bool) -> Features:
    """The features of a new stream of named columns; ``encode`` says whether texts get vectors."""
    features = settings.features
    if settings.version != NEWEST:
        raise InputError("columns are for streams of the newest version; leave out version.", owner="stream")
    if features.examples is not None and len(features.examples) > MOST_EXAMPLES:
        raise InputError.about("stream", "examples", f"at most {MOST_EXAMPLES:,} objects", len(features.examples))
    try:
        schema = _schema_of(features, encode)
    except InputError as error:
        raise InputError(error.told(_InSchema()), owner="stream", parameter="schema", column=error.column) from error
    texts = [column.name for column in schema.columns if isinstance(column, TextColumn)]
    return msgspec.structs.replace(features, schema=to_json(schema), examples=None, text=texts, vectors=None)


def _schema_of(features: Features, encode: bool) -> Schema:
    encoder = encoders.load("static") if encode else None
    given = features.schema
    check_size(given)
    if given is not None and isinstance(given.get("columns"), list):
        schema = schema_from(given)
        if schema.encoder is not None:
            encoders.find(schema.encoder._asdict())
    elif not features.examples:
        schema = make_schema(given or {}, encoder=encoder, places=features.places)
    else:
        schema = _found(features, given or {}, encoder)
    if isinstance(features.vectors, TextVectors) and schema.encoder is not None:
        encoders.load("static").check(msgspec.to_builtins(features.vectors))
    return schema


def _found(features: Features, given: dict[str, Any], encoder: encoders.Encoder | None) -> Schema:
    """The schema of the examples, in which some columns are given."""
    examples = features.examples or []
    table = Records(examples, "the examples")
    choices = ColumnChoices(labelled=False, given_places=features.places, encoder=encoder)
    choices._replace(drop=tuple(given)).check(table.known, "the examples")
    rest = Records([{name: value for name, value in row.items() if name not in given} for row in examples], table.path)
    said = {column.name: column for column in (make_schema(given).columns if given else ())}
    found = {column.name: column for column in (found_columns(rest, choices, table.path) if rest.names else ())}
    names = dict.fromkeys([*(name for name in table.names if name in said or name in found), *found])
    return complete([said.get(name) or found[name] for name in names], choices, table.path)
