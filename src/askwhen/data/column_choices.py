"""The user's choices about the columns of a table."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

from ..encoders import Encoder
from ..errors import InputError, argument
from .files import listed, nearest, perhaps
from .hashing import DEFAULT_FEATURES

LABELS = ("label", "y", "class", "target")
"""Names by which a label column is found where none is given."""


class ColumnChoices(NamedTuple):
    """The user's choices about the columns of a table.

    ``given_places`` is the number of places that words are hashed to, if the user chose one. ``names`` are the features
    of a model of an earlier version. ``labelled`` says whether labels are wanted, and ``strict`` whether a column that
    cannot be decided about is refused instead of left out. ``written`` are columns that stay texts even if they look
    like numbers; they may be absent. ``time_format`` is the format of times and dates. ``hides_labels`` says whether
    columns with usual names of labels are left out where no labels are wanted. ``encoder`` makes vectors of texts.
    ``decimal`` is the mark before decimals, for numbers that do not show it.
    """

    label: str | None = None
    time: str | None = None
    text: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    names: tuple[str, ...] | None = None
    missing: str = "auto"
    given_places: int | None = None
    labelled: bool = True
    strict: bool = True
    written: tuple[str, ...] = ()
    time_format: str | None = None
    numbers: tuple[str, ...] = ()
    vector: tuple[str, ...] = ()
    hides_labels: bool = True
    encoder: Encoder | Literal["auto"] | None = None
    decimal: str | None = None

    @property
    def places(self) -> int:
        """Number of places that words are hashed to."""
        return self.given_places or DEFAULT_FEATURES

    @property
    def named(self) -> tuple[str, ...]:
        """The columns that the user named."""
        return tuple(name for name in (self.label, self.time, *self.features, *self.drop) if name is not None)

    def names_it(self, name: str) -> bool:
        """Whether the user named this column."""
        return name in self.named

    @property
    def features(self) -> tuple[str, ...]:
        """The columns whose features the user chose."""
        return (*self.text, *self.categories, *self.numbers, *self.vector)

    def label_in(self, names: list[str]) -> str | None:
        """The label column: the one that the user named, or one with a usual name."""
        others = (self.time, *self.features, *self.drop)
        return self.label or next((name for name in LABELS if name in names and name not in others), None)

    def check(self, names: list[str], path: Any) -> None:
        """Refuse a table that lacks a column that was named, or has one twice."""
        trouble = self.trouble(names, path)
        if trouble is not None:
            raise InputError(trouble, owner="read", file=str(path), mend=self.renamed(names))

    def renamed(self, names: list[str]) -> dict[str, Any]:
        """Arguments in which columns that a table lacks have the nearest names that it has."""
        usual = [name for name in names if name.strip().lower() in LABELS]
        found: dict[str, Any] = {}
        if usual and self.labelled and self.label_in(names) is None:
            found["label"] = usual[0]
        for what in ("label", "time", "text", "categories", "numbers", "vector", "drop"):
            given = getattr(self, what)
            before = (given,) if isinstance(given, str) else given or ()
            after = tuple(name if name in names else nearest(name, names) for name in before)
            if None in after or len({*after}) < len(after):
                return {}
            if after != before:
                found[what] = after[0] if isinstance(given, str) else after
        return found

    def trouble(self, names: list[str], path: Any) -> str | None:
        """A sentence about what is wrong with the names of a table's columns, or None."""
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            return f"{path} has more than one column {twice!r}."
        needed = [name for name in (self.label, self.time, *self.features) if name is not None]
        for name in needed:
            if name in self.drop:
                return f"column {name!r} is needed, and named in {argument('drop')} too."
        if self.label in self.features:
            return f"column {self.label!r} is {argument('label')}, and must not be a feature too."
        twice = next((name for name in self.features if self.features.count(name) > 1), None)
        if twice is not None:
            return f"column {twice!r} is named twice, and must be one thing."
        lacking = [name for name in dict.fromkeys((*needed, *self.drop)) if name not in names]
        if lacking:
            return f"{path} has no {self.lacking(lacking, names)}; it has {listed(names)}."
        if self.labelled and self.label_in(names) is None:
            return f"{path} needs {argument('label')}, the name of its label column; it has {listed(names)}."
        return None

    @staticmethod
    def lacking(missing: list[str], names: list[str]) -> str:
        """Columns that a table lacks, each with the nearest name that it has."""
        some = [f"column {name!r}{perhaps(name, names)}" for name in missing[:12]]
        more = [f"{len(missing) - 12} more columns"] if len(missing) > 12 else []
        return ", and no ".join([*some, *more])
