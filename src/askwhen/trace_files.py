"""Traces in files: written piece by piece as a run goes on, and read again to explain a round or to go on."""

from __future__ import annotations

import json
import os
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

import numpy as np

from .errors import InputError
from .trace import Trace, needed

_ABOUT = b"askwhen"


class Known(NamedTuple):
    """What a file says: a trace, and what was written about the sampler that made it."""

    trace: Trace
    about: dict[str, Any]


class TraceWriter:
    """Writes a trace to a Parquet or CSV file, piece by piece. The file is there once all of it is.

    Parameters
    ----------
    path : str or path
        Ends in .parquet or .csv.
    about : dict, optional
        What made the trace, in texts and numbers; kept in a Parquet file, lost in CSV.
    """

    def __init__(self, path: str | os.PathLike[str], about: dict[str, Any] | None = None) -> None:
        self._path = os.fspath(path)
        self._partial = f"{self._path}.partial"
        self._kind = kind_of("trace", self._path)
        self._about = about or {}
        self._writer: Any = None
        if Path(self._path).exists() and not Path(self._path).is_file():
            raise InputError(f"trace: cannot write {self._path}: it is no regular file.")
        try:
            self._file = Path(self._partial).open("wb")  # noqa: SIM115, closed by close
        except OSError as error:
            raise InputError(f"trace: cannot write {self._path}: {error.strerror}.") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, where: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self._file.close()
            Path(self._partial).unlink(missing_ok=True)

    def add(self, trace: Trace) -> None:
        """The rounds that follow those before."""
        table = trace.to_arrow()
        if self._writer is None:
            about = self._about | {"floor": trace.floor}
            table = table.replace_schema_metadata({_ABOUT: json.dumps(about).encode()})
            if self._kind == "csv":
                self._writer = needed("trace", "pyarrow.csv").CSVWriter(self._file, table.schema)
            else:
                self._writer = needed("trace", "pyarrow.parquet").ParquetWriter(self._file, table.schema)
        self._writer.write_table(table.cast(self._writer.schema) if self._kind == "parquet" else table)

    def close(self) -> None:
        """Put the file in its place."""
        if self._writer is not None:
            self._writer.close()
        self._file.close()
        if self._writer is None:
            Path(self._partial).unlink(missing_ok=True)
        else:
            Path(self._partial).replace(self._path)


def kind_of(owner: str, path: str) -> str:
    """Whether a file is Parquet or CSV, by its name."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".parquet", ".csv"):
        raise InputError(f"{owner}: a trace must be a .parquet or .csv file, got {path}.")
    return suffix[1:]


def read_trace(path: str | os.PathLike[str]) -> Known:
    """All rounds of a file that ``TraceWriter``, ``to_parquet`` or ``to_csv`` wrote."""
    name = os.fspath(path)
    kind = kind_of("trace", name)
    try:
        if kind == "csv":
            table = needed("trace", "pyarrow.csv").read_csv(name)
        else:
            table = needed("trace", "pyarrow.parquet").read_table(name)
    except FileNotFoundError:
        raise InputError(f"trace: there is no file {name}.") from None
    except (OSError, ValueError) as error:
        reason = (str(error).splitlines() or ["it cannot be read"])[0].rstrip(".")
        raise InputError(f"trace: {name} holds no trace: {reason}.") from error
    columns = {field: table.column(field).to_numpy() for field in table.column_names}
    try:
        about = json.loads((table.schema.metadata or {}).get(_ABOUT, b"{}"))
        return Known(_trace(columns, float(about.pop("floor", 0.0))), about)
    except (KeyError, IndexError) as error:
        raise InputError(f"trace: {name} holds no trace: it has no column {error}.") from error


def _trace(columns: dict[str, np.ndarray], floor: float) -> Trace:
    rounds, prediction = columns["round"], columns["prediction"]
    weights = [columns[name] for name in sorted(columns) if name.startswith("drift_weight_")]
    switched = columns["switched"].astype(bool)
    queried, updated, mistaken = (columns[name].astype(bool) for name in ("queried", "updated", "mistaken"))
    return Trace(
        start=int(rounds[0]),
        rounds=len(rounds),
        questions=int(queried.sum()),
        updates=int(updated.sum()),
        mistakes=int(mistaken.sum()),
        margin=columns["margin"].astype(float),
        prediction=prediction,
        probability=columns["probability"].astype(float),
        coin=columns["coin"].astype(float),
        switches=rounds[switched],
        drift_weights=np.column_stack(weights) if weights else np.zeros((len(rounds), 0)),
        queried=queried,
        updated=updated,
        mistaken=mistaken,
        floor=floor,
    )
