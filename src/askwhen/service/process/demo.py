"""``askwhen serve --demo``: a stream that drifts and three simulated annotators, so that everything moves at once."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import ConflictError
from ..events.settings import Budget, Features, Settings
from ..runtime.coordinator import Coordinator
from ..use_cases import instances, questions, reports, streams
from ..use_cases.instances import Decision, Raw

NAME, FEATURES, SPEED = "demo", 8, 40.0
PEOPLE = {"ann": 0.97, "bob": 0.92, "cid": 0.8}
"""The annotators, and how often each is right."""

_SWITCH = 2_000


def in_a_new_folder() -> str:
    """The path of a new database in a new directory."""
    return str(Path(tempfile.mkdtemp(prefix="askwhen-demo-")) / "demo.db")


async def run_demo(coordinator: Coordinator, report: Callable[[str], None]) -> None:
    """Send instances, answer questions and report progress, until cancelled."""
    names = [f"sensor {i}" for i in range(FEATURES)]
    settings = Settings(
        labels=["quiet", "busy"],
        budget=Budget(rate=0.2),
        features=Features(names=names),
        slots=2,
        grace=3.0,
        forget=60.0,
        seed=7,
    )
    if NAME not in coordinator.streams:
        await streams.create(coordinator, NAME, settings)
    rng = np.random.default_rng(7)
    truth: dict[int, str] = {}
    people = [_answer(coordinator, who, right, truth, rng.spawn(1)[0]) for who, right in PEOPLE.items()]
    await asyncio.gather(_send(coordinator, truth, rng), *people, _report(coordinator, report))


async def _send(coordinator: Coordinator, truth: dict[int, str], rng: np.random.Generator) -> None:
    """Send instances whose labels follow a target that changes now and then."""
    stream, w = coordinator.stream(NAME), rng.standard_normal(FEATURES)
    while True:
        for _ in range(4):
            if stream.state.round % _SWITCH == _SWITCH - 1:
                w = rng.standard_normal(FEATURES)
            x = rng.standard_normal(FEATURES)
            found = await instances.play(coordinator, stream, Raw(x.round(3).tolist()))
            if isinstance(found, Decision) and found.question is not None:
                truth[found.question] = "busy" if w @ x > 0.0 else "quiet"
        await asyncio.sleep(4 / SPEED)


async def _answer(
    coordinator: Coordinator, who: str, right: float, truth: dict[int, str], rng: np.random.Generator
) -> None:
    """Simulate an annotator who is sometimes wrong, skips, or is unsure."""
    stream = coordinator.stream(NAME)
    while True:
        await asyncio.sleep(rng.exponential(0.1))
        shown = await questions.next_question(coordinator, stream, who)
        if shown is None:
            continue
        lead = float(rng.exponential(0.1))
        await asyncio.sleep(lead)
        label = truth.get(shown.question, "quiet")
        if rng.random() > right:
            label = "busy" if label == "quiet" else "quiet"
        try:
            if rng.random() < 0.03:
                await questions.skip(coordinator, stream, shown.question, who)
            else:
                await questions.answer(
                    coordinator, stream, shown.question, who, None if rng.random() < 0.02 else label, None, lead
                )
        except ConflictError:
            continue


async def _report(coordinator: Coordinator, report: Callable[[str], None]) -> None:
    """Report a line every few seconds."""
    stream = coordinator.stream(NAME)
    while True:
        await asyncio.sleep(3.0)
        found = (await reports.report(coordinator, stream, 0.95))["accuracy"]
        overall, people = found["overall"], await reports.agreement(coordinator, stream)
        agree = people["krippendorff"]
        report(
            f"{stream.state.round:,} instances, {found['questions']} questions, {found['answered']} labels: "
            f"accuracy {_shown(overall)}, "
            f"agreement {'unknown' if agree is None else f'{agree:.2f}'}"
        )


def _shown(overall: dict[str, Any]) -> str:
    """An accuracy with its interval; while it is not known, only the interval."""
    ends = f"({overall['low']:.0%} to {overall['high']:.0%})"
    return f"not known yet {ends}" if overall["value"] is None else f"{overall['value']:.0%} {ends}"
