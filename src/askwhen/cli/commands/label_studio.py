"""``askwhen label-studio``: projects and files of Label Studio, and a stream of the service."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ...errors import InputError
from ..command import Output, command
from ..service_options import client_of

SERVER = click.option(
    "--server", required=True, metavar="URL", help="The service; its token is in the environment as ASKWHEN_TOKEN."
)
STREAM = click.option("--stream", required=True, metavar="NAME", help="A stream of the service.")
CONFIG = click.option(
    "--config", metavar="FILE", help="The labelling config, as XML: its names and its field are taken."
)
FIELD = click.option("--field", default="text", show_default=True, help="Without a config, the field that people see.")


@click.group()
def label_studio() -> None:
    """Bring labels from Label Studio, and tasks to it.

    Label Studio itself calls the service at /label-studio/STREAM, as an ML backend.
    """


@command
@SERVER
@STREAM
@click.option(
    "--studio", required=True, metavar="URL", help="The Label Studio server; its key is in LABEL_STUDIO_API_KEY."
)
@click.option("--project", required=True, type=click.IntRange(min=1), help="The number of the project.")
def sync(out: Output, server: str, stream: str, studio: str, project: int) -> None:
    """Tell what webhooks missed of a project.

    Reads all tasks and annotations of the project; what is new, changed or gone is told. Doing it twice is doing it
    once.

    \b
    askwhen label-studio sync --server http://127.0.0.1:8300 --stream mails --studio http://127.0.0.1:8080 --project 7
    """
    from ...service.use_cases.label_studio.client import Studio
    from ...service.use_cases.label_studio.client import sync as tell

    key = os.environ.get("LABEL_STUDIO_API_KEY")
    if not key:
        raise InputError("put an access token of Label Studio into LABEL_STUDIO_API_KEY.", owner="label-studio")
    other = Studio(studio, key)
    try:
        with client_of(server) as client:
            _said(out, tell(client, stream, other, project))
    finally:
        other.close()


def _said(out: Output, total: dict[str, Any]) -> None:
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
@click.option("--project", default="file", show_default=True, help="The project that the tasks are of, for their ids.")
@CONFIG
@FIELD
def send(out: Output, file: str, server: str, stream: str, project: str, config: str | None, field: str) -> None:
    """Make instances of the tasks in FILE, and tell their annotations.

    FILE is what Label Studio exports as JSON, or what it imports. Doing it twice is doing it once.

    \b
    askwhen label-studio import project-7.json --server http://127.0.0.1:8300 --stream mails --project 7
    """
    from ...service.use_cases.label_studio.client import send_file

    with client_of(server) as client:
        _said(out, send_file(client, stream, file, project, _config(config), field))


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
