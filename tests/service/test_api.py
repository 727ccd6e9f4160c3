"""The service over HTTP, in a process of its own."""

import io
import json
import socket
import threading
import time

import httpx
import numpy as np
import pyarrow.csv
import pyarrow.parquet
import pytest

import askwhen as aw
from tests.service.coordinators import run
from tests.service.serving import Server

RNG = np.random.default_rng(1)

pytestmark = pytest.mark.xdist_group("service api")  # they share a server


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("api") / "log.db") as server:
        yield server


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.url) as http:
        yield http


@pytest.fixture
def stream(server, request):
    """A stream of its own that asks about everything."""
    with aw.Client(server.url) as client:
        name = f"s{abs(hash(request.node.name))}"
        yield client.create(name, labels=["ham", "spam"], algorithm="perceptron", grace=0.0, seed=1, repeats=False)


def path(stream, rest=""):
    return f"/v1/streams/{stream.name}{rest}"


def test_labels_that_nobody_asked_for_over_http(server, http):
    with aw.Client(server.url) as client:
        stream = client.create("given", labels=["ham", "spam"], budget={"rate": 0.01}, seed=1)
        found = [stream.ask(x.tolist(), f"i{i}") for i, x in enumerate(RNG.standard_normal((40, 3)))]
        quiet = [each for each in found if not each.query]
        assert stream.learn(quiet[-1], "spam", annotator="ann")["learnt"]
        assert stream.learn(quiet[-2].id, "spam", annotator="ann")["round"] == quiet[-2].round
        assert not stream.learn(quiet[-2].round, "ham", annotator="ann")["learnt"]
        rows = [row for row in stream.export() if row["question"] is None]
        assert [row["answer"] for row in rows] == ["spam", "spam", "ham"]
    refused = http.post("/v1/streams/given/labels", json={"id": "nothing", "label": "ham"})
    assert (refused.status_code, refused.json()["detail"]) == (404, "the stream given has no instance 'nothing'.")

    async def go():
        async with aw.AsyncClient(server.url) as client:
            return await (await client.stream("given")).learn(quiet[-3], "ham", annotator="ann")

    assert run(go())["learnt"]


def test_clients_send_advice_as_the_library_takes_it(server):
    nan = float("nan")
    said = [
        {"gpt": ("spam", np.float64(0.8)), "rules": np.str_("ham"), "old": None},
        {"gpt": ("spam", nan), "rules": {"ham": np.float32(0.25), "spam": 0.75}},
        {"gpt": "ham"},
    ]
    with aw.Client(server.url) as client:
        stream = client.create("advised", labels=["ham", "spam"], advisers="any", mode="backlog", seed=1)
        assert stream.ask([1.0, 2.0], "a", advice=said[0]).provisional
        many = [{"x": np.array([2.0, 1.0]), "id": "b", "advice": said[1]}, {"x": [3.0, 1.0], "advice": said[2]}]
        assert len(list(stream.ask_many(many))) == 2
        names = ("advice.gpt", "confidence.gpt", "advice.rules", "confidence.rules")
        assert [[row[name] for name in names] for row in stream.export("instances")] == [
            ["spam", 0.8, "ham", None],
            ["spam", None, "spam", 0.75],
            ["ham", None, None, None],
        ]
        live = stream.ask([4.0, 1.0], advice={"gpt": "ham"}, backlog=False)
        assert not stream.advise(live.round, {"rules": "spam"}, key="k")["counted"]
        with pytest.raises(aw.InputError, match="advice of 'gpt': it must be a label, .* got 0.8"):
            stream.ask([1.0, 2.0], advice={"gpt": 0.8})

    async def go():
        async with aw.AsyncClient(server.url) as client:
            stream = await client.stream("advised")
            found = await stream.ask([5.0, 1.0], advice={"gpt": ("ham", 0.9)}, backlog=False)
            return await stream.advise(found, {"gpt": ("ham", 0.9)}), await stream.advise(found, {"gpt": "spam"})

    assert [each["counted"] for each in run(go())] == [True, False]


