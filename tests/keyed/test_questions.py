"""Questions to the labelling service and answers back: nothing lost, nothing learnt twice."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import threading
import time

import httpx
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed import StoreError
from askwhen.keyed.job import open_store
from askwhen.keyed.logs.folder import FolderLog
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.service_questions import QuestionSink
from tests.keyed.killing import assert_as_played, run_and_kill
from tests.keyed.reference import Reference
from tests.keyed.test_processes import facts_of, from_folder, job_of, make
from tests.keyed.test_redis import published, put
from tests.keyed.test_worker import states
from tests.service.serving import Server
from tests.soak import times

pytestmark = pytest.mark.xdist_group("keyed")

SETTINGS = {"labels": ["no", "yes"], "algorithm": "perceptron", "raw": True, "grace": 0, "seed": 1}


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "a.db") as running:
        yield running


@pytest.fixture
def stream(service, request):
    """The address of an empty stream that asks about everything."""
    name = f"s{time.monotonic_ns()}"
    made = httpx.post(f"{service.url}/v1/streams", json={"name": name, "settings": SETTINGS})
    assert made.status_code == 201, made.text
    return f"{service.url}/streams/{name}"


def make_events(folder, events=60, partitions=2):
    """Instances only: the answers come from people."""
    folder.mkdir()
    names = [f"part-{number}" for number in range(partitions)]
    lines = dict.fromkeys(names, "")
    for number in range(events):
        key = f"key {number % 7}"
        name = names[aw.keyed.partition_of(key, partitions)]
        x = [((number * 37 + j * 11) % 23 - 11) / 5.0 for j in range(5)]
        lines[name] += json.dumps({"key": key, "x": x, "id": number}) + "\n"
    for name, text in lines.items():
        (folder / f"{name}.ndjson").write_text(text)
    return names


def wait_for(question, seconds=120):
    deadline = time.monotonic() + seconds
    while not question() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert question()


def answer_all(stream):
    """A person answers all there is; the keys and rounds of these questions."""
    shown = []
    with httpx.Client(base_url=stream.replace("/streams/", "/v1/streams/")) as http:
        while (found := http.post("/questions/next", json={"annotator": "ann"})).status_code == 200:
            question = found.json()
            given = {"label": "yes" if sum(question["x"]) > 0 else "no", "annotator": "ann"}
            said = http.post(f"/questions/{question['question']}/answer", json=given)
            assert said.status_code == 200, said.text
            shown.append((question["show"]["key"], question["show"]["round"]))
        wait_for(lambda: http.get("/questions").json() == [])  # the model there was told, too
    return shown


def replayed(texts):
    """What a plain loop makes of the log as it is now."""
    played = {}
    for name, text in texts.items():
        played[name] = Reference(make, 7)
        for line in text.splitlines():
            decision = played[name].play(json.loads(line))
            if decision is not None:
                decision |= {"id": json.loads(line)["id"]}
                if decision["query"]:
                    decision |= {"x": json.loads(line)["x"]}
    return played


@pytest.mark.parametrize("kept", ["files", "servers"])
def test_what_people_answer_comes_back_and_is_learnt_once(tmp_path, stream, kept, request):
    names = make_events(tmp_path / "log")
    job, lines = job_of(tmp_path), from_folder(tmp_path / "out")
    if kept == "servers":
        redis, store = request.getfixturevalue("redis_server"), request.getfixturevalue("database")
        source, out = redis.prefix(), redis.prefix()
        put(redis, source, tmp_path / "log", names)
        job = dataclasses.replace(job, source=redis.address(source), out=redis.address(out), store=store)
        lines = published(redis, out)

    def play():
        found = aw.keyed.run(job.source, job.store, make(7), out=job.out, questions=stream, batch=10)
        if kept == "files":
            texts = {name: (tmp_path / "log" / f"{name}.ndjson").read_text() for name in names}
        else:
            entries = {name: redis.connection.xrange(source + name) for name in names}
            texts = {name: "\n".join(fields[b"event"].decode() for _, fields in entries[name]) for name in names}
        assert_as_played(job, replayed(texts), lines)
        return found.counts

    first = play()
    assert first.questions > 10
    asked = answer_all(stream)
    assert len(set(asked)) == len(asked) == first.questions
    second = play()
    assert (first.questions, 0) == (second.answers, second.refused)
    assert second == play(), "nothing is brought twice"
    store = open_store(job.store)
    kind = SamplerSpec.read(job.kind)
    before = {name: states(store, kind, name) for name in names}
    store.remember(f"answers of {stream}", 0)  # as a kill between appending and keeping the number leaves it
    last = play()
    assert (second.answers, second.answers) == (last.answers, last.refused)
    assert before == {name: states(store, kind, name) for name in names}
    assert answer_all(stream) == []


def test_killed_workers_and_drivers_leave_each_question_once(tmp_path, stream):
    names = make_events(tmp_path / "log", events=times(150, 1000), partitions=3)
    job = dataclasses.replace(job_of(tmp_path), questions=stream)
    run_and_kill(job, names, 2, kills=times(1, 7), seed=3, most=times(8, 20))
    played = replayed({name: (tmp_path / "log" / f"{name}.ndjson").read_text() for name in names})
    assert_as_played(job, played, from_folder(tmp_path / "out"))
    asked = [(each["key"], each["round"]) for one in played.values() for each in one.decisions if each["query"]]
    assert sorted(asked) == sorted(answer_all(stream))


def test_answers_come_while_a_log_is_followed_and_the_service_may_be_away(tmp_path, service, stream):
    names = make_events(tmp_path / "log", events=40)
    out = str(tmp_path / "out")
    code = f"aw.keyed.run('log', 'store', make(7), out={out!r}, questions={stream!r}, follow=True)"
    code = f"import askwhen as aw\nfrom tests.keyed.test_processes import make\n{code}"
    paths = [str(pathlib.Path(__file__).parents[2]), os.environ.get("PYTHONPATH", "")]
    where = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    following = subprocess.Popen([sys.executable, "-c", code], cwd=tmp_path, env=where)
    try:
        wait_for(lambda: facts_of(tmp_path / "store", names) == 40)
        service.kill()
        time.sleep(1.5)
        service.start()
        asked = answer_all(stream)
        wait_for(lambda: facts_of(tmp_path / "store", names) == 40 + len(asked))
    finally:
        following.kill()
        following.wait()
    assert asked
    played = replayed({name: (tmp_path / "log" / f"{name}.ndjson").read_text() for name in names})
    assert_as_played(job_of(tmp_path), played, from_folder(tmp_path / "out"))
    assert sum(each.refused for each in played.values()) == 0


class Nowhere:
    def publish(self, *_):
        pass

    def close(self):
        pass


BODY = b'{"key":"a","round":0,"query":true,"x":[1.0,2.0]}\n{"key":"a","round":1,"query":false}\n'


def test_a_question_that_is_sent_again_is_the_same(tmp_path, stream):
    sink = QuestionSink(stream, None, Nowhere())
    for _ in range(3):
        sink.publish("p", 0, BODY)
    sink.close()
    assert answer_all(stream) == [("a", 0)]


def test_whoever_follows_waits_for_a_service_that_is_away_and_others_end(service, stream, monkeypatch, caplog):
    monkeypatch.setattr("askwhen.keyed.service_questions._ATTEMPTS", 2)
    hasty, patient = (QuestionSink(stream, None, Nowhere(), patient) for patient in (False, True))
    service.kill()
    with pytest.raises(StoreError, match="the service cannot be reached"):
        hasty.publish("p", 0, BODY)
    waiting = threading.Thread(target=patient.publish, args=("p", 0, BODY))
    waiting.start()
    wait_for(lambda: "its questions wait until it can" in caplog.text)
    service.start()
    waiting.join(60)
    hasty.close()
    patient.close()
    assert answer_all(stream) == [("a", 0)]


def test_what_cannot_be_is_one_sentence(tmp_path, service, stream):
    make_events(tmp_path / "log")

    def play(address, **more):
        aw.keyed.run(
            str(tmp_path / "log"), str(tmp_path / "store"), make(7), **({"out": "out"} | more), questions=address
        )

    with pytest.raises(InputError, match="questions need an output log too"):
        play(stream, out=None)
    for address in ("ftp://a/streams/b", service.url, f"{service.url}/streams/"):
        with pytest.raises(InputError, match="questions go to http://host:8300/streams/NAME, got"):
            play(address)
    with pytest.raises(StoreError, match="the service refused: there is no stream"):
        play(f"{service.url}/streams/none")
    httpx.post(f"{service.url}/v1/streams", json={"name": "sparing", "settings": {"labels": ["a", "b"]}})
    with pytest.raises(StoreError, match="must ask about everything"):
        play(f"{service.url}/streams/sparing")
    httpx.post(f"{service.url}/v1/streams", json={"name": "three", "settings": {"labels": ["a", "b", "c"]}})
    with pytest.raises(InputError, match="must have two labels"):
        play(f"{service.url}/streams/three")


def test_answers_follow_whole_lines_of_the_last_file_only(tmp_path, monkeypatch):
    monkeypatch.setattr("askwhen.keyed.logs.folder._WAIT", 0.1)
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "1.ndjson").write_text("{}\n")
    (tmp_path / "p" / "2.ndjson").touch()
    log = FolderLog(str(tmp_path))
    log.append("p", [b"one\n", b"two\n"])
    assert (tmp_path / "p" / "2.ndjson").read_text() == "one\ntwo\n"
    (tmp_path / "p" / "3.ndjson").write_text('{"key": ')
    with pytest.raises(InputError, match="the last line of .*3.ndjson has no end"):
        log.append("p", [b"three\n"])
    assert (tmp_path / "p" / "3.ndjson").read_text() == '{"key": '
    (tmp_path / "p" / "4.parquet").touch()
    with pytest.raises(InputError, match="cannot be appended to .*4.parquet, which is not NDJSON"):
        log.append("p", [b"three\n"])
    with pytest.raises(InputError, match="has no partition q"):
        log.append("q", [b"three\n"])
