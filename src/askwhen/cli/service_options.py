"""Options of commands that can use a labelling service: its address, the token, the stream."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .command import given_options

if TYPE_CHECKING:
    from ..client.sync import Client, Stream

SERVER = click.option(
    "--server",
    metavar="URL",
    help="Use the labelling service at this address; your token is taken from the variable ASKWHEN_TOKEN.",
)
STREAM = click.option("--stream", metavar="NAME", help="The stream of the service; not needed if it has only one.")
ANNOTATOR = click.option(
    "--annotator", metavar="NAME", help="Your name, if the service does not use tokens; a token has a name already."
)


def token() -> str | None:
    """The token of the service, from the environment."""
    return os.environ.get("ASKWHEN_TOKEN", "").strip() or None


def client_of(server: str, retries: int = 2, **options: Any) -> Client:
    """A client of a running service."""
    import askwhen as aw

    if not server.startswith(("http://", "https://")):
        raise click.UsageError(f"--server takes an address such as http://127.0.0.1:8300, got {server!r}.")
    return aw.Client(server, token(), retries, **options)


def stream_of(client: Client, name: str | None) -> Stream:
    """A stream of the service: the one that is named, or the only one that there is."""
    if name is not None:
        return client.stream(name)
    names = [each["name"] for each in client.streams()]
    if not names:
        raise InputError("the service has no stream that you may see; make one first.", owner="stream")
    if len(names) > 1:
        raise InputError(f"the service has several streams; name one as --stream: {', '.join(names)}.", owner="stream")
    return client.stream(names[0])


def refuse_others(goes_with: str, *allowed: str) -> None:
    """Refuse options that have no meaning together with another one."""
    other = next((name for name in given_options() if name not in (*allowed, "json", "quiet", "debug")), None)
    if other is not None:
        raise click.UsageError(f"{_option(other)} does not go with --{goes_with}.")


def refuse_without_server(*names: str) -> None:
    """Refuse options for a service if none is named."""
    other = next((name for name in given_options() if name in names), None)
    if other is not None:
        raise click.UsageError(f"{_option(other)} goes with --server URL.")


def _option(name: str) -> str:
    """An option as it was typed."""
    return next(each.opts[0] for each in click.get_current_context().command.params if each.name == name)
