"""``askwhen label-studio``: files of tasks in and out, and what cannot be done in a sentence."""

import http.server
import json
import threading

import pytest

from tests.cli.running import askwhen as command
from tests.service.bridges import studio
from tests.service.bridges.studio import TEXT, until

pytestmark = pytest.mark.xdist_group("label studio")  # they share a server


def test_a_file_of_tasks_goes_in_and_comes_out_by_the_command(server, client, tmp_path):
    stream = client.create("file", **TEXT)
    tasks = studio.exported({1: [studio.annotation(11, 1, "spam")], 2: [studio.annotation(12, 2, "ham")], 3: []})
    (tmp_path / "in.json").write_text(json.dumps(tasks))
    (tmp_path / "config.xml").write_text(studio.CONFIG)
    where = ("--server", server.url, "--stream", "file", "--json")
    config = ("--config", tmp_path / "config.xml")
    said = json.loads(command("label-studio", "import", tmp_path / "in.json", *where, *config).stdout)
    assert said == {"tasks": 3, "instances": 3, "annotations": 2, "new": 2, "gone": 0, "refused": 0}
    until(lambda: stream.facts()["told"] == 2)
    again = json.loads(command("label-studio", "import", tmp_path / "in.json", *where).stdout)
    assert (again["instances"], again["new"]) == (0, 0)
    command("label-studio", "export", tmp_path / "out.json", *where, *config)
    out = json.loads((tmp_path / "out.json").read_text())
    assert [task["data"] for task in out] == [task["data"] for task in tasks]
    assert [len(task["annotations"]) for task in out] == [1, 1, 0]
    assert out[0]["annotations"] == [{"result": studio.chosen("spam"), "ground_truth": False, "lead_time": 2.5}]
    assert out[0]["predictions"] == [{"result": studio.chosen("ham"), "score": 0.5, "model_version": "file"}]
    # What came out goes into another stream, and comes out of it as it was.
    client.create("copy", **TEXT)
    where = ("--server", server.url, "--stream", "copy", "--json")
    said = json.loads(command("label-studio", "import", tmp_path / "out.json", *where, *config).stdout)
    assert (said["instances"], said["new"]) == (3, 2)
    until(lambda: client.stream("copy").facts()["told"] == 2)
    command("label-studio", "export", tmp_path / "again.json", *where, *config)
    known = [(task["data"], [each["result"] for each in task["annotations"]]) for task in out]
    again = json.loads((tmp_path / "again.json").read_text())
    assert [(task["data"], [each["result"] for each in task["annotations"]]) for task in again] == known


MULTIPLE = studio.CONFIG.replace("<Choices ", '<Choices choice="multiple" ')
NUMBER = '<View><Text name="text" value="$text"/><Number name="kind" toName="text"/></View>'


def chosen(labels):
    return [{"from_name": "kind", "to_name": "text", "type": "choices", "value": {"choices": labels}}]


def number(value):
    return [{"from_name": "kind", "to_name": "text", "type": "number", "value": {"number": value}}]


