"""Worker processes on this machine, each with some of the partitions; one that dies is started again.

The workers pull their events, and the parent only watches them. If it is killed they exit, since their input ends; and
one that lived on could not commit once its partitions are claimed by another.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from ..errors import AskwhenError, InputError
from .errors import CutOffError, StoreError
from .job import Job, NewPartitions

ProgressCallback = Callable[[int, str], None]
"""Called with the number of events committed so far, and the partition of the last ones."""

_MOST_DEATHS = 100
_PAUSE = 1.0
"""Seconds after which new partitions are looked for where nothing else happens."""
_ERRORS = {each.__name__: each for each in (InputError, CutOffError, StoreError)}


class _WorkerProcess:
    """A worker process, and the thread that reads its messages."""

    def __init__(self, job: Job, partitions: Sequence[str], messages: queue.Queue[_Message]) -> None:
        self.partitions = partitions
        self.ended = False
        command = [sys.executable, "-m", "askwhen.keyed.worker_main"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with contextlib.suppress(BrokenPipeError):
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps([job.written(), list(partitions)]) + "\n")
            self.process.stdin.flush()
        self._reader = threading.Thread(target=self._read_messages, args=(messages,), daemon=True)
        self._reader.start()

    def end(self) -> None:
        """Kill the process if it still runs."""
        self.process.kill()
        self.process.wait()
        self._reader.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _read_messages(self, messages: queue.Queue[_Message]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):  # an incomplete line of a process that was killed
                messages.put((self, json.loads(line)))
        messages.put((self, None))


_Message = tuple[_WorkerProcess, dict[str, Any] | None]
"""A message of a worker process, or None when its output has ended."""


def run(
    job: Job,
    partitions: Sequence[str],
    workers: int,
    watch: ProgressCallback | None = None,
    new: NewPartitions | None = None,
) -> int:
    """Play all partitions with so many processes; the number of processes that died and were started again.

    New partitions that are found together get one more process.
    """
    messages: queue.Queue[_Message] = queue.Queue()
    shares = [list(partitions[first::workers]) for first in range(min(workers, len(partitions)))]
    running = [_WorkerProcess(job, share, messages) for share in shares]
    done = deaths = 0
    try:
        while running:
            try:
                worker, facts = messages.get(timeout=None if new is None else _PAUSE)
            except queue.Empty:
                worker, facts = running[0], {}
            if new is not None and (found := new.find()):
                running.append(_WorkerProcess(job, found, messages))
            if facts is None:
                running.remove(worker)
                worker.end()
                if not worker.ended:
                    deaths += 1
                    if deaths > _MOST_DEATHS:
                        raise StoreError(
                            f"workers died {deaths} times; the last one of {worker.partitions}.", owner="keyed"
                        )
                    running.append(_WorkerProcess(job, worker.partitions, messages))
            elif "error" in facts:
                raise _ERRORS.get(facts["kind"], AskwhenError)(facts["error"], owner="keyed")
            elif "events" in facts:
                done += facts["events"]
                if watch is not None:
                    watch(done, facts["partition"])
            elif "done" in facts:
                worker.ended = True
    finally:
        for worker in running:
            worker.end()
    return deaths
