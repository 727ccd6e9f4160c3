"""Workers placed by Ray: actors that pull, each with some of the partitions.

Ray places an actor, starts it again elsewhere when it dies, and calls its one method again, which claims its partitions
and goes on from what was committed. Nothing is sent to an actor but the job, as text.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import AskwhenError, InputError
from ..evaluate.comparison.cluster import join
from .errors import CutOffError, StoreError
from .job import Job, total, work
from .processes import Watch

_LOOK = 0.2
_ERRORS = {each.__name__: each for each in (InputError, CutOffError, StoreError)}


class PartitionActor:
    """What an actor does."""

    def work(self, job: str, partitions: list[str]) -> dict[str, Any]:
        """Play partitions to their ends; why not, where it could not, and whether it is not the first to try."""
        import ray

        facts: dict[str, Any] = {"again": ray.get_runtime_context().was_current_actor_reconstructed}
        try:
            work(Job.read(job), partitions, lambda _partition, _events: None)
        except AskwhenError as error:
            facts |= {"error": error.sentence, "kind": type(error).__name__}
        return facts


def run(job: Job, partitions: Sequence[str], workers: int, address: str, watch: Watch | None = None) -> int:
    """Play all partitions with so many actors; how many of them had died."""
    ray = join(address)
    machines = sum(bool(node["Alive"]) for node in ray.nodes())
    if machines > 1 and "://" not in job.store:
        raise InputError(
            f"a folder of SQLite files is for one machine, and the cluster has {machines}; give postgresql://...",
            owner="keyed",
        )
    kind = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(PartitionActor)
    shares = [list(partitions[first::workers]) for first in range(min(workers, len(partitions)))]
    actors = [kind.remote() for _ in shares]
    before = total(job, partitions).events
    working = {actor.work.remote(job.written(), share): actor for actor, share in zip(actors, shares, strict=True)}
    deaths = 0
    try:
        while working:
            ready, _ = ray.wait(list(working), timeout=_LOOK)
            for future in ready:
                facts = ray.get(future)
                ray.kill(working.pop(future))  # its processor may be needed by one whose machine was lost
                deaths += facts["again"]
                if "error" in facts:
                    raise _ERRORS.get(facts["kind"], AskwhenError)(facts["error"], owner="keyed")
            if watch is not None:
                watch(
                    total(job, partitions).events - before,
                    f"{len(actors) - len(working)} of {len(actors)} at their ends",
                )
    finally:
        for actor in working.values():
            ray.kill(actor)
    return deaths
