"""``askwhen reproduce``: repeat the papers' experiments, with published and measured numbers side by side."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ...errors import InputError
from ..command import Output, command
from ..options import CLUSTER
from ..terminal.progress import progress_bar, say_if_compiling

if TYPE_CHECKING:
    from ...experiments import CellRunner, ExperimentResult
    from ...workflows.stopping import Stopping

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
@click.option(
    "--quick", is_flag=True, help="Fewer repeats or instances, so that each experiment takes at most two minutes."
)
@click.option(
    "--out",
    "folder",
    type=click.Path(file_okay=False),
    help="Directory for tables and figures.  [default: reproduction, or reproduction-quick]",
)
@CLUSTER
def reproduce(out: Output, names: tuple[str, ...], quick: bool, folder: str | None, cluster: str | None) -> None:
    """Repeat an experiment of the papers.

    Prints published and measured numbers side by side, and writes the tables and the figures to a directory. NAME is
    lasec-synthetic, lasec-usps, switch-classification, switch-regression, selective-text, pa-svm, online-to-batch, or
    all. In full they take from seconds to ten minutes each on two cores.

    selective-text and pa-svm need data sets in the directory that ASKWHEN_DATA names; lasec-usps takes scikit-learn's
    digits where USPS is absent. Finished parts are stored in the cache directory, so that an interrupted run can
    be continued. Seeds are fixed: two runs print the same numbers, except times.
    """
    from ...experiments import EXPERIMENTS, CellRunner
    from ...workflows.stopping import Stopping

    size = "quick" if quick else "full"
    target = Path(f"reproduction{'-quick' if quick else ''}" if folder is None else folder)
    wanted = list(EXPERIMENTS) if "all" in names else list(dict.fromkeys(names))
    _check_folder(folder, target, wanted)
    say_if_compiling(out)
    facts: dict[str, Any] = {}
    stopping = Stopping(out.say, "what is being played")
    for name in wanted:
        started = time.perf_counter()
        with stopping.listening(), progress_bar(out, name, 1, "last") as move:
            playing = CellRunner(name, size, lambda done, total, last: move(done / total, last=last), cluster)
            stopping.then = playing.stop
            found = _played(EXPERIMENTS[name].run, playing, size, stopping)
        seconds = time.perf_counter() - started
        files = [_written(target, f"{name}-{each}.svg", text) for each, text in found.figures.items()]
        source = EXPERIMENTS[name].source
        facts[name] = {
            "source": source,
            "size": size,
            "tables": [table.facts() for table in found.tables],
            "claims": found.claims,
            "remarks": found.remarks,
            "figures": files,
            "seconds": seconds,
        }
        _written(target, f"{name}.md", _markdown(name, source, found, files))
        if not out.json:
            pictures = f"{len(files)} figures and " if files else ""
            out.result({}, *_shown(name, source, found), f"{pictures}{name}.md: in {target}", "")
    if out.json:
        out.result(facts)


def _played(
    run: Callable[[CellRunner, str], ExperimentResult], playing: CellRunner, size: str, stopping: Stopping
) -> ExperimentResult:
    try:
        return run(playing, size)
    except KeyboardInterrupt:
        if stopping.twice:  # a thread cannot be stopped; what is in the cache is complete
            click.echo("askwhen: interrupted.", err=True)
            os._exit(1)
        raise


def _check_folder(folder: str | None, target: Path, names: list[str]) -> None:
    """Refuse a directory that cannot be written to, before any experiment is run."""
    if folder is not None and not folder.strip():
        raise InputError("--out must name a folder.", owner="reproduce")
    target.mkdir(parents=True, exist_ok=True)
    for name in names:
        if (target / f"{name}.md").is_dir():
            raise InputError(f"{target / name}.md is a folder; --out names another place.", owner="reproduce")
    with tempfile.TemporaryFile(dir=target):
        pass


def _written(folder: Path, name: str, text: str) -> str:
    from ...report.page import write

    write("reproduce", folder / name, text)
    return str(folder / name)


def _markdown(name: str, source: str, found: ExperimentResult, files: list[str]) -> str:
    parts = [f"## {name}\n\n{source}.\n", *(f"{remark}\n" for remark in found.remarks)]
    parts += [table.markdown() for table in found.tables]
    claims = [f"| {claim} | {answer if answer != 'no' else '**no**'} |" for claim, answer in found.claims.items()]
    parts += ["\n".join(["| what should hold | here |", "| --- | --- |", *claims]) + "\n"]
    parts += [f"![{Path(file).stem}]({Path(file).name})\n" for file in files]
    return "\n".join(parts)


def _shown(name: str, source: str, found: ExperimentResult) -> list[Any]:
    from ..terminal.tables import table_of

    shown: list[Any] = [f"[bold]{name}[/]: {source}", *found.remarks, ""]
    for table in found.tables:
        shown += [table.title, table_of(table.columns, table.rows), ""]
    rows = [[claim, answer if answer != "no" else "[bold]no[/]"] for claim, answer in found.claims.items()]
    return [*shown, table_of(["what should hold", "here"], rows), ""]
