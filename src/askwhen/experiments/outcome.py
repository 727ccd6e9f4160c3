"""The result of an experiment: tables of published and measured numbers, figures, and remarks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..data import sets
from ..errors import InputError

Play = Callable[[Mapping[str, Callable[[], Any]]], dict[str, Any]]
"""Runs cells by name, on all cores, and returns the result of each."""


class NumberText(str):
    """A text of a table with the numbers it shows, such as a mean and half of its interval."""

    values: tuple[float, ...]

    def __new__(cls, text: str, *values: float) -> NumberText:
        """The text, with its numbers."""
        made = super().__new__(cls, text)
        made.values = tuple(float(value) for value in values)
        return made


@dataclass(frozen=True)
class ResultTable:
    """Rows under columns, all of them texts."""

    title: str
    columns: list[str]
    rows: list[list[str]]

    def markdown(self) -> str:
        """The table as Markdown."""
        lines = [self.columns, ["---"] * len(self.columns), *self.rows]
        return f"**{self.title}**\n\n" + "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"

    def facts(self) -> dict[str, Any]:
        """The table for programs: numbers where it has them, texts elsewhere."""
        rows = [
            [list(cell.values) if isinstance(cell, NumberText) else cell or None for cell in row] for row in self.rows
        ]
        return {"title": self.title, "columns": self.columns, "rows": rows, "texts": self.rows}


@dataclass(frozen=True)
class ExperimentResult:
    """Tables, SVG figures by name, remarks, and claims with "yes", "no" or "yes, within the intervals"."""

    tables: list[ResultTable]
    figures: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    claims: dict[str, str] = field(default_factory=dict)

    def __add__(self, other: ExperimentResult) -> ExperimentResult:
        return ExperimentResult(
            self.tables + other.tables,
            self.figures | other.figures,
            self.remarks + other.remarks,
            self.claims | other.claims,
        )


YES, NO, WITHIN = "yes", "no", "yes, within the intervals"
"""Whether a claim holds here; WITHIN: an order holds, but may be by chance."""


def holds(so: bool | np.bool_) -> str:
    """Yes or no."""
    return YES if so else NO


def share_shown(value: float, digits: int = 1) -> NumberText:
    """A share in percent."""
    return NumberText(f"{100 * value:.{digits}f} %", value)


def plus_minus(mean: float, half: float, digits: int = 1) -> NumberText:
    """A share with its 95 % interval, in percent; without one where it is not known."""
    if math.isnan(half):
        return share_shown(mean, digits)
    return NumberText(f"{100 * mean:.{digits}f} ± {100 * half:.{digits}f} %", mean, half)


def listed(values: Iterable[float]) -> str:
    """Numbers separated by commas."""
    return ", ".join(f"{value:g}" for value in values)


def is_here(name: str) -> bool:
    """Whether the files of a data set exist; damaged ones do, and raise an error when they are read."""
    return all(sets.is_here(file) for file in sets.files()[name])


def none_here(experiment: str, names: Iterable[str]) -> InputError:
    """The error for an experiment without any of its data sets."""
    return InputError(
        f"{experiment} needs at least one of {', '.join(names)} in the folder that ASKWHEN_DATA names; "
        "askwhen data lists what is here.",
        owner="reproduce",
    )
