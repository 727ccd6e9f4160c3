"""The messages between a client and the service: bodies of requests, and what is read from replies."""

from __future__ import annotations

import json
import math
import uuid
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, NamedTuple, TypeVar

import httpx

from ..errors import AskwhenError, InputError
from .errors import ConflictError, NotAllowedError, NotFoundError, NotSignedInError, ServiceError, UnreachableError

UNAVAILABLE = (429, 502, 503, 504)
"""Statuses of a service that is busy, stopping or away, after which the same request may succeed."""

_ERRORS: dict[int, type[AskwhenError]] = {
    401: NotSignedInError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    422: InputError,
}
_WAITS = "it waits in the backlog"
_T = TypeVar("_T")

Label = str | float | list[str]
"""A label: a text, a number, or a list where several may apply at once."""


class Decision(NamedTuple):
    """The decision of the service about an instance; if ``query``, answer with ``tell``.

    Attributes
    ----------
    round : int
        Its round, and the number of its question.
    prediction : str, float, list or None
        The label that is predicted; None while no class is known.
    margin, probability : float
        Of the prediction, and of asking.
    query : bool
        Whether a question was opened.
    why : str
        Why it was, or was not.
    certainty, uncertainty : float or None
        How likely the prediction is right, and how little the learner knows here, where it can tell.
    id : str or None
        Of the instance, if it came with one.
    again : bool
        Whether it had come before: then this is the first reply.
    provisional : bool
        Whether it waits in the backlog of the stream for its decision: ``prediction`` and ``certainty`` are today's,
        ``round`` is -1, and ``margin`` and ``probability`` are NaN.
    place : int or None
        Its number in the backlog.
    repeats : int or None
        The round with the same content that was answered before, if there is one.
    label : str, float, list or None
        That answer.
    delivered : str, float, list or None
        On a stream with a promise, the label to use now; None while the question waits, and where it is withheld.
    withheld : bool
        Whether the promise allows no label yet, so that the instance is decided again later.
    """

    round: int
    prediction: Label | None
    margin: float
    probability: float
    query: bool
    why: str
    certainty: float | None = None
    uncertainty: float | None = None
    id: str | None = None
    again: bool = False
    provisional: bool = False
    place: int | None = None
    repeats: int | None = None
    label: Label | None = None
    delivered: str | None = None
    withheld: bool = False


def decision_of(reply: dict[str, Any]) -> Decision:
    """The decision in the reply to an instance."""
    if reply.get("provisional"):
        reply = {"round": -1, "margin": math.nan, "probability": math.nan, "asked": False, "why": _WAITS, **reply}
    given: dict[str, Any] = {name: reply.get(name) for name in Decision._fields if name in reply}
    return Decision(query=reply["asked"], **given)


def refusal(status: int, problem: Any) -> AskwhenError:
    """The error for a refusal of the service, from its status and its problem details."""
    details = problem if isinstance(problem, dict) else {}
    kind = UnreachableError if status in UNAVAILABLE else _ERRORS.get(status, ServiceError)
    return kind(
        details.get("detail", f"the service answered {status}."),
        owner=details.get("owner", "Client"),
        parameter=details.get("parameter"),
        expected=details.get("expected"),
        got=details.get("got"),
    )


def json_of(response: httpx.Response) -> Any:
    """The JSON of a response; None if its body is not JSON, as that of a proxy's error page."""
    try:
        return response.json()
    except ValueError:
        return None


def parse_reply(response: httpx.Response) -> Any:
    """The JSON of a response, its text if it is NDJSON, or None if it is empty; a refusal is raised."""
    if response.status_code == 204:
        return None
    if response.is_success and "ndjson" in response.headers.get("content-type", ""):
        return response.text
    reply = json_of(response)
    if response.status_code >= 400:
        raise refusal(response.status_code, reply)
    return reply


