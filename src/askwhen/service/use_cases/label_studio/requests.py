"""What is read of the requests that Label Studio sends, and of exports; unknown fields are passed over."""

from __future__ import annotations

from typing import Any

import msgspec


class Predict(msgspec.Struct):
    """What is read of a request for predictions."""

    tasks: list[dict[str, Any]]
    label_config: str
    project: str | int = ""


class Setup(msgspec.Struct):
    """What is read of a project that wants to be set up."""

    schema: str


class Project(msgspec.Struct):
    """What is read of a project."""

    id: int
    label_config: str = ""


class Said(msgspec.Struct):
    """What is read of a webhook; the rest depends on the action."""

    action: str
    project: Project | None = None
    annotation: Any = None
    annotations: Any = None
    task: Any = None


class Train(msgspec.Struct):
    """What is read of a request to train."""

    annotations: list[dict[str, Any]] = []
    label_config: str = ""
    project: Any = ""


class Exported(msgspec.Struct, forbid_unknown_fields=True):
    """Tasks with all their annotations as they were ``at`` a time of Label Studio's clock: what is missing is gone.

    Without ``at``, nothing is taken for gone. ``play`` makes instances of tasks that nobody has annotated, too. Without
    a ``label_config`` the ``field`` of the data is predicted on.
    """

    project: str | int
    tasks: list[dict[str, Any]]
    label_config: str = ""
    field: str = "text"
    at: float | None = None
    play: bool = False


class Sync(msgspec.Struct):
    """What came of it: tasks, new instances, annotations seen, those that were new, those that are gone, refusals."""

    tasks: int = 0
    instances: int = 0
    annotations: int = 0
    new: int = 0
    gone: int = 0
    refused: list[str] = []
