"""Sends accuracy.below to webhooks: once, until the accuracy of the stream has recovered."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from ...domain.stream import ServiceStream
from ...domain.webhook_kinds import BELOW
from ...domain.webhooks import Webhook
from ...events.kinds import WebhookAlarm
from ...runtime.coordinator import Coordinator
from .. import reports

PAUSE, REST = 5.0, 20.0
"""Seconds between two checks, and their pause as a multiple of the time that a check took."""

log = logging.getLogger("askwhen.service")


class Alarms:
    """Checks the streams that have changed since the last check."""

    def __init__(self, coordinator: Coordinator) -> None:
        self._coordinator = coordinator
        self._looked: dict[tuple[str, int], tuple[int, int]] = {}

    async def look(self) -> None:
        """Compare the accuracy of every stream with the bounds of the webhooks that subscribe to it."""
        for stream in list(self._coordinator.by_number.values()):
            if not stream.loaded or stream.state.archived:
                continue
            place = (stream.state.round, stream.questions.stored.told)
            hooks = [
                hook
                for hook in self._coordinator.webhooks.all.values()
                if hook.accuracy is not None
                and not hook.stopped
                and self._coordinator.webhooks.wants(hook, stream.number, BELOW.name)
                and self._looked.get((hook.hook, stream.number)) != place
            ]
            if hooks:
                try:
                    await self._look(stream, hooks, place)
                except Exception as error:  # other streams are checked all the same
                    log.error("no accuracy to watch", exc_info=error, extra={"facts": {"stream": stream.name}})

    async def _look(self, stream: ServiceStream, hooks: list[Webhook], place: tuple[int, int]) -> None:
        report = await reports.report(self._coordinator, stream, 0.95)
        for hook in hooks:
            self._looked[hook.hook, stream.number] = place
            await self._compare(hook, stream, report["accuracy"])

    async def _compare(self, hook: Webhook, stream: ServiceStream, accuracy: dict[str, Any]) -> None:
        """Report an accuracy whose whole interval is below the bound; it has recovered when the value is above.

        The value is null where it is not known yet: the upper end of the interval is valid all the same.
        """
        recent, bound, was_low = accuracy["recent"], hook.accuracy, stream.number in hook.low
        if bound is None or recent["high"] is None:
            return
        is_known = recent["value"] is not None
        is_low = not is_known or recent["value"] < bound if was_low else recent["high"] < bound
        if is_low == was_low:
            return
        fact = WebhookAlarm(hook.hook, stream.number, is_low)
        interval = {name: recent[name] for name in ("value", "low", "high", "why_unknown")}
        data = {"stream": stream.name, "bound": bound, "recent": interval, "round": stream.state.round}
        with self._coordinator.changing():
            self._coordinator.webhooks.apply(fact)
            seq, now = self._coordinator.next_number, self._coordinator.clock.now()
            messages = [hook.message(BELOW.name, stream.number, seq, now, data)] if is_low else []
            _, done = self._coordinator.note("webhook alarm", fact, messages=messages)
        await asyncio.shield(done)


async def watch(coordinator: Coordinator) -> None:
    """Check the accuracy of streams, periodically."""
    alarms = Alarms(coordinator)
    while coordinator.broken is None:
        started = time.monotonic()
        try:
            await alarms.look()
        except Exception as error:
            log.error("the accuracy cannot be watched", exc_info=error)
        await asyncio.sleep(max(PAUSE, REST * (time.monotonic() - started)))
