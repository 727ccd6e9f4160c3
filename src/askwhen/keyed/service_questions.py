"""Questions to a stream of the labelling service, and its answers back to the log.

The workers have decided already, so the stream there must ask about everything that it is sent. A question is sent
after the commit that decided it, under an id that follows from its key and round: sent again, it is the same question.
Answers are read by the numbers of the service's events, of which the store keeps the last. Whoever is killed after
answers were appended and before their number was kept appends them again, and the second of two answers is refused by
its sampler, which it does not change.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import logging
import threading
import time
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..data.files import perhaps
from ..errors import AskwhenError, InputError
from .decisions import read
from .errors import StoreError
from .sampler_spec import Kind

_RETRIES, _LATER = 7, (429, 502, 503, 504)
_LONGEST = 10.0  # seconds between two tries of whoever has time
_AT_ONCE = 500
_QUIET = 0.5  # seconds without an event, after which there is none
log = logging.getLogger("askwhen.keyed")


class Service:
    """One stream of a service; whoever is patient waits for one that is away as long as that takes."""

    def __init__(self, address: str, token: str | None, patient: bool = False) -> None:
        parts = urlsplit(address)
        words = parts.path.strip("/").removeprefix("v1/").split("/")
        if parts.scheme not in ("http", "https") or len(words) != 2 or words[0] != "streams" or not words[1]:
            raise InputError(f"questions go to http://host:8300/streams/NAME, got {address!r}.", owner="keyed")
        self._path, self._patient = f"/v1/streams/{words[1]}", patient
        headers = {} if token is None else {"Authorization": f"Bearer {token}"}
        self._http = httpx.Client(base_url=f"{parts.scheme}://{parts.netloc}", headers=headers, timeout=30.0)

    def labels(self) -> list[str]:
        """What people may answer."""
        found: list[str] = self._sent("GET", "").json()["settings"]["labels"]
        return found

    def ask(self, questions: list[dict[str, Any]]) -> None:
        """Open questions, or find that they are open."""
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in questions)
        said = self._sent("POST", "/instances", content=lines, headers={"Content-Type": "application/x-ndjson"})
        for line in said.text.splitlines():
            reply = json.loads(line)
            if "error" in reply:
                raise StoreError(f"the service refused a question: {reply['error']['detail']}", owner="keyed")
            if not reply["asked"]:
                raise StoreError(
                    'its stream in the service must ask about everything: make it with "algorithm": "perceptron".',
                    owner="keyed",
                )

    def settled(self, after: int) -> Iterator[tuple[int, dict[str, Any], str | None]]:
        """Questions that were settled after an event: its number, what was shown, and the label or None."""
        wanted: dict[str, Any] = {"after": after, "kinds": "told,forgotten"}
        found: list[tuple[int, int, str | None]] = []
        number = 0
        try:
            with self._http.stream("GET", f"{self._path}/events", params=wanted, timeout=_QUIET) as response:
                if response.status_code >= 400:
                    response.read()
                    _refuse(response)
                for line in response.iter_lines():
                    if line.startswith("id: "):
                        number = int(line[4:])
                    elif line.startswith("data: "):
                        facts = json.loads(line[6:])
                        found.append((number, facts["question"], facts["facts"].get("label")))
        except httpx.ReadTimeout:  # no more for now
            pass
        except httpx.TransportError as error:
            raise StoreError(f"the service cannot be reached: {error}.", owner="keyed") from error
        for number, question, label in found:
            yield number, self._sent("GET", f"/questions/{question}").json().get("show"), label

    def close(self) -> None:
        """Let go of the connections."""
        self._http.close()

    def _sent(self, method: str, path: str, **given: Any) -> httpx.Response:
        pause = 0.1
        for attempt in itertools.count(1):
            is_last = attempt == _RETRIES and not self._patient
            try:
                response = self._http.request(method, self._path + path, **given)
                if response.status_code not in _LATER or is_last:
                    return _refuse(response)
            except httpx.TransportError as error:
                if is_last:
                    raise StoreError(f"the service cannot be reached: {error}.", owner="keyed") from error
            if attempt == _RETRIES:
                log.warning("the service cannot be reached; its questions wait until it can")
            time.sleep(pause)
            pause = min(2.0 * pause, _LONGEST)
        raise AssertionError


def _refuse(response: httpx.Response) -> httpx.Response:
    """The same response, or what the service refused as an error."""
    if response.status_code < 400:
        return response
    try:
        sentence = response.json()["detail"]
    except (ValueError, KeyError, TypeError):
        sentence = f"it answered {response.status_code}."
    raise StoreError(f"the service refused: {sentence}", owner="keyed")


class QuestionSink:
    """Passes decisions on to an output log, and those that are questions to the service."""

    def __init__(self, address: str, token: str | None, out: Any, patient: bool = False) -> None:
        self._service, self._out = Service(address, token, patient), out

    def begin(self, partition: str, events: int) -> None:
        """Refuse an output log that is not of a store which has seen so many events."""
        self._out.begin(partition, events)

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided; writing it again changes nothing."""
        self._out.publish(partition, first, body)
        asked = [_question(partition, each) for each in read(body) if each.get("query")]
        for start in range(0, len(asked), _AT_ONCE):
            self._service.ask(asked[start : start + _AT_ONCE])

    def close(self) -> None:
        """Let go of both."""
        self._service.close()
        self._out.close()


