"""Independent runs on all cores: compiled rounds leave the interpreter free, so threads are enough."""

from __future__ import annotations

import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import Any, Self

Watch = Callable[[int, int, str], None]
"""Is told how many pieces of work are done, of how many, and which one was the last."""


class Workers:
    """A thread for every core that this process may use, and word of each piece of work that is done."""

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
        """Do all of this work, and give the results in its order; the first error ends it.

        ``keep`` is given the name and the result of each as soon as it is there, and gives what takes its place.
        """
        futures = {self._pool.submit(_kept, name, function, keep): name for name, function in work}
        for future in as_completed(futures):
            future.result()
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._total, futures[future])
        return [future.result() for future in futures]


def _kept(name: str, function: Callable[[], Any], keep: Callable[[str, Any], Any] | None) -> Any:
    return function() if keep is None else keep(name, function())
