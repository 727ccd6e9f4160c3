"""Plain processes on this machine, each with some of the partitions; one that dies is started again.

The processes pull by themselves: whoever starts them only looks on. Killed, it takes them along, since their input
ends; and one that lived on all the same could not commit once its partitions are claimed by another.
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
from .job import Job

Watch = Callable[[int, str], None]
"""Is told how many events were committed so far, and in which partition the last ones."""

_MOST_DEATHS = 100
_ERRORS = {each.__name__: each for each in (InputError, CutOffError, StoreError)}


class _Worker:
    """One process, and what it says."""

    def __init__(self, job: Job, partitions: Sequence[str], heard: queue.Queue[Any]) -> None:
        self.partitions = partitions
        self.ended = False
        command = [sys.executable, "-m", "askwhen.keyed.process"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        with contextlib.suppress(BrokenPipeError):
            assert self.process.stdin is not None
            self.process.stdin.write(json.dumps([job.written(), list(partitions)]) + "\n")
            self.process.stdin.flush()
        self._listening = threading.Thread(target=self._listen, args=(heard,), daemon=True)
        self._listening.start()

    def end(self) -> None:
        """Kill it if it is still there."""
        self.process.kill()
        self.process.wait()
        self._listening.join()
        for pipe in (self.process.stdin, self.process.stdout):
            assert pipe is not None
            with contextlib.suppress(BrokenPipeError):
                pipe.close()

    def _listen(self, heard: queue.Queue[Any]) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with contextlib.suppress(ValueError):  # a line that a kill cut off
                heard.put((self, json.loads(line)))
        heard.put((self, None))


def run(job: Job, partitions: Sequence[str], workers: int, watch: Watch | None = None) -> int:
    """Play all partitions with so many processes; how many of them died and were started again."""
    heard: queue.Queue[Any] = queue.Queue()
    shares = [list(partitions[first::workers]) for first in range(min(workers, len(partitions)))]
    running = [_Worker(job, share, heard) for share in shares]
    done = deaths = 0
    try:
        while running:
            worker, facts = heard.get()
            if facts is None:
                running.remove(worker)
                worker.end()
                if not worker.ended:
                    deaths += 1
                    if deaths > _MOST_DEATHS:
                        raise StoreError(
                            f"workers died {deaths} times; the last one of {worker.partitions}.", owner="keyed"
                        )
                    running.append(_Worker(job, worker.partitions, heard))
            elif "error" in facts:
                raise _ERRORS.get(facts["kind"], AskwhenError)(facts["error"], owner="keyed")
            elif "events" in facts:
                done += facts["events"]
                if watch is not None:
                    watch(done, facts["partition"])
            else:
                worker.ended = True
    finally:
        for worker in running:
            worker.end()
    return deaths