@pytest.mark.parametrize(
    ("settings", "config", "results", "labels"),
    [
        (
            {"labels": ["ham", "spam"], "several": True},
            MULTIPLE,
            [chosen(["spam", "ham"]), chosen(["ham"]), []],
            ['["ham","spam"]', '["ham"]', "[]"],
        ),
        ({"labels": "numbers", "within": 1.0}, NUMBER, [number(12.5), number(3), number(0)], [12.5, 3.0, 0.0]),
    ],
)
def test_several_labels_and_numbers_go_in_and_come_out(server, client, tmp_path, settings, config, results, labels):
    name = f"kinds-{len(config)}"
    stream = client.create(name, **(TEXT | settings))
    (tmp_path / "config.xml").write_text(config)
    found = [studio.annotation(i, i, None, result=result) for i, result in enumerate(results)]
    skipped = studio.annotation(9, 9, None, result=results[0], was_cancelled=True)
    tasks = studio.exported({i: [each] for i, each in enumerate(found)} | {9: [skipped], 10: []})
    (tmp_path / "in.json").write_text(json.dumps(tasks))
    where = ("--server", server.url, "--stream", name, "--json", "--config", tmp_path / "config.xml")
    totals = json.loads(command("label-studio", "import", tmp_path / "in.json", *where).stdout)
    assert totals == {"tasks": 5, "instances": 5, "annotations": 4, "new": 4, "gone": 0, "refused": 0}
    until(lambda: stream.facts()["told"] == 3)
    assert [row["answer"] for row in stream.export()] == labels
    with studio.backend(server, name) as http:
        assert http.post("setup", json=studio.setup(config)).json() == {"model_version": name}
        refused = http.post("setup", json=studio.setup()).json()
        assert "since people answer the stream" in refused["detail"]
        until(lambda: http.post("predict", json=studio.predict([studio.task(10)], config)).json()["results"][0])
        predicted = http.post("predict", json=studio.predict([studio.task(0), studio.task(77)], config)).json()
    kind = "number" if config == NUMBER else "choices"
    for (each,) in predicted["results"]:
        (result,) = each["result"]
        assert (result["type"], [*result["value"]]) == (kind, [kind])
        assert isinstance(result["value"][kind], float if kind == "number" else list)
    command("label-studio", "export", tmp_path / "out.json", *where)
    out = json.loads((tmp_path / "out.json").read_text())
    expected = (
        [number(12.5), number(3.0), number(0.0)]
        if kind == "number"
        else [chosen(["ham", "spam"]), chosen(["ham"]), chosen([])]
    )
    assert [[given["result"] for given in task["annotations"]] for task in out[:3]] == [[each] for each in expected]
    for task in out[1:]:
        assert task["predictions"][0]["result"][0]["type"] == kind
    exported = client.send("GET", f"/v1/streams/{name}/export?table=instances&format=label-studio")
    assert exported == json.loads(json.dumps(out).replace('"from_name": "kind"', '"from_name": "label"'))


def test_what_the_commands_cannot_do_they_say_in_a_sentence(server, client, tmp_path):
    client.create("said", **TEXT)
    where = ("--server", server.url, "--stream", "said")
    (tmp_path / "bad.json").write_text("{")
    (tmp_path / "bad.xml").write_text("<View/>")
    (tmp_path / "fine.json").write_text("[]")
    for args, said in (
        (("import", tmp_path / "none.json", *where), "none.json cannot be read as JSON"),
        (("import", tmp_path / "bad.json", *where), "bad.json cannot be read as JSON"),
        (("import", tmp_path / "fine.json", *where, "--config", tmp_path / "none.xml"), "none.xml cannot be read"),
        (("export", tmp_path / "no" / "out.json", *where), "out.json cannot be written"),
        (("export", tmp_path / "out.json", *where, "--config", tmp_path / "bad.xml"), "exactly one Choices or Number"),
        (("export", tmp_path / "out.json", "--server", server.url, "--stream", "none"), "there is no stream 'none'"),
        (("sync", *where, "--studio", "http://127.0.0.1:1", "--project", 1), "LABEL_STUDIO_API_KEY"),
    ):
        found = command("label-studio", *args)
        assert (found.returncode, said in found.stderr) == (1, True), found.stderr
    assert not (tmp_path / "out.json").exists()


class Page(http.server.BaseHTTPRequestHandler):
    """Says that a person should sign in, whatever it is asked."""

    def do_GET(self):
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"<html>Sign in</html>")

    def do_POST(self):
        self.do_GET()

    def log_message(self, *_):
        pass


def test_a_sync_that_meets_no_label_studio_says_so(server, client, monkeypatch):
    client.create("ours", **TEXT)
    monkeypatch.setenv("LABEL_STUDIO_API_KEY", "a.b.c")
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Page) as page:
        threading.Thread(target=page.serve_forever, daemon=True).start()
        for studio_url, said in (
            ("http://127.0.0.1:1", "Label Studio cannot be reached"),
            ("no address", "Label Studio cannot be reached"),
            (server.url, "Label Studio answered 404 to /api/token/refresh: there is nothing at this address."),
            (f"http://127.0.0.1:{page.server_port}", "what answers at /api/token/refresh is not Label Studio."),
        ):
            where = ("--server", server.url, "--stream", "ours", "--studio", studio_url, "--project", 1)
            found = command("label-studio", "sync", *where)
            assert (found.returncode, said in found.stderr) == (1, True), found.stderr
        page.shutdown()
