"""``askwhen token``: manage the tokens of the service."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from ..command import Output, command
from ..service_options import client_of
from .serve import DB

SERVER = click.option(
    "--server", metavar="URL", help="Address of a running service; the token of an admin is taken from ASKWHEN_TOKEN."
)


@click.group()
def token() -> None:
    """Make, list and revoke tokens of the service.

    Use --db while the service is stopped, or --server while it runs.
    """


@command
@click.argument("name")
@click.option(
    "--role", "roles", multiple=True, required=True, help="Role: producer, annotator, reviewer or admin; repeatable."
)
@click.option(
    "--stream", "streams", multiple=True, help="Stream for which the token is valid, by default all; repeatable."
)
@click.option("--days", type=click.FloatRange(0.001, 36500.0), help="Number of days for which the token is valid.")
@DB
@SERVER
def make(
    out: Output,
    name: str,
    roles: tuple[str, ...],
    streams: tuple[str, ...],
    days: float | None,
    db: str,
    server: str | None,
) -> None:
    """Make a token and print its secret, which is shown only once.

    \b
    askwhen token make ann --role annotator --stream mails --days 90
    """
    from ...service.process.server import run_on_database
    from ...service.use_cases import tokens

    chosen = list(streams) or None
    if server is not None:
        with client_of(server) as client:
            facts = client.send(
                "POST", "/v1/tokens", json={"name": name, "roles": list(roles), "streams": chosen, "days": days}
            )
    else:
        secret, made = run_on_database(
            db, lambda coordinator: tokens.make(coordinator, name, list(roles), chosen, days), make=True
        )
        facts = {"token": made.token, "name": name, "roles": made.roles, "streams": chosen, "secret": secret}
    out.say(f"Token {facts['token']} of {name}; it is shown only now:")
    out.result(facts, facts["secret"])


@command
@DB
@SERVER
def listed(out: Output, db: str, server: str | None) -> None:
    """List the tokens, without their secrets."""
    from ...service.process.server import run_on_database
    from ...service.use_cases.tokens import all_facts

    if server is not None:
        with client_of(server) as client:
            facts = client.send("GET", "/v1/tokens")
    else:
        facts = run_on_database(db, all_facts)
    shown = [_line(each) for each in facts]
    out.result(facts, *(shown or ["There are no tokens: everybody on this machine may do everything."]))


def _line(facts: dict[str, Any]) -> str:
    """A token in one line: what it may do, for which streams, until when."""
    streams, expires = facts.get("streams"), facts.get("expires")
    where = "all streams" if streams is None else ", ".join(streams)
    until = "" if expires is None else f", until {datetime.fromtimestamp(expires, UTC):%Y-%m-%d %H:%M} UTC"
    return f"{facts['token']}  {facts['name']}  {', '.join(facts['roles'])}; {where}{until}"


@command
@click.argument("number")
@DB
@SERVER
def revoke(out: Output, number: str, db: str, server: str | None) -> None:
    """Revoke a token by its number, which `list` shows."""
    from ...service.process.server import run_on_database
    from ...service.use_cases import tokens

    if server is not None:
        with client_of(server) as client:
            client.send("DELETE", f"/v1/tokens/{number}")
    else:
        run_on_database(db, lambda coordinator: tokens.revoke(coordinator, number))
    out.result({"revoked": number}, f"Token {number} is not valid any more.")


for name, each in (("make", make), ("list", listed), ("revoke", revoke)):
    each.name = name
    token.add_command(each)
