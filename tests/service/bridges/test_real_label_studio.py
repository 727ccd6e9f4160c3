"""A real Label Studio server, where ASKWHEN_LABEL_STUDIO names a virtual environment that has one.

It needs a gigabyte, and half a minute to start, so that it is nobody's dependency: ``python -m venv studio``,
``studio/bin/pip install label-studio==1.23.0``, ``ASKWHEN_LABEL_STUDIO=studio pytest tests/service/bridges``.
"""

import json
import os
import pathlib
import subprocess
import time

import httpx
import pytest

import askwhen as aw
from tests.cli.running import from_scratch
from tests.service.bridges import studio
from tests.service.bridges.studio import TEXT, until
from tests.service.serving import Server, free_port

VENV = os.environ["ASKWHEN_LABEL_STUDIO"]
pytestmark = pytest.mark.xdist_group("label studio")
USER_TOKEN = "0123456789abcdef0123456789abcdef01234567"


class Studio:
    """A server with one person, and what they do in it."""

    def __init__(self, folder):
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        given = {
            "LABEL_STUDIO_BASE_DATA_DIR": str(folder),
            "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
            "SSRF_PROTECTION_ENABLED": "false",
            "USE_DEFAULT_BANNED_SUBNETS": "false",
            "COLLECT_ANALYTICS": "false",
        }
        who = ["--username", "a@example.com", "--password", "a long password", "--user-token", USER_TOKEN]
        command = [pathlib.Path(VENV) / "bin" / "label-studio", "start", "--no-browser", "--port", str(self.port), *who]
        clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DEBUG")}
        self.log = folder / "log"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(command, env=clean | given, cwd=folder, stdout=log, stderr=log)
        self.http = httpx.Client(
            base_url=self.url, headers={"Authorization": f"Token {USER_TOKEN}"}, timeout=60.0, follow_redirects=True
        )

    def wait(self):
        end = time.monotonic() + 900.0
        while time.monotonic() < end:
            assert self.process.poll() is None, self.log.read_text()[-3000:]
            try:
                if self.http.get("/api/version").is_success:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.5)
        raise AssertionError(self.log.read_text()[-3000:])

    def send(self, method, path, **given):
        reply = self.http.request(method, path, **given)
        assert reply.is_success, reply.text[:2000]
        return reply.json() if reply.content else None

    def tasks(self, project, **more):
        wanted = {"project": project, "fields": "all", "page_size": 100} | more
        return {task["data"]["text"]: task for task in self.send("GET", "/api/tasks", params=wanted)["tasks"]}

    def annotate(self, task, label):
        return self.send(
            "POST", f"/api/tasks/{task}/annotations/", json={"result": studio.chosen(label), "lead_time": 2}
        )

    def close(self):
        self.http.close()
        self.process.terminate()
        self.process.wait(30.0)


@pytest.fixture(scope="module")
def real(tmp_path_factory):
    server = Studio(tmp_path_factory.mktemp("label-studio"))
    try:
        server.wait()
        yield server
    finally:
        server.close()


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    with Server(tmp_path_factory.mktemp("service") / "log.db") as server:
        with aw.Client(server.url) as client:
            client.create("mails", **TEXT)
            client.create("copy", **TEXT)
            server.admin = client.send("POST", "/v1/tokens", json={"name": "root", "roles": ["admin"]})["secret"]
        with aw.Client(server.url, server.admin) as client:
            made = {"name": "studio", "roles": ["producer", "annotator"], "streams": ["mails"]}
            server.secret = client.send("POST", "/v1/tokens", json=made)["secret"]
        yield server