def _question(partition: str, decision: dict[str, Any]) -> dict[str, Any]:
    name = [partition, decision["key"], decision["round"]]
    shown = {"key": decision["key"], "round": decision["round"], "partition": partition}
    if "id" in decision:
        shown["id"] = decision["id"]
    identity = hashlib.blake2b(json.dumps(name).encode(), digest_size=16).hexdigest()
    return {"x": decision["x"], "id": identity, "show": shown}


class Answers:
    """Brings the answers of a service to the log, as events."""

    def __init__(self, address: str, token: str | None, kind: Kind, log: Any, store: Any) -> None:
        self._service, self._log, self._store = Service(address, token), log, store
        self._name = f"answers of {address}"
        self._kind = kind
        self._labels: dict[str, Any] | None = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def bring(self) -> int:
        """Append what was answered since; how many answers."""
        if self._labels is None:
            self._labels = self._known(self._service.labels())
        after = self._store.recalled(self._name)
        found: dict[str, list[bytes]] = {}
        last = after
        for number, shown, label in self._service.settled(after):
            last = number
            if not isinstance(shown, dict) or not {"key", "round", "partition"} <= set(shown):
                continue  # somebody else's question
            event: dict[str, Any] = {"key": shown["key"], "round": shown["round"]}
            event |= {"forget": True} if label is None else {"label": self._labels.get(label, label)}
            found.setdefault(shown["partition"], []).append(json.dumps(event).encode() + b"\n")
        for partition, lines in found.items():
            self._log.append(partition, lines)
        if last != after:
            self._store.remember(self._name, last)
        return sum(map(len, found.values()))

    def _known(self, labels: list[str]) -> dict[str, Any]:
        """What each label of the service is here."""
        if self._kind.classes is not None:
            unknown = [label for label in labels if label not in self._kind.classes and not self._kind.most]
            if unknown:
                near = perhaps(unknown[0], self._kind.classes)
                raise InputError(
                    f"the stream in the service has the label {unknown[0]!r}, which is none of the samplers' classes"
                    f"{near}.",
                    owner="keyed",
                )
            return {label: label for label in labels}
        if len(labels) != 2 or self._kind.parts.learner.regression:
            raise InputError("the stream in the service must have two labels, as the samplers do.", owner="keyed")
        return {labels[0]: -1, labels[1]: 1}

    def follow(self) -> None:
        """Go on bringing answers, in a thread, until ``close``; a service that is away is tried again."""
        self._thread = threading.Thread(target=self._bring_always, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Bring no more."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._service.close()

    def _bring_always(self) -> None:
        pause = _QUIET
        while not self._ended.wait(pause):
            try:
                self.bring()
                pause = _QUIET
            except AskwhenError:
                pause = min(2.0 * pause, 30.0)
