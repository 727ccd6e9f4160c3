"""``askwhen predict``: what a saved sampler says of instances without labels."""

from __future__ import annotations

import contextlib
import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from ..command import Out, command, said
from ..options import STREAMS, reading
from ..terminal import show
from ..terminal.progress import progress_bar, say_if_compiling

_KINDS = (".csv", ".ndjson", ".jsonl", ".parquet")
_READING = {name: option for name, option in STREAMS.items() if name != "positive"}


@command
@click.argument("model", type=click.Path(exists=True, dir_okay=False))
@click.argument("file")
@click.option(
    "--out",
    "target",
    type=click.Path(dir_okay=False),
    help="Write to this file, .csv, .ndjson or .parquet; by default lines of CSV on the standard output.",
)
@click.option("--rest", is_flag=True, help="Pass over as many instances as the sampler has played.")
@click.option("--skip", type=click.IntRange(0), metavar="N", help="Pass over N instances.")
@reading(_READING)
def predict(
    out: Out, model: str, file: str, target: str | None, rest: bool, skip: int | None, reading: dict[str, Any]
) -> None:
    """Predict the labels of a file with a saved sampler.

    MODEL is what `askwhen run --model`, `askwhen label` or `save` in Python wrote; FILE is as in `askwhen run`, and
    needs no labels. Columns are found as in the file that the sampler has learnt from: what was said of that one need
    not be said again. Every row gets a label, its margin, and how likely the label is by those that were asked for;
    nothing is learnt. With --json lines of JSON are printed.

    \b
    askwhen label mails.csv --text body --classes ham,spam
    askwhen predict mails.askwhen mails.csv --out labelled.csv
    """
    from ...workflows import notes
    from ...workflows.outputs import check_outputs
    from ...workflows.predict import load, predictions
    from ...workflows.source import Source, of_file
    from ...workflows.stopping import Stopping

    if rest and skip is not None:
        raise click.UsageError("give either --rest or --skip.")
    if target is not None and Path(target).suffix.lower() not in _KINDS:
        raise click.UsageError(f"--out takes a .csv, .ndjson or .parquet file, got {target}.")
    check_outputs(file, out=target)
    if target is not None and Path(target).exists() and Path(target).samefile(model):
        raise aw.InputError(f"--out {target} is the model; give it a name of its own.")
    sampler, note = load(model), notes.read(model)
    read_as = notes.read_as(note, reading, said(), file) | {"positive": None}
    if "label" not in said() and read_as["label"] is not None:  # whoever predicts need not have it
        read_as |= {"label": None}
    source = Source(file, read_as, "none")
    source.expect(note.names if note.is_known else sampler.feature_names, note.places)
    first = skip if skip is not None else sampler.round + note.offset if rest else 0
    counts: dict[str, int] = {}
    rows, stopping = 0, Stopping(out.say)
    say_if_compiling(out)
    with (
        stopping.listening(),
        _writer(out, target) as write,
        progress_bar(out, source.name, source.size() if target else None, "rows") as move,
    ):
        for chunk in source.chunks(first, move):
            with of_file(source.name, first + rows):
                found = predictions(sampler, chunk[0], note.words)
            n = len(next(iter(found.values())))
            write({"row": range(first + rows, first + rows + n), **found})
            rows += n
            move(rows=f"{rows:,} rows")
            for label in found.get("label", ()):
                counts[str(label)] = counts.get(str(label), 0) + 1
            if stopping.stopped or out.unheard:
                break
    if stopping.stopped:
        raise KeyboardInterrupt
    if target is not None:
        facts = {"rows": rows, "first_row": first, "labels": counts, "out": target}
        told = ", ".join(f"{count:,} {label}" for label, count in counts.items())
        shown = {"rows": f"{rows:,}", "labels": told, "predictions in": target}
        out.result(facts, show.facts_table({name: value for name, value in shown.items() if value}))


@contextlib.contextmanager
def _writer(out: Out, target: str | None) -> Iterator[Any]:
    """A function that writes columns: to the standard output as they come, or to a file that is there at the end."""
    from ...system.whole_file import whole_file

    if target is None:
        lines = _Lines(out.json)
        yield lambda columns: out.print(lines.text(columns).removesuffix("\n"))
        return
    try:
        with whole_file(target) as file:
            if target.lower().endswith(".parquet"):
                with _parquet(file) as write:
                    yield write
            else:
                lines = _Lines(not target.lower().endswith(".csv"))
                yield lambda columns: file.write(lines.text(columns).encode("utf-8", "surrogateescape"))
    except OSError as error:
        raise aw.InputError(f"cannot write {target}: {error.strerror or error}.") from error


class _Lines:
    """Columns as lines of CSV, with their names first, or of JSON."""

    def __init__(self, as_json: bool) -> None:
        self._json = as_json
        self._begun = False

    def text(self, columns: dict[str, Any]) -> str:
        plain = {name: values.tolist() if hasattr(values, "tolist") else values for name, values in columns.items()}
        rows = zip(*plain.values(), strict=True)
        if self._json:
            return "".join(f"{json.dumps(dict(zip(plain, row, strict=True)))}\n" for row in rows)
        text = io.StringIO(newline="")
        writer = csv.writer(text, lineterminator="\n")
        if not self._begun:
            writer.writerow(plain)
            self._begun = True
        writer.writerows(rows)
        return text.getvalue()


@contextlib.contextmanager
def _parquet(file: Any) -> Iterator[Any]:
    from ...trace.trace import needed

    arrow, parquet = needed("predict", "pyarrow"), needed("predict", "pyarrow.parquet")
    writers: list[Any] = []

    def write(columns: dict[str, Any]) -> None:
        table = arrow.table({name: arrow.array(list(values)) for name, values in columns.items()})
        if not writers:
            writers.append(parquet.ParquetWriter(file, table.schema))
        writers[0].write_table(table)

    try:
        yield write
    finally:
        for writer in writers:
            writer.close()
