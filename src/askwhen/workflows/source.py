"""The source of a workflow's instances: a file, the standard input or a data set, in chunks or all at once."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import encoders
from ..data import Stream, load, names, read
from ..data.counting import count_rows
from ..data.files import is_piped, listed, perhaps
from ..data.formats import FORMATS, format_of
from ..data.label_spelling import folded
from ..data.labels import check_positive_label, signs, tallied, whole
from ..data.schema import Schema
from ..errors import ArgumentsError, InputError, InputWarning, argument
from ..rules import PromiseRule
from .same_file import begins_with, identity

_FEW_FEATURES = 256
OF_COLUMNS = ("text", "categories", "numbers", "vector", "drop", "names", "missing", "decimal")
"""Arguments that decide what columns are taken for."""
_OF_FILES = (
    "format",
    "label",
    "time",
    "text",
    "categories",
    "numbers",
    "vector",
    "decimal",
    "encoder",
    "drop",
    "delimiter",
    "encoding",
    "n_features",
    "zero_based",
    "fold_labels",
)


def share_of(labels: float, rows: int) -> float:
    """Labels, given as a share or as a number above 1, as a share of the rows."""
    return float(labels) if labels <= 1.0 else min(labels / max(rows, 1), 1.0)


def promise_of(errors: float, labels: float | None, rows: int | None, within: float | None = None) -> PromiseRule:
    """A promise for a file of so many rows, and with a budget for at most this share or number of labels."""
    most = None if labels is None or labels <= 1.0 else int(labels)
    return PromiseRule(float(errors), most=most, rate=labels if most is None else None, within=within, length=rows)


def class_names(owner: str, classes: Sequence[str] | None, reading: dict[str, Any]) -> Any:
    """Labels as they were typed, as numbers if all are whole; "open" if they are not known beforehand."""
    if classes is None or list(classes) == ["open"]:
        return None if classes is None else "open"
    names = [folded(name) for name in classes] if reading.get("fold_labels") else list(classes)
    if len(names) < 2 or len(set(names)) < len(names):
        raise ArgumentsError(
            f"{argument('classes')} takes two or more different labels, as in ant,bee, or open.", owner=owner
        )
    return [int(name) for name in names] if all(name.lstrip("-").isdigit() for name in names) else names


def is_set(file: str) -> bool:
    """Whether this is the name of a data set and not a file."""
    return file != "-" and not Path(file).exists() and file.lower() in names()


class NothingLeftError(InputError):
    """A source has no instance after those that are skipped."""


class Source:
    """A file or data set that instances are read from.

    Parameters
    ----------
    file : str
        A file, a pipe, ``-`` for the standard input, or the name of a data set.
    reading : dict
        Arguments of ``data.read``.
    target : {"binary", "number", "class", "none"}
        The kind of labels, as in ``data.read``.
    shuffle : bool
        Whether to hold all instances, and take them in another order.
    seed : int
        Decides that order.
    """

    def __init__(
        self, file: str, reading: dict[str, Any], target: str = "binary", shuffle: bool = False, seed: int | None = 0
    ) -> None:
        if Path(file).is_dir():
            raise InputError(f"{file} is a directory, not a file.", owner="read")
        if file != "-" and not is_set(file) and not Path(file).exists():
            raise InputError(f"there is no file {file}, and no data set of that name.", owner="read")
        if is_set(file):
            _refuse_of_file(file, reading)
        self._file = file
        self._shuffle = shuffle
        self._stream: Stream | None = None
        self._say: Callable[[str], None] | None = None
        self._say_pair: Callable[[str], None] | None = None
        self.classes: Sequence[Any] | None = None
        """The labels that may come, where all are known."""
        self.reading = reading | {"target": target}
        self.seed = seed if shuffle else None
        self.places: list[int] | None = None
        self.name = "standard input" if file == "-" else file if file.startswith("/dev/") else Path(file).name

    def expect(
        self, schema: Schema | None, names: Sequence[str] | None = None, places: list[int] | None = None
    ) -> None:
        """Take these features, by a schema, their names or their hashed places, as a sampler has learnt them."""
        if schema is not None:
            self.reading["schema"] = schema
        elif names is not None:
            self.reading["names"] = names
        self.places = places

    @property
    def is_table(self) -> bool:
        """Whether instances come from a file with named columns."""
        return not is_set(self._file) and format_of(self._file, self.reading.get("format")).tables is not None

    def fit(self, d: int) -> None:
        """Read a table without features for missing numbers if only then it has so many features."""
        schema = self.schema
        if schema is not None and schema.kinds.d != d:
            plain = Source(self._file, self.reading | {"missing": "refuse"}, self.reading["target"])
            if plain.schema is not None and plain.schema.kinds.d == d:
                self.expect(plain.schema)
                self._stream = None

    @property
    def identity(self) -> dict[str, Any] | None:
        """The identity that a saved sampler stores, to recognise this source; None for a pipe."""
        return {"set": self._file.lower()} if is_set(self._file) else identity(self._file)

    def is_known_as(self, known: Any) -> bool:
        """Whether this is the source of an identity, perhaps with rows added at its end."""
        if is_set(self._file):
            return bool(known == self.identity)
        return begins_with(self._file, known)

    @property
    def names(self) -> tuple[str, ...] | None:
        """The names of the features, where columns have names, once instances were read."""
        return None if self._stream is None else self._stream.names

    @property
    def schema(self) -> Schema | None:
        """What each column of a table is taken for; of a pipe it is known once instances were read."""
        if is_set(self._file) or (self._stream is None and is_piped(self._file)):
            return None
        return (self._stream or self._read()).schema

    def announce(self, say: Callable[[str], None]) -> None:
        """Say what the columns are taken for: now, or of a pipe once the first instances were read."""
        self._say = self._say_pair = say
        if not is_piped(self._file):
            self._announce()

    def _announce(self) -> None:
        schema = self.schema
        if schema is not None and self._say is not None:
            self._say(schema.summary())
            if schema.has_words_only and not encoders.is_installed():
                self._say("Texts are seen as words only; pip install 'askwhen[text]' adds what they mean, as vectors.")
            self._say = None

    def _announce_pair(self) -> None:
        """Say which of two texts is the positive label, where their order has decided."""
        pair = None if self._stream is None else self._stream.pair
        if pair is not None and self._say_pair is not None:
            self._say_pair(
                f"Labels: {pair[1]!r} is the positive one, {pair[0]!r} the other; --positive says otherwise."
            )
            self._say_pair = None

    @property
    def found(self) -> dict[str, Any]:
        """Arguments that reading has found: the format, and the number of features where a first pass found it."""
        if self._stream is None:
            return {}
        format = self._stream.format
        features = {} if FORMATS[format].scan is None else {"n_features": self._stream.n_features}
        pair = {} if self._stream.pair is None else {"positive": self._stream.pair[1]}
        return {"format": format} | features | pair

    @property
    def words(self) -> tuple[str, str] | None:
        """The labels in the file that became -1 and +1, once instances were read; None if they are not known."""
        return None if self._stream is None else self._stream.words

    def _read(self, **more: Any) -> Stream:
        if self._stream is None and self.places is None:
            self.places = self._few_places()
        self._stream = read(self._file, **arguments(self.reading, self._file), **more)
        return self._stream

    def _few_places(self) -> list[int] | None:
        """The features of a hashed format by their places, where the first chunk has only a few of them."""
        hashed = self.reading.get("n_features") is None and Path(self._file).is_file()
        if not hashed or not format_of(self._file, self.reading.get("format")).is_hashed:
            return None
        reading = arguments(self.reading, self._file) | {"target": "none", "positive": None}
        first = next(iter(read(self._file, **reading)), None)
        known = [] if first is None else np.unique(first[0].indices).tolist()
        return known if len(known) <= _FEW_FEATURES else None

    def _narrowed(self, X: Any) -> Any:
        """Instances with a place for each of a few known features; others share as many places as there are known."""
        if self.places is None:
            return X
        n, known = len(self.places), np.asarray(self.places, np.int64)
        at = np.minimum(np.searchsorted(known, X.indices), max(n - 1, 0))
        is_known = known[at] == X.indices if n else np.zeros(len(X.indices), bool)
        indices = np.where(is_known, at, n + X.indices % max(n, 1))
        found = sp.csr_matrix((X.data, indices, X.indptr), (X.shape[0], 2 * max(n, 1)))
        found.sum_duplicates()
        return found

    def chunks(self, skip: int, report: Callable[[int], None]) -> Iterator[tuple[Any, ...]]:
        """Instances and labels, and times where there are any, after some that are skipped."""
        empty, at, seen = True, skip, set[Any]()
        if is_set(self._file) or self._shuffle:
            X, y = self.load()
            found: Any = iter([(X[skip:], y[skip:])] if skip < len(y) else [])
        else:
            found = ((self._narrowed(X), *rest) for X, *rest in self._read(skip=skip, progress=report))
        for chunk in found:
            if empty:
                self._announce()
                self._announce_pair()
            empty = False
            seen |= self._check_classes(chunk[1], at)
            at += chunk[0].shape[0]
            yield chunk
        if empty:
            raise NothingLeftError(f"{self.name} holds no instance{f' after the first {skip:,}' if skip else ''}.")
        if not skip:
            self._miss_classes(seen)

    def _check_classes(self, y: np.ndarray, before: int) -> set[Any]:
        """The labels of a chunk, all of which must be among the known ones."""
        if self.classes is None:
            return set()
        labels = y.tolist()
        known = set(self.classes)
        strange = next((row for row, label in enumerate(labels) if label not in known), None)
        if strange is not None:
            label = labels[strange]
            raise InputError(
                f"{self.name} has the label {label!r} in instance {before + strange:,}, counted from 0, which is not "
                f"one of the classes {listed(list(self.classes))}{perhaps(label, self.classes)}; {tallied(y, before)}.",
                owner="read",
                file=self.name,
                row=before + strange,
            )
        return set(labels)

    def _miss_classes(self, seen: set[Any]) -> None:
        """Warn of known labels that never came."""
        absent = [label for label in self.classes or () if label not in seen]
        if absent:
            warnings.warn(f"No instance of {self.name} has the label {listed(absent)}.", InputWarning, stacklevel=2)

    def load(self, rows: int | None = None) -> tuple[Any, Any]:
        """All instances and labels, or so many of the first, at once."""
        if is_set(self._file):
            X, y = _of_set(self._file, self.reading)
            X, y = X[:rows], y[:rows]
        else:
            X, y = self._read().load(rows)[:2]
            self._announce()
            self._announce_pair()
            X = self._narrowed(X)
        if self._shuffle:
            order = np.random.default_rng(self.seed).permutation(len(y))
            X, y = X[order], y[order]
        return X, y

    @property
    def order(self) -> np.ndarray | None:
        """The order in which rows are taken, or None where it is that of the file."""
        if not self._shuffle:
            return None
        return np.random.default_rng(self.seed).permutation(self.count() or 0)

    def load_known(self, rows: int | None = None) -> tuple[Any, Any]:
        """The same, where every label must be among the known ones."""
        X, y = self.load(rows)
        seen = self._check_classes(y, 0)
        if rows is None:
            self._miss_classes(seen)
        return X, y

    def count(self) -> int | None:
        """Number of instances, counted without reading their values; None if they can be read only once."""
        if is_set(self._file):
            return len(self.load()[1])
        return count_rows(self._file, **{name: self.reading.get(name) for name in ("format", "delimiter", "encoding")})

    def size(self) -> int | None:
        """Size of the source in bytes; None if that is not known."""
        if is_set(self._file):
            return 1
        return Path(self._file).stat().st_size if Path(self._file).is_file() else None


def arguments(reading: dict[str, Any], file: str = "") -> dict[str, Any]:
    """Arguments of ``data.read``, without the choices about columns where a schema says what they are.

    Where nothing is said about texts, the static encoder is taken for the columns of a file, if it is installed.
    """
    encoder = reading.get("encoder")
    is_new = reading.get("schema") is None and reading.get("names") is None
    if encoder is None and is_new and format_of(file, reading.get("format")).tables:
        encoder = encoders.AUTO
    chosen = reading | {"encoder": encoder}
    if reading.get("schema") is None:
        return chosen
    return {name: value for name, value in chosen.items() if name not in OF_COLUMNS}


def _refuse_of_file(name: str, reading: dict[str, Any]) -> None:
    """Refuse options about files where instances come from a data set."""
    given = next((each for each in _OF_FILES if reading.get(each)), None)
    if given is not None:
        raise ArgumentsError(f"{argument(given)} is for files, and {name} is a data set.", owner="read")


def _of_set(name: str, reading: dict[str, Any]) -> tuple[Any, Any]:
    found, positive = load(name), reading.get("positive")
    check_positive_label(positive, reading["target"])
    if reading["target"] == "class" and found.y.ndim == 1:
        return found.X, whole(found.y)
    if found.y.ndim == 2 and positive in found.names:
        return found.X, found.y[:, found.names.index(positive)]
    if found.y.ndim == 2:
        near, some = perhaps(positive, found.names), ", ".join(found.names[:5])
        raise InputError(
            f"{name} has {len(found.names)} topics; name one as {argument('positive')}{near or f', such as {some}'}.",
            owner="read",
        )
    y = signs(found.y, positive, name, 0)
    if not (y > 0).any():
        raise InputError(
            f"no instance of {name} has the label {positive!r} that is {argument('positive')}; its labels are "
            f"{listed(np.unique(found.y).tolist())}.",
            owner="read",
        )
    return found.X, y


@contextlib.contextmanager
def of_file(name: str, played: int) -> Iterator[None]:
    """Inside, an error about a row of a chunk names the file, and the instance by its number in it."""
    try:
        yield
    except OfFileError:
        raise
    except InputError as error:
        raise OfFileError(error, name, played) from error


class OfFileError(InputError):
    """An error about a chunk of a file, before which ``played`` instances had been played."""

    def __init__(self, error: InputError, name: str, played: int) -> None:
        super().__init__(*error.args)
        self.__dict__.update(error.__dict__, file=name, chunk=None)
        self.played = played
