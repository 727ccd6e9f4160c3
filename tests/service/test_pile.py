"""The trial of a team: a pile of short messages of which a tenth is answered, streamed or from a backlog."""

import numpy as np

from askwhen.service.events.settings import Budget, Features
from askwhen.service.use_cases import backlog, instances, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.soak import times

COMMON = [f"word{i}" for i in range(400)]
SPAM = ["win", "prize", "free", "cash", "claim", "urgent", "txt", "ringtone", "offer", "mobile"]
HAM = ["lunch", "home", "later", "ok", "love", "meeting", "sorry", "night", "mum", "bus"]


def messages(n):
    """Short messages of which an eighth is spam; every twentieth has the words of the other kind."""
    rng = np.random.default_rng(11)
    truth = np.where(rng.random(n) < 0.125, "spam", "ham").tolist()
    odd = rng.random(n) < 0.05
    texts = []
    for label, is_odd in zip(truth, odd, strict=True):
        own = SPAM if (label == "spam") != is_odd else HAM
        words = [*rng.choice(own, 3), *rng.choice(COMMON, rng.integers(3, 9))]
        texts.append(" ".join(rng.permutation(words).tolist()))
    return texts, truth


async def answer_all(coordinator, stream, time, truth):
    """Answer what waits by the truth; the number of answers."""
    number = 0
    while True:
        coordinator.tick()
        await coordinator.commits.settled()
        shown = await questions.next_question(coordinator, stream, "ann")
        if shown is None:
            return number
        label = truth[int(coordinator.event(stream, stream.questions.open[shown.question].seq).key[2:])]
        await questions.answer(coordinator, stream, shown.question, "ann", label, lead=3.0)
        time.now += 4.0
        number += 1


async def delivered(coordinator, stream, truth):
    """The share of decided instances whose prediction was right, and what the service says of it."""
    await coordinator.commits.settled()
    async with coordinator.reading() as log:
        events = log.reader.events(stream.number, 0, 1 << 40, ("instance",))
    right = [instances.facts_of(each).prediction == truth[int(each.key[2:])] for each in events]
    overall = (await reports.report(coordinator, stream, 0.95))["accuracy"]["overall"]
    return float(np.mean(right)), overall


def test_a_backlog_ends_where_a_stream_ends_and_the_headline_holds_the_truth_throughout(tmp_path):
    n, piece = times(800, 5_000), times(200, 500)
    texts, truth = messages(n)
    given = settings(
        features=Features(kind="text", vectors=False, places=4096), budget=Budget(rate=0.1), grace=0.0, seed=1
    )

    async def go():
        time, ends = Time(), {}
        async with open_coordinator(tmp_path / "log.db", time, ticks=False) as coordinator:
            streamed = await streams.create(coordinator, "streamed", given)
            for i, text in enumerate(texts):
                found = await instances.play(coordinator, streamed, Raw(text, str(i)))
                if found.asked:
                    await answer_all(coordinator, streamed, time, truth)
                if (i + 1) % piece == 0:
                    right, said = await delivered(coordinator, streamed, truth)
                    assert said["low"] <= right <= said["high"]
            ends["streamed"] = await delivered(coordinator, streamed, truth)
            piled = await streams.create(coordinator, "piled", given)
            for first in range(0, n, piece):
                raws = [Raw(text, str(first + i)) for i, text in enumerate(texts[first : first + piece])]
                await instances.play_all(coordinator, piled, raws, backlog=True)
            looked = 0
            while len(piled.backlog) or piled.questions.waiting:
                shown = await questions.next_question(coordinator, piled, "ann")
                if shown is not None:
                    label = truth[int(coordinator.event(piled, piled.questions.open[shown.question].seq).key[2:])]
                    await questions.answer(coordinator, piled, shown.question, "ann", label, lead=3.0)
                time.now += 4.0
                coordinator.tick()
                if piled.state.round >= looked + piece:
                    looked = piled.state.round
                    right, said = await delivered(coordinator, piled, truth)
                    assert said["low"] <= right <= said["high"]
                    progress = await backlog.progress(coordinator, piled, "ann")
                    assert progress.answered + progress.left == progress.expected
                    assert 0.6 * 0.1 * n < progress.expected < 2.2 * 0.1 * n
                    assert progress.remaining == progress.left * 3.0
            ends["piled"] = await delivered(coordinator, piled, truth)
            assert piled.state.round == streamed.state.round == n
            labels = streamed.questions.stored.asked, piled.questions.stored.asked
        print(ends, labels)
        assert abs(ends["streamed"][0] - ends["piled"][0]) <= times(0.02, 0.01)
        assert abs(labels[0] - labels[1]) <= 0.2 * labels[0]

    run(go())
