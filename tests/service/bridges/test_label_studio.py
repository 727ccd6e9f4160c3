"""The service as Label Studio's ML backend, over HTTP, by the requests that it sends."""

import asyncio
import base64
import json
import threading

import msgspec
import pytest

import askwhen as aw
from askwhen.service.events.settings import Settings
from askwhen.service.runtime import warmup
from askwhen.service.use_cases import streams
from askwhen.service.use_cases.label_studio import backend as label_studio
from askwhen.service.use_cases.label_studio.requests import Predict
from tests.service import history
from tests.service.bridges import studio
from tests.service.bridges.studio import TEXT, backend, until
from tests.service.coordinators import Time, open_coordinator, run
from tests.service.serving import Server
from tests.soak import times

pytestmark = pytest.mark.xdist_group("label studio")  # they share a server


def answers(stream):
    return [(row["id"], row["annotator"], row["answer"]) for row in stream.export() if not row["undone"]]


def test_a_project_gets_predictions_and_its_annotations_are_told(server, client):
    stream = client.create("mails", **TEXT)
    with backend(server, "mails") as http:
        for path in ("health", ""):
            assert http.get(path).json()["status"] == "UP"
        assert http.post("setup", json=studio.setup()).json() == {"model_version": "mails"}
        assert http.get("versions").json() == {"versions": ["mails"]}
        said = http.post("predict", json=studio.predict([studio.task(1), studio.task(2)])).json()
        assert said["model_version"] == "mails"
        assert len(said["results"]) == 2
        (prediction,) = said["results"][0]
        assert prediction == {
            "result": [
                {
                    "from_name": "kind",
                    "to_name": "text",
                    "type": "choices",
                    "value": {"choices": ["ham"]},
                    "meta": {"text": ["worth asking"]},
                }
            ],
            "score": 0.5,
            "model_version": "mails",
        }
        assert http.post("webhook", json=studio.created(11, 1, "spam")).status_code == 201
        until(lambda: stream.facts()["told"] == 1)
        assert answers(stream) == [("label-studio:1:1", "label-studio:1", "spam")]
        assert http.post("webhook", json=studio.deleted(11)).json() == {"received": 1}
        until(lambda: answers(stream) == [])
        assert http.post("webhook", json=studio.training()).json() == {"received": 0}


def test_others_are_served_while_the_first_guesses_are_compiled(tmp_path, monkeypatch):
    compiled = threading.Event()
    monkeypatch.setattr(warmup, "warm_guesses", lambda settings: compiled.wait(60.0))

    async def play():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "mails", msgspec.convert(TEXT, Settings))
            asked = msgspec.convert(studio.predict([studio.task(1)]), Predict)
            await label_studio.predict(coordinator, stream, asked)
            again = asyncio.create_task(label_studio.predict(coordinator, stream, asked))
            for number in range(2, 5):
                await label_studio.predict(
                    coordinator, stream, msgspec.convert(studio.predict([studio.task(number)]), Predict)
                )
            assert not again.done(), "it waits for the compiler"
            compiled.set()
            assert len((await again)["results"]) == 1

    run(play())


def test_a_task_is_an_instance_once_and_is_predicted_as_the_model_is_by_now(server, client):
    stream = client.create("again", **TEXT)
    tasks = [studio.task(number, f"{'free money' if number % 2 else 'see you'} {number}") for number in range(12)]
    with backend(server, "again") as http:
        first = http.post("predict", json=studio.predict(tasks)).json()["results"]
        assert {each[0]["result"][0]["value"]["choices"][0] for each in first} == {"ham"}
        for number in range(10):
            given = studio.created(number, number, "spam" if number % 2 else "ham")
            assert http.post("webhook", json=given | {"task": tasks[number]}).status_code == 201
        until(lambda: stream.facts()["told"] == 10)
        again = http.post("predict", json=studio.predict(tasks)).json()["results"]
        assert stream.facts()["rounds"] == 12
    labels = [each[0]["result"][0]["value"]["choices"][0] for each in again]
    assert labels == ["spam" if number % 2 else "ham" for number in range(12)]
    wanted = ["meta" in each[0]["result"][0] for each in again]
    assert wanted == [False] * 10 + [True] * 2  # those are still worth asking
    assert all(0.5 < each[0]["score"] <= 1.0 for each in again)


