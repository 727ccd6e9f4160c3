"""``askwhen serve``: the labelling service."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

from ...errors import InputError
from ..command import Output, command
from ..serve_options import configured, effective, ignored, option, roles

DB = option("db")


@command
@configured
@click.option(
    "--demo",
    is_flag=True,
    help="Run a demonstration in a new directory: a stream that drifts and three simulated annotators.",
)
def serve(out: Output, config: str | None, show_config: bool, demo: bool, **given: Any) -> None:
    """Run the labelling service.

    Programs send instances and get predictions at once; people answer the few questions worth asking. Everything that
    is accepted is on the disk before the reply. The page for annotators is at /; the API is documented at /docs.

    Every option may also be given as an environment variable (--largest-body: ASKWHEN_LARGEST_BODY) or as a key of a
    TOML file (largest-body). The command line takes precedence, then the environment, then the file.

    \b
    askwhen serve --demo
    askwhen serve --db mails.db
    askwhen token make admin --role admin --db mails.db
    """
    context = click.get_current_context()
    for sentence in ignored():
        out.say(sentence)
    if (given["tls_certificate"] is None) != (given["tls_key"] is None):
        raise click.UsageError("--tls-certificate and --tls-key go together.")
    if demo and context.get_parameter_source("db") is ParameterSource.COMMANDLINE:
        raise click.UsageError("--demo has a database of its own, in a new directory; leave --db out.")
    given["roles"] = roles(context)
    if show_config:
        _show(out, effective(context) | _of_people(given["roles"], config))
    from ...service.process.demo import in_a_new_folder, run_demo
    from ...service.process.server import Serving, check, serve

    if show_config:
        try:
            check(Serving.of(given))
        except InputError as error:
            out.say(f"Serving with these options is refused: {error.sentence}")
        return
    serving = Serving.of(given | {"db": in_a_new_folder()} if demo else given)
    if demo:
        where = f"http://{serving.host}:{serving.port}{serving.options.root}/"
        out.say(f"The demo is at {where} and its API at {where}docs ; its database is {serving.db}")
    serve(serving, (lambda coordinator: run_demo(coordinator, out.say)) if demo else None)


def _of_people(roles: dict[str, Any], config: str | None) -> dict[str, dict[str, Any]]:
    """The roles of people whom a proxy signs in."""
    return {
        f"roles.{kind}.{name}": {"value": line, "from": config}
        for kind, lines in roles.items()
        for name, line in lines.items()
    }


def _show(out: Output, facts: dict[str, dict[str, Any]]) -> None:
    from rich.table import Table

    table = Table("option", "value", "from", box=None)
    for name, found in facts.items():
        table.add_row(name, "" if found["value"] is None else str(found["value"]), found["from"])
    out.result(facts, table)
