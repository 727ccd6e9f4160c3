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
@click.option("--store", required=True, help="Where samplers and offsets are kept: a folder, or postgresql://...")
@click.option(
    "--out", "target", help="Where decisions go: a folder, or redis://...; by default they stay in the store."
)
@ALGORITHM("--algorithm", "-a", type=AlgorithmName(), default="perceptron-ss", show_default=True, help="For every key.")
@SETTINGS
@click.option("--labels", type=Labels(below=True), help="The share of labels to ask for, of each key.  [default: 10%]")
@CLASSES
@SEED
@RAW
@click.option("--features", type=click.IntRange(1), metavar="N", help="How many features there are.")
@click.option("--sparse", is_flag=True, help="Instances are objects of numbers by place; needs --features.")
@click.option("--workers", type=click.IntRange(0), default=0, show_default=True, help="Processes; 0 works in this one.")
@CLUSTER
@click.option(
    "--cache", type=click.IntRange(1), default=10_000, show_default=True, help="Samplers in a worker's memory."
)
@click.option(
    "--batch", type=click.IntRange(1), default=100_000, show_default=True, help="Events in a commit, at most."
)
@click.option(
    "--questions", metavar="URL", help="A stream of the labelling service, http://host:8300/streams/NAME; needs --out."
)
@click.option("--token", envvar="ASKWHEN_TOKEN", help="Of a producer, for that service.  [env: ASKWHEN_TOKEN]")
@click.option("--follow", is_flag=True, help="Wait for more events at the end, until interrupted.")
def keyed(
    out: Output,
    source: str,
    store: str,
    target: str | None,
    algorithm: str,
    settings: tuple[tuple[str, Any], ...],
    labels: float | None,
    classes: list[str] | None,
    seed: int,
    raw: bool,
    features: int | None,
    sparse: bool,
    workers: int,
    cluster: str | None,
    cache: int,
    batch: int,
    questions: str | None,
    token: str | None,
    follow: bool,
) -> None:
    """Play a log of many keys, with a sampler for each.

    SOURCE is a folder: each NDJSON or Parquet file in it is a partition, and so is each folder of such files. Or it
    says which streams of Redis, as in redis://127.0.0.1:6379/0?streams=clicks: for those whose names begin so. An event
    is an instance, {"key": "ann", "x": [0.5, 1]}, or the answer to a question, {"key": "ann", "round": 0, "label": 1}.
    Killed at any moment and run again, it goes on, and ends as if it had never been killed.

    \b
    askwhen keyed events/ --store store/ --out decisions/ --workers 2
    askwhen keyed events/ --store postgresql://host/db --labels 5% --follow
    """
    from ... import keyed as room
    from ...algorithms import algorithm as algorithm_of
    from ...prepare import Prepare

    chosen, letters = algorithm_of(algorithm), dict(settings)
    share = 0.1 if labels is None and chosen.scale is not None and chosen.scale not in letters else labels
    if share is not None and share > 1.0:
        raise InputError("--labels must be a share here, as in 10%.", owner="keyed")
    sampler = chosen.build(letters, share=share, prepare=None if raw else Prepare(), seed=seed, classes=classes)
    say_if_compiling(out)
    with progress_bar(out, "events", None, "count", "last") as move:
        found = room.run(
            source,
            store,
            sampler,
            out=target,
            workers=workers,
            cluster=cluster,
            features=features,
            sparse=sparse,
            cache=cache,
            batch=batch,
            follow=follow,
            questions=questions,
            token=token,
            watch=lambda done, partition: move(done, count=f"{done:,}", last=partition),
        )
    facts = {**found.counts._asdict(), "partitions": len(found.partitions), "deaths": found.deaths, "store": store}
    shown = [f"{name:>12}  {value:,}" for name, value in facts.items() if isinstance(value, int)]
    out.result(facts, *shown, f"       store  {store}")
