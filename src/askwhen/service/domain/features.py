"""Turns raw input into features, with the same bits as the library."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import scipy.sparse as sp

from ... import encoders
from ...contracts.kinds import Kinds
from ...data.hashing import counted, hashed_names, hashed_words
from ...data.schema import Schema, TextEncoder
from ...data.schema_columns import NumberColumn, RecordColumn, TextColumn
from ...data.schema_given import schema_from
from ...errors import InputError
from ..events.settings import Features, TextVectors

_NUMBERS = frozenset({float, int})
MOST_FEATURES = 100_000
"""Largest number of features of one instance."""


class FeatureReader:
    """Makes instances from raw input, according to the settings of a stream."""

    def __init__(self, features: Features, version: int | None = None) -> None:
        self._features = features
        self._numbers_first = version not in (None, 1)
        self._vectors = features.vectors if isinstance(features.vectors, TextVectors) else None
        self._encoder: encoders.Encoder | None = None
        self._names = features.names
        self._schema = schema_of_features(features)
        self._read = {
            "numbers": self._numbers,
            "hashed": self._hashed,
            "text": self._text,
            "mixed": self._mixed,
            "columns": self._columns,
        }[features.kind]

    @property
    def keeps_input(self) -> bool:
        """Whether the raw input is stored for annotators, since hashed features cannot be shown."""
        return self._features.kind != "numbers"

    def instance(self, x: Any) -> Any:
        """One instance: an array, or a row of a CSR matrix."""
        return self._read(x)

    def shown(self, row: Any) -> Any:
        """An instance of numbers as annotators see it."""
        values = row.tolist()
        return values if self._names is None else dict(zip(self._names, values, strict=True))

    def _numbers(self, x: Any) -> np.ndarray:
        if isinstance(x, dict) and self._names is not None:
            return self._named(x, exact=True)
        if not isinstance(x, list):
            expected = "an array of numbers" + ("" if self._names is None else ", or an object with one for each name")
            raise _wrong(expected, x)
        if self._names is not None and len(x) != len(self._names):
            raise InputError(
                f"x must have {len(self._names)} numbers, one for each name, got {len(x)}.",
                owner="instance",
                parameter="x",
            )
        if not x or len(x) > MOST_FEATURES:
            raise InputError(f"x must have between 1 and {MOST_FEATURES:,} numbers, got {len(x)}.", owner="instance")
        if not _NUMBERS.issuperset(map(type, x)):
            strange = next(i for i, value in enumerate(x) if type(value) not in _NUMBERS)
            raise _wrong("a number", x[strange], f"x[{strange}]")
        return _finite(x)

    def _named(self, x: dict[str, Any], exact: bool) -> np.ndarray:
        assert self._names is not None
        values = []
        for name in self._names:
            value = x.get(name)
            if type(value) is not float and type(value) is not int:
                raise _wrong("a number", value, name)
            values.append(value)
        if exact and len(x) > len(values):
            strange = next(name for name in x if name not in self._names)
            raise InputError(f"x has {_short(strange)}, which is not a feature of this stream.", owner="instance")
        return _finite(values)

    def _text(self, x: Any) -> sp.csr_matrix:
        if not isinstance(x, str):
            raise _wrong("a text", x)
        words = hashed_words([x], self._features.places)
        return words if self._vectors is None else sp.hstack([*self._encoded([x]), words], "csr")

    def _encoded(self, texts: list[str]) -> list[sp.csr_matrix]:
        """The vector of each text, as one row each."""
        assert self._vectors is not None
        if self._encoder is None:
            self._encoder = encoders.load(self._vectors.name)
            self._encoder.check(msgspec.to_builtins(self._vectors))
        return [sp.csr_matrix(vector.astype(float)) for vector in self._encoder.encode(texts)[:, None]]

    def _hashed(self, x: Any) -> sp.csr_matrix:
        if not isinstance(x, dict):
            raise _wrong("an object of features", x)
        if len(x) > MOST_FEATURES:
            raise InputError(f"x must have at most {MOST_FEATURES:,} features, got {len(x)}.", owner="instance")
        names, values = [], []
        for name, value in x.items():
            if type(value) is str:
                names.append(f"{name}={value}")
                values.append(1.0)
            elif type(value) is bool:
                names.append(name)
                values.append(float(value))
            elif type(value) is float or type(value) is int:
                names.append(name)
                values.append(value)
            else:
                raise _wrong("a number, a text or a truth value", value, name)
        places = self._features.places
        found = counted(_finite(values), hashed_names(names, places), np.array([0, len(names)]), places)
        if not np.isfinite(found.data).all():
            raise InputError("the features of one place must not add up to infinity.", owner="instance")
        return found

    def _mixed(self, x: Any) -> sp.csr_matrix:
        if not isinstance(x, dict):
            raise _wrong("an object with the fields of the stream", x)
        parts = []
        for k, name in enumerate(self._features.text):
            if not isinstance(x.get(name), str):
                raise _wrong("a text", x.get(name), name)
            parts.append(hashed_words([x[name]], self._features.places, name if k else ""))
        numbers, words = sp.csr_matrix(self._named(x, exact=False).reshape(1, -1)), sum(parts[1:], parts[0])
        if not self._numbers_first:
            return sp.hstack([words, numbers], "csr")
        vectors = [] if self._vectors is None else self._encoded([x[name] for name in self._features.text])
        return sp.hstack([numbers, *vectors, words], "csr")

    def _columns(self, x: Any) -> Any:
        if not isinstance(x, dict):
            raise _wrong("an object with the columns of the stream", x)
        assert self._schema is not None
        return self._schema.row(x, "x")


def schema_of_features(features: Features) -> Schema | None:
    """The schema of named columns, as the settings of a stream contain it."""
    check_size(features.schema)
    return None if features.schema is None else schema_from(features.schema)


def schema_of_model(features: Features, version: int | None) -> Schema | None:
    """What makes the same instances of texts, tables and records as a stream does, for its model as a file.

    None for arrays of numbers, which need none, and where a release before 0.2 had another order of features.
    """
    found = features.vectors
    encoder = TextEncoder(**msgspec.to_builtins(found)) if isinstance(found, TextVectors) else None
    if features.kind == "text":
        return Schema((TextColumn("text"),), features.places, "auto", encoder)
    if features.kind == "hashed":
        return Schema((RecordColumn("record"),), features.places)
    numbers = tuple(NumberColumn(name) for name in features.names or ())
    if features.kind == "mixed" and version not in (None, 1):
        texts = tuple(TextColumn(name, salt=name if k else "") for k, name in enumerate(features.text))
        return Schema((*numbers, *texts), features.places, "refuse", encoder)
    if features.kind == "numbers" and numbers:
        return Schema(numbers, missing="refuse")
    return schema_of_features(features)


def check_size(schema: dict[str, Any] | None) -> None:
    """Refuse a schema whose lists of numbers would fill the memory."""
    listed = (schema or {}).get("columns")
    columns = listed if isinstance(listed, list) else (schema or {}).values()
    widths = [value for column in columns if isinstance(column, dict) for value in column.values()]
    total = sum(value for value in widths if type(value) is int and value > 0)
    if total > MOST_FEATURES:
        raise InputError(
            f"the columns must have at most {MOST_FEATURES:,} numbers in lists, got {total:,}.", owner="stream"
        )


def kinds_of_features(features: Features) -> Kinds | None:
    """The kinds of features, where there are several."""
    if features.kind == "columns":
        schema = schema_of_features(features)
        known = Kinds() if schema is None else schema.kinds
        return known if known.vectors or known.words else None
    found = features.vectors
    vectors = () if not isinstance(found, TextVectors) else (found.width,) * max(len(features.text), 1)
    if features.kind != "mixed" and not vectors:
        return None
    return Kinds(len(features.names or ()), vectors, features.places)


def _finite(values: list[Any]) -> np.ndarray:
    try:
        found = np.array(values, np.float64)
        finite = math.isfinite(sum(values, 0.0)) or np.isfinite(found).all()  # a sum of finite numbers may be infinite
    except OverflowError:
        raise InputError("x must have numbers that a double can hold.", owner="instance", parameter="x") from None
    if not finite:
        raise InputError("x must have finite numbers.", owner="instance", parameter="x")
    return found


def _wrong(expected: str, got: Any, where: str = "x") -> InputError:
    kinds = {dict: "an object", list: "an array", str: "a text", bool: "a truth value", type(None): "nothing"}
    kind = kinds.get(type(got), "a number")
    return InputError(
        f"{_short(where)} must be {expected}, got {kind}.",
        owner="instance",
        parameter=where[:100],
        expected=expected,
        got=kind,
    )


def _short(name: str) -> str:
    return repr(name if len(name) <= 60 else name[:57] + "...") if name != "x" and not name.startswith("x[") else name
