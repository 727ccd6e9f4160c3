"""Servers that start in a tenth of a second: a process that has everything loaded forks one for each order.

Run as a program it reads orders from the standard input; :class:`Nursery` is the other end. A child is as good as a
process of its own to be killed.
"""

import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import httpx

from tests.service.serving import free_port


class Nursery:
    def __init__(self, log):
        self.log_path = str(log)
        with open(self.log_path, "a") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "tests.service.nursery"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=pathlib.Path(__file__).parents[2],
            )

    def order(self, **serving):
        self.process.stdin.write(json.dumps(serving) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Child:
    """A server that can be killed and started again at the same address."""

    def __init__(self, nursery, db, networks=(), **serving):
        self.nursery, self.db, self.port, self.networks = nursery, str(db), free_port(), networks
        self.serving = serving
        self.url = f"http://127.0.0.1:{self.port}"
        self.pid = None

    def launch(self):
        """Start it without waiting until it is ready."""
        self.pid = self.nursery.order(db=self.db, port=self.port, networks=self.networks, **self.serving)

    def start(self, seconds=120.0):
        self.launch()
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz", timeout=5.0).status_code == 200:
                    return self
            if not self.lives():
                break
            time.sleep(0.01)
        with open(self.nursery.log_path) as log:
            raise AssertionError(f"the service did not start: {log.read()[-3000:]}")

    def lives(self):
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return False
        return True

    def end(self, sig=signal.SIGKILL, seconds=120.0):
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, sig)
        end = time.monotonic() + seconds
        while self.lives():
            assert time.monotonic() < end, "the service does not end"
            time.sleep(0.005)

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.end()


def main():
    from askwhen import AutoLasec, Sampler, evaluate  # noqa: F401, loaded once
    from askwhen.service.domain.model import Model
    from askwhen.service.events.settings import Budget, Settings
    from askwhen.service.http.options import Options
    from askwhen.service.process.server import Serving, serve
    from tests import preloaded  # noqa: F401, made once

    for labels in (["a", "b"], ["a", "b", "c"]):
        model = Model(Settings(labels=labels, seed=1, budget=Budget(rate=0.5)))
        import numpy as np

        for _ in range(3):
            ask = model.ask(np.ones(4), 0.0).ask
            if ask.query:
                model.tell(ask.round, "a")
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    for line in sys.stdin:
        pid = os.fork()
        if pid == 0:
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            os.close(0)
            os.dup2(2, 1)
            try:
                given = json.loads(line)
                serve(Serving(options=Options(webhook_networks=tuple(given.pop("networks"))), **given))
            finally:
                os._exit(1)
        print(pid, flush=True)


if __name__ == "__main__":
    main()
