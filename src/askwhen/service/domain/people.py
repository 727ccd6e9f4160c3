"""Groups of people, and who is away: of the whole service, for all streams."""

from __future__ import annotations

from collections.abc import Iterable

from ..events.kinds import Fact, GroupSet, WentAway
from ..events.settings import GROUP


class People:
    """The groups with their members, and until when people are away.

    Attributes
    ----------
    groups : dict
        The members of each group, by its name without the ``@``.
    away : dict
        The ends of absences, by the names of people; those that are over are still there.
    """

    def __init__(self) -> None:
        self.groups: dict[str, list[str]] = {}
        self.away: dict[str, float] = {}
        self._names: dict[str, frozenset[str]] = {}

    def apply(self, fact: Fact) -> None:
        """Apply a change of a group or an absence; other facts change nothing."""
        if isinstance(fact, GroupSet):
            self.groups.pop(fact.group, None)
            if not fact.removed:
                self.groups[fact.group] = fact.members
            self._names.clear()
        elif isinstance(fact, WentAway):
            self.away.pop(fact.name, None)
            if fact.until > 0.0:
                self.away[fact.name] = fact.until

    def names_of(self, person: str) -> frozenset[str]:
        """The names by which settings and reservations mean a person: their own, and those of their groups."""
        found = self._names.get(person)
        if found is None:
            mine = (f"{GROUP}{group}" for group, members in self.groups.items() if person in members)
            alone = () if person.startswith(GROUP) else (person,)  # as people of earlier versions may be called
            found = self._names[person] = frozenset((*alone, *mine))
        return found

    def includes(self, team: list[str], person: str) -> bool:
        """Whether a person is in a team of people and groups; a team without names is everybody."""
        return not team or not self.names_of(person).isdisjoint(team)

    def persons(self, who: Iterable[str]) -> set[str]:
        """The people among names of people and groups."""
        found: set[str] = set()
        for name in who:
            found.update(self.groups.get(name.removeprefix(GROUP), ()) if name.startswith(GROUP) else (name,))
        return found

    def is_away(self, person: str, now: float) -> bool:
        """Whether a person is away in all streams."""
        return now < self.away.get(person, 0.0)
