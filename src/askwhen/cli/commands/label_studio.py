"""``askwhen label-studio``: exchange tasks and labels between Label Studio and a stream of the service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ...errors import InputError
from ..command import Output, command
from ..service_options import client_of

SERVER = click.option(
    "--server", required=True, metavar="URL", help="Address of the service; the token is taken from ASKWHEN_TOKEN."
)
STREAM = click.option("--stream", required=True, metavar="NAME", help="Name of the stream.")
CONFIG = click.option(
    "--config",
    metavar="FILE",
    help="Labelling config of the project, as an XML file, from which the names and the field are taken.",
)
FIELD = click.option(
    "--field", default="text", show_default=True, help="Field of a task that annotators see, if there is no --config."
)


@click.group()
def label_studio() -> None:
    """Import labels from Label Studio, and export tasks to it.

    Label Studio itself calls the service at /label-studio/STREAM, as an ML backend.
    """


@command
@SERVER
@STREAM
@click.option(
    "--studio",
    required=True,
    metavar="URL",
    help="Address of Label Studio; its access token is taken from LABEL_STUDIO_API_KEY.",
)
@click.option("--project", required=True, type=click.IntRange(min=1), help="Number of the project.")
def sync(out: Output, server: str, stream: str, studio: str, project: int) -> None:
    """Import annotations of a project that webhooks missed.

    Reads all tasks and annotations of the project, and reports new, changed and removed ones to the service. It is safe
    to run it twice.

    \b
    askwhen label-studio sync --server http://127.0.0.1:8300 --stream mails --studio http://127.0.0.1:8080 --project 7
    """
    from ...service.use_cases.label_studio.client import Studio
    from ...service.use_cases.label_studio.client import sync as sync_project

    key = os.environ.get("LABEL_STUDIO_API_KEY")
    if not key:
        raise InputError("put an access token of Label Studio into LABEL_STUDIO_API_KEY.", owner="label-studio")
    other = Studio(studio, key)
    try:
        with client_of(server) as client:
            _print_counts(out, sync_project(client, stream, other, project))
    finally:
        other.close()


def _print_counts(out: Output, total: dict[str, Any]) -> None:
    for sentence in total.get("refused", [])[:20]:
        out.say(f"Refused: {sentence}")
    total = {name: total.get(name, 0) for name in ("tasks", "instances", "annotations", "new", "gone")} | {
        "refused": len(total.get("refused", []))
    }
    out.result(
        total,
        f"{total['tasks']:,} tasks, {total['instances']:,} of them new instances; {total['annotations']:,} "
        f"annotations, {total['new']:,} new or changed; {total['gone']:,} gone; {total['refused']:,} refused.",
    )


@command
@click.argument("file")
@SERVER
@STREAM
@click.option(
    "--project", default="file", show_default=True, help="Project of the tasks, which becomes a part of their ids."
)
@CONFIG
@FIELD
def send(out: Output, file: str, server: str, stream: str, project: str, config: str | None, field: str) -> None:
    """Import the tasks in FILE as instances, and their annotations as labels.

    FILE is JSON as Label Studio exports or imports it. It is safe to run it twice.

    \b
    askwhen label-studio import project-7.json --server http://127.0.0.1:8300 --stream mails --project 7
    """
    from ...service.use_cases.label_studio.client import send_file

    with client_of(server) as client:
        _print_counts(out, send_file(client, stream, file, project, _config(config), field))


def _config(path: str | None) -> str:
    try:
        return "" if path is None else Path(path).read_text("utf-8")
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read: {error}.", owner="label-studio") from error


@command
@click.argument("file")
@SERVER
@STREAM
@CONFIG
@FIELD
def get(out: Output, file: str, server: str, stream: str, config: str | None, field: str) -> None:
    """Write all instances of a stream to FILE, as tasks that Label Studio imports.

    With predictions, and the labels that people gave as annotations.

    \b
    askwhen label-studio export tasks.json --server http://127.0.0.1:8300 --stream mails --config config.xml
    """
    from ...service.use_cases.label_studio.client import fetch
    from ...service.use_cases.label_studio.label_config import read

    names = {"field": field}
    if config is not None:
        found = read(_config(config))
        names = {"from_name": found.from_name, "to_name": found.to_name, "field": found.field}
    with client_of(server) as client:
        size = fetch(client, stream, file, names)
    out.result({"file": file, "bytes": size}, f"{file} has {size:,} bytes.")


for name, each in (("sync", sync), ("import", send), ("export", get)):
    each.name = name
    label_studio.add_command(each)
