"""Runs the cells of an experiment on all cores; results are stored on the disk, so that no cell is run twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..compiled import steps
from ..data import sets
from ..evaluate.comparison.cluster import workers_of
from ..evaluate.comparison.workers import Watch
from ..system.atomic_file import whole_file


def cells_folder() -> Path | None:
    """The folder of finished cells, or None where nothing can be written."""
    compiled = steps.cache_folder()
    return None if compiled is None else compiled.parent / "experiments"


class CellRunner:
    """Runs the cells of one experiment.

    A cell is a function without arguments that returns numbers, texts, lists and dicts. Its result is stored under its
    name, the experiment's, the size of the run, the source of the package and the files of the data sets, so that an
    interrupted run continues and a changed one starts again.
    """

    def __init__(self, name: str, size: str, watch: Watch | None = None, cluster: str | None = None) -> None:
        folder = cells_folder()
        self._folder = None if folder is None else folder / f"{name}-{size}-{_version()}"
        self._watch = watch
        self._cluster = cluster
        self._done = self._total = 0
        self._stopped = False

    def stop(self) -> None:
        """Let no further cell begin: waiting for one raises KeyboardInterrupt."""
        self._stopped = True

    def __call__(self, cells: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """The results of these cells, by name."""
        if self._folder is not None:
            self._folder.mkdir(parents=True, exist_ok=True)
        found = {name: stored for name in cells if (stored := self._stored(name)) is not None}
        missing = [name for name in cells if name not in found]
        self._total += len(cells)
        self._done += len(found)
        before = self._done
        with workers_of(
            self._cluster, lambda done, _, last: self._report(before + done, last), len(missing)
        ) as workers:
            played = workers.all([(name, self._begun(cells[name])) for name in missing], self._store)
        return found | dict(zip(missing, played, strict=True))

    def _report(self, done: int, last: str) -> None:
        self._done = done
        if self._watch is not None:
            self._watch(done, self._total, last)

    def _path(self, name: str) -> Path:
        assert self._folder is not None
        return self._folder / f"{_hash(name)}.json"

    def _stored(self, name: str) -> Any:
        """The stored result of a cell, or None if it is absent or damaged: the first line is the hash of the rest."""
        if self._folder is None:
            return None
        try:
            first, _, text = self._path(name).read_text(encoding="utf-8").partition("\n")
        except (OSError, ValueError):
            return None
        return json.loads(text) if first == _hash(text) else None

    def _begun(self, cell: Callable[[], Any]) -> Callable[[], Any]:
        """The cell, which does not begin after ``stop``; on a cluster, which cannot see that, the cell as it is."""
        return partial(self._play, cell) if self._cluster is None else cell

    def _play(self, cell: Callable[[], Any]) -> Any:
        if self._stopped:
            raise KeyboardInterrupt
        return cell()

    def _store(self, name: str, found: Any) -> Any:
        """Store the result of a cell; it is read back from JSON, so that stored and new results are equal."""
        if self._stopped and self._cluster is not None:
            raise KeyboardInterrupt
        text = json.dumps(found)
        if self._folder is not None:
            with whole_file(self._path(name)) as file:
                file.write(f"{_hash(text)}\n{text}".encode())
        return json.loads(text)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:24]


def _version() -> str:
    """A hash of what results depend on: the package without cli and report, and the files of the data sets."""
    package = Path(__file__).parents[1]
    sources = [path for path in sorted(package.rglob("*.py")) if path.parent.name not in ("cli", "report")]
    texts = [path.read_text(encoding="utf-8") for path in sources]
    places = [(file, sets.place(file)) for files in sets.files().values() for file in files]
    data = [(file, path.stat().st_size, path.stat().st_mtime_ns) for file, path in places if path is not None]
    return _hash(f"{steps.source_hash()}{texts}{data}")[:16]
