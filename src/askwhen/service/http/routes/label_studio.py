"""The addresses that Label Studio calls, and those that bring its exports in and out."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from typing import Annotated, Any

from litestar import Router, get, post
from litestar.handlers import BaseRouteHandler
from litestar.params import Parameter
from litestar.types import ASGIApp

from ....errors import AskwhenError
from ...domain.stream import ServiceStream
from ...use_cases import audit
from ...use_cases.label_studio import backend
from ...use_cases.label_studio.annotations import array_of
from ...use_cases.label_studio.inbox import Inbox
from ...use_cases.label_studio.requests import Exported, Predict, Said, Setup, Sync, Train
from ...use_cases.label_studio.tasks import written_tasks
from ..authorization import AnyRequest, Authorization, authorization_of
from ..streaming import Download

ROLES = "roles"
PRODUCER, BOTH = {ROLES: ("producer",)}, {ROLES: ("producer", "annotator")}
LARGEST = 32 << 20
"""Largest body in bytes: a batch of tasks with everything that annotators see."""

UP = {"status": "UP", "model_class": "askwhen"}
Name = Annotated[str, Parameter(min_length=1, max_length=100)]
log = logging.getLogger("askwhen.service")


def _enter(request: AnyRequest, name: str, *roles: str) -> tuple[Authorization, Inbox, ServiceStream]:
    """The stream, for senders who have all these roles."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    for role in roles:
        holder.check(role, stream.number)
    return auth, request.app.state.inbox, stream


async def _admit(request: Any, handler: BaseRouteHandler) -> None:
    """Refuse senders who lack a role, before the body is read."""
    name = request.path_params["name"]
    with _log_refusal(name):
        _enter(request, name, *handler.opt.get(ROLES, ()))


@contextlib.contextmanager
def _log_refusal(name: str) -> Iterator[None]:
    """Log refusals, since Label Studio shows their status only."""
    try:
        yield
    except AskwhenError as error:
        log.warning("label studio was refused", extra={"facts": {"stream": name, "said": error.sentence}})
        raise


@get(["/", "/health"], summary="Check that the stream exists")
async def health(request: AnyRequest, name: str) -> dict[str, str]:
    """As Label Studio asks before everything else."""
    _enter(request, name)
    return UP


@post("/setup", status_code=200, opt=PRODUCER, summary="Check that the stream fits a project")
async def setup(request: AnyRequest, name: str, data: Setup) -> dict[str, Any]:
    """Refused where the labelling config is not one Choices with the labels of the stream."""
    with _log_refusal(name):
        _, _, stream = _enter(request, name, "producer")
        return backend.setup(stream, data)


@get("/versions", summary="The versions of the model")
async def versions(request: AnyRequest, name: str) -> dict[str, list[str]]:
    """One: the stream."""
    _, _, stream = _enter(request, name)
    return {"versions": [stream.name]}


@post("/predict", status_code=200, opt=PRODUCER, request_max_body_size=LARGEST, summary="Predict tasks")
async def predict(request: AnyRequest, name: str, data: Predict) -> dict[str, Any]:
    """Each task is an instance, once."""
    with _log_refusal(name):
        auth, _, stream = _enter(request, name, "producer")
        return await backend.predict(auth.coordinator, stream, data)


@post("/webhook", status_code=201, opt=BOTH, request_max_body_size=LARGEST, summary="Take changes of annotations")
async def webhook(request: AnyRequest, name: str, data: Said) -> dict[str, Any]:
    """Safe once this returns, and learnt right after."""
    with _log_refusal(name):
        auth, inbox, stream = _enter(request, name, "producer", "annotator")
        return await backend.webhook(auth.coordinator, inbox, stream, data)


@post("/train", status_code=201, opt=BOTH, request_max_body_size=LARGEST, summary="Take all annotations")
async def train(request: AnyRequest, name: str, data: Train) -> Sync:
    """As older versions of Label Studio send them."""
    with _log_refusal(name):
        auth, inbox, stream = _enter(request, name, "producer", "annotator")
        return await backend.train(auth.coordinator, inbox, stream, data)


@post("/sync", status_code=200, opt=BOTH, request_max_body_size=LARGEST, summary="Take an export")
async def sync(request: AnyRequest, name: str, data: Exported) -> Sync:
    """Takes what webhooks missed; the same export again changes nothing."""
    auth, inbox, stream = _enter(request, name, "producer", "annotator")
    return await backend.sync(auth.coordinator, inbox, stream, data)


@get("/tasks", summary="Download instances as tasks")
async def tasks(
    request: AnyRequest, name: str, from_name: Name = "label", to_name: Name = "text", field: Name = "text"
) -> ASGIApp:
    """With predictions and annotations, as Label Studio imports them."""
    auth, _, stream = _enter(request, name, "reviewer")
    await auth.coordinator.commits.settled()
    until = stream.seq
    await audit.exported(auth.coordinator, stream.number, "tasks", auth.identify(request).name, "label-studio")

    def make(reader: Any) -> Iterator[bytes]:
        return array_of(written_tasks(reader, stream, until, from_name, to_name, field))

    return Download(auth.coordinator, make, "application/json", f"{name}-tasks.json")


router = Router(
    "/label-studio/{name:str}",
    guards=[_admit],
    route_handlers=[health, setup, versions, predict, webhook, train, sync, tasks],
)
