"""Delivers messages to webhooks: at least once each, with growing pauses between attempts, for a day."""

from __future__ import annotations

import asyncio
import contextlib
import heapq
import logging
import random
import time
from collections.abc import AsyncIterator, Iterator, Sequence

import httpcore
import httpx
import msgspec

import askwhen

from ...domain.notices import sentence
from ...domain.webhooks import Webhook
from ...events.kinds import WebhookStopped
from ...runtime.background import run_in_background
from ...runtime.coordinator import Coordinator
from ...store.records import Change, Delivered, Message
from .addresses import Network, RestrictedBackend
from .chat import CHATS
from .mail import PREFIX, MailServer
from .signing import headers_of

PATIENCE = 15.0
"""Seconds for one attempt, from resolving the host to the status of the response."""

PAUSES = (2.0, 10.0, 30.0, 120.0, 600.0, 1800.0, 3600.0, 7200.0)
LONGEST = 86_400.0
"""Seconds for which a message is tried, from when it was made or resent."""

LONGEST_FOR_PEOPLE = 3 * LONGEST
"""The same for messages that wait for a digest and the end of quiet hours first."""

RESENDABLE = 30 * 86_400.0
"""Seconds for which undelivered messages can be resent."""

AT_ONCE = 4
"""Simultaneous attempts to each webhook, so that one that hangs does not delay the others."""

MOST_TOGETHER = 100
"""Messages for a person that are sent as one."""

GONE, PAUSE, TRUNCATED = 410, 0.2, 300
Place = tuple[float, float, str]
"""When a message is due, when it was made, and its id: its place in the queue of its webhook."""

log = logging.getLogger("askwhen.service")