def test_a_real_label_studio_is_predicted_for_labelled_and_synced(real, service, tmp_path):
    client = aw.Client(service.url, service.admin)
    stream = client.stream("mails")
    project = real.send("POST", "/api/projects/", json={"title": "mails", "label_config": studio.CONFIG})["id"]

    # Connected without a password it is refused, with one it is not; its webhook has the address of the backend.
    address = f"{service.url}/label-studio/mails"
    given = {"project": project, "url": address, "title": "mails"}
    assert real.http.post("/api/ml", json=given).status_code == 400
    given["url"] = address.replace("http://", f"http://askwhen:{service.secret}@")
    backend = real.send("POST", "/api/ml", json=given)
    assert (backend["readable_state"], backend["model_version"]) == ("Connected", "mails")
    (hook,) = real.send("GET", "/api/webhooks/", params={"project": project})
    assert hook["url"] == given["url"] + "/webhook"

    # Tasks get predictions and scores, which the data manager sorts and filters by.
    texts = [f"{'free money' if i % 2 else 'see you'} {i}" for i in range(30)]
    real.send("POST", f"/api/projects/{project}/import", json=[{"data": {"text": text}} for text in texts])
    everything = {"selectedItems": {"all": True, "excluded": []}, "project": project}
    retrieve = {"id": "retrieve_tasks_predictions", "project": project}
    real.send("POST", "/api/dm/actions", params=retrieve, json=everything)
    tasks = real.tasks(project)
    assert stream.facts()["rounds"] == 30
    for task in tasks.values():
        (prediction,) = task["predictions"]
        assert prediction["result"][0]["value"]["choices"] in (["ham"], ["spam"])
        assert task["predictions_score"] == prediction["score"]
    asked = {row["id"] for row in stream.export("decisions") if row["asked"]}
    worth = {name for name, task in tasks.items() if "worth asking" in task["predictions_results"]}
    assert worth == {name for name, task in tasks.items() if f"label-studio:{project}:{task['id']}" in asked}
    query = {
        "filters": {
            "conjunction": "and",
            "items": [
                {
                    "filter": "filter:tasks:predictions_results",
                    "operator": "contains",
                    "type": "String",
                    "value": "worth asking",
                }
            ],
        },
        "ordering": ["tasks:predictions_score"],
    }
    assert set(real.tasks(project, query=json.dumps(query))) == worth

    # Annotations are told as they come: answers, corrections, deletions.
    made = {text: real.annotate(tasks[text]["id"], "spam" if "free" in text else "ham") for text in texts[:20]}
    until(lambda: sum(row["question"] is not None for row in stream.export()) >= len(worth & set(texts[:20])))
    until(lambda: len(list(stream.export())) == 20)
    told = {row["id"]: row["answer"] for row in stream.export()}
    assert told == {
        f"label-studio:{project}:{tasks[text]['id']}": "spam" if "free" in text else "ham" for text in texts[:20]
    }
    first = made[texts[0]]["id"]
    real.send("PATCH", f"/api/annotations/{first}/", json={"result": studio.chosen("spam")})
    key = f"label-studio:{project}:{tasks[texts[0]]['id']}"
    until(lambda: any(row["id"] == key and row["label"] == "spam" for row in stream.export()))
    second = made[texts[1]]["id"]
    real.send("DELETE", f"/api/annotations/{second}/")
    key = f"label-studio:{project}:{tasks[texts[1]]['id']}"
    until(lambda: all(row["undone"] or row["label"] is None for row in stream.export() if row["id"] == key))
    real.send("POST", f"/api/ml/{backend['id']}/train", json={})
    assert real.send("GET", f"/api/ml/{backend['id']}/versions")["versions"] == ["mails"]

    # Predictions that are deleted and retrieved again are those of the model by now.
    delete = {"id": "delete_tasks_predictions", "project": project}
    real.send("POST", "/api/dm/actions", params=delete, json=everything)
    real.send("POST", "/api/dm/actions", params=retrieve, json=everything)
    later = real.tasks(project)
    right = [
        later[text]["predictions"][0]["result"][0]["value"]["choices"] == ["spam" if "free" in text else "ham"]
        for text in texts[2:]
    ]
    assert sum(right) >= 26
    assert stream.facts()["rounds"] == 30

    # While the service is away webhooks are lost; a sync brings them, once.
    service.stop()
    for text in texts[20:25]:
        real.annotate(tasks[text]["id"], "ham")
    real.send("PATCH", f"/api/annotations/{made[texts[2]]['id']}/", json={"result": studio.chosen("spam")})
    real.send("DELETE", f"/api/annotations/{made[texts[3]]['id']}/")
    time.sleep(2.0)  # the clock of the export has whole seconds
    service.start()
    personal = real.send("POST", "/api/token/")["token"]
    command = ("label-studio", "sync", "--server", service.url, "--stream", "mails", "--studio", real.url)
    for key, found in ((USER_TOKEN, (6, 1)), (personal, (0, 0))):
        done = from_scratch(
            *command, "--project", project, "--json", LABEL_STUDIO_API_KEY=key, ASKWHEN_TOKEN=service.secret
        )
        assert done.returncode == 0, done.stderr
        said = json.loads(done.stdout)
        assert (said["tasks"], said["new"], said["gone"], said["refused"]) == (30, *found, 0)
    until(lambda: sum(not row["undone"] for row in stream.export()) == 20 + 5 - 2)
    client.close()

    # What is exported is imported, with its predictions and annotations.
    export = ("label-studio", "export", tmp_path / "tasks.json", "--server", service.url, "--stream", "mails")
    (tmp_path / "config.xml").write_text(studio.CONFIG)
    done = from_scratch(*export, "--config", tmp_path / "config.xml", ASKWHEN_TOKEN=service.admin)
    assert done.returncode == 0, done.stderr
    other = real.send("POST", "/api/projects/", json={"title": "again", "label_config": studio.CONFIG})["id"]
    tasks = json.loads((tmp_path / "tasks.json").read_text())
    said = real.send("POST", f"/api/projects/{other}/import", json=tasks)
    assert (said["task_count"], said["annotation_count"], said["prediction_count"]) == (30, 23, 30)

    # And what Label Studio exports goes into another stream.
    back = real.http.get(f"/api/projects/{other}/export", params={"exportType": "JSON"})
    (tmp_path / "back.json").write_bytes(back.content)
    where = ("--server", service.url, "--stream", "copy", "--config", tmp_path / "config.xml", "--json")
    done = from_scratch("label-studio", "import", tmp_path / "back.json", *where, ASKWHEN_TOKEN=service.admin)
    said = json.loads(done.stdout)
    assert (said["annotations"], said["new"], said["refused"]) == (23, 23, 0)


