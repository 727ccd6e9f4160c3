"""What was noted of a stream is there after any end, and does not grow without bounds."""

import numpy as np

from askwhen.service.use_cases import accuracy_history, instances, questions, reports, streams
from askwhen.service.use_cases.accuracy_history import AccuracyHistory, Timeline
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

X = np.random.default_rng(5).standard_normal((80, 3))


def test_points_are_there_after_a_crash_and_go_on(address, monkeypatch):
    monkeypatch.setattr(accuracy_history, "MOST_POINTS", 4)  # so that the picture has fewer than were noted
    monkeypatch.setattr(accuracy_history, "CHUNK", 3)

    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            noted = AccuracyHistory(coordinator)
            stream = await streams.create(coordinator, "mails", settings())
            await streams.create(coordinator, "still", settings())
            assert not await noted.look(stream)
            for first in range(0, 40, 4):
                for x in X[first : first + 4]:
                    await instances.play(coordinator, stream, Raw(x.tolist()))
                time.now += 1.0
                assert await noted.look(stream)
                assert not await noted.look(stream)
                assert await noted.note(stream)
                assert not await noted.note(stream)
            before = list((await noted.line(stream)).points)
        async with open_coordinator(address, time) as coordinator:
            noted, stream = AccuracyHistory(coordinator), coordinator.stream("mails")
            assert (await noted.line(stream)).points == before
            assert not await noted.look(stream)
            for x in X[40:]:
                await instances.play(coordinator, stream, Raw(x.tolist()))
            assert await noted.look(stream)
            assert await noted.note(stream)
            after = (await noted.line(stream)).points
            assert (await noted.line(coordinator.stream("still"))).points == []
        return before, after

    before, after = run(play())
    assert [before[0]["rounds"], before[-1]["rounds"], after[0], after[-1]["rounds"]] == [4, 40, before[0], 80]
    assert len(before) <= 4
    assert all(point in before for point in after[:-1])


def test_points_come_farther_apart_as_a_stream_grows_old():
    line, now, rounds = Timeline(), 0.0, 0
    while now < 5 * 365 * 86400.0:
        now, rounds = now + 600.0, rounds + 1
        if line.is_due(rounds, rounds // 10, now):
            line.add({"time": now, "rounds": rounds, "told": rounds // 10})
    assert line.count < 5_000
    assert 200 <= len(line.points) <= 400
    assert line.points[0]["rounds"] == 1


def test_looks_that_wait_are_few_and_say_what_the_report_said_then(tmp_path, monkeypatch):
    monkeypatch.setattr(accuracy_history, "MOST_SAMPLES", 4)

    async def play():
        time, wanted = Time(), {}
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            noted, stream = (
                AccuracyHistory(coordinator),
                await streams.create(coordinator, "mails", settings(grace=0.0)),
            )
            for x in X[:14]:
                said = await instances.play(coordinator, stream, Raw(x.tolist()))
                if said.asked:
                    await questions.answer(coordinator, stream, said.round, "ann", "ham" if x[0] > 0 else "spam")
                time.now += 1.0
                if not await noted.look(stream):
                    continue
                place = accuracy_history.place_of(stream)
                wanted[place] = accuracy_history.point_of(
                    await reports.report(coordinator, stream, 0.95), place, time.now
                )
            while await noted.note(stream):
                pass
            return (await noted.line(stream)).points, wanted

    points, wanted = run(play())
    assert 2 < len(points) <= 4 < len(wanted)
    assert (points[0]["rounds"], points[-1]["rounds"]) == (1, max(wanted)[0])
    assert points == [wanted[point["rounds"], point["told"]] for point in points]
