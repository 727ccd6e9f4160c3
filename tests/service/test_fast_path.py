"""Instances and answers, which do not pass through the framework, are answered as it would answer them."""

import asyncio
import json

from askwhen.service.http.options import Options
from tests.service.coordinators import run
from tests.service.in_process import running


async def opened(http):
    """A stream that asks about everything, and its first question."""
    settings = {"seed": 1, "algorithm": "perceptron", "grace": 0.0}
    (await http.post("/v1/streams", json={"name": "one", "settings": settings})).raise_for_status()
    return (await http.post("/v1/streams/one/instances", json={"x": [1.0, 2.0]})).json()["question"]


async def posted(app, path, parts):
    """Status and body of the reply to a body in parts, of which each has a delay; the last one ends it."""
    waiting, sent = list(parts), []

    async def receive():
        if not waiting:
            await asyncio.Event().wait()
        delay, part = waiting[0]
        if delay:
            await asyncio.sleep(delay)
        waiting.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(waiting)}

    async def send(message):
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": path, "query_string": b"", "headers": [], "scheme": "http"}
    await app(scope | {"client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}, receive, send)
    return sent[0]["status"], json.loads(sent[1]["body"])


def test_replies_are_those_of_the_framework(tmp_path):
    """A query, even one that changes nothing, makes a request go through the framework."""

    async def go():
        async with running(tmp_path / "log.db") as (_, http):
            await opened(http)
            path, lines = "/v1/streams/one/instances", "application/x-ndjson"
            for body, media in [
                (b'{"x": [1.0, 2.0], "id": "a"}', "application/json"),
                (b'{"x": [1.0, 2.0]}\n{"x": 1}\n', f"{lines}; charset=utf-8"),
                (b'{"x": 1}', "application/json"),
                (b'{"y": 1}', "text/plain"),
                (b"{", "application/json"),
            ]:
                headers = {"content-type": media, "x-request-id": "mine"}
                quick = await http.post(path, content=body, headers=headers)
                slow = await http.post(f"{path}?backlog=false", content=body, headers=headers)
                assert quick.status_code == slow.status_code
                assert quick.headers["content-type"] == slow.headers["content-type"]
                assert {*quick.headers.items()} ^ {*slow.headers.items()} <= {
                    (name, found.headers.get(name)) for name in ("content-length",) for found in (quick, slow)
                }
                assert (quick.status_code >= 400) == ("detail" in quick.text and lines not in media)
                if quick.status_code >= 400:
                    assert quick.content == slow.content

    run(go())


def test_a_body_may_come_in_parts(tmp_path):
    async def go():
        async with running(tmp_path / "log.db") as (_, http):
            path = f"/v1/streams/one/questions/{await opened(http)}/answer"
            status, receipt = await posted(
                http._transport.app, path, [(0.0, b'{"la'), (0.01, b'bel": "y'), (0.0, b'es"}')]
            )
            assert (status, receipt["label"]) == (200, "yes")

    run(go())


def test_a_body_that_comes_too_slowly_or_is_too_large_is_refused(tmp_path):
    async def go():
        async with running(tmp_path / "log.db", Options(slowest=0.05, largest_body=200)) as (_, http):
            path, app = f"/v1/streams/one/questions/{await opened(http)}/answer", http._transport.app
            for first in (0.0, 60.0):
                status, problem = await posted(app, path, [(first, b'{"label": '), (60.0, b'"yes"}')])
                assert (status, problem["detail"]) == (408, "the body came too slowly.")
            status, problem = await posted(app, path, [(0.0, b'{"label": "yes",'), (0.0, b" " * 200), (0.0, b"}")])
            assert (status, problem["detail"]) == (413, "the body must be at most 200 bytes.")
            assert (await http.get("/v1/streams/one")).json()["told"] == 0

    run(go())
