"""Errors of the disk, a full disk, and a commit whose reply never comes: the process stops, and nothing is lost."""

import asyncio
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import threading

import apsw
import httpx
import pytest

import askwhen as aw
from askwhen.service.errors import SlowError
from askwhen.service.http.middleware.body_timeout import BodyTimeout
from askwhen.service.process.server import BROKEN
from askwhen.service.store import open_store
from tests.service import history
from tests.service.coordinators import run
from tests.service.nursery import Child, Nursery
from tests.service.serving import Server, free_port
from tests.small_disk import mounted
from tests.soak import times

pytestmark = pytest.mark.xdist_group("service faults")  # they share a server


def send(url, count, first=0):
    """Instances with ids, one after the other: those that were acknowledged, until the service is gone."""
    told = {}
    with httpx.Client(base_url=url, timeout=120.0) as http:
        for i in range(first, first + count):
            try:
                reply = http.post("/v1/streams/one/instances", json={"x": [float(i % 7), 1.0], "id": f"n{i}"})
            except httpx.TransportError:
                break
            if reply.status_code != 200:
                assert reply.status_code == 503, reply.text
                break
            told[f"n{i}"] = reply.json()["round"]
    return told


def in_the_log(address):
    with contextlib.closing(open_store(address)) as store, contextlib.closing(store.reader()) as reader:
        events = reader.events(1, 0, 1 << 40)
    history.check(events)
    return {event.key[2:]: json.loads(event.facts)["round"] for event in events if event.kind == "instance"}


def resend(server, told):
    """After a new start every acknowledged id gets its first answer again, and others are played."""
    with httpx.Client(base_url=server.url, timeout=120.0) as http:
        for id, round in told.items():
            reply = http.post("/v1/streams/one/instances", json={"x": [0.0, 1.0], "id": id}).json()
            assert (reply["round"], reply["again"]) == (round, True)


@pytest.mark.skipif(shutil.which("strace") is None, reason="there is no strace here")
@pytest.mark.parametrize("call", ["fdatasync", "pwrite64"])
def test_an_error_of_the_disk_at_call_n_stops_the_process(tmp_path, call):
    address = str(tmp_path / "log.db")
    with Server(address) as server:
        with aw.Client(server.url) as client:
            client.create("one", algorithm="perceptron", seed=1)
        server.stop()
    told = {}
    few = {"fdatasync": [3, 9], "pwrite64": [12, 60]}[call]
    for n in times(few, [*range(1, 16), 20, 30, 50, 80]):
        paths = ["-P", address, "-P", f"{address}-wal"]
        before = ["strace", "-f", "-qq", "-o", "/dev/null", *paths, "-e", f"inject={call}:error=EIO:when={n}"]
        server = Server(address)
        with contextlib.suppress(AssertionError):  # the error may come before it is up
            server.start(before=before)
        if server.process.poll() is None:
            told |= send(server.url, 60, first=len(told) + 1000 * n)
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(15.0)
        status = server.process.poll()
        if status is None:  # fewer calls than n
            traced = pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children").read_text()
            os.kill(int(traced.split()[0]), signal.SIGTERM)
            server.process.wait(30.0)
        else:
            assert status in (1, BROKEN), server.log()[-2000:]
        assert told.items() <= in_the_log(address).items()
    assert len(told) > 5
    with Server(address) as server:
        resend(server, dict(list(told.items())[-10:]))


def test_a_full_disk_stops_the_process_and_loses_nothing(tmp_path):
    with mounted(tmp_path / "small", "3M") as folder:
        address = str(pathlib.Path(folder) / "log.db")
        with Server(address, log=str(tmp_path / "log")) as server:
            with aw.Client(server.url) as client:
                client.create("one", algorithm="perceptron", seed=1)
            told = {}
            for _ in range(40):
                body = b"".join(
                    b'{"x": [1.0, 2.0], "id": "n%d", "show": "%s"}\n' % (len(told) + i, b"x" * 2000) for i in range(100)
                )
                headers = {"Content-Type": "application/x-ndjson"}
                try:
                    reply = httpx.post(f"{server.url}/v1/streams/one/instances", content=body, headers=headers)
                except httpx.TransportError:
                    break
                found = [json.loads(line) for line in reply.text.splitlines()]
                told |= {each["id"]: each["round"] for each in found if "id" in each}
                if any("end" in each for each in found):
                    break
            assert server.process.wait(20.0) == BROKEN
        assert len(told) > 100
        room = tmp_path / "room"
        room.mkdir()
        for file in pathlib.Path(folder).glob("log.db*"):
            shutil.copy(file, room / file.name)
    stored = in_the_log(str(room / "log.db"))
    assert told.items() <= stored.items()
    with Server(room / "log.db") as server:
        resend(server, dict(list(told.items())[-5:]))


class Proxy:
    """Between the service and PostgreSQL: lets one COMMIT through and swallows what comes back.

    It is that of the transaction in which the bytes of ``swallow`` were sent; None swallows nothing.
    """

    def __init__(self, port):
        self.target, self.port, self.swallow = port, free_port(), None
        self.swallowed = threading.Event()
        self.listener = socket.create_server(("127.0.0.1", self.port))
        self.sockets = [self.listener]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listener.accept()
                server = socket.create_connection(("127.0.0.1", self.target))
                self.sockets += [client, server]
                state = {"seen": False, "committing": False}
                for pair in ((client, server, True), (server, client, False)):
                    threading.Thread(target=self._pass, args=(*pair, state), daemon=True).start()

    def _pass(self, here, there, to_server, state):
        with contextlib.suppress(OSError):
            while data := here.recv(65536):
                if to_server and self.swallow is not None:
                    state["seen"] |= self.swallow in data
                    state["committing"] |= state["seen"] and b"COMMIT" in data.upper()
                elif not to_server and state["committing"]:
                    self.swallow = None
                    self.swallowed.set()
                    break
                there.sendall(data)
        for each in (here, there):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.close()


