"""Archived streams: not in memory until somebody looks at them, and not in what is watched."""

import asyncio
import gc
import json
import weakref

import pytest

from askwhen.service.errors import SetAsideError
from askwhen.service.runtime import coordinator as coordinators
from askwhen.service.use_cases import erasing, instances, questions, replaying, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.in_process import running
from tests.service.library import bits


async def archived(coordinator, time, **given):
    """A stream with an answer, a correction and open questions, archived."""
    stream = await streams.create(coordinator, "old", settings(budget=None, algorithm="perceptron", grace=1.0, **given))
    for i in range(8):
        await instances.play(coordinator, stream, Raw([1.0 + i, -1.0], f"id {i}"))
    await questions.answer(coordinator, stream, 0, "ann", "ham")
    time.now += 2.0
    coordinator.tick()
    await coordinator.commits.settled()
    await questions.review(coordinator, stream, 0, "eve", "spam")
    await streams.change(coordinator, "old", "archived", "me")
    return stream


def state_of(stream):
    return bits(stream.model.sampler), json.loads(stream.dump()[1])


def test_an_archived_stream_leaves_the_memory_and_comes_back_as_it_was(address, monkeypatch):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await archived(coordinator, time)
            alive, facts, held = state_of(stream), streams.facts(stream), weakref.ref(stream.model.sampler)
            await coordinator.rest()
            gc.collect()
            assert (stream.loaded, held()) == (False, None)
            assert (stream.name, streams.facts(stream)) == ("old", facts)
            coordinator.tick()
            await erasing.Retention(coordinator).look()
            assert not stream.loaded, "nobody has looked at it"
            assert state_of(stream) == alive
            await coordinator.rest()
            assert stream.loaded, "somebody has looked at it just now"
            monkeypatch.setattr(coordinators, "REST", 0.0)
            await coordinator.rest()
            assert not stream.loaded
            await questions.answer(coordinator, stream, 3, "ann", "ham")
            await coordinator.rest()
            assert stream.loaded, "the model is to be told"
            time.now += 2.0
            coordinator.tick()
            await coordinator.rest()
            assert not stream.loaded
            after = state_of(stream)
            assert stream.questions.stored.told == 2
        async with open_coordinator(address, time) as coordinator:
            stream = coordinator.stream("old")
            assert not stream.loaded
            assert streams.facts(stream)["told"] == 2
            assert state_of(stream) == after
            await streams.change(coordinator, "old", "resumed", "me")
            assert (await instances.play(coordinator, stream, Raw([1.0, 2.0]))).round == 8
            await coordinator.rest()
            assert stream.loaded

    run(play())


def test_whatever_is_done_to_an_archived_stream_brings_it_back(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinators, "REST", 0.0)

    async def play():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await archived(coordinator, time)
            for act in (
                lambda: reports.report(coordinator, stream, 0.95),
                lambda: questions.next_question(coordinator, stream, "bob"),
                lambda: questions.show(coordinator, stream, 0),
                lambda: replaying.replay(coordinator, stream, "me"),
                lambda: erasing.erase(coordinator, stream, erasing.Which(rounds=[2]), "me"),
                lambda: streams.rename(coordinator, stream.name, "older"),
            ):
                await coordinator.rest()
                assert not stream.loaded
                await act()
            assert coordinator.set_aside == []
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            assert not coordinator.stream("older").loaded
            assert coordinator.stream("older").state.round == 8

    run(play())


def test_contents_of_archived_streams_are_erased_in_time(address):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await archived(coordinator, time, erase=100.0)
            await coordinator.rest()
            time.now += 200.0
            retention = erasing.Retention(coordinator)
            await retention.look()
            assert coordinator.event(stream, 1).row is None
            assert stream.state.erased > 0

    run(play())


def test_an_archived_stream_that_cannot_be_loaded_is_set_aside(address, monkeypatch):
    async def play():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await archived(coordinator, time)
            await coordinator.rest()
            monkeypatch.setattr(coordinators, "recover", lambda *_: 1 / 0)
            with pytest.raises(SetAsideError, match="its model failed"):
                await reports.report(coordinator, stream, 0.95)
            assert streams.facts(stream)["rounds"] == 8
            assert (coordinator.set_aside, coordinator.broken) == ([stream], None)

    run(play())


def test_nobody_is_warned_of_the_questions_of_an_archived_stream(tmp_path):
    async def play():
        async with running(tmp_path / "log.db") as (coordinator, http):
            given = {"labels": ["a", "b"], "algorithm": "perceptron", "seed": 1}
            for name in ("old", "new"):
                await http.post("/v1/streams", json={"name": name, "settings": given})
                await http.post(f"/v1/streams/{name}/instances", json={"x": [1.0, 2.0]})
            before = (await http.get("/metrics")).text
            await http.post("/v1/streams/old/archive")
            await coordinator.rest()
            assert not coordinator.streams["old"].loaded
            await asyncio.sleep(0.3)
            found = (await http.get("/metrics")).text
            for gauge in ("waiting_questions", "oldest_waiting_question_seconds"):
                assert f'askwhen_{gauge}{{stream="old"}}' in before
                assert f'askwhen_{gauge}{{stream="new"}}' in found
                assert f'askwhen_{gauge}{{stream="old"}}' not in found
            assert 'stream="old"' not in found
            listed = (await http.get("/v1/streams?archived=true")).json()
            assert {each["name"]: each["rounds"] for each in listed} == {"old": 1, "new": 1}
            assert not coordinator.streams["old"].loaded, "a list and a scrape bring nothing back"
            assert (await http.get("/v1/streams/old/overview")).json()["stream"]["waiting"] == 1
            exported = await http.get("/v1/streams/old/export?table=decisions")
            assert len(exported.text.splitlines()) == 1

    run(play())