@pytest.mark.parametrize(
    ("features", "data", "x"),
    [
        ({"kind": "text"}, {"text": [{"author": "a", "text": "one"}, {"author": "b", "text": "two"}]}, "one\ntwo"),
        ({"kind": "numbers"}, {"text": [1.0, 2.0]}, [1.0, 2.0]),
        ({"kind": "numbers", "names": ["a", "b"]}, {"a": "1.5", "b": 2, "text": "x.png"}, {"a": 1.5, "b": 2}),
        ({"kind": "hashed"}, {"city": "Rome", "n": 3, "deep": {"x": 1}}, {"city": "Rome", "n": 3}),
        (
            {"kind": "mixed", "names": ["n"], "text": ["text"]},
            {"text": "hello", "n": "4", "url": "x"},
            {"text": "hello", "n": 4.0},
        ),
    ],
)
def test_x_follows_from_the_features_of_the_stream(server, client, features, data, x):
    name = f"x{abs(hash(json.dumps(features)))}"
    given = TEXT | {"features": features}
    stream, twin = client.create(name, **given), client.create(f"{name}twin", **given)
    with backend(server, name) as http:
        (said,) = http.post("predict", json=studio.predict([studio.task(1, **data)])).json()["results"]
        assert said[0]["score"] == 0.5
        assert http.post("webhook", json=studio.created(1, 1, "spam") | {"task": studio.task(1, **data)}).is_success
    twin.tell(twin.ask(x), "spam", annotator="a")
    until(lambda: stream.facts()["told"] == 1 and twin.facts()["told"] == 1)
    assert stream.ask(x).margin == twin.ask(x).margin != 0.0


def test_a_project_that_does_not_fit_is_refused_and_the_log_says_why(server, client):
    client.create("three", **TEXT | {"labels": ["a", "b", "c"], "algorithm": "perceptron"})
    client.create("open", **TEXT | {"labels": "open", "algorithm": "perceptron"})
    with backend(server, "three") as http:
        refused = http.post("setup", json=studio.setup())
        assert refused.status_code == 422
        said = "the choices must be the labels of the stream three, a, b, c, got ham, spam."
        assert refused.json()["detail"] == said
        rating = studio.setup('<View><Text name="t" value="$t"/><Rating name="r" toName="t"/></View>')
        assert "Rating" in http.post("setup", json=rating).json()["detail"]
        assert http.post("predict", json=studio.predict([studio.task(1)])).status_code == 422
    assert said in server.log()
    with backend(server, "open") as http:
        assert http.post("setup", json=studio.setup()).is_success
        assert http.post("predict", json=studio.predict([studio.task(1)])).json()["results"] == [[]]  # no label yet
    with backend(server, "nothing") as http:
        assert http.get("health").status_code == 404


HOSTILE = {
    "no json": (b"{", 400),
    "an array": (b"[]", 422),
    "null": (b"null", 422),
    "nothing": (b"", 422),
    "no text": (b"\xff\xfe", 400),
    "tasks of the wrong kind": (json.dumps(studio.predict({"a": 1})).encode(), 422),
    "a task that is no object": (json.dumps(studio.predict([[1]])).encode(), 422),
    "a config of the wrong kind": (json.dumps(studio.predict([], config=3)).encode(), 422),
    "a hostile config": (json.dumps(studio.predict([], '<!DOCTYPE a [<!ENTITY b "c">]><View/>')).encode(), 422),
    "a project of the wrong kind": (json.dumps(studio.predict([]) | {"project": "../1"}).encode(), 422),
    "deep": (b'{"tasks":' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400),
    "huge": (b'{"tasks":[],"x":"' + b"a" * (33 << 20) + b'"}', 413),
}


@pytest.mark.parametrize("path", ["predict", "webhook", "train", "sync"])
@pytest.mark.parametrize("body", HOSTILE)
def test_hostile_bodies_are_refused_and_nothing_changes(server, client, body, path):
    content, status = HOSTILE[body]
    if "hostile" not in {stream["name"] for stream in client.streams()}:
        client.create("hostile", **TEXT)
    with backend(server, "hostile") as http:
        reply = http.post(path, content=content, headers={"Content-Type": "application/json"})
    if path == "predict" or status != 422:
        assert reply.status_code == status, reply.text
    assert 200 <= reply.status_code < 500
    if reply.status_code >= 400:
        assert reply.json()["detail"].endswith(".")
    assert client.stream("hostile").facts()["seq"] == 0


def test_tasks_that_cannot_be_instances_get_no_prediction_and_the_others_do(server, client):
    stream = client.create("some", **TEXT)
    deep = json.loads("[" * 40 + "]" * 40)
    tasks = [
        studio.task(1),
        {"id": None, "data": {}},
        {"data": {"text": "no id"}},
        studio.task(2, image="x.png"),
        studio.task(3, text="fine", deep=deep),
        {"id": [1], "data": {"text": "x"}},
        studio.task("4; drop"),
        studio.task(5, ""),
    ]
    with backend(server, "some") as http:
        said = http.post("predict", json=studio.predict(tasks)).json()["results"]
    assert [len(each) for each in said] == [1, 0, 1, 0, 0, 0, 0, 1]
    assert stream.facts()["rounds"] == 3


def test_a_task_whose_data_is_not_what_it_was_gets_no_prediction(server, client):
    stream = client.create("changed", **TEXT | {"features": {"kind": "numbers"}, "algorithm": "perceptron"})
    with backend(server, "changed") as http:
        for numbers, found in (([1.0, 2.0], 1), ([1.0, 2.0, 3.0], 0), (["a"], 0), ([1.0, 3.0], 1)):
            said = http.post("predict", json=studio.predict([studio.task(1, text=numbers)])).json()["results"]
            assert [len(each) for each in said] == [found]
    assert stream.facts()["rounds"] == 1


