"""Seconds until a server that waits owns the database after its owner was killed or frozen, and how they grow.

``python benchmarks/takeover.py [postgresql://...] [instances ...]``. 100 streams with the default algorithm; so many
instances in all came since their last snapshots (by default 0, 25,000 and 100,000). A service makes snapshots so that
about 25,000 events at most are after them: more are made here by switching that off. The address is that of a
database server on which databases can be made; without one, a server is started with Debian's programs.

"Seen" is the time until the other server answers /readyz, of which the rest is for playing the log again.
"""

from __future__ import annotations

import importlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import httpx
import psycopg

sys.path.insert(0, str(Path(__file__).parents[1]))

STREAMS, BEFORE, D = 100, 20, 20
INSTANCES = (0, 25_000, 100_000)
PORTS = (8415, 8416)


async def fill(db: str, instances_in_all: int) -> None:
    """Make the streams, with a snapshot each, and the instances after it; then end as a kill does."""
    import numpy as np

    from askwhen.service.events.settings import Budget, Features, Settings
    from askwhen.service.runtime import snapshot_policy
    from askwhen.service.runtime.coordinator import Coordinator
    from askwhen.service.store import open_store
    from askwhen.service.use_cases import instances, questions, streams
    from askwhen.service.use_cases.instances import Raw

    snapshot_policy.TAIL = 1 << 60
    coordinator = Coordinator(open_store(db))
    await coordinator.start()
    rng = np.random.default_rng(0)
    settings = Settings(seed=1, budget=Budget(rate=0.1), features=Features(), grace=0.0)
    for place in range(STREAMS):
        stream = await streams.create(coordinator, f"s{place}", settings)
        for since, count in ((False, BEFORE), (True, instances_in_all // STREAMS)):
            rows = rng.standard_normal((count, D)).round(4)
            for k in range(0, count, 250):
                await instances.play_all(coordinator, stream, [Raw(x.tolist()) for x in rows[k : k + 250]])
                while (found := await questions.next_question(coordinator, stream, "ann")) is not None:
                    label = "yes" if found.x[0] > 0.0 else "no"
                    await questions.answer(coordinator, stream, found.question, "ann", label)
                coordinator.tick()
            if not since:
                await coordinator.committed(stream, snapshot=True)
    await coordinator.commits.settled()
    os._exit(0)


class Server:
    """A server of its own process, which may own the database."""

    def __init__(self, db: str, port: int) -> None:
        command = [sys.executable, "-m", "askwhen", "serve", "--standby", "--db", db, "--port", str(port), "-q"]
        self.url, self.process = f"http://127.0.0.1:{port}", subprocess.Popen(command, stderr=subprocess.DEVNULL)

    def wait(self, path: str, status: str | int, seconds: float = 300.0) -> None:
        """Wait until it answers with a status code, or with a status in its body."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            try:
                reply = httpx.get(f"{self.url}{path}", timeout=1.0)
                if status in (reply.status_code, reply.json().get("status")):
                    return
            except (httpx.TransportError, ValueError):
                pass
            time.sleep(0.01)
        raise SystemExit(f"{self.url} does not answer")

    def used(self) -> float:
        """Seconds of a processor so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")

    def settle(self) -> None:
        """Wait until it does nothing: a server that waits compiles first."""
        before = -1.0
        while self.used() - before > 0.2:
            before = self.used()
            time.sleep(2.0)

    def end(self) -> None:
        """End it at once."""
        self.process.send_signal(signal.SIGCONT)
        self.process.kill()
        self.process.wait()


def measure(db: str, how: signal.Signals) -> tuple[float, float]:
    """Seconds until the other server is ready, and those of a processor that it took."""
    owner = Server(db, PORTS[0])
    owner.wait("/readyz", 200)
    other = Server(db, PORTS[1])
    try:
        other.wait("/healthz", "standby")
        other.settle()
        used, begun = other.used(), time.perf_counter()
        owner.process.send_signal(how)
        other.wait("/readyz", 200)
        return time.perf_counter() - begun, other.used() - used
    finally:
        owner.end()
        other.end()


def main() -> None:
    address = next((word for word in sys.argv[1:] if "://" in word), "")
    sizes = [int(word) for word in sys.argv[1:] if word.isdigit()] or list(INSTANCES)
    cluster = None
    if not address:
        cluster = importlib.import_module("tests.service.postgresql").Cluster()
        address = cluster.address("postgres")
    try:
        print(f"{STREAMS} streams, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}", flush=True)
        for size in sizes:
            name = f"takeover_{size}_{os.getpid()}"
            with psycopg.connect(address, autocommit=True) as connection:
                connection.execute(f"create database {name}")
            db = re.sub(r"/[^/]*$", f"/{name}", address)
            filling = f"import asyncio, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import takeover; "
            code = f"{filling}asyncio.run(takeover.fill({db!r}, {size}))"
            subprocess.run([sys.executable, "-c", code], check=True)
            for how in (signal.SIGKILL, signal.SIGSTOP):
                took, used = measure(db, how)
                said = f"{size:>9,} instances since the last snapshots, {how.name}"
                print(f"{said}: another owns after {took:5.2f} s, {used:5.2f} s of a processor", flush=True)
    finally:
        if cluster is not None:
            cluster.stop("immediate")


if __name__ == "__main__":
    main()
