"""The backlog of a stream: instances that were accepted, and wait for their decision.

They are rows of the store and not part of the log: the log gets an instance when it is decided, in the transaction in
which it leaves the backlog. In memory are only the next few, and what waits for its commit.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from hashlib import blake2b

from ..store.records import Accepted, BacklogItem, Change, Taken

AHEAD = 200
"""Number of instances that are read at once."""

PER_PERSON = 5
"""Questions that wait for each active person, unless the settings of the stream give their number."""

MOST_AT_ONCE = 500
"""Decisions between two looks at what else there is to do."""


def rank_of(seed: int, place: int) -> int:
    """Where an instance comes in shuffled order: a number that only the stream's seed and the place determine."""
    digest = blake2b(place.to_bytes(8, "little"), digest_size=8, key=seed.to_bytes(8, "little")).digest()
    return int.from_bytes(digest, "little") >> 1


class Backlog:
    """The backlog of one stream.

    Parameters
    ----------
    size : callable
        Gives the number of stored instances, and the largest place.
    read : callable
        ``read(shuffled, limit)`` gives the first stored instances in one of the two orders.
    """

    def __init__(self, size: Callable[[], tuple[int, int]], read: Callable[[bool, int], list[BacklogItem]]) -> None:
        self._size, self._read = size, read
        self._stored: tuple[int, int] | None = None
        self._next: deque[BacklogItem] = deque()
        self._shuffled = False
        self._leaving: set[int] = set()
        self._added: list[BacklogItem] = []
        self._taken: list[Taken] = []

    def _load(self) -> tuple[int, int]:
        if self._stored is None:
            self._stored = self._size()
        return self._stored

    def __len__(self) -> int:
        return self._load()[0]

    def last(self, placed: int) -> int:
        """The largest place so far; ``placed`` is that of the instances that have left."""
        return max(self._load()[1], placed)

    @property
    def row_size(self) -> int | None:
        """The size of an instance of the backlog, in bytes; None where there is none."""
        found = self._added[0] if self._added else self.first(self._shuffled)
        return None if found is None else len(found.row)

    def reset(self) -> None:
        """Drop what waits for its commit."""
        self._added, self._taken, self._stored = [], [], None
        self._next.clear()
        self._leaving.clear()

    def add(self, item: BacklogItem) -> None:
        """Put an instance at the end."""
        number, _ = self._load()
        self._stored = number + 1, item.place
        self._added.append(item)

    def replace(self, item: BacklogItem) -> None:
        """Put a committed instance in the place of the one that is there."""
        self._leaving.add(item.place)  # until the commit, so that the former one is not decided meanwhile
        self._next.clear()
        self._taken.append(Taken(item.stream, [item.place]))
        self._added.append(item)

    def first(self, shuffled: bool) -> BacklogItem | None:
        """The next instance; None where there is no committed one."""
        if shuffled != self._shuffled:
            self._next.clear()
            self._shuffled = shuffled
        if not self._next and len(self):
            found = self._read(shuffled, AHEAD + len(self._leaving))
            self._next.extend(each for each in found if each.place not in self._leaving)
        return self._next[0] if self._next else None

    def take(self, stream: int, places: Iterable[int], erased: bool = False) -> None:
        """Let instances leave, which must be committed."""
        gone = [place for place in places if place not in self._leaving]
        number, last = self._load()
        self._stored = number - len(gone), last
        self._leaving.update(gone)
        if self._next and gone == [self._next[0].place]:
            self._next.popleft()
        else:
            self._next.clear()
        if not erased and self._taken and not self._taken[-1].erased:
            gone = [*self._taken.pop().places, *gone]
        self._taken.append(Taken(stream, gone, erased))

    @property
    def has_changed(self) -> bool:
        """Whether something waits for its commit."""
        return bool(self._added or self._taken)

    def is_leaving(self, place: int) -> bool:
        """Whether an instance has left, but that is not committed yet."""
        return place in self._leaving

    def pop_changes(self) -> tuple[list[Change], Callable[[], None]]:
        """What waits for its commit, and a function to be called once that is done."""
        added, taken = self._added, self._taken
        self._added, self._taken = [], []
        changes: list[Change] = [*taken, *([Accepted(added)] if added else [])]  # one that returns has the same key

        def done() -> None:
            self._leaving.difference_update(place for each in taken for place in each.places)
            if added and self._shuffled:
                self._next.clear()  # new ones may come before those that were read

        return changes, done
