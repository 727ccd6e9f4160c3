"""``askwhen replay``: retrain the model of a stream from its corrected log."""

from __future__ import annotations

import click

from ..command import Output, command
from ..service_options import client_of
from .serve import DB
from .token import SERVER


@command
@click.argument("stream")
@DB
@SERVER
def replay(out: Output, stream: str, db: str, server: str | None) -> None:
    """Retrain the model of STREAM from its corrected log.

    A label that was corrected after the model had learnt it stays in the model until this command retrains it.
    Questions and answers stay as they are.

    \b
    askwhen replay mails --db mails.db
    askwhen replay mails --server http://127.0.0.1:8300
    """
    from ...service.process.server import run_on_database
    from ...service.use_cases.replaying import replay as retrain

    if server is not None:
        with client_of(server) as client:
            labels = client.send("POST", f"/v1/streams/{stream}/replay")["labels"]
    else:
        labels = run_on_database(
            db, lambda coordinator: retrain(coordinator, coordinator.stream(stream), "the command line")
        )
    out.result({"stream": stream, "labels": labels}, f"The model of {stream} was retrained from {labels:,} labels.")
