"""``--columns``: print what the columns of a file are taken for, instead of learning from them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .command import Output

if TYPE_CHECKING:
    from ..data.schema import Schema


def show_columns(out: Output, file: str, reading: dict[str, Any], advice: Sequence[Any] = ()) -> None:
    """Print what each column of a file would be taken for; those of advisers are no features."""
    from ..workflows.advice_columns import without_columns
    from ..workflows.columns import columns_of

    _print(out, columns_of(file, without_columns(file, reading, advice)))


def show_columns_of_model(out: Output, model: str) -> None:
    """Print what each column is taken for by a saved sampler."""
    from ..workflows.columns import columns_of_model

    _print(out, columns_of_model(model))


def _print(out: Output, schema: Schema) -> None:
    from rich.markup import escape

    from ..data.schema_json import to_json
    from .terminal.tables import table_of

    columns = [{"column": name, "role": role, "why": why} for name, role, why in schema.described()]
    kinds = schema.kinds
    facts = {"numbers": kinds.numbers, "vectors": list(kinds.vectors), "words": kinds.words}
    rows = [[escape(value) for value in each.values()] for each in columns]
    found = {"columns": columns, "features": facts, "summary": schema.summary(), "schema": to_json(schema)}
    out.result(found, table_of(_HEAD, rows))
    out.say(schema.summary())


_HEAD = ["column", "taken for", "why"]
