"""Tables as instances, labels and times; the first rows decide what the features are, unless that is known."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from .. import encoders
from ..encoders import VectorCache
from ..errors import InputError
from .column_choices import LABELS, ColumnChoices
from .column_table import ColumnTable
from .files import is_piped
from .inference import infer
from .older_features import NamedFeatures
from .schema import Encode, Schema
from .times import Times


class Instances:
    """Converts the tables of a file to instances, one after the other.

    Parameters
    ----------
    columns : ColumnChoices
        The user's choices about columns.
    path : path
        The file, for errors.
    schema : Schema, optional
        What each column is, where that is known; otherwise it is found from the first table.
    told : collection of str
        The columns of whose odd values a decision has said, so that no warning repeats it.
    completed : callable, optional
        Receives a schema that was found in the first table, and returns what the whole file makes of it.

    Attributes
    ----------
    schema : Schema or None
        What each column is, once it is known; None with ``columns.names``.
    """

    def __init__(
        self,
        columns: ColumnChoices,
        path: Any,
        schema: Schema | None = None,
        told: Collection[str] = (),
        completed: Callable[[Schema], Schema] | None = None,
    ) -> None:
        self.columns, self.path, self.schema = columns, path, schema
        self._features: Schema | NamedFeatures | None = schema if columns.names is None else NamedFeatures(columns)
        self._times = Times(columns.time, path, columns.time_format)
        self._label: str | None = None
        self._is_settled = False
        self._before = 0
        self._cache: VectorCache | None = None
        self._has_skipped = False
        self._told: set[str] = {*told}
        self._completed = completed

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features that are numbers, once they are known."""
        return None if self._features is None else self._features.names

    @property
    def wanted(self) -> tuple[str, ...]:
        """The columns that the user named, and those that features are made of, as far as they are known."""
        return (*self.columns.named, *(() if self._features is None else self._needed([])))

    def _encoding(self) -> Encode | None:
        """What makes vectors of texts, with a cache beside the file; None where there is nothing to encode."""
        if self.schema is None or self.schema.encoder is None:
            return None
        if self._cache is None:
            file = None if self._has_skipped or is_piped(self.path) else self.path
            self._cache = VectorCache(encoders.find(self.schema.encoder._asdict()), file)
        return self._cache.encode

    def close(self, is_complete: bool = False) -> None:
        """Store the vectors of texts that were computed; ``is_complete`` if the file was read to its end."""
        if self._cache is not None:
            self._cache.close(is_complete)
            self._cache = None

    def settle(self, table: ColumnTable) -> None:
        """Decide by the first rows of a file what the features are, and refuse a file that lacks columns."""
        if self._is_settled:
            return
        if self.columns.labelled and self.columns.label is None and self.schema is not None:
            self.columns = self.columns._replace(label=self.schema.label)
        if self._features is None:
            found = infer(table, self.columns, self.path)
            self._features = self.schema = found if self._completed is None else self._completed(found)
            self._told |= self.schema.told
        else:
            self.columns.check(table.known, self.path)
            self._features.check(table.known, self.path)
        self._label = self.columns.label_in(table.known) if self.columns.labelled else None
        self._is_settled = True

    def used_in(self, known: list[str]) -> list[str]:
        """The columns of a file that must be read."""
        if not self.columns.strict:
            return [name for name in known if name not in self.columns.drop]
        used = {self._label, self.columns.time, *self._needed(known)}
        return [name for name in known if name in used]

    def texts_in(self, known: list[str]) -> list[str]:
        """The columns that are to be read as texts, whatever they look like."""
        assert self._features is not None
        if isinstance(self._features, NamedFeatures):
            return [*self.columns.text, *self.columns.categories]
        if self._features.takes_any:
            return []
        return [name for name in self._needed(known) if name not in self._features.read_as_numbers]

    @property
    def numbers(self) -> frozenset[str]:
        """The columns that are to be read as numbers."""
        assert self._features is not None
        return self._features.read_as_numbers

    def _needed(self, known: list[str]) -> tuple[str, ...]:
        assert self._features is not None
        if isinstance(self._features, NamedFeatures):
            return self._features.needed(known)
        if self._features.takes_any:  # as an import into the service, which takes the id and the label from them
            others = ("id", self._label, self.columns.time, *self.columns.drop, *LABELS)
            return tuple(name for name in known if name not in others)
        return self._features.needed

    def of(self, table: ColumnTable) -> tuple[Any, np.ndarray | None, np.ndarray | None]:
        """Instances, labels and times of the next table; labels and times may be None."""
        self.settle(table)
        assert self._features is not None
        if isinstance(self._features, Schema):
            X: Any = self._features.rows(table, self._before, self.path, self._encoding(), self._told)
        else:
            X = self._features.rows(table, self._before, self.path)
        y = None if self._label is None else self._values(table, self._label, "a label")
        times = None
        if self.columns.time is not None:
            times = self._times.of(self._values(table, self.columns.time, "a time"), self._before)
        self._before += table.rows
        return X, y, times

    def skip(self, table: ColumnTable) -> None:
        """Count the rows of a table that is skipped."""
        self.settle(table)
        self._before += table.rows
        self._has_skipped = True  # a cache is for the texts of a file from its first one on

    def _values(self, table: ColumnTable, name: str, what: str) -> np.ndarray:
        row = table.gap(name)
        if row is not None:
            row += self._before
            raise InputError(
                f"column {name!r} of {self.path} is empty or NaN in instance {row}, counted from 0; every instance "
                f"needs {what}.",
                owner="read",
                file=str(self.path),
                column=name,
                row=row,
            )
        return table.values(name, self._before)
