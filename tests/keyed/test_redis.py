"""Redis Streams as logs: read with stored ids, written once."""

import dataclasses
import json
import re

import pytest
from click.testing import CliRunner

import askwhen as aw
from askwhen.cli.main import main
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from askwhen.keyed.job import Job, claim_worker, open_store
from askwhen.keyed.logs import redis_streams
from askwhen.keyed.logs.redis_streams import RedisLog, RedisSink
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.making import make_log
from tests.keyed.test_processes import job_of, make
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")


def put(server, prefix, folder, names):
    """Add the lines of a folder's partitions to streams."""
    pipe = server.connection.pipeline(transaction=False)
    for name in names:
        for line in (folder / f"{name}.ndjson").read_bytes().splitlines():
            pipe.xadd(prefix + name, {"event": line})
    pipe.execute()


def published(server, prefix):
    def of(name):
        return [json.loads(fields[b"decision"]) for _, fields in server.connection.xrange(prefix + name)]

    return of


@pytest.mark.parametrize("trial", range(times(1, 4)))
@pytest.mark.parametrize("kept", times(["database"], ["files", "database"]))
def test_killed_workers_and_drivers_leave_what_was_never_killed(tmp_path, redis_server, postgresql, kept, trial):
    played = make_log(tmp_path / "log", make, events=times(300, 1500), partitions=3)
    source, out = redis_server.prefix(), redis_server.prefix()
    put(redis_server, source, tmp_path / "log", played)
    job = dataclasses.replace(job_of(tmp_path), source=redis_server.address(source), out=redis_server.address(out))
    if kept == "database":
        job = dataclasses.replace(job, store=postgresql.database())
    run_and_kill(job, list(played), 2, kills=times(1, 7), seed=trial)
    assert_as_played(job, played, published(redis_server, out))


def test_what_was_read_may_be_trimmed_and_what_comes_later_is_read_too(tmp_path, redis_server):
    played = make_log(tmp_path / "log", make, events=200, partitions=1)
    lines = (tmp_path / "log" / "part-0.ndjson").read_bytes().splitlines()
    prefix = redis_server.prefix()
    for half in (lines[:100], lines[100:]):
        for line in half:
            redis_server.connection.xadd(prefix + "part-0", {"event": line})
        aw.keyed.run(redis_server.address(prefix), "store", make(7), batch=30)
        redis_server.connection.xtrim(prefix + "part-0", maxlen=0)
    assert_as_played(dataclasses.replace(job_of(tmp_path), store="store"), played)


