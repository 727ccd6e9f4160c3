"""The audit log: who did what, in order, without secrets, for admins."""

import csv
import io
import json

from askwhen.service.use_cases import streams, tokens
from tests.service.coordinators import run, settings
from tests.service.in_process import running
from tests.service.test_sign_ins import signed_in


def test_everything_that_admins_and_reviewers_do_is_in_the_audit_log(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            secret, _ = await tokens.make(coordinator, "root", ["admin"], None, None)
            root = {"Authorization": f"Bearer {secret}"}

            async def call(method, path, headers=root, status=(200, 201, 204), **given):
                reply = await http.request(method, path, headers=headers, **given)
                assert reply.status_code in status, reply.text
                return reply

            given = plain()
            await call("POST", "/v1/streams", json={"name": "mails", "settings": given})
            await call("POST", "/v1/streams", json={"name": "gone", "settings": given})
            made = (
                await call("POST", "/v1/tokens", json={"name": "rae", "roles": ["reviewer"], "streams": ["mails"]})
            ).json()
            invited = (await call("POST", "/v1/invitations", json={"name": "ann", "roles": ["annotator"]})).json()
            await call("POST", "/session/invitation", headers={}, json={"secret": invited["secret"]})
            http.cookies.clear()
            browser = await signed_in(http, made["secret"])
            await call("POST", "/v1/streams/mails/instances", json={"x": [1.0], "id": "secret person"})
            await call("POST", "/v1/streams/mails/questions/0/answer", json={"label": "ham"})
            await call("POST", "/v1/streams/mails/questions/0/review", headers=browser, json={"label": "spam"})
            await call("PATCH", "/v1/streams/mails", json={"settings": {"lease": 60.0}})
            await call("PATCH", "/v1/streams/mails", json={"name": "post"})
            await call("GET", "/v1/streams/post/export?table=labels&format=csv", headers=browser)
            await call("GET", "/v1/streams/post/model")
            await call("GET", "/label-studio/post/tasks")
            await call("POST", "/v1/streams/post/erase", json={"rounds": [0]})
            await call("POST", "/v1/streams/gone/archive")
            await call("DELETE", "/v1/streams/gone")
            await call("DELETE", f"/v1/tokens/{made['token']}")
            hook = {"url": "https://hooks.example.org/T0/secret-path", "kinds": ["budget.spent"], "template": "slack"}
            await call("POST", "/v1/webhooks", json=hook)
            reply = await call("GET", "/v1/audit")
            rows = [json.loads(line) for line in reply.text.splitlines()]
            assert [(row["event"], row["by"], row["stream"]) for row in rows] == [
                ("token made", None, None),
                ("created", "root", "post"),
                ("created", "root", "gone"),
                ("token made", "root", None),
                ("invited", "root", None),
                ("token made", "ann", None),
                ("signed in", "ann", None),
                ("signed in", "rae", None),
                ("reviewed", "rae", "post"),
                ("settings changed", "root", "post"),
                ("renamed", "root", "post"),
                ("exported", "rae", "post"),
                ("exported", "root", "post"),
                ("exported", "root", "post"),
                ("erased", "root", "post"),
                ("deleted", "root", "gone"),
                ("token revoked", "root", None),
                ("webhook made", "root", None),
                ("exported", "root", None),
            ]
            by_event = {row["event"]: row for row in rows}
            assert by_event["reviewed"]["details"] == {"label": "spam"}
            assert by_event["reviewed"]["question"] == 0
            assert by_event["settings changed"]["details"] == {"changes": {"lease": 60.0}}
            assert rows[11]["details"] == {"what": "labels", "format": "csv"}
            assert rows[3]["details"]["streams"] == ["post"]
            times = [row["time"] for row in rows]
            assert times == sorted(times)
            for each in (secret, made["secret"], invited["secret"], "secret person", "secret-path", "whsec"):
                assert each not in reply.text
            late = await call("GET", "/v1/audit?since=99999999999&format=json")
            assert late.json() == []
            table = list(csv.DictReader(io.StringIO((await call("GET", "/v1/audit?format=csv")).text)))
            assert [row["event"] for row in table[: len(rows)]] == [row["event"] for row in rows]
            assert json.loads(table[11]["details"]) == rows[11]["details"]

    run(go())


def plain():
    return {"labels": ["ham", "spam"], "algorithm": "perceptron", "seed": 1, "grace": 0.0}


def test_the_audit_log_is_for_admins_of_all_streams(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
            await tokens.make(coordinator, "root", ["admin"], None, None)
            for roles, names in ((["reviewer", "annotator", "producer"], None), (["admin"], ["mails"])):
                secret, _ = await tokens.make(coordinator, "x", roles, names, None)
                reply = await http.get("/v1/audit", headers={"Authorization": f"Bearer {secret}"})
                assert reply.status_code == 403
            assert (await http.get("/v1/audit")).status_code == 401

    run(go())
