"""Finished cells: one JSON file for each method, stream, share and delay, written whole or not at all."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from record import versions

from .results import Played

DONE, LEFT_OUT, STOPPED, FAILED = "done", "left out", "stopped", "failed"


class Key(NamedTuple):
    """Which cell."""

    stream: str
    method: str
    share: float
    delay: int


@dataclass
class Cell:
    """What came of it. *why* says why there is no result; *minutes* are those that were allowed if it was stopped."""

    state: str
    played: list[Played] = field(default_factory=list)
    setting: Any = None
    knob: float = 0.0
    seconds: float = 0.0
    why: str = ""
    minutes: float = 0.0
    measured: str = ""
    versions: dict[str, str] = field(default_factory=dict)


def slug(name: str) -> str:
    """A name as a part of a path."""
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


class Store:
    """The cells of streams that are cut at the same length, in a folder."""

    def __init__(self, folder: Path, rounds: int) -> None:
        self.folder, self.versions = folder / f"rounds-{rounds}", versions()
        self.folder.mkdir(parents=True, exist_ok=True)

    def path(self, key: Key) -> Path:
        """Where a cell is."""
        return self.folder / slug(key.stream) / slug(key.method) / f"{key.share:g}-late-{key.delay}.json"

    def read(self, key: Key) -> Cell | None:
        """A cell, if there is one."""
        path = self.path(key)
        return self._read(path)[1] if path.exists() else None

    def _read(self, path: Path) -> tuple[Key, Cell]:
        try:
            facts = json.loads(path.read_text())
            key = Key(*(facts.pop(name) for name in Key._fields))
            return key, Cell(**facts | {"played": [Played(*each) for each in facts["played"]]})
        except (ValueError, TypeError, KeyError) as error:
            raise SystemExit(f"field_table: {path} holds no cell that can be read; remove it.") from error

    def write(self, key: Key, cell: Cell) -> None:
        """Keep a cell, with the day and the versions."""
        cell.measured, cell.versions = datetime.now(UTC).date().isoformat(), self.versions
        path = self.path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_suffix(".part")
        part.write_text(json.dumps(key._asdict() | asdict(cell)) + "\n")
        part.replace(path)

    def all(self) -> Iterator[tuple[Key, Cell]]:
        """Every cell there is."""
        return (self._read(path) for path in sorted(self.folder.rglob("*.json")))

    def seconds(self, stream: str, method: str) -> float:
        """Processor time that a method has taken on a stream."""
        folder = self.path(Key(stream, method, 0.0, 0)).parent
        return sum(self._read(path)[1].seconds for path in folder.glob("*.json"))
