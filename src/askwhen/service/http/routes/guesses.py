"""The model's prediction for a question, shown only to annotators who have answered it."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from litestar.params import Parameter

from ...errors import NotAllowedError
from ...events.label_sets import Label
from ...use_cases.advice_shown import AdviceShown
from ...use_cases.questions import advice_on, found_for
from ...use_cases.steady_figures import is_for
from ..authorization import AnyRequest, authorization_of

Round = Annotated[int, Parameter(ge=0, le=2**53)]


class Guess(msgspec.Struct, omit_defaults=True):
    """What the model predicted, and what advisers say."""

    question: int
    guess: Label | None
    advice: list[AdviceShown] = []


@get("/v1/streams/{name:str}/questions/{question:int}/guess", summary="Show what the model guessed")
async def guess(request: AnyRequest, name: str, question: Round, annotator: str | None = None) -> Guess:
    """After one's own answer; before that only where the stream shows it."""
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "annotator")
    await auth.coordinator.commits.settled()
    who = annotator if auth.is_open and annotator is not None else holder.name
    found = found_for(stream, question, who if is_for(holder, stream) else None)
    slot = found.slot_of(who)
    has_answered = slot is not None and found.slots[slot].answer is not None
    if not (has_answered or stream.settings.guess):
        raise NotAllowedError("the guess is shown after the answer.", owner="question")
    advice = []
    if has_answered or stream.settings.advice:
        advice = advice_on(stream, auth.coordinator.event(stream, found.seq), question)
    return Guess(question, stream.seen_label(found.prediction), advice)
