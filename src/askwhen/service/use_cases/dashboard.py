"""The data of a stream's dashboard."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from ..domain.stream import ServiceStream
from ..events.numbers import written
from ..runtime.coordinator import Coordinator
from . import backlog, reports, streams
from .accuracy_history import AccuracyHistory, place_of, point_of
from .adviser_reports import AdviserReports
from .question_outcomes import DAY, HOUR, QuestionOutcomes
from .recent_activity import RecentActivity

AGES = ((60.0, "under a minute"), (300.0, "under 5 minutes"), (3600.0, "under an hour"), (86400.0, "under a day"))
OLDER = "a day and more"
MOST_PAIRS, MOST_DAYS, MOST_STRETCHES = 15, 30, 12


async def overview(
    coordinator: Coordinator,
    stream: ServiceStream,
    history: AccuracyHistory,
    activity: RecentActivity,
    people: bool,
    guesses: bool,
    advisers: AdviserReports | None = None,
) -> dict[str, Any]:
    """The report of the API and the data of the charts; ``people`` adds statistics of annotators.

    Without ``guesses``, margins have no sign, which would reveal the predictions.
    """
    today, line, outcomes = (
        await activity.today(coordinator, stream),
        await history.known_now(stream),
        await history.outcomes(stream),
    )
    if not guesses:
        is_hidden = stream.settings.within is not None  # margins of numbers are the predictions
        shown = [] if is_hidden else today["decisions"]
        today["decisions"] = [(round, abs(margin), *rest) for round, margin, *rest in shown]
    place = place_of(stream)
    progress = await backlog.progress(coordinator, stream)
    report = await reports.report(coordinator, stream, 0.95)
    now = coordinator.clock.now()
    found: dict[str, Any] = {
        "time": now,
        "stream": streams.facts(stream),
        "report": report,
        "history": [*line, point_of(report, place, now)],
        "today": today,
        "waiting": waiting(stream, now) | {"unanswerable": unanswerable(stream, now, people)},
        "backlog": progress,
        "people": None,
        **delivered(outcomes, report["accuracy"], now, progress.undecided),
    }
    if stream.settings.within is not None:
        found |= of_numbers(outcomes, found["delivered"], found["sentence"], guesses)
    if advisers is not None and stream.settings.advisers is not None:
        found["advisers"] = await history.with_falls(stream, await advisers.of(stream))
    if "promise" in report:
        found["sentence"] = f"{report['promise']['sentence']} {report['promise']['advice']}".strip()
    found["days"] = answers_by_day(outcomes, people)
    if people:
        found["people"] = by_person(await reports.agreement(coordinator, stream))
    return found


def delivered(outcomes: QuestionOutcomes, accuracy: dict[str, Any], now: float, undecided: int = 0) -> dict[str, Any]:
    """What was delivered: a sentence, the number of instances by label, and what was confused most in the answers."""
    balance = outcomes.delivered()
    worst = [(number, *pair) for pair, number in outcomes.pairs().items() if pair[0] not in (None, pair[1])]
    worst.sort(key=lambda each: (-each[0], str(each[1:])))
    return {
        "sentence": sentence(sum(outcomes.predicted.values()), balance, accuracy, undecided),
        "delivered": balance,
        "confused": [
            {"predicted": predicted, "label": label, "answers": number}
            for number, predicted, label in worst[:MOST_PAIRS]
        ],
        "pace": outcomes.answers_since(now - HOUR),
    }


def of_numbers(
    outcomes: QuestionOutcomes, balance: dict[str, dict[str, int]], said: str, guesses: bool
) -> dict[str, Any]:
    """The same where labels are numbers: how many lie in each stretch, and how far predictions are off."""
    errors = outcomes.errors()
    off = "" if errors.mean is None else f" Predictions are off by {errors.mean:.3g} on average, by the answers so far."
    return {
        "delivered": stretches(balance),
        "confused": [],
        "numbers": {"mean_error": errors.mean, "answers": errors.answers, "shown": errors.shown if guesses else []},
        "sentence": said + off,
    }


def stretches(balance: dict[str, dict[str, int]]) -> dict[str, dict[str, int]]:
    """Counts of numbers as counts of stretches of equal length, in order; empty ones are left out."""
    values = sorted(map(float, balance))
    if not values:
        return {}
    least = max((values[-1] - values[0]) / MOST_STRETCHES, abs(values[-1]) * 1e-9, 1e-300)
    power = 10.0 ** math.floor(math.log10(least))
    step = next(each * power for each in (1.0, 2.0, 5.0, 10.0) if each * power >= least)
    found: dict[int, dict[str, int]] = {}
    for value in values:
        counts = found.setdefault(math.floor(value / step), {"people": 0, "predicted": 0})
        for name, number in balance[written(value)].items():
            counts[name] += number
    return {f"{k * step:.6g} to {(k + 1) * step:.6g}": counts for k, counts in found.items()}


def sentence(instances: int, balance: dict[str, dict[str, int]], accuracy: dict[str, Any], undecided: int = 0) -> str:
    """For the person who answers for a stream: what was delivered, how good it is, and what to do next."""
    wait = f"{undecided:,} instance{' waits' if undecided == 1 else 's wait'} in the backlog" if undecided else ""
    if not instances and undecided:
        return f"{wait}: they are decided as fast as people answer, so begin to label."
    if not instances:
        return "No instance has come yet: import a file, or send instances."
    people, predicted = (sum(each[name] for each in balance.values()) for name in ("people", "predicted"))
    one, none = people + predicted == 1, instances - people - predicted
    have = f"{people + predicted:,} instance{'' if one else 's'} {'has' if one else 'have'} a label"
    parts = f"{have}, {people:,} from people and {predicted:,} predicted" + (f"; {none:,} have none" if none else "")
    parts += f"; {wait}" if wait else ""
    return " ".join([f"{parts}.", accuracy["sentence"], accuracy["advice"]]).strip()


def answers_by_day(outcomes: QuestionOutcomes, people: bool) -> list[dict[str, Any]]:
    """Number of answers on each of the last days with answers; with ``people``, also of each person."""
    days = sorted({day for day, _ in outcomes.days})[-MOST_DAYS:]
    found: dict[int, dict[str, int]] = {day: {} for day in days}
    for (day, annotator), number in outcomes.days.items():
        if day in found:
            found[day][annotator] = number
    return [
        {"day": DAY * day, "answers": sum(each.values()), "people": dict(sorted(each.items())) if people else None}
        for day, each in found.items()
    ]


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


def unanswerable(stream: ServiceStream, now: float, people: bool) -> dict[str, Any]:
    """Number of questions that no annotator can answer now, and with ``people`` why."""
    reasons = Counter(why for _, why in stream.commands.unanswerable(now))
    most = [[why, number] for why, number in reasons.most_common(MOST_PAIRS)]
    return {"count": reasons.total(), "why": most if people else []}


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
