"""The requests that Label Studio sends, and exports; unknown fields are ignored."""

from __future__ import annotations

from typing import Any

import msgspec


class Predict(msgspec.Struct):
    """A request for predictions."""

    tasks: list[dict[str, Any]]
    label_config: str
    project: str | int = ""


class Setup(msgspec.Struct):
    """A request to set a project up."""

    schema: str


class Project(msgspec.Struct):
    """A project."""

    id: int
    label_config: str = ""


class Said(msgspec.Struct):
    """A webhook; which fields it has depends on the action."""

    action: str
    project: Project | None = None
    annotation: Any = None
    annotations: Any = None
    task: Any = None


class Train(msgspec.Struct):
    """A request to train."""

    annotations: list[dict[str, Any]] = []
    label_config: str = ""
    project: Any = ""


class Exported(msgspec.Struct, forbid_unknown_fields=True):
    """Tasks with all their annotations as of a time ``at`` of Label Studio's clock; missing annotations are deleted.

    Without ``at``, none is considered deleted. ``play`` also makes instances of tasks without annotations. Without a
    ``label_config``, the ``field`` of the data is predicted on.
    """

    project: str | int
    tasks: list[dict[str, Any]]
    label_config: str = ""
    field: str = "text"
    at: float | None = None
    play: bool = False


class Sync(msgspec.Struct):
    """The result: numbers of tasks, new instances, annotations, new and deleted annotations; and refusals."""

    tasks: int = 0
    instances: int = 0
    annotations: int = 0
    new: int = 0
    gone: int = 0
    refused: list[str] = []