def test_a_whole_project_is_predicted_at_once(server, client):
    stream = client.create("whole", **TEXT | {"algorithm": "perceptron"})
    with backend(server, "whole") as http:
        said = http.post("predict", json=studio.predict([studio.task(number) for number in range(1_700)])).json()
    assert sum(len(each) for each in said["results"]) == stream.facts()["rounds"] == 1_700


def test_a_token_is_the_password_or_a_header_and_needs_its_roles(tmp_path):
    with Server(tmp_path / "log.db") as server:
        with aw.Client(server.url) as client:
            client.create("mails", **TEXT)
            client.create("other", **TEXT)
            admin = client.send("POST", "/v1/tokens", json={"name": "root", "roles": ["admin"]})["secret"]
        secrets = {}
        with aw.Client(server.url, admin) as client:
            for roles in (["producer"], ["annotator"], ["producer", "annotator"], ["reviewer"]):
                made = {"name": " ".join(roles), "roles": roles, "streams": ["mails"]}
                secrets[made["name"]] = client.send("POST", "/v1/tokens", json=made)["secret"]
        calls = {
            "health": ("GET", None, {"producer", "annotator", "producer annotator", "reviewer"}),
            "setup": ("POST", studio.setup(), {"producer", "producer annotator"}),
            "predict": ("POST", studio.predict([studio.task(1)]), {"producer", "producer annotator"}),
            "webhook": ("POST", studio.created(11, 1, "spam"), {"producer annotator"}),
            "sync": ("POST", {"project": 1, "tasks": []}, {"producer annotator"}),
            "tasks": ("GET", None, {"reviewer"}),
        }
        for path, (method, body, allowed) in calls.items():
            for name, secret in secrets.items():
                with backend(server, "mails", secret) as http:
                    assert http.request(method, path, json=body).is_success == (name in allowed), (path, name)
        both = secrets["producer annotator"]
        with backend(server, "other", both) as http:
            assert http.get("health").status_code == 403
        with backend(server, "mails") as http:
            assert http.get("health").status_code == 401
            wrong = [b":", b"a", b"label-studio:aw_wrong", both.encode()]
            for given in [
                *(f"Basic {base64.b64encode(each).decode()}" for each in wrong),
                "Basic",
                "Basic \xe9",
                "Token x",
            ]:
                assert http.get("health", headers={"Authorization": given.encode("latin-1")}).status_code == 401, given
            bearer = {"Authorization": f"Bearer {both}"}  # as a header of a webhook
            assert http.post("webhook", json=studio.created(12, 1, "spam"), headers=bearer).is_success
            basic = {"Authorization": "Basic " + base64.b64encode(b"x:" + both.encode()).decode()}
            crossed = basic | {"Origin": "https://elsewhere.example", "Sec-Fetch-Site": "cross-site"}
            assert http.post("webhook", json=studio.training(), headers=crossed).status_code == 403


def test_nothing_is_lost_and_nothing_told_twice_when_it_is_killed_between_receipt_and_telling(tmp_path):
    server = Server(tmp_path / "log.db").start()
    rounds = times(1, 40)
    try:
        with aw.Client(server.url) as client:
            stream = client.create("mails", **TEXT | {"algorithm": "perceptron"})
            slow = client.create("slow", **TEXT | {"algorithm": "perceptron", "lease": 1.0})
            with backend(server, "slow") as http:
                http.post("predict", json=studio.predict([studio.task(1)]))
                slow.next("cid")  # who holds the slot, so that what is received cannot be told yet
                assert http.post("webhook", json=studio.created(11, 1, "spam")).json() == {"received": 1}
            for number in range(rounds):
                with backend(server, "mails") as http:
                    assert http.post("webhook", json=studio.created(number, number, "spam")).json() == {"received": 1}
                server.kill()
                server.start()
            until(lambda: stream.facts()["told"] == rounds and slow.facts()["told"] == 1)
            assert sorted(answers(stream)) == sorted(
                (f"label-studio:1:{number}", "label-studio:1", "spam") for number in range(rounds)
            )
            assert answers(slow) == [("label-studio:1:1", "label-studio:1", "spam")]
            with backend(server, "mails") as http:  # and Label Studio may say all of it again
                for number in range(rounds):
                    again = http.post("webhook", json=studio.created(number, number, "spam"))
                    assert again.json() == {"received": 0}
        server.kill()
        for number in (1, 2):
            history.check(_log(tmp_path / "log.db", number))
    finally:
        server.__exit__()


def _log(db, number):
    from askwhen.service.store import open_store

    store = open_store(str(db))
    reader = store.reader()
    found = reader.events(number, 0, 1 << 40)
    reader.close()
    store.close()
    return found