def test_with_a_password_of_its_own_the_webhook_has_a_header(real, service):
    project = real.send("POST", "/api/projects/", json={"title": "by password", "label_config": studio.CONFIG})["id"]
    given = {"project": project, "url": f"{service.url}/label-studio/mails", "title": "mails"}
    given |= {"auth_method": "BASIC_AUTH", "basic_auth_user": "askwhen", "basic_auth_pass": service.secret}
    assert real.send("POST", "/api/ml", json=given)["readable_state"] == "Connected"
    (hook,) = real.send("GET", "/api/webhooks/", params={"project": project})
    headers = {"headers": {"Authorization": f"Bearer {service.secret}"}}
    real.send("PATCH", f"/api/webhooks/{hook['id']}/", json=headers)
    real.send("POST", f"/api/projects/{project}/import", json=[{"data": {"text": "one more"}}])
    task = real.tasks(project)["one more"]["id"]
    real.annotate(task, "ham")
    with aw.Client(service.url, service.admin) as client:
        stream = client.stream("mails")
        until(lambda: any(row["id"] == f"label-studio:{project}:{task}" for row in stream.export()))


def test_a_project_that_does_not_fit_is_not_connected(real, service):
    config = '<View><Text name="t" value="$t"/><Rating name="r" toName="t"/></View>'
    project = real.send("POST", "/api/projects/", json={"title": "rating", "label_config": config})["id"]
    address = f"{service.url}/label-studio/mails".replace("http://", f"http://askwhen:{service.secret}@")
    refused = real.http.post("/api/ml", json={"project": project, "url": address, "title": "mails"})
    assert refused.status_code == 400
    assert "422" in refused.text  # it says no more than that; the log does
    assert "no Rating, which askwhen does not predict" in service.log()
