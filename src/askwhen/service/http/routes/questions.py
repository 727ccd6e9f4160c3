"""Questions: next, answer, skip, undo, review."""

from __future__ import annotations

from typing import Annotated, Any

from litestar import Response, Router, get, post
from litestar.params import Parameter

from ....errors import InputError
from ...domain.stream import ServiceStream
from ...domain.tokens import Holder
from ...errors import NotAllowedError
from ...events.label_sets import text_of
from ...events.settings import GROUP, LONGEST_NAME, is_person
from ...use_cases import comments, labels, questions
from ...use_cases.labels import Labelled
from ...use_cases.questions import Progress, Receipt, Shown, Undo
from ...use_cases.steady_figures import is_for
from ..authorization import AnyRequest, Authorization, authorization_of
from ..request_checks import ROLE
from ..schemas import Given, Held, NewComment, NewLabel, Reservation, Verdict, Who, WhoNext

COMMENTING = ("annotator", "reviewer")
Round = Annotated[int, Parameter(ge=0, le=2**53)]


def _who(auth: Authorization, holder: Holder, given: str | None) -> str:
    """The name of the annotator: that of the token, or where none are required the given one."""
    if not auth.is_open:
        if given is not None and given != holder.name:
            raise InputError(
                "annotator must be the name of the token, or left out.", owner="answer", parameter="annotator"
            )
        return holder.name
    found = holder.name if given is None else given
    if not is_person(found):
        raise InputError(
            f"annotator must be a printable text of 1 to {LONGEST_NAME} characters that does not begin with {GROUP}.",
            owner="answer",
        )
    return found


def _enter(
    request: AnyRequest, name: str, given: str | None, role: str | tuple[str, ...] = "annotator"
) -> tuple[Authorization, ServiceStream, str]:
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, role)
    return auth, stream, _who(auth, holder, given)


def _key(data: Who | None) -> str | None:
    return None if data is None else data.key


@get("/", summary="List open questions")
async def listed(
    request: AnyRequest,
    name: str,
    disputed: bool = False,
    after: Annotated[int, Parameter(ge=-1, le=2**53)] = -1,
    limit: Annotated[int, Parameter(ge=1, le=1000)] = 100,
) -> list[Shown]:
    """Oldest first; with ``disputed`` those that wait for a reviewer."""
    auth = authorization_of(request)
    stream, _ = auth.stream(request, name, "reviewer")
    return await questions.waiting(auth.coordinator, stream, disputed, after, limit)


@post("/next", status_code=200, opt={ROLE: "annotator"}, summary="Get the next question")
async def next_one(request: AnyRequest, name: str, data: WhoNext | None = None) -> Response[Any]:
    """With a lease of one slot; 204 where there is no question now."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    found = await questions.next_question(
        auth.coordinator, stream, who, _key(data), None if data is None else data.device
    )
    return Response(None, status_code=204) if found is None else Response(found)


@get("/{question:int}", summary="Show a question")
async def shown(request: AnyRequest, name: str, question: Round) -> Shown:
    """Open or closed. An annotator sees the label and the guess of a question only after answering it.

    In a stream with gold questions, who only annotates sees only questions that they hold or have had.
    """
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name)
    sees_all = holder.has("reviewer", "producer")
    who = None if sees_all else holder.name
    return await questions.show(auth.coordinator, stream, question, who, only_had=is_for(holder, stream))


@post("/{question:int}/answer", status_code=200, opt={ROLE: "annotator"}, summary="Answer a question")
async def answered(request: AnyRequest, name: str, question: Round, data: Given) -> Receipt:
    """A label, or unsure. It is stored once this returns; the model learns it after the grace period."""
    return await take_answer(authorization_of(request), request, name, question, data)


async def take_answer(auth: Authorization, request: AnyRequest, name: str, question: int, data: Given) -> Receipt:
    """The receipt of an answer."""
    stream, holder = auth.stream(request, name, "annotator")
    who = _who(auth, holder, data.annotator)
    if (data.label is None) != data.unsure:
        raise InputError("give either a label, or unsure.", owner="answer", parameter="label")
    return await questions.answer(auth.coordinator, stream, question, who, text_of(data.label), data.key, data.lead)


@post("/{question:int}/renew", status_code=200, opt={ROLE: "annotator"}, summary="Hold a slot longer")
async def renewed(request: AnyRequest, name: str, question: Round, data: Who | None = None) -> Held:
    """While the page is open."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    return Held(await questions.renew(auth.coordinator, stream, question, who))


