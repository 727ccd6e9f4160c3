"""``askwhen reproduce``: the papers' experiments, published beside measured."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click

from .command import Out, command
from .source import progress_bar, say_if_compiling

NAMES = (
    "lasec-synthetic",
    "lasec-usps",
    "switch-classification",
    "switch-regression",
    "selective-text",
    "pa-svm",
    "online-to-batch",
)


@command
@click.argument("names", nargs=-1, type=click.Choice([*NAMES, "all"]), required=True, metavar="NAME...")
@click.option("--quick", is_flag=True, help="The same tables with fewer repeats, each in less than two minutes.")
@click.option("--out", "folder", default="reproduction", show_default=True, type=click.Path(file_okay=False))
def reproduce(out: Out, names: tuple[str, ...], quick: bool, folder: str) -> None:
    """Run an experiment of the papers again.

    Prints what was published beside what is measured here, and writes the tables and the figures to a folder. NAME is
    lasec-synthetic, lasec-usps, switch-classification, switch-regression, selective-text, pa-svm, online-to-batch, or
    all. What is finished is kept, so that an interrupted run goes on, and seeds are fixed, so that two runs print the
    same numbers.
    """
    from ..experiments import EXPERIMENTS, Playing

    size = "quick" if quick else "full"
    say_if_compiling(out)
    Path(folder).mkdir(parents=True, exist_ok=True)
    facts: dict[str, Any] = {}
    shown: list[Any] = []
    for name in EXPERIMENTS if "all" in names else names:
        started = time.perf_counter()
        with progress_bar(out, name, 1, "last") as move:
            playing = Playing(name, size, lambda done, total, last: move(done / total, last=last))
            found = EXPERIMENTS[name].run(playing, size)
        seconds = time.perf_counter() - started
        files = [_written(folder, f"{name}-{each}.svg", text) for each, text in found.figures.items()]
        facts[name] = {
            "source": EXPERIMENTS[name].source,
            "tables": [vars(table) for table in found.tables],
            "claims": found.claims,
            "remarks": found.remarks,
            "figures": files,
            "seconds": seconds,
        }
        text = _markdown(name, EXPERIMENTS[name].source, found, files)
        _written(folder, f"{name}.md", text)
        shown += [
            *_shown(name, EXPERIMENTS[name].source, found),
            f"{len(files)} figures and {name}.md are in {folder}",
            "",
        ]
    out.result(facts, *shown)


def _written(folder: str, name: str, text: str) -> str:
    path = Path(folder) / name
    path.write_text(text, encoding="utf-8")
    return str(path)


def _markdown(name: str, source: str, found: Any, files: list[str]) -> str:
    parts = [f"## {name}\n\n{source}.\n", *(f"{remark}\n" for remark in found.remarks)]
    parts += [table.markdown() for table in found.tables]
    parts += ["| what the paper says | here |\n| --- | --- |"]
    parts[-1] += (
        "".join(f"\n| {claim} | {'yes' if holds else '**no**'} |" for claim, holds in found.claims.items()) + "\n"
    )
    parts += [f"![{Path(file).stem}]({Path(file).name})\n" for file in files]
    return "\n".join(parts)


def _shown(name: str, source: str, found: Any) -> list[Any]:
    from .show import table_of

    shown: list[Any] = [f"[bold]{name}[/]: {source}", *found.remarks, ""]
    for table in found.tables:
        shown += [table.title, table_of(table.columns, table.rows), ""]
    rows = [[claim, "yes" if holds else "[bold]no[/]"] for claim, holds in found.claims.items()]
    return [*shown, table_of(["what the paper says", "here"], rows), ""]