class WebhookSender:
    """Sends the messages in the outbox.

    Parameters
    ----------
    coordinator : Coordinator
        Has the messages and the webhooks.
    allowed : sequence of networks
        Networks that may be reached although they are not public.
    mail : MailServer, optional
        Sends mails.
    """

    def __init__(
        self, coordinator: Coordinator, allowed: Sequence[Network] = (), mail: MailServer | None = None
    ) -> None:
        self._coordinator, self._mail = coordinator, mail
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=httpx.create_ssl_context(),
            network_backend=RestrictedBackend(allowed),
            max_connections=None,
            keepalive_expiry=10.0,
        )
        self._messages: dict[str, Message] = {}
        self._due: dict[str, list[Place]] = {}
        self._under_way: dict[str, set[str]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._purged = 0.0
        self._closed = False

    async def start(self) -> None:
        """Load the messages that were left in the outbox."""
        self._coordinator.deliver = self.take
        async with self._coordinator.reading() as found:
            self.take(await found.in_thread(found.reader.messages))

    def take(self, messages: Sequence[Message]) -> None:
        """Queue committed messages; those that are not due any more stay in the outbox only."""
        for message in messages:
            if message.due is not None and message.hook in self._coordinator.webhooks.all:
                if message.id not in self._messages:
                    self._coordinator.webhooks.waiting[message.hook] += 1
                self._messages[message.id] = message
                heapq.heappush(self._due.setdefault(message.hook, []), (message.due, message.made, message.id))

    def look(self) -> None:
        """Start sending what is due, as far as the limits allow."""
        for name in [] if self._closed else list(self._due):
            self._start_due(name, self._coordinator.clock.now())

    def _start_due(self, name: str, now: float) -> None:
        hook, queue = self._coordinator.webhooks.all.get(name), self._due.get(name, [])
        if hook is None or hook.stopped:
            for left in [each for each in self._messages.values() if each.hook == name]:
                self._leave(left)
            self._due.pop(name, None)
            return
        while queue and queue[0][0] <= now and len(self._under_way.setdefault(name, set())) < AT_ONCE:
            due, _, id = heapq.heappop(queue)
            message = self._messages.get(id)
            if message is not None and message.due == due and id not in self._under_way[name]:
                self._begin([message, *(self._more(queue, name, now) if hook.template else ())], hook)

    def _more(self, queue: list[Place], name: str, now: float) -> Iterator[Message]:
        """What else is due: messages for people are sent together."""
        taken = 1
        while queue and queue[0][0] <= now and taken < MOST_TOGETHER:
            due, _, id = heapq.heappop(queue)
            message = self._messages.get(id)
            if message is not None and message.due == due and id not in self._under_way[name]:
                taken += 1
                yield message

    def _begin(self, messages: list[Message], hook: Webhook) -> None:
        self._under_way[hook.hook].update(each.id for each in messages)
        task = asyncio.create_task(self._try(messages, hook))
        self._tasks.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self.look()

    def _leave(self, message: Message) -> None:
        del self._messages[message.id]
        self._coordinator.webhooks.waiting[message.hook] -= 1

    async def idle(self) -> None:
        """Wait until no attempt is under way."""
        while self._tasks:
            await asyncio.wait(self._tasks)

    async def _try(self, messages: list[Message], hook: Webhook) -> None:
        try:
            status, wait, problem = await self._send(messages, hook)
        finally:
            self._under_way[hook.hook].difference_update(each.id for each in messages)
        messages = [each for each in messages if each.id in self._messages]
        if not messages or self._coordinator.broken is not None:
            return
        for each in messages:
            self._leave(each)
        if not problem:
            await self._commit(Delivered([each.id for each in messages]))
            return
        self._coordinator.webhooks.failed[hook.hook] += 1
        if status == GONE and not hook.stopped:
            self._stop(hook)
        facts = {"webhook": hook.hook, "message": messages[0].id, "attempt": messages[0].attempts + 1}
        log.warning("a webhook was not taken", extra={"facts": facts | {"problem": problem}})
        now = self._coordinator.clock.now()
        after = [self._again(each, hook, now, status == GONE, wait, problem) for each in messages]
        await self._commit(*after)
        self.take(after)

    def _again(self, message: Message, hook: Webhook, now: float, is_gone: bool, wait: float, problem: str) -> Message:
        """A message after an attempt that failed: when it is due again, if ever."""
        last = message.made + (LONGEST_FOR_PEOPLE if hook.template else LONGEST)
        due = None if is_gone or now >= last else min(now + max(_pause(message.attempts), wait), last)
        return message._replace(due=due, attempts=message.attempts + 1, problem=problem)

    async def _send(self, messages: list[Message], hook: Webhook) -> tuple[int, float, str]:
        """Send one message to a program, or some to a person."""
        if not hook.template:
            return await self._post(messages[0], hook)
        lines = []
        for each in sorted(messages, key=lambda message: (message.made, message.id)):
            found = msgspec.json.decode(each.body)
            lines.append(sentence(found["type"], found["data"]))
        if hook.template in CHATS:
            return await self._exchange(hook, {}, msgspec.json.encode(CHATS[hook.template]("\n".join(lines))))
        if self._mail is None:
            return 0, 0.0, "the service has no mail server: start it with --smtp"
        try:
            to = hook.url.removeprefix(PREFIX)
            await asyncio.to_thread(self._mail.send, to, messages[0].id, lines, PATIENCE, hook.owner)
        except Exception as error:  # any error is a failed attempt, and others follow
            return 0, 0.0, f"{type(error).__name__}: {error}"[:TRUNCATED]
        return 250, 0.0, ""

    async def _commit(self, *changes: Change) -> None:
        """Wait until changes are on disk. A cancelled caller does not cancel the batch of others."""
        await asyncio.shield(self._coordinator.commits.add([], None, changes))

    def _stop(self, hook: Webhook) -> None:
        """Stop sending to a receiver that answered 410 Gone, until its messages are resent."""
        fact = WebhookStopped(hook.hook, "the receiver said that it is gone (410)")
        with self._coordinator.changing():
            self._coordinator.webhooks.apply(fact)
            self._coordinator.note("webhook stopped", fact)

    async def _post(self, message: Message, hook: Webhook) -> tuple[int, float, str]:
        """The status, the pause that the receiver asks for, and the problem if there is one."""
        body = message.body.encode()
        # The wall clock, since receivers compare it with theirs.
        return await self._exchange(hook, headers_of(hook.secret, message.id, time.time(), body), body)

    async def _exchange(self, hook: Webhook, signed: dict[str, str], body: bytes) -> tuple[int, float, str]:
        """Send a body to the address of a webhook."""
        headers = {"content-type": "application/json", "user-agent": f"askwhen/{askwhen.__version__}", **signed}
        try:
            async with asyncio.timeout(PATIENCE):
                sent = [(b"host", httpx.URL(hook.url).netloc), *((n.encode(), v.encode()) for n, v in headers.items())]
                async with self._pool.stream("POST", hook.url, headers=sent, content=body) as response:
                    if 200 <= response.status < 300:
                        return response.status, 0.0, ""
                    given = {name.lower(): value for name, value in response.headers}
                    wait = _seconds(given.get(b"retry-after", b""))
                    return response.status, wait, f"it answered with status {response.status}"
        except TimeoutError:
            return 0, 0.0, f"it did not answer within {PATIENCE:g} seconds"
        except Exception as error:  # any error is a failed attempt, and others follow
            return 0, 0.0, f"{str(error) or type(error).__name__}"[:TRUNCATED]

    async def purge(self) -> None:
        """Delete messages that were neither delivered nor resent for a month; checked once an hour."""
        now = self._coordinator.clock.now()
        if now < self._purged + 3600.0:
            return
        self._purged = now
        async with self._coordinator.reading() as found:
            messages = await found.in_thread(found.reader.messages)
        known = self._coordinator.webhooks.all
        old = [
            each.id
            for each in messages
            if each.due is None and (now - each.made > RESENDABLE or each.hook not in known)
        ]
        if old:
            await self._commit(Delivered(old))

    async def close(self) -> None:
        """Cancel the attempts under way; their messages will be sent after the next start."""
        self._closed, self._coordinator.deliver = True, None
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self._pool.aclose()


def _pause(attempts: int) -> float:
    """Pause after so many attempts, with some randomness, so that retries do not come in bursts."""
    return PAUSES[min(attempts, len(PAUSES) - 1)] * random.uniform(0.8, 1.2)


def _seconds(given: bytes) -> float:
    """The pause that a receiver asks for, at most an hour; 0 where it is not a number."""
    return min(float(given), 3600.0) if given.isdigit() and len(given) < 9 else 0.0


@contextlib.asynccontextmanager
async def delivering(
    coordinator: Coordinator, allowed: Sequence[Network], mail: MailServer | None = None
) -> AsyncIterator[WebhookSender]:
    """Deliver messages inside the ``with`` block."""
    sender = WebhookSender(coordinator, allowed, mail)
    await sender.start()
    try:
        async with run_in_background(_deliver(coordinator, sender)):
            yield sender
    finally:
        await sender.close()


async def _deliver(coordinator: Coordinator, sender: WebhookSender) -> None:
    while coordinator.broken is None:
        await asyncio.sleep(PAUSE)
        try:
            sender.look()
            await sender.purge()
        except Exception as error:
            log.error("webhooks cannot be sent", exc_info=error)
