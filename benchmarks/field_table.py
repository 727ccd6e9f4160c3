"""The table that the field lacks: accuracy for few labels, at once and late, of many methods on many streams.

    python benchmarks/field_table.py [--streams A,B] [--methods C,D]      compute what is missing, and print the tables
    python benchmarks/field_table.py --quick                              three small streams, a few minutes
    python benchmarks/field_table.py --record                             write the page from what has been computed

Every finished cell is a file under ``--out``: a run that was ended, however, is started again by the same command and
goes on where it was. Two runs may share the folder if they have different streams.

All but askwhen see the instances that ``Prepare()`` makes; askwhen sees them raw. Everyone is tuned in hindsight on the
first seed of each stream, share and delay, but the default of askwhen, which is told the share and nothing else. Labels
are delivered to everyone by the same loop (``field/contract.py``): what is asked for in round t comes before round
t + delay is predicted. A method may take an hour of processor time on a stream, its search included.
"""

from __future__ import annotations

import os

if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # before numpy: processor time is what is limited

import argparse
import itertools
import sys
from functools import lru_cache
from pathlib import Path
from typing import Any

from field.cells import DONE, FAILED, Cell, Key, Store, slug
from field.contract import Method, Source, Stream
from field.pages import LEADERS, LOST, MARKER, RUN, lost, of_stream, picture, sections, what_was_run, who_leads
from field.registry import missing, registered
from field.runner import finish, is_wanted, seeds_of
from record import keep, processor
from tables import PAGES, markdown

SHARES, DELAYS, ROUNDS, MINUTES = "0.1,0.02,0.05,0.01", "0,100,1000", 5_000, 60.0
QUICK = ("synthetic", "digits, ten classes", "digits, odd or even")


def listed(parser: argparse.ArgumentParser, given: str | None, known: dict[str, Any], what: str) -> list[str]:
    """The names in an option, separated by semicolons since they have commas in them."""
    if given is None:
        return list(known)
    names = [name.strip() for name in given.split(";") if name.strip()]
    for name in names:
        if name not in known:
            parser.error(f"there is no {what} {name!r}; there are: {'; '.join(known)}")
    return names


def numbers(parser: argparse.ArgumentParser, given: str, option: str, kind: type) -> list[Any]:
    """The numbers in an option."""
    try:
        return [kind(each) for each in given.split(",")]
    except ValueError:
        parser.error(f"{option} must be numbers with commas between them, got {given!r}")


def arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=Path("build/field"), help="the folder of the cells")
    parser.add_argument("--streams", help="only these, with semicolons between them")
    parser.add_argument("--methods", help="only these, with semicolons between them")
    parser.add_argument("--shares", default=SHARES, help="shares of the labels")
    parser.add_argument("--delays", default=DELAYS, help="how many rounds late labels are; 0 is at once")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="streams are cut here")
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=MINUTES, help="processor time of one method on one stream")
    parser.add_argument(
        "--also", type=Path, action="append", default=[], metavar="FILE", help="a file with METHODS or STREAMS"
    )
    parser.add_argument(
        "--quick", action="store_true", help="500 rounds of three streams, 10 %% of the labels, 0.5 minutes"
    )
    parser.add_argument("--show", action="store_true", help="compute nothing, print the tables of what there is")
    parser.add_argument("--record", action="store_true", help="compute nothing, write the page and its data")
    parser.add_argument("--list", action="store_true", help="print the methods and the streams")
    return parser


def compute(methods: list[Method], sources: list[Source], store: Store, options: argparse.Namespace) -> None:
    """All cells that are missing, stream by stream."""
    for i, source in enumerate(sources, 1):

        @lru_cache(2)
        def streams(seed: int, source: Source = source) -> Stream:
            return source.stream(seed, options.rounds)

        for method in methods:
            seeds = seeds_of(method, source, options.seeds)
            keys = [Key(source.name, method.name, *each) for each in itertools.product(options.shares, options.delays)]
            if any(is_wanted(store.read(key), seeds, options.minutes) for key in keys):
                line = f"stream {i} of {len(sources)}: {source.name}, {method.name}"
                print(f"\r{line:100}", end="" if sys.stderr.isatty() else "\n", file=sys.stderr, flush=True)
                _ = streams(0).prepared  # once for all processes, which are copies of this one
                finish(method, streams, keys, store, seeds, options.minutes)


