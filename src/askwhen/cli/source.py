"""A file, the standard input or a data set as chunks, with a progress bar, that can be stopped between two pieces."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from ..errors import AskwhenError, InputError, Speaker, argument
from .command import Out

_PIECE_SECONDS = 0.2
_FEWEST, _MOST = 64, 1 << 16
_FEW_FEATURES = 256


def is_set(file: str) -> bool:
    """Whether this is no file but the name of a data set."""
    from ..data import names

    return file != "-" and not Path(file).exists() and file.lower() in names()


class NothingLeftError(InputError):
    """A source has no instance after those that are passed over."""


class Source:
    """Where instances come from.

    Parameters
    ----------
    file : str
        A file, a pipe, ``-`` for the standard input, or the name of a data set.
    reading : dict
        Arguments of ``data.read``.
    target : {"binary", "number", "none"}
        What labels are, as in ``data.read``.
    shuffle : bool
        Whether to hold all instances, and take them in another order.
    seed : int
        Decides that order.
    """

    def __init__(
        self, file: str, reading: dict[str, Any], target: str = "binary", shuffle: bool = False, seed: int | None = 0
    ) -> None:
        if Path(file).is_dir():
            raise InputError(f"{file} is a folder, not a file.", owner="read")
        if file != "-" and not is_set(file) and not Path(file).exists():
            raise InputError(f"there is no file {file}, and no data set of that name.", owner="read")
        self._file = file
        self._shuffle = shuffle
        self._stream: Any = None
        self.reading = reading | {"target": target}
        self.seed = seed if shuffle else None
        self.places: list[int] | None = None
        self.name = "standard input" if file == "-" else file if file.startswith("/dev/") else Path(file).name

    def expect(self, names: Any, places: Any = None) -> None:
        """Take these features, by their names or by their hashed places, as a sampler has learnt them."""
        if names is not None:
            self.reading["names"] = names
        self.places = places

    @property
    def names(self) -> Any:
        """The names of the features, where columns have names, once instances were read."""
        return None if self._stream is None else self._stream.names

    @property
    def found(self) -> dict[str, Any]:
        """What reading has settled that need not have been said: the format, and how many features svmlight has."""
        if self._stream is None:
            return {}
        features = {"n_features": self._stream.n_features} if self._stream.format == "svmlight" else {}
        return {"format": self._stream.format} | features

    @property
    def words(self) -> Any:
        """What -1 and +1 are in the file, once instances were read; None where that is not known."""
        return None if self._stream is None else self._stream.words

    def _read(self, **more: Any) -> Any:
        from ..data import read

        if self._stream is None and self.places is None:
            self.places = self._few_places()
        self._stream = read(self._file, **self.reading, **more)
        return self._stream

    def _few_places(self) -> list[int] | None:
        """The features of a Vowpal Wabbit file by their hashed places, where its first chunk has only a few."""
        import numpy as np

        from ..data import read
        from ..data.formats import format_of

        hashed = self.reading.get("n_features") is None and Path(self._file).is_file()
        if not hashed or format_of(self._file, self.reading.get("format")) != "vw":
            return None
        first = next(iter(read(self._file, **self.reading | {"target": "none", "positive": None})), None)
        known = [] if first is None else np.unique(first[0].indices).tolist()
        return known if len(known) <= _FEW_FEATURES else None

    def _narrowed(self, X: Any) -> Any:
        """Instances with a place for each of a few known features; others share as many places as there are known."""
        if self.places is None:
            return X
        import numpy as np
        import scipy.sparse as sp

        n, known = len(self.places), np.asarray(self.places, np.int64)
        at = np.minimum(np.searchsorted(known, X.indices), max(n - 1, 0))
        is_known = known[at] == X.indices if n else np.zeros(len(X.indices), bool)
        indices = np.where(is_known, at, n + X.indices % max(n, 1))
        found = sp.csr_matrix((X.data, indices, X.indptr), (X.shape[0], 2 * max(n, 1)))
        found.sum_duplicates()
        return found

    def chunks(self, skip: int, report: Callable[[int], None]) -> Iterator[tuple[Any, ...]]:
        """Instances and labels, and times where there are any, after some that are passed over."""
        empty = True
        if is_set(self._file) or self._shuffle:
            X, y = self.load()
            found: Any = iter([(X[skip:], y[skip:])] if skip < len(y) else [])
        else:
            found = ((self._narrowed(X), *rest) for X, *rest in self._read(skip=skip, progress=report))
        for chunk in found:
            empty = False
            yield chunk
        if empty:
            raise NothingLeftError(f"{self.name} holds no instance{f' after the first {skip:,}' if skip else ''}.")

    def load(self, rows: int | None = None) -> tuple[Any, Any]:
        """All instances and labels, or so many of the first, at once."""
        if is_set(self._file):
            X, y = _of_set(self._file, self.reading["positive"])
            X, y = X[:rows], y[:rows]
        else:
            X, y = self._read().load(rows)[:2]
            X = self._narrowed(X)
        if self._shuffle:
            import numpy as np

            order = np.random.default_rng(self.seed).permutation(len(y))
            X, y = X[order], y[order]
        return X, y

    def count(self) -> int | None:
        """How many instances there are, which reads them once; None where they can be read only once."""
        if is_set(self._file):
            return len(self.load()[1])
        if not Path(self._file).is_file():
            return None
        from ..data import read

        unlabelled = self.reading | {"target": "none", "positive": None}
        return sum(int(chunk[0].shape[0]) for chunk in read(self._file, **unlabelled))

    def size(self) -> int | None:
        """How much there is to read, in bytes; None where nobody knows."""
        if is_set(self._file):
            return 1
        return Path(self._file).stat().st_size if Path(self._file).is_file() else None


def _of_set(name: str, positive: Any) -> tuple[Any, Any]:
    from ..data import load
    from ..data.labels import signs

    found = load(name)
    if found.y.ndim == 2 and positive in found.names:
        return found.X, found.y[:, found.names.index(positive)]
    if found.y.ndim == 2:
        some = ", ".join(found.names[:5])
        raise InputError(
            f"{name} has {len(found.names)} topics; name one as {argument('positive')}, such as {some}.", owner="read"
        )
    return found.X, signs(found.y, positive, name, 0)


@contextlib.contextmanager
def of_file(name: str, played: int) -> Iterator[None]:
    """Let errors speak of the file and its instances: the library speaks of rows of a chunk X."""
    try:
        yield
    except InputError as error:
        raise OfFileError(error, name, played) from error


class OfFileError(InputError):
    """What was wrong with a chunk of a file, of which so many instances had been played before."""

    def __init__(self, error: InputError, name: str, played: int) -> None:
        super().__init__(*error.args)
        self.__dict__.update(error.__dict__, file=name, chunk=None)
        self.played = played


class Commands(Speaker):
    """How the command line calls things: arguments are options, and instances are those of a file."""

    def __init__(self, error: AskwhenError) -> None:
        self._file, self._played = error.file, getattr(error, "played", 0)

    def argument(self, name: str, value: str) -> str:
        """An option, or an option with its value."""
        option = {"n_features": "--features", "zero_based": "--zero-based"}.get(name, f"--{name}")
        return option if value in ("", "True") else f"{option} {value}"

    def row(self, i: int) -> str:
        """One of the instances, by its number in the whole file."""
        return f"instance {self._played + i:,}" + (f" of {self._file}" if self._file else "")

    def instances(self) -> str:
        """All that came after those that were played."""
        return f"{self._file}, after instance {self._played:,}," if self._file else "the input"


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
    looks: dict[str, Any] = {"disable": out.quiet, "transient": True, "redirect_stdout": False}
    with Progress(*shown, TimeElapsedColumn(), console=out.stderr(), **looks) as bar:
        fields: dict[str, Any] = dict.fromkeys(columns, "")
        task = bar.add_task(what, total=total, **fields)

        def move(done: int | None = None, **facts: Any) -> None:
            bar.update(task, completed=done, **facts)

        yield move


def is_cold() -> bool:
    """Whether nothing has been compiled yet."""
    from ..compiled.steps import cache_folder

    folder = cache_folder()
    return folder is None or next(folder.rglob("*.nbi"), None) is None


def say_if_compiling(out: Out) -> None:
    """Warn that the first run takes longer."""
    from ..compiled.notices import tell_nothing

    if out.quiet:
        tell_nothing()
    if is_cold():
        tell_nothing()
        out.say("Compiling, since this is the first run: up to half a minute for each kind of learner.")
