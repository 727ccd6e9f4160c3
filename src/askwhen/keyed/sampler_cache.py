"""The most recently used samplers, in memory; all others are in the store.

They are held as the bytes that are stored, a fiftieth of the size of a sampler that plays: a commit is played key by
key, so that one slot, which stays in the processor's cache, serves all of them. A sampler that is not in a slot, such
as one that has grown, takes a millisecond to make from its bytes, and is held as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .sampler_pool import PooledSampler, SamplerPool, is_slot_state

Load = Callable[[list[str]], dict[str, bytes]]
_AT_ONCE = 500


class SamplerCache:
    """A least-recently-used cache of at most ``most`` samplers, besides the one that plays."""

    def __init__(self, pool: SamplerPool, load: Load, most: int) -> None:
        self._pool, self._load, self._most = pool, load, most
        self._cached: dict[str, bytes | PooledSampler] = {}
        self._playing: PooledSampler | None = None
        self._state: bytes | PooledSampler | None = None

    def visit(self, keys: list[str]) -> Iterator[tuple[str, PooledSampler]]:
        """The sampler of each of these keys, a new one for an unknown key; those not in memory are read together.

        After a change, call ``serialize_and_free`` before the next key, whose sampler plays in the same slot.
        """
        cached, pool = self._cached, self._pool
        for first in range(0, len(keys), _AT_ONCE):
            here = [(key, cached.pop(key, None)) for key in keys[first : first + _AT_ONCE]]
            missing = [key for key, found in here if found is None]
            read = self._load(missing) if missing else {}
            for key, found in here:
                self._state = found or read.get(key)
                self._playing = self._open(key, self._state)
                yield key, self._playing
                if self._playing is not None:
                    pool.free(self._playing)
                if self._state is not None:
                    cached[key] = self._state
                    if len(cached) > self._most:
                        del cached[next(iter(cached))]  # a dict is ordered, and a key that is used moves to its end

    def replace_playing(self, key: str) -> PooledSampler:
        """A new sampler for a key whose first instance was refused, which leaves an engine without states."""
        self._playing = self._pool.new(key)
        return self._playing

    def serialize_and_free(self, held: PooledSampler) -> bytes:
        """The sampler that plays, as bytes; it must not be used any more."""
        content = self._pool.serialize_and_free(held)
        self._playing, self._state = None, content if is_slot_state(content) else held
        return content

    def _open(self, key: str, found: bytes | PooledSampler | None) -> PooledSampler:
        if found is None:
            return self._pool.new(key)
        return self._pool.restore(key, found) if isinstance(found, bytes) else found
