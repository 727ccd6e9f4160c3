"""Redis Streams as logs: read with stored ids, written once."""

import dataclasses
import json

import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from askwhen.keyed.logs.redis_streams import RedisSink
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
