"""Databases of every released version, from the first on, are served by this one, and nothing in them changes."""

import concurrent.futures
import contextlib
import gzip
import hashlib
import json
import pathlib

import apsw
import msgspec
import numpy as np
import psycopg
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.service.domain.tokens import new_token
from askwhen.service.errors import StoreError
from askwhen.service.events.kinds import KINDS, encoded, facts_of
from askwhen.service.process.upgrades import open_upgraded
from askwhen.service.store import Event, backups, postgresql, sqlite
from askwhen.service.store.migrations import scripts
from askwhen.service.store.records import TABLES
from askwhen.service.store.urls import all_rows
from askwhen.service.use_cases import export_tables, instances, questions, reports, streams
from askwhen.service.use_cases.instances import Raw
from tests.service import history
from tests.service.coordinators import Time, open_coordinator, run
from tests.service.serving import Server

GOLDEN = pathlib.Path(__file__).parents[1] / "golden"
VERSIONS = ["service-1", "service-2", "service-3", "service-4", "service-5"]
"""Each is a database as a kill left it, and what was known of it then."""

UNRELEASED = {
    "unskipped",
    "reserved",
    "group set",
    "went away",
    "review undone",
    "commented",
    "flagged",
    "labels added",
    "label renamed",
    "labels merged",
    "deleted",
    "promise met",
    "promise broken",
    "invited",
    "invitation withdrawn",
    "exported",
    "signed in",
    "signed out",
    "advised",
    "gold added",
    "gold removed",
    "gold placed",
    "gold chosen",
    "gold closed",
}
"""Kinds of events that no released version has written; the golden database of the next release gets them."""

X = np.random.default_rng(8).standard_normal((80, 3))


def unpacked(version, folder):
    """A database of an older version, in a file of its own."""
    old = folder / "old.db"
    old.write_bytes(gzip.decompress((GOLDEN / f"{version}.db.gz").read_bytes()))
    return old


def rows_of(address):
    with all_rows(str(address)) as parts:
        return [row for part in parts for row in part]


def in_postgresql(old, database, version=1):
    """The same rows in a PostgreSQL database of that version."""
    with psycopg.connect(database) as connection:
        connection.execute("create table versions (number integer primary key, applied timestamptz not null)")
        for number, script in scripts("postgresql")[:version]:
            connection.execute(script)
            connection.execute("insert into versions values (%s, now())", (number,))
        for row in rows_of(old):
            width = 9 if isinstance(row, Event) else len(row)
            table = "events" if isinstance(row, Event) else "snapshots"
            connection.execute(f"insert into {table} values ({', '.join(['%s'] * width)})", row[:width])


@pytest.fixture
def old(address, tmp_path):
    """A database of the first version, of each kind."""
    file = unpacked("service-1", tmp_path)
    if "://" not in address:
        return str(file)
    in_postgresql(file, address)
    return address


def test_a_backup_is_made_before_a_database_is_changed(old, tmp_path):
    before, folder = rows_of(old), tmp_path / "kept"
    folder.mkdir()
    open_upgraded(old, str(folder)).close()
    (made,) = folder.iterdir()
    assert "version-1" in made.name
    assert rows_of(made) == rows_of(old) == before
    assert backups.checked(str(made)) == backups.restore(str(made), str(tmp_path / "restored.db"))
    open_upgraded(old, str(folder)).close()
    assert len(list(folder.iterdir())) == 1


def test_a_backup_by_an_older_version_is_restored(tmp_path, address):
    """What ``askwhen backup`` of the first version wrote: no subjects, no outbox."""
    old = unpacked("service-1", tmp_path)
    counting = backups.CountedParts([rows_of(old)[:1]])
    list(counting)
    digest = hashlib.sha256(msgspec.msgpack.encode(tuple(rows_of(old)[0])[:9])).hexdigest()
    assert counting.contents().digest == digest
    counting = backups.CountedParts([[row] for row in rows_of(old)])
    list(counting)
    with contextlib.closing(apsw.Connection(str(old))) as connection:
        connection.execute(backups._TABLE)
        connection.execute("insert into backup values (?)", (json.dumps(counting.contents()._asdict()),))
    assert backups.restore(str(old), address) == counting.contents()
    assert rows_of(address) == rows_of(old)


