"""Instances of logs into the labelling service, and what comes of them out again: every one once."""

import json
import os
import random
import signal
import subprocess
import sys
import time

import httpx
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from tests.cli.running import inside
from tests.keyed.test_processes import from_folder
from tests.service.serving import Server
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")
SETTINGS = {"labels": ["no", "yes"], "algorithm": "perceptron", "raw": True, "grace": 0, "seed": 1}
FEED = "import sys, json, askwhen as aw; aw.keyed.feed(*json.loads(sys.argv[1]), **json.loads(sys.argv[2]))"


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "a.db") as running:
        yield running


@pytest.fixture
def stream(service):
    return make_stream(service)


def make_stream(service, **settings):
    """The address of an empty stream."""
    name = f"s{time.monotonic_ns()}"
    made = httpx.post(f"{service.url}/v1/streams", json={"name": name, "settings": SETTINGS | settings})
    assert made.status_code == 201, made.text
    return f"{service.url}/streams/{name}"


def call(stream, what="", **body):
    address = stream.replace("/streams/", "/v1/streams/") + what
    done = httpx.post(address, json=body) if body or what.startswith("/p") else httpx.get(address)
    assert done.status_code < 300, done.text
    return done.json() if done.headers["content-type"].startswith("application/json") else done.text


def instance(number, **more):
    x = [((number * 37 + j * 11) % 23 - 11) / 5.0 for j in range(5)]
    return json.dumps({"x": x} | ({"id": f"i{number}"} if number % 3 else {}) | more)


def rows(stream, table):
    return [json.loads(line) for line in call(stream, f"/export?table={table}").splitlines()]


def answer(stream, number):
    call(stream, f"/questions/{number}/answer", label="yes", key=f"key {number}")


def test_a_killed_feed_leaves_what_was_never_killed(tmp_path, service):
    (tmp_path / "log").mkdir()
    events = times(400, 3000)
    for part in range(2):
        lines = [instance(number) for number in range(part, events, 2)]
        (tmp_path / "log" / f"part-{part}.ndjson").write_text("\n".join(lines) + "\n")
    chance, decided = random.Random(3), []
    for kills in (0, times(2, 7)):
        stream, out = make_stream(service), f"out-{kills}"
        given = [["log", stream, f"store-{kills}"], {"decisions": out, "batch": 20}]
        while True:
            running = subprocess.Popen([sys.executable, "-c", FEED, *map(json.dumps, given)], cwd=tmp_path)
            if kills:
                kills -= 1
                there = len(list((tmp_path / out).rglob("*.ndjson")))
                while len(list((tmp_path / out).rglob("*.ndjson"))) < there + 3 and running.poll() is None:
                    time.sleep(0.005)
                time.sleep(0.05 * chance.random())
                os.kill(running.pid, signal.SIGKILL)
                running.wait()
                continue
            assert running.wait() == 0
            break
        read = from_folder(tmp_path / out)
        decided.append([each for part in range(2) for each in read(f"part-{part}")])
        assert call(stream)["rounds"] == events
        # The service numbers instances as they come: of one partition after the other, or in turns after a kill.
        ours = {each["id"]: each for each in decided[-1]}
        assert len(ours) == len(decided[-1]) == events
        theirs = {each["id"]: each for each in rows(stream, "decisions")}
        assert {name: each["prediction"] for name, each in ours.items()} == {
            name: each["prediction"] for name, each in theirs.items()
        }
    assert [each["id"] for each in decided[0]] == [each["id"] for each in decided[1]]


def test_answers_and_delivered_labels_come_out_once(tmp_path, service):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.ndjson").write_text("".join(instance(n) + "\n" for n in range(8)))
    stream = make_stream(service, algorithm="default", budget={"errors": 0.2})
    outputs = {"decisions": "decisions", "answers": "answers", "delivered": "delivered"}
    aw.keyed.feed("log", stream, "store", **outputs)
    wanted = []
    for number in range(2):
        answer(stream, number)
        wanted.append({"key": f"{['a/0', 'i1'][number]}", "id": ["a/0", "i1"][number], "round": number, "label": "yes"})
        for _ in range(2):  # the second time there is nothing new
            found = aw.keyed.feed("log", stream, "store", **outputs)
        assert from_folder(tmp_path / "answers")("service.answers-0") == wanted
        assert (found.sent, found.answers) == (8, number + 1)
    delivered = from_folder(tmp_path / "delivered")("service.delivered-0")
    assert {(each["id"], each["label"], each["by"]) for each in delivered} == {
        (each["id"], each["label"], each["by"]) for each in rows(stream, "delivered")
    }
    assert found.delivered == len(delivered) >= 2


