"""Several servers of one database: one owns it, and another takes over when it ends, freezes or is cut off."""

import contextlib
import os
import re
import signal
import socket
import threading
import time

import httpx
import pytest

import askwhen as aw
from tests.service.load import Crowd
from tests.service.nginx import Nginx
from tests.service.nursery import Child, Nursery
from tests.service.test_crashes import LABELS, checked, settings
from tests.service.test_tokens import command
from tests.soak import times

pytestmark = pytest.mark.xdist_group("service crashes")


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    with Nursery(tmp_path_factory.mktemp("standby") / "log") as nursery:
        yield nursery


class Pair:
    """Two servers of one database; each may have an address of its own for it."""

    def __init__(self, nursery, address, other=None):
        self.servers = [Child(nursery, each, standby=True) for each in (address, other or address)]

    def __enter__(self):
        self.servers[0].start()
        self.servers[1].launch()
        self.answers(self.servers[1])
        return self

    def __exit__(self, *_):
        for each in self.servers:
            for sig in (signal.SIGCONT, signal.SIGKILL):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(each.pid, sig)
            each.end()

    def answers(self, server, seconds=120.0):
        """Wait until a server answers at all."""
        end = time.monotonic() + seconds
        while True:
            with contextlib.suppress(httpx.TransportError):
                return httpx.get(f"{server.url}/healthz", timeout=2.0).json()["status"]
            assert time.monotonic() < end, "the server does not answer"
            time.sleep(0.01)

    def owner(self, seconds=120.0, but=None):
        """Wait until one of them, but not this one, owns the database."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            for each in self.servers:
                with contextlib.suppress(httpx.TransportError):
                    if each is not but and httpx.get(f"{each.url}/readyz", timeout=1.0).status_code == 200:
                        return each
            time.sleep(0.02)
        raise AssertionError("no server owns the database")

    def nginx(self, folder):
        """An nginx in front of both."""
        return Nginx(folder, self.servers[0], beside=self.servers[1])

    def other(self, server):
        return self.servers[1 - self.servers.index(server)]


class Line:
    """A network between a server and its database that can be cut: then nothing passes, and nobody is told."""

    def __init__(self, address):
        found = re.search(r":(\d+)/", address)
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = address.replace(found[0], f":{self._listening.getsockname()[1]}/")
        self._passing, self._port, self._sockets = threading.Event(), int(found[1]), []
        self._passing.set()
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                ours, _ = self._listening.accept()
                theirs = socket.create_connection(("127.0.0.1", self._port))
                self._sockets += [ours, theirs]
                for pair in ((ours, theirs), (theirs, ours)):
                    threading.Thread(target=self._pass, args=pair, daemon=True).start()

    def _pass(self, here, there):
        with contextlib.suppress(OSError):
            while data := here.recv(65536):
                self._passing.wait()
                there.sendall(data)
        with contextlib.suppress(OSError):
            there.shutdown(socket.SHUT_RDWR)

    def cut(self):
        self._passing.clear()

    def mend(self):
        self._passing.set()

    def close(self):
        for each in (self._listening, *self._sockets):
            each.close()


def test_a_server_that_waits_answers_health_checks_and_refuses_the_rest(nursery, cluster):
    with Pair(nursery, cluster.database()) as pair:
        owner, waiting = pair.servers
        assert httpx.get(f"{waiting.url}/healthz").json()["status"] == "standby"
        for method, path in (("GET", "/readyz"), ("GET", "/"), ("POST", "/v1/streams"), ("POST", "/session")):
            reply = httpx.request(method, f"{waiting.url}{path}", content=b"x" * 10_000 if method == "POST" else None)
            assert (reply.status_code, reply.headers["retry-after"]) == (503, "1")
            assert "another one owns the database" in reply.json()["detail"]
            assert reply.headers["x-frame-options"] == "DENY"
        os.kill(waiting.pid, signal.SIGTERM)
        waiting.end(signal.SIGTERM)
        assert httpx.get(f"{owner.url}/readyz").status_code == 200


def test_standby_is_refused_with_a_file(tmp_path):
    refused = command("serve", "--standby", "--db", tmp_path / "log.db")
    assert (refused.returncode, "standby needs a PostgreSQL" in refused.stderr) == (1, True)


@pytest.mark.parametrize("how", ["killed", "frozen", "cut off"])
def test_another_server_takes_over_and_the_former_owner_can_change_nothing(nursery, cluster, how):
    direct = cluster.database()
    line = Line(direct)
    with Pair(nursery, line.address, direct) as pair:
        owner, waiting = pair.servers
        with aw.Client(owner.url) as client:
            client.create("mails", **settings() | {"algorithm": "perceptron"})
            before = [client.stream("mails").ask([1.0, i], id=f"a{i}").round for i in range(20)]
        started = time.monotonic()
        if how == "cut off":
            line.cut()
        else:
            os.kill(owner.pid, {"killed": signal.SIGKILL, "frozen": signal.SIGSTOP}[how])
        assert pair.owner(but=owner) is waiting
        print(f"{how}: taken over after {time.monotonic() - started:.2f} s")
        with aw.Client(waiting.url) as client:
            assert client.stream("mails").ask([1.0, 7.0], id="a7").round == before[7]
            assert client.stream("mails").ask([2.0, 0.0], id="b").round == 20
        if how in ("frozen", "cut off"):
            line.mend()
            os.kill(owner.pid, signal.SIGCONT)
            with contextlib.suppress(httpx.TransportError):
                sent = httpx.post(f"{owner.url}/v1/streams/mails/instances", json={"x": [3.0, 0.0], "id": "c"})
                assert sent.status_code == 503
            owner.end(0)
            with open(nursery.log_path) as log:
                assert "another server owns the database now" in log.read()
        with aw.Client(waiting.url) as client:
            assert client.stream("mails").ask([3.0, 0.0], id="c").round == 21
    line.close()


def test_behind_nginx_kills_and_freezes_under_load_lose_and_double_nothing(nursery, cluster, tmp_path):
    address = cluster.database()
    with Pair(nursery, address) as pair, pair.nginx(tmp_path / "nginx") as nginx:
        with aw.Client(nginx.url) as client:
            client.create("mails", **settings())
        crowd = Crowd(nginx.url, "mails", 3, 4, LABELS).start()
        slowest = 0.0
        try:
            for turn in range(times(3, 30)):
                time.sleep(0.5)
                owner = pair.owner()
                started, answers = time.monotonic(), len(crowd.answers)
                os.kill(owner.pid, signal.SIGSTOP if turn % 3 == 1 else signal.SIGKILL)
                pair.owner(but=owner)
                while len(crowd.answers) == answers:
                    assert time.monotonic() - started < 120.0, "labelling does not go on"
                    time.sleep(0.01)
                slowest = max(slowest, time.monotonic() - started)
                if turn % 3 == 1:
                    os.kill(owner.pid, signal.SIGCONT)
                    owner.end(0, seconds=120.0)  # it notices by itself
                else:
                    owner.end()
                owner.launch()
                pair.answers(owner)
        finally:
            crowd.stop()
        print(f"labelling went on after at most {slowest:.1f} s; {len(crowd.answers)} answers")
        owner = pair.owner()
        pair.other(owner).end()
        owner.end(signal.SIGTERM)
    events = checked(address, crowd)
    assert len(crowd.answers) > times(10, 200)
    assert {"told", "answered", "leased"} <= {event.kind for event in events}


def test_an_upgrade_interrupts_nobody(nursery, cluster, tmp_path):
    """As docs/operate.md says: one server after the other is stopped and started again, under load."""
    address = cluster.database()
    with Pair(nursery, address) as pair, pair.nginx(tmp_path / "nginx") as nginx:
        with aw.Client(nginx.url) as client:
            client.create("mails", **settings())
        crowd = Crowd(nginx.url, "mails", 2, 2, LABELS, pause=0.01).start()
        try:
            time.sleep(1.0)
            for server in (pair.other(pair.owner()), pair.owner()):  # first the one that waits
                server.end(signal.SIGTERM)
                server.launch()
                pair.answers(server)
                pair.owner()
                answers = len(crowd.answers)
                end = time.monotonic() + 120.0
                while len(crowd.answers) == answers:
                    assert time.monotonic() < end, "labelling does not go on"
                    time.sleep(0.01)
        finally:
            crowd.stop()
        owner = pair.owner()
        pair.other(owner).end()
        owner.end(signal.SIGTERM)
    checked(address, crowd)
