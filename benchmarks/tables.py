"""The tables of the pages, written from the measurements in docs/measurements/data.

    python benchmarks/tables.py             exit 1 where a page does not show what its file holds
    python benchmarks/tables.py --write     write the pages

A page says where a table goes by two comments. What is between them is written from FILE.json, and a line under it says
which command printed the table, and when. *rows* takes some of the rows, *without* leaves columns out, and *turned*
makes columns of rows.

    <!-- table: FILE: TITLE -->
    <!-- table: FILE: TITLE | without A / B -->
    <!-- table: FILE: TITLE | rows A / B / C | turned -->
    <!-- end -->
"""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "docs" / "measurements"
PLACE = re.compile(
    r"^<!-- table: (?P<file>[\w-]+): (?P<title>[^|\n]+?)(?: \| rows (?P<rows>[^|\n]+?))?"
    r"(?: \| without (?P<without>[^|\n]+?))?(?P<turned> \| turned)? -->\n"
    r".*?^<!-- end -->$",
    re.M | re.S,
)


class StaleError(Exception):
    """A page names a table that there is not."""


def some_rows(table: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The rows with these names, in this order."""
    rows = {row[0]: row for row in table["rows"]}
    for name in names:
        if name not in rows:
            raise StaleError(f"there is no row {name!r}; there are {', '.join(rows)}")
    return table | {"rows": [rows[name] for name in names]}


def without_columns(table: dict[str, Any], names: list[str]) -> dict[str, Any]:
    """The table without the columns with these names."""
    columns = table["columns"]
    for name in names:
        if name not in columns:
            raise StaleError(f"there is no column {name!r}; there are {', '.join(columns)}")
    kept = [i for i, name in enumerate(columns) if name not in names]
    right = [kept.index(i) for i in table.get("right", []) if i in kept]
    rows = [[row[i] for i in kept] for row in table["rows"]]
    return table | {"columns": [columns[i] for i in kept], "rows": rows, "right": right}


def turned(table: dict[str, Any]) -> dict[str, Any]:
    """The same table with its rows as columns."""
    whole = zip(table["columns"], *table["rows"], strict=True)
    columns, *rows = ([*column] for column in whole)
    return {"columns": columns, "rows": rows}


def markdown(table: dict[str, Any]) -> str:
    """A table as Markdown; columns in *right* are numbers."""
    right = table.get("right", [])
    rule = ["---:" if i in right else "---" for i in range(len(table["columns"]))]
    return "\n".join("| " + " | ".join(row) + " |" for row in [table["columns"], rule, *table["rows"]])


def source(facts: dict[str, Any]) -> str:
    """The line that says where a table comes from."""
    also = f"; {facts['note']}" if "note" in facts else ""
    return f"Measured {facts['measured']}: `{facts['command']}`{also}."


def written(text: str, data: Path) -> str:
    """A page with its tables as the files have them."""

    def place(found: re.Match[str]) -> str:
        path = data / f"{found['file']}.json"
        if not path.exists():
            raise StaleError(f"there is no {path.name}")
        facts = json.loads(path.read_text())
        if found["title"] not in facts["tables"]:
            raise StaleError(f"{path.name} has no table {found['title']!r}; it has {', '.join(facts['tables'])}")
        table = facts["tables"][found["title"]]
        if found["rows"]:
            table = some_rows(table, found["rows"].split(" / "))
        if found["without"]:
            table = without_columns(table, found["without"].split(" / "))
        shown = markdown(turned(table) if found["turned"] else table)
        first = found[0].split("\n", 1)[0]
        return f"{first}\n{shown}\n\n{source(facts)}\n<!-- end -->"

    return PLACE.sub(place, text)


def pages() -> list[Path]:
    """The pages with tables from files."""
    return [page for page in sorted(PAGES.parent.rglob("*.md")) if "<!-- table:" in page.read_text()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the pages")
    options = parser.parse_args()
    stale = []
    for page in pages():
        before = page.read_text()
        try:
            after = written(before, PAGES / "data")
        except StaleError as error:
            raise SystemExit(f"tables: {page.name}: {error}.") from error
        if after != before:
            stale.append(page.name)
            if options.write:
                page.write_text(after)
    if stale and not options.write:
        raise SystemExit(f"tables: {', '.join(stale)} must be written again: --write.")
    print(f"wrote {', '.join(stale)}" if stale else "nothing to write")


if __name__ == "__main__":
    main()
