"""How the service stops when it is asked to: soon, whatever is open, with nothing lost that it has acknowledged."""

import asyncio
import contextlib
import json
import signal
import socket
import threading
import time

import apsw
import httpx
import pytest

import askwhen as aw
from askwhen.service.errors import StoppingError
from askwhen.service.events.kinds import Changed
from askwhen.service.http.streaming import Download
from askwhen.service.runtime import coordinator as coordinators
from askwhen.service.store.sqlite import SqliteReader
from askwhen.service.use_cases import instances, replaying, streams
from askwhen.service.use_cases.instances import Raw
from askwhen.service.use_cases.webhook_delivery.delivery import delivering
from tests.service.coordinators import Time, open_coordinator, run, settings
from tests.service.serving import Server

pytestmark = pytest.mark.xdist_group("service observed")


class Upload(threading.Thread):
    """A body of NDJSON that never ends by itself, over a socket; ``said`` is what comes back."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.socket = socket.create_connection(("127.0.0.1", server.port), 300.0)
        self.said, self.begun = b"", threading.Event()
        head = "POST /v1/streams/one/instances HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n"
        self.socket.sendall(head.encode() + b"transfer-encoding: chunked\r\n\r\n")
        self._sender = threading.Thread(target=self._send, daemon=True)
        self._sender.start()
        self.start()

    def _send(self):
        try:
            for i in range(10_000_000):
                line = json.dumps({"id": f"u{i}", "x": [i % 7, 1.0]}).encode() + b"\n"
                self.socket.sendall(b"%x\r\n%s\r\n" % (len(line), line))
                if i % 50 == 49:
                    time.sleep(0.01)
        except OSError:
            pass  # the service has ended

    def run(self):
        while part := self._received():
            self.said += part
            if self.said.count(b'"round"') > 100:
                self.begun.set()

    def _received(self):
        try:
            return self.socket.recv(1 << 16)
        except OSError:
            return b""

    def replies(self):
        self.join(10.0)
        self._sender.join(10.0)
        self.socket.close()
        found = [line.strip() for line in self.said.split(b"\n")]
        return [json.loads(line) for line in found if line.startswith(b"{")]


def test_it_ends_in_time_with_everything_open_and_loses_nothing(tmp_path):
    with Server(tmp_path / "log.db") as server:
        with aw.Client(server.url) as client:
            client.create("one", algorithm="perceptron", seed=1).ask([1.0, 2.0])
        with (
            httpx.stream("GET", f"{server.url}/v1/streams/one/events", timeout=300.0) as events,
            httpx.stream("GET", f"{server.url}/v1/streams/one/overview/events", timeout=300.0) as overviews,
            socket.create_connection(("127.0.0.1", server.port)) as half,
            socket.create_connection(("127.0.0.1", server.port)),
        ):
            next(events.iter_lines())
            next(overviews.iter_lines())
            half.sendall(b"POST /v1/streams/one/instances HTTP/1.1\r\nhost: localhost\r\ncontent-length: 99\r\n\r\n{")
            upload = Upload(server)
            assert upload.begun.wait(60.0)
            seconds, status = server.stop()
        assert seconds < 60.0, "connections that stay open hold it up"
        assert status == -signal.SIGTERM, "which a shell tells as 143"
        *decisions, last = upload.replies()
        assert (last["end"], last["error"]["status"]) == (True, 503)
        assert len(decisions) > 100
        server.start()
        with httpx.Client(base_url=server.url) as http:
            rounds = http.get("/v1/streams/one").json()["rounds"]
            assert rounds >= 1 + len(decisions)
            for i in (0, len(decisions) // 2, len(decisions) - 1):
                again = http.post("/v1/streams/one/instances", json={"id": f"u{i}", "x": [i % 7, 1.0]}).json()
                assert again == decisions[i] | {"again": True}
            assert http.get("/v1/streams/one").json()["rounds"] == rounds, "all three were there before"


def test_a_body_that_ends_soon_is_answered_to_its_end(tmp_path):
    with Server(tmp_path / "log.db") as server:
        with aw.Client(server.url) as client:
            client.create("one", algorithm="perceptron", seed=1).ask([1.0])
        with socket.create_connection(("127.0.0.1", server.port), 300.0) as open_one:
            head = (
                "POST /v1/streams/one/instances HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/x-ndjson\r\n"
            )
            open_one.sendall(head.encode() + b'content-length: 20\r\n\r\n{"x":[1]}\n')
            server.process.send_signal(signal.SIGTERM)
            said = b""
            while b'"round"' not in said and b"error" not in said:
                said += open_one.recv(1 << 16)
            open_one.sendall(b'{"x":[1]}\n')
            while part := open_one.recv(1 << 16):
                said += part
        assert said.count(b'"round"') == 2
        assert b"error" not in said
        assert server.process.wait(20.0) == -signal.SIGTERM


def busy(reader):
    """Read for a while, in the database itself."""
    counted = "with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000000) select count(*) from n"
    return reader._connection.execute(counted).get


def test_whoever_reads_in_another_thread_ends_when_told_to_and_its_reader_is_closed_then(tmp_path):
    async def play():
        found = []

        async def read():
            async with coordinator.reading() as log:
                found.append(log.reader)
                await log.in_thread(busy, log.reader)

        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            task = asyncio.create_task(read())
            await asyncio.sleep(0.1)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            while True:
                with contextlib.suppress(apsw.ThreadingViolationError):  # the other thread still uses it
                    try:
                        found[0].last_time()
                    except apsw.ConnectionClosedError:
                        return
                await asyncio.sleep(0.05)

    run(asyncio.wait_for(play(), 60.0))


def test_webhooks_end_while_the_outbox_is_read(tmp_path, monkeypatch):
    began = threading.Event()

    def messages(reader, hook=None):
        began.set()
        busy(reader)
        return []

    async def play():
        async with open_coordinator(tmp_path / "log.db", Time(1e9)) as coordinator, delivering(coordinator, ()):
            began.clear()
            monkeypatch.setattr(SqliteReader, "messages", messages)
            await asyncio.to_thread(began.wait)

    started = time.monotonic()
    run(asyncio.wait_for(play(), 120.0))
    assert time.monotonic() - started < 120.0, "what was told to stop did not, and was told again"


def test_an_export_ends_when_its_client_has_left(tmp_path):
    """The parts are made one after the other, and none after the client has gone."""

    async def go():
        made, left = [], asyncio.Event()

        def parts(_reader):
            for i in range(10_000):
                made.append(i)
                yield b"row\n"

        async def receive():
            await left.wait()
            return {"type": "http.disconnect"}

        async def send(message):
            if message.get("body"):
                left.set()
                await asyncio.sleep(0)  # a server takes what is sent to a client that left, and says nothing

        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            await Download(coordinator, parts, "text/csv", "x.csv")({}, receive, send)
            assert len(made) < 100
            assert coordinator._exports == 0

    run(go())


def test_a_replay_does_not_keep_a_service_that_is_asked_to_stop(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "one", settings(algorithm="perceptron"))
            await instances.play_all(coordinator, stream, [Raw([1.0 + i, 1.0]) for i in range(50)])
            coordinator.stopping.set()
            with pytest.raises(StoppingError, match="the service is stopping"):
                await replaying.replay(coordinator, stream, "me")

    run(go())


def test_an_end_that_has_no_time_for_snapshots_loses_nothing(tmp_path, monkeypatch):
    monkeypatch.setattr(coordinators, "CLOSING", -1.0)

    async def go():
        time = Time()
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            stream = await streams.create(coordinator, "one", settings(algorithm="perceptron"))
            await instances.play_all(coordinator, stream, [Raw([1.0 + i, 1.0]) for i in range(20)])
            stream.note("paused", Changed("me"), time.now)  # waits for the next commit
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            assert (coordinator.stream("one").state.round, coordinator.stream("one").state.paused) == (20, True)
            assert coordinator._reader.snapshot(1).seq == 0

    run(go())