def test_without_a_backup_nothing_is_changed(old, tmp_path):
    before = rows_of(old)
    with pytest.raises(
        StoreError, match="no backup could be made in .*nowhere.*; name another directory with --backups"
    ):
        open_upgraded(old, str(tmp_path / "nowhere"))
    assert rows_of(old) == before
    assert version_of(old) == 1
    open_upgraded(old, str(tmp_path)).close()
    assert version_of(old) == len(scripts("sqlite"))


def version_of(address):
    if "://" in address:
        with psycopg.connect(address) as connection:
            return connection.execute("select count(*) from versions").fetchone()[0]
    with contextlib.closing(apsw.Connection(address)) as connection:
        return connection.execute("select count(*) from versions").get


def test_a_refused_restore_changes_nothing(old, tmp_path):
    before = rows_of(old)
    backups.backup(old, str(tmp_path / "some.backup"))
    for act, source in ((backups.restore, "some.backup"), (backups.migrate, "old.db")):
        with pytest.raises(InputError, match="has streams already; give an empty database"):
            act(str(tmp_path / source), old)
    assert (version_of(old), rows_of(old)) == (1, before)
    with pytest.raises(StoreError, match="there is no database"):
        backups.migrate(str(tmp_path / "none.db"), str(tmp_path / "new.db"))
    assert not list(tmp_path.glob("new.db*"))


def test_an_upgrade_that_fails_in_the_middle_changes_nothing(old, tmp_path, monkeypatch):
    before = rows_of(old)

    def broken(database, applied):
        return [(2, scripts(database)[1][1]), (3, "create table events (nothing integer)")]

    for module in (sqlite, postgresql):
        monkeypatch.setattr(module, "missing", broken)
    with pytest.raises(StoreError, match="cannot be used"):
        open_upgraded(old, str(tmp_path))
    monkeypatch.undo()
    assert (version_of(old), rows_of(old)) == (1, before)
    open_upgraded(old, str(tmp_path)).close()
    assert rows_of(old) == before


def write_raw(address, event):
    """Put an event into a database of the first version."""
    if "://" in address:
        with psycopg.connect(address) as connection:
            connection.execute(f"insert into events values ({', '.join(['%s'] * 9)})", event[:9])
    else:
        with contextlib.closing(apsw.Connection(address)) as connection:
            connection.execute(f"insert into events values ({', '.join('?' * 9)})", event[:9])


def test_an_upgrade_under_load(old, tmp_path):
    """Producers and people who do not wait for the upgrade: all that they are told stays, also after a kill."""
    secret, fact = new_token("load", ["producer", "annotator"], None, None)
    write_raw(old, Event(0, 4, 1060.0, "token made", None, None, encoded(fact)))
    before = rows_of(old)
    server = Server(old, "--backups", str(tmp_path), log=str(tmp_path / "server.log"))
    decided, answered = {}, {}

    def produce(first):
        with aw.Client(server.url, secret, retries=60) as client:
            stream = client.stream("numbers")
            for i in range(first, first + 40):
                decided[f"u{i}"] = stream.ask(X[i % 60].tolist(), id=f"u{i}")

    def label():
        with aw.Client(server.url, secret, retries=60) as client:
            stream = client.stream("numbers")
            for i in range(20):
                question = stream.next()
                if question is not None:
                    answered[question["question"]] = stream.tell(question["question"], "yes", key=f"load {i}")

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        work = [pool.submit(produce, first) for first in (0, 100, 200)] + [pool.submit(label)]
        server.start()
        server.kill()
        server.start()
        for each in work:
            each.result()
    server.kill()
    after = rows_of(old)
    kept = {(row.stream, row.seq): row for row in after if isinstance(row, Event)}
    assert all(kept[row.stream, row.seq] == row for row in before if isinstance(row, Event))
    played = {row.key: facts_of(row) for row in kept.values() if row.kind == "instance" and row.stream > 0}
    assert len(decided) == 120
    for id, decision in decided.items():
        assert (played[f"i:{id}"].round, played[f"i:{id}"].margin) == (decision.round, decision.margin)
    given = {row.question: facts_of(row).label for row in kept.values() if row.kind == "answered"}
    assert answered
    assert all(given[question] == "yes" for question in answered)
    assert len(list(tmp_path.glob("*.version-1.*.backup"))) == 1


