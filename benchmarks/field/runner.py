"""Cells are computed here: each method on each stream in a process of its own, which may take so much processor time.

A process that dies, of too much time or anything else, takes no other with it; what it had finished is stored.
"""

from __future__ import annotations

import importlib
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Callable, Sequence
from functools import cache, partial

from .cells import DONE, FAILED, LEFT_OUT, STOPPED, Cell, Key, Store
from .contract import Method, Source, Stream, Task, play
from .results import Played
from .search import tuned

Streams = Callable[[int], Stream]


def seeds_of(method: Method, source: Source, seeds: int) -> int:
    """How many seeds there are to play: one where all are the same."""
    return 1 if source.ordered and not method.draws else seeds


def is_wanted(cell: Cell | None, seeds: int, minutes: float) -> bool:
    """Whether a cell must be computed: not yet, for too few seeds, not in the time allowed before, or in vain."""
    if cell is None or cell.state == FAILED:
        return True
    if cell.state == STOPPED:
        return cell.minutes < minutes
    return cell.state == DONE and len(cell.played) < seeds


def computed(
    method: Method, streams: Streams, key: Key, before: Cell | None, seeds: int, near: dict[object, float]
) -> Cell:
    """One cell: the search on the first seed, unless it is known, and all seeds with what it found."""
    parent = os.getppid()
    started = time.process_time()

    @cache
    def once(seed: int, setting: object, knob: float) -> Played:
        if os.getppid() != parent:
            os._exit(1)  # who started this process is gone
        return play(method, streams(seed), Task(key.share, seed, setting, knob), key.delay)

    if before is not None and before.state == DONE:
        setting, knob, spent = before.setting, before.knob, before.seconds
    elif method.knobs is not None:
        setting, knob = tuned(partial(once, 0), method.settings, method.knobs, key.share, near)
        spent = 0.0
    else:
        setting = max(method.settings, key=lambda each: once(0, each, 0.0).accuracy if len(method.settings) > 1 else 0)
        knob, spent = 0.0, 0.0
    known = before.played if before is not None and before.state == DONE else []
    played = known + [once(seed, setting, knob) for seed in range(len(known), seeds)]
    return Cell(DONE, played, setting, knob, spent + time.process_time() - started)


def work(
    method: Method, streams: Streams, keys: Sequence[Key], store: Store, seeds: int, seconds: float, folder: str
) -> None:
    """What a process does: one cell after the other, each stored when it is finished."""
    _, most = resource.getrlimit(resource.RLIMIT_CPU)
    whole = max(1, int(seconds))
    if most == resource.RLIM_INFINITY or whole < most:
        resource.setrlimit(resource.RLIMIT_CPU, (whole, most))
    tempfile.tempdir = folder  # which the parent removes, however this process ends
    near: dict[float, dict[object, float]] = {}
    for key in keys:
        try:
            reason = "labels at once only" if method.start is None and key.delay > 1 else method.refuses(streams(0))
            if reason:
                store.write(key, Cell(LEFT_OUT, why=reason))
                continue
            store.write(key, computed(method, streams, key, store.read(key), seeds, near.setdefault(key.share, {})))
        except Exception as error:
            traceback.print_exc()
            store.write(key, Cell(FAILED, why=f"{type(error).__name__}: {error}".splitlines()[0][:200]))


def finish(method: Method, streams: Streams, keys: Sequence[Key], store: Store, seeds: int, minutes: float) -> None:
    """Compute the cells of a method on a stream in a process, or store why there are none."""
    if not method.needs_own_process:
        for name in method.needs:
            importlib.import_module(name)  # once for all processes, which are copies of this one
    left = [key for key in keys if is_wanted(store.read(key), seeds, minutes)]
    started = {key: store.path(key).stat().st_mtime_ns if store.path(key).exists() else 0 for key in left}

    def unfinished() -> list[Key]:
        return [
            key for key in left if not store.path(key).exists() or store.path(key).stat().st_mtime_ns == started[key]
        ]

    while left:
        allowed = 60.0 * minutes - store.seconds(left[0].stream, left[0].method)
        code = -signal.SIGXCPU
        if allowed >= 1.0:
            sys.stdout.flush()
            with tempfile.TemporaryDirectory() as folder:
                process = multiprocessing.get_context("fork").Process(
                    target=work, args=(method, streams, left, store, seeds, allowed, folder)
                )
                process.start()
                process.join()
            code = process.exitcode or 0
        left = unfinished()
        if left and code == -signal.SIGXCPU:
            rest = 60.0 * minutes - store.seconds(left[0].stream, left[0].method)  # that went into the first of them
            for i, key in enumerate(left):
                store.write(key, Cell(STOPPED, seconds=max(0.0, rest) if i == 0 else 0.0, minutes=minutes))
            left = []
        elif left:
            store.write(left[0], Cell(FAILED, why=f"its process ended with {code}"))
            left = left[1:]
