"""Sends questions.waiting and questions.disputed: once, until the questions are answered."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from ...domain.stream import ServiceStream
from ...domain.webhook_kinds import DISPUTED, WAITING
from ...domain.webhooks import Webhook
from ...events.kinds import WebhookAlarm
from ...runtime.coordinator import Coordinator

PAUSE = 5.0
HOURS = 1.0
"""Hours for which the oldest question must wait, where the webhook sets no bound."""

log = logging.getLogger("askwhen.service")


class QueueAlarms:
    """Compares the questions of every stream with what webhooks wait for."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator

    async def look(self) -> None:
        """Look at every stream that is in use and that a webhook asks about."""
        kinds = (WAITING.name, DISPUTED.name)
        for stream in list(self._coordinator.by_number.values()):
            hooks = [
                (hook, kind)
                for hook in self._coordinator.webhooks.all.values()
                for kind in kinds
                if not hook.stopped and self._coordinator.webhooks.wants(hook, stream.number, kind)
            ]
            if hooks and stream.loaded and not stream.aside and not stream.state.archived:
                found = self._state(stream, "")
                for hook, kind in hooks:
                    is_own = kind == WAITING.name and hook.owner and hook.roles == ["annotator"]
                    await self._compare(hook, kind, stream, self._state(stream, hook.owner) if is_own else found)

    def _state(self, stream: ServiceStream, annotator: str) -> dict[str, Any]:
        """What waits in a stream; with an annotator, only questions that they may answer."""
        now, open = self._coordinator.clock.now(), stream.questions.open.values()
        wait = stream.commands.open_to(annotator, now) if annotator else open
        waiting = [each.opened for each in wait if not (each.is_full or each.disputed)]
        return {
            "waiting": len(waiting),
            "oldest": max(now - min(waiting), 0.0) if waiting else 0.0,
            "disputed": sum(each.disputed for each in open),
        }

    async def _compare(self, hook: Webhook, kind: str, stream: ServiceStream, found: dict[str, Any]) -> None:
        was_raised = (kind, stream.number) in hook.raised
        if kind == DISPUTED.name:
            is_raised = found["disputed"] > 0
        else:
            bound = 3600.0 * (HOURS if hook.oldest is None else hook.oldest)
            is_raised = found["waiting"] > 0 and found["oldest"] >= bound
        if is_raised == was_raised:
            return
        data = {"stream": stream.name} | {
            name: found[name] for name in (("disputed",) if kind == DISPUTED.name else ("waiting", "oldest"))
        }
        fact = WebhookAlarm(hook.hook, stream.number, is_raised, kind)
        with self._coordinator.changing():
            self._coordinator.webhooks.apply(fact)
            seq, now = self._coordinator.next_number, self._coordinator.clock.now()
            messages = [hook.message(kind, stream.number, seq, now, data)] if is_raised else []
            _, done = self._coordinator.note("webhook alarm", fact, messages=messages)
        await asyncio.shield(done)


async def watch_queues(coordinator: Coordinator) -> None:
    """Look at the questions that wait, periodically."""
    alarms = QueueAlarms(coordinator)
    while coordinator.broken is None:
        try:
            await alarms.look()
        except Exception as error:
            log.error("the questions cannot be watched", exc_info=error)
        await asyncio.sleep(PAUSE)
