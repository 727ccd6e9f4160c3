"""What goes over the wire between a client and the service."""

from __future__ import annotations

import json
import random
import uuid
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import httpx

from ...errors import AskwhenError, InputError
from ..errors import ConflictError, NotAllowedError, NotFoundError, NotSignedInError, ServiceError

AGAIN = (429, 502, 503, 504)
ERRORS: dict[int, type[AskwhenError]] = {
    401: NotSignedInError,
    403: NotAllowedError,
    404: NotFoundError,
    409: ConflictError,
    422: InputError,
}


class Decision(NamedTuple):
    """What the service says to an instance; if ``query``, answer with ``tell``."""

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
    problem = said if isinstance(said, dict) else {}
    kind = ERRORS.get(status, ServiceError)
    raise kind(
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
    try:
        said = response.json()
    except ValueError:
        said = None
    if response.status_code >= 400:
        refuse(response.status_code, said)
    return said


def plain(x: Any) -> Any:
    """Arrays as lists."""
    return x.tolist() if hasattr(x, "tolist") else x


def instance(x: Any, id: str | None, priority: float, show: Any) -> dict[str, Any]:
    """An instance as it is sent; it has an id, so that it can be sent again."""
    found: dict[str, Any] = {"x": plain(x), "id": id or uuid.uuid4().hex}
    if priority:
        found["priority"] = priority
    if show is not None:
        found["show"] = show
    return found


def answer(label: str | None, key: str | None, lead: float | None, annotator: str | None) -> dict[str, Any]:
    """An answer as it is sent, with a key."""
    given = {"label": label, "unsure": label is None, "key": key or uuid.uuid4().hex, "lead": lead}
    return given | ({} if annotator is None else {"annotator": annotator})


def lines(instances: Iterable[Any]) -> bytes:
    """Many instances as NDJSON."""
    made = [instance(x, None, 0.0, None) if not is_whole(x) else {"id": uuid.uuid4().hex, **x} for x in instances]
    return b"".join(json.dumps(each).encode() + b"\n" for each in made)


def is_whole(x: Any) -> bool:
    """Whether this is an instance with its id and priority."""
    return isinstance(x, dict) and "x" in x


def from_lines(text: str) -> list[Decision]:
    """What the service said to many."""
    found = [json.loads(line) for line in text.splitlines()]
    strange = next((each["error"] for each in found if "error" in each), None)
    if strange is not None:
        refuse(strange["status"], strange)
    return [decision(each) for each in found]


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
