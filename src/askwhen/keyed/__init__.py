"""Keyed streams: a sampler for each key of a partitioned log, exact whatever is killed on the way."""

try:
    from .errors import CutOffError, StoreError
    from .running import Played, run, sampler
    from .seeds import partition_of, seed_of
    from .stores.kept import Counts
except ImportError as error:
    raise ImportError(f"Keyed streams need {error.name}: pip install 'askwhen[keyed]'.", name=error.name) from error

__all__ = ["Counts", "CutOffError", "Played", "StoreError", "partition_of", "run", "sampler", "seed_of"]