def test_a_second_writer_of_the_same_decisions_adds_nothing(redis_server):
    prefix = redis_server.prefix()
    one, other = (RedisSink(redis_server.address(prefix)) for _ in range(2))
    one.publish("p", 0, b'{"a": 1}\n{"a": 2}\n')
    other.publish("p", 0, b'{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    one.publish("p", 0, b'{"a": 1}\n{"a": 2}\n{"a": 3}\n')
    other.publish("p", 3, b'{"a": 4}\n')
    one.publish("p", 0, b'{"a": 1}\n')
    assert [{"a": number} for number in (1, 2, 3, 4)] == published(redis_server, prefix)("p")


def test_an_entry_without_an_event_is_refused_and_errors_are_one_sentence(redis_server):
    prefix = redis_server.prefix()
    for fields in ({"event": '{"key": "a", "x": [1]}'}, {"other": "x"}, {"event": "{\n"}):
        redis_server.connection.xadd(prefix + "p", fields)
    found = aw.keyed.run(redis_server.address(prefix), "store", make(7))
    assert (found.counts.events, found.counts.refused, found.partitions) == (3, 2, ["p"])
    with pytest.raises(InputError, match="there are no streams whose names begin with nothing:"):
        aw.keyed.run(redis_server.address("nothing:"), "store", make(7))
    with pytest.raises(InputError, match="say which streams, as in redis://127.0.0.1:1/0[?]streams=clicks:"):
        aw.keyed.run("redis://127.0.0.1:1/0", "store", make(7))
    with pytest.raises(StoreError, match="Redis cannot be used: .*refused"):
        aw.keyed.run("redis://127.0.0.1:1/0?streams=a", "store", make(7))


def keyed(*words):
    """What ``askwhen keyed`` printed, and its exit code."""
    result = CliRunner().invoke(main, ["keyed", *map(str, words), "--quiet"])
    return result.exit_code, result.stderr


def added(server, stream, *numbers, **more):
    for number in numbers:
        server.connection.xadd(stream, {"event": f'{{"key": "a", "x": [{number}]}}'}, **more)


def test_an_output_whose_ids_are_taken_is_refused_before_anything_is_played(redis_server):
    source, out = redis_server.prefix(), redis_server.prefix()
    added(redis_server, f"{source}p", 1, 2)
    redis_server.connection.xadd(f"{out}p", {"other": "x"})
    code, said = keyed(redis_server.address(source), "--store", "store", "--out", redis_server.address(out))
    assert code == 1
    assert re.search(rf"the stream {out}p ends at \d+-0, beyond event 0, .*: give another output", said)
    assert open_store("store").counts("p").events == 0
    other = redis_server.prefix()
    code, _ = keyed(redis_server.address(source), "--store", "store", "--out", redis_server.address(other))
    assert (code, len(published(redis_server, other)("p"))) == (0, 2)


@pytest.mark.parametrize(("taken", "said"), [("*", "ends at .*, beyond event 3"), ("3-1", "has something else at 3-1")])
def test_an_output_that_another_writes_to_meanwhile_is_refused_and_nothing_is_lost(redis_server, taken, said):
    source, out, other = (redis_server.prefix() for _ in range(3))
    added(redis_server, f"{source}p", 1, 2)
    aw.keyed.run(redis_server.address(source), "store", make(7), out=redis_server.address(out))
    added(redis_server, f"{source}p", 3)
    worker = claim_worker(of_redis(redis_server, source, out), "p")
    redis_server.connection.xadd(f"{out}p", {"decision": "another"}, id=taken)
    with pytest.raises(StoreError, match=f"the stream {out}p {said}.*give another output"):
        worker.step()
    with pytest.raises(StoreError, match=f"the stream {out}p {said}.*give another output"):
        claim_worker(of_redis(redis_server, source, out), "p")
    aw.keyed.run(redis_server.address(source), "store", make(7), out=redis_server.address(other))
    (found,) = published(redis_server, other)("p")
    assert found["round"] == 2


def of_redis(server, source, out):
    kind = SamplerSpec.of(make(7), None, False).written()
    return Job(server.address(source), "store", server.address(out), kind, 10, 10, False)


def test_an_output_that_its_readers_have_trimmed_is_written_on(redis_server):
    source, out = redis_server.prefix(), redis_server.prefix()
    for number in range(3):
        added(redis_server, f"{source}p", number)
        aw.keyed.run(redis_server.address(source), "store", make(7), out=redis_server.address(out))
        redis_server.connection.xtrim(f"{out}p", maxlen=0, approximate=False)
    added(redis_server, f"{source}p", 4, 5)
    aw.keyed.run(redis_server.address(source), "store", make(7), out=redis_server.address(out))
    assert len(published(redis_server, out)("p")) == 2


def test_an_input_that_was_trimmed_too_far_is_refused_until_the_gap_is_accepted(redis_server):
    source = redis_server.prefix()
    added(redis_server, f"{source}p", *range(6))
    redis_server.connection.xtrim(f"{source}p", maxlen=4, approximate=False)  # before anything was read
    address, words = redis_server.address(source), ("--store", "store", "--batch", "2")
    assert keyed(address, *words) == (0, "")
    redis_server.connection.xtrim(f"{source}p", maxlen=0, approximate=False)
    added(redis_server, f"{source}p", 7, 8, 9)
    redis_server.connection.xtrim(f"{source}p", maxlen=1, approximate=False)
    code, said = keyed(address, *words)
    assert (code, f"2 entries of the stream {source}p after " in said) == (1, True)
    assert open_store("store").counts("p").events == 4
    command = re.search(r"run redis-cli (XSETID \S+ \S+ ENTRIESADDED \d+)\.", said)[1]
    redis_server.connection.execute_command(*command.split())
    assert keyed(address, *words) == (0, "")
    assert open_store("store").counts("p").events == 5


def test_entries_that_were_trimmed_while_a_part_was_read_are_missed(redis_server):
    source = redis_server.prefix()
    added(redis_server, f"{source}p", *range(6))
    reader = RedisLog(redis_server.address(source)).reader("p", SamplerSpec.of(make(7), None, False))
    _, position = reader.read("", 2)
    redis_server.connection.xtrim(f"{source}p", maxlen=4, approximate=False)
    assert len(reader.read(position, 2)[0].keys) == 2
    redis_server.connection.xtrim(f"{source}p", maxlen=3, approximate=False)
    with pytest.raises(InputError, match="1 entries of the stream .* were removed before they were read"):
        reader.read(position, 2)
    old = position.partition("/")[0]  # of a store that was written before entries were counted
    batch, after = reader.read(old, 2)
    assert (len(batch.keys), "/" in after) == (2, False)
    assert reader.read(after, 2)[1].endswith("/6")


def test_an_input_that_begins_again_with_lower_ids_is_refused(redis_server):
    source = redis_server.prefix()
    address = redis_server.address(source)
    added(redis_server, f"{source}p", 1, id="50-1")
    assert keyed(address, "--store", "store")[0] == 0
    redis_server.connection.delete(f"{source}p")
    added(redis_server, f"{source}p", 1, id="7-1")
    code, said = keyed(address, "--store", "store")
    assert (code, f"the stream {source}p ends at 7-1 and was read up to 50-1: " in said) == (1, True)
    assert "give a new store" in said
    assert keyed(address, "--store", "new")[0] == 0


def test_an_entry_that_is_too_long_is_refused(redis_server, monkeypatch):
    monkeypatch.setattr(redis_streams, "LONGEST_EVENT", 10)
    source = redis_server.prefix()
    added(redis_server, f"{source}p", 1, id="7-1")
    with pytest.raises(InputError, match=f"the entry 7-1 of the stream {source}p has more than 10 bytes"):
        aw.keyed.run(redis_server.address(source), "store", make(7))


def test_an_input_that_begins_again_with_higher_ids_is_refused(redis_server):
    source = redis_server.prefix()
    address = redis_server.address(source)
    added(redis_server, f"{source}p", 1, 2, 3)
    assert keyed(address, "--store", "store")[0] == 0
    redis_server.connection.delete(f"{source}p")
    added(redis_server, f"{source}p", 4)
    code, said = keyed(address, "--store", "store")
    assert code == 1
    assert f"3 entries of the stream {source}p were read, and it has had 1: it was deleted and begun again" in said


def test_an_entry_that_was_deleted_before_it_was_read_is_missed(redis_server):
    source = redis_server.prefix()
    address = redis_server.address(source)
    added(redis_server, f"{source}p", 1, 2)
    assert keyed(address, "--store", "store")[0] == 0
    added(redis_server, f"{source}p", 3, 4, 5)
    entry = redis_server.connection.xrange(f"{source}p")[3][0]
    redis_server.connection.xdel(f"{source}p", entry)
    code, said = keyed(address, "--store", "store")
    assert (code, f"1 entries of the stream {source}p after " in said) == (1, True)
    redis_server.connection.execute_command(*re.search(r"(XSETID \S+ \S+ ENTRIESADDED \d+)\.", said)[1].split())
    assert keyed(address, "--store", "store") == (0, "")
    assert open_store("store").counts("p").events == 4