def tables_of(cells: dict[Key, Cell], methods: dict[str, Method], sources: dict[str, Source]) -> dict[str, Any]:
    """All tables, by their titles."""
    wanted = len(methods) * len(SHARES.split(",")) * len(DELAYS.split(","))
    found = {
        LOST: lost(cells, list(sources), list(methods)),
        LEADERS: who_leads(cells, list(sources), list(methods)),
        RUN: what_was_run(cells, sources, list(methods), wanted),
    }
    there = {key.stream for key in cells}
    return found | {name: of_stream(cells, name, list(methods)) for name in sources if name in there}


def record(
    cells: dict[Key, Cell], methods: dict[str, Method], sources: dict[str, Source], options: argparse.Namespace
) -> None:
    """Write the data, the pictures and the sections of the page; tables.py then brings the tables into it."""
    rows = []
    versions: dict[str, str] = {}
    for key, cell in cells.items():
        if cell.state != FAILED:
            versions |= cell.versions
            played = [round(value, 5) for each in cell.played for value in each]
            seconds = round(cell.seconds, 1) if cell.state == DONE else None
            rows.append([*key, cell.state, cell.why, cell.setting, seconds, *played])
    shares = ",".join(f"{share:g}" for share in sorted({key.share for key in cells}, reverse=True))
    delays = ",".join(str(delay) for delay in sorted({key.delay for key in cells}))
    command = f"python benchmarks/field_table.py --shares {shares} --delays {delays} --rounds {options.rounds}"
    facts = {
        "command": f"{command} --minutes {options.minutes:g}",
        "measured": max(cell.measured for cell in cells.values()),
        "processor": processor(),
        "versions": versions,
        "tables": tables_of(cells, methods, sources),
        "cell": [
            "stream",
            "method",
            "share",
            "delay",
            "state",
            "why",
            "setting",
            "seconds",
            "accuracy and asked of each seed",
        ],
        "cells": rows,
    }
    for old in (PAGES / "figures").glob("field-*.svg"):
        old.unlink()
    pictures: dict[str, list[str]] = {}
    for name, delay in itertools.product(sources, sorted({key.delay for key in cells})):
        drawn = picture(cells, name, methods, delay)
        if drawn is not None:
            file = f"field-{slug(name)}-late-{delay}.svg"
            pictures.setdefault(name, []).append(file)
            (PAGES / "figures" / file).write_text(drawn, encoding="utf-8")
    page = PAGES / "field.md"
    head, _, _ = page.read_text().partition(MARKER)
    page.write_text(f"{head}{MARKER}\n\n{sections(cells, sources, pictures)}")
    print(f"wrote {keep('field', facts)} and {page}; now python benchmarks/tables.py --write")


def main() -> None:
    parser = arguments()
    options = parser.parse_args()
    methods, sources = registered(options.also)
    if options.list:
        print("Methods\n", *(f"  {each.name}" for each in methods.values()), "Streams\n", sep="\n")
        print(*(f"  {each.name}: {each.about}" for each in sources.values()), sep="\n")
        return
    if options.quick:
        options.shares, options.delays, options.rounds, options.minutes = "0.1", "0,100", 500, 0.5
        options.streams = options.streams or ";".join(QUICK)
    options.shares = numbers(parser, options.shares, "--shares", float)
    options.delays = numbers(parser, options.delays, "--delays", int)
    if not all(0.0 < share <= 1.0 for share in options.shares) or min(options.delays) < 0:
        parser.error("--shares must be above 0 and at most 1, and --delays at least 0")
    if options.seeds < 1 or options.rounds < 10 or options.minutes <= 0.0:
        parser.error("--seeds must be at least 1, --rounds at least 10 and --minutes above 0")
    names, who = listed(parser, options.streams, sources, "stream"), listed(parser, options.methods, methods, "method")
    store = Store(options.out, options.rounds)
    if not (options.show or options.record):
        if any(sources[name].needs_data for name in names) and not os.environ.get("ASKWHEN_DATA"):
            parser.error("ASKWHEN_DATA must name the folder of the data sets, or --streams some that need none")
        able = []
        for name in who:
            if missing(methods[name]):
                print(f"{name} is left out: {', '.join(missing(methods[name]))} is not installed", file=sys.stderr)
            else:
                able.append(methods[name])
        compute(able, [sources[name] for name in names], store, options)
    cells = {key: cell for key, cell in store.all() if key.stream in names and key.method in who}
    if not cells:
        parser.error(f"{store.folder} has no cells of these")
    if options.record:
        record(cells, {name: methods[name] for name in who}, {name: sources[name] for name in names}, options)
        return
    shown = tables_of(cells, {name: methods[name] for name in who}, {name: sources[name] for name in names})
    for title, table in shown.items():
        print(f"\n**{title}**\n\n{markdown(table)}")


if __name__ == "__main__":
    main()
