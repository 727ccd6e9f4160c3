"""Traces in files: written piece by piece during a run, and read again to explain a round or to resume the run.

During a run the rounds are in a *journal* next to the trace: an Arrow stream that can be read up to the last whole
piece, even if the run was killed. At the end it is converted to the Parquet or CSV file, which is complete or does not
exist.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from ..errors import InputError
from ..system.atomic_file import open_locked, whole_file
from .trace import Trace, needed

_ABOUT = b"askwhen"
_OF_THE_RUN = ("floor", "blind", "costs", "experts", "several")


class StoredTrace(NamedTuple):
    """The content of a file: a trace, and what was written about the sampler that made it."""

    trace: Trace
    about: dict[str, Any]


class TraceWriter:
    """Writes a trace to a Parquet or CSV file, piece by piece. The file appears when it is complete.

    A second writer of the same file is refused. If the process is killed, its journal remains, from which another
    writer resumes: it has every round until the last :meth:`sync`, and usually all of them.

    Parameters
    ----------
    path : str or path
        File name that ends in .parquet or .csv.
    about : dict, optional
        Description of the run, in texts and numbers; stored in a Parquet file, not in CSV.
    rounds : int, default 0
        Number of rounds the sampler has played. If there are any, the trace continues those in the journal, or in the
        file.

    Attributes
    ----------
    before : Trace or None
        The earlier rounds that it continues.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any] | None = None, rounds: int = 0) -> None:
        self._path = os.fspath(path)
        self._journal = f"{self._path}.partial"
        self._kind = kind_of("trace", self._path)
        self._about = about or {}
        self._arrow = needed("trace", "pyarrow")
        self._schema: Any = None
        self.before: Trace | None = None
        if Path(self._path).exists() and not Path(self._path).is_file():
            raise InputError(f"cannot write {self._path}: it is not a regular file.", owner="trace")
        with self._write_errors():
            file = open_locked(self._journal)
        if file is None:
            raise InputError(f"another run is writing {self._path}; give this one another name.", owner="trace")
        self._file = file
        self._rounds = 0
        try:
            if rounds > 0:
                self._resume(rounds)
            else:
                self._file.truncate(0)
        except BaseException:
            self._file.close()  # keep the journal, which may hold rounds of a killed run
            raise

    def _resume(self, rounds: int) -> None:
        """Begin with the earlier rounds: from the journal of a killed run, or from the file of one that ended."""
        earlier: list[Any] = []
        end = last = 0
        for batch, ends in _journal_batches(self._journal):
            last = batch.column("round")[-1].as_py() + 1
            if last > rounds:
                break
            earlier.append(batch)
            end = ends
        if earlier and earlier[-1].column("round")[-1].as_py() + 1 == rounds:
            table = self._arrow.Table.from_batches(earlier)
            self._schema, self.before = table.schema, _stored_trace(table, self._journal).trace
            self._rounds = self.before.rounds
            self._file.truncate(end)
            return
        if Path(self._path).exists():
            self.before = read_trace(self._path).trace
            last = self.before.start + self.before.rounds
        if last != rounds and last > 0:
            raise InputError(
                f"{self._path} ends at round {last}, but the sampler is at round {rounds}; give this run another "
                "trace.",
                owner="trace",
            )
        self._file.truncate(0)
        if self.before is not None:
            self.add(self.before)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def add(self, trace: Trace) -> None:
        """Add the next rounds."""
        table = trace.to_arrow()
        if self._schema is None:
            about = self._about | {name: getattr(trace, name) for name in _OF_THE_RUN}
            about |= {} if trace.pair is None else {"pair": trace.pair}
            schema = table.schema
            if self._arrow.types.is_null(schema.field("prediction").type):  # no class was known yet
                at = schema.get_field_index("prediction")
                schema = schema.set(at, self._arrow.field("prediction", self._arrow.string()))
            self._schema = schema.with_metadata({_ABOUT: json.dumps(about).encode()})
            self._write(self._schema.serialize())
        for batch in table.cast(self._schema).to_batches():
            self._write(batch.serialize())
        self._rounds += trace.rounds

    def _write(self, content: Any) -> None:
        with self._write_errors():
            self._file.write(content)

    def sync(self) -> None:
        """Write the added rounds to the disk, so that they survive a crash of the process or of the machine."""
        with self._write_errors():
            self._file.flush()
            os.fsync(self._file.fileno())

    def close(self) -> None:
        """Write the file. If that fails, an earlier file and the journal stay."""
        try:
            if self._schema is not None:
                with self._write_errors():
                    self._file.flush()
                    self._convert()
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.close()
            raise
        self.discard()

    def _convert(self) -> None:
        batches = (batch for batch, _ in _journal_batches(self._journal))
        with whole_file(self._path) as file:
            if self._kind == "csv":
                writer = needed("trace", "pyarrow.csv").CSVWriter(file, self._schema)
            else:
                writer = needed("trace", "pyarrow.parquet").ParquetWriter(file, self._schema)
            with writer:
                written = 0
                for some in iter(lambda: list(itertools.islice(batches, 64)), []):
                    table = self._arrow.Table.from_batches(some)
                    writer.write_table(table)
                    written += table.num_rows
            if written != self._rounds:
                raise OSError(f"only {written} of {self._rounds} rounds can be read from {self._journal}")

    def discard(self) -> None:
        """Remove the journal and write no file; an earlier file stays."""
        with contextlib.suppress(OSError):
            Path(self._journal).unlink(missing_ok=True)
        with contextlib.suppress(OSError):
            self._file.close()

    @contextlib.contextmanager
    def _write_errors(self) -> Iterator[None]:
        """Inside, errors of the operating system are raised as an InputError that names the file."""
        try:
            yield
        except OSError as error:
            raise InputError(f"cannot write {self._path}: {error.strerror or error}.", owner="trace") from error