def test_clients_make_groups_and_reserve_questions(server):
    with aw.Client(server.url) as client:
        client.set_group("night shift", ["ann", "bob"])
        stream = client.create("shifts", algorithm="perceptron", seed=1, team=["@night shift"])
        question = stream.ask([1.0, 2.0]).round
        stream.act(question, "reserve", who=["bob"])
        assert (stream.next("ann"), stream.next("cid")) == (None, None)
        assert stream.next("bob")["question"] == question
        client.away(4e9, "bob")
        assert stream.next("bob") is None
        assert client.people()["away"] == [{"name": "bob", "until": 4e9}]
        client.away(None, "bob")
        stream.set(team=["ann", "bob"])  # a group that a stream names is not removed

    async def go():
        async with aw.AsyncClient(server.url) as client:
            await client.away(4e9)
            found = await client.people()
            await client.away(None)
            await client.set_group("night shift", None)
            return found, await client.people()

    before, after = run(go())
    assert before["groups"] == [{"name": "night shift", "members": ["ann", "bob"]}]
    assert [each["name"] for each in before["away"]] == ["anonymous"]
    assert after == {"groups": [], "away": []}


def test_a_stream_is_made_listed_renamed_paused_and_archived(http):
    made = http.post("/v1/streams", json={"name": "one", "settings": {"labels": ["a", "b", "c"], "seed": 3}})
    assert (made.status_code, made.json()["settings"]["seed"]) == (201, 3)
    assert http.post("/v1/streams", json={"name": "one"}).status_code == 409
    assert "one" in [each["name"] for each in http.get("/v1/streams").json()]
    assert http.patch("/v1/streams/one", json={"name": "uno"}).json()["name"] == "uno"
    assert http.get("/v1/streams/one").status_code == 404
    assert http.post("/v1/streams/uno/pause").json()["state"] == "paused"
    refused = http.post("/v1/streams/uno/instances", json={"x": [1.0]})
    assert (refused.status_code, refused.json()["detail"]) == (409, "the stream uno is paused; resume it first.")
    assert http.post("/v1/streams/uno/resume").json()["state"] == "active"
    assert http.post("/v1/streams/uno/archive").json()["state"] == "archived"
    assert "uno" not in [each["name"] for each in http.get("/v1/streams").json()]
    assert "uno" in [each["name"] for each in http.get("/v1/streams?archived=true").json()]


