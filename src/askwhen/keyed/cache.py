"""The samplers of the keys that came last, in memory; all others are in the store.

The events of a commit are played key by key, so that each of its samplers is fetched once, and stored while it is near.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from .slots import Held, Slots

Load = Callable[[list[str]], dict[str, bytes]]
_AT_ONCE = 500


class Cache:
    """At most ``most`` samplers, and those that are at hand; the one that was used longest ago makes room.

    Whoever changes a sampler takes it as bytes before asking for the next: one that makes room is not looked at again.
    """

    def __init__(self, slots: Slots, load: Load, most: int) -> None:
        self._slots, self._load, self._most = slots, load, most
        self._held: dict[str, Held] = {}

    def visit(self, keys: list[str]) -> Iterator[tuple[str, Held]]:
        """The sampler of each of these keys, a new one where there was none; what is not in memory is read together."""
        held = self._held
        for first in range(0, len(keys), _AT_ONCE):
            here = [(key, held.pop(key, None)) for key in keys[first : first + _AT_ONCE]]
            missing = [key for key, found in here if found is None]
            read = self._load(missing) if missing else {}
            for key, found in here:
                entering = self._entering(key, read.get(key)) if found is None else found
                held[key] = entering
                yield key, entering

    def renewed(self, key: str) -> Held:
        """A new sampler for a key that was refused its first instance, and is left without states."""
        self._held[key] = self._slots.fresh(key)
        return self._held[key]

    def stored(self, held: Held) -> bytes:
        """A sampler as bytes."""
        return self._slots.stored(held)

    def _entering(self, key: str, stored: bytes | None) -> Held:
        if len(self._held) >= self._most:
            self._slots.give_back(self._held.pop(next(iter(self._held))))
        return self._slots.fresh(key) if stored is None else self._slots.restored(key, stored)
