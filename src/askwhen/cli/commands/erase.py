"""``askwhen erase``: erase the contents of instances for good."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from ..command import Output, command
from ..service_options import client_of
from .serve import DB
from .token import SERVER


@command
@click.argument("stream")
@click.option("--id", "ids", multiple=True, help="Erase the instance with this id; repeatable.")
@click.option("--round", "rounds", type=int, multiple=True, help="Erase the instance of this round; repeatable.")
@click.option("--subject", help="Erase all instances about the person with this key.")
@click.option(
    "--before",
    type=click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S"]),
    help="Erase all instances that arrived before this date, in UTC.",
)
@DB
@SERVER
def erase(
    out: Output,
    stream: str,
    ids: tuple[str, ...],
    rounds: tuple[int, ...],
    subject: str | None,
    before: datetime | None,
    db: str,
    server: str | None,
) -> None:
    """Erase the contents of instances of STREAM for good.

    Features, text and subject are erased; decisions, labels and the model stay. Open questions about these instances
    are closed. Backups and exports that were made before still contain them.

    \b
    askwhen erase mails --subject customer-17 --db mails.db
    askwhen erase mails --before 2026-01-01 --server http://127.0.0.1:8300
    """
    from ...service.process.server import run_on_database
    from ...service.use_cases import erasing

    moment = None if before is None else before.replace(tzinfo=UTC).timestamp()
    chosen: dict[str, Any] = {"rounds": list(rounds), "ids": list(ids), "subject": subject, "before": moment}
    given = {name: value for name, value in chosen.items() if value not in (None, [])}
    if len(given) != 1:
        raise click.UsageError("say what to erase, by one of --id, --round, --subject and --before.")
    if server is not None:
        with client_of(server) as client:
            facts = client.send("POST", f"/v1/streams/{stream}/erase", json=given)
    else:
        which = erasing.Which(**given)
        gone = run_on_database(
            db, lambda coordinator: erasing.erase(coordinator, coordinator.stream(stream), which, "command line")
        )
        facts = {"erased": gone.erased, "forgotten": gone.forgotten}
    questions = f" {facts['forgotten']:,} open questions were forgotten." if facts["forgotten"] else ""
    out.result(facts, f"The contents of {facts['erased']:,} instances are gone.{questions}")
