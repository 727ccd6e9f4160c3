"""Damaged databases and backups are one sentence, wherever the damage is, and whoever reads them."""

import contextlib
import os
import random

import pytest

from askwhen.errors import AskwhenError
from askwhen.service.runtime.coordinator import Coordinator
from askwhen.service.store import backups, open_store
from askwhen.service.use_cases import instances, questions, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

PAGE = 4096
DAMAGES = 60


async def played(path):
    """A database with two streams, which have instances, answers and snapshots."""
    async with open_coordinator(path, Time()) as coordinator:
        for name in ("one", "two"):
            stream = await streams.create(coordinator, name, settings(budget=None, algorithm="perceptron"))
            await instances.play_all(coordinator, stream, [Raw([1.0 + i, -1.0], f"id {i}") for i in range(30)])
            await questions.answer(coordinator, stream, 0, "ann", "ham")


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound")
    run(played(folder / "log.db"))
    backups.backup(str(folder / "log.db"), str(folder / "log.backup"))
    return folder


def damaged(content, seed):
    """A file that was cut off, overwritten here and there, or has a page in the place of another."""
    rng, found = random.Random(seed), bytearray(content)
    how = seed % 4
    if how == 0:
        return bytes(found[: rng.randrange(len(found))])
    if how == 1:
        for _ in range(rng.choice([1, 10, 100])):
            found[rng.randrange(len(found))] = rng.randrange(256)
    elif how == 2:
        at = rng.randrange(len(found) - 200)
        found[at : at + 200] = bytes(200)
    else:
        first, second = (PAGE * rng.randrange(len(found) // PAGE) for _ in range(2))
        found[first : first + PAGE] = found[second : second + PAGE]
    return bytes(found)


async def start(path):
    with contextlib.closing(open_store(str(path))) as store:
        coordinator = Coordinator(store, Time(5000.0).clock())
        await coordinator.start()
        await coordinator.close()


def said(act, *given):
    """What is said of it; None where nothing seems wrong, and any other error fails the test."""
    try:
        act(*given)
    except AskwhenError as error:
        return error.sentence
    return None


def test_a_damaged_database_is_one_sentence(sound, tmp_path):
    content, sentences = (sound / "log.db").read_bytes(), []
    for seed in range(DAMAGES):
        path = tmp_path / f"{seed}.db"
        path.write_bytes(damaged(content, seed))
        sentences.append(said(backups.backup, str(path), str(tmp_path / f"{seed}.backup")))
        sentences.append(said(backups.migrate, str(path), str(tmp_path / f"{seed}.moved")))
        sentences.append(said(lambda path: run(start(path)), path))
    assert sum(sentence is not None for sentence in sentences) > DAMAGES
    assert not [sentence for sentence in sentences if sentence and "\n" in sentence]
    assert not [name for name in os.listdir(tmp_path) if name.startswith(".")], "nothing half-made is left"


def test_a_damaged_backup_is_one_sentence(sound, tmp_path):
    content, refused = (sound / "log.backup").read_bytes(), 0
    for seed in range(DAMAGES):
        path, target = tmp_path / f"{seed}.backup", tmp_path / f"{seed}.db"
        path.write_bytes(damaged(content, seed))
        refused += said(backups.restore, str(path), str(target)) is not None
        assert target.exists() == (said(backups.checked, str(path)) is None)
    assert refused > DAMAGES / 2


def test_a_column_that_is_gone_is_one_sentence(sound, tmp_path):
    for name in ("log.db", "log.backup"):
        content = (sound / name).read_bytes()
        assert b"model blob not null" in content
        (tmp_path / name).write_bytes(content.replace(b"model blob not null", b"nodel blob not null"))
    found = "the database is damaged: a table has no column model; restore a backup."
    assert said(backups.backup, str(tmp_path / "log.db"), str(tmp_path / "other.backup")) == found
    assert said(backups.migrate, str(tmp_path / "log.db"), str(tmp_path / "moved.db")) == found
    assert said(backups.restore, str(tmp_path / "log.backup"), str(tmp_path / "restored.db")) == found
