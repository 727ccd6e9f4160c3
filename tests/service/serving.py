"""A real service in a process of its own."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time

import httpx

from tests.forking import Background


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Server:
    """``askwhen serve`` on a database, which can be killed and started again at the same address."""

    def __init__(self, db, *options, port=None, log=None):
        self.db, self.options, self.port = str(db), options, port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_path = (
            log or f"{os.path.splitext(self.db)[0] if '://' not in self.db else '/tmp/askwhen'}.{self.port}.log"
        )
        self.process = None

    def start(self, wait=True, before=()):
        db = [] if "--demo" in self.options else ["--db", self.db]
        words = ["serve", *db, "--port", str(self.port), *map(str, self.options)]
        if before:
            with open(self.log_path, "a") as log:
                command = [*before, sys.executable, "-m", "askwhen", *words]
                self.process = subprocess.Popen(command, stdout=log, stderr=log)
        else:
            self.process = Background(words, dict(os.environ), self.log_path)
        if wait:
            self.wait()
        return self

    def wait(self, seconds=120.0):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{self.url}/readyz").status_code == 200:
                    return
            if self.process.poll() is not None:
                break
            time.sleep(0.02)
        raise AssertionError(f"the service did not start: {self.log()[-3000:]}")

    def log(self):
        with open(self.log_path) as log:
            return log.read()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        """End it in order; how long that took, and the status."""
        started = time.monotonic()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(120.0)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        return time.monotonic() - started, status

    def __enter__(self):
        return self.start() if self.process is None else self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
