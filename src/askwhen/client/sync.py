"""The client that waits for every reply."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from .messages import (
    AGAIN,
    Decision,
    answer,
    checked,
    decision,
    encoded,
    from_lines,
    instance,
    lines,
    new_key,
    parts,
    pause,
    rows_of,
    signed,
    unreachable,
    volunteered,
)


class Client:
    """Speaks to a service.

    Parameters
    ----------
    url : str
        Where it is, as http://127.0.0.1:8300.
    token : str, optional
        Who you are.
    retries : int, default 8
        How often a request is sent again, after pauses that double, where the service cannot be reached or is stopping.
    timeout : float, default 30.0
        Seconds to wait for a reply.
    """

    def __init__(self, url: str, token: str | None = None, retries: int = 8, timeout: float = 30.0) -> None:
        headers = signed(token)
        self._http = httpx.Client(base_url=url, headers=headers, timeout=timeout)
        self._retries = retries

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def send(self, method: str, path: str, **given: Any) -> Any:
        """Send a request, again where that may help; what the service says."""
        if "json" in given:
            given["content"] = encoded(given.pop("json"))
            given["headers"] = {"Content-Type": "application/json"}
        for attempt in range(self._retries + 1):
            try:
                response = self._http.request(method, path, **given)
                if response.status_code not in AGAIN or attempt == self._retries:
                    return checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise unreachable(error) from error
            time.sleep(pause(attempt))
        raise AssertionError("never here")

    def download(self, path: str, wanted: dict[str, str]) -> Iterator[bytes]:
        """A file, part by part; a refusal is raised."""
        try:
            with self._http.stream("GET", path, params=wanted) as response:
                if response.status_code >= 400:
                    response.read()
                    checked(response)
                yield from response.iter_bytes()
        except httpx.TransportError as error:
            raise unreachable(error) from error

    def streams(self) -> list[dict[str, Any]]:
        """All streams."""
        found: list[dict[str, Any]] = self.send("GET", "/v1/streams")
        return found

    def create(self, name: str, **settings: Any) -> Stream:
        """Make a stream; its settings are in the documentation of the service."""
        self.send("POST", "/v1/streams", json={"name": name, "settings": settings, "key": new_key()})
        return Stream(self, name)

    def stream(self, name: str) -> Stream:
        """A stream that is there."""
        self.send("GET", f"/v1/streams/{name}")
        return Stream(self, name)


class Stream:
    """One stream of a service: ``ask`` and ``tell`` as with a sampler, and what people need to answer."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    def _send(self, method: str, path: str, **given: Any) -> Any:
        return self.client.send(method, f"/v1/streams/{self.name}{path}", **given)

    def ask(
        self, x: Any, id: str | None = None, priority: float = 0.0, show: Any = None, subject: str | None = None
    ) -> Decision:
        """Predict x, and decide whether its label is worth asking for."""
        return decision(self._send("POST", "/instances", json=instance(x, id, priority, show, subject)))

    def ask_many(self, instances: Iterable[Any], batch: int = 500) -> Iterator[Decision]:
        """The same for many, in order: each an instance, or a dict with x and perhaps id, priority and show.

        Where one is refused, that is raised when its turn comes; those after it in its batch are played all the same.
        Give ids to get their decisions by sending them again.
        """
        for part in parts(instances, batch):
            yield from from_lines(self.play(lines(part)))

    def play(self, body: bytes) -> str:
        """Send many instances as NDJSON; what the service says to them, a line each."""
        headers = {"Content-Type": "application/x-ndjson"}
        said: str = self._send("POST", "/instances", content=body, headers=headers)
        return said

    def tell(
        self,
        question: Decision | int,
        label: str | None,
        *,
        key: str | None = None,
        lead: float | None = None,
        annotator: str | None = None,
    ) -> dict[str, Any]:
        """Answer a question; without a label, unsure."""
        round = question.round if isinstance(question, Decision) else question
        given = answer(label, key, lead, annotator)
        found: dict[str, Any] = self._send("POST", f"/questions/{round}/answer", json=given)
        return found

    def learn(
        self, instance: Decision | str | int, label: str | None, *, key: str | None = None, annotator: str | None = None
    ) -> dict[str, Any]:
        """Give the label of an instance that nobody asked for, by its decision, id or round; without one, take it back.

        The model learns it at once, as :meth:`askwhen.Sampler.learn` does.
        """
        found: dict[str, Any] = self._send("POST", "/labels", json=volunteered(instance, label, key, annotator))
        return found

    def next(
        self, annotator: str | None = None, key: str | None = None, device: str | None = None
    ) -> dict[str, Any] | None:
        """The next question for a person, on one of their devices, under a lease; None where there is none."""
        given = {"annotator": annotator, "key": new_key() if key is None else key, "device": device}
        found: dict[str, Any] | None = self._send("POST", "/questions/next", json=given)
        return found

    def act(self, question: int | None, what: str, annotator: str | None = None, **given: Any) -> Any:
        """What else can be done to a question: skip, undo, renew, release, review."""
        path = f"/questions/{what}" if question is None else f"/questions/{question}/{what}"
        key = {} if what == "renew" else {"key": new_key()}
        return self._send("POST", path, json={"annotator": annotator, **key, **given})

    def facts(self) -> dict[str, Any]:
        """Its settings and counts."""
        found: dict[str, Any] = self._send("GET", "")
        return found

    def report(self) -> dict[str, Any]:
        """How accurate it is, honestly; budget and drift."""
        found: dict[str, Any] = self._send("GET", "/report")
        return found

    def change(self, what: str) -> dict[str, Any]:
        """Pause, resume, archive or replay."""
        found: dict[str, Any] = self._send("POST", f"/{what}")
        return found

    def erase(self, **which: Any) -> dict[str, Any]:
        """Erase contents for good, by ``rounds``, ``ids``, ``subject`` or ``before`` a time; how many."""
        found: dict[str, Any] = self._send("POST", "/erase", json=which)
        return found

    def set(self, **settings: Any) -> dict[str, Any]:
        """Give some settings other values from now on; what the stream is then."""
        found: dict[str, Any] = self._send("PATCH", "", json={"settings": settings, "key": new_key()})
        return found

    def export(self, table: str = "labels", after: int = 0) -> Iterator[dict[str, Any]]:
        """The rows of a table: labels, decisions or predictions."""
        path, wanted = f"/v1/streams/{self.name}/export", {"table": table, "after": str(after)}
        rest = b""
        for part in self.client.download(path, wanted):
            rows, rest = rows_of(rest, part)
            yield from rows
