"""Topics of Kafka as logs: read with stored offsets, written once; kcat reads and writes what we write and read.

The brokers are librdkafka's own, which hand out messages of transactions before they are committed.
"""

import dataclasses
import json
import shutil
import subprocess

import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import Counts, StoreError
from askwhen.keyed.job import claim_worker, open_log, open_sink, open_store
from askwhen.keyed.logs.kafka_cluster import KafkaAddress, bytes_of, key_of
from askwhen.keyed.logs.starts import start_of
from askwhen.keyed.sampler_spec import SamplerSpec
from tests.cli.running import inside
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.making import make_log
from tests.keyed.reference import Reference
from tests.keyed.test_processes import job_of, make
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")


def put(kafka, topic, folder, played):
    """Add the lines of a folder's partitions to partitions, and name what was played after them."""
    for number, name in enumerate(played):
        kafka.put(topic, number, (folder / f"{name}.ndjson").read_bytes().splitlines())
    return {f"{topic}-{number}": reference for number, reference in enumerate(played.values())}


def published(kafka, topic):
    """The decisions of a partition, as a reader has them that drops what comes again."""

    def of(name):
        lines = [json.loads(message.value()) for message in kafka.messages(topic, int(name.rpartition("-")[2]))]
        found = {line["number"]: line for line in lines}
        assert list(found) == list(range(len(found))), "numbers rise by one"
        assert all(found[line["number"]] == line for line in lines)
        return [{name: value for name, value in line.items() if name != "number"} for line in found.values()]

    return of


@pytest.mark.parametrize("kept", times(["database"], ["files", "database"]))
@pytest.mark.parametrize("transactions", [False, True])
def test_killed_workers_and_drivers_leave_what_was_never_killed(tmp_path, kafka, postgresql, kept, transactions):
    source, out = kafka.topic(), kafka.topic()
    played = put(
        kafka, source, tmp_path / "log", make_log(tmp_path / "log", make, events=times(240, 1500), partitions=2)
    )
    more = {"transactional.id": out} if transactions else {}
    job = dataclasses.replace(job_of(tmp_path), source=kafka.address(source), out=kafka.address(out, **more))
    if kept == "database":
        job = dataclasses.replace(job, store=postgresql.database())
    run_and_kill(job, list(played), 2, kills=times(1, 7), seed=transactions)
    assert_as_played(job, played, published(kafka, out))


def test_answers_of_a_second_topic_come_in_the_order_of_time_however_they_are_read(tmp_path, kafka):
    played = make_log(tmp_path / "log", make, events=300, partitions=1)
    lines = (tmp_path / "log" / "part-0.ndjson").read_bytes().splitlines()
    source, answers = kafka.topic(), kafka.topic()
    is_answer = ["round" in json.loads(line) for line in lines]
    day = 86_400_000
    for topic, wanted in ((answers, True), (source, False)):  # all answers are there first, and are read later
        there = [i for i, answer in enumerate(is_answer) if answer == wanted]
        kafka.put(topic, 0, [lines[i] for i in there], times=[day * (1 + i) for i in there])
    for batch in (7, 1000):
        job = dataclasses.replace(
            job_of(tmp_path, store=f"store-{batch}", batch=batch, out=None),
            source=kafka.address(source, answers=answers),
        )
        aw.keyed.run(job.source, job.store, make(7), batch=batch, cache=20)
        assert_as_played(job, {f"{source}-0": played["part-0"]})


def test_messages_of_one_time_come_from_the_first_topic_first(kafka):
    source, answers = kafka.topic(), kafka.topic()
    kafka.put(answers, 0, [b'{"key": "a", "round": 0, "label": 1}'], times=[1000])
    kafka.put(source, 0, [b'{"key": "a", "x": [1.0, 2.0]}', b'{"key": "a", "x": [2.0, 1.0]}'], times=[1000, 1001])
    log = open_log(kafka.address(source, answers=answers))
    reader = log.reader(f"{source}-0", SamplerSpec.of(make(7), None, False))
    batch, position = reader.read("", 2)
    assert (batch.rounds, position) == ([None, 0], f"{source}@1,{answers}@1")
    again, _ = reader.read(f"{source}@0,{answers}@0", 10)
    assert again.rounds == [None, 0, None]


