"""Backups while the service runs, restored elsewhere: they go on bit for bit."""

import asyncio
import contextlib
import json
import os

import apsw
import numpy as np
import pytest

from askwhen.errors import InputError
from askwhen.service.errors import StoreError
from askwhen.service.store import backups
from askwhen.service.use_cases import instances, questions, streams
from askwhen.service.use_cases.instances import Raw
from tests.forking import Forked
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.library import Library, bits

X = np.random.default_rng(5).standard_normal((300, 5))


async def play(coordinator, time, first, last):
    """Instances of two streams, and a person who answers."""
    for i in range(first, last):
        for name in ("mails", "docs"):
            stream = coordinator.stream(name)
            await instances.play(coordinator, stream, Raw(X[i].tolist(), f"id {i}"))
            shown = await questions.next_question(coordinator, stream, "ann")
            if shown is not None and i % 2:
                await questions.answer(
                    coordinator, stream, shown.question, "ann", stream.settings.labels[i % 3 % 2], f"k{i}"
                )
        time.now += 1.0
        coordinator.tick()


async def begun(coordinator):
    await streams.create(coordinator, "mails", settings())
    await streams.create(coordinator, "docs", settings(labels=["a", "b", "c"]))


def log_of(coordinator, stream):
    with contextlib.closing(coordinator.reader()) as reader:
        return reader.events(stream.number, 0, 1 << 40)


@pytest.fixture(params=["to sqlite", "to postgresql"])
def elsewhere(request, tmp_path):
    if request.param == "to sqlite":
        return str(tmp_path / "elsewhere.db")
    return request.getfixturevalue("cluster").database()


def test_a_backup_under_load_is_restored_elsewhere_and_goes_on(address, elsewhere, tmp_path):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            await begun(coordinator)
            await play(coordinator, time, 0, 30)
            path = str(tmp_path / "some.backup")
            made, _ = await asyncio.gather(
                asyncio.to_thread(backups.backup, address, path), play(coordinator, time, 30, 80)
            )
            before = [log_of(coordinator, coordinator.stream(name)) for name in ("mails", "docs")]
        assert made == backups.checked(path) == backups.restore(path, elsewhere)
        assert made.streams == 2
        async with open_coordinator(elsewhere, time) as coordinator:
            for name, events in zip(("mails", "docs"), before, strict=True):
                stream = coordinator.stream(name)
                assert log_of(coordinator, stream) == events[: stream.seq]
                assert 30 <= stream.state.round <= 80
            await play(coordinator, time, 200, 230)
            for name in ("mails", "docs"):
                stream = coordinator.stream(name)
                events, library = log_of(coordinator, stream), Library(stream.settings)
                history.check(events)
                library.follow(events)
                assert bits(library.sampler) == bits(stream.model.sampler)

    run(go())


def test_a_service_moves_to_another_database(address, elsewhere):
    async def go():
        time = Time()
        async with open_coordinator(address, time) as coordinator:
            await begun(coordinator)
            await play(coordinator, time, 0, 20)
            before = bits(coordinator.stream("docs").model.sampler)
        found = backups.migrate(address, elsewhere)
        assert found.events > 80
        with pytest.raises(InputError, match="has streams already"):
            backups.migrate(address, elsewhere)
        async with open_coordinator(elsewhere, time) as coordinator:
            assert bits(coordinator.stream("docs").model.sampler) == before

    run(go())


@pytest.fixture
def made(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            await begun(coordinator)
            await play(coordinator, Time(), 0, 5)

    run(go())
    backups.backup(str(tmp_path / "log.db"), str(tmp_path / "one.backup"))
    return tmp_path


def test_a_damaged_backup_is_refused_and_nothing_is_made(made):
    connection = apsw.Connection(str(made / "one.backup"))
    connection.execute("update events set time = time + 1 where stream = 1 and seq = 2")
    connection.close()
    with pytest.raises(StoreError, match="is damaged"):
        backups.restore(str(made / "one.backup"), str(made / "new.db"))
    assert not (made / "new.db").exists()


def test_what_is_no_backup_is_refused(made):
    (made / "text").write_text("no")
    for name in ("text", "log.db"):
        with pytest.raises(StoreError, match="is not a backup"):
            backups.restore(str(made / name), str(made / "new.db"))
    with pytest.raises(InputError, match="there is no file"):
        backups.restore(str(made / "missing"), str(made / "new.db"))
    with pytest.raises(StoreError, match="there is no database"):
        backups.backup(str(made / "missing"), str(made / "two.backup"))
    with pytest.raises(InputError, match="exists already"):
        backups.backup(str(made / "log.db"), str(made / "one.backup"))
    assert not list(made.glob(".*backup*"))


def test_an_error_in_the_middle_leaves_nothing(made, monkeypatch):
    def parts(counting):
        yield from [next(iter(counting._parts))]
        raise OSError("the disk is full")

    monkeypatch.setattr(backups.CountedParts, "__iter__", parts)
    with pytest.raises(OSError, match="full"):
        backups.backup(str(made / "log.db"), str(made / "two.backup"))
    assert not list(made.glob("*two.backup*"))
    (made / "new.db.old").write_text("somebody else's")
    with pytest.raises(OSError, match="full"):
        backups.migrate(str(made / "log.db"), str(made / "new.db"))
    assert [each.name for each in made.glob("new.db*")] == ["new.db.old"]
    monkeypatch.undo()
    assert backups.migrate(str(made / "log.db"), str(made / "new.db")).streams == 2


def test_the_commands(made):
    def command(*words):
        running = Forked([*map(str, words)], dict(os.environ))
        out, err = running.communicate()
        return running.returncode, out, err

    status, out, _ = command("backup", made / "two.backup", "--db", made / "log.db", "--json")
    assert (status, json.loads(out)["streams"]) == (0, 2)
    assert command("restore", made / "two.backup", "--db", made / "two.db")[0] == 0
    assert "2 streams" in command("migrate-db", made / "two.db", made / "three.db")[1]
    status, out, _ = command("backup", made / "[x].backup", "--db", made / "log.db")
    assert (status, "[x].backup has: 2 streams" in out) == (0, True)
    status, _, said = command("restore", made / "two.backup", "--db", made / "two.db")
    assert (status, "has streams already; give an empty database." in said) == (1, True)


def test_a_backup_is_one_file_for_its_owner_whatever_its_name(made):
    for name in ("[x].backup", "a*b?.backup"):
        backups.backup(str(made / "log.db"), str(made / name))
        assert (made / name).stat().st_mode & 0o777 == 0o600
        assert backups.checked(str(made / name)).streams == 2
    backups.restore(str(made / "[x].backup"), str(made / "new.db"))
    assert (made / "new.db").stat().st_mode & 0o777 == 0o600
    assert not [each.name for each in made.iterdir() if each.name.startswith(".")]
