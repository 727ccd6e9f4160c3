"""What can be seen of a service from outside: metrics, names of requests, the log, spans, readiness."""

import asyncio
import json
import logging
import pathlib
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import psycopg
import pytest
from prometheus_client.parser import text_string_to_metric_families

import askwhen as aw
from askwhen.service.http import request_ids
from askwhen.service.process.logging_json import JsonLines
from tests.service.in_process import running
from tests.service.postgresql import Cluster
from tests.service.serving import Server

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"
SECRET = "the words of an instance"
pytestmark = pytest.mark.xdist_group("service observed")


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("observed") / "log.db", "--access-log") as server:
        with aw.Client(server.url) as client:
            settings = {"features": {"kind": "text", "places": 64}, "algorithm": "perceptron", "grace": 0.0, "seed": 1}
            mails = client.create("mails", budget={"per": 86400.0, "count": 50}, **settings)
            asked = [mails.ask(SECRET) for _ in range(5)]
            server.asked = sum(each.query for each in asked)
            mails.tell(asked[0], "yes", annotator="ann")
            client.create("most", budget={"rate": 1.0, "most": 7}, **settings).ask("one")
            known = client.create("known", budget={"rate": 1.0}, **settings)
            for number in range(20):
                known.tell(known.ask(f"text {number}"), "yes", annotator="ann")
            client.create("idle")
            client.send("POST", "/v1/webhooks", json={"url": "https://example.org", "kinds": ["switch.detected"]})
        yield server


@pytest.fixture
def http(server):
    with httpx.Client(base_url=server.url) as http:
        yield http


def scraped(http, **headers):
    return {family.name: family for family in text_string_to_metric_families(http.get("/metrics", **headers).text)}


def value(family, name=None, **labels):
    (found,) = [
        each.value
        for each in family.samples
        if each.name == (name or each.name) and labels.items() <= each.labels.items()
    ]
    return found


def test_metrics_count_what_happened(server, http):
    found = scraped(http)
    assert value(found["askwhen_rounds"], "askwhen_rounds_total", stream="mails") == 5
    assert value(found["askwhen_questions"], "askwhen_questions_total", stream="mails") == server.asked > 2
    assert value(found["askwhen_labels"], "askwhen_labels_total", stream="mails") == 1
    assert value(found["askwhen_waiting_questions"], stream="mails") == server.asked - 1
    assert 0 < value(found["askwhen_oldest_waiting_question_seconds"], stream="mails") < 600
    assert value(found["askwhen_oldest_waiting_question_seconds"], stream="idle") == 0
    assert value(found["askwhen_budget_left_labels"], stream="mails") == 50 - server.asked
    assert value(found["askwhen_budget_left_labels"], stream="most") == 6
    assert [each.labels["stream"] for each in found["askwhen_budget_left_labels"].samples] == ["mails", "most"]
    assert value(found["askwhen_commit_duration_seconds"], "askwhen_commit_duration_seconds_count") > 5
    assert value(found["askwhen_build_info"], version=aw.__version__) == 1
    assert value(found["process_resident_memory_bytes"]) > 1e7


def with_accuracy(http):
    """Metrics once the accuracy is estimated: a scrape does not wait for it for long."""
    end = time.monotonic() + 120.0
    while not (found := scraped(http))["askwhen_accuracy_ratio"].samples:
        assert time.monotonic() < end
    return found


def test_the_honest_accuracy_is_told_with_its_bounds(http):
    found = with_accuracy(http)
    assert "mails" not in {each.labels["stream"] for each in found["askwhen_accuracy_ratio"].samples}, "one answer"
    for window in ("overall", "recent"):
        report = http.get("/v1/streams/known/report").json()["accuracy"][window]
        told = [
            value(found[f"askwhen_accuracy_{end}ratio"], stream="known", window=window) for end in ("low_", "", "high_")
        ]
        assert told == [report["low"], report["value"], report["high"]] == sorted(told)


