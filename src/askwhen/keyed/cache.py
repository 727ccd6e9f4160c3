"""The samplers of the keys that came last, in memory; all others are in the store.

Nothing is written to the store before a commit: what has no room before that is kept as bytes.
"""

from __future__ import annotations

from collections.abc import Callable

from .slots import Held, Slots

Load = Callable[[list[str]], dict[str, bytes]]


class Cache:
    """At most ``most`` samplers; the one that was used longest ago makes room.

    ``last`` has the number of the last of the expected events of each key, and ``changed`` every sampler that differs
    from the store, as bytes once its last event was played.
    """

    def __init__(self, slots: Slots, load: Load, most: int) -> None:
        self._slots, self._load, self._most = slots, load, most
        self.stored = slots.stored
        self._held: dict[str, Held] = {}
        self._bytes: dict[str, bytes] = {}
        self.last: dict[str, int] = {}
        self.changed: dict[str, bytes | None] = {}

    def expect(self, keys: list[str]) -> None:
        """Read what these events need and is not in memory, all at once."""
        self.last = dict(zip(keys, range(len(keys)), strict=True))
        missing = [key for key in self.last if key not in self._held]
        if missing:
            self._bytes = self._load(missing)

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
        if held is not None and key not in self.changed and held.engine.learner is None:
            del self._held[key]

    def note(self, event: int, key: str, is_changed: bool) -> None:
        """An event was played; where it was the last one of its key, the sampler is stored while it is near."""
        if is_changed:
            self.changed[key] = None
        if self.last[key] == event and key in self.changed:
            self.changed[key] = self._slots.stored(self._held[key]) if key in self._held else self._bytes[key]

    def all_changed(self) -> list[tuple[str, bytes]]:
        """Every sampler that differs from the store."""
        return [(key, stored) for key, stored in self.changed.items() if stored is not None]

    def settle(self) -> None:
        """The store has it all."""
        self.changed.clear()
        self._bytes.clear()
        self.last.clear()

    def _make_room(self) -> None:
        key = next(iter(self._held))
        held = self._held.pop(key)
        if key in self.last and self.changed.get(key) is None:  # it may be needed again before the store has it
            self._bytes[key] = self._slots.stored(held)
        self._slots.give_back(held)
