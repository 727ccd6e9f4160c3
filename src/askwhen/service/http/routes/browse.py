"""The table of instances: search, one instance, corrections, flags, predicting again."""

from __future__ import annotations

from typing import Annotated

from litestar import get, post
from litestar.params import Parameter

from ...events.label_sets import text_of
from ...store.listing import Sort
from ...use_cases import browsing, correcting
from ...use_cases.browsing import Again, Filters, One, Page
from ...use_cases.instance_outcomes import State
from ..authorization import AnyRequest, authorization_of
from ..request_checks import ROLE
from ..schemas import Correction, Flag
from .questions import _who

Text = Annotated[str | None, Parameter(max_length=1_000)]
Item = Annotated[int, Parameter(ge=-(2**39), le=2**39)]
Share = Annotated[float | None, Parameter(ge=0.0, le=1.0)]
Limit = Annotated[int, Parameter(ge=1, le=200)]


@get("/v1/streams/{name:str}/instances", summary="Search instances")
async def browsed(
    request: AnyRequest,
    name: str,
    search: Text = None,
    label: Text = None,
    prediction: Text = None,
    person: Text = None,
    source: Text = None,
    status: State | None = None,
    flagged: bool = False,
    changed: bool = False,
    since: float | None = None,
    until: float | None = None,
    least: Share = None,
    most: Share = None,
    sort: Sort = "newest",
    after: Text = None,
    limit: Limit = 50,
) -> Page:
    """By words of what was shown, label, prediction, certainty, person, status, flags and dates; ``after`` is ``next``.

    With ``changed`` those whose prediction is another one since they were predicted again.
    """
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    filters = Filters(
        search or "", label, prediction, status, person, source, flagged, changed, since, until, least, most, sort
    )
    return await browsing.browse(auth.coordinator, request.app.state.listings, stream, filters, after, limit)


@get("/v1/streams/{name:str}/instance", summary="Show an instance")
async def one(request: AnyRequest, name: str, item: Item) -> One:
    """With its history."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await browsing.one(auth.coordinator, request.app.state.listings, stream, item)


@post("/v1/streams/{name:str}/predict", status_code=200, summary="Predict every instance again")
async def predicted(request: AnyRequest, name: str) -> Again:
    """By today's model; what was delivered stays as it is."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await browsing.predict_again(auth.coordinator, request.app.state.listings, stream)


@post("/v1/streams/{name:str}/correct", status_code=204, opt={ROLE: "reviewer"}, summary="Correct a label")
async def corrected(request: AnyRequest, name: str, data: Correction) -> None:
    """Of any decided instance: as a reviewer's decision, as an answer, or as an unsolicited label."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    who = _who(auth, holder, data.annotator)
    await correcting.correct(auth.coordinator, stream, data.round, who, text_of(data.label))


@post("/v1/streams/{name:str}/flag", status_code=204, opt={ROLE: "reviewer"}, summary="Flag an instance")
async def flagged(request: AnyRequest, name: str, data: Flag) -> None:
    """For others to look at; or take the flag away."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "reviewer")
    await correcting.flag(auth.coordinator, stream, data.round, _who(auth, holder, data.annotator), data.flagged)


handlers = [browsed, one, predicted, corrected, flagged]
