"""``askwhen compare``: algorithms side by side, at the same shares of labels."""

from __future__ import annotations

from typing import Any

import click

from ..columns import show_columns
from ..command import Output, command, command_line
from ..options import (
    ADVICE,
    BASELINES,
    CLASSES,
    CLUSTER,
    RAW,
    SEED,
    SETTINGS,
    STREAMS,
    WHAT_COLUMNS,
    Labels,
    Listed,
    reading,
    several_algorithms,
)
from ..terminal.progress import say_if_compiling


@command
@click.argument("file")
@several_algorithms("default,random,lasec-ss,sop-ss,perceptron-ss,bbq")
@click.option(
    "--labels",
    type=Listed(Labels(below=True), "labels,labels,..."),
    default="5%,10%,20%",
    show_default=True,
    help="Shares or numbers of labels, separated by commas.",
)
@click.option(
    "--repeats", type=click.IntRange(1), default=20, show_default=True, help="Number of runs of each algorithm."
)
@click.option("--shuffle", is_flag=True, help="Take the rows in another random order in every repeat.")
@click.option("--everything", is_flag=True, help="Also run each learner with all labels, as a baseline.")
@BASELINES
@CLASSES
@ADVICE
@CLUSTER
@SETTINGS
@SEED
@RAW
@reading(STREAMS)
@WHAT_COLUMNS
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report to this HTML file.")
def compare(
    out: Output,
    file: str,
    algorithms: list[str],
    labels: list[float],
    reading: dict[str, Any],
    columns: bool,
    **options: Any,
) -> None:
    """Compare algorithms at the same shares of labels.

    The hyperparameter that sets how many labels an algorithm asks for is found by bisection on the whole file, as in
    the papers; the others have their usual values unless --set changes them (`--set c=300` for all algorithms that have
    a c, `--set lasec-ss.c=300` for one). Runs on all cores. An algorithm that asks for every label is run too, for
    reference, and the table has simple rules as baselines: the most frequent label so far, and the last label that was
    asked for. With --baselines it also has logistic regression and gradient boosting, refitted as labels come, with as
    many labels, asked for at random and by margin: what you would have had otherwise. FILE is as in `askwhen run`.

    \b
    askwhen compare elec2 --labels 1%,5%,10% --report elec2.html
    """
    if columns:
        show_columns(out, file, reading, options["advice"])
        return
    from ...workflows import comparing_files
    from ..terminal.observers import CompareTerminal

    say_if_compiling(out)
    chosen = comparing_files.CompareOptions(command=command_line(), **options)
    comparing_files.compare(file, reading, algorithms, labels, chosen, CompareTerminal(out, file, chosen.report))