def test_ask_and_tell_are_those_of_a_sampler(stream):
    X = RNG.standard_normal((60, 4))
    y = np.where(X[:, 0] > 0, "spam", "ham").tolist()
    sampler = aw.paper("PERCEPTRON", seed=1, prepare=aw.Prepare())
    for x, label in zip(X, y, strict=True):
        found, ask = stream.ask(x), sampler.ask(x)
        assert (found.margin, found.query) == (ask.margin, ask.query)
        assert found.prediction == ["ham", "spam"][(ask.prediction + 1) // 2]
        receipt = stream.tell(found, label)
        assert receipt["label"] == label
        sampler.tell(ask, 1 if label == "spam" else -1)
    facts = stream.facts()
    assert (facts["rounds"], facts["told"]) == (60, 60)


def test_many_lines_are_answered_in_order_and_none_is_lost(http, stream):
    lines = [json.dumps({"x": [float(i), 1.0], "id": f"n{i}"}) for i in range(20_000)]
    lines[7] = '{"x": ["no"]}'
    lines[8] = "no json"
    body = "\n".join(lines).encode()

    def parts():
        for first in range(0, len(body), 7_919):
            yield body[first : first + 7_919]

    reply = http.post(path(stream, "/instances"), content=parts(), headers={"Content-Type": "application/x-ndjson"})
    found = [json.loads(line) for line in reply.text.splitlines()]
    assert len(found) == len(lines)
    assert found[7]["error"]["detail"] == "x[0] must be a number, got a text."
    assert (found[8]["error"]["line"], found[8]["error"]["status"]) == (9, 422)
    good = [each for each in found if "error" not in each]
    assert [each["id"] for each in good] == [f"n{i}" for i in range(20_000) if i not in (7, 8)]
    assert [each["round"] for each in good] == list(range(19_998))
    again = http.post(path(stream, "/instances"), content=body, headers={"Content-Type": "application/x-ndjson"})
    assert sum(json.loads(line).get("again", False) for line in again.text.splitlines()) == 19_998


def test_a_client_may_send_everything_before_it_reads(http, stream):
    body = (b'{"x": [1]' + b" " * 200 + b"}\n") * 50_000  # more than what the system keeps, both ways
    with socket.socket() as client:
        for buffer in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            client.setsockopt(socket.SOL_SOCKET, buffer, 4096)
        client.settimeout(300.0)
        client.connect((http.base_url.host, http.base_url.port))
        head = f"POST {path(stream, '/instances')} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n"
        client.sendall(f"{head}content-type: application/x-ndjson\r\ncontent-length: {len(body)}\r\n\r\n".encode())
        client.sendall(body)
        found = bytearray()
        while part := client.recv(1 << 20):
            found += part
    assert 49_500 < found.count(b'"round":') <= 50_000  # a few are cut in two by the chunks of the reply
    assert b'"round":49999,' in found


def test_refusals_are_problems_with_fields(http, stream):
    reply = http.post(path(stream, "/questions/3/answer"), json={"label": "ham"})
    assert reply.headers["content-type"] == "application/problem+json"
    assert reply.json() == {
        "title": "Not Found",
        "status": 404,
        "detail": "round 3 has no question.",
        "owner": "question",
        "request": reply.headers["x-request-id"],
    }
    reply = http.post("/v1/streams", json={"name": "x y"}).json()
    assert (reply["status"], reply["parameter"], reply["got"]) == (422, "name", "x y")
    stream.ask([1.0])
    reply = http.post(path(stream, "/questions/0/answer"), json={"label": "eggs"}).json()
    assert reply["detail"] == "the label must be one of ham, spam, got 'eggs'."


DEEP = "[" * 100_000 + "]" * 100_000
HOSTILE = [
    b"",
    b"{",
    b"null",
    b"[]",
    b'{"x": NaN}',
    b'{"x": [1e999]}',
    b'{"x": [-1e999, 2]}',
    b'{"x": [1' + b"0" * 5000 + b"]}",
    b'{"x": "\xff\xfe"}',
    b'\xff\xfe{\x00"\x00x\x00"\x00',
    b'{"x": [1, "2"]}',
    b'{"x": [[1]]}',
    b'{"x": {"a": 1}}',
    b'{"x": null}',
    b'{"x": [1], "y": 2}',
    b'{"x": [1], "id": 3}',
    b'{"x": [1], "id": ""}',
    b'{"x": [1], "id": "a\\u0000b"}',
    b'{"x": [1], "id": "\\ud800"}',
    b'{"x": [1], "priority": "high"}',
    b'{"x": "<script>alert(1)</script>"}',
    DEEP.encode(),
    f'{{"x": {DEEP}}}'.encode(),
    b'{"x": "' + b"a" * 2_000_000 + b'"}',
    b'{"x": [' + b"1," * 200_000 + b"1]}",
]


@pytest.mark.parametrize("body", HOSTILE, ids=[f"{each[:24]!r}" for each in HOSTILE])
def test_hostile_bodies_are_refused_in_a_sentence(http, stream, body):
    for where in ("/instances", "/questions/0/answer", "/questions/next"):
        reply = http.post(path(stream, where), content=body, headers={"Content-Type": "application/json"})
        if where == "/questions/next" and reply.status_code in (200, 204):
            continue
        assert 400 <= reply.status_code < 500, (where, reply.text[:300])
        assert reply.json()["detail"].endswith(".")
        assert "Traceback" not in reply.text
    reply = http.post(path(stream, "/instances"), content=body, headers={"Content-Type": "application/x-ndjson"})
    assert all("error" in json.loads(line) for line in reply.text.splitlines())
    assert stream.facts()["rounds"] == 0


def test_markup_stays_text(http, server):
    client = aw.Client(server.url)
    texts = client.create("texts", labels=["<b>", "no"], features={"kind": "text"}, algorithm="perceptron")
    found = texts.ask("<script>alert('x')</script>", show={"a": "<i>"})
    shown = texts.next("ann")
    assert (shown["x"], shown["show"]) == ("<script>alert('x')</script>", {"a": "<i>"})
    assert texts.tell(found, "<b>", annotator="ann")["label"] == "<b>"
    client.close()


def test_a_slow_body_holds_nobody_up(server, stream):
    import socket

    with socket.create_connection(("127.0.0.1", server.port)) as slow:
        slow.sendall(
            f"POST {path(stream, '/instances')} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n{{".encode()
        )
        assert stream.ask([1.0]).round == 0


def test_events_are_followed_and_resumed(http, server, stream):
    for i in range(5):
        stream.ask([float(i)])
    ids, kinds = follow(server, stream, {"Last-Event-ID": "2"}, 3)
    assert ids == [3, 4, 5]
    assert kinds == ["instance"] * 3
    seen = []
    thread = threading.Thread(target=lambda: seen.append(follow(server, stream, {}, 2)))
    thread.start()
    time.sleep(0.3)
    stream.tell(0, "ham")
    thread.join(10.0)
    assert seen == [([6, 7], ["answered", "told"])]
    assert follow(server, stream, {"Last-Event-ID": "0"}, 1, "?kinds=told")[0] == [7]
    assert http.get(path(stream, "/events"), headers={"Last-Event-ID": "x"}).status_code == 422


def follow(server, stream, headers, count, query=""):
    ids, kinds = [], []
    with httpx.stream("GET", server.url + path(stream, f"/events{query}"), headers=headers, timeout=300.0) as reply:
        for line in reply.iter_lines():
            if line.startswith("id: "):
                ids.append(int(line[4:]))
            if line.startswith("event: "):
                kinds.append(line[7:])
            if len(kinds) == count:
                break
    return ids, kinds


def test_tables_come_in_three_formats_and_go_on_where_they_ended(http, stream):
    for i in range(30):
        found = stream.ask([float(i), 1.0], id=f"n{i}")
        stream.tell(found, "ham" if i % 2 else "spam", annotator="ann", lead=2.5)
    for table, rows in (("labels", 30), ("decisions", 30), ("predictions", 30)):
        found = {}
        for format in ("csv", "ndjson", "parquet"):
            content = http.get(path(stream, "/export"), params={"table": table, "format": format}).content
            if format == "csv":
                found[format] = pyarrow.csv.read_csv(io.BytesIO(content)).to_pylist()
            elif format == "parquet":
                found[format] = pyarrow.parquet.read_table(io.BytesIO(content)).to_pylist()
            else:
                found[format] = [json.loads(line) for line in content.splitlines()]
        assert found["ndjson"] == found["parquet"]
        assert len(found["csv"]) == rows
        assert [row["margin"] for row in found["csv"]] == [row["margin"] for row in found["ndjson"]]
        after = found["ndjson"][9]["seq"]
        rest = list(stream.export(table, after))
        assert rest == found["ndjson"][10:]
    row = next(stream.export())
    assert (row["id"], row["annotator"], row["label"], row["lead"]) == ("n0", "ann", "spam", 2.5)
    assert (row["probability"], row["corrected"], row["undone"]) == (1.0, False, False)


def test_corrections_are_in_the_labels_and_in_the_accuracy(http, stream):
    for i in range(40):
        x = float(i % 2) - 0.5
        stream.tell(stream.ask([x, 1.0]), "spam" if x > 0 else "ham", annotator="ann")
    before = stream.report()["accuracy"]
    undone = stream.act(30, "undo", "ann")
    assert undone["told"]
    assert "until the stream is replayed" in undone["note"]
    stream.tell(30, "spam", annotator="ann")
    after = stream.report()["accuracy"]
    assert after["corrected"] == 1
    assert after["overall"]["value"] == pytest.approx(before["overall"]["value"] - 1 / 40)
    rows = [row for row in stream.export() if row["question"] == 30]
    assert [(row["answer"], row["undone"], row["label"], row["told"], row["corrected"]) for row in rows] == [
        ("ham", True, "spam", "ham", True),
        ("spam", False, "spam", "ham", True),
    ]
    assert http.post(path(stream, "/replay")).json() == {"labels": 40}
    assert stream.report()["accuracy"]["corrected"] == 0


def test_contents_are_erased_over_http(http, stream):
    for i in range(3):
        stream.ask([float(i), 1.0], id=f"n{i}", show={"mail": f"text {i}"}, subject="ann" if i < 2 else None)
    assert stream.erase(subject="ann") == {"erased": 2, "forgotten": 2}
    assert stream.erase(ids=["n2"]) == {"erased": 1, "forgotten": 1}
    shown = http.get(path(stream, "/questions/1")).json()
    assert shown["erased"]
    assert "x" not in shown
    assert "show" not in shown
    with pytest.raises(aw.InputError, match="by one of rounds, ids, subject and before"):
        stream.erase()
    refused = http.post(path(stream, "/erase"), json={"all": True})
    assert (refused.status_code, "unknown field" in refused.json()["detail"]) == (422, True)


def test_the_model_is_a_sampler(http, stream, tmp_path):
    for i in range(20):
        stream.tell(stream.ask([float(i) - 10, 1.0]), "spam" if i > 10 else "ham")
    (tmp_path / "model.askwhen").write_bytes(http.get(path(stream, "/model")).content)
    sampler = aw.Sampler.load(tmp_path / "model.askwhen")
    assert sampler.round == 20
    ask = sampler.ask([3.0, 1.0])
    assert stream.ask([3.0, 1.0]).margin == ask.margin


def test_several_people_and_their_agreement(http, server):
    client = aw.Client(server.url)
    many = client.create("many", labels=["a", "b"], slots=2, grace=0.0, algorithm="perceptron")
    for i in range(4):
        many.ask([float(i)])
    for who, labels in (("ann", "abab"), ("bob", "abbb")):
        for label in labels:
            question = many.next(who)
            many.tell(question["question"], label, annotator=who)
        assert many.next(who) is None
    found = http.get("/v1/streams/many/agreement").json()
    assert found["pairs"] == [{"annotators": ["ann", "bob"], "questions": 4, "same": 3, "cohen": 0.5}]
    assert found["people"]["ann"]["answers"] == 4
    disputed = http.get("/v1/streams/many/questions?disputed=true").json()
    assert [each["question"] for each in disputed] == [2]
    assert http.post("/v1/streams/many/questions/2/review", json={"label": "a"}).status_code == 204
    assert many.facts()["told"] == 4
    client.close()


def test_the_description_is_complete_and_loads_nothing_from_elsewhere(http):
    found = http.get("/openapi.json").json()
    assert "/v1/streams/{name}/instances" in found["paths"]
    page = http.get("/docs").text
    assert "://" not in page
    assert "/v1/streams/{name}/questions/next" in page


def test_metrics_and_health(http):
    assert http.get("/healthz").json()["status"] == "ok"
    assert "askwhen_commit_duration_seconds_count" in http.get("/metrics").text


def test_it_stops_at_once_with_listeners_open(tmp_path):
    with Server(tmp_path / "log.db") as server:
        with aw.Client(server.url) as client:
            stream = client.create("one", algorithm="perceptron")
            stream.ask([1.0])
        with httpx.stream("GET", f"{server.url}/v1/streams/one/events", timeout=300.0) as reply:
            next(reply.iter_lines())
            server.stop()
        assert "graceful shutdown exceeded" not in server.log()
        server.start()
        with aw.Client(server.url) as client:
            assert client.stream("one").facts()["rounds"] == 1


def test_the_demo_moves_by_itself(tmp_path):
    with Server(tmp_path / "unused.db", "--demo") as server, httpx.Client(base_url=server.url) as http:
        end = time.monotonic() + 120.0
        while http.get("/v1/streams/demo").json().get("told", 0) < 3:
            assert time.monotonic() < end
            time.sleep(0.2)
        found = http.get("/v1/streams/demo/agreement").json()
        assert set(found["people"]) == {"ann", "bob", "cid"}
    assert not (tmp_path / "unused.db").exists()


def test_the_async_client_does_the_same(server):

    async def play():
        async with aw.AsyncClient(server.url) as client:
            stream = await client.create("with-loop", algorithm="perceptron", grace=0.0)
            found = await stream.ask([1.0, 2.0], id="a")
            assert (await stream.ask([1.0, 2.0], id="a")).again
            await stream.tell(found, "yes")
            many = [each async for each in stream.ask_many(np.ones((5, 2)))]
            assert [each.round for each in many] == [1, 2, 3, 4, 5]
            assert (await stream.next("ann"))["question"] == 1
            await stream.act(1, "skip", "ann")
            assert (await stream.erase(rounds=[5])) == {"erased": 1, "forgotten": 1}
            assert (await stream.facts())["told"] == 1
            assert "with-loop" in [each["name"] for each in await client.streams()]
            with pytest.raises(aw.InputError, match="x must have 2 features as before, got 1"):
                await stream.ask([1.0])

    run(play())
