"""The client for programs with an event loop."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterable, AsyncIterator, Iterable
from typing import Any

import httpx

from .exchange import Attempts, HttpRequest, Reply, RetryPolicy, transport_errors_mapped
from .messages import Decision, Label, auth_headers, in_batches, instance_body, parse_reply, rows_of
from .stream_calls import Call, StreamCalls, T, create_stream, list_people, list_streams, set_away, set_group


class AsyncTransport:
    """The same as :class:`.SyncTransport` for programs with an event loop."""

    def __init__(self, url: str, token: str | None, policy: RetryPolicy, timeout: float) -> None:
        self._http = httpx.AsyncClient(base_url=url, headers=auth_headers(token), timeout=timeout)
        self._policy = policy

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def call(self, call: Call[T]) -> T:
        """The result of a call; a refusal is raised."""
        return call.read(parse_reply(await self.exchange(call.request)))

    async def exchange(self, request: HttpRequest) -> httpx.Response:
        """The response to a request, which may be a refusal; UnreachableError if there is none."""
        attempts = Attempts(self._policy)
        while (pause := attempts.pause_after(await self._attempt(request))) is not None:
            await asyncio.sleep(pause)
        return attempts.response

    async def _attempt(self, request: HttpRequest) -> Reply:
        try:
            return await self._http.request(request.method, request.path, **request.options)
        except httpx.TransportError as error:
            return error

    @contextlib.asynccontextmanager
    async def streamed(self, request: HttpRequest) -> AsyncIterator[httpx.Response]:
        """A response whose body is read as it arrives; it is requested once, and a refusal is raised."""
        with transport_errors_mapped():
            async with self._http.stream(request.method, request.path, **request.options) as response:
                if response.status_code >= 400:
                    await response.aread()
                    parse_reply(response)
                yield response


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
        self._transport = AsyncTransport(url, token, RetryPolicy(retries), timeout)

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._transport.close()

    async def send(self, method: str, path: str, **given: Any) -> Any:
        """Send a request, with retries; the parsed reply."""
        return parse_reply(await self._transport.exchange(HttpRequest.of(method, path, **given)))

    async def streams(self) -> list[dict[str, Any]]:
        """All streams."""
        return await self._transport.call(list_streams())

    async def people(self) -> dict[str, Any]:
        """The ``groups`` with their members, and who is ``away`` until when."""
        return await self._transport.call(list_people())

    async def set_group(self, name: str, members: list[str] | None) -> None:
        """Make a group of people, or give it other members; None removes it. Streams name it with an @ before it."""
        await self._transport.call(set_group(name, members))

    async def away(self, until: float | None, name: str | None = None) -> None:
        """Be asked nothing in any stream until a time, in seconds since 1970; None is back. Admins may name others."""
        await self._transport.call(set_away(until, name))

    async def create(self, name: str, **settings: Any) -> AsyncStream:
        """Make a stream."""
        await self._transport.call(create_stream(name, settings))
        return AsyncStream(self, name)

    async def stream(self, name: str) -> AsyncStream:
        """A stream that is there."""
        await self._transport.call(StreamCalls(name).facts())
        return AsyncStream(self, name)


class AsyncStream:
    """The same as :class:`Stream` for programs with an event loop."""

    def __init__(self, client: AsyncClient, name: str) -> None:
        self._client, self.name = client, name

    @property
    def _calls(self) -> StreamCalls:
        return StreamCalls(self.name)

    async def _call(self, call: Call[T]) -> T:
        return await self._client._transport.call(call)

    async def ask(
        self,
        x: Any,
        id: str | None = None,
        priority: float = 0.0,
        show: Any = None,
        subject: str | None = None,
        source: str | None = None,
        backlog: bool | None = None,
        advice: dict[str, Any] | None = None,
    ) -> Decision:
        """Predict x, and decide whether its label is worth asking for.

        With ``backlog`` it waits for that decision until people have answered those before it; without it, the mode of
        the stream says whether it does. ``advice`` is what advisers say of it, by name: a label, ``(label,
        confidence)``, the probability of each label as a dict, or None for nothing.
        """
        body = instance_body(x, id, priority, show, subject, source, advice)
        return await self._call(self._calls.ask(body, backlog))

    async def ask_many(
        self, instances: Iterable[Any] | AsyncIterable[Any], batch: int = 500, backlog: bool | None = None
    ) -> AsyncIterator[Decision]:
        """The same for many, in order."""
        async for part in _in_batches(instances, batch):
            for each in await self._call(self._calls.ask_many(part, backlog)):
                yield each

    async def tell(
        self,
        question: Decision | int,
        label: Label | None,
        *,
        key: str | None = None,
        lead: float | None = None,
        annotator: str | None = None,
    ) -> dict[str, Any]:
        """Answer a question; without a label, unsure."""
        return await self._call(self._calls.tell(question, label, key, lead, annotator))

    async def learn(
        self,
        instance: Decision | str | int,
        label: Label | None,
        *,
        key: str | None = None,
        annotator: str | None = None,
    ) -> dict[str, Any]:
        """Give an unsolicited label to an instance, by its decision, id or round; None takes it back."""
        return await self._call(self._calls.learn(instance, label, key, annotator))

    async def advise(
        self, instance: Decision | str | int, advice: dict[str, Any], *, key: str | None = None
    ) -> dict[str, Any]:
        """Give advice on an instance that was sent before, by its decision, id or round.

        It is ``counted`` only as long as the instance waits in the backlog; later it is stored and shown.
        """
        return await self._call(self._calls.advise(instance, advice, key))

    async def next(
        self, annotator: str | None = None, key: str | None = None, device: str | None = None
    ) -> dict[str, Any] | None:
        """The next question for a person, on one of their devices, under a lease; None where there is none."""
        return await self._call(self._calls.next(annotator, key, device))

    async def act(self, question: int | None, what: str, annotator: str | None = None, **given: Any) -> Any:
        """Do something else to a question: skip, undo, renew, release, review, reserve (for ``who``)."""
        return await self._call(self._calls.act(question, what, annotator, given))

    async def facts(self) -> dict[str, Any]:
        """Its settings and counts."""
        return await self._call(self._calls.facts())

    async def backlog(self, annotator: str | None = None) -> dict[str, Any]:
        """Progress through its backlog: what waits, questions so far and in all, and the time that is left."""
        return await self._call(self._calls.backlog(annotator))

    async def report(self) -> dict[str, Any]:
        """Its accuracy, estimated from the asked labels, its budget and drift."""
        return await self._call(self._calls.report())

    async def change(self, what: str) -> dict[str, Any]:
        """Pause, resume, archive or replay."""
        return await self._call(self._calls.change(what))

    async def erase(self, **which: Any) -> dict[str, Any]:
        """Erase contents for good, by ``rounds``, ``ids``, ``subject`` or ``before`` a time; how many."""
        return await self._call(self._calls.erase(which))

    async def set(self, **settings: Any) -> dict[str, Any]:
        """Change some settings from now on; the stream with its new settings."""
        return await self._call(self._calls.set(settings))

    async def relabel(self, what: str, **given: Any) -> dict[str, Any]:
        """Change labels: "add" ``labels``, "rename" a ``label`` ``to``, or "merge" a ``label`` ``into`` another one."""
        return await self._call(self._calls.relabel(what, given))

    async def export(self, table: str = "labels", after: int = 0) -> AsyncIterator[dict[str, Any]]:
        """The rows of a table: delivered, instances, labels, decisions or predictions."""
        rest = b""
        async with self._client._transport.streamed(self._calls.export(table, after)) as response:
            async for part in response.aiter_bytes():
                rows, rest = rows_of(rest, part)
                for row in rows:
                    yield row


async def _in_batches(things: Iterable[T] | AsyncIterable[T], size: int) -> AsyncIterator[list[T]]:
    """Lists of ``size`` things, the last one shorter."""
    if not isinstance(things, AsyncIterable):
        for batch in in_batches(things, size):
            yield batch
        return
    batch = []
    async for thing in things:
        batch.append(thing)
        if len(batch) == size:
            yield batch
            batch = []
    if batch:
        yield batch
