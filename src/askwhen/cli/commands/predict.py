"""``askwhen predict``: predict rows without labels with a saved sampler."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..columns import show_columns_of_model
from ..command import Output, command, given_options
from ..options import ADVICE, STREAMS, WHAT_COLUMNS, reading
from ..terminal.tables import facts_table

_READING = {name: option for name, option in STREAMS.items() if name not in ("positive", "fold_labels")}


@command
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("file")
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False),
    help="Write to this .csv, .ndjson or .parquet file; by default CSV is printed to the standard output.",
)
@click.option("--rest", is_flag=True, help="Predict only the rows after those that the sampler has seen.")
@click.option("--skip", type=click.IntRange(0), metavar="N", help="Skip the first N rows.")
@ADVICE
@reading(_READING)
@WHAT_COLUMNS
def predict(
    out: Output,
    model: str,
    file: str,
    target: str | None,
    rest: bool,
    skip: int | None,
    advice: tuple[Any, ...],
    reading: dict[str, Any],
    columns: bool,
) -> None:
    """Predict the labels of a file with a saved sampler.

    MODEL is what `askwhen run --model`, `askwhen label` or `save` in Python wrote; FILE is as in `askwhen run`, and
    needs no labels. The file is read with the options with which the sampler was trained, which need not be
    given again. Every row gets a label, its margin, and the probability of the label, estimated from the labels that
    were asked for; nothing is learnt. Advice is taken from the columns that it came from in training, unless --advice
    names others. --json prints lines of JSON.

    \b
    askwhen label mails.csv --classes ham,spam
    askwhen predict mails.askwhen mails.csv --out labelled.csv
    """
    if columns:
        show_columns_of_model(out, model)
        return
    from ...workflows.predict_file import PredictOptions, predict_file
    from ...workflows.prediction_files import SUFFIXES
    from ..terminal.observers import PredictTerminal

    if rest and skip is not None:
        raise click.UsageError("give either --rest or --skip.")
    if target is not None and Path(target).suffix.lower() not in SUFFIXES:
        raise click.UsageError(f"--out takes a .csv, .ndjson or .parquet file, got {target}.")
    chosen = PredictOptions(target, rest, skip, given_options(), advice)
    found = predict_file(model, file, reading, chosen, PredictTerminal(out))
    if target is not None:
        facts = {"rows": found.rows, "first_row": found.first, "labels": dict(found.labels), "out": target}
        counts = ", ".join(f"{count:,} {label}" for label, count in found.labels.items())
        shown = {"rows": f"{found.rows:,}", "labels": counts, "predictions in": target}
        out.result(facts, facts_table({name: value for name, value in shown.items() if value}))
