"""What the columns of a file are taken for, without learning from it."""

from __future__ import annotations

from typing import Any

from ..data.schema import Schema
from ..errors import InputError, argument
from . import notes
from .source import Source


def columns_of(file: str, reading: dict[str, Any]) -> Schema:
    """The schema of a table, by its first rows and by the arguments of ``data.read`` that are given."""
    source = Source(file, reading, "class" if reading.get("label") else "none")
    source.reading["positive"] = None
    schema = source.schema
    if schema is None:
        raise InputError(f"{argument('columns')} is for files with named columns, got {file}.", owner="read")
    return schema


def columns_of_model(model: str) -> Schema:
    """The schema with which a saved sampler was trained."""
    schema = notes.read(model).schema
    if schema is None:
        raise InputError(f"{model} does not say what the columns of its file were taken for.", owner="predict")
    return schema
