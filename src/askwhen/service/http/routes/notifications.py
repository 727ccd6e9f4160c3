"""What a person is told of by mail or in a chat, as they choose on their own page."""

from __future__ import annotations

import msgspec
from litestar import Router, delete, get, post

from ....errors import InputError
from ...domain.notices import KINDS
from ...domain.tokens import ANYBODY, Holder
from ...use_cases import webhooks
from ...use_cases.webhook_delivery.addresses import networks_of
from ...use_cases.webhook_delivery.chat import CHATS
from ...use_cases.webhook_delivery.mail import PREFIX
from ..authorization import OPENID, PROXIED, AnyRequest, Authorization, authorization_of, seen_by
from ..request_checks import ROLE
from .webhooks import NewWebhook, Tested, WebhookFacts, check_mail


class Notifications(msgspec.Struct):
    """What one is told of, the kinds and chat tools that can be chosen, and whether the service can send mail."""

    notifications: list[WebhookFacts]
    kinds: list[str]
    templates: list[str]
    mail: bool


def _enter(request: AnyRequest) -> tuple[Authorization, Holder]:
    auth = authorization_of(request)
    holder = auth.identify(request)
    if auth.is_open:
        raise InputError("make a token first: without tokens, no one is known by name.", owner="notification")
    return auth, holder


@get("/", summary="List one's own notifications")
async def listed(request: AnyRequest) -> Notifications:
    """Those that one has made for oneself, and what there is to choose."""
    auth, holder = _enter(request)
    found = await webhooks.own_facts(auth.coordinator, holder.name)
    return Notifications(
        [WebhookFacts(**each) for each in found], sorted(KINDS), list(CHATS), auth.options.mail is not None
    )


@post("/", opt={ROLE: ANYBODY}, summary="Be notified")
async def made(request: AnyRequest, data: NewWebhook) -> WebhookFacts:
    """By mail, at mailto: and an address, or in a chat tool by its template; of the streams that one may see."""
    auth, holder = _enter(request)
    if not data.template and not data.url.startswith(PREFIX):
        raise InputError(
            f"a notification goes to mailto: and an address, or to a chat tool: its template is one of "
            f"{', '.join(CHATS)}.",
            owner="notification",
            parameter="template",
        )
    check_mail(auth, data.url)
    for name in data.streams or []:
        auth.stream(request, name)
    streams = data.streams
    if streams is None and holder.streams is not None:
        seen = seen_by(auth, holder) or ()
        streams = [each.name for each in auth.coordinator.by_number.values() if each.number in seen]
    people = webhooks.People(data.template, data.digest, data.quiet, data.zone, data.oldest)
    is_by_token = not holder.token.startswith((PROXIED, OPENID))
    hook = await webhooks.make(
        auth.coordinator,
        data.url,
        data.kinds,
        streams,
        data.accuracy,
        networks_of(auth.options.webhook_networks),
        holder.name,
        people,
        webhooks.Owner(holder.name, sorted(holder.roles), is_by_token),
    )
    return WebhookFacts(**await webhooks.facts(auth.coordinator, hook))


@delete("/{webhook:str}", summary="End one's own notification")
async def removed(request: AnyRequest, webhook: str) -> None:
    """With what waits to be sent."""
    auth, holder = _enter(request)
    await webhooks.remove(auth.coordinator, webhooks.own(auth.coordinator, holder.name, webhook).hook, holder.name)


@post("/{webhook:str}/test", status_code=200, summary="Test one's own notification")
async def tested(request: AnyRequest, webhook: str) -> Tested:
    """At most once a minute."""
    auth, holder = _enter(request)
    found = webhooks.own(auth.coordinator, holder.name, webhook)
    return Tested(await webhooks.test_own(auth.coordinator, found))


router = Router("/v1/me/notifications", route_handlers=[listed, made, removed, tested])
