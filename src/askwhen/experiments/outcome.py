"""What an experiment comes to: tables of published beside measured, figures, and plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data import sets
from ..errors import InputError

Play = Callable[[Mapping[str, Callable[[], Any]]], dict[str, Any]]
"""Plays cells by their names, on all cores, and gives what each came to."""


class Shown(str):
    """A text of a table that keeps the numbers it was made of: a mean, say, and half of its interval."""

    values: tuple[float, ...]

    def __new__(cls, text: str, *values: float) -> Shown:
        """The text, with its numbers."""
        made = super().__new__(cls, text)
        made.values = tuple(float(value) for value in values)
        return made


@dataclass(frozen=True)
class Table:
    """Rows under columns, all of them texts."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def facts(self) -> dict[str, Any]:
        """The table for programs: numbers where it has them, and texts elsewhere."""
        rows = [[list(cell.values) if isinstance(cell, Shown) else cell or None for cell in row] for row in self.rows]
        return {"title": self.title, "columns": self.columns, "rows": rows, "texts": self.rows}


@dataclass(frozen=True)
class Outcome:
    """Tables, figures as SVG by their names, remarks, and what should hold, with whether it does in a word or two."""

    tables: list[Table]
    figures: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    claims: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.tables + other.tables,
            self.figures | other.figures,
            self.remarks + other.remarks,
            self.claims | other.claims,
        )


YES, NO, WITHIN = "yes", "no", "yes, within the intervals"
"""Whether something holds here; an order may, but not beyond chance."""


def holds(so: bool | np.bool_) -> str:
    """Yes or no."""
    return YES if so else NO


def share_shown(value: float, digits: int = 1) -> Shown:
    """A share in percent."""
    return Shown(f"{100 * value:.{digits}f} %", value)


def plus_minus(mean: float, half: float, digits: int = 1) -> Shown:
    """A share with its 95 % interval, in percent; without one where it is not known."""
    if math.isnan(half):
        return share_shown(mean, digits)
    return Shown(f"{100 * mean:.{digits}f} ± {100 * half:.{digits}f} %", mean, half)


def listed(values: Iterable[float]) -> str:
    """Numbers as a sentence has them."""
    return ", ".join(f"{value:g}" for value in values)


def is_here(name: str) -> bool:
    """Whether the files of a data set are at hand; a damaged one is here, and refused when it is read."""
    return all(sets.is_here(file) for file in sets.files()[name])


def none_here(experiment: str, names: Iterable[str]) -> InputError:
    """What is said where an experiment has no data at all."""
    return InputError(
        f"{experiment} needs at least one of {', '.join(names)} in the folder that ASKWHEN_DATA names; "
        "askwhen data lists what is here.",
        owner="reproduce",
    )
