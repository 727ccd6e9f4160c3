"""A client of a Label Studio server; and files of tasks, sent to a stream."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, NamedTuple

import httpx

from ....client.sync import Client
from ....errors import InputError
from ....system.atomic_file import whole_file
from ...errors import ServiceError

PAGE = 100
_SENT = ("id", "result", "was_cancelled", "completed_by", "updated_at", "created_at", "lead_time")
Total = dict[str, Any]


class Page(NamedTuple):
    """Some tasks of a project, and a time of the server's clock before they were read."""

    tasks: list[dict[str, Any]]
    at: float


class Studio:
    """Speaks to a Label Studio server.

    Parameters
    ----------
    url : str
        Its address, as http://localhost:8080.
    key : str
        An access token of a user who sees the project: a personal one, or a legacy one.
    """

    def __init__(self, url: str, key: str) -> None:
        self._http = httpx.Client(base_url=url, timeout=60.0)
        self._key, self._time = key, 0.0
        self._http.headers["Authorization"] = f"Token {key}"
        if key.count(".") == 2:
            self._refresh()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def _refresh(self) -> None:
        """Exchange a personal token for an access token, which lasts a few minutes."""
        reply = self._send("POST", "/api/token/refresh", json={"refresh": self._key})
        self._http.headers["Authorization"] = f"Bearer {reply.get('access', '')}"

    def _send(self, method: str, path: str, again: bool = False, **given: Any) -> Any:
        try:
            response = self._http.request(method, path, **given)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            why = str(error).rstrip(".") or type(error).__name__
            raise ServiceError(f"Label Studio cannot be reached: {why}.", owner="label-studio") from error
        if response.status_code == 401 and again and self._key.count(".") == 2:
            self._refresh()
            return self._send(method, path, **given)
        if response.status_code >= 400:
            raise ServiceError(
                f"Label Studio answered {response.status_code} to {path}: {_detail(response)}", owner="label-studio"
            )
        if "date" in response.headers:
            self._time = parsedate_to_datetime(response.headers["date"]).timestamp()
        try:
            found = response.json()
        except ValueError:
            found = None
        if not isinstance(found, dict):
            raise ServiceError(f"what answers at {path} is not Label Studio.", owner="label-studio")
        return found

    def config(self, project: int) -> str:
        """The labelling config of a project."""
        return str(self._send("GET", f"/api/projects/{project}/", again=True).get("label_config", ""))

    def pages(self, project: int) -> Iterator[Page]:
        """All tasks of a project with their annotations, oldest first."""
        seen, page = 0, 0
        while True:
            page, before = page + 1, self._time
            wanted = {"project": project, "fields": "all", "page": page, "page_size": PAGE}
            found = self._send("GET", "/api/tasks", again=True, params=wanted)
            tasks = [_task(each) for each in found.get("tasks", [])]
            seen += len(tasks)
            yield Page(tasks, before)
            if not tasks or seen >= found.get("total", 0):
                return


def _detail(response: httpx.Response) -> str:
    try:
        body = response.json()
    except ValueError:
        body = None
    detail = body.get("detail") if isinstance(body, dict) else None
    return f"{str(detail).rstrip('.')[:200]}." if detail else "no reason given."


def _task(given: dict[str, Any]) -> dict[str, Any]:
    """The part of a task that is sent on: its data only where it has annotations."""
    found = [{name: each[name] for name in _SENT if name in each} for each in given.get("annotations") or []]
    return {"id": given["id"], "annotations": found} | ({"data": given["data"]} if found else {})


def sync(client: Client, stream: str, studio: Studio, project: int) -> Total:
    """Send a stream what webhooks missed of a project; returns the totals."""
    config = studio.config(project)
    total: Total = {}
    for page in studio.pages(project):
        if page.tasks:
            body = {"project": project, "label_config": config, "at": page.at, "tasks": page.tasks}
            _add(total, client.send("POST", f"/label-studio/{stream}/sync", json=body))
    return total


def send_file(client: Client, stream: str, path: str, project: str, config: str, field: str) -> Total:
    """Send the tasks of a file as instances, with their annotations as labels; returns the totals."""
    try:
        found = json.loads(Path(path).read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path} cannot be read as JSON: {error}.", owner="label-studio") from error
    total: Total = {}
    for part in _parts(found if isinstance(found, list) else [found]):
        body = {"project": project, "label_config": config, "field": field, "tasks": part, "play": True}
        _add(total, client.send("POST", f"/label-studio/{stream}/sync", json=body))
    return total


def _parts(tasks: Iterable[Any]) -> Iterator[list[Any]]:
    part: list[Any] = []
    for task in tasks:
        part.append(task)
        if len(part) == PAGE:
            yield part
            part = []
    if part:
        yield part


def _add(total: Total, more: Total) -> None:
    for name, value in more.items():
        total[name] = total[name] + value if name in total else value


def fetch(client: Client, stream: str, path: str, names: dict[str, str]) -> int:
    """Write the instances of a stream as tasks into a file, completely or not at all; returns its size."""
    size = 0
    try:
        with whole_file(path) as file:
            for part in client.download(f"/label-studio/{stream}/tasks", names):
                size += file.write(part)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror or error}.", owner="label-studio") from error
    return size
