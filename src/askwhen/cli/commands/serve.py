"""``askwhen serve``: the labelling service."""

from __future__ import annotations

import click
from click.core import ParameterSource

from ..command import Out, command

DB = click.option(
    "--db",
    default="askwhen.db",
    show_default=True,
    metavar="FILE|URL",
    help="An SQLite file, made where there is none, or postgresql://...",
)


@command
@DB
@click.option("--host", default="127.0.0.1", show_default=True, help="Where to listen.")
@click.option("--port", default=8300, show_default=True, type=click.IntRange(0, 65535))
@click.option("--tls-certificate", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--tls-key", metavar="FILE", type=click.Path(exists=True, dir_okay=False))
@click.option("--behind-proxy", is_flag=True, help="A proxy in front speaks TLS, and only it reaches this address.")
@click.option("--tokens", is_flag=True, help="Ask for tokens even before the first one is made.")
@click.option(
    "--largest-body", default=1 << 20, show_default=True, type=click.IntRange(1), help="In bytes; also of a line."
)
@click.option(
    "--requests",
    default=20_000.0,
    show_default=True,
    type=click.FloatRange(0.1, 1e9),
    help="Each token may send so many a second.",
)
@click.option("--from-snapshots", is_flag=True, help="Go on from snapshots, without playing rounds again.")
@click.option("--demo", is_flag=True, help="A stream that drifts and three simulated annotators, in a new folder.")
def serve(
    out: Out,
    db: str,
    host: str,
    port: int,
    tls_certificate: str | None,
    tls_key: str | None,
    behind_proxy: bool,
    tokens: bool,
    largest_body: int,
    requests: float,
    from_snapshots: bool,
    demo: bool,
) -> None:
    """Serve streams: instances in, questions out.

    Programs send instances and get predictions at once; people answer the few questions worth asking. Everything that
    is accepted is on the disk before the reply. The page for people is at /; /docs lists what the API can do.

    \b
    askwhen serve --demo
    askwhen serve --db mails.db
    askwhen token make admin --role admin --db mails.db
    """
    from ...service.api.options import Options
    from ...service.demo import in_a_new_folder, run_demo
    from ...service.server import Serving, serve

    if demo and click.get_current_context().get_parameter_source("db") is not ParameterSource.DEFAULT:
        raise click.UsageError("--demo has a database of its own, in a new folder; leave --db out.")
    if (tls_certificate is None) != (tls_key is None):
        raise click.UsageError("--tls-certificate and --tls-key go together.")
    options = Options(tokens=tokens, largest_body=largest_body, largest_line=largest_body, requests=requests)
    serving = Serving(
        in_a_new_folder() if demo else db,
        host,
        port,
        tls_certificate,
        tls_key,
        behind_proxy,
        not from_snapshots,
        options,
    )
    if demo:
        out.say(f"The demo is at http://{host}:{port}/, its API at /docs; its database is {serving.db}.")
    serve(serving, (lambda desk: run_demo(desk, out.say)) if demo else None)