def to_json_values(x: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers, a sparse row as a list; within dicts and lists too."""
    if hasattr(x, "toarray"):
        x = x.toarray().reshape(-1)
    if hasattr(x, "tolist"):
        x = x.tolist()
    if isinstance(x, dict):
        return {name: to_json_values(value) for name, value in x.items()}
    return [to_json_values(value) for value in x] if isinstance(x, (list, tuple)) else x


def json_bytes(body: Any) -> bytes:
    """The body of a request as JSON."""
    try:
        return json.dumps(body, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"this cannot be sent as JSON: {str(error).rstrip('.')}.", owner="Client") from error


def auth_headers(token: str | None) -> dict[str, str]:
    """The header with a token; text that cannot be a token is refused, and the message does not show it."""
    if token is None:
        return {}
    if not (token.isascii() and token.isprintable() and token and " " not in token):
        raise InputError(
            "the token must be the text that was shown when it was made.", owner="Client", parameter="token"
        )
    return {"Authorization": f"Bearer {token}"}


def new_key() -> str:
    """A unique key: the service acts once on requests with the same key, so that one can be sent again."""
    return uuid.uuid4().hex


def instance_body(
    x: Any,
    id: str | None = None,
    priority: float = 0.0,
    show: Any = None,
    subject: str | None = None,
    source: str | None = None,
    advice: dict[str, Any] | None = None,
) -> dict[str, Any]:
    """The body that sends an instance; it always has an id, so that it can be sent again."""
    body: dict[str, Any] = {"x": to_json_values(x), "id": new_key() if id is None else id}
    if priority:
        body["priority"] = priority
    if show is not None:
        body["show"] = show
    if subject is not None:
        body["subject"] = subject
    if source is not None:
        body["source"] = source
    if advice is not None:
        body["advice"] = advice_values(advice)
    return body


def advice_values(advice: Any) -> Any:
    """Advice as JSON has it, which lacks NaN: such a confidence is left out."""
    return _without_nan(to_json_values(advice))


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_nan(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_without_nan(each) for each in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def advice_body(given: Decision | str | int, advice: dict[str, Any], key: str | None) -> dict[str, Any]:
    """The body that gives advice on an instance that was sent before, with a key."""
    which = {"id": given} if isinstance(given, str) else {"round": round_of(given)}
    if isinstance(given, Decision) and given.id is not None:
        which = {"id": given.id}
    return {"advice": advice_values(advice), "key": new_key() if key is None else key, **which}


def answer_body(label: Label | None, key: str | None, lead: float | None, annotator: str | None) -> dict[str, Any]:
    """The body that answers a question, with a key."""
    body = {"label": label, "unsure": label is None, "key": new_key() if key is None else key, "lead": lead}
    return body | ({} if annotator is None else {"annotator": annotator})


def unsolicited_label_body(
    given: Decision | str | int, label: Label | None, key: str | None, annotator: str | None
) -> dict[str, Any]:
    """The body that gives a label without a question, with a key."""
    which = {"id": given} if isinstance(given, str) else {"round": round_of(given)}
    body = {"label": label, "key": new_key() if key is None else key, **which}
    return body | ({} if annotator is None else {"annotator": annotator})


def round_of(given: Decision | int) -> int:
    """The round of a decision, or the round itself."""
    return given.round if isinstance(given, Decision) else given


def ndjson(instances: Iterable[Any]) -> bytes:
    """Many instances as NDJSON."""
    return b"".join(json_bytes(_body(x)) + b"\n" for x in instances)


def _body(x: Any) -> dict[str, Any]:
    if not is_instance_body(x):
        return instance_body(x)
    advice = {} if x.get("advice") is None else {"advice": advice_values(x["advice"])}
    return {"id": new_key(), **to_json_values(x), **advice}


def is_instance_body(x: Any) -> bool:
    """Whether x is a dict of x, id, priority, ... of an instance, and not its features, one of them called x."""
    return (
        isinstance(x, dict) and "x" in x and x.keys() <= {"x", "id", "priority", "show", "subject", "source", "advice"}
    )


def decisions_of(text: str) -> Iterator[Decision]:
    """The decisions in an NDJSON reply, in order; a refusal is raised when its turn comes."""
    for line in text.rstrip("\n").split("\n"):
        reply = json.loads(line)
        if "error" in reply:
            raise refusal(reply["error"]["status"], reply["error"])
        yield decision_of(reply)


def outcomes_of(text: str) -> list[Decision | AskwhenError]:
    """The decision or the refusal of each instance in an NDJSON reply; a refusal of all that follow is raised."""
    outcomes: list[Decision | AskwhenError] = []
    for line in text.rstrip("\n").split("\n"):
        reply = json.loads(line)
        if "error" not in reply:
            outcomes.append(decision_of(reply))
            continue
        error = refusal(reply["error"]["status"], reply["error"])
        if reply.get("end"):
            raise error
        outcomes.append(error)
    return outcomes


def rows_of(rest: bytes, part: bytes) -> tuple[list[Any], bytes]:
    """The rows of NDJSON that end in the next part of a reply, and the incomplete line that is left."""
    *lines, rest = (rest + part).split(b"\n")
    return [json.loads(line) for line in lines if line], rest


def in_batches(things: Iterable[_T], size: int) -> Iterator[list[_T]]:
    """Lists of ``size`` things, the last one shorter; one list of all things if the size is not positive."""
    iterator = iter(things)
    while batch := list(islice(iterator, size if size > 0 else None)):
        yield batch
