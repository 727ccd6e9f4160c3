"""``askwhen replay``: the model of a stream, made again from its corrected log."""

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
    """Make the model of STREAM again from its corrected log.

    A label that was corrected after the model was told stays learnt until then. Questions and answers stay as they are.

    \b
    askwhen replay mails --db mails.db
    askwhen replay mails --server http://127.0.0.1:8300
    """
    from ...service.process.server import at_desk
    from ...service.use_cases.replaying import replay as make_again

    if server is not None:
        with client_of(server) as client:
            labels = client.send("POST", f"/v1/streams/{stream}/replay")["labels"]
    else:
        labels = at_desk(db, lambda desk: make_again(desk, desk.stream(stream), "the command line"))
    out.result({"stream": stream, "labels": labels}, f"The model of {stream} was made again from {labels:,} labels.")
