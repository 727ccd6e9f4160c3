"""Tables for a terminal: of columns, and of names with values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table


def new_table(*columns: str) -> Table:
    """An empty table with these columns."""
    from rich.table import Table

    table = Table(box=None, header_style="dim", padding=(0, 2, 0, 0))
    for name in columns:
        table.add_column(name, overflow="fold")
    return table


def table_of(columns: list[str], rows: list[list[str]]) -> Table:
    """A table of texts."""
    table = new_table(*columns)
    for row in rows:
        table.add_row(*row)
    return table


def new_list() -> Table:
    """An empty list of names and values."""
    from rich.table import Table

    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="dim", no_wrap=True)
    table.add_column(overflow="fold")
    return table


def facts_table(facts: dict[str, Any], more: Sequence[tuple[str, str]] = ()) -> Table:
    """Names and values, and more of them, whose names are written as they are."""
    from rich.markup import escape

    table = new_list()
    for name, value in facts.items():
        shown = ", ".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)
        table.add_row(name.replace("_", " "), escape(shown))
    for name, text in more:
        table.add_row(escape(name), escape(text))
    return table