def test_what_is_no_event_goes_to_the_dead_letter_topic_with_the_reason(tmp_path, kafka):
    source, out, dead = (kafka.topic() for _ in range(3))
    wrong = [b"no JSON", b'{"key": "a", "x": [1, 2, 3]}', b"\xff\xfe", None, b'{"key": "a", "round": 7, "label": 1}']
    kafka.put(source, 0, [b'{"key": "a", "x": [1, 2]}', *wrong, b'{"key": "a", "x": [2, 1]}'], [b"a"] * 7)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=7)
    for _ in range(2):  # the second time there is nothing to do
        found = aw.keyed.run(kafka.address(source), "store", sampler, out=kafka.address(out, dead=dead))
        assert (found.counts.instances, found.counts.refused) == (2, 5)
        letters = kafka.messages(dead, 0)
        assert [each.value() for each in letters] == wrong
        assert {each.key() for each in letters} == {b"a"}
        headers = [dict(each.headers()) for each in letters]
        assert [(each["number"], each["event"]) for each in headers] == [(b"%d" % n, b"%d" % n) for n in range(1, 6)]
        reasons = [each["reason"].decode() for each in headers]
        assert reasons[0].startswith("this is not an event: JSON is malformed")
        assert reasons[1] == "x must have 2 features as before, got 3."
        assert reasons[4].startswith("round 7 has no open question")
        decisions = [json.loads(each.value()) for each in kafka.messages(out, 0)]
        assert [(each["number"], each["round"]) for each in decisions] == [(0, 0), (6, 1)]


def test_a_message_has_the_key_where_its_event_has_none(tmp_path, kafka):
    source, out = kafka.topic(), kafka.topic()
    texts = [b'{"x": [1, 2]}', b'{"key": "own", "x": [1, 2]}', b'{"x": [1, 2]}', b'{"x": [1, 2]}']
    kafka.put(source, 0, texts, [b"ann", b"other", b"\xff\x01", None])
    aw.keyed.run(kafka.address(source), "store", make(7), out=kafka.address(out))
    lines = [(json.loads(each.value()), each.key()) for each in kafka.messages(out, 0)]
    assert [(line["key"], key) for line, key in lines] == [
        ("ann", b"ann"),
        ("own", b"own"),
        ("\\xff01", b"\xff\x01"),
        ("", b""),
    ]
    assert lines[3][0]["refused"] == "this is not an event: neither the object nor its message has a `key`."
    assert aw.keyed.sampler("store", "\\xff01").round == 1


@pytest.mark.parametrize("key", [b"ann", "Zoë".encode(), b"\xff\x01", b"\\xzz", b""])
def test_bytes_of_keys_come_back(key):
    assert bytes_of(key_of(key)) == key


def test_a_writer_that_was_killed_leaves_out_what_the_topic_has(tmp_path, kafka):
    make_log(tmp_path / "log", make, events=100, partitions=1)
    source, out = kafka.topic(), kafka.topic()
    put(kafka, source, tmp_path / "log", {"part-0": None})
    address = kafka.address(out)
    job = dataclasses.replace(job_of(tmp_path, batch=20), source=kafka.address(source), out=address)
    worker = claim_worker(job, f"{source}-0")
    worker.step()
    worker.step()
    worker.close()
    stored = open_store(job.store).decisions(f"{source}-0")
    assert len(stored) == 1, "what was published before is removed with the next commit"
    before = [each.value() for each in kafka.messages(out, 0)]
    claim_worker(job, f"{source}-0").close()  # has read them from the store, and found them in the topic
    assert before == [each.value() for each in kafka.messages(out, 0)]