@post("/{question:int}/release", status_code=204, opt={ROLE: "annotator"}, summary="Give a slot back")
async def released(request: AnyRequest, name: str, question: Round, data: Who | None = None) -> None:
    """On leaving the page."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    await questions.release(auth.coordinator, stream, question, who, _key(data))


@post("/{question:int}/skip", status_code=204, opt={ROLE: "annotator"}, summary="Skip a question")
async def skipped(request: AnyRequest, name: str, question: Round, data: Who | None = None) -> None:
    """The annotator does not get it again unless they undo it; others may."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    await questions.skip(auth.coordinator, stream, question, who, _key(data))


@post("/{question:int}/undo", status_code=200, opt={ROLE: "annotator"}, summary="Undo an answer or a skip")
async def undone(request: AnyRequest, name: str, question: Round, data: Who | None = None) -> Undo:
    """The slot is held for another answer. After the grace period of an answer it is a correction."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    return await questions.undo(auth.coordinator, stream, question, who, _key(data))


@post("/undo", status_code=200, opt={ROLE: "annotator"}, summary="Undo the last answer")
async def undone_last(request: AnyRequest, name: str, data: Who | None = None) -> Undo:
    """Of this annotator."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator)
    return await questions.undo(auth.coordinator, stream, None, who, _key(data))


@post("/{question:int}/review", status_code=204, opt={ROLE: "reviewer"}, summary="Decide a question")
async def reviewed(request: AnyRequest, name: str, question: Round, data: Verdict) -> None:
    """The reviewer's label counts, whatever the answers are."""
    auth, stream, who = _enter(request, name, data.annotator, "reviewer")
    await questions.review(auth.coordinator, stream, question, who, text_of(data.label), data.key, data.first)


@post("/{question:int}/review/undo", status_code=204, opt={ROLE: "reviewer"}, summary="Undo a decision")
async def review_undone(request: AnyRequest, name: str, question: Round, data: Who | None = None) -> None:
    """Of this reviewer: the question is as it was before any review."""
    auth, stream, who = _enter(request, name, None if data is None else data.annotator, "reviewer")
    await questions.undo_review(auth.coordinator, stream, question, who, _key(data))


@post("/{question:int}/reserve", status_code=204, opt={ROLE: "reviewer"}, summary="Reserve a question")
async def reserved(request: AnyRequest, name: str, question: Round, data: Reservation) -> None:
    """Only these people and groups are asked it; with none, everybody is again."""
    auth, stream, who = _enter(request, name, data.annotator, "reviewer")
    await questions.reserve(auth.coordinator, stream, question, who, data.who, data.key)


@post("/{question:int}/comments", status_code=204, opt={ROLE: COMMENTING}, summary="Comment on a question")
async def commented(request: AnyRequest, name: str, question: Round, data: NewComment) -> None:
    """Reviewers read it beside the question."""
    auth, stream, who = _enter(request, name, data.annotator, COMMENTING)
    await comments.comment(auth.coordinator, stream, question, who, data.text, data.key)


@get("/v1/streams/{name:str}/progress", summary="Show one's progress")
async def progress(
    request: AnyRequest,
    name: str,
    since: Annotated[float, Parameter(ge=0, le=1e12)],
    annotator: str | None = None,
) -> Progress:
    """One's answers since a time of the last two days, counted from the half hour in which it lies."""
    auth, stream, who = _enter(request, name, annotator)
    return await questions.progress(auth.coordinator, stream, who, since)


@post("/", status_code=200, opt={ROLE: "annotator"}, summary="Give an unsolicited label")
async def labelled(request: AnyRequest, name: str, data: NewLabel) -> Labelled:
    """Of an instance that no question waits for: the model learns it at once.

    In a stream with gold questions, this needs another role than annotator too: its refusals name questions.
    """
    auth = authorization_of(request)
    stream, holder = auth.stream(request, name, "annotator")
    who = _who(auth, holder, data.annotator)
    if is_for(holder, stream):
        raise NotAllowedError(
            "this stream has gold questions, so unsolicited labels need the role reviewer or producer too.",
            owner="label",
        )
    if data.round is not None and not 0 <= data.round <= 2**53:
        raise InputError.about("label", "round", "a whole number from 0 to 2^53", data.round)
    return await labels.volunteer(auth.coordinator, stream, who, text_of(data.label), data.id, data.round, data.key)


router = Router(
    "/v1/streams/{name:str}/questions",
    route_handlers=[
        listed,
        next_one,
        shown,
        answered,
        renewed,
        released,
        skipped,
        undone,
        undone_last,
        reviewed,
        review_undone,
        reserved,
        commented,
    ],
)
