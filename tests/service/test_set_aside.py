"""A stream whose model fails is set aside, and the others go on: while the service runs, and when it starts."""

import asyncio

import apsw
import pytest

from askwhen.service.domain.event_sourced_stream import EventSourcedStream
from askwhen.service.errors import SetAsideError, StoreError
from askwhen.service.runtime.coordinator import Coordinator
from askwhen.service.store import open_store
from askwhen.service.use_cases import instances, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running

GIVEN = {"labels": ["a", "b"], "algorithm": "perceptron", "grace": 0.0, "seed": 1}


def fails(*_):
    raise AssertionError("words of an instance")


async def two_streams(coordinator, time):
    """Streams that have answers, one of them with another name than it was made with."""
    made = []
    for name in ("one", "two"):
        stream = await streams.create(coordinator, name, settings(budget=None, algorithm="perceptron", grace=5.0))
        for i in range(4):
            await instances.play(coordinator, stream, Raw([1.0 + i, -1.0], f"id {i}"))
        await questions.answer(coordinator, stream, 0, "ann", "ham")
        made.append(stream)
    await streams.rename(coordinator, "one", "first")
    return made


def test_a_stream_that_fails_is_shown_and_refused_and_the_others_go_on(tmp_path):
    async def play():
        async with running(tmp_path / "log.db") as (coordinator, http):
            for name in ("bad", "good"):
                assert (await http.post("/v1/streams", json={"name": name, "settings": GIVEN})).status_code == 201
                for _ in range(2):
                    assert (await http.post(f"/v1/streams/{name}/instances", json={"x": [1.0, 2.0]})).is_success
            coordinator.streams["bad"].model.tell = fails
            refused = await http.post("/v1/streams/bad/questions/0/answer", json={"label": "a", "annotator": "ann"})
            for again in (
                refused,
                await http.post("/v1/streams/bad/instances", json={"x": [1.0, 2.0]}),
                await http.post("/v1/streams/bad/questions/1/answer", json={"label": "a", "annotator": "ann"}),
                await http.post("/v1/streams/bad/questions/next", json={"annotator": "ann"}),
                await http.get("/v1/streams/bad/report"),
                await http.get("/v1/streams/bad/overview"),
            ):
                assert again.status_code == 503
                assert again.headers["content-type"] == "application/problem+json"
                assert "the stream bad is set aside, since its model failed (AssertionError)" in again.json()["detail"]
                assert "words" not in again.text
            lines = await http.post(
                "/v1/streams/bad/instances",
                content=b'{"x": [1, 2]}\n',
                headers={"content-type": "application/x-ndjson"},
            )
            assert "is set aside" in lines.text
            good = await http.post("/v1/streams/good/questions/0/answer", json={"label": "a", "annotator": "ann"})
            assert good.is_success
            assert (await http.post("/v1/streams/good/instances", json={"x": [1.0, 2.0]})).json()["round"] == 2
            listed = {each["name"]: each for each in (await http.get("/v1/streams")).json()}
            assert (listed["bad"]["state"], listed["good"]["state"]) == ("set aside", "active")
            assert "is set aside" in listed["bad"]["problem"]
            assert (listed["bad"]["rounds"], listed["good"]["problem"]) == (2, None)
            assert (await http.get("/v1/streams/bad")).json()["state"] == "set aside"
            for path in ("/readyz", "/healthz"):
                assert (await http.get(path)).json() == {"status": "ok", "streams": 2, "set_aside": 1}
            metrics = (await http.get("/metrics")).text
            assert 'askwhen_stream_set_aside{stream="bad"} 1.0' in metrics
            assert 'askwhen_stream_set_aside{stream="good"} 0.0' in metrics
            assert 'askwhen_rounds_total{stream="bad"} 2.0' in metrics
            assert "is set aside" in (await http.get("/label/bad")).text
            await asyncio.sleep(0.3)  # the tick, the history and the inbox pass it
            assert coordinator.broken is None
        async with running(tmp_path / "log.db") as (coordinator, http):
            assert coordinator.set_aside == []
            assert coordinator.streams["bad"].state.round == 2
            answer = {"label": "a", "annotator": "ann"}
            assert (await http.post("/v1/streams/bad/questions/0/answer", json=answer)).is_success

    run(play())


