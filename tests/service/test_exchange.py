"""The request core of both clients: retries, pauses, and the same requests from either."""

import inspect
import json

import httpx
import pytest

import askwhen as aw
from askwhen.client.exchange import Attempts, HttpRequest, RetryPolicy
from askwhen.client.stream_calls import StreamCalls
from askwhen.service.client import AsyncStream, Stream
from askwhen.service.errors import UnreachableError
from tests.service.coordinators import run

AWAY, BUSY, FINE = httpx.ConnectError("refused."), httpx.Response(503), httpx.Response(200)


def test_pauses_double_up_to_ten_seconds_and_never_overflow():
    attempts = Attempts(RetryPolicy(None, jitter=False))
    pauses = [attempts.pause_after(AWAY if i % 2 else BUSY) for i in range(2000)]
    assert pauses[:9] == [0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 10.0, 10.0]
    assert set(pauses[8:]) == {10.0}
    assert attempts.pause_after(FINE) is None
    assert attempts.response is FINE


def test_jitter_is_half_a_pause_either_way():
    pauses = [Attempts(RetryPolicy(1)).pause_after(BUSY) for _ in range(200)]
    assert 0.05 <= min(pauses) < 0.1 < max(pauses) <= 0.15


def test_the_last_attempt_gives_its_response_or_an_error():
    failures = []
    attempts = Attempts(RetryPolicy(1, on_failure=failures.append))
    assert attempts.pause_after(AWAY) is not None
    assert attempts.pause_after(BUSY) is None
    assert (attempts.response, failures) == (BUSY, [1])
    with pytest.raises(UnreachableError, match="the service cannot be reached: refused.$") as caught:
        Attempts(RetryPolicy(0)).pause_after(AWAY)
    assert caught.value.__cause__ is AWAY


def test_a_refusal_is_final():
    attempts = Attempts(RetryPolicy(8))
    assert attempts.pause_after(httpx.Response(409)) is None


def test_json_is_encoded_strictly():
    request = HttpRequest.of("POST", "/v1/streams", json={"name": "a"})
    assert request.options == {"content": b'{"name":"a"}', "headers": {"Content-Type": "application/json"}}
    with pytest.raises(aw.InputError, match="cannot be sent as JSON"):
        HttpRequest.of("POST", "/", json=float("nan"))


def test_both_streams_have_the_same_methods():
    def methods(kind):
        return {
            name: [(each.name, each.kind, each.default) for each in inspect.signature(found).parameters.values()]
            for name, found in vars(kind).items()
            if not name.startswith("_") and callable(found)
        }

    only_sync = {"play"}
    assert methods(AsyncStream) == {name: each for name, each in methods(Stream).items() if name not in only_sync}


class Wire:
    """Records requests, fails the first of each kind, and answers the others."""

    def __init__(self):
        self.requests = []

    def answer(self, request):
        self.requests.append((request.method, request.url.path, request.content))
        if len(self.requests) % 2:
            raise httpx.ReadTimeout("slow")
        decision = {"round": 4, "prediction": "a", "margin": 0.5, "probability": 1.0, "asked": True, "why": ""}
        return httpx.Response(200, json=decision)


def test_a_request_that_is_sent_again_has_the_same_key(monkeypatch):
    monkeypatch.setattr("askwhen.client.exchange._FIRST_PAUSE", 0.0)
    sync, loop = Wire(), Wire()
    client = aw.Client("http://service", retries=1)
    client._transport._http = httpx.Client(base_url="http://service", transport=httpx.MockTransport(sync.answer))
    stream = Stream(client, "s")
    decision = stream.ask([1.0], id="i")
    stream.tell(decision, "a")

    async def play():
        client = aw.AsyncClient("http://service", retries=1)
        transport = httpx.MockTransport(loop.answer)
        client._transport._http = httpx.AsyncClient(base_url="http://service", transport=transport)
        stream = AsyncStream(client, "s")
        assert await stream.ask([1.0], id="i") == decision
        await stream.tell(decision, "a")
        await client.close()

    run(play())
    client.close()
    for wire in (sync, loop):
        assert wire.requests[0] == wire.requests[1]
        assert wire.requests[2] == wire.requests[3], "the key is made once"
    assert [each[:2] for each in sync.requests] == [each[:2] for each in loop.requests]
    keys = {json.loads(wire.requests[2][2])["key"] for wire in (sync, loop)}
    assert len(keys) == 2


def test_a_connection_that_breaks_during_an_export_is_unreachable():
    def broken(request):
        raise httpx.ReadError("cut")

    sync, loop = aw.Client("http://service"), aw.AsyncClient("http://service")
    for each, kind in ((sync, httpx.Client), (loop, httpx.AsyncClient)):
        each._transport._http = kind(base_url="http://service", transport=httpx.MockTransport(broken))
    with pytest.raises(UnreachableError, match="cut"):
        list(Stream(sync, "s").export())

    async def export():
        return [row async for row in AsyncStream(loop, "s").export()]

    with pytest.raises(UnreachableError, match="cut"):
        run(export())


def test_a_renewal_needs_no_key():
    body = json.loads(StreamCalls("s").act(3, "renew", None, {}).request.options["content"])
    assert body == {"annotator": None}