def test_a_topic_of_another_store_is_refused(tmp_path, kafka):
    source, out = kafka.topic(), kafka.topic()
    kafka.put(source, 0, [b'{"key": "a", "x": [1, 2]}'] * 5)
    aw.keyed.run(kafka.address(source), "store", make(7), out=kafka.address(out))
    with pytest.raises(StoreError, match=f"partition 0 of the topic {out} has decision 4, and this store has made 0:"):
        aw.keyed.run(kafka.address(source), "other", make(7), out=kafka.address(out))
    kafka.put(out, 0, [b"something else"])
    with pytest.raises(StoreError, match=f"the last message of partition 0 of the topic {out} is not a decision"):
        aw.keyed.run(kafka.address(source), "store", make(7), out=kafka.address(out))


def test_what_has_expired_stops_the_work_until_it_is_said_where_to_go_on(tmp_path, kafka):
    source = kafka.topic()
    spec = SamplerSpec.of(make(7), None, False)
    event = json.dumps({"key": "a", "x": [1, 2], "more": "-" * 500_000}).encode()
    kafka.put(source, 0, [event] * 8)
    reader = open_log(kafka.address(source)).reader(f"{source}-0", spec)
    _, position = reader.read("", 2)
    kafka.put(source, 0, [event] * 12)  # a partition of these brokers holds 5 MB
    first = kafka.messages(source, 0)[0].offset()
    assert first > 2
    sentence = f"messages of partition 0 of the topic {source} from 2 up to {first} were removed before they were read"
    with pytest.raises(InputError, match=sentence):
        open_log(kafka.address(source)).reader(f"{source}-0", spec).read(position, 100)
    found = {}
    for start in ("earliest", "latest", "2999-01-01T00:00:00Z"):
        batch, after = open_log(kafka.address(source), start).reader(f"{source}-0", spec).read(position, 100)
        found[start] = len(batch.keys)
        assert after == f"{source}@20"
    assert found == {"earliest": 20 - first, "latest": 0, "2999-01-01T00:00:00Z": 0}
    with pytest.raises(InputError, match=f"{source} ends at 20 and was read up to 21: it was deleted or replaced"):
        open_log(kafka.address(source)).reader(f"{source}-0", spec).read(f"{source}@21", 100)


def test_a_stream_begun_at_the_latest_message_stays_there_when_it_is_started_again(tmp_path, kafka):
    source = kafka.topic()
    kafka.put(source, 0, [b'{"key": "a", "x": [1, 2]}'] * 3)
    assert aw.keyed.run(kafka.address(source), "store", make(7), start="latest").counts.events == 0
    kafka.put(source, 0, [b'{"key": "a", "x": [1, 2]}'] * 2)
    assert aw.keyed.run(kafka.address(source), "store", make(7), start="latest").counts.events == 2


def test_starts_are_names_or_times():
    assert start_of("2026-01-31T12:00:00Z") == start_of("2026-01-31T12:00:00") == start_of("2026-01-31T13:00:00+01:00")
    assert start_of("1970-01-02") == 86400.0
    with pytest.raises(InputError, match="start must be earliest, latest or a time as in .*, got 'first'"):
        start_of("first")
    with pytest.raises(InputError, match="is for Kafka and NATS; other logs are read from their beginnings"):
        open_log("folder", "earliest")


@pytest.mark.parametrize("codec", ["gzip", "snappy", "lz4", "zstd"])
def test_kcat_writes_what_is_read_and_reads_what_is_written(tmp_path, kafka, codec):
    if shutil.which("kcat") is None:
        pytest.skip("there is no kcat here; apt-get install kcat")
    source, out = kafka.topic(), kafka.topic()
    reference, lines = Reference(make, 7), []
    for number in range(50):
        event = {"key": f"key {number % 5}", "x": [number / 7, 1.0 - number]}
        decision = reference.play(event)
        lines.append(json.dumps(event))
        if decision["query"] and number % 2:
            answer = {"key": event["key"], "round": decision["round"], "label": 1 if number % 3 else -1}
            reference.play(answer)
            lines.append(json.dumps(answer))
    where = ["kcat", "-q", "-b", kafka.brokers, "-p", "0"]
    subprocess.run([*where, "-P", "-t", source, "-z", codec], input="\n".join(lines), text=True, check=True)
    address = kafka.address(out, **{"compression.type": codec})
    aw.keyed.run(kafka.address(source), "store", make(7), out=address)
    read = subprocess.run(
        [*where, "-C", "-t", out, "-e", "-o", "beginning", "-f", "%k\t%s\n"], capture_output=True, text=True, check=True
    )
    found = [line.split("\t") for line in read.stdout.splitlines()]
    assert [{"number": n} | decision for n, decision in enumerate(reference.decisions)] == [
        json.loads(value) for _, value in found
    ]
    assert [each["key"] for each in reference.decisions] == [key for key, _ in found]


