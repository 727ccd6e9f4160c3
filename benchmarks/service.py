"""Requests per second that the service stores durably, compared with a bare handler that only inserts.

``python benchmarks/service.py [postgresql://...] [seconds]``. The load comes from a second process over loopback, 32
connections that each wait for a reply before they send the next request. Rates depend on the disk and on what else the
machine does, so the figure to look at is the ratio; the median of fdatasync and the load are printed beside it.

``python benchmarks/service.py ready [instances]``: how long a start takes with 100 streams and a million instances,
after a kill. ``python benchmarks/service.py memory [minutes]``: the resident memory under load, minute by minute.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import httpx

CONNECTIONS = 32
X = [0.1 * i for i in range(20)]


def fdatasync_ms(folder: Path) -> float:
    times = []
    with (folder / "probe").open("wb") as file:
        for _ in range(200):
            file.write(b"x" * 4096)
            file.flush()
            started = time.perf_counter()
            os.fdatasync(file.fileno())
            times.append(1e3 * (time.perf_counter() - started))
    return statistics.median(times)


async def request(reader: Any, writer: Any, head: bytes, body: bytes) -> tuple[int, bytes]:
    """One request over an open connection, by hand: a client library would cost more than the service."""
    writer.write(head + b"content-length: %d\r\n\r\n" % len(body) + body)
    found = await reader.readuntil(b"\r\n\r\n")
    status = int(found[9:12])
    length = next((int(line[15:]) for line in found.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0)
    return status, await reader.readexactly(length) if length else b""


async def load(port: int, path: Any, seconds: float, body: Any) -> tuple[float, float]:
    """Requests a second, and the 99th percentile of the time they took in ms."""
    took: list[float] = []
    end = time.perf_counter() + seconds
    count = 0

    async def one() -> None:
        nonlocal count
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < end:
            number, count = count, count + 1
            where = path(number) if callable(path) else path
            head = f"POST {where} HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n".encode()
            started = time.perf_counter()
            status, said = await request(reader, writer, head, body(number))
            took.append(time.perf_counter() - started)
            if status >= 300:
                raise SystemExit(f"{status} {said!r}")
        writer.close()

    started = time.perf_counter()
    await asyncio.gather(*(one() for _ in range(CONNECTIONS)))
    return len(took) / (time.perf_counter() - started), 1e3 * statistics.quantiles(took, n=100)[98]


BARE = """
import asyncio, sys, uvicorn, msgspec
from litestar import Litestar, Request, post
from askwhen.service.runtime.group_commit import GroupCommit
from askwhen.service.store import Event, open_store
from typing import Any

class Raw(msgspec.Struct):
    x: Any
    id: str | None = None

seq = 0
@post("/", status_code=200)
async def insert(request: Request[Any, Any, Any], data: Raw) -> dict[str, int]:
    global seq
    seq += 1
    facts = msgspec.json.encode(data).decode()
    await asyncio.shield(request.app.state.commits.add([Event(1, seq, 0.0, "x", None, data.id, facts)]))
    return {"seq": seq}

async def start(app):
    app.state.commits = GroupCommit(open_store(sys.argv[1]), print)

