"""Streams that are deleted for good: nothing of their contents is left, and what is left of them is one event."""

import contextlib
import pathlib

import pytest

from askwhen.service.errors import ConflictError, NotFoundError, SetAsideError
from askwhen.service.events.kinds import Deleted, facts_of
from askwhen.service.store import Event
from askwhen.service.store.urls import all_rows
from askwhen.service.use_cases import deleting, instances, questions, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

SECRET = "a letter that must be gone"


async def filled(coordinator, name="one", backlog=True):
    """A stream with answers, and with instances in its backlog."""
    stream = await streams.create(coordinator, name, settings(algorithm="perceptron", budget=None, seed=3))
    for i in range(6):
        raw = Raw([1.0, float(i)], f"{name} {i}", show={"text": f"{SECRET} {i}"}, subject="someone")
        await instances.play(coordinator, stream, raw, backlog and i > 3)
    shown = await questions.next_question(coordinator, stream, "ann")
    await questions.answer(coordinator, stream, shown.question, "ann", "ham")
    return stream


def rows_of(address):
    with all_rows(str(address)) as parts:
        return [row for part in parts for row in part]


def test_nothing_is_left_but_an_event_of_the_service(address, tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            stream = await filled(coordinator)
            await filled(coordinator, "other")
            with pytest.raises(ConflictError, match="archive it first"):
                await deleting.delete(coordinator, stream, "root")
            await streams.change(coordinator, "one", "archived", "root")
            assert await questions.next_question(coordinator, stream, "bob") is None
            await deleting.delete(coordinator, stream, "root")
            with pytest.raises(NotFoundError):
                coordinator.stream("one")
            with pytest.raises(SetAsideError, match="the stream one was deleted"):
                await instances.play(coordinator, stream, Raw([1.0, 2.0]))
            again = await streams.create(coordinator, "one", settings())
            assert again.number == 3  # a token for the deleted stream must not be one for this
        async with open_coordinator(address, time) as coordinator:
            assert sorted(coordinator.streams) == ["one", "other"]
            assert coordinator.streams["one"].state.round == 0
            assert coordinator.streams["other"].state.round > 0

    run(go())
    rows = rows_of(address)
    assert {row.stream for row in rows if hasattr(row, "stream")} >= {0, 2, 3}
    assert not any(row.stream in (1, -1) for row in rows if hasattr(row, "stream"))
    (left,) = [facts_of(row) for row in rows if isinstance(row, Event) and row.kind == "deleted"]
    assert left == Deleted(1, "one", "root", left.rounds)
    assert left.rounds >= 4


def test_the_file_has_its_contents_no_longer(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await filled(coordinator)
            await streams.change(coordinator, "one", "archived", "root")
            await deleting.delete(coordinator, stream, "root")
            coordinator.commits.add([], None, [])
            await coordinator.scrub_again()

    run(go())
    for file in pathlib.Path(tmp_path).iterdir():
        assert SECRET.encode() not in file.read_bytes()


def test_a_kill_between_the_event_and_the_rows_is_made_good(address):
    async def go():
        time = Time()
        async with open_coordinator(address, time, crash=True) as coordinator:
            stream = await filled(coordinator)
            await streams.change(coordinator, "one", "archived", "root")
            await coordinator.commits.settled()
            await coordinator.remove(stream, "root", [])
        assert any(getattr(row, "stream", 0) == 1 for row in rows_of(address))
        async with open_coordinator(address, time) as coordinator:
            assert coordinator.streams == {}
            assert coordinator.deleted == {1}
            await deleting.purge_all(coordinator)
            assert not coordinator.deleted
        assert not any(getattr(row, "stream", 0) == 1 for row in rows_of(address))

    run(go())


def test_a_large_log_is_deleted_in_parts(tmp_path, monkeypatch):
    monkeypatch.setattr(deleting, "PART", 4)

    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await filled(coordinator, backlog=False)
            await streams.change(coordinator, "one", "archived", "root")
            await deleting.delete(coordinator, stream, "root")
            with contextlib.closing(coordinator.reader()) as reader:
                assert reader.last(1) == 0

    run(go())
