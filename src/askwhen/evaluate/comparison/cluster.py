"""Runs work on a Ray cluster whose machines all give the same bits; a worker that dies costs only the run it was at.

By default Ray listens on all addresses and asks for no token; a cluster that is started here listens on loopback and
has a token. Bits depend on the processor and on versions, so both are compared with those of every machine.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from typing import Any, Self

from ...compiled.steps import source_hash
from ...errors import InputError
from ...system.extras import needs_extra
from .workers import Watch, Workers

LOCAL = "local"
"""The address that starts a cluster on this machine, for this process."""

_RETRIES = 20
_SETTINGS = {
    "RAY_AUTH_MODE": "token",
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # despite its name: 0 makes Ray use the loopback address
    "RAY_USAGE_STATS_ENABLED": "0",
}


def workers_of(cluster: str | None, watch: Watch | None, total: int) -> Workers | ClusterWorkers:
    """Threads of this process, or the workers of a cluster."""
    return Workers(watch, total) if cluster is None else ClusterWorkers(cluster, watch, total)


def likeness() -> dict[str, str]:
    """Versions and processor that two machines must share to give the same bits."""
    import numba
    import numpy
    import scipy
    from llvmlite import binding  # type: ignore[import-untyped]

    return {
        "processor": os.environ.get("NUMBA_CPU_NAME") or str(binding.get_host_cpu_name()),
        "python": platform.python_version(),
        "numba": numba.__version__,
        "numpy": numpy.__version__,
        "scipy": scipy.__version__,
        "askwhen's steps": source_hash(),
    }


def join(address: str) -> Any:
    """Connect Ray to a cluster, unless this process is connected already, and check that its machines are alike."""
    if not isinstance(address, str) or not address:
        raise InputError.about("cluster", "cluster", f"host:port, auto or {LOCAL}", address)
    if "://" in address:
        raise InputError(
            f"the caller must be inside the cluster: give host:port or auto on one of its machines, got {address!r}.",
            owner="cluster",
        )
    if address == LOCAL:
        for name, value in _SETTINGS.items():  # must be set before ray is imported
            os.environ.setdefault(name, value)
    with needs_extra("cluster", "a cluster", "cluster"):
        import ray
    if not ray.is_initialized():
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "ERROR"}
        try:
            if address == LOCAL:
                ray.init(address="local", num_cpus=_cores(), include_dashboard=False, **quiet)
            else:
                ray.init(address=address, **quiet)
        except (ConnectionError, ValueError, RuntimeError) as error:
            raise InputError(f"no cluster at {address}: {str(error).splitlines()[0]}", owner="cluster") from error
    check_alike(ray)
    return ray


def check_alike(ray: Any) -> None:
    """Raise if some machine of the cluster would give other bits."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    own = likeness()
    nodes = [node for node in ray.nodes() if node["Alive"]]
    asked = ray.remote(num_cpus=0)(likeness)
    places = [NodeAffinitySchedulingStrategy(node["NodeID"], soft=False) for node in nodes]
    found = ray.get([asked.options(scheduling_strategy=place).remote() for place in places])
    for node, other in zip(nodes, found, strict=True):
        for name, value in own.items():
            if other[name] != value:
                cure = "; set NUMBA_CPU_NAME=generic everywhere" if name == "processor" else ""
                raise InputError(
                    f"{node['NodeManagerAddress']} would give other bits: its {name} is {other[name]}, here it is "
                    f"{value}{cure}.",
                    owner="cluster",
                )


class ClusterWorkers:
    """As ``workers.Workers``, on a cluster: if a worker dies, only its current piece of work is repeated."""

    def __init__(self, address: str, watch: Watch | None, total: int) -> None:
        self._ray = join(address)
        self._watch, self._total, self._done = watch, total, 0
        self._shared: dict[int, tuple[Any, Any]] = {}
        self._waiting: list[Any] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for future in self._waiting:
            self._ray.cancel(future, force=True)
        self._waiting = []

    def all(
        self, work: list[tuple[str, Callable[[], Any]]], keep: Callable[[str, Any], Any] | None = None
    ) -> list[Any]:
        """Run all pieces of work and return the results in their order; ``keep`` is as in ``workers.Workers``."""
        task = self._ray.remote(num_cpus=1, max_retries=_RETRIES)(_do)
        futures = [task.remote(*self._sent(function)) for _, function in work]
        places = {future: place for place, future in enumerate(futures)}
        results: list[Any] = [None] * len(work)
        self._waiting = futures
        while self._waiting:
            (ready, *_), self._waiting = self._ray.wait(self._waiting)
            place = places[ready]
            found = _unwrapped(self._ray, ready)
            results[place] = found if keep is None else keep(work[place][0], found)
            self._done += 1
            if self._watch is not None:
                self._watch(self._done, self._total, work[place][0])
        return results

    def _sent(self, function: Any) -> tuple[Any, ...]:
        """Arguments that send a function to the cluster; the object of a method is sent once for all pieces of work."""
        if not isinstance(function, partial) or getattr(function.func, "__self__", None) is None:
            return None, function, (), {}
        owner, name = function.func.__self__, function.func.__name__  # type: ignore[attr-defined]
        if id(owner) not in self._shared:
            self._shared[id(owner)] = (owner, self._ray.put(owner))
        return self._shared[id(owner)][1], name, function.args, function.keywords


def _unwrapped(ray: Any, future: Any) -> Any:
    """The result of a piece of work; its own exception if it raised one."""
    try:
        return ray.get(future)
    except ray.exceptions.RayTaskError as error:
        if isinstance(error.cause, Exception):
            raise error.cause from error
        raise


def _do(owner: Any, function: Any, args: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
    return (function if owner is None else getattr(owner, function))(*args, **keywords)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
