"""``askwhen run``: a labelled stream through an algorithm, one pass, in constant memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import click

from ..columns import show_columns
from ..command import Output, command, command_line, given_options
from ..options import (
    ADVICE,
    ALGORITHM,
    BASELINES,
    CLASSES,
    ERRORS,
    RAW,
    SEED,
    SETTINGS,
    STREAMS,
    WHAT_COLUMNS,
    WITHIN,
    AlgorithmName,
    Costs,
    Labels,
    Seconds,
    reading,
)
from ..service_options import ANNOTATOR, SERVER, STREAM, refuse_others, refuse_without_server

_FOR_SERVICE = ("answer", "annotator", "id_column", "batch", "backlog")
_WITH_SERVER = (
    *("file", "server", "stream", *_FOR_SERVICE, "skip", "advice"),
    *("format", "label", "positive", "text", "drop", "delimiter", "encoding", "n_features", "zero_based"),
)
"""The options that go with a service."""


@command
@click.argument("file")
@ALGORITHM(
    "--algorithm", "-a", type=AlgorithmName(), default="default", show_default=True, help="See `askwhen algorithms`."
)
@SETTINGS
@click.option(
    "--labels",
    type=Labels(),
    help="How many labels the algorithm may ask for: a share, as in 10% or 0.1, or a number, as in 500.",
)
@ERRORS
@WITHIN
@CLASSES
@click.option("--costs", type=Costs(), help="Costs of a false positive and of a false negative, as in 1,20.")
@SEED
@RAW
@reading(STREAMS)
@WHAT_COLUMNS
@ADVICE
@click.option("--shuffle", is_flag=True, help="Take the rows in a random order, which --seed decides.")
@click.option("--everything", is_flag=True, help="Also run the same learner with all labels, as a baseline.")
@BASELINES
@click.option(
    "--window",
    type=click.IntRange(1),
    default=1000,
    show_default=True,
    help="Number of rows in each point of the accuracy curve.",
)
@click.option("--trace", type=click.Path(dir_okay=False), help="Write every decision to this .parquet or .csv file.")
@click.option("--model", type=click.Path(dir_okay=False), help="Save the sampler to this file.")
@click.option(
    "--seed-labels",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Before the first row, learn all labels of this file, which has the same columns as FILE.",
)
@click.option(
    "--resume", type=click.Path(dir_okay=False), help="Continue with a saved sampler, or with its checkpoint."
)
@click.option(
    "--skip",
    type=click.IntRange(0),
    metavar="N",
    help="Skip the first N rows. With --resume and the same FILE, by default the rows already seen.",
)
@click.option(
    "--checkpoint",
    type=Seconds(),
    default="60s",
    show_default=True,
    help="How often to save a checkpoint, so that a crash loses only what came after it: 60s, 5m, 1h, never.",
)
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report to this HTML file.")
@SERVER
@STREAM
@click.option("--answer", is_flag=True, help="Answer the service's questions with the labels of the file.")
@click.option(
    "--backlog/--live",
    default=None,
    help="Let the rows wait, to be decided as fast as people answer, or decide them at once; by default as the stream "
    "is set, with --answer at once.",
)
@ANNOTATOR
@click.option("--id", "id_column", metavar="COLUMN", help="Column of ids for the service; by default id.")
@click.option(
    "--batch",
    type=click.IntRange(1, 10_000),
    help="Largest number of rows in a request to the service; by default 500, with --answer 50.",
)
def run(
    out: Output,
    file: str,
    settings: tuple[tuple[str, Any], ...],
    reading: dict[str, Any],
    columns: bool,
    server: str | None,
    stream: str | None,
    **options: Any,
) -> None:
    """Run an algorithm over a labelled file, and measure it.

    FILE is svmlight, Vowpal Wabbit text, CSV, TSV, Parquet or NDJSON, compressed or not; `-` is the standard input; the
    name of a data set also works, as in `askwhen run elec2`. The file has all labels: the algorithm learns only
    from those it asks for, and the others serve to count its mistakes. Ctrl-C saves the sampler and prints the command
    that continues; after a crash --resume continues from the last checkpoint.

    With --server the rows are sent to a stream of a labelling service, which predicts and asks; --json prints its
    decision about each row on a line, as soon as it comes. Run again, the same command continues, and no row counts
    twice.

    \b
    askwhen run mails.csv --label spam --labels 5% --report mails.html
    askwhen run mails.csv --label spam --errors 5%
    zcat big.svm.gz | askwhen run - --format svmlight --features 1000 --algorithm sel-p --set b=0.5
    tail -f mails.ndjson | askwhen run - --format ndjson --server http://127.0.0.1:8300 --stream mails --json
    """
    from ...workflows.advice_columns import AdviceColumn

    to_service = {name: options.pop(name) for name in _FOR_SERVICE}
    options["advice"] = [AdviceColumn(*each) for each in options["advice"]]
    if server is not None:
        refuse_others("server", *_WITH_SERVER)
        from ..run_on_server import send

        to_service |= {"skip": options["skip"] or 0, "advice": options["advice"]}
        send(out, file, reading, server, stream, to_service)
        return
    refuse_without_server("stream", *_FOR_SERVICE)
    if columns:
        show_columns(out, file, reading, options["advice"])
        return
    from ...workflows.run import RunOptions
    from ...workflows.run import run as run_file
    from ..terminal.observers import OF_MODEL, RunTerminal

    if options["resume"] is not None:
        _refuse(OF_MODEL)
    chosen = RunOptions(hyperparameters=dict(settings), chosen=given_options(), command=command_line(), **options)
    found = run_file(file, reading, chosen, RunTerminal(out, chosen))
    if found.errors or found.stopped:
        raise click.exceptions.Exit(1)


def _refuse(names: Collection[str]) -> None:
    """Refuse options of a new sampler where one is resumed."""
    for name in given_options():
        if name in names:
            option = "--set" if name == "settings" else f"--{name.replace('_', '-')}"
            raise click.UsageError(f"{option} goes with a new sampler; a resumed one keeps what it has.")
