"""Locks of samplers that threads share, safe after a fork.

A process that forks while another of its threads plays a round copies a lock that is never released, since that thread
does not exist in the child, and a sampler that may be half-changed. In the child a sampler whose lock was held refuses
every call; all others work.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, NoReturn

from ..errors import AskwhenError

_owners: weakref.WeakSet[Any] = weakref.WeakSet()


def new_lock(owner: Any, kind: Callable[[], Any] = threading.Lock) -> Any:
    """A lock for ``owner._lock``: a plain one, since a class of our own would slow every round."""
    _owners.add(owner)
    return kind()


class UnusableLock:
    """Replaces a lock that another thread held when this process was forked: entering it raises an error."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> NoReturn:
        raise AskwhenError(
            "another thread was using it when this process was forked, so that this copy may be "
            "half-changed; load it from a snapshot, or fork while no thread uses it.",
            owner=self._name,
        )

    def __exit__(self, *_: object) -> None:
        return


def _replace_held_locks() -> None:
    """Replace the locks that were held; called in the child of a fork, whose only thread is the one that forked."""
    for owner in list(_owners):
        lock = getattr(owner, "_lock", None)  # None where another thread was about to make it
        if lock is None or isinstance(lock, UnusableLock):
            continue
        if lock.acquire(blocking=False):
            lock.release()
        else:
            owner._lock = UnusableLock(type(owner).__name__)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_held_locks)