def test_answers_of_a_stream_without_a_promise_have_their_ids(tmp_path, stream):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.ndjson").write_text(instance(1) + "\n")
    aw.keyed.feed("log", stream, "store")
    call(stream, "/instances", x=[1, 2, 3, 4, 5], id="of another producer")
    for number in range(2):
        answer(stream, number)
    aw.keyed.feed("log", stream, "store", answers="answers")
    assert from_folder(tmp_path / "answers")("service.answers-0") == [
        {"key": "i1", "id": "i1", "round": 0, "label": "yes"},
        {"key": "1", "id": None, "round": 1, "label": "yes"},
    ]


def test_topics_feed_a_stream_and_get_its_decisions_and_dead_letters(kafka, stream):
    source, out, dead, answers = (kafka.topic() for _ in range(4))
    pretty = json.dumps(json.loads(instance(1)), indent=1).encode()
    values = [instance(0).encode(), pretty, b"no JSON", b'["a list"]', instance(3, prise=2).encode()]
    kafka.put(source, 2, values, [b"ann"] * 5)
    address = kafka.address(out, dead=dead)
    for _ in range(2):
        found = aw.keyed.feed(kafka.address(source), stream, "store", decisions=address, answers=kafka.address(answers))
        assert (found.sent, found.refused) == (2, 3)
        decided = [json.loads(each.value()) for each in kafka.messages(out, 2)]
        assert [(each["number"], each["key"], each["id"]) for each in decided] == [
            (0, "ann", f"{source}-2/0"),
            (1, "ann", "i1"),
        ]
        letters = kafka.messages(dead, 2)
        assert [each.value() for each in letters] == values[2:]
        reasons = [dict(each.headers())["reason"].decode() for each in letters]
        assert reasons[0].startswith("this is not an instance: JSON is malformed")
        assert reasons[2] == "object contains unknown field `prise`."
        if not found.answers:
            answer(stream, 0)
    (told,) = kafka.messages(answers, 0)
    assert json.loads(told.value()) == {
        "number": 0,
        "key": f"{source}-2/0",
        "id": f"{source}-2/0",
        "round": 0,
        "label": "yes",
    }


def test_a_paused_stream_stops_a_feed_and_one_that_follows_waits(tmp_path, stream):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.ndjson").write_text(instance(1) + "\n")
    call(stream, "/pause")
    with pytest.raises(StoreError, match="paused"):
        aw.keyed.feed("log", stream, "store")
    given = [["log", stream, "store"], {"follow": True}]
    running = subprocess.Popen([sys.executable, "-c", FEED, *map(json.dumps, given)], stderr=subprocess.PIPE, text=True)
    assert "the service does not accept instances: " in running.stderr.readline()
    address = stream.replace("/streams/", "/v1/streams/")
    assert httpx.post(f"{address}/resume").status_code < 300
    deadline = time.monotonic() + 60
    while call(stream)["rounds"] == 0 and time.monotonic() < deadline:
        time.sleep(0.05)
    running.kill()
    running.communicate()
    assert call(stream)["rounds"] == 1


def test_the_command_feeds_and_bad_input_is_one_sentence(tmp_path, service, stream):
    (tmp_path / "log").mkdir()
    (tmp_path / "log" / "a.ndjson").write_text(instance(1) + "\n")
    done = inside("feed", "log", stream, "--store", "store", "--json", "--quiet")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["sent"] == 1
    for given, sentence in (
        (("log", "nowhere", "other"), "a feed goes to http://host:8300/streams/NAME, got 'nowhere'."),
        (("log", f"{service.url}/streams/none", "other"), "none"),
        (("log", stream.replace("/s", "/s"), "log"), "the log and the outputs must be different ones."),
    ):
        more = {"decisions": "log"} if given[2] == "log" else {}
        with pytest.raises((InputError, StoreError), match=sentence):
            aw.keyed.feed(*given, **more)
    with pytest.raises(StoreError, match="another kind, or with another seed: stream http.* there and http.* here"):
        aw.keyed.feed("log", make_stream(service), "store")
    (tmp_path / "tables").mkdir()
    (tmp_path / "tables" / "a.parquet").touch()
    with pytest.raises(InputError, match="a.parquet is a table; instances of a feed are NDJSON."):
        aw.keyed.feed("tables", stream, "tables-store")
