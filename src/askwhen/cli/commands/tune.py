"""``askwhen tune``: find hyperparameters on the first rows of a file."""

from __future__ import annotations

import shlex
from typing import Any

import click

import askwhen as aw

from ..columns import show_columns
from ..command import Output, command, command_line
from ..options import CLASSES, CLUSTER, RAW, SEED, SETTINGS, STREAMS, WHAT_COLUMNS, Labels, reading, several_algorithms
from ..terminal import show
from ..terminal.progress import say_if_compiling


@command
@click.argument("file")
@several_algorithms("default,lasec-ss,sop-ss,perceptron-ss,pa-i-active,bbq", "Algorithms to try")
@click.option(
    "--labels",
    type=Labels(below=True),
    default="10%",
    show_default=True,
    metavar="SHARE",
    help="Share or number of labels, as in 10% or 500.",
)
@click.option("--head", type=click.IntRange(10), default=5000, show_default=True, help="Number of rows to try on.")
@click.option(
    "--repeats", type=click.IntRange(1), default=3, show_default=True, help="Number of runs of each candidate."
)
@CLASSES
@CLUSTER
@SETTINGS
@SEED
@RAW
@reading(STREAMS)
@WHAT_COLUMNS
def tune(
    out: Output,
    file: str,
    algorithms: list[str],
    labels: float,
    reading: dict[str, Any],
    columns: bool,
    **options: Any,
) -> None:
    """Pick an algorithm on the first rows of a file.

    Prints the command to use, with the hyperparameters that were most accurate.

    Every row is predicted before its label is learnt (progressive validation). All labels of the first rows count for
    the accuracy; each algorithm learns only from those it asks for. FILE is as in `askwhen run`; hyperparameters that
    are given by --set are not tried.

    \b
    askwhen tune elec2 --labels 5%
    """
    if columns:
        show_columns(out, file, reading)
        return
    from ...workflows import comparing_files
    from ..terminal.observers import TrialTerminal

    say_if_compiling(out)
    chosen = comparing_files.TuneOptions(**options)
    found = comparing_files.tune(file, reading, algorithms, labels, chosen, TrialTerminal(out))
    tried, warning = found.tried, found.order_warning
    command_line = _command(tried[0], labels)
    facts = {
        "head": found.instances,
        "order_warning": warning,
        "command": command_line,
        "best": vars(tried[0]),
        "tried": [vars(each) for each in tried],
    }
    shown = f"[bold]{command_line}[/]" if not out.json else ""
    doubt = [f"[bold]{warning}[/]", ""] if warning else []
    out.result(facts, *doubt, show.tried_table(tried), "", "The most accurate, as a command:", shown)


def _command(best: aw.evaluate.Tried, labels: float) -> str:
    """The command that runs the best candidate over the whole file."""
    chosen = [f"--algorithm {best.algorithm}"]
    if "rate" in best.letters:
        chosen.append(f"--labels {100 * labels:g}%")
    others = {name: value for name, value in best.letters.items() if name != "rate"}
    chosen += [f"--set {shlex.quote(f'{name}={value:.6g}')}" for name, value in others.items()]
    dropped = ("algorithms", "labels", "head", "repeats", "settings", "cluster")
    return command_line(drop=dropped, add=chosen).replace("askwhen tune", "askwhen run", 1)