def test_a_commit_whose_reply_is_lost_is_resolved_by_its_key(tmp_path, cluster):
    """The row is in the database and the client was told nothing good: sent again, it gets the first answer."""
    direct = cluster.database()
    proxy = Proxy(cluster.port)
    address = direct.replace(f":{cluster.port}/", f":{proxy.port}/")
    with Nursery(tmp_path / "nursery.log") as nursery, Child(nursery, address) as server:
        with aw.Client(server.url) as client:
            client.create("one", algorithm="perceptron", seed=1)
        told = send(server.url, 5)
        assert len(told) == 5
        proxy.swallow = b"i:n5"
        assert send(server.url, 1, first=5) == {}, "nobody may be told of a commit that is not known"
        assert proxy.swallowed.wait(5.0)
        server.end(0)
        with contextlib.closing(open_store(direct)) as store, contextlib.closing(store.reader()) as reader:
            assert reader.by_keys(1, ["i:n5"]), "it was committed after all"
        server.start()
        reply = httpx.post(f"{server.url}/v1/streams/one/instances", json={"x": [5.0, 1.0], "id": "n5"}).json()
        assert (reply["round"], reply["again"]) == (5, True)
        resend(server, told)
        server.end(signal.SIGTERM)
    proxy.close()
    assert len(in_the_log(direct)) == 6


def test_a_clock_that_jumps_ends_no_lease_and_keeps_none():
    from askwhen.service.runtime.clock import Clock

    wall, passed = [1000.0], [50.0]
    clock = Clock(lambda: wall[0], lambda: passed[0])
    wall[0] = 9e9
    passed[0] += 10.0
    assert clock.now() == 1010.0
    wall[0] = 0.0
    assert clock.now() == 1010.0
    again = Clock(lambda: wall[0], lambda: passed[0])
    again.not_before(1010.0)
    assert again.now() == 1010.0
    passed[0] += 5.0
    assert again.now() == 1015.0


def test_one_file_by_two_names_has_one_server(tmp_path):
    (tmp_path / "other.db").symlink_to(tmp_path / "log.db")
    with Server(tmp_path / "log.db"):
        other = Server(tmp_path / "other.db")
        other.start(wait=False)
        assert other.process.wait() == 1
        assert "another process of askwhen serves" in other.log()


def test_a_port_that_is_taken_is_said_in_one_sentence(tmp_path):
    with Server(tmp_path / "log.db") as server:
        other = Server(tmp_path / "other.db", port=server.port)
        other.start(wait=False)
        assert other.process.wait() == 1
        assert f"cannot listen on 127.0.0.1, port {server.port}" in other.log()
        assert "Traceback" not in other.log()


def _damage(db, how_many):
    connection = apsw.Connection(str(db))
    newest = [seq for (seq,) in connection.execute("select seq from snapshots order by seq desc limit ?", (how_many,))]
    for seq in newest:
        connection.execute("update snapshots set model = x'00112233' where seq = ?", (seq,))
    connection.close()


@pytest.mark.parametrize("how_many", [1, 2])
def test_a_damaged_snapshot_is_passed_over(tmp_path, how_many):
    db = tmp_path / "log.db"
    for _ in range(2):
        with Server(db) as server, aw.Client(server.url) as client:
            if not client.streams():
                client.create("one", algorithm="perceptron", grace=0.0, repeats=False)
            stream = client.stream("one")
            for i in range(5):
                stream.tell(stream.ask([float(i), 1.0]), "yes")
            model = httpx.get(f"{server.url}/v1/streams/one/model").content
            server.stop()
    _damage(db, how_many)
    with Server(db) as server:
        assert httpx.get(f"{server.url}/v1/streams/one/model").content == model
        assert "a snapshot cannot be read, and an older one is taken" in server.log()
        httpx.post(f"{server.url}/v1/streams/one/replay").raise_for_status()
        server.kill()
    _damage(db, 1)
    with Server(db) as server:
        refused = httpx.post(f"{server.url}/v1/streams/one/instances", json={"x": [1.0, 2.0]})
        assert refused.status_code == 503
        said = "cannot be read, and its model does not follow from older ones; restore a backup; its log is kept"
        assert said in refused.json()["detail"]
        assert said in server.log()
        assert "Traceback" not in server.log()


def test_a_file_that_cannot_be_written_is_refused_at_the_start(tmp_path):
    db = tmp_path / "log.db"
    with Server(db) as server:
        server.stop()
    if subprocess.run(["mount", "--bind", db, db], capture_output=True).returncode != 0:
        pytest.skip("this user may not mount a file over itself, which makes it read-only even for root")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", db], check=True)
        server = Server(db)
        server.start(wait=False)
        assert server.process.wait() == 1
        assert "cannot be written." in server.log()
    finally:
        subprocess.run(["umount", db], check=True)


def test_a_body_that_stops_coming_is_cut_off():
    async def play():
        parts, never = [{"type": "http.request", "body": b"{", "more_body": True}], asyncio.Event()

        async def receive():
            if parts:
                return parts.pop()
            return await never.wait()

        async def app(scope, receive, send):
            while (await receive())["more_body"]:
                pass

        with pytest.raises(SlowError, match="too slowly"):
            await BodyTimeout(app, 0.05)({"type": "http"}, receive, None)

    run(play())