def test_what_is_due_fails_one_stream_only(address, caplog):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            one, two = await two_streams(coordinator, time)
            one.model.tell = fails
            time.now += 10.0
            coordinator.tick()
            await coordinator.commits.settled()
            assert (coordinator.set_aside, coordinator.broken) == ([one], None)
            assert two.questions.stored.told == 1
            assert "a stream is set aside" in caplog.text
            with pytest.raises(SetAsideError, match="the stream first is set aside"):
                await instances.play(coordinator, one, Raw([1.0, 2.0]))
        async with open_coordinator(address, time) as coordinator:
            coordinator.tick()
            assert coordinator.set_aside == []
            assert [stream.questions.stored.told for stream in coordinator.by_number.values()] == [1, 1]

    run(play())


def test_lines_before_the_one_that_fails_are_not_acknowledged(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            one, _ = await two_streams(coordinator, time)
            ask = one.model.ask
            one.model.ask = lambda x, now: fails() if x[0] == 3.0 else ask(x, now)
            with pytest.raises(SetAsideError):
                await instances.play_all(
                    coordinator, one, [Raw([each, 1.0], f"new {each}") for each in (1.0, 2.0, 3.0, 4.0)]
                )
        async with open_coordinator(address, time) as coordinator:
            assert coordinator.stream("first").state.round == 4
            assert not (
                await instances.play(coordinator, coordinator.stream("first"), Raw([1.0, 1.0], "new 1.0"))
            ).again

    run(play())


def test_a_snapshot_that_cannot_be_made_loses_nothing(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            one, _ = await two_streams(coordinator, time)
            one.model.dump = fails
        async with open_coordinator(address, time) as coordinator:
            assert [coordinator.stream(name).state.round for name in ("first", "two")] == [4, 4]

    run(play())


def test_a_start_serves_what_it_can(address, monkeypatch):
    async def play():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            await two_streams(coordinator, time)
        read = EventSourcedStream.replay
        monkeypatch.setattr(
            EventSourcedStream,
            "replay",
            lambda each, *given: read(each, *given) if each.state.name == "two" else fails(),
        )
        async with open_coordinator(address, time) as coordinator:
            (aside,) = coordinator.set_aside
            assert (aside.number, aside.name) == (1, "first")
            with pytest.raises(SetAsideError, match="the next start"):
                await reports.report(coordinator, coordinator.stream("first"), 0.95)
            assert (await instances.play(coordinator, coordinator.stream("two"), Raw([1.0, 2.0]))).round == 4
            new = await streams.create(coordinator, "one", settings())
            assert new.number == 3
            facts = streams.facts(aside)
            assert (facts["state"], facts["seq"]) == ("set aside", 6)
            with pytest.raises(SetAsideError):
                await streams.rename(coordinator, "first", "other")
        monkeypatch.undo()
        async with open_coordinator(address, time) as coordinator:
            assert coordinator.set_aside == []
            assert coordinator.stream("first").state.round == 4

    run(play())


def test_a_damaged_log_of_the_service_itself_is_one_sentence(tmp_path):
    async def play():
        time, path = Time(), str(tmp_path / "log.db")
        async with open_coordinator(path, time) as coordinator:
            await two_streams(coordinator, time)
        connection = apsw.Connection(path)
        connection.execute("update events set facts = '{' where stream = 0")
        connection.close()
        store = open_store(path)
        with pytest.raises(StoreError, match="the database is damaged: event 1 of its first log cannot be read"):
            await Coordinator(store, time.clock()).start()
        store.close()

    run(play())


def test_a_name_that_cannot_be_read_stands_in_nobodys_way(tmp_path):
    async def play():
        time, path = Time(), str(tmp_path / "log.db")
        async with open_coordinator(path, time, crash=True) as coordinator:
            await two_streams(coordinator, time)
            await streams.create(coordinator, "one", settings())
        connection = apsw.Connection(path)
        connection.execute("update events set facts = '{' where stream = 1 and kind in ('renamed', 'instance')")
        connection.close()
        async with open_coordinator(path, time) as coordinator:
            assert {name: stream.number for name, stream in coordinator.streams.items()} == {
                "one-1": 1,
                "two": 2,
                "one": 3,
            }
            assert [stream.name for stream in coordinator.set_aside] == ["one-1"]

    run(play())