def _journal_batches(journal: str) -> Iterator[tuple[Any, int]]:
    """The pieces of a journal and where each ends, up to the first incomplete one."""
    arrow = needed("trace", "pyarrow")
    with arrow.OSFile(journal) as file, contextlib.suppress(arrow.ArrowInvalid, OSError, StopIteration):
        reader = needed("trace", "pyarrow.ipc").open_stream(file)
        while True:
            batch = reader.read_next_batch()
            yield batch, file.tell()


def kind_of(owner: str, path: str) -> str:
    """The format of a file, "parquet" or "csv", by its name."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".parquet", ".csv"):
        raise InputError(f"a trace must be a .parquet or .csv file, got {path}.", owner=owner)
    return suffix[1:]


def read_trace(path: str | os.PathLike[str]) -> StoredTrace:
    """All rounds of a file that ``TraceWriter``, ``to_parquet`` or ``to_csv`` wrote."""
    name = os.fspath(path)
    kind = kind_of("trace", name)
    try:
        if kind == "csv":
            table = needed("trace", "pyarrow.csv").read_csv(name)
        else:
            table = needed("trace", "pyarrow.parquet").read_table(name)
    except FileNotFoundError:
        raise InputError(f"there is no file {name}.", owner="trace") from None
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0].rstrip(".")
        raise InputError(f"{name} does not hold a trace: {reason}.", owner="trace") from error
    return _stored_trace(table, name)


def _stored_trace(table: Any, name: str) -> StoredTrace:
    columns = {field: table.column(field).to_numpy() for field in table.column_names}
    try:
        about = json.loads((table.schema.metadata or {}).get(_ABOUT, b"{}"))
        known = {name: about.pop(name) for name in (*_OF_THE_RUN, "pair") if name in about}
        return StoredTrace(_trace(columns, known), about)
    except (KeyError, IndexError) as error:
        raise InputError(f"{name} does not hold a trace: it lacks the column {error}.", owner="trace") from error


def _trace(columns: dict[str, np.ndarray], known: dict[str, Any]) -> Trace:
    experts, costs = tuple(map(str, known.get("experts", ()))), known.get("costs")
    rounds, prediction = columns["round"], columns["prediction"]
    names = sorted((name for name in columns if name.startswith("drift_weight_")), key=lambda name: (len(name), name))
    weights = [columns[name] for name in names]
    switched, margin = columns["switched"].astype(bool), columns["margin"].astype(float)
    pair = known.get("pair", None if "several" in known else _pair_of(prediction, margin))
    queried, updated, mistaken = (columns[name].astype(bool) for name in ("queried", "updated", "mistaken"))
    return Trace(
        start=int(rounds[0]),
        rounds=len(rounds),
        questions=int(queried.sum()),
        updates=int(updated.sum()),
        mistakes=int(mistaken.sum()),
        margin=margin,
        prediction=prediction,
        probability=columns["probability"].astype(float),
        coin=columns["coin"].astype(float),
        switches=rounds[switched],
        drift_weights=np.column_stack(weights) if weights else np.zeros((len(rounds), 0)),
        experts=experts if len(experts) == len(weights) else (),
        queried=queried,
        updated=updated,
        mistaken=mistaken,
        floor=float(known.get("floor", 0.0)),
        blind=bool(known.get("blind", np.isnan(margin).any())),
        costs=None if costs is None else (float(costs[0]), float(costs[1])),
        several=bool(known.get("several", pair is None and _names_classes(prediction, margin))),
        pair=None if pair is None else (pair[0], pair[1]),
        **_delivered(columns, prediction),
    )


def _delivered(columns: dict[str, np.ndarray], prediction: np.ndarray) -> dict[str, Any]:
    """With a promise: the delivered labels, and which are withheld; a missing whole number was read as NaN."""
    if "withheld" not in columns or "delivered" not in columns:
        return {}
    found, withheld = columns["delivered"], columns["withheld"].astype(bool)
    if withheld.any() and prediction.dtype.kind != "f":
        labels = found[~withheld].astype(prediction.dtype)
        found = np.full(len(found), None, object)
        found[~withheld] = labels
    return {"delivered": found, "withheld": withheld}


def _pair_of(prediction: np.ndarray, margin: np.ndarray) -> tuple[Any, Any] | None:
    """The two labels, if a file does not name them: of a class the margin is never negative."""
    negative, positive = (np.unique(prediction[side]).tolist() for side in (margin < 0.0, margin > 0.0))
    if len(negative) != 1 or len(positive) != 1 or negative == positive:
        return None
    return None if (negative, positive) == ([-1], [1]) else (negative[0], positive[0])


def _names_classes(prediction: np.ndarray, margin: np.ndarray) -> bool:
    """Whether predictions are classes, if a file does not say so: neither -1 and +1, nor a regressor's margins."""
    if prediction.dtype.kind in "OUb":
        return True
    numbers = prediction.astype(float)
    return not (np.isin(numbers, (-1.0, 1.0)).all() or np.array_equal(numbers, margin, equal_nan=True))
