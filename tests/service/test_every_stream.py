"""Every algorithm, kind of features and number of labels: rounds, answers, undo, corrections, reports, a restart."""

import contextlib
import json

import pytest

from askwhen.algorithms import algorithms
from askwhen.errors import InputError
from askwhen.service.events.settings import Budget, Features, Settings
from askwhen.service.use_cases import instances, questions, replaying, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run
from tests.service.library import bits

pytestmark = pytest.mark.xdist_group("every stream")
KINDS = {
    "numbers": (Features(), [[1.0, 0.5], [-1.0, 2.0], [0.3, -0.2], [1.5, 1.0], [-0.5, -1.0], [2.0, 0.1]]),
    "hashed": (Features(kind="hashed", places=64), [{"a": i + 1.0, f"b{i % 3}": "word"} for i in range(6)]),
    "text": (Features(kind="text", places=64), ["one two", "two three four", "five", "one five", "six two", "seven"]),
    "mixed": (
        Features(kind="mixed", places=64, text=["t"], names=["n"]),
        [{"t": f"one word{i % 3}", "n": float(i)} for i in range(6)],
    ),
}
LABELS = [["a", "b"], ["a", "b", "c"], "open"]
WORDS = ["a", "b", "c", "a", "c", "b"]


def all_settings(algorithm):
    """The streams that there can be of an algorithm, by their names."""
    found = {}
    for kind, (features, _) in KINDS.items():
        for given in LABELS:
            found[f"{kind}-{len(given)}"] = Settings(
                labels=given, algorithm=algorithm, features=features, budget=Budget(rate=1.0), seed=3, grace=1.0
            )
    return found


def word(stream, round):
    """A label of a stream."""
    known = stream.settings.labels
    return WORDS[round] if known == "open" else known[round % len(known)]


async def begin(coordinator, name, settings):
    """A stream with instances that are answered, one of them twice."""
    stream = await streams.create(coordinator, name, settings)
    await instances.play_all(
        coordinator, stream, [Raw(x, f"id {i}") for i, x in enumerate(KINDS[settings.features.kind][1])]
    )
    open = list(stream.questions.open)
    for round in open[:4]:
        await questions.answer(coordinator, stream, round, "ann", word(stream, round))
    if open:
        await questions.undo(coordinator, stream, None, "ann")
        await questions.answer(coordinator, stream, open[:4][-1], "ann", word(stream, 0))
    return stream


async def correct(coordinator, stream):
    """Corrections of what the model was told: by whoever answered, and by a reviewer."""
    told = [event.question for event in log_of(coordinator, stream) if event.kind == "told"]
    for round in told[:1]:
        await questions.undo(coordinator, stream, round, "ann")
        await questions.answer(coordinator, stream, round, "ann", word(stream, 1))
    for round in told[1:2]:
        await questions.review(coordinator, stream, round, "eve", word(stream, 2))


async def pass_time(coordinator, time):
    time.now += 2.0
    coordinator.tick()
    await coordinator.commits.settled()
    assert (coordinator.set_aside, coordinator.broken) == ([], None)


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


def state_of(stream):
    return bits(stream.model.sampler), json.loads(stream.dump()[1])


@pytest.mark.parametrize("algorithm", algorithms())
def test_every_stream_goes_on_whatever_happens_to_it(tmp_path, algorithm):
    async def play():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time, crash=True) as coordinator:
            coordinator.warmups.begin = lambda *_: None
            made = []
            for name, settings in all_settings(algorithm).items():
                with contextlib.suppress(InputError):  # it predicts numbers, or knows two labels only
                    made.append(await begin(coordinator, name, settings))
            await pass_time(coordinator, time)
            for stream in made:
                await correct(coordinator, stream)
            await pass_time(coordinator, time)
            alive = {stream.name: state_of(stream) for stream in made}
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            assert not coordinator.set_aside
            assert {name: state_of(stream) for name, stream in coordinator.streams.items()} == alive
            for stream in coordinator.streams.values():
                if stream.settings.features.kind == "text":
                    assert (await reports.report(coordinator, stream, 0.95))["accuracy"]["rounds"] == 6
                await replaying.replay(coordinator, stream, "me")
            await pass_time(coordinator, time)

    run(play())
