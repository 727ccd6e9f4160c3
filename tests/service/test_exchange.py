"""The request core of both clients: retries, pauses, and the same requests from either."""

import contextlib
import inspect
import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

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


class Unreliable(BaseHTTPRequestHandler):
    """Records requests. Drops every other connection without a reply, and ends exports in their midst."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.requests.append((self.path, body))
        if len(self.server.requests) % 2:
            self.close_connection = True
            return
        decision = {"round": 4, "prediction": "a", "margin": 0.5, "probability": 1.0, "asked": True, "why": ""}
        self._reply(json.dumps(decision).encode())

    def do_GET(self):
        self._reply(b'{"round": 0}\n', missing=100)
        self.close_connection = True

    def _reply(self, body, missing=0):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body) + missing))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        """Nothing is printed."""


@pytest.fixture
def unreliable():
    """Makes a server of that kind; its address, and the requests it has seen."""
    with contextlib.ExitStack() as stack:

        def make():
            server = stack.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), Unreliable))
            server.requests, server.daemon_threads = [], True
            threading.Thread(target=server.serve_forever, daemon=True).start()
            stack.callback(server.shutdown)
            return f"http://127.0.0.1:{server.server_port}", server.requests

        yield make


def test_a_request_that_is_sent_again_has_the_same_key(unreliable, monkeypatch):
    monkeypatch.setattr("askwhen.client.exchange._FIRST_PAUSE", 0.0)
    (address, by_sync), (other, by_async) = unreliable(), unreliable()
    with aw.Client(address, retries=1) as client:
        stream = Stream(client, "s")
        decision = stream.ask([1.0], id="i")
        stream.tell(decision, "a")

    async def play():
        async with aw.AsyncClient(other, retries=1) as client:
            stream = AsyncStream(client, "s")
            assert await stream.ask([1.0], id="i") == decision
            await stream.tell(decision, "a")

    run(play())
    for requests in (by_sync, by_async):
        assert len(requests) == 4
        assert requests[0] == requests[1]
        assert requests[2] == requests[3], "the key is made once"
    assert [path for path, _ in by_sync] == [path for path, _ in by_async]
    assert len({json.loads(requests[2][1])["key"] for requests in (by_sync, by_async)}) == 2


def test_a_connection_that_breaks_during_an_export_is_unreachable(unreliable):
    address, _ = unreliable()
    with aw.Client(address) as client, pytest.raises(UnreachableError, match="cannot be reached"):
        list(Stream(client, "s").export())

    async def export():
        async with aw.AsyncClient(address) as client:
            return [row async for row in AsyncStream(client, "s").export()]

    with pytest.raises(UnreachableError, match="cannot be reached"):
        run(export())


def test_a_renewal_needs_no_key():
    body = json.loads(StreamCalls("s").act(3, "renew", None, {}).request.options["content"])
    assert body == {"annotator": None}
