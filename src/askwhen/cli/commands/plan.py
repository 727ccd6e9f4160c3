"""``askwhen plan``: how many labels a promise of few errors takes, tried on a file that has labels."""

from __future__ import annotations

from typing import Any

import click

from ..columns import show_columns
from ..command import Output, command, command_line
from ..options import (
    ADVICE,
    ALGORITHM,
    CLASSES,
    CLUSTER,
    RAW,
    SEED,
    SETTINGS,
    STREAMS,
    WHAT_COLUMNS,
    WITHIN,
    AlgorithmName,
    Errors,
    Labels,
    Listed,
    reading,
)
from ..terminal.progress import say_if_compiling


@command
@click.argument("file")
@click.option(
    "--errors",
    type=Listed(Errors(), "share,share,..."),
    default="1%,2%,5%,10%,20%",
    show_default=True,
    help="Shares of errors to promise, separated by commas.",
)
@click.option(
    "--labels",
    type=Labels(),
    help="The most that may be asked for, a share or a number; what can be neither asked about nor certified is then "
    "withheld.",
)
@WITHIN
@ALGORITHM(
    "--algorithm",
    "-a",
    type=AlgorithmName(),
    default="default",
    show_default=True,
    help="Whose learner is taken; see `askwhen algorithms`.",
)
@SETTINGS
@click.option("--repeats", type=click.IntRange(1), default=3, show_default=True, help="Number of runs of each promise.")
@click.option("--shuffle", is_flag=True, help="Take the rows in another random order in every repeat.")
@CLASSES
@ADVICE
@CLUSTER
@SEED
@RAW
@reading(STREAMS)
@WHAT_COLUMNS
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report to this HTML file.")
@click.option("--picture", type=click.Path(dir_okay=False), help="Write the picture to this SVG file.")
def plan(
    out: Output,
    file: str,
    settings: tuple[tuple[str, Any], ...],
    reading: dict[str, Any],
    columns: bool,
    **options: Any,
) -> None:
    """See how many labels a promise of few errors takes.

    FILE has all labels. For each share of errors it is played as a pile: the rule asks as much as it needs so that at
    any time, with 95 % confidence, at most this share of the delivered labels is wrong, and every row gets a label, the
    one of the file where it was asked for and a prediction elsewhere. Of questions, errors and coverage two can be
    fixed: with --labels, the rest is withheld. FILE is as in `askwhen run`.

    \b
    askwhen plan old-mails.csv --label spam --errors 2%,5%,10%
    """
    if columns:
        show_columns(out, file, reading, options["advice"])
        return
    from ...workflows.planning import PlanOptions
    from ...workflows.planning import plan as plan_file
    from ..terminal.observers import PlanTerminal

    say_if_compiling(out)
    chosen = PlanOptions(hyperparameters=dict(settings), command=command_line(), **options)
    plan_file(file, reading, chosen, PlanTerminal(out, file, chosen))
