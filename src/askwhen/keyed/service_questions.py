"""Questions to a stream of the labelling service, and its answers back to the log.

The workers have decided already, so the stream there must ask about everything that it is sent. A question is sent
after the commit that decided it, under an id that follows from its key and round: sent again, it is the same question.
Answers are read by the numbers of the service's events, of which the store keeps the last. A process that is killed
after answers were appended and before their number was stored appends them again; the sampler refuses the second of two
answers, which does not change it.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import httpx

from ..client.errors import ServiceError
from ..client.exchange import RetryPolicy
from ..client.messages import decisions_of
from ..client.stream_calls import StreamCalls
from ..client.sync import SyncTransport
from ..data.files import perhaps
from ..errors import AskwhenError, InputError
from .decisions import read
from .errors import StoreError
from .logs.protocols import DecisionSink, EventLog
from .sampler_spec import SamplerSpec
from .stores.records import Counts, KeyedStore

_ATTEMPTS = 7
"""Attempts before a service counts as away: about six seconds."""
_TIMEOUT = 30.0
_AT_ONCE = 500
_QUIET = 0.5
"""Seconds without an event after which the service is assumed to have no more."""
_LONGEST_PAUSE = 30.0
log = logging.getLogger("askwhen.keyed")


def stream_address(address: str, what: str) -> tuple[str, str]:
    """The address of a service and the name of its stream; ``what`` begins the sentence that refuses it."""
    parts = urlsplit(address)
    words = parts.path.strip("/").removeprefix("v1/").split("/")
    if parts.scheme not in ("http", "https") or len(words) != 2 or words[0] != "streams" or not words[1]:
        raise InputError(f"{what} to http://host:8300/streams/NAME, got {address!r}.", owner="keyed")
    return f"{parts.scheme}://{parts.netloc}", words[1]


class LabellingStream:
    """A stream of the labelling service.

    Parameters
    ----------
    address : str
        As http://host:8300/streams/NAME.
    token : str or None
        Sent with every request.
    patient : bool, default False
        Whether to wait for a service that is away as long as that takes, instead of raising StoreError.
    """

    def __init__(self, address: str, token: str | None, patient: bool = False) -> None:
        base, name = stream_address(address, "questions go")
        self._calls = StreamCalls(name)
        # Without jitter, so that the time until a service counts as away is the documented one.
        policy = RetryPolicy(None if patient else _ATTEMPTS - 1, jitter=False, on_failure=_warn)
        self._transport = SyncTransport(base, token or None, policy, _TIMEOUT)

    def labels(self) -> list[str]:
        """The labels that people may answer with."""
        with _store_errors():
            found: list[str] = self._transport.call(self._calls.facts())["settings"]["labels"]
        return found

    def ask(self, questions: list[dict[str, Any]]) -> None:
        """Open questions; those that are open already stay so."""
        lines = b"".join(json.dumps(each).encode() + b"\n" for each in questions)
        with _store_errors():
            reply = self._transport.call(self._calls.play(lines))
        with _store_errors("the service refused a question"):
            for decision in decisions_of(reply):
                if not decision.query:
                    raise StoreError(
                        'its stream in the service must ask about everything: make it with "algorithm": "perceptron".',
                        owner="keyed",
                    )

    def settled(self, after: int) -> Iterator[tuple[int, Any, str | None]]:
        """Questions that were settled after an event: its number, what was shown, and the label or None."""
        found: list[tuple[int, int, str | None]] = []
        number = 0
        request = self._calls.events(after, "told,forgotten", timeout=_QUIET)
        with _store_errors(), _ends_with_timeout(), self._transport.streamed(request) as response:
            for line in response.iter_lines():
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("data: "):
                    facts = json.loads(line[6:])
                    found.append((number, facts["question"], facts["facts"].get("label")))
        for number, question, label in found:
            with _store_errors():
                shown = self._transport.call(self._calls.question(question)).get("show")
            yield number, shown, label

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()


def _warn(failed: int) -> None:
    if failed == _ATTEMPTS:
        log.warning("the service cannot be reached; its questions wait until it can")


@contextlib.contextmanager
def _store_errors(what: str = "the service refused") -> Iterator[None]:
    """Raise StoreError for an error of the client; the message says whether the service was away or refused."""
    try:
        yield
    except (ServiceError, InputError) as error:
        is_away = isinstance(error.__cause__, httpx.TransportError)
        raise StoreError(error.sentence if is_away else f"{what}: {error.sentence}", owner="keyed") from error


@contextlib.contextmanager
def _ends_with_timeout() -> Iterator[None]:
    """End this block where the service sends nothing for a while: its stream of events never ends by itself."""
    try:
        yield
    except ServiceError as error:
        if not isinstance(error.__cause__, httpx.ReadTimeout):
            raise


class QuestionSink:
    """Passes decisions on to an output log, and those that are questions to the service."""

    def __init__(self, address: str, token: str | None, out: DecisionSink, patient: bool = False) -> None:
        self._service, self._out = LabellingStream(address, token, patient), out

    @property
    def keeps_refused(self) -> bool:
        """Whether refusals include the texts of the events."""
        return self._out.keeps_refused

    def begin(self, partition: str, counts: Counts, waiting: int) -> None:
        """Refuse an output log that belongs to another store."""
        self._out.begin(partition, counts, waiting)

    def publish(self, partition: str, first: int, body: bytes) -> None:
        """Write what a commit decided; writing it again changes nothing."""
        self._out.publish(partition, first, body)
        asked = [_question(partition, each) for each in read(body) if each.get("query")]
        for start in range(0, len(asked), _AT_ONCE):
            self._service.ask(asked[start : start + _AT_ONCE])

    def close(self) -> None:
        """Close the connections and the output log."""
        self._service.close()
        self._out.close()


def _question(partition: str, decision: dict[str, Any]) -> dict[str, Any]:
    name = [partition, decision["key"], decision["round"]]
    shown = {"key": decision["key"], "round": decision["round"], "partition": partition}
    if "id" in decision:
        shown["id"] = decision["id"]
    identity = hashlib.blake2b(json.dumps(name).encode(), digest_size=16).hexdigest()
    return {"x": decision["x"], "id": identity, "show": shown}


class AnswerImporter:
    """Appends the answers of a labelling service to the log, as events."""

    def __init__(self, address: str, token: str | None, spec: SamplerSpec, log: EventLog, store: KeyedStore) -> None:
        self._service, self._log, self._store = LabellingStream(address, token), log, store
        self._name = f"answers of {address}"
        self._spec = spec
        self._labels: dict[str, Any] | None = None
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def import_new(self) -> int:
        """Append the answers since the last call; their number."""
        if self._labels is None:
            self._labels = self._labels_here(self._service.labels())
        after = self._store.recalled(self._name)
        found: dict[str, list[bytes]] = {}
        last = after
        for number, shown, label in self._service.settled(after):
            last = number
            if not isinstance(shown, dict) or not {"key", "round", "partition"} <= set(shown):
                continue  # a question that another producer has sent to the same stream
            event: dict[str, Any] = {"key": shown["key"], "round": shown["round"]}
            event |= {"forget": True} if label is None else {"label": self._labels.get(label, label)}
            found.setdefault(shown["partition"], []).append(json.dumps(event).encode() + b"\n")
        for partition, lines in found.items():
            self._log.append(partition, lines)
        # Last: killed before, this process has appended answers that the next one appends again, and none is lost.
        if last != after:
            self._store.remember(self._name, last)
        return sum(map(len, found.values()))

    def _labels_here(self, labels: list[str]) -> dict[str, Any]:
        """The samplers' label for each label of the service."""
        if self._spec.classes is not None:
            unknown = [label for label in labels if label not in self._spec.classes and not self._spec.most]
            if unknown:
                near = perhaps(unknown[0], self._spec.classes)
                raise InputError(
                    f"the stream in the service has the label {unknown[0]!r}, which is not a class of the samplers"
                    f"{near}.",
                    owner="keyed",
                )
            return {label: label for label in labels}
        if len(labels) != 2 or self._spec.parts.learner.regression:
            raise InputError("the stream in the service must have two labels, as the samplers do.", owner="keyed")
        return dict(zip(labels, self._spec.labels or (-1, 1), strict=True))

    def follow(self) -> None:
        """Go on importing answers, in a thread, until ``close``; a service that is away is tried again."""
        self._thread = threading.Thread(target=self._import_always, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop importing."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()
        self._service.close()

    def _import_always(self) -> None:
        pause = _QUIET
        while not self._ended.wait(pause):
            try:
                self.import_new()
                pause = _QUIET
            except AskwhenError:
                pause = min(2.0 * pause, _LONGEST_PAUSE)