def test_the_newest_golden_database_has_every_kind_of_event_and_the_newest_tables(tmp_path):
    old = unpacked(VERSIONS[-1], tmp_path)
    assert version_of(str(old)) == len(scripts("sqlite"))
    rows = rows_of(old)
    there = {row.kind for row in rows if isinstance(row, Event)}
    assert set(KINDS) - there - UNRELEASED == {"archived", "went on", "webhook stopped", "webhook alarm"}
    assert {type(row) for row in rows} == set(TABLES.values())


@pytest.mark.parametrize("version", VERSIONS)
def test_a_database_of_an_older_version_goes_on(version, address, tmp_path):
    old = unpacked(version, tmp_path)
    known = json.loads((GOLDEN / f"{version}.json").read_text())
    if "://" in address:
        backups.migrate(str(old), address)
    else:
        address = str(old)

    async def go():
        time = Time(1060.0)
        async with open_coordinator(address, time, ticks=False) as coordinator:
            assert set(coordinator.streams) == set(known)
            assert [holder.name for holder in coordinator.tokens.all()] == ["root"]
            for name, wanted in known.items():
                stream = coordinator.stream(name)
                facts = streams.facts(stream)
                with contextlib.closing(coordinator.reader()) as reader:
                    tables = {
                        table: [
                            row
                            for part in export_tables.chunks(reader, stream.number, table, 0, wanted["facts"]["seq"])
                            for row in part
                        ]
                        for table in ("labels", "predictions")
                    }
                assert {row.pop("gold") for row in tables["labels"]} <= {None}  # a column that those versions lack
                assert tables["labels"] == wanted["labels"]
                assert [row["margin"] for row in tables["predictions"]] == wanted["margins"]
                for count in ("rounds", "asked", "told", "forgotten", "corrected", "waiting"):
                    assert facts[count] == wanted["facts"][count]
            with contextlib.closing(coordinator.reader()) as reader:
                assert bool(coordinator.webhooks.all) == bool(reader.messages()) == (version != "service-1")
            for stream in coordinator.by_number.values():
                await reports.report(coordinator, stream, 0.95)
            if "advised" in known:  # what advisers said of instances that wait
                advised = coordinator.stream("advised")
                await streams.change(coordinator, "advised", "resumed", "root")
                assert advised.decide_until(5, time.now, 5) == 3
                assert aw.evaluate.advisers(advised.model.sampler)["gpt"].rounds == 3
                await coordinator.committed(advised)
            stream = coordinator.stream("numbers")
            assert (await instances.play(coordinator, stream, Raw(X[0].tolist(), "n0"))).again
            for i in range(60, 80):
                await instances.play(coordinator, stream, Raw(X[i].tolist(), f"n{i}"))
                shown = await questions.next_question(coordinator, stream, "cid")
                if shown is not None:
                    await questions.answer(coordinator, stream, shown.question, "cid", "yes", f"c{i}")
                time.now += 3.0
                coordinator.tick()
            assert stream.state.round == known["numbers"]["facts"]["rounds"] + 20
            with contextlib.closing(coordinator.reader()) as reader:
                history.check(reader.events(stream.number, 0, 1 << 40))

    run(go())


def test_a_log_is_played_again_whose_certainties_were_below_one_half(tmp_path):
    """Earlier versions stored what the error model said; this one calls no predicted label the less likely of two."""
    old = unpacked("service-1", tmp_path)
    known = json.loads((GOLDEN / "service-1.json").read_text())
    with contextlib.closing(apsw.Connection(str(old))) as connection:
        connection.execute("delete from snapshots")  # so that all rounds are played again
    logged = [facts_of(row) for row in rows_of(old) if isinstance(row, Event) and row.kind == "instance"]
    assert sum(fact.certainty < 0.5 for fact in logged) > 30

    async def go():
        async with open_coordinator(str(old), Time(1060.0)) as coordinator:
            for name, wanted in known.items():
                assert coordinator.stream(name).state.round == wanted["facts"]["rounds"]
            stream = coordinator.stream("numbers")
            for i in range(60, 80):
                await instances.play(coordinator, stream, Raw(X[i].tolist(), f"n{i}"))
            with contextlib.closing(coordinator.reader()) as reader:
                rounds = [facts_of(row) for row in reader.events(stream.number, 0, 1 << 40) if row.kind == "instance"]
            assert all(fact.certainty >= 0.5 for fact in rounds[-20:])
            label, certainty = stream.model.guess(X[0])
            assert label in stream.settings.labels
            assert certainty >= 0.5

    run(go())
