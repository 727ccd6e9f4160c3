"""Cells of an experiment: played on all cores, kept on the disk as each is done, and never played twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from ..compiling import source_hash
from ..evaluate.workers import Watch, Workers


def cache_folder() -> Path:
    """Where finished cells are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "askwhen" / "experiments"


class Playing:
    """Plays the cells of one experiment.

    A cell is a function without arguments that gives numbers, texts, lists and dicts. What it gave is kept under its
    name, the experiment's, the size of the run and the source of the package, so that an interrupted run goes on and a
    changed one begins afresh.
    """

    def __init__(self, name: str, size: str, watch: Watch | None = None) -> None:
        self._folder = cache_folder() / f"{name}-{size}-{_source()}"
        self._watch = watch
        self._done = self._total = 0

    def __call__(self, cells: Mapping[str, Callable[[], Any]]) -> dict[str, Any]:
        """What these cells give, by their names."""
        self._folder.mkdir(parents=True, exist_ok=True)
        found = {name: self._kept(name) for name in cells}
        missing = [name for name, value in found.items() if value is None]
        self._total += len(cells)
        self._done += len(cells) - len(missing)
        before = self._done
        with Workers(lambda done, _, last: self._tell(before + done, last), len(missing)) as workers:
            played = workers.all([(name, partial(self._play, name, cells[name])) for name in missing])
        return found | dict(zip(missing, played, strict=True))

    def _tell(self, done: int, last: str) -> None:
        self._done = done
        if self._watch is not None:
            self._watch(done, self._total, last)

    def _path(self, name: str) -> Path:
        return self._folder / f"{hashlib.sha256(name.encode()).hexdigest()[:24]}.json"

    def _kept(self, name: str) -> Any:
        try:
            return json.loads(self._path(name).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None

    def _play(self, name: str, cell: Callable[[], Any]) -> Any:
        text = json.dumps(cell())
        path = self._path(name)
        partial_path = path.with_suffix(f".{os.getpid()}")
        partial_path.write_text(text, encoding="utf-8")
        partial_path.replace(path)
        return json.loads(text)


def _source() -> str:
    """A hash of the compiled steps and of the experiments."""
    here = Path(__file__).parent
    text = "".join(path.read_text(encoding="utf-8") for path in sorted(here.glob("*.py")))
    return hashlib.sha256((source_hash() + text).encode()).hexdigest()[:16]
