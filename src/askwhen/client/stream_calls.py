"""The calls of the HTTP API that both clients offer: the request, and how its reply is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, NamedTuple, TypeVar
from urllib.parse import quote

from ..data.schema import Schema
from ..data.schema_json import to_json
from .exchange import HttpRequest
from .messages import (
    Decision,
    Label,
    advice_body,
    answer_body,
    decision_of,
    decisions_of,
    ndjson,
    new_key,
    round_of,
    unsolicited_label_body,
)

T = TypeVar("T")
Facts = dict[str, Any]
"""A JSON object of the service, as docs/service.md describes it."""


class Call(NamedTuple, Generic[T]):
    """A request, and the function that makes the result from the parsed reply."""

    request: HttpRequest
    read: Callable[[Any], T]


def _call(method: str, path: str, **options: Any) -> Call[Any]:
    """A call whose result is the parsed reply."""
    return Call(HttpRequest.of(method, path, **options), _unchanged)


def _unchanged(reply: Any) -> Any:
    return reply


def list_streams() -> Call[list[Facts]]:
    """All streams."""
    return _call("GET", "/v1/streams")


def list_people() -> Call[Facts]:
    """Groups, and who is away."""
    return _call("GET", "/v1/people")


def set_group(name: str, members: list[str] | None) -> Call[Any]:
    """Make a group, or give it other members; without any list, remove it."""
    if members is None:
        return _call("DELETE", f"/v1/groups/{quote(name, safe='')}")
    return _call("POST", "/v1/groups", json={"name": name, "members": members})


def set_away(until: float | None, name: str | None) -> Call[None]:
    """Be asked nothing until a time, oneself or another person."""
    if name is None:
        return _call("POST", "/v1/me/away", json={"until": until})
    return _call("POST", "/v1/people/away", json={"name": name, "until": until})


def create_stream(name: str, settings: Facts) -> Call[Facts]:
    """Make a stream; a ``schema`` may stand for the features, and ``errors`` for the budget or a part of it."""
    if "errors" in settings:
        budget = {**(settings.get("budget") or {}), "errors": settings["errors"]}
        settings = {name: value for name, value in settings.items() if name != "errors"} | {"budget": budget}
    if "schema" in settings:
        given = settings["schema"]
        schema = to_json(given) if isinstance(given, Schema) else given
        features = {"kind": "columns", "schema": schema, **settings.get("features", {})}
        settings = {name: value for name, value in settings.items() if name != "schema"} | {"features": features}
    return _call("POST", "/v1/streams", json={"name": name, "settings": settings, "key": new_key()})


def _into(backlog: bool | None) -> Facts:
    """The parameter that says whether instances go to the backlog; without it, the mode of the stream decides."""
    return {} if backlog is None else {"params": {"backlog": "true" if backlog else "false"}}


class StreamCalls(NamedTuple):
    """The calls about the stream with this name; the methods are those of :class:`.Stream`."""

    name: str

    def _call(self, method: str, path: str, **options: Any) -> Call[Any]:
        return _call(method, f"/v1/streams/{self.name}{path}", **options)

    def ask(self, body: Facts, backlog: bool | None) -> Call[Decision]:
        """Send one instance."""
        call = self._call("POST", "/instances", json=body, **_into(backlog))
        return Call(call.request, decision_of)

    def ask_many(self, instances: Iterable[Any], backlog: bool | None) -> Call[Iterator[Decision]]:
        """Send a batch of instances."""
        return Call(self.play(ndjson(instances), backlog).request, decisions_of)

    def play(self, body: bytes, backlog: bool | None = None) -> Call[str]:
        """Send a batch of instances that are NDJSON already; the result is the text of the reply."""
        headers = {"Content-Type": "application/x-ndjson"}
        return self._call("POST", "/instances", content=body, headers=headers, **_into(backlog))

    def backlog(self, annotator: str | None) -> Call[Facts]:
        """Progress through the backlog."""
        return self._call("GET", "/backlog", params={} if annotator is None else {"annotator": annotator})

    def tell(
        self, question: Decision | int, label: Label | None, key: str | None, lead: float | None, annotator: str | None
    ) -> Call[Facts]:
        """Answer a question."""
        body = answer_body(label, key, lead, annotator)
        return self._call("POST", f"/questions/{round_of(question)}/answer", json=body)

    def learn(
        self, instance: Decision | str | int, label: Label | None, key: str | None, annotator: str | None
    ) -> Call[Facts]:
        """Give an unsolicited label, or take it back."""
        return self._call("POST", "/labels", json=unsolicited_label_body(instance, label, key, annotator))

    def advise(self, instance: Decision | str | int, advice: Facts, key: str | None) -> Call[Facts]:
        """Give advice on an instance that was sent before."""
        return self._call("POST", "/advice", json=advice_body(instance, advice, key))

    def next(self, annotator: str | None, key: str | None, device: str | None) -> Call[Facts | None]:
        """Lease the next question."""
        body = {"annotator": annotator, "key": new_key() if key is None else key, "device": device}
        return self._call("POST", "/questions/next", json=body)

    def question(self, question: int) -> Call[Facts]:
        """One question, whatever its state."""
        return self._call("GET", f"/questions/{question}")

    def act(self, question: int | None, what: str, annotator: str | None, given: Facts) -> Call[Any]:
        """Skip, undo, renew, release or review. A renewal needs no key: renewing a lease twice is harmless."""
        path = f"/questions/{what}" if question is None else f"/questions/{question}/{what}"
        key = {} if what == "renew" else {"key": new_key()}
        return self._call("POST", path, json={"annotator": annotator, **key, **given})

    def facts(self) -> Call[Facts]:
        """Settings and counts."""
        return self._call("GET", "")

    def report(self) -> Call[Facts]:
        """Accuracy, budget and drift."""
        return self._call("GET", "/report")

    def change(self, what: str) -> Call[Facts]:
        """Pause, resume, archive or replay."""
        return self._call("POST", f"/{what}")

    def erase(self, which: Facts) -> Call[Facts]:
        """Erase contents."""
        return self._call("POST", "/erase", json=which)

    def set(self, settings: Facts) -> Call[Facts]:
        """Change settings."""
        return self._call("PATCH", "", json={"settings": settings, "key": new_key()})

    def relabel(self, what: str, given: Facts) -> Call[Facts]:
        """Add, rename or merge labels."""
        return self._call("POST", f"/labels/{what}", json=given | {"key": new_key()})

    def export(self, table: str, after: int) -> HttpRequest:
        """The rows of a table, whose reply is read as a stream."""
        return HttpRequest.of("GET", f"/v1/streams/{self.name}/export", params={"table": table, "after": str(after)})

    def events(self, after: int, kinds: str, timeout: float) -> HttpRequest:
        """The events of these kinds after a number, whose reply is read as a stream with a timeout of its own."""
        params = {"after": str(after), "kinds": kinds}
        return HttpRequest.of("GET", f"/v1/streams/{self.name}/events", params=params, timeout=timeout)
