"""``askwhen feed``: the instances of a log into a stream of the labelling service."""

from __future__ import annotations

from typing import Any

import click

from ..command import Output, command
from ..terminal.progress import progress_bar


@command
@click.argument("source")
@click.argument("stream")
@click.option("--store", required=True, help="Where positions are stored: a directory, or postgresql://...")
@click.option("--decisions", metavar="LOG", help="Where the service's decisions are written: a log as SOURCE.")
@click.option("--answers", metavar="LOG", help="Where people's answers are written.")
@click.option("--delivered", metavar="LOG", help="Where the labels are written that a stream with a promise delivers.")
@click.option("--token", envvar="ASKWHEN_TOKEN", help="Token of a producer.  [env: ASKWHEN_TOKEN]")
@click.option(
    "--batch",
    type=click.IntRange(1),
    default=2_000,
    show_default=True,
    help="Largest number of instances between two commits.",
)
@click.option(
    "--from",
    "start",
    metavar="WHERE",
    help="Where to begin in Kafka and NATS: earliest, latest, or a time as in 2026-01-31T12:00:00Z.",
)
@click.option("--follow", is_flag=True, help="Wait for more instances at the end, until interrupted.")
def feed(out: Output, source: str, stream: str, store: str, **options: Any) -> None:
    """Send the instances of a log to a stream of the service.

    SOURCE is a directory of NDJSON files, a topic, kafka://host:9092/mails, a stream of NATS, nats://host:4222/MAILS,
    or streams of Redis, redis://host:6379/0?streams=mails:. Each event is an instance as the service takes it,
    {"x": {"text": "win a prize"}, "id": "17"}. STREAM is http://host:8300/streams/NAME, and what comes of the instances
    is written to logs. It may be killed at any moment: run again, it continues, and nothing is decided or written
    twice.

    \b
    askwhen feed mails/ http://127.0.0.1:8300/streams/mails --store fed/ --decisions decisions/
    askwhen feed kafka://host:9092/mails http://127.0.0.1:8300/streams/mails --store fed/ --follow \\
      --decisions kafka://host:9092/decisions --answers kafka://host:9092/answers
    """
    from ... import keyed as keyed_streams

    with progress_bar(out, "instances", None, "count", "last") as move:
        found = keyed_streams.feed(
            source,
            stream,
            store,
            watch=lambda done, partition: move(done, count=f"{done:,}", last=partition),
            **options,
        )
    facts = {**found._asdict(), "partitions": len(found.partitions), "store": store}
    shown = [f"{name:>12}  {value:,}" for name, value in facts.items() if isinstance(value, int)]
    out.result(facts, *shown, f"       store  {store}")
