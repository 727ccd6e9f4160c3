"""Gold questions, whose label is known: give them, list them, remove them. For reviewers."""

from __future__ import annotations

from typing import Annotated

from litestar import Router, delete, get, post
from litestar.params import Parameter

from ...use_cases import gold
from ...use_cases.gold import AddedGold, GoldPage
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import NewGoldQuestions

Number = Annotated[int, Parameter(ge=0, le=2**31)]


@get("/", summary="List the gold questions")
async def listed(
    request: AnyRequest, name: str, after: Number = 0, limit: Annotated[int, Parameter(ge=1, le=1000)] = 100
) -> GoldPage:
    """With their labels, and how many answers were the same. ``after`` is ``next`` of the last page."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await gold.listed(auth.coordinator, stream, after, limit)


@post("/", status_code=200, opt={ROLE: "reviewer"}, summary="Give gold questions")
async def added(request: AnyRequest, name: str, data: NewGoldQuestions) -> AddedGold:
    """Instances whose label is known, mixed in among the questions; the model never learns from the answers."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    return await gold.add(auth.coordinator, stream, data.questions, "" if auth.is_open else holder.name)


@delete("/{question:int}", summary="Remove a gold question")
async def removed(request: AnyRequest, name: str, question: Number) -> None:
    """It is not asked any more, and what was answered to it does not count for the people any more."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    await gold.remove(auth.coordinator, stream, question, "" if auth.is_open else holder.name)


router = Router("/v1/streams/{name:str}/gold", route_handlers=[listed, added, removed])
