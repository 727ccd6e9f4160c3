"""Webhooks: make, list, remove, test, and send again. For admins of all streams."""

from __future__ import annotations

from typing import Any

import msgspec
from litestar import Router, delete, get, post

from ....errors import InputError
from ...runtime.coordinator import Coordinator
from ...use_cases import webhooks
from ...use_cases.webhook_delivery.addresses import networks_of
from ...use_cases.webhook_delivery.mail import PREFIX
from ..authorization import AnyRequest, Authorization, authorization_of
from ..request_checks import ROLE


class NewWebhook(msgspec.Struct, forbid_unknown_fields=True):
    """A webhook to be made: for all streams unless some are named; ``accuracy`` is the bound of accuracy.below.

    For a person, its url is ``mailto:`` and an address, or ``template`` names a chat tool. Messages come together every
    ``digest`` hours, and not in ``quiet`` hours such as 22:00-07:00 of a time ``zone``. ``oldest`` is the age in hours
    of a question at which questions.waiting is sent.
    """

    url: str
    kinds: list[str]
    streams: list[str] | None = None
    accuracy: float | None = None
    template: str = ""
    digest: float = 0.0
    quiet: str = ""
    zone: str = ""
    oldest: float | None = None


class WebhookFacts(msgspec.Struct, omit_defaults=True):
    """A webhook with the numbers of waiting and undelivered messages; its secret only when it is made."""

    webhook: str
    url: str
    kinds: list[str]
    waiting: int
    dead: int
    dropped: int
    streams: list[str] | None = None
    accuracy: float | None = None
    stopped: str = ""
    secret: str | None = None
    template: str = ""
    digest: float = 0.0
    quiet: str = ""
    zone: str = ""
    oldest: float | None = None
    owner: str = ""


class Dead(msgspec.Struct):
    """A message that could not be delivered, and why."""

    id: str
    made: float
    attempts: int
    problem: str
    body: Any


class Again(msgspec.Struct, forbid_unknown_fields=True):
    """The messages to send again; all undelivered ones where none are named."""

    ids: list[str] | None = None


class Sent(msgspec.Struct):
    """Number of messages that are sent again."""

    messages: int


class Tested(msgspec.Struct):
    """The id of the test message."""

    message: str


def _enter(request: AnyRequest) -> Coordinator:
    auth = authorization_of(request)
    auth.holder(request, "admin")
    return auth.coordinator


def check_mail(auth: Authorization, url: str) -> None:
    """Refuse mail where the service has no server for it."""
    if url.startswith(PREFIX) and auth.options.mail is None:
        raise InputError("the service has no mail server; it is set with --smtp.", owner="webhook", parameter="url")


@post("/", opt={ROLE: "admin"}, summary="Make a webhook")
async def made(request: AnyRequest, data: NewWebhook) -> WebhookFacts:
    """The secret that its messages are signed with is in this reply and nowhere else."""
    coordinator, allowed = _enter(request), networks_of(authorization_of(request).options.webhook_networks)
    auth = authorization_of(request)
    check_mail(auth, data.url)
    people = webhooks.People(data.template, data.digest, data.quiet, data.zone, data.oldest)
    by = auth.identify(request).name
    hook = await webhooks.make(coordinator, data.url, data.kinds, data.streams, data.accuracy, allowed, by, people)
    return WebhookFacts(**await webhooks.facts(coordinator, hook), secret=hook.secret)


@get("/", summary="List the webhooks")
async def listed(request: AnyRequest) -> list[WebhookFacts]:
    """Without their secrets."""
    return [WebhookFacts(**each) for each in await webhooks.all_facts(_enter(request))]


@delete("/{webhook:str}", summary="Remove a webhook")
async def removed(request: AnyRequest, webhook: str) -> None:
    """Its waiting messages are removed, too."""
    await webhooks.remove(_enter(request), webhook, authorization_of(request).identify(request).name)


@post("/{webhook:str}/test", status_code=200, summary="Test a webhook")
async def tested(request: AnyRequest, webhook: str) -> Tested:
    """Send it a message of the type test."""
    return Tested(await webhooks.test(_enter(request), webhook))


@get("/{webhook:str}/dead", summary="List undelivered messages")
async def dead(request: AnyRequest, webhook: str) -> list[Dead]:
    """Messages that could not be delivered for a day; they are stored for a month."""
    found = await webhooks.dead(_enter(request), webhook)
    return [Dead(each.id, each.made, each.attempts, each.problem, msgspec.json.decode(each.body)) for each in found]


@post("/{webhook:str}/resend", status_code=200, opt={ROLE: "admin"}, summary="Resend undelivered messages")
async def resent(request: AnyRequest, webhook: str, data: Again | None = None) -> Sent:
    """These messages, or all; for another day. A webhook that was stopped goes on."""
    return Sent(await webhooks.resend(_enter(request), webhook, None if data is None else data.ids))


router = Router("/v1/webhooks", route_handlers=[made, listed, removed, tested, dead, resent])
