"""The data of a stream's dashboard."""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..domain.stream import ServiceStream
from ..runtime.coordinator import Coordinator
from . import reports, streams
from .accuracy_history import AccuracyHistory, place_of, point_of
from .recent_activity import RecentActivity

AGES = ((60.0, "under a minute"), (300.0, "under 5 minutes"), (3600.0, "under an hour"), (86400.0, "under a day"))
OLDER = "a day and more"
MOST_CLASSES = 30


async def overview(
    coordinator: Coordinator,
    stream: ServiceStream,
    history: AccuracyHistory,
    activity: RecentActivity,
    people: bool,
    guesses: bool,
) -> dict[str, Any]:
    """The report of the API and the data of the charts; ``people`` adds statistics of annotators.

    Without ``guesses``, margins have no sign, which would reveal the predictions.
    """
    today, line = await activity.today(coordinator, stream), await history.known_now(stream)
    if not guesses:
        today["decisions"] = [(round, abs(margin), *rest) for round, margin, *rest in today["decisions"]]
    place = place_of(stream)
    report = await reports.report(coordinator, stream, 0.95)
    now = coordinator.clock.now()
    found: dict[str, Any] = {
        "time": now,
        "stream": streams.facts(stream),
        "report": report,
        "history": [*line, point_of(report, place, now)],
        "today": today,
        "waiting": waiting(stream, now),
        "people": None,
    }
    if people:
        found["people"] = by_person(await reports.agreement(coordinator, stream))
    return found


def waiting(stream: ServiceStream, now: float) -> dict[str, Any]:
    """Number of questions that wait for an answer, and their ages."""
    ages = sorted(max(now - each.opened, 0.0) for each in stream.questions.open.values() if not each.is_full)
    counts = Counter(next((name for limit, name in AGES if age < limit), OLDER) for age in ages)
    return {
        "count": len(ages),
        "oldest": ages[-1] if ages else None,
        "middle": ages[len(ages) // 2] if ages else None,
        "ages": [[name, counts[name]] for name in [*(name for _, name in AGES), OLDER]],
    }


def by_person(agreement: dict[str, Any]) -> dict[str, Any]:
    """Statistics of each annotator, with how often others agreed with them."""
    same: Counter[str] = Counter()
    compared: Counter[str] = Counter()
    for pair in agreement["pairs"]:
        for name in pair["annotators"]:
            same[name] += pair["same"]
            compared[name] += pair["questions"]
    persons = [
        {"name": name, **each, "same": same[name], "compared": compared[name]}
        for name, each in sorted(agreement["people"].items())
    ]
    return {"krippendorff": agreement["krippendorff"], "pairs": agreement["pairs"], "persons": persons}