def test_requests_are_counted_by_route_method_and_status(http):
    def counts():
        found = scraped(http)["askwhen_http_requests"].samples
        return {(each.labels["route"], each.labels["method"], each.labels["status"]): each.value for each in found}

    before = counts()
    answer = "/v1/streams/{name}/questions/{question}/answer"
    for path in ("/v1/streams/most/questions/0/answer", "/v1/streams/none/questions/7/answer"):
        http.post(path, json={"label": "yes"})
    http.get("/v1/streams/mails")
    for path in ("/nowhere/1", "/nowhere/2"):
        http.get(path)
    http.request("PROPFIND", "/v1/streams")
    grown = {place: count - before.get(place, 0) for place, count in counts().items()}
    del grown["/metrics", "GET", "2xx"]
    assert {place: count for place, count in grown.items() if count} == {
        (answer, "POST", "2xx"): 1,
        (answer, "POST", "4xx"): 1,
        ("/v1/streams/{name}", "GET", "2xx"): 1,
        ("other", "GET", "4xx"): 2,
        ("other", "other", "4xx"): 1,
    }
    found = scraped(http)
    name = "askwhen_http_request_duration_seconds"
    instances = {"route": "/v1/streams/{name}/instances", "status": "2xx"}
    assert value(found[name], f"{name}_count", **instances) == 26
    assert value(found[name], f"{name}_bucket", le="+Inf", **instances) == 26
    assert 0 < value(found[name], f"{name}_sum", **instances) < 600
    assert value(found["askwhen_http_requests_in_progress"]) == 1


def test_listeners_are_counted_and_their_time_is_not(server, http):
    with httpx.stream("GET", f"{server.url}/v1/streams/mails/events") as reply:
        lines = reply.iter_lines()  # once it is gone, so is the connection
        next(lines)
        end = time.monotonic() + 120.0
        while value((found := scraped(http))["askwhen_sse_clients"]) != 1:  # the reply begins before it listens
            assert time.monotonic() < end
            time.sleep(0.01)
        assert value(found["askwhen_http_requests_in_progress"]) == 2
        count = value(found["askwhen_http_requests"], route="/v1/streams/{name}/events")
    assert count == 1, "when the reply begins: it may never end"


def test_names_are_those_that_prometheus_expects(http):
    text = http.get("/metrics").text
    for family in text_string_to_metric_families(text):
        assert family.documentation
        assert (family.type == "counter") == any(each.name.endswith("_total") for each in family.samples), family.name
        unit = re.search(r"_(ms|milliseconds|minutes|percent|kb)\b", family.name)
        assert family.name.startswith(("askwhen_", "process_")), family.name
        assert unit is None
    opened = http.get("/metrics", headers={"Accept": "application/openmetrics-text; version=1.0.0"})
    assert opened.headers["content-type"].startswith("application/openmetrics-text")
    assert opened.text.endswith("# EOF\n")


METRIC = re.compile(r"\b(?:askwhen|process)_[a-z_]+\b")


def test_the_dashboard_and_the_alerts_ask_for_metrics_that_there_are(http):
    there = {sample.name for family in with_accuracy(http).values() for sample in family.samples}
    dashboard = json.loads((DEPLOY / "grafana.json").read_text())
    asked = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
    asked += [each["query"]["query"] for each in dashboard["templating"]["list"] if each["type"] == "query"]
    asked += re.findall(r"expr: (.*)", (DEPLOY / "alerts.yml").read_text())
    assert len(asked) > 25
    for query in asked:
        named = set(METRIC.findall(query))
        assert named, query
        assert named <= there, query
    shown = {name for query in asked for name in METRIC.findall(query)}
    ours = {name for name in there if name.startswith("askwhen_") and not name.endswith(("_sum", "_count"))}
    assert ours - shown == {"askwhen_streams"}


def log_with(server, *names):
    """The log, once it has these names: a line is written after the reply has gone."""
    end = time.monotonic() + 120.0
    while not all(name in (log := server.log()) for name in names) and time.monotonic() < end:
        time.sleep(0.01)
    assert all(name in log for name in names)
    return log


def test_every_request_has_a_name_in_its_reply_and_in_the_log(server, http):
    mine = "my-request.1"
    refused = http.post("/v1/streams/none/instances", json={"x": SECRET}, headers={"X-Request-ID": mine})
    assert refused.headers["x-request-id"] == refused.json()["request"] == mine
    found = map(json.loads, log_with(server, mine).splitlines())
    (line,) = [line for line in found if line.get("request") == mine]
    assert (line["what"], line["status"], line["route"]) == ("request", 404, "/v1/streams/{name}/instances")
    made = [http.get("/v1/streams", headers={"X-Request-ID": each}) for each in ("a b", 101 * "a", "", "a;b")]
    names = [each.headers["x-request-id"] for each in made]
    assert len({*names, mine}) == 5
    assert all(re.fullmatch(r"[0-9a-f]{12}-[0-9a-f]+", name) for name in names)
    log = log_with(server, *names)
    assert SECRET not in log
    assert "words" not in log


