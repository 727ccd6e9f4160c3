"""The client that waits for every reply."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

import httpx

from .exchange import Attempts, HttpRequest, Reply, RetryPolicy, transport_errors_mapped
from .messages import Decision, Label, auth_headers, in_batches, instance_body, parse_reply, rows_of
from .stream_calls import Call, StreamCalls, T, create_stream, list_people, list_streams, set_away, set_group


class SyncTransport:
    """Sends requests, with retries, and waits for their responses.

    Parameters
    ----------
    url : str
        Address of the service.
    token : str or None
        Sent with every request.
    policy : RetryPolicy
        When a request is sent again.
    timeout : float
        Seconds to wait for a reply.
    """

    def __init__(self, url: str, token: str | None, policy: RetryPolicy, timeout: float) -> None:
        self._http = httpx.Client(base_url=url, headers=auth_headers(token), timeout=timeout)
        self._policy = policy

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    def call(self, call: Call[T]) -> T:
        """The result of a call; a refusal is raised."""
        return call.read(parse_reply(self.exchange(call.request)))

    def exchange(self, request: HttpRequest) -> httpx.Response:
        """The response to a request, which may be a refusal; UnreachableError if there is none."""
        attempts = Attempts(self._policy)
        while (pause := attempts.pause_after(self._attempt(request))) is not None:
            time.sleep(pause)
        return attempts.response

    def _attempt(self, request: HttpRequest) -> Reply:
        try:
            return self._http.request(request.method, request.path, **request.options)
        except httpx.TransportError as error:
            return error

    @contextlib.contextmanager
    def streamed(self, request: HttpRequest) -> Iterator[httpx.Response]:
        """A response whose body is read as it arrives; it is requested once, and a refusal is raised."""
        with (
            transport_errors_mapped(),
            self._http.stream(request.method, request.path, **request.options) as response,
        ):
            if response.status_code >= 400:
                response.read()
                parse_reply(response)
            yield response


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
        self._transport = SyncTransport(url, token, RetryPolicy(retries), timeout)

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def send(self, method: str, path: str, **given: Any) -> Any:
        """Send a request, with retries; the parsed reply."""
        return parse_reply(self._transport.exchange(HttpRequest.of(method, path, **given)))

    def download(self, path: str, wanted: dict[str, str]) -> Iterator[bytes]:
        """A file, part by part; a refusal is raised."""
        with self._transport.streamed(HttpRequest.of("GET", path, params=wanted)) as response:
            yield from response.iter_bytes()

    def streams(self) -> list[dict[str, Any]]:
        """All streams."""
        return self._transport.call(list_streams())

    def people(self) -> dict[str, Any]:
        """The ``groups`` with their members, and who is ``away`` until when."""
        return self._transport.call(list_people())

    def set_group(self, name: str, members: list[str] | None) -> None:
        """Make a group of people, or give it other members; None removes it. Streams name it with an @ before it."""
        self._transport.call(set_group(name, members))

    def away(self, until: float | None, name: str | None = None) -> None:
        """Be asked nothing in any stream until a time, in seconds since 1970; None is back. Admins may name others."""
        self._transport.call(set_away(until, name))

    def create(self, name: str, **settings: Any) -> Stream:
        """Make a stream; its settings are in the documentation of the service.

        ``schema=`` says what named columns are, and is short for its features: a :class:`askwhen.data.Schema`, or a
        dict as for :func:`askwhen.data.make_schema`. ``errors=0.05`` is short for ``budget={"errors": 0.05}``: at most
        this share of the delivered labels is wrong.
        """
        self._transport.call(create_stream(name, settings))
        return Stream(self, name)

    def stream(self, name: str) -> Stream:
        """A stream that is there."""
        self._transport.call(StreamCalls(name).facts())
        return Stream(self, name)


class Stream:
    """One stream of a service: ``ask`` and ``tell`` as with a sampler, and what people need to answer."""

    def __init__(self, client: Client, name: str) -> None:
        self.client, self.name = client, name

    @property
    def _calls(self) -> StreamCalls:
        return StreamCalls(self.name)

    def _call(self, call: Call[T]) -> T:
        return self.client._transport.call(call)

    def ask(
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
        return self._call(self._calls.ask(body, backlog))

    def ask_many(self, instances: Iterable[Any], batch: int = 500, backlog: bool | None = None) -> Iterator[Decision]:
        """The same for many, in order: each an instance, or a dict with x and perhaps id, show, source, advice.

        Where one is refused, that is raised when its turn comes; those after it in its batch are played all the same.
        Give ids to get their decisions by sending them again.
        """
        for part in in_batches(instances, batch):
            yield from self._call(self._calls.ask_many(part, backlog))

    def play(self, body: bytes, backlog: bool | None = None) -> str:
        """Send many instances as NDJSON; the reply has a line for each."""
        return self._call(self._calls.play(body, backlog))

    def tell(
        self,
        question: Decision | int,
        label: Label | None,
        *,
        key: str | None = None,
        lead: float | None = None,
        annotator: str | None = None,
    ) -> dict[str, Any]:
        """Answer a question; without a label, unsure."""
        return self._call(self._calls.tell(question, label, key, lead, annotator))

    def learn(
        self,
        instance: Decision | str | int,
        label: Label | None,
        *,
        key: str | None = None,
        annotator: str | None = None,
    ) -> dict[str, Any]:
        """Give an unsolicited label to an instance, by its decision, id or round; without a label, take it back.

        The model learns it at once, as :meth:`askwhen.Sampler.learn` does.
        """
        return self._call(self._calls.learn(instance, label, key, annotator))

    def advise(
        self, instance: Decision | str | int, advice: dict[str, Any], *, key: str | None = None
    ) -> dict[str, Any]:
        """Give advice on an instance that was sent before, by its decision, id or round.

        It is ``counted`` only as long as the instance waits in the backlog; later it is stored and shown.
        """
        return self._call(self._calls.advise(instance, advice, key))

    def next(
        self, annotator: str | None = None, key: str | None = None, device: str | None = None
    ) -> dict[str, Any] | None:
        """The next question for a person, on one of their devices, under a lease; None where there is none."""
        return self._call(self._calls.next(annotator, key, device))

    def act(self, question: int | None, what: str, annotator: str | None = None, **given: Any) -> Any:
        """Do something else to a question: skip, undo, renew, release, review, reserve (for ``who``)."""
        return self._call(self._calls.act(question, what, annotator, given))

    def facts(self) -> dict[str, Any]:
        """Its settings and counts."""
        return self._call(self._calls.facts())

    def backlog(self, annotator: str | None = None) -> dict[str, Any]:
        """Progress through its backlog: what waits, questions so far and in all, and the time that is left."""
        return self._call(self._calls.backlog(annotator))

    def report(self) -> dict[str, Any]:
        """Its accuracy, estimated from the asked labels, its budget and drift."""
        return self._call(self._calls.report())

    def change(self, what: str) -> dict[str, Any]:
        """Pause, resume, archive or replay."""
        return self._call(self._calls.change(what))

    def erase(self, **which: Any) -> dict[str, Any]:
        """Erase contents for good, by ``rounds``, ``ids``, ``subject`` or ``before`` a time; how many."""
        return self._call(self._calls.erase(which))

    def set(self, **settings: Any) -> dict[str, Any]:
        """Change some settings from now on; the stream with its new settings."""
        return self._call(self._calls.set(settings))

    def relabel(self, what: str, **given: Any) -> dict[str, Any]:
        """Change labels: "add" ``labels``, "rename" a ``label`` ``to``, or "merge" a ``label`` ``into`` another one."""
        return self._call(self._calls.relabel(what, given))

    def export(self, table: str = "labels", after: int = 0) -> Iterator[dict[str, Any]]:
        """The rows of a table: delivered, instances, labels, decisions or predictions."""
        rest = b""
        with self.client._transport.streamed(self._calls.export(table, after)) as response:
            for part in response.iter_bytes():
                rows, rest = rows_of(rest, part)
                yield from rows
