"""Streams: make, list, change."""

from __future__ import annotations

from litestar import Router, delete, get, patch, post

from ....errors import InputError
from ...use_cases import deleting, erasing, replaying, streams
from ...use_cases.erasing import Gone, Which
from ..authorization import AnyRequest, authorization_of, is_given
from ..request_checks import ROLE
from ..schemas import NewStream, ReplayFacts, StreamFacts, StreamPatch
from .dashboard import steady_of


@post("/", opt={ROLE: "admin"}, summary="Make a stream")
async def create(request: AnyRequest, data: NewStream) -> StreamFacts:
    """Labels, algorithm, budget, features and how questions are answered."""
    auth = authorization_of(request)
    holder = auth.holder(request, "admin")
    stream = await streams.create(auth.coordinator, data.name, data.settings, data.key, holder.name)
    return StreamFacts(**streams.facts(stream))


@get("/", summary="List the streams")
async def listed(request: AnyRequest, archived: bool = False) -> list[StreamFacts]:
    """Those that the token is for; archived ones only on request."""
    auth = authorization_of(request)
    holder = auth.identify(request)
    await auth.coordinator.commits.settled()
    found = [
        steady_of(request).stream(holder, stream)
        for _, stream in sorted(auth.coordinator.streams.items())
        if (holder.streams is None or stream.number in holder.streams) and is_given(stream, holder)
    ]
    return [StreamFacts(**each) for each in found if archived or each["state"] != "archived"]


@get("/{name:str}", summary="Show a stream")
async def shown(request: AnyRequest, name: str) -> StreamFacts:
    """Its settings and counts."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    await auth.coordinator.commits.settled()
    return StreamFacts(**steady_of(request).stream(holder, stream))


@patch("/{name:str}", opt={ROLE: "admin"}, summary="Rename a stream, or change its settings")
async def patched(request: AnyRequest, name: str, data: StreamPatch) -> StreamFacts:
    """Give it another name, or change some settings from now on; settings that are not named stay."""
    auth = authorization_of(request)
    _, holder = auth.stream(request, name, "admin")
    if data.name is not None and data.settings is None:
        stream = await streams.rename(auth.coordinator, name, data.name, holder.name)
    elif data.settings is not None and data.name is None:
        stream = await streams.change_settings(auth.coordinator, name, data.settings, holder.name, data.key)
    else:
        raise InputError("give either a name or settings, not both.", owner="stream")
    return StreamFacts(**streams.facts(stream))


@post("/{name:str}/pause", status_code=200, summary="Pause a stream")
async def paused(request: AnyRequest, name: str) -> StreamFacts:
    """It refuses instances until it is resumed, but accepts answers."""
    return await _changed(request, name, "paused")


@post("/{name:str}/resume", status_code=200, summary="Resume a stream")
async def resumed(request: AnyRequest, name: str) -> StreamFacts:
    """A stream that was paused or archived takes instances again."""
    return await _changed(request, name, "resumed")


@post("/{name:str}/archive", status_code=200, summary="Archive a stream")
async def archived(request: AnyRequest, name: str) -> StreamFacts:
    """It asks nothing more, and is no longer listed; nothing is destroyed."""
    return await _changed(request, name, "archived")


async def _changed(request: AnyRequest, name: str, what: str) -> StreamFacts:
    auth = authorization_of(request)
    _, holder = auth.stream(request, name, "admin")
    return StreamFacts(**streams.facts(await streams.change(auth.coordinator, name, what, holder.name)))


@delete("/{name:str}", opt={ROLE: "admin"}, summary="Delete a stream")
async def deleted(request: AnyRequest, name: str) -> None:
    """For good, with all that it has; it must be archived. The log of the service keeps who deleted it, and when."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    await deleting.delete(auth.coordinator, stream, holder.name)


@post("/{name:str}/replay", status_code=200, summary="Retrain the model")
async def replayed(request: AnyRequest, name: str) -> ReplayFacts:
    """From the corrected log: corrected labels are learnt in their current form."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    return ReplayFacts(await replaying.replay(auth.coordinator, stream, holder.name))


@post("/{name:str}/erase", status_code=200, opt={ROLE: "admin"}, summary="Erase contents")
async def erased(request: AnyRequest, name: str, data: Which) -> Gone:
    """For good: features, text and subject go; decisions, labels and the model stay. Open questions are dropped."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "admin")
    return await erasing.erase(auth.coordinator, stream, data, holder.name)


router = Router(
    "/v1/streams", route_handlers=[create, listed, shown, patched, paused, resumed, archived, deleted, replayed, erased]
)
