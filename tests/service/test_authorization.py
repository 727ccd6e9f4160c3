"""Who is let in, and what they are shown, in one process."""

import asyncio
import contextlib
import csv
import io
import json

import pytest

from askwhen.service.errors import ConflictError
from askwhen.service.http.options import Options
from askwhen.service.http.proxy_auth import Proxy, _network
from askwhen.service.http.role_table import Grant, RoleTable
from askwhen.service.use_cases import streams, tokens
from tests.service.coordinators import run, settings
from tests.service.in_process import running

PROXY = Proxy(
    networks=(_network("127.0.0.1"),),
    groups=b"x-groups",
    roles=RoleTable(
        {"root": Grant(frozenset({"admin"})), "größe": Grant(frozenset({"annotator"}))},
        {"staff": Grant(frozenset({"reviewer"}))},
    ),
)


@pytest.mark.parametrize(
    ("user", "groups", "status"),
    [
        (b"root", b"", 200),
        (b" root\t", b"", 200),
        ("größe".encode(), b"", 200),
        ("größe".encode("latin-1"), b"", 200),
        (b"root\xa0", b"", 401),
        ("root\u00a0".encode(), b"", 401),
        ("\u2003root".encode(), b"", 401),
        ("root\u200b".encode(), b"", 401),
        (b"root\x85", b"", 401),
        (b"Root", b"", 403),
        (b"zoe", b"other, staff", 200),
        (b"zoe", b"staff\xa0", 403),
        (b"zoe", "staff\u00a0,x".encode(), 403),
    ],
)
def test_names_of_a_proxy_are_compared_exactly(tmp_path, user, groups, status):
    headers = {"X-Forwarded-User": user, "X-Groups": groups}

    async def go():
        async with running(tmp_path / "log.db", Options(proxy=PROXY)) as (_, http):
            assert (await http.get("/v1/streams", headers=headers)).status_code == status

    run(go())


def test_somebody_without_a_role_learns_how_to_get_one(tmp_path):
    async def go():
        async with running(tmp_path / "log.db", Options(proxy=PROXY)) as (_, http):
            said = (await http.get("/v1/streams", headers={"X-Forwarded-User": "zoe"})).json()["detail"]
            assert "an admin gives one with a line of [roles.users]" in said
            assert '"zoe" = {roles = ["annotator"]}' in said

    run(go())


@contextlib.asynccontextmanager
async def labelled(tmp_path):
    """A service with a question that ann has answered and the model was told; clients of ann and bob."""
    async with running(tmp_path / "log.db") as (coordinator, http):
        stream = await streams.create(
            coordinator, "mails", settings(algorithm="perceptron", budget=None, grace=0.0, raw=True)
        )
        admin = (await tokens.make(coordinator, "root", ["admin"], None, None))[0]
        secrets = {who: (await tokens.make(coordinator, who, ["annotator"], None, None))[0] for who in ("ann", "bob")}

        async def call(who, method, path, **said):
            secret = admin if who == "root" else secrets[who]
            return await http.request(
                method, f"/v1/streams/mails/{path}", headers={"Authorization": f"Bearer {secret}"}, **said
            )

        assert (await call("root", "POST", "instances", json={"x": [1.0]})).json()["asked"]
        assert (await call("ann", "POST", "questions/next")).status_code == 200
        assert (await call("ann", "POST", "questions/0/answer", json={"label": "spam"})).status_code == 200
        while not stream.questions.find(0).told:
            await asyncio.sleep(0.02)
        yield call


def test_a_hidden_guess_is_shown_only_after_the_answer(tmp_path):
    async def go():
        async with labelled(tmp_path) as call:
            assert (await call("ann", "GET", "questions/0/guess")).json()["guess"] is not None
            assert (await call("bob", "GET", "questions/0/guess")).status_code == 403
            assert "guess" not in (await call("bob", "GET", "questions/0")).json()
            assert (await call("ann", "POST", "questions/0/undo")).status_code == 200
            assert (await call("ann", "GET", "questions/0/guess")).status_code == 403
            assert (await call("ann", "POST", "questions/0/release")).status_code == 204
            again = (await call("ann", "POST", "questions/next")).json()
            assert (again["question"], again.get("guess")) == (0, None)
            assert "guess" in (await call("root", "GET", "questions/0")).json()

    run(go())


def test_the_dashboard_of_an_annotator_does_not_tell_the_guess(tmp_path):
    async def go():
        async with labelled(tmp_path) as call:
            await call("root", "POST", "instances", json={"x": [-1.0]})
            own = [each[1] for each in (await call("root", "GET", "overview")).json()["today"]["decisions"]]
            seen = [each[1] for each in (await call("bob", "GET", "overview")).json()["today"]["decisions"]]
            assert min(own) < 0.0
            assert seen == [abs(each) for each in own]

    run(go())


def test_metrics_of_a_limited_token_are_those_of_its_streams(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            for name in ("mails", "hidden"):
                await streams.create(coordinator, name, settings(algorithm="perceptron"))
            admin = (await tokens.make(coordinator, "root", ["admin"], None, None))[0]
            limited = (await tokens.make(coordinator, "feed", ["producer"], ["mails"], None))[0]
            for secret, others in ((admin, True), (limited, False)):
                reply = await http.get("/metrics", headers={"Authorization": f"Bearer {secret}"})
                assert 'askwhen_rounds_total{stream="mails"} 0.0' in reply.text
                for sign in ("hidden", "askwhen_http_requests_total", "process_", "webhook", "askwhen_streams "):
                    assert (sign in reply.text) == others, sign
                assert reply.headers.get_list("content-type")[0].count("charset") == 1
                assert len(reply.headers.get_list("content-type")) == 1

    run(go())


def test_no_cell_of_a_csv_export_is_a_formula(tmp_path):
    texts = ["=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(1)", "\t=1", "-1", "+1.5", "plain", "a=b"]
    safe = [f"'{each}" for each in texts[:5]] + texts[5:]

    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
            for each in texts:
                await http.post("/v1/streams/mails/instances", json={"x": [1.0], "id": each})
            for query, wanted in (("", safe), ("&raw=false", safe), ("&raw=true", texts)):
                reply = await http.get(f"/v1/streams/mails/export?table=decisions&format=csv{query}")
                rows = list(csv.DictReader(io.StringIO(reply.text, newline="")))
                assert [row["id"] for row in rows] == wanted
                assert all(float(row["margin"]) is not None for row in rows)
            reply = await http.get("/v1/streams/mails/export?table=decisions&format=ndjson")
            assert [json.loads(line)["id"] for line in reply.text.splitlines()] == texts

    run(go())


def test_the_same_name_twice_is_a_conflict(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (coordinator, http):
            await streams.create(coordinator, "mails", settings(algorithm="perceptron"))
            with pytest.raises(ConflictError, match="there is a stream mails already"):
                await coordinator.add(coordinator.new_stream("mails", settings(algorithm="perceptron", seed=1)))
            reply = await http.post("/v1/streams", json={"name": "mails"})
            assert (reply.status_code, reply.json()["detail"]) == (409, "there is a stream mails already.")

    run(go())
