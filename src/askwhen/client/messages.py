"""What goes over the wire between a client and the service."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import httpx

from ..errors import AskwhenError, InputError
from .errors import ConflictError, NotAllowedError, NotFoundError, NotSignedInError, ServiceError, UnreachableError

AGAIN = (429, 502, 503, 504)
ERRORS: dict[int, type[AskwhenError]] = {
    401: NotSignedInError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    422: InputError,
}


class Decision(NamedTuple):
    """What the service says to an instance; if ``query``, answer with ``tell``.

    Attributes
    ----------
    round : int
        Its round, and the number of its question.
    prediction : str or None
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
    """

    round: int
    prediction: str | None
    margin: float
    probability: float
    query: bool
    why: str
    certainty: float | None = None
    uncertainty: float | None = None
    id: str | None = None
    again: bool = False


def decision(said: dict[str, Any]) -> Decision:
    """What the service said to an instance."""
    given: dict[str, Any] = {name: said.get(name) for name in Decision._fields if name in said}
    return Decision(query=said["asked"], **given)


def refuse(status: int, said: Any) -> None:
    """Raise what the service refused."""
    raise refusal(status, said)


def refusal(status: int, said: Any) -> AskwhenError:
    """What the service refused, as an error."""
    problem = said if isinstance(said, dict) else {}
    kind = UnreachableError if status in AGAIN else ERRORS.get(status, ServiceError)
    return kind(
        problem.get("detail", f"the service answered {status}."),
        owner=problem.get("owner", "Client"),
        parameter=problem.get("parameter"),
        expected=problem.get("expected"),
        got=problem.get("got"),
    )


def checked(response: httpx.Response) -> Any:
    """What a response says; a refusal is raised."""
    if response.status_code == 204:
        return None
    if response.is_success and "ndjson" in response.headers.get("content-type", ""):
        return response.text
    try:
        said = response.json()
    except ValueError:
        said = None
    if response.status_code >= 400:
        refuse(response.status_code, said)
    return said


def unreachable(error: httpx.TransportError) -> UnreachableError:
    """What to say where no service answers."""
    return UnreachableError(
        f"the service cannot be reached: {str(error).rstrip('.') or type(error).__name__}.", owner="Client"
    )


def plain(x: Any) -> Any:
    """Arrays and numbers of numpy as lists and numbers, a sparse row as a list; within dicts and lists too."""
    if hasattr(x, "toarray"):
        x = x.toarray().reshape(-1)
    if hasattr(x, "tolist"):
        x = x.tolist()
    if isinstance(x, dict):
        return {name: plain(value) for name, value in x.items()}
    return [plain(value) for value in x] if isinstance(x, (list, tuple)) else x


def encoded(said: Any) -> bytes:
    """What is sent, as JSON."""
    try:
        return json.dumps(said, allow_nan=False, separators=(",", ":")).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"this cannot be sent as JSON: {str(error).rstrip('.')}.", owner="Client") from error


def signed(token: str | None) -> dict[str, str]:
    """The header that says who one is; a token that cannot be one is refused without being shown."""
    if token is None:
        return {}
    if not (token.isascii() and token.isprintable() and token and " " not in token):
        raise InputError(
            "the token must be the text that was shown when it was made.", owner="Client", parameter="token"
        )
    return {"Authorization": f"Bearer {token}"}


def new_key() -> str:
    """A key that nobody else has, so that a request can be sent again."""
    return uuid.uuid4().hex


def instance(
    x: Any, id: str | None = None, priority: float = 0.0, show: Any = None, subject: str | None = None
) -> dict[str, Any]:
    """An instance as it is sent; it has an id, so that it can be sent again."""
    found: dict[str, Any] = {"x": plain(x), "id": new_key() if id is None else id}
    if priority:
        found["priority"] = priority
    if show is not None:
        found["show"] = show
    if subject is not None:
        found["subject"] = subject
    return found


def answer(label: str | None, key: str | None, lead: float | None, annotator: str | None) -> dict[str, Any]:
    """An answer as it is sent, with a key."""
    given = {"label": label, "unsure": label is None, "key": new_key() if key is None else key, "lead": lead}
    return given | ({} if annotator is None else {"annotator": annotator})


def volunteered(
    given: Decision | str | int, label: str | None, key: str | None, annotator: str | None
) -> dict[str, Any]:
    """A label that nobody asked for as it is sent, with a key."""
    place = (
        {"id": given} if isinstance(given, str) else {"round": given.round if isinstance(given, Decision) else given}
    )
    said = {"label": label, "key": new_key() if key is None else key, **place}
    return said | ({} if annotator is None else {"annotator": annotator})


def lines(instances: Iterable[Any]) -> bytes:
    """Many instances as NDJSON."""
    made = [{"id": new_key(), **plain(x)} if is_whole(x) else instance(x) for x in instances]
    return b"".join(encoded(each) + b"\n" for each in made)


def is_whole(x: Any) -> bool:
    """Whether this is an instance with its id and priority, and not features of which one is called x."""
    return isinstance(x, dict) and "x" in x and x.keys() <= {"x", "id", "priority", "show", "subject"}


def from_lines(text: str) -> Iterator[Decision]:
    """What the service said to many, in order; a refusal is raised when its turn comes."""
    for line in text.rstrip("\n").split("\n"):
        said = json.loads(line)
        if "error" in said:
            refuse(said["error"]["status"], said["error"])
        yield decision(said)


def outcomes(text: str) -> list[Decision | AskwhenError]:
    """What the service said to each of many, in order; a refusal of all that follow is raised."""
    found: list[Decision | AskwhenError] = []
    for line in text.rstrip("\n").split("\n"):
        said = json.loads(line)
        if "error" not in said:
            found.append(decision(said))
        elif said.get("end"):
            refuse(said["error"]["status"], said["error"])
        else:
            found.append(refusal(said["error"]["status"], said["error"]))
    return found


def rows_of(rest: bytes, part: bytes) -> tuple[list[Any], bytes]:
    """The rows of NDJSON that end in the next part of a reply, and what is left of it."""
    *lines, rest = (rest + part).split(b"\n")
    return [json.loads(line) for line in lines if line], rest


def pause(attempt: int) -> float:
    """How long to wait before the next try."""
    return min(0.1 * 2.0**attempt, 10.0) * (0.5 + random.random())


def parts(things: Iterable[Any], size: int) -> Iterator[list[Any]]:
    """Lists of so many things."""
    part: list[Any] = []
    for thing in things:
        part.append(thing)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part
