"""Store the output of a benchmark: its tables as JSON, with the command, the day, the versions and the processor.

    python benchmarks/record.py NAME COMMAND ...        runs it, and writes docs/measurements/data/NAME.json
    python benchmarks/record.py label-efficiency python benchmarks/label_efficiency.py --shares 0.1
    python benchmarks/record.py --read reproduction/pa-svm.md reproduce-pa-svm askwhen reproduce pa-svm

Benchmarks print their tables as Markdown; a table is named after the last line before it, or else after its
first column. ``python
benchmarks/tables.py --write`` then brings them into the pages.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import shlex
import subprocess
import sys
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

DATA = Path(__file__).parents[1] / "docs" / "measurements" / "data"
PACKAGES = ["askwhen", "numpy", "numba", "scipy", "scikit-learn", "river", "scikit-activeml", "vowpalwabbit"]
PACKAGES += ["vowpal-wabbit-next", "capymoa", "torch"]


def tables_in(lines: Iterable[str]) -> dict[str, Any]:
    """The Markdown tables in the output, each with the last line before it that is not part of a table."""
    found: dict[str, Any] = {}
    title: str = ""
    table: dict[str, Any] | None = None
    for line in map(str.strip, lines):
        if not line.startswith("|"):
            title, table = line.strip("*# ") or title, None
            continue
        row = [cell.strip() for cell in line.strip("|").replace("\\|", "\0").split("|")]
        row = [cell.replace("\0", "\\|") for cell in row]
        if table is None:
            table = {"columns": row, "rows": []}
            names = (title, row[0], f"table {len(found) + 1}")
            found[next(name for name in names if name and name not in found)] = table
        elif all(cell and not cell.strip(":-") for cell in row) and "right" not in table:
            table["right"] = [i for i, cell in enumerate(row) if cell.endswith(":")]
        else:
            table["rows"].append(row)
    return found


def versions() -> dict[str, str]:
    """Python and what is installed of what the benchmarks use."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def processor() -> str:
    """The kind of processor, as the system names it."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.split(":")[1].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def keep(name: str, facts: dict[str, Any]) -> Path:
    """Write one file of measurements, whole or not at all."""
    DATA.mkdir(parents=True, exist_ok=True)
    path = DATA / f"{name}.json"
    part = path.with_suffix(".part")
    part.write_text(one_line_a_row(facts) + "\n")
    part.replace(path)
    return path


def one_line_a_row(facts: dict[str, Any]) -> str:
    """JSON that shows in a diff which row has changed."""
    rows: list[str] = []

    def marked(value: Any) -> Any:
        if isinstance(value, dict):
            return {key: marked(each) for key, each in value.items()}
        if isinstance(value, list) and not any(isinstance(each, list) for each in value):
            rows.append(json.dumps(value, ensure_ascii=False))
            return f"\0{len(rows) - 1}\0"
        return [marked(each) for each in value] if isinstance(value, list) else value

    text = json.dumps(marked(facts), indent=1, ensure_ascii=False)
    for i, row in enumerate(rows):
        text = text.replace(f'"\\u0000{i}\\u0000"', row, 1)
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--read", type=Path, metavar="FILE", help="where the command writes its tables, if not here")
    parser.add_argument("name")
    parser.add_argument("command", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    if not options.command:
        parser.error("name the command that prints the tables")
    started = time.monotonic()
    words = [sys.executable if word == "python" else word for word in options.command]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert running.stdout is not None
    lines = []
    for line in running.stdout:
        print(line, end="", flush=True)
        lines.append(line)
    if running.wait() != 0:
        raise SystemExit(f"record: the command ended with {running.returncode}; nothing is kept.")
    tables = tables_in(lines if options.read is None else options.read.read_text().splitlines())
    if not tables:
        raise SystemExit("record: the command made no table; nothing is kept.")
    facts = {
        "command": shlex.join(options.command),
        "measured": datetime.now(UTC).date().isoformat(),
        "seconds": round(time.monotonic() - started),
        "processor": processor(),
        "versions": versions(),
        "tables": tables,
    }
    print(f"\nwrote {keep(options.name, facts)}", file=sys.stderr)


if __name__ == "__main__":
    main()
