"""Making, listing and removing webhooks; what they could not be told."""

from __future__ import annotations

import asyncio
import math
import secrets
from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ..domain.webhooks import BELOW, KINDS, MOST_HOOKS, TEST, Hook, message
from ..errors import ConflictError, NotFoundError
from ..events.kinds import WebhookMade, WebhookRemoved, WebhookStopped
from ..runtime.coordinator import Desk
from ..store.records import Delivered, Message
from .tokens import names
from .webhook_delivery.addresses import Network, check_url
from .webhook_delivery.signing import new_secret


async def make(
    desk: Desk,
    url: str,
    kinds: Sequence[str],
    streams: Sequence[str] | None = None,
    accuracy: float | None = None,
    allowed: Sequence[Network] = (),
) -> Hook:
    """A new webhook, with a secret that is shown once."""
    check_url(url, allowed)
    if not kinds or not set(kinds) <= set(KINDS):
        raise InputError.about("webhook", "kinds", f"some of {', '.join(KINDS)}", list(kinds))
    if (accuracy is not None) != (BELOW in kinds):
        raise InputError(f"{BELOW} and a bound of the accuracy go together.", owner="webhook", parameter="accuracy")
    if accuracy is not None and not (math.isfinite(accuracy) and 0.0 < accuracy < 1.0):
        raise InputError.about("webhook", "accuracy", "a number between 0 and 1", accuracy)
    if streams is not None and not streams:
        raise InputError("name at least one stream, or leave streams out for all of them.", owner="webhook")
    if len(desk.hooks.all) >= MOST_HOOKS:
        raise ConflictError(f"there are {MOST_HOOKS} webhooks already.", owner="webhook")
    numbers = None if streams is None else sorted({desk.stream(name).number for name in streams})
    fact = WebhookMade(f"wh_{secrets.token_hex(6)}", url, new_secret(), sorted(set(kinds)), numbers, accuracy)
    with desk.changing():
        desk.hooks.apply(fact)
        _, done = desk.note("webhook made", fact)
    await asyncio.shield(done)
    return desk.hooks.all[fact.hook]


def find(desk: Desk, hook: str) -> Hook:
    """A webhook by its number."""
    desk.check()
    found = desk.hooks.all.get(hook)
    if found is None:
        raise NotFoundError(f"there is no webhook {hook[:100]!r}.", owner="webhook")
    return found


async def remove(desk: Desk, hook: str) -> None:
    """Tell a webhook nothing any more; what waits for it goes too."""
    find(desk, hook)
    gone = Delivered([each.id for each in await stored(desk, hook)])
    fact = WebhookRemoved(hook)
    with desk.changing():
        desk.hooks.apply(fact)
        _, done = desk.note("webhook removed", fact, changes=[gone])
    await asyncio.shield(done)


async def all_facts(desk: Desk) -> list[dict[str, Any]]:
    """All webhooks, without their secrets."""
    await desk.commits.settled()
    return [await facts(desk, each) for each in desk.hooks.all.values()]


async def facts(desk: Desk, hook: Hook) -> dict[str, Any]:
    """What there is to say of a webhook."""
    messages = await stored(desk, hook.hook)
    return {
        "webhook": hook.hook,
        "url": hook.url,
        "kinds": sorted(hook.kinds),
        "streams": names(desk, hook.streams),
        "accuracy": hook.accuracy,
        "waiting": sum(each.due is not None for each in messages),
        "dead": sum(each.due is None for each in messages),
        "dropped": hook.dropped,
        "stopped": hook.stopped,
    }


async def stored(desk: Desk, hook: str) -> list[Message]:
    """What a webhook is still to be told, or could not be told, oldest first."""
    await desk.commits.settled()
    async with desk.reading() as log:
        return await log.apart(log.reader.messages, hook)


async def dead(desk: Desk, hook: str) -> list[Message]:
    """What a webhook could not be told."""
    find(desk, hook)
    return [each for each in await stored(desk, hook) if each.due is None]


async def resend(desk: Desk, hook: str, ids: Sequence[str] | None = None) -> int:
    """Try messages again that nobody took, for another day: these, or all; how many. A stopped webhook goes on."""
    found = find(desk, hook)
    messages = {each.id: each for each in await stored(desk, hook) if each.due is None or found.stopped}
    missing = [id for id in ids or [] if id not in messages]
    if missing:
        raise NotFoundError(f"no message {missing[0][:100]!r} waits to be sent again.", owner="webhook")
    now = desk.clock.now()
    wanted = list(messages.values()) if ids is None else [messages[id] for id in dict.fromkeys(ids)]
    again = [each._replace(made=now, due=now, attempts=0) for each in wanted]
    with desk.changing():
        if found.stopped:
            fact = WebhookStopped(hook, "")
            desk.hooks.apply(fact)
            desk.note("webhook stopped", fact)
        if again:
            desk.post(again)
    await desk.commits.settled()
    return len(again)


async def test(desk: Desk, hook: str) -> str:
    """Let a webhook be told that this is a test; the id of the message."""
    find(desk, hook)
    now = desk.clock.now()
    made = message(hook, TEST, 0, secrets.randbits(60), now, {"webhook": hook})
    with desk.changing():
        done = desk.post([made])
    await asyncio.shield(done)
    return made.id