app = Litestar([insert], on_startup=[start], logging_config=None)
uvicorn.run(app, port=int(sys.argv[2]), access_log=False, log_level="warning")
"""


def started(command: list[str], port: int) -> subprocess.Popen[bytes]:
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    for _ in range(400):
        try:
            httpx.get(f"http://127.0.0.1:{port}/readyz")
            return process
        except httpx.TransportError:
            time.sleep(0.05)
    raise SystemExit("the service did not start")


def in_a_process(*words: Any) -> Any:
    """Load from a process of its own."""
    command = [sys.executable, __file__, "load", *map(str, words)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def bare(db: str, seconds: float, port: int = 8411) -> tuple[float, float]:
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(BARE)
        file.flush()
        process = started([sys.executable, file.name, db, str(port)], port)
        try:
            found: tuple[float, float] = in_a_process("bare", port, seconds)
            return found
        finally:
            process.kill()
            process.wait()


def served(db: str, seconds: float, port: int = 8412) -> dict[str, Any]:
    process = started([sys.executable, "-m", "askwhen", "serve", "--db", db, "--port", str(port), "-q"], port)
    try:
        http = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60.0)
        for name in ("one", "lines", "answers"):
            settings: dict[str, Any] = {"seed": 1, "budget": {"rate": 0.1}}
            if name == "answers":
                settings = {"seed": 1, "algorithm": "perceptron", "grace": 0.0}
            http.post("/v1/streams", json={"name": name, "settings": settings}).raise_for_status()
            http.post(f"/v1/streams/{name}/instances", json={"x": X}).raise_for_status()
        found = {"one": in_a_process("one", port, seconds)}
        found["lines"] = in_a_process("lines", port, seconds)
        found["answers"] = in_a_process("answers", port, seconds)
        return found
    finally:
        process.terminate()
        process.wait()


def lines(port: int, seconds: float) -> float:
    """Instances a second of NDJSON, one connection."""
    body = b"".join(json.dumps({"x": [round(v + i, 3) for v in X]}).encode() + b"\n" for i in range(20_000))
    headers = {"Content-Type": "application/x-ndjson"}
    rows, start = 0, time.perf_counter()
    with httpx.Client(timeout=120.0) as http:
        while time.perf_counter() - start < seconds:
            reply = http.post(f"http://127.0.0.1:{port}/v1/streams/lines/instances", content=body, headers=headers)
            rows += reply.content.count(b"\n")
    return rows / (time.perf_counter() - start)


def prepare_questions(port: int, count: int) -> None:
    with httpx.Client(timeout=120.0) as http:
        for _ in range(0, count, 1000):
            body = (json.dumps({"x": X}).encode() + b"\n") * 1000
            headers = {"Content-Type": "application/x-ndjson"}
            http.post(f"http://127.0.0.1:{port}/v1/streams/answers/instances", content=body, headers=headers)


def load_main(what: str, port: int, seconds: float) -> Any:
    body = json.dumps({"x": X}).encode()
    if what == "bare":
        return asyncio.run(load(port, "/", seconds, lambda i: body))
    if what == "one":
        return asyncio.run(load(port, "/v1/streams/one/instances", seconds, lambda i: body))
    if what == "lines":
        return lines(port, seconds)
    prepare_questions(port, int(8000 * seconds))
    told = lambda i: b'{"label": "yes", "key": "k%d"}' % i  # noqa: E731
    return asyncio.run(load(port, lambda i: f"/v1/streams/answers/questions/{i}/answer", seconds, told))


async def fill(db: str, instances_in_all: int, streams_in_all: int = 100) -> None:
    """Streams with so many instances, left behind as by a kill: without last snapshots."""
    from askwhen.service.events.settings import Budget, Settings
    from askwhen.service.runtime.coordinator import Coordinator
    from askwhen.service.store import open_store
    from askwhen.service.use_cases import instances, streams

    coordinator = Coordinator(open_store(db))
    await coordinator.start()
    made = [
        await streams.create(coordinator, f"s{i}", Settings(seed=i, budget=Budget(rate=0.1)))
        for i in range(streams_in_all)
    ]
    raws: list[Any] = [instances.Raw([v + 0.01 * i for v in X]) for i in range(500)]
    for i in range(instances_in_all // len(raws)):
        await instances.play_all(coordinator, made[i % streams_in_all], raws)
    await coordinator.commits.settled()
    os._exit(0)


def ready(instances_in_all: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        db = f"{folder}/log.db"
        filling = f"import asyncio, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import service; "
        command = [sys.executable, "-c", f"{filling}asyncio.run(service.fill({db!r}, {instances_in_all}))"]
        subprocess.run(command, check=True)
        size = sum(file.stat().st_size for file in Path(folder).iterdir()) / 1e6
        for _ in range(3):
            begun = time.perf_counter()
            process = started([sys.executable, "-m", "askwhen", "serve", "--db", db, "--port", "8413", "-q"], 8413)
            took = time.perf_counter() - begun
            spent = sum(map(int, Path(f"/proc/{process.pid}/stat").read_text().split()[13:15])) / os.sysconf(
                "SC_CLK_TCK"
            )
            held = f"100 streams, {instances_in_all:,} instances, {size:,.0f} MB, load {os.getloadavg()[0]:.1f}"
            print(f"ready after {took:.1f} s, {spent:.1f} s of a processor, with {held}", flush=True)
            process.kill()
            process.wait()


def memory(minutes: float) -> None:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "askwhen", "serve", "--db", f"{folder}/log.db", "--port", "8414", "-q"]
        process = started(command, 8414)
        try:
            http = httpx.Client(base_url="http://127.0.0.1:8414", timeout=60.0)
            settings = {"seed": 1, "budget": {"rate": 0.1}, "forget": 5.0, "grace": 0.5}
            http.post("/v1/streams", json={"name": "one", "settings": settings}).raise_for_status()
            end, rounds = time.perf_counter() + 60.0 * minutes, 0
            while time.perf_counter() < end:
                in_a_process("one", 8414, min(60.0, end - time.perf_counter()))
                pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
                rounds = http.get("/v1/streams/one").json()["rounds"]
                print(f"{rounds:9,} instances, {pages * os.sysconf('SC_PAGESIZE') / 1e6:6.0f} MB", flush=True)
        finally:
            process.kill()
            process.wait()


def main() -> None:
    if sys.argv[1:2] == ["ready"]:
        ready(int(sys.argv[2]) if len(sys.argv) > 2 else 1_000_000)
    elif sys.argv[1:2] == ["memory"]:
        memory(float(sys.argv[2]) if len(sys.argv) > 2 else 10.0)
    elif sys.argv[1:2] == ["load"]:
        print(json.dumps(load_main(sys.argv[2], int(sys.argv[3]), float(sys.argv[4]))))
    else:
        speed()


def speed() -> None:
    given = [word for word in sys.argv[1:] if "://" in word]
    seconds = next((float(word) for word in sys.argv[1:] if word.replace(".", "").isdigit()), 8.0)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        print(f"fdatasync {fdatasync_ms(folder):.2f} ms, load {os.getloadavg()[0]:.1f}, {os.cpu_count()} cores")
        rate, late = bare(str(folder / "bare.db"), seconds)
        print(f"bare handler, SQLite      {rate:8,.0f} requests/s  p99 {late:5.1f} ms")
        for label, db in [("SQLite", str(folder / "log.db")), *(("PostgreSQL", each) for each in given)]:
            found = served(db, seconds)
            for what in ("one", "answers"):
                r, p = found[what]
                print(f"{what:8} {label:16} {r:8,.0f} requests/s  p99 {p:5.1f} ms  {r / rate:4.0%} of the bare handler")
            print(f"NDJSON   {label:16} {found['lines']:8,.0f} instances/s")


if __name__ == "__main__":
    main()
