"""Vectors of a file's texts, computed once and stored beside the file in Parquet.

Row i of the cache has a hash of the i-th text and its vector. A vector is used where the hash is that of the text that
is now in this place, and computed again elsewhere, so that a file that was changed never gets the vectors of other
texts. The metadata have the encoder's checksum. Pages have checksums; rows after a damaged page are computed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import warnings
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np

from ..errors import CacheWarning, MissingExtraError
from ..system.atomic_file import whole_file
from ..system.extras import optional
from .encoder import Encoder, checked, reason

_ABOUT = b"askwhen.vectors"
_ROWS = 4096
"""Rows of a row group, so many of which are in memory at once."""


def cached_vectors(
    chunks: Iterable[Iterable[str]], encoder: Encoder, file: str | os.PathLike[str] | None = None
) -> Iterator[np.ndarray]:
    """The vectors of each chunk of texts, through a cache beside the file that they come from.

    Parameters
    ----------
    chunks : iterable of lists of str
        All texts of the file in their order; where rows have several texts, row by row. Chunks may be of any size.
    encoder : Encoder
        One without a checksum is not cached.
    file : path, optional
        Vectors of ``mails.csv`` are stored in ``mails.csv.static-eb77ae2d.parquet``: the name of the encoder and the
        beginning of its checksum. If that cannot be written, a :class:`askwhen.errors.CacheWarning` says so, and all
        vectors are computed. Without a file, nothing is stored.
    """
    with VectorCache(encoder, file) as cache:
        for texts in chunks:
            yield cache.encode(texts)
        cache.close(is_complete=True)


class VectorCache:
    """One pass over the texts of a file; :func:`cached_vectors` for callers that have chunks one at a time.

    The end of the block stores what was computed, also where an error ended it.

    Parameters
    ----------
    encoder : Encoder
        What computes vectors that are not stored.
    file : path, optional
        The file that the texts come from.
    """

    def __init__(self, encoder: Encoder, file: str | os.PathLike[str] | None = None) -> None:
        self._encoder = encoder
        self._path = None if file is None or encoder.checksum is None else _beside(Path(os.fsdecode(file)), encoder)
        self._stored: _StoredRows | None = None
        self._writer: _Writer | None = None
        self._rows = 0
        if self._path is not None:
            try:
                self._arrow = optional("pyarrow", "a cache of vectors", "encoders")
                self._schema = _schema(self._arrow, encoder)
                self._stored = _StoredRows(self._path, self._schema, self._arrow)
            except MissingExtraError as error:
                self._give_up(error)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def encode(self, texts: Iterable[str]) -> np.ndarray:
        """Return the vectors of the next texts of the file.

        Parameters
        ----------
        texts : iterable of str
            Those that follow in the file.
        """
        if self._stored is None:
            return self._encoder.encode(texts)
        found = checked(texts)
        hashes = _hashes(found)
        known, vectors = self._stored.take(len(found))
        missing = np.ones(len(found), bool)
        missing[: len(known)] = known != hashes[: len(known)]
        if missing.any():
            stored, vectors = vectors, np.empty((len(found), self._encoder.width), np.float32)
            vectors[: len(stored)] = stored
            vectors[missing] = self._encoder.encode([found[i] for i in np.flatnonzero(missing)])
            if self._writer is None and self._path is not None:
                self._begin(self._path)
        if self._writer is not None:
            with self._writing():
                self._writer.add(hashes, vectors)
        self._rows += len(found)
        return vectors

    def close(self, is_complete: bool = False) -> None:
        """Store what was computed.

        Parameters
        ----------
        is_complete : bool, default False
            Whether these were all texts of the file, so that rows stored beyond them are dropped.
        """
        if self._writer is not None:
            with self._writing():
                if self._stored is not None and not is_complete:
                    self._writer.copy(self._stored)
                self._writer.commit()
            self._writer = None
        if self._stored is not None:
            self._stored.close()
            self._stored = None

    def _begin(self, path: Path) -> None:
        """Write a new file, which begins with the rows that were found so far."""
        with self._writing():
            self._writer = _Writer(path, self._schema, self._arrow)
            with contextlib.closing(_StoredRows(path, self._schema, self._arrow)) as earlier:
                self._writer.copy(earlier, self._rows)

    @contextlib.contextmanager
    def _writing(self) -> Iterator[None]:
        """Go on without a new file where it cannot be written; after any other error, leave the old one as it is."""
        try:
            yield
        except (OSError, self._arrow.ArrowException) as error:
            self._give_up(error)
        except BaseException as error:
            self._discard(error)
            raise

    def _give_up(self, error: Exception) -> None:
        self._discard(error)
        warnings.warn(f"Vectors of texts are not stored in {self._path}: {reason(error)}.", CacheWarning, stacklevel=4)
        self._path = None

    def _discard(self, error: BaseException) -> None:
        if self._writer is not None:
            self._writer.discard(error)
            self._writer = None


class _StoredRows:
    """The rows of a cache in order; none where there is no file, or one that is damaged or of another encoder."""

    def __init__(self, path: Path, schema: Any, arrow: Any) -> None:
        self._width = schema.field("vector").type.list_size
        self._errors = (arrow.ArrowException, OSError, ValueError)
        self._file: Any = None
        self._batches: Iterator[Any] = iter(())
        self._rest = (np.empty(0, np.uint64), np.empty((0, self._width), np.float32))
        with contextlib.suppress(*self._errors):
            self._file = optional("pyarrow.parquet", "a cache of vectors", "encoders").ParquetFile(
                path, page_checksum_verification=True
            )
            if self._file.schema_arrow.equals(schema, check_metadata=True):
                self._batches = self._file.iter_batches(_ROWS)

    def take(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """The hashes and the vectors of the next rows, fewer at the end of the file."""
        parts, have = [self._rest], len(self._rest[0])
        while have < count and (part := self._next()) is not None:
            parts.append(part)
            have += len(part[0])
        hashes, vectors = (np.concatenate(each) for each in zip(*parts, strict=True))
        self._rest = hashes[count:], vectors[count:]
        return hashes[:count], vectors[:count]

    def _next(self) -> tuple[np.ndarray, np.ndarray] | None:
        try:
            batch = next(self._batches, None)
            if batch is None:
                return None
            batch.validate(full=True)
            vectors = batch.column("vector").flatten().to_numpy().reshape(batch.num_rows, self._width)
            if not np.isfinite(vectors).all():
                raise ValueError("an encoder makes finite numbers only")
            return batch.column("text_hash").to_numpy(), vectors
        except self._errors:
            self._batches = iter(())
            return None

    def close(self) -> None:
        """Close the file."""
        if self._file is not None:
            self._file.close()


class _Writer:
    """A cache that is being written; it replaces the file by its name when it is committed."""

    def __init__(self, path: Path, schema: Any, arrow: Any) -> None:
        parquet = optional("pyarrow.parquet", "a cache of vectors", "encoders")
        self._schema, self._arrow = schema, arrow
        self._parts: list[tuple[np.ndarray, np.ndarray]] = []
        self._waiting = 0
        with contextlib.ExitStack() as stack:
            file = stack.enter_context(whole_file(path))
            self._parquet = parquet.ParquetWriter(
                file,
                schema,
                compression="zstd",
                use_dictionary=False,
                use_byte_stream_split=True,  # zstd finds little to compress in floats as they are
                write_statistics=False,
                write_page_checksum=True,
            )
            self._file = stack.pop_all()

    def add(self, hashes: np.ndarray, vectors: np.ndarray) -> None:
        """Add rows."""
        self._parts.append((hashes, vectors.copy()))  # the caller may change its array before it is written
        self._waiting += len(hashes)
        if self._waiting >= _ROWS:
            self._flush()

    def copy(self, stored: _StoredRows, count: int | None = None) -> None:
        """Add the next rows of another file, or all that are left."""
        while count is None or count > 0:
            hashes, vectors = stored.take(_ROWS if count is None else min(count, _ROWS))
            if len(hashes) == 0:
                return
            self.add(hashes, vectors)
            count = None if count is None else count - len(hashes)

    def _flush(self) -> None:
        if self._waiting == 0:
            return
        hashes, vectors = (np.concatenate(each) for each in zip(*self._parts, strict=True))
        self._parts, self._waiting = [], 0
        flat = self._arrow.array(vectors.ravel())
        column = self._arrow.FixedSizeListArray.from_arrays(flat, type=self._schema.field("vector").type)
        table = self._arrow.Table.from_arrays([self._arrow.array(hashes), column], schema=self._schema)
        self._parquet.write_table(table, row_group_size=_ROWS)

    def commit(self) -> None:
        """Replace the file by this one."""
        self._flush()
        self._parquet.close()
        self._file.close()

    def discard(self, error: BaseException) -> None:
        """Leave the file as it is."""
        with contextlib.suppress(Exception):
            self._parquet.close()
        self._file.__exit__(type(error), error, error.__traceback__)


def _beside(file: Path, encoder: Encoder) -> Path:
    """Where the cache of a file is."""
    name = re.sub(r"[^\w.-]+", "-", encoder.name)[:40]
    return file.with_name(f"{file.name}.{name}-{str(encoder.checksum)[:8]}.parquet")


def _schema(arrow: Any, encoder: Encoder) -> Any:
    """The columns of a cache; their metadata have what the vectors depend on."""
    numbers = arrow.list_(arrow.field("element", arrow.float32(), nullable=False), encoder.width)
    columns = [
        arrow.field("text_hash", arrow.uint64(), nullable=False),
        arrow.field("vector", numbers, nullable=False),
    ]
    return arrow.schema(columns, {_ABOUT: json.dumps(encoder.descriptor(), sort_keys=True).encode()})


def _hashes(texts: list[str]) -> np.ndarray:
    """64 bits for each text; a row is only ever compared with the one in its place."""
    digests = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), "<u8").astype(np.uint64)