def in_a_loop(coroutine):
    with ThreadPoolExecutor(1) as pool:  # a browser's tests leave a loop running in this thread
        return pool.submit(asyncio.run, coroutine).result()


def test_lines_of_the_log_name_the_request_that_made_them_also_from_its_threads():
    def line():
        return json.loads(JsonLines().format(logging.makeLogRecord({"msg": "what", "facts": {"stream": "mails"}})))

    async def go():
        request_ids.present.set("mine")
        return line(), await asyncio.to_thread(line)

    for found in in_a_loop(go()):
        assert (found["what"], found["stream"], found["request"]) == ("what", "mails", "mine")
    assert "request" not in line()


def test_ready_is_said_only_where_it_is_true(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            first = (await http.get("/readyz")).status_code
            coordinator.stopping.set()
            return first, (await http.get("/readyz")).json()["detail"], (await http.get("/healthz")).status_code

    assert in_a_loop(go()) == (200, "the service is stopping.", 200)


def test_a_database_that_does_not_answer_makes_it_unready(tmp_path):
    cluster = Cluster()
    try:
        address = cluster.database()
        with Server(address, log=str(tmp_path / "log")) as server:
            with psycopg.connect(address) as other:
                other.execute("lock table events in access exclusive mode")
                time.sleep(1.1)  # the last answer counts for a second
                with ThreadPoolExecutor(8) as pool:
                    waiting = [pool.submit(httpx.get, f"{server.url}/readyz") for _ in range(8)]
                    assert {each.result().status_code for each in waiting} == {503}
                blocked = "select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                assert other.execute(blocked).fetchone() == (1,), "one probe for all who ask"
                other.rollback()
            end = time.monotonic() + 60.0
            while httpx.get(f"{server.url}/readyz").status_code != 200:
                assert time.monotonic() < end
                time.sleep(0.05)
            cluster.stop("immediate")
            time.sleep(1.1)
            refused = httpx.get(f"{server.url}/readyz")
            assert (refused.status_code, refused.json()["detail"]) == (503, "the database does not answer.")
    finally:
        cluster.close()


def test_spans_have_routes_and_no_contents(tmp_path):
    pytest.importorskip("opentelemetry.sdk", reason="there is no OpenTelemetry; pip install 'askwhen[otel]'")
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

    from askwhen.service.http.middleware.tracing import Spans

    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

    async def go():
        async with running(tmp_path / "log.db", spans=Spans(provider)) as (_, http):
            settings = {"features": {"kind": "text", "places": 64}, "algorithm": "perceptron"}
            await http.post("/v1/streams", json={"name": "hidden", "settings": settings})
            headers = {"traceparent": parent, "X-Request-ID": "one"}
            await http.post("/v1/streams/hidden/instances", json={"x": SECRET}, headers=headers)
            await http.get("/v1/streams/hidden/report")
            await http.get(f"/nowhere/{SECRET}")

    in_a_loop(go())
    spans = exporter.get_finished_spans()
    assert [(span.name, span.attributes.get("http.response.status_code")) for span in spans] == [
        ("POST /v1/streams", 201),
        ("POST /v1/streams/{name}/instances", 200),
        ("GET /v1/streams/{name}/report", 200),
        ("GET", 404),
    ]
    assert spans[1].parent.span_id == 0xB7AD6B7169203331
    assert spans[1].attributes["askwhen.request_id"] == "one"
    assert spans[0].parent is None
    told = "".join(span.to_json() for span in spans)
    assert "words" not in told
    assert "hidden" not in told


def test_spans_without_the_extra_are_refused_in_a_sentence(tmp_path):
    hide = "import sys; sys.modules['opentelemetry'] = None; from askwhen.cli.main import start; start()"
    command = [sys.executable, "-c", hide, "serve", "--db", str(tmp_path / "log.db"), "--otel"]
    done = subprocess.run(command, capture_output=True, text=True)
    assert (done.returncode, "needs opentelemetry: pip install 'askwhen[otel]'." in done.stderr) == (1, True)
    assert not (tmp_path / "log.db").exists()
