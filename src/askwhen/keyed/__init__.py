"""Keyed streams: one sampler per key of a partitioned log; killing a process never changes the results."""

from ..system.extras import needs_extra

with needs_extra("keyed", "a keyed stream", "keyed"):
    from .errors import CutOffError, StoreError
    from .feeding import Fed, feed
    from .running import Played, run, sampler
    from .seeds import partition_of, seed_of
    from .stores.records import Counts

__all__ = ["Counts", "CutOffError", "Fed", "Played", "StoreError", "feed", "partition_of", "run", "sampler", "seed_of"]
