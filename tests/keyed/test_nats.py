"""Streams of NATS JetStream as logs: read with stored positions, written once."""

import dataclasses
import json
import time
from datetime import UTC, datetime

import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from askwhen.keyed.job import claim_worker, open_log, open_sink, open_store
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.cli.running import inside
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.making import make_log
from tests.keyed.test_processes import job_of, make
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")
EVENT = b'{"key": "a", "x": [1, 2]}'


def read_after(server, stream, position, start=None, most=100):
    """The number of events that are read after a position, and the position after them."""
    reader = open_log(server.address(stream), start).reader(f"{stream.lower()}.0", SamplerSpec.of(make(7), None, False))
    batch, after = reader.read(position, most)
    return len(batch.keys), after


def published(server, stream):
    def of(partition):
        lines = [json.loads(each.data) for each in server.messages(stream, f"{stream.lower()}.{partition}")]
        assert [line.pop("number") for line in lines] == list(range(len(lines))), "nothing comes twice"
        return lines

    return of


@pytest.mark.parametrize("kept", times(["files"], ["files", "database"]))
def test_killed_workers_and_drivers_leave_what_was_never_killed(tmp_path, nats_server, postgresql, kept):
    source, out = nats_server.stream(), nats_server.stream()
    made = make_log(tmp_path / "log", make, events=times(240, 1500), partitions=2)
    played = {f"{source.lower()}.{name}": reference for name, reference in made.items()}
    for name in made:
        nats_server.put(f"{source.lower()}.{name}", (tmp_path / "log" / f"{name}.ndjson").read_bytes().splitlines())
    job = dataclasses.replace(job_of(tmp_path), source=nats_server.address(source), out=nats_server.address(out))
    if kept == "database":
        job = dataclasses.replace(job, store=postgresql.database())
    run_and_kill(job, list(played), 2, kills=times(1, 7), seed=3)
    assert_as_played(job, played, published(nats_server, out))


def test_what_has_expired_stops_the_work_until_it_is_said_where_to_go_on(nats_server):
    stream = nats_server.stream(max_msgs=5)
    nats_server.put(f"{stream.lower()}.0", [EVENT] * 2)
    assert read_after(nats_server, stream, "") == (2, "2")
    nats_server.put(f"{stream.lower()}.0", [EVENT] * 5)
    assert read_after(nats_server, stream, "2") == (5, "7"), "messages up to 2 may be removed"
    nats_server.put(f"{stream.lower()}.0", [EVENT] * 3)
    with pytest.raises(InputError, match=f"messages of the stream {stream} from 3 up to 6 were removed before they"):
        read_after(nats_server, stream, "2")
    assert read_after(nats_server, stream, "2", "earliest") == (5, "10")
    assert read_after(nats_server, stream, "2", "latest") == (0, "10")
    with pytest.raises(InputError, match=f"the stream {stream} ends at 10 and was read up to 11: it was deleted"):
        read_after(nats_server, stream, "11")


def test_reading_begins_at_a_time(nats_server):
    stream = nats_server.stream()
    nats_server.put(f"{stream.lower()}.0", [EVENT] * 3)
    time.sleep(0.05)
    now = datetime.now(UTC).isoformat()
    nats_server.put(f"{stream.lower()}.0", [EVENT] * 2)
    assert read_after(nats_server, stream, "", now) == (2, "5")
    assert read_after(nats_server, stream, "4", now) == (1, "5"), "a stored position comes first"


def test_messages_of_other_subjects_are_not_taken_for_lost_ones(tmp_path, nats_server):
    stream = nats_server.stream(max_msgs=5)
    nats_server.put(f"{stream.lower()}.0", [EVENT])
    for _ in range(3):
        nats_server.put(f"{stream.lower()}.1", [EVENT] * 4)
        aw.keyed.run(nats_server.address(stream), "store", make(7))
    assert open_store("store").counts(f"{stream.lower()}.0").events == 1
    assert open_store("store").counts(f"{stream.lower()}.1").events == 12


def test_a_writer_that_was_killed_leaves_out_what_the_subject_has(tmp_path, nats_server):
    source, out = nats_server.stream(), nats_server.stream(duplicate_window=0.1)
    subject = f"{source.lower()}.0"
    nats_server.put(subject, [EVENT] * 50)
    job = dataclasses.replace(
        job_of(tmp_path, batch=20), source=nats_server.address(source), out=nats_server.address(out)
    )
    worker = claim_worker(job, subject)
    worker.step()
    worker.step()
    worker.close()
    time.sleep(0.3)  # the server itself does not know the last messages any more
    claim_worker(job, subject).close()  # has read them from the store, and found them in the stream
    assert len(published(nats_server, out)(subject)) == 40
    with pytest.raises(StoreError, match="has decision 39, and this store has made 0: give another output"):
        claim_worker(dataclasses.replace(job, store="other"), subject)


def test_what_is_no_event_goes_to_dead_letters_with_the_reason(nats_server):
    source, out, dead = nats_server.stream(), nats_server.stream(), nats_server.stream()
    subject = f"{source.lower()}.0"
    nats_server.put(subject, [EVENT, b"no JSON", EVENT])
    out_address = nats_server.address(out, dead=dead.lower())
    for _ in range(2):  # the second time there is nothing to do
        aw.keyed.run(nats_server.address(source), "store", make(7), out=out_address)
        (letter,) = nats_server.messages(dead, f"{dead.lower()}.{subject}")
        assert (letter.data, letter.headers["number"], letter.headers["event"]) == (b"no JSON", "1", "1")
        assert letter.headers["reason"].startswith("this is not an event: JSON is malformed")
        decisions = [json.loads(each.data) for each in nats_server.messages(out, f"{out.lower()}.{subject}")]
        assert [each["number"] for each in decisions] == [0, 2]


def test_the_command_plays_a_stream_and_answers_are_appended(tmp_path, nats_server):
    stream = nats_server.stream()
    nats_server.put(f"{stream.lower()}.0", [EVENT])
    open_log(nats_server.address(stream)).append(f"{stream.lower()}.0", [b'{"key": "a", "round": 0, "label": 1}\n'])
    done = inside("keyed", nats_server.address(stream), "--store", "store", "--json")
    assert done.returncode == 0, done.stderr
    assert [json.loads(done.stdout)[name] for name in ("instances", "answers")] == [1, 1]


def test_bad_addresses_are_one_sentence(nats_server):
    stream = nats_server.stream()
    for address, sentence in (
        (f"nats://127.0.0.1:{nats_server.port}", "an address of NATS is nats://host:4222/STREAM."),
        (nats_server.address(stream + "s"), f"the server has no stream {stream}s, perhaps '{stream}'."),
        (nats_server.address(stream), f"the stream {stream} has no messages, whose subjects are the partitions."),
        (nats_server.address(stream, credential="x"), "no setting 'credential', perhaps 'credentials'."),
        (nats_server.address(stream, credentials="nowhere"), "cannot read nowhere: No such file or directory."),
    ):
        with pytest.raises(InputError) as error:
            open_log(address).partitions()
        assert error.match(sentence)
    with pytest.raises(StoreError, match="no stream of the server has the subject nothing.clicks"):
        open_sink(nats_server.address(stream, subject="nothing")).begin("clicks", aw.keyed.Counts(), 0)
    with pytest.raises(StoreError, match="NATS cannot be used: ") as error:
        open_log("nats://ann:hidden@127.0.0.1:1/CLICKS").partitions()
    assert "hidden" not in str(error.value)
