"""What the columns of data frames and records are taken for, where the user says so."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .. import encoders
from ..errors import InputError
from ..validation import check_choice, check_count
from .column_choices import ColumnChoices

_ROLES = ("text", "categories", "numbers", "vector", "drop")


@dataclass(frozen=True)
class Columns:
    """What columns of data frames and records are to be taken for, where their types and values do not say it.

    Parameters
    ----------
    text, categories, numbers, vector, drop : str or list of str, optional
        The columns that are texts, categories, numbers (of which what is not a number is missing), vectors (lists of
        numbers), and those that are left out. What others are is found from the first rows.
    missing : {"auto", "feature", "refuse"}, default "auto"
        What to do with missing numbers, as for :func:`askwhen.data.read`.
    places : int, optional
        Number of places that words are hashed to; by default 262,144.
    decimal : {".", ","}, optional
        The mark before decimals in texts that are numbers and do not show it, as 1,250 does not.
    encoder : str, path, callable or Encoder, default "auto"
        What makes a vector of each text, beside its words, as for :func:`askwhen.encoders.load`: "auto" is "static"
        where the extra ``text`` is installed, and None makes no vectors.

    Examples
    --------
    >>> import pandas as pd, askwhen as aw
    >>> sampler = aw.Sampler(rule=aw.Always(), columns=aw.Columns(text="body", drop="id"), seed=7)
    >>> mails = pd.DataFrame({"id": [7, 9], "body": ["cheap pills", "see you"], "kilobytes": [3.5, 1.0]})
    >>> trace = sampler.run(mails, ["spam", "ham"])
    >>> [(name, role) for name, role, why in sampler.schema.described()]
    [('id', 'dropped'), ('body', 'text'), ('kilobytes', 'number')]
    """

    text: str | Sequence[str] = ()
    categories: str | Sequence[str] = ()
    numbers: str | Sequence[str] = ()
    vector: str | Sequence[str] = ()
    drop: str | Sequence[str] = ()
    missing: str = "auto"
    places: int | None = None
    encoder: Any = encoders.AUTO
    decimal: str | None = None

    def __post_init__(self) -> None:
        for role in _ROLES:
            names = _names(getattr(self, role))
            if not all(isinstance(name, str) for name in names) or len({*names}) < len(names):
                raise InputError.about("Columns", role, "different names of columns", getattr(self, role))
        check_choice(self, "missing", self.missing, ("auto", "feature", "refuse"))
        if self.decimal is not None:
            check_choice(self, "decimal", self.decimal, (".", ","))
        if self.places is not None:
            check_count(self, "places", self.places)

    def choices(self) -> ColumnChoices:
        """The same for the functions that find out what columns are; there is no label among the columns."""
        roles: dict[str, Any] = {role: _names(getattr(self, role)) for role in _ROLES}
        encoder = encoders.chosen(self.encoder)
        how = {"missing": self.missing, "given_places": self.places, "encoder": encoder, "decimal": self.decimal}
        return ColumnChoices(labelled=False, hides_labels=False, **roles | how)

    def to_json(self) -> dict[str, Any]:
        """The arguments that were given, as values that JSON knows."""
        found = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        found["encoder"] = encoders.NONE if self.encoder is None else self.encoder
        if self.encoder == encoders.AUTO or not isinstance(found["encoder"], str):
            del found["encoder"]
        return {name: list(_names(value)) if name in _ROLES else value for name, value in found.items() if value}

    @classmethod
    def from_json(cls, value: Any) -> Columns:
        """What ``to_json`` has written; anything else is refused."""
        known = {field.name for field in dataclasses.fields(cls)}
        if not isinstance(value, dict) or not {*value} <= known:
            raise InputError("the columns of the file are not what this version knows.", owner="load")
        for role in _ROLES:
            if not isinstance(value.get(role, []), list):
                raise InputError("the columns of the file are not lists of names.", owner="load")
        try:
            return cls(**value)
        except TypeError as error:
            raise InputError("the columns of the file are not what this version knows.", owner="load") from error


def check_columns(owner: str, columns: Any) -> Columns:
    """Refuse anything but ``Columns``."""
    if not isinstance(columns, Columns):
        raise InputError.about(owner, "columns", "aw.Columns(...)", columns)
    return columns


def _names(names: Any) -> tuple[Any, ...]:
    """Names of columns, given as one or as several."""
    return (names,) if isinstance(names, str) else tuple(names)
