"""A command as a process of its own, forked from one that has imported everything, so that none waits for imports.

Pipes, signals, terminals and exit codes are real; only the interpreter's own start and end are not. Tests that are
about those, or about the environment at the start, run ``python -m askwhen``.
"""

import contextlib
import fcntl
import multiprocessing
import os
import runpy
import struct
import subprocess
import sys
import termios
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import Connection

from pexpect.fdpexpect import fdspawn

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(
    [
        *(f"askwhen.{room}" for room in ("cli.main", "workflows.run", "workflows.predict", "report.run", "labelling")),
        *(f"askwhen.{part}" for part in ("client.outbox_worker", "service.process.demo", "service.process.server")),
        *(
            "pyarrow.csv",
            "pyarrow.parquet",
            "rich.live",
            "rich.progress",
            "rich.table",
            "pandas",
            "numba.typed",
            "tests.forking",
            "tests.preloaded",
        ),
    ]
)


def _become(args, environment, streams, in_terminal):
    """Be ``askwhen`` with these words, these three streams and nothing of what was before."""
    for number, stream in enumerate(streams):
        os.dup2(stream.fileno(), number)
        stream.close()
    if in_terminal:
        os.setsid()
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    os.environ.clear()
    os.environ.update(environment)
    sys.argv = ["askwhen", *args]
    sys.stdin = os.fdopen(0)
    sys.stdout = os.fdopen(1, "w", buffering=1 if os.isatty(1) else -1)
    sys.stderr = os.fdopen(2, "w", buffering=1, errors="backslashreplace")
    runpy.run_module("askwhen", run_name="__main__", alter_sys=True)


def _start(args, environment, descriptors, in_terminal=False):
    streams = [Connection(each) for each in descriptors]
    process = FORKS.Process(target=_become, args=(args, environment, streams, in_terminal), daemon=True)
    process.start()
    for stream in streams:
        stream.close()
    return process


def _all_of(descriptor):
    with open(descriptor) as file:
        return file.read()


class Forked:
    """A command between three pipes: what tests need of ``subprocess.Popen``."""

    def __init__(self, args, environment):
        (given, put), (out, said), (err, complained) = (os.pipe() for _ in range(3))
        self._process = _start(args, environment, (given, said, complained))
        self.pid = self._process.pid
        self.returncode = None
        self.stdin = os.fdopen(put, "w")
        readers = ThreadPoolExecutor(2)
        self._read = [readers.submit(_all_of, each) for each in (out, err)]
        readers.shutdown(wait=False)

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self._process.kill()

    def communicate(self, text="", timeout=300):
        with contextlib.suppress(BrokenPipeError):
            self.stdin.write(text)
        with contextlib.suppress(BrokenPipeError):
            self.stdin.close()
        out, err = (each.result(timeout) for each in self._read)
        self._process.join(timeout)
        self.returncode = self._process.exitcode
        return out, err


class Background:
    """A command that goes on by itself and writes to a file: what tests need of ``subprocess.Popen``."""

    def __init__(self, args, environment, path):
        out = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._process = _start(args, environment, (os.open(os.devnull, os.O_RDONLY), out, os.dup(out)))
        self.pid = self._process.pid

    def poll(self):
        return self._process.exitcode

    def wait(self, timeout=None):
        self._process.join(timeout)
        if self._process.exitcode is None:
            raise subprocess.TimeoutExpired("askwhen", timeout)
        return self._process.exitcode

    def send_signal(self, number):
        os.kill(self.pid, number)

    def kill(self):
        self._process.kill()


class Terminal(fdspawn):
    """A command in a terminal: what tests need of ``pexpect.spawn``."""

    def __init__(self, args, environment, rows=24, columns=100):
        ours, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._process = _start(args, environment, (theirs, os.dup(theirs), os.dup(theirs)), in_terminal=True)
        super().__init__(ours, encoding="utf-8", timeout=120)

    def kill(self, number):
        os.kill(self._process.pid, number)

    def close(self):
        super().close()
        self._process.join(300)
        self.exitstatus = self._process.exitcode