def test_the_command_plays_topics(tmp_path, kafka):
    source, out = kafka.topic(), kafka.topic()
    kafka.put(source, 1, [b'{"key": "a", "x": [1, 2]}'] * 5)
    done = inside("keyed", kafka.address(source), "--store", "store", "--out", kafka.address(out), "--json")
    assert done.returncode == 0, done.stderr
    facts = json.loads(done.stdout)
    assert (facts["instances"], facts["partitions"]) == (5, 4)
    assert len(kafka.messages(out, 1)) == 5


def test_answers_of_the_service_go_to_the_topic_of_answers(kafka):
    source, answers = kafka.topic(), kafka.topic()
    log = open_log(kafka.address(source, answers=answers))
    log.append(f"{source}-2", [b'{"key": "Zoe", "round": 0, "label": 1}\n'])
    (found,) = kafka.messages(answers, 2)
    assert (found.key(), found.value()) == (b"Zoe", b'{"key": "Zoe", "round": 0, "label": 1}')
    assert kafka.messages(source, 2) == []


def test_bad_addresses_are_one_sentence(tmp_path, kafka):
    source = kafka.topic()
    (tmp_path / "wrong.properties").write_text("# TLS\nssl.ca.location\n")
    for address, sentence in (
        (f"kafka://{kafka.brokers}", "an address of Kafka is kafka://host:9092/topic;"),
        (f"kafka://ann:hidden@{kafka.brokers}/{source}", "user names and passwords are configuration keys"),
        (kafka.address(source + "s"), f"the cluster has no topic {source}s, perhaps '{source}'."),
        (kafka.address(source, answer="x"), "No such configuration property: \"answer\", perhaps 'answers'."),
        (kafka.address(source, answers=source), "answers must be another topic"),
        (kafka.address(source, config="nowhere"), "cannot read the configuration of Kafka in nowhere: "),
        (kafka.address(source, config=tmp_path / "wrong.properties"), "line 2 of .*wrong.properties is not key=value."),
        (
            kafka.address(source, **{"isolation.level": "read_uncommitted"}),
            "the configuration key isolation.level is set by askwhen, and cannot be given.",
        ),
    ):
        with pytest.raises(InputError) as error:
            open_log(address).partitions()
        assert error.match(sentence)
        assert "hidden" not in str(error.value)
    with pytest.raises(InputError, match="out is the log that is read"):
        aw.keyed.run(kafka.address(source), "store", make(7), out=kafka.address(source, dead="x"))
    sink = open_sink(kafka.address(source))
    with pytest.raises(InputError, match="the partition clicks has no number at its end"):
        sink.begin("clicks", Counts(), 0)


def test_secrets_of_the_configuration_are_never_printed(tmp_path, monkeypatch):
    monkeypatch.setattr("askwhen.keyed.logs.kafka_cluster.TIMEOUT", 1.0)
    secret = "p4ssw0rd-of-nobody"
    (tmp_path / "client.properties").write_text(
        f"security.protocol = SASL_SSL\nsasl.mechanism=PLAIN\nsasl.username=ann\nsasl.password={secret}\n"
    )
    address = f"kafka://127.0.0.1:1/clicks?config={tmp_path}/client.properties"
    assert KafkaAddress(address, ())._config["sasl.password"] == secret
    for more in ("", "&ssl.key.password=" + secret, f"&socket.timeout.ms={secret}", f"&{secret}=1"):
        done = inside("keyed", address + more, "--store", "store")
        assert done.returncode == 1
        assert secret not in done.stdout + done.stderr or more.startswith(f"&{secret}")
        assert "Kafka" in done.stderr
