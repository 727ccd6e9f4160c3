"""A file, the standard input or a data set as chunks, with a progress bar, that can be stopped between two pieces."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import InputError
from .command import Out

_PIECE_SECONDS = 0.2
_FEWEST, _MOST = 64, 1 << 16


def is_set(file: str) -> bool:
    """Whether this is no file but the name of a data set."""
    from ..data import names

    return file != "-" and not Path(file).exists() and file.lower() in names()


class Source:
    """Where instances come from.

    Parameters
    ----------
    file : str
        A file, ``-`` for the standard input, or the name of a data set.
    reading : dict
        Arguments of ``data.read``.
    """

    def __init__(self, file: str, reading: dict[str, Any], target: str = "binary") -> None:
        if Path(file).is_dir():
            raise InputError(f"read: {file} is a folder, not a file.")
        if file != "-" and not is_set(file) and not Path(file).is_file():
            raise InputError(f"read: there is no file {file}, and no data set of that name.")
        self._file = file
        self._reading = reading | {"target": target}
        self.name = "standard input" if file == "-" else Path(file).name

    def chunks(self, skip: int, report: Callable[[int], None]) -> Iterator[tuple[Any, ...]]:
        """Instances and labels, and times where there are any, after some that are passed over."""
        from ..data import read

        skip = 0 if self._file == "-" else skip
        empty = True
        if is_set(self._file):
            X, y = self.load()
            found: Any = iter([(X[skip:], y[skip:])] if skip < len(y) else [])
        else:
            found = read(self._file, skip=skip, progress=report, **self._reading)
        for chunk in found:
            empty = False
            yield chunk
        if empty:
            raise InputError(f"{self.name} holds no instance{f' after the first {skip:,}' if skip else ''}.")

    def load(self, rows: int | None = None) -> tuple[Any, Any]:
        """All instances and labels, or so many of the first, at once."""
        from ..data import read

        if is_set(self._file):
            X, y = _of_set(self._file, self._reading["positive"])
            return X[:rows], y[:rows]
        X, y = read(self._file, **self._reading).load(rows)[:2]
        return X, y

    def size(self) -> int | None:
        """How much there is to read, in bytes; None where nobody knows."""
        if self._file == "-":
            return None
        return 1 if is_set(self._file) else Path(self._file).stat().st_size


def _of_set(name: str, positive: Any) -> tuple[Any, Any]:
    from ..data import load
    from ..data.labels import signs

    found = load(name)
    if found.y.ndim == 2 and positive in found.names:
        return found.X, found.y[:, found.names.index(positive)]
    if found.y.ndim == 2:
        some = ", ".join(found.names[:5])
        raise InputError(f"read: {name} has {len(found.names)} topics; name one as positive=, such as {some}.")
    return found.X, signs(found.y, positive, name, 0)


class Stopping:
    """Pieces of a stream, small enough to stop between two of them when the user interrupts.

    ``then`` is called at the first interrupt, for work that is not in pieces.
    """

    def __init__(self, out: Out, piece: str = "this piece") -> None:
        self.stopped = self.twice = False
        self.then: Callable[[], None] = lambda: None
        self._waiting = False
        self._out = out
        self._piece = piece

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Stop at an interrupt; at a second one, at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {each: signal.signal(each, self._interrupted) for each in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for each, handler in before.items():
                signal.signal(each, handler)

    def _interrupted(self, *_: object) -> None:
        if self.stopped or self._waiting:
            self.twice = self.stopped
            raise KeyboardInterrupt
        self.stopped = True
        self.then()
        self._out.say(f"Stopping after {self._piece}; interrupt again to stop at once.")

    def pieces(self, chunks: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """The chunks in pieces of about a fifth of a second."""
        size = _FEWEST
        while (chunk := self._next(chunks)) is not None:
            at = 0
            while at < len(chunk[1]):
                if self.stopped:
                    return
                started = time.perf_counter()
                yield tuple(part[at : at + size] for part in chunk)
                at += size
                fitting = _PIECE_SECONDS / max(time.perf_counter() - started, 1e-6)
                size = int(min(max(size * min(max(fitting, 0.25), 4.0), _FEWEST), _MOST))

    def _next(self, chunks: Iterator[tuple[Any, ...]]) -> tuple[Any, ...] | None:
        """The next chunk; waiting for it, an interrupt is an interrupt."""
        self._waiting = True
        try:
            return None if self.stopped else next(chunks, None)
        except KeyboardInterrupt:
            self.stopped = True
            return None
        finally:
            self._waiting = False


@contextlib.contextmanager
def progress_bar(out: Out, what: str, total: int | None, *columns: str) -> Iterator[Callable[..., None]]:
    """A bar on the standard error; gives a function that moves it and fills in its columns."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    shown = [TextColumn("{task.description}"), BarColumn(bar_width=24)]
    shown += [TextColumn(f"{{task.fields[{name}]}}") for name in columns]
    with Progress(*shown, TimeElapsedColumn(), console=out.stderr(), disable=out.quiet, transient=True) as bar:
        fields: dict[str, Any] = dict.fromkeys(columns, "")
        task = bar.add_task(what, total=total, **fields)

        def move(done: int | None = None, **facts: Any) -> None:
            bar.update(task, completed=done, **facts)

        yield move


def is_cold() -> bool:
    """Whether nothing has been compiled yet."""
    from ..compiling import cache_folder

    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbi"), None) is None


def say_if_compiling(out: Out) -> None:
    """Warn that the first run takes longer."""
    if is_cold():
        out.say("Compiling, since this is the first run: up to half a minute for each kind of learner.")
