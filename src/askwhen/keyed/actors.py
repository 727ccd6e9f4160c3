"""Workers as Ray actors, each with some of the partitions.

Ray places an actor, starts it again elsewhere when it dies, and calls its one method again, which claims its partitions
and goes on from the last commit. An actor is sent only the job, as text, and pulls its events.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AskwhenError, InputError
from ..evaluate.comparison.cluster import join
from .errors import CutOffError, StoreError
from .job import Job, play_partitions, total_counts
from .local_processes import ProgressCallback

_POLL = 0.2
_ERRORS = {each.__name__: each for each in (InputError, CutOffError, StoreError)}


class PartitionActor:
    """An actor that plays partitions."""

    def work(self, job: str, partitions: list[str]) -> dict[str, Any]:
        """Play partitions to their ends; whether the actor was restarted, and the error if there was one."""
        import ray

        facts: dict[str, Any] = {"again": ray.get_runtime_context().was_current_actor_reconstructed}
        try:
            play_partitions(Job.read(job), partitions, lambda _partition, _events: None)
        except AskwhenError as error:
            facts |= {"error": error.sentence, "kind": type(error).__name__}
        return facts


def run(job: Job, partitions: Sequence[str], workers: int, address: str, watch: ProgressCallback | None = None) -> int:
    """Play all partitions with so many actors; the number of actors that had died."""
    ray = join(address)
    machines = sum(bool(node["Alive"]) for node in ray.nodes())
    if machines > 1 and "://" not in job.store:
        raise InputError(
            f"a directory of SQLite files is for one machine, and the cluster has {machines}; give postgresql://...",
            owner="keyed",
        )
    remote = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(PartitionActor)
    shares = [list(partitions[first::workers]) for first in range(min(workers, len(partitions)))]
    actors = [remote.remote() for _ in shares]
    before = total_counts(job, partitions).events
    working = {actor.work.remote(job.written(), share): actor for actor, share in zip(actors, shares, strict=True)}
    deaths = 0
    try:
        while working:
            ready, _ = ray.wait(list(working), timeout=_POLL)
            for future in ready:
                facts = ray.get(future)
                ray.kill(working.pop(future))  # frees its processor for an actor whose machine was lost
                deaths += facts["again"]
                if "error" in facts:
                    raise _ERRORS.get(facts["kind"], AskwhenError)(facts["error"], owner="keyed")
            if watch is not None:
                watch(
                    total_counts(job, partitions).events - before,
                    f"{len(actors) - len(working)} of {len(actors)} at their ends",
                )
    finally:
        for actor in working.values():
            ray.kill(actor)
    return deaths
