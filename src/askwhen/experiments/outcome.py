"""What an experiment comes to: tables of published beside measured, figures, and plain words."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Play = Callable[[Mapping[str, Callable[[], Any]]], dict[str, Any]]
"""Plays cells by their names, on all cores, and gives what each came to."""


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


@dataclass(frozen=True)
class Outcome:
    """Tables, figures as SVG by their names, remarks, and the claims of the paper with whether they hold here."""

    tables: list[Table]
    figures: dict[str, str] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)
    claims: dict[str, bool] = field(default_factory=dict)

    def __add__(self, other: Outcome) -> Outcome:
        return Outcome(
            self.tables + other.tables,
            self.figures | other.figures,
            self.remarks + other.remarks,
            self.claims | other.claims,
        )


def percent(value: float, digits: int = 1) -> str:
    """A share in percent."""
    return f"{100 * value:.{digits}f} %"


def plus_minus(mean: float, half: float, digits: int = 1) -> str:
    """A share with its 95 % interval, in percent; without one where it is not known."""
    if math.isnan(half):
        return percent(mean, digits)
    return f"{100 * mean:.{digits}f} ± {100 * half:.{digits}f} %"
