"""The samplers of the keys that came last, in memory; all others are in the store.

They are kept as the bytes that are stored, a fiftieth of what they take when they play: a commit is played key by key,
so that one slot, which stays near the processor, serves all of them. A sampler that is in no slot, such as one that has
grown, takes a millisecond to make from its bytes, and is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .sampler_pool import Held, Slots, is_of_slot

Load = Callable[[list[str]], dict[str, bytes]]
_AT_ONCE = 500


class Cache:
    """At most ``most`` samplers, and the one that plays; the one that was used longest ago makes room."""

    def __init__(self, slots: Slots, load: Load, most: int) -> None:
        self._slots, self._load, self._most = slots, load, most
        self._kept: dict[str, bytes | Held] = {}
        self._playing: Held | None = None
        self._left: bytes | Held | None = None

    def visit(self, keys: list[str]) -> Iterator[tuple[str, Held]]:
        """The sampler of each of these keys, a new one where there was none; what is not in memory is read together.

        Whoever changes a sampler takes it out before asking for the next, which plays in the same slot.
        """
        kept, slots = self._kept, self._slots
        for first in range(0, len(keys), _AT_ONCE):
            here = [(key, kept.pop(key, None)) for key in keys[first : first + _AT_ONCE]]
            missing = [key for key, found in here if found is None]
            read = self._load(missing) if missing else {}
            for key, found in here:
                self._left = found or read.get(key)
                self._playing = self._entering(key, self._left)
                yield key, self._playing
                if self._playing is not None:
                    slots.give_back(self._playing)
                if self._left is not None:
                    kept[key] = self._left
                    if len(kept) > self._most:
                        del kept[next(iter(kept))]

    def renewed(self, key: str) -> Held:
        """A new sampler for a key that was refused its first instance, and is left without states."""
        self._playing = self._slots.fresh(key)
        return self._playing

    def taken_out(self, held: Held) -> bytes:
        """The sampler that plays, as bytes; it plays no more."""
        content = self._slots.taken_out(held)
        self._playing, self._left = None, content if is_of_slot(content) else held
        return content

    def _entering(self, key: str, found: bytes | Held | None) -> Held:
        if found is None:
            return self._slots.fresh(key)
        return self._slots.restored(key, found) if isinstance(found, bytes) else found
