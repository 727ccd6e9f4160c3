"""The client for programs with an event loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Iterable
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


class AsyncClient:
    """The same as :class:`Client` for programs with an event loop.

    Parameters
    ----------
    url : str
        Where it is, as http://127.0.0.1:8300.
    token : str, optional
        Who you are.
    retries : int, default 8
        How often a request is sent again, where the service cannot be reached or is stopping.
    timeout : float, default 30.0
        Seconds to wait for a reply.
    """

    def __init__(self, url: str, token: str | None = None, retries: int = 8, timeout: float = 30.0) -> None:
        headers = signed(token)
        self._http = httpx.AsyncClient(base_url=url, headers=headers, timeout=timeout)
        self._retries = retries

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def send(self, method: str, path: str, **given: Any) -> Any:
        """Send a request, again where that may help; what the service says."""
        if "json" in given:
            given["content"] = encoded(given.pop("json"))
            given["headers"] = {"Content-Type": "application/json"}
        for attempt in range(self._retries + 1):
            try:
                response = await self._http.request(method, path, **given)
                if response.status_code not in AGAIN or attempt == self._retries:
                    return checked(response)
            except httpx.TransportError as error:
                if attempt == self._retries:
                    raise unreachable(error) from error
            await asyncio.sleep(pause(attempt))
        raise AssertionError("never here")

    async def streams(self) -> list[dict[str, Any]]:
        """All streams."""
        found: list[dict[str, Any]] = await self.send("GET", "/v1/streams")
        return found

    async def create(self, name: str, **settings: Any) -> AsyncStream:
        """Make a stream."""
        await self.send("POST", "/v1/streams", json={"name": name, "settings": settings, "key": new_key()})
        return AsyncStream(self, name)

    async def stream(self, name: str) -> AsyncStream:
        """A stream that is there."""
        await self.send("GET", f"/v1/streams/{name}")
        return AsyncStream(self, name)


class AsyncStream:
    """The same as :class:`Stream` for programs with an event loop."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name

    async def _send(self, method: str, path: str, **given: Any) -> Any:
        return await self._client.send(method, f"/v1/streams/{self.name}{path}", **given)

    async def ask(
        self, x: Any, id: str | None = None, priority: float = 0.0, show: Any = None, subject: str | None = None
    ) -> Decision:
        """Predict x, and decide whether its label is worth asking for."""
        return decision(await self._send("POST", "/instances", json=instance(x, id, priority, show, subject)))

    async def ask_many(
        self, instances: Iterable[Any] | AsyncIterable[Any], batch: int = 500
    ) -> AsyncIterator[Decision]:
        """The same for many, in order."""
        headers = {"Content-Type": "application/x-ndjson"}
        async for part in _parts(instances, batch):
            for each in from_lines(await self._send("POST", "/instances", content=lines(part), headers=headers)):
                yield each

    async def tell(
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
        found: dict[str, Any] = await self._send("POST", f"/questions/{round}/answer", json=given)
        return found

    async def learn(
        self, instance: Decision | str | int, label: str | None, *, key: str | None = None, annotator: str | None = None
    ) -> dict[str, Any]:
        """Give the label of an instance that nobody asked for, by its decision, id or round; None takes it back."""
        found: dict[str, Any] = await self._send("POST", "/labels", json=volunteered(instance, label, key, annotator))
        return found

    async def next(
        self, annotator: str | None = None, key: str | None = None, device: str | None = None
    ) -> dict[str, Any] | None:
        """The next question for a person, on one of their devices, under a lease; None where there is none."""
        given = {"annotator": annotator, "key": new_key() if key is None else key, "device": device}
        found: dict[str, Any] | None = await self._send("POST", "/questions/next", json=given)
        return found

    async def act(self, question: int | None, what: str, annotator: str | None = None, **given: Any) -> Any:
        """What else can be done to a question: skip, undo, renew, release, review."""
        path = f"/questions/{what}" if question is None else f"/questions/{question}/{what}"
        key = {} if what == "renew" else {"key": new_key()}
        return await self._send("POST", path, json={"annotator": annotator, **key, **given})

    async def facts(self) -> dict[str, Any]:
        """Its settings and counts."""
        found: dict[str, Any] = await self._send("GET", "")
        return found

    async def report(self) -> dict[str, Any]:
        """How accurate it is, honestly; budget and drift."""
        found: dict[str, Any] = await self._send("GET", "/report")
        return found

    async def change(self, what: str) -> dict[str, Any]:
        """Pause, resume, archive or replay."""
        found: dict[str, Any] = await self._send("POST", f"/{what}")
        return found

    async def erase(self, **which: Any) -> dict[str, Any]:
        """Erase contents for good, by ``rounds``, ``ids``, ``subject`` or ``before`` a time; how many."""
        found: dict[str, Any] = await self._send("POST", "/erase", json=which)
        return found

    async def set(self, **settings: Any) -> dict[str, Any]:
        """Give some settings other values from now on; what the stream is then."""
        found: dict[str, Any] = await self._send("PATCH", "", json={"settings": settings, "key": new_key()})
        return found

    async def export(self, table: str = "labels", after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """The rows of a table: labels, decisions or predictions."""
        path, wanted = f"/v1/streams/{self.name}/export", {"table": table, "after": str(after)}
        async with self._client._http.stream("GET", path, params=wanted) as response:
            if response.status_code >= 400:
                await response.aread()
                checked(response)
            rest = b""
            async for part in response.aiter_bytes():
                rows, rest = rows_of(rest, part)
                for row in rows:
                    yield row


async def _parts(things: Iterable[Any] | AsyncIterable[Any], size: int) -> AsyncIterator[list[Any]]:
    """Lists of so many things."""
    if not isinstance(things, AsyncIterable):
        for part in parts(things, size):
            yield part
        return
    part = []
    async for thing in things:
        part.append(thing)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
