"""``askwhen keyed``: a sampler for each key of a partitioned log."""

from __future__ import annotations

from typing import Any

import click

from ...errors import InputError
from ..command import Output, command
from ..options import ALGORITHM, CLASSES, CLUSTER, RAW, SEED, SETTINGS, AlgorithmName, Labels
from ..terminal.progress import progress_bar, say_if_compiling


@command
@click.argument("source")
@click.option("--store", required=True, help="Where samplers and offsets are stored: a directory, or postgresql://...")
@click.option(
    "--out",
    "target",
    help="Where decisions are written: a directory, redis://..., kafka://host:9092/TOPIC, or nats://host:4222/STREAM; "
    "by default they stay in the store.",
)
@ALGORITHM(
    "--algorithm",
    "-a",
    type=AlgorithmName(),
    default="perceptron-ss",
    show_default=True,
    help="Algorithm of every key.",
)
@SETTINGS
@click.option("--labels", type=Labels(below=True), help="Share of labels to ask for, of each key.  [default: 10%]")
@CLASSES
@SEED
@RAW
@click.option("--features", type=click.IntRange(1), metavar="N", help="Number of features.")
@click.option(
    "--sparse",
    is_flag=True,
    help='Instances are objects with numbers by feature number, as in {"3": 0.5}; needs --features.',
)
@click.option(
    "--schema",
    metavar="FILE",
    help='Instances are objects with named values; FILE says what they are: {"price": "number", "city": "category"}, '
    "or the output of askwhen run TABLE --columns --json.",
)
@click.option(
    "--workers", type=click.IntRange(0), default=0, show_default=True, help="Number of worker processes; 0 for none."
)
@CLUSTER
@click.option(
    "--cache",
    type=click.IntRange(1),
    default=10_000,
    show_default=True,
    help="Number of samplers in a worker's memory.",
)
@click.option(
    "--batch", type=click.IntRange(1), default=100_000, show_default=True, help="Largest number of events in a commit."
)
@click.option(
    "--questions",
    metavar="URL",
    help="Send questions to this stream of the labelling service, http://host:8300/streams/NAME; needs --out.",
)
@click.option("--token", envvar="ASKWHEN_TOKEN", help="Token of a producer, for that service.  [env: ASKWHEN_TOKEN]")
@click.option(
    "--from",
    "start",
    metavar="WHERE",
    help="Where to begin to read a partition of Kafka or NATS that has no stored offset, or whose offset has "
    "expired: earliest, latest, or a time as in 2026-01-31T12:00:00Z.",
)
@click.option("--follow", is_flag=True, help="Wait for more events at the end, until interrupted.")
def keyed(
    out: Output,
    source: str,
    store: str,
    algorithm: str,
    settings: tuple[tuple[str, Any], ...],
    labels: float | None,
    raw: bool,
    schema: str | None,
    **options: Any,
) -> None:
    """Run a sampler for each key of a partitioned log.

    SOURCE is a directory: each NDJSON or Parquet file in it is a partition, and so is each directory of such files. Or
    it names streams of Redis by a prefix, as in redis://127.0.0.1:6379/0?streams=clicks:, a topic of Kafka, as in
    kafka://127.0.0.1:9092/clicks?answers=labels, or a stream of NATS, as in nats://127.0.0.1:4222/CLICKS. An event is
    an instance, {"key": "ann", "x": [0.5, 1]}, or with --schema {"key": "ann", "x": {"price": 2.5}}; or the answer to a
    question, {"key": "ann", "round": 0, "label": 1}. It may be killed at any moment: run again, it continues, with the
    same results as if it had never been killed.

    \b
    askwhen keyed events/ --store store/ --out decisions/ --workers 2
    askwhen keyed events/ --store postgresql://host/db --labels 5% --follow
    askwhen keyed kafka://host:9092/clicks --out kafka://host:9092/decisions --store store/ --follow
    askwhen keyed orders/ --store store/ --algorithm default --schema schema.json
    """
    from ... import keyed as keyed_streams
    from ...algorithms import algorithm as algorithm_of
    from ...data.schema_given import read_schema
    from ...prepare import Prepare

    chosen, hyperparameters = algorithm_of(algorithm), dict(settings)
    share = 0.1 if labels is None and chosen.scale is not None and chosen.scale not in hyperparameters else labels
    if share is not None and share > 1.0:
        raise InputError("--labels must be a share here, as in 10%.", owner="keyed")
    prepare, seed, classes = None if raw else Prepare(), options.pop("seed"), options.pop("classes")
    sampler = chosen.build(hyperparameters, share=share, prepare=prepare, seed=seed, classes=classes)
    if schema is not None:
        sampler.engine.give_schema(read_schema(schema))
    say_if_compiling(out)
    with progress_bar(out, "events", None, "count", "last") as move:
        found = keyed_streams.run(
            source,
            store,
            sampler,
            out=options.pop("target"),
            watch=lambda done, partition: move(done, count=f"{done:,}", last=partition),
            **options,
        )
    facts = {**found.counts._asdict(), "partitions": len(found.partitions), "deaths": found.deaths, "store": store}
    shown = [f"{name:>12}  {value:,}" for name, value in facts.items() if isinstance(value, int)]
    out.result(facts, *shown, f"       store  {store}")
