"""Makes, lists and removes webhooks, and resends messages that could not be delivered."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...errors import InputError
from ..domain import notices
from ..domain.webhook_kinds import BELOW, KINDS, TEST, WAITING
from ..domain.webhooks import MOST_HOOKS, MOST_OF_PEOPLE, MOST_OWN, Webhook, message
from ..errors import ConflictError, NotFoundError, TooManyError
from ..events.kinds import WebhookMade, WebhookRemoved, WebhookStopped
from ..runtime.coordinator import Coordinator
from ..store.records import Delivered, Message
from .tokens import names
from .webhook_delivery.addresses import Network, check_url
from .webhook_delivery.chat import EMAIL, TEMPLATES
from .webhook_delivery.mail import PREFIX, check_mailto
from .webhook_delivery.signing import new_secret


class People(NamedTuple):
    """How a webhook speaks to people: what chat tool it is, and when its messages are sent, in hours."""

    template: str = ""
    digest: float = 0.0
    quiet: str = ""
    zone: str = ""
    oldest: float | None = None


PROGRAM, MINUTE = People(), 60.0


class Owner(NamedTuple):
    """The person who makes a webhook for themselves: name, roles, and whether a token gives these."""

    name: str
    roles: Sequence[str]
    is_by_token: bool


def _check_people(url: str, kinds: Sequence[str], people: People, template: str) -> None:
    if template and template not in TEMPLATES:
        raise InputError.about("webhook", "template", f"one of {', '.join(TEMPLATES)}", template[:50])
    if (template == EMAIL) != url.startswith(PREFIX):
        raise InputError("the template email and an address that begins with mailto: go together.", owner="webhook")
    if not template and (people.digest or people.quiet or people.zone):
        raise InputError("digest, quiet and zone are for people: choose a template.", owner="webhook")
    many = sorted(set(kinds) & set(KINDS) - notices.KINDS)
    if template and many:
        raise InputError(f"{', '.join(many)} would be too many messages for a person.", owner="webhook")
    if people.oldest is not None and not (WAITING.name in kinds and 0.0 <= people.oldest <= 10_000.0):
        raise InputError(f"oldest is a number of hours, and belongs to {WAITING.name}.", owner="webhook")
    notices.check_times(people.digest, people.quiet, people.zone)


async def make(
    coordinator: Coordinator,
    url: str,
    kinds: Sequence[str],
    streams: Sequence[str] | None = None,
    accuracy: float | None = None,
    allowed: Sequence[Network] = (),
    by: str = "",
    people: People = PROGRAM,
    owner: Owner | None = None,
) -> Webhook:
    """A new webhook, with a secret that is shown once; ``people`` is set where it is for a person.

    With an ``owner`` it is one that they make for themselves.
    """
    template = EMAIL if url.startswith(PREFIX) and not people.template else people.template
    if not kinds or not set(kinds) <= set(KINDS):
        raise InputError.about("webhook", "kinds", f"some of {', '.join(KINDS)}", list(kinds))
    _check_people(url, kinds, people, template)
    if template == EMAIL:
        check_mailto(url)
    else:
        check_url(url, allowed)
    if (accuracy is not None) != (BELOW.name in kinds):
        raise InputError(
            f"{BELOW.name} and a bound of the accuracy go together.", owner="webhook", parameter="accuracy"
        )
    if accuracy is not None and not (math.isfinite(accuracy) and 0.0 < accuracy < 1.0):
        raise InputError.about("webhook", "accuracy", "a number between 0 and 1", accuracy)
    if streams is not None and not streams:
        raise InputError("name at least one stream, or leave streams out for all of them.", owner="webhook")
    _check_number(coordinator, owner)
    numbers = None if streams is None else sorted({coordinator.stream(name).number for name in streams})
    fact = WebhookMade(f"wh_{secrets.token_hex(6)}", url, new_secret(), sorted(set(kinds)), numbers, accuracy, by)
    fact.template, fact.oldest = template, people.oldest
    fact.digest, fact.quiet, fact.zone = people.digest, people.quiet, people.zone
    if owner is not None:
        fact.owner, fact.roles, fact.is_by_token = owner.name, sorted(owner.roles), owner.is_by_token
    with coordinator.changing():
        coordinator.webhooks.apply(fact)
        _, done = coordinator.note("webhook made", fact)
    await asyncio.shield(done)
    return coordinator.webhooks.all[fact.hook]


def _check_number(coordinator: Coordinator, owner: Owner | None) -> None:
    """Refuse more webhooks than there may be: of the service, of all people, or of one of them."""
    found = coordinator.webhooks.all.values()
    if owner is None:
        if sum(not each.owner for each in found) >= MOST_HOOKS:
            raise ConflictError(f"there are {MOST_HOOKS} webhooks already.", owner="webhook")
        return
    if sum(each.owner == owner.name for each in found) >= MOST_OWN:
        raise ConflictError(f"{owner.name} has {MOST_OWN} already; remove one of them.", owner="notification")
    if sum(bool(each.owner) for each in found) >= MOST_OF_PEOPLE:
        raise ConflictError(f"people have {MOST_OF_PEOPLE} already.", owner="notification")


def own(coordinator: Coordinator, name: str, hook: str) -> Webhook:
    """A webhook that a person has made for themselves."""
    found = coordinator.webhooks.all.get(hook)
    if found is None or found.owner != name:
        raise NotFoundError(f"{name} has no notification {hook[:100]!r}.", owner="notification")
    return found


async def own_facts(coordinator: Coordinator, name: str) -> list[dict[str, Any]]:
    """The webhooks that a person has made for themselves."""
    await coordinator.commits.settled()
    return [await facts(coordinator, each) for each in coordinator.webhooks.all.values() if each.owner == name]


def find(coordinator: Coordinator, hook: str) -> Webhook:
    """A webhook by its number."""
    coordinator.check()
    found = coordinator.webhooks.all.get(hook)
    if found is None:
        raise NotFoundError(f"there is no webhook {hook[:100]!r}.", owner="webhook")
    return found


async def remove(coordinator: Coordinator, hook: str, by: str = "") -> None:
    """Remove a webhook, with the messages that wait for it."""
    find(coordinator, hook)
    gone = Delivered([each.id for each in await stored(coordinator, hook)])
    fact = WebhookRemoved(hook, by)
    with coordinator.changing():
        coordinator.webhooks.apply(fact)
        _, done = coordinator.note("webhook removed", fact, changes=[gone])
    await asyncio.shield(done)


async def all_facts(coordinator: Coordinator) -> list[dict[str, Any]]:
    """All webhooks, without their secrets."""
    await coordinator.commits.settled()
    return [await facts(coordinator, each) for each in coordinator.webhooks.all.values()]


async def facts(coordinator: Coordinator, hook: Webhook) -> dict[str, Any]:
    """Settings and counts of a webhook."""
    messages = await stored(coordinator, hook.hook)
    return {
        "webhook": hook.hook,
        "url": hook.url,
        "kinds": sorted(hook.kinds),
        "streams": names(coordinator, hook.streams),
        "accuracy": hook.accuracy,
        "waiting": sum(each.due is not None for each in messages),
        "dead": sum(each.due is None for each in messages),
        "dropped": hook.dropped,
        "stopped": hook.stopped,
        "template": hook.template,
        "digest": hook.digest,
        "quiet": hook.quiet,
        "zone": hook.zone,
        "oldest": hook.oldest,
        "owner": hook.owner,
    }


async def stored(coordinator: Coordinator, hook: str) -> list[Message]:
    """The messages of a webhook that wait or could not be delivered, oldest first."""
    await coordinator.commits.settled()
    async with coordinator.reading() as log:
        return await log.in_thread(log.reader.messages, hook)


async def dead(coordinator: Coordinator, hook: str) -> list[Message]:
    """The messages that could not be delivered to a webhook."""
    find(coordinator, hook)
    return [each for each in await stored(coordinator, hook) if each.due is None]


async def resend(coordinator: Coordinator, hook: str, ids: Sequence[str] | None = None) -> int:
    """Send undelivered messages again for another day, these or all; returns their number. A stopped one resumes."""
    found = find(coordinator, hook)
    messages = {each.id: each for each in await stored(coordinator, hook) if each.due is None or found.stopped}
    missing = [id for id in ids or [] if id not in messages]
    if missing:
        raise NotFoundError(f"no message {missing[0][:100]!r} waits to be sent again.", owner="webhook")
    now = coordinator.clock.now()
    wanted = list(messages.values()) if ids is None else [messages[id] for id in dict.fromkeys(ids)]
    again = [each._replace(made=now, due=now, attempts=0) for each in wanted]
    with coordinator.changing():
        if found.stopped:
            fact = WebhookStopped(hook, "")
            coordinator.webhooks.apply(fact)
            coordinator.note("webhook stopped", fact)
        if again:
            coordinator.post(again)
    await coordinator.commits.settled()
    return len(again)


async def test_own(coordinator: Coordinator, hook: Webhook) -> str:
    """Test a webhook that a person has made for themselves, at most once a minute: its address may be another's."""
    now = coordinator.clock.now()
    if now < hook.tested + MINUTE:
        raise TooManyError("it was tested within the last minute; wait a moment.", owner="notification")
    hook.tested = now
    return await test(coordinator, hook.hook)


async def test(coordinator: Coordinator, hook: str) -> str:
    """Send a test message to a webhook; returns its id."""
    find(coordinator, hook)
    now = coordinator.clock.now()
    made = message(hook, TEST, 0, secrets.randbits(60), now, {"webhook": hook})
    with coordinator.changing():
        done = coordinator.post([made])
    await asyncio.shield(done)
    return made.id
