"""Archived streams: not in memory until somebody looks at them, and not in what is watched."""

import asyncio
import gc
import json
import weakref

import pytest

from askwhen.service.errors import SetAsideError
from askwhen.service.runtime import coordinator as desks
from askwhen.service.use_cases import erasing, instances, questions, replaying, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.desks import Time, open_desk, run, settings
from tests.service.in_process import running
from tests.service.library import bits


async def archived(desk, time, **given):
    """A stream with an answer, a correction and open questions, archived."""
    stream = await streams.create(desk, "old", settings(budget=None, algorithm="perceptron", grace=1.0, **given))
    for i in range(8):
        await instances.play(desk, stream, Raw([1.0 + i, -1.0], f"id {i}"))
    await questions.answer(desk, stream, 0, "ann", "ham")
    time.now += 2.0
    desk.tick()
    await desk.commits.settled()
    await questions.review(desk, stream, 0, "eve", "spam")
    await streams.change(desk, "old", "archived", "me")
    return stream


def state_of(stream):
    return bits(stream.model.sampler), json.loads(stream.dump()[1])


def test_an_archived_stream_leaves_the_memory_and_comes_back_as_it_was(address, monkeypatch):
    async def play():
        time = Time()
        async with open_desk(address, time) as desk:
            stream = await archived(desk, time)
            alive, facts, held = state_of(stream), streams.facts(stream), weakref.ref(stream.model.sampler)
            await desk.rest()
            gc.collect()
            assert (stream.loaded, held()) == (False, None)
            assert (stream.name, streams.facts(stream)) == ("old", facts)
            desk.tick()
            await erasing.Retention(desk).look()
            assert not stream.loaded, "nobody has looked at it"
            assert state_of(stream) == alive
            await desk.rest()
            assert stream.loaded, "somebody has looked at it just now"
            monkeypatch.setattr(desks, "REST", 0.0)
            await desk.rest()
            assert not stream.loaded
            await questions.answer(desk, stream, 3, "ann", "ham")
            await desk.rest()
            assert stream.loaded, "the model is to be told"
            time.now += 2.0
            desk.tick()
            await desk.rest()
            assert not stream.loaded
            after = state_of(stream)
            assert stream.books.kept.told == 2
        async with open_desk(address, time) as desk:
            stream = desk.stream("old")
            assert not stream.loaded
            assert streams.facts(stream)["told"] == 2
            assert state_of(stream) == after
            await streams.change(desk, "old", "resumed", "me")
            assert (await instances.play(desk, stream, Raw([1.0, 2.0]))).round == 8
            await desk.rest()
            assert stream.loaded

    run(play())


def test_whatever_is_done_to_an_archived_stream_brings_it_back(tmp_path, monkeypatch):
    monkeypatch.setattr(desks, "REST", 0.0)

    async def play():
        time = Time()
        async with open_desk(tmp_path / "log.db", time) as desk:
            stream = await archived(desk, time)
            for act in (
                lambda: reports.report(desk, stream, 0.95),
                lambda: questions.next_question(desk, stream, "bob"),
                lambda: questions.show(desk, stream, 0),
                lambda: replaying.replay(desk, stream, "me"),
                lambda: erasing.erase(desk, stream, erasing.Which(rounds=[2]), "me"),
                lambda: streams.rename(desk, stream.name, "older"),
            ):
                await desk.rest()
                assert not stream.loaded
                await act()
            assert desk.set_aside == []
        async with open_desk(tmp_path / "log.db", time) as desk:
            assert not desk.stream("older").loaded
            assert desk.stream("older").state.round == 8

    run(play())


def test_contents_of_archived_streams_are_erased_in_time(address):
    async def play():
        time = Time()
        async with open_desk(address, time) as desk:
            stream = await archived(desk, time, erase=100.0)
            await desk.rest()
            time.now += 200.0
            retention = erasing.Retention(desk)
            await retention.look()
            assert desk.look(stream, 1).row is None
            assert stream.state.erased > 0

    run(play())


def test_an_archived_stream_that_cannot_be_loaded_is_set_aside(address, monkeypatch):
    async def play():
        time = Time()
        async with open_desk(address, time) as desk:
            stream = await archived(desk, time)
            await desk.rest()
            monkeypatch.setattr(desks, "recover", lambda *_: 1 / 0)
            with pytest.raises(SetAsideError, match="its model failed"):
                await reports.report(desk, stream, 0.95)
            assert streams.facts(stream)["rounds"] == 8
            assert (desk.set_aside, desk.broken) == ([stream], None)

    run(play())


def test_nobody_is_warned_of_the_questions_of_an_archived_stream(tmp_path):
    async def play():
        async with running(tmp_path / "log.db") as (desk, http):
            given = {"labels": ["a", "b"], "algorithm": "perceptron", "seed": 1}
            for name in ("old", "new"):
                await http.post("/v1/streams", json={"name": name, "settings": given})
                await http.post(f"/v1/streams/{name}/instances", json={"x": [1.0, 2.0]})
            before = (await http.get("/metrics")).text
            await http.post("/v1/streams/old/archive")
            await desk.rest()
            assert not desk.streams["old"].loaded
            await asyncio.sleep(0.3)
            found = (await http.get("/metrics")).text
            for gauge in ("waiting_questions", "oldest_waiting_question_seconds"):
                assert f'askwhen_{gauge}{{stream="old"}}' in before
                assert f'askwhen_{gauge}{{stream="new"}}' in found
                assert f'askwhen_{gauge}{{stream="old"}}' not in found
            assert 'askwhen_rounds_total{stream="old"} 1.0' in found
            listed = (await http.get("/v1/streams?archived=true")).json()
            assert {each["name"]: each["rounds"] for each in listed} == {"old": 1, "new": 1}
            assert not desk.streams["old"].loaded, "a list and a scrape bring nothing back"
            assert (await http.get("/v1/streams/old/overview")).json()["stream"]["waiting"] == 1
            exported = await http.get("/v1/streams/old/export?table=decisions")
            assert len(exported.text.splitlines()) == 1

    run(play())
