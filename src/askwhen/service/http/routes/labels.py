"""The labels of a stream: list, add, rename, merge; and unsolicited labels of instances."""

from __future__ import annotations

from litestar import Router, get, post

from ...domain.stream import ServiceStream
from ...use_cases import label_changes, streams
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import AddedLabels, LabelFacts, LabelMerge, LabelName, StreamFacts
from .questions import labelled


@get("/", summary="List the labels")
async def listed(request: AnyRequest, name: str) -> list[LabelFacts]:
    """In their order, with their descriptions and colours; where labels are open, those given so far."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name)
    await auth.coordinator.commits.settled()
    about, colours = stream.settings.about, stream.settings.colours
    return [LabelFacts(each, about.get(each, ""), colours.get(each)) for each in stream.questions.labels]


@post("/add", status_code=200, opt={ROLE: "admin"}, summary="Add labels")
async def added(request: AnyRequest, name: str, data: AddedLabels) -> StreamFacts:
    """The model knows them at once: it is retrained, with the decisions and answers of the log."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    await label_changes.add(auth.coordinator, stream, data.labels, holder.name, data.key)
    return _facts(stream)


@post("/rename", status_code=200, opt={ROLE: "admin"}, summary="Rename a label")
async def renamed(request: AnyRequest, name: str, data: LabelName) -> StreamFacts:
    """Also where it was given before; answers with the former name are taken as the new one."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    await label_changes.rename(auth.coordinator, stream, data.label, data.to, holder.name, data.key)
    return _facts(stream)


@post("/merge", status_code=200, opt={ROLE: "admin"}, summary="Merge a label into another one")
async def merged(request: AnyRequest, name: str, data: LabelMerge) -> StreamFacts:
    """Also where it was given before; the model is retrained, with the decisions and answers of the log."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    await label_changes.merge(auth.coordinator, stream, data.label, data.into, holder.name, data.key)
    return _facts(stream)


def _facts(stream: ServiceStream) -> StreamFacts:
    return StreamFacts(**streams.facts(stream))


router = Router("/v1/streams/{name:str}/labels", route_handlers=[listed, labelled, added, renamed, merged])
