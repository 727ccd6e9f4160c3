"""The samplers of the keys that came last, in memory; all others are in the store.

Nothing is written to the store before a commit: what has no room before that is kept as bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from .slots import Held, Slots

Load = Callable[[list[str]], dict[str, bytes]]


class Cache:
    """At most ``most`` samplers; the one that was used longest ago makes room."""

    def __init__(self, slots: Slots, load: Load, most: int) -> None:
        self._slots, self._load, self._most = slots, load, most
        self._held: dict[str, Held] = {}
        self._bytes: dict[str, bytes] = {}
        self._changed: dict[str, bool] = {}
        self._expected: dict[str, None] = {}

    def expect(self, keys: list[str]) -> None:
        """Read what will be needed and is not in memory, all at once."""
        self._expected = dict.fromkeys(keys)
        missing = [key for key in self._expected if key not in self._held and key not in self._bytes]
        if missing:
            self._bytes.update(self._load(missing))

    def get(self, key: str) -> Held:
        """The sampler of a key, a new one where there was none."""
        held = self._held.pop(key, None)
        if held is None:
            if len(self._held) >= self._most:
                self._make_room()
            stored = self._bytes.pop(key, None)
            held = self._slots.fresh(key) if stored is None else self._slots.restored(key, stored)
        self._held[key] = held
        return held

    def drop(self, key: str) -> None:
        """Forget a sampler that was refused its first instance, and may be left without states."""
        held = self._held.get(key)
        if held is not None and key not in self._changed and held.engine.learner is None:
            del self._held[key]

    def note_change(self, key: str) -> None:
        """The sampler of this key must be written."""
        self._changed[key] = True

    def changed(self) -> list[tuple[str, bytes]]:
        """Every sampler that differs from the store."""
        stored, held = self._slots.stored, self._held
        return [(key, stored(held[key]) if key in held else self._bytes[key]) for key in self._changed]

    def settle(self) -> None:
        """The store has it all."""
        self._changed.clear()
        self._bytes.clear()

    def _make_room(self) -> None:
        key = next(iter(self._held))
        held = self._held.pop(key)
        if key in self._changed or key in self._expected:  # it may be needed again before the store has it
            self._bytes[key] = self._slots.stored(held)
        self._slots.give_back(held)
