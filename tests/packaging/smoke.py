"""What one tries first after an installation, run in its environment: python smoke.py bare service sklearn."""

import importlib.metadata
import importlib.resources
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

import numpy as np

import askwhen as aw

RNG = np.random.default_rng(0)
X = RNG.standard_normal((200, 4))
Y = np.where(X[:, 0] > 0.0, 1.0, -1.0)
COMMAND = pathlib.Path(sys.prefix) / ("Scripts" if sys.platform == "win32" else "bin") / "askwhen"


def sampler():
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=7)


def bare():
    """The library and the command, without any extra."""
    assert importlib.resources.files("askwhen").joinpath("py.typed").is_file()
    first, second = sampler(), sampler()
    for x, y in zip(X, Y, strict=True):
        first.tell(first.ask(x), y)
    second.run(X, Y)
    assert first.updates == second.updates > 0
    first.save("model.askwhen")
    assert (aw.Sampler.load("model.askwhen").predict(X) == first.predict(X)).all()
    said = subprocess.run([COMMAND, "--version"], capture_output=True, text=True, check=True).stdout
    assert importlib.metadata.version("askwhen") == aw.__version__ in said, said
    listed = subprocess.run([COMMAND, "algorithms", "--json"], capture_output=True, text=True, check=True).stdout
    assert "lasec-ss" in listed


def sklearn():
    model = aw.SelectiveClassifier(aw.Perceptron(), aw.Always(), random_state=0).fit(X, Y)
    assert model.score(X, Y) > 0.8


def data():
    rows = "\n".join(f"{a},{b},{int(y)}" for (a, b, *_), y in zip(X, Y, strict=True))
    pathlib.Path("rows.csv").write_text(f"a,b,label\n{rows}\n")
    assert aw.data.read("rows.csv", label="label", missing="refuse").load()[0].shape == (200, 2)


def river():
    from askwhen.adapters.river import SelectiveClassifier

    model = SelectiveClassifier(aw.Perceptron(), aw.Always(), seed=7)
    model.learn_one({"a": 1.0}, True)
    assert model.predict_one({"a": 1.0}) is True


def text():
    found = aw.encoders.load("static").encode(["a text", ""])
    assert found.shape == (2, 256)
    assert found[0].any()


def service():
    """The command serves; a client asks and tells; the page has all its files."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = subprocess.Popen([COMMAND, "serve", "--quiet", "--db", "mails.db", "--port", str(port)])
    try:
        _served(f"http://127.0.0.1:{port}", server)
    finally:
        server.terminate()
        server.wait(30)


def otel():
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider

    assert TracerProvider
    assert OTLPSpanExporter


def _served(url, server):
    import httpx

    end = time.monotonic() + 60
    while True:
        try:
            if httpx.get(f"{url}/readyz").status_code == 200:
                break
        except httpx.TransportError:
            if time.monotonic() > end or server.poll() is not None:
                raise
        time.sleep(0.05)
    page = httpx.get(url, follow_redirects=True)
    assert page.status_code == 200, page
    assert "text/html" in page.headers["content-type"], page.headers
    assert httpx.get(f"{url}/page/shell.js").status_code == 200
    settings = {"labels": ["ham", "spam"], "features": {"kind": "text"}, "budget": {"rate": 0.1}}
    httpx.post(f"{url}/v1/streams", json={"name": "mails", "settings": settings}).raise_for_status()
    with aw.Client(url) as client:
        assert client.stream("mails").ask("win a prize now").round == 0


def keyed():
    pathlib.Path("events").mkdir()
    events = [{"key": "ann", "x": [1.0, 0.5]}, {"key": "ann", "round": 0, "label": 1}]
    pathlib.Path("events/part-0.ndjson").write_text("".join(json.dumps(event) + "\n" for event in events))
    assert aw.keyed.run("events", "store", sampler(), out="decisions").counts.answers == 1


def kafka():
    import confluent_kafka

    assert confluent_kafka.Producer({"bootstrap.servers": "127.0.0.1:9"})


def nats():
    from nats.aio.client import Client

    assert not Client().is_connected


def cluster():
    import ray

    assert ray.__version__


def main():
    parts = {
        each.__name__: each for each in (bare, sklearn, data, river, text, service, otel, keyed, kafka, nats, cluster)
    }
    several = {
        "all": ["sklearn", "data", "river", "text", "service", "otel", "keyed"],
        "benchmarks": ["sklearn", "data"],
    }
    for name in sys.argv[1:]:
        for part in several.get(name, [name]):
            parts[part]()
        print(name, "works")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        main()
        os.chdir("/")
