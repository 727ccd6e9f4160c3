"""Independent runs on all cores: compiled rounds release the interpreter lock, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Self

Watch = Callable[[int, int, str], None]
"""Called with the number of finished pieces of work, the number of all, and the name of the last one."""


class Workers:
    """A thread for every core that this process may use; reports each finished piece of work."""

    def __init__(self, watch: Watch | None, total: int) -> None:
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        self._pool = ThreadPoolExecutor(cores)
        self._watch = watch
        self._total = total
        self._done = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._pool.shutdown(cancel_futures=True)

    def all(
        self, work: list[tuple[str, Callable[[], Any]]], keep: Callable[[str, Any], Any] | None = None
    ) -> list[Any]:
        """Run all pieces of work and return the results in their order; the first exception is raised.

        ``keep`` is called with the name and the result of each piece as soon as it is done; what it returns takes the
        place of the result.
        """
        futures = {self._pool.submit(_done, name, function, keep): name for name, function in work}
        for future in as_completed(futures):
            future.result()
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._total, futures[future])
        return [future.result() for future in futures]


def _done(name: str, function: Callable[[], Any], keep: Callable[[str, Any], Any] | None) -> Any:
    return function() if keep is None else keep(name, function())
