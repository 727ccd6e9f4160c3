"""The description of a file format, which every format module in ``formats/`` provides as ``FORMAT``."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass

from .column_choices import ColumnChoices
from .column_table import ColumnTable
from .json_lines import Lines
from .lines import count_lines
from .read_request import Chunk, ReadRequest


@dataclass(frozen=True)
class Format:
    """What the rest of the package needs to know about a file format.

    Only the first two are required: such a format is text in lines, of instances without column names.

    Parameters
    ----------
    name : str
        The name that ``format=`` and ``--format`` take; it is the name of the module too.
    chunks : callable
        Reads a file as chunks of instances and labels.
    suffixes : tuple of str
        Endings of file names that say that a file has this format.
    tables : callable, optional
        Reads a file as tables with named columns; if the request has ``instances``, a table of the first rows settles
        them, which decides what the columns are. Without it, options about columns are refused, and the file can be
        neither labelled by hand nor sent to a service as records.
    count : callable
        Counts the rows of a file without parsing their values; None where it cannot.
    scan : callable, optional
        Reads the file before ``chunks`` does, to find the number of features and the number of labels, which ``chunks``
        needs in the request.
    columns : callable
        Completes the columns that the user named with those that the format always has.
    tasks : callable, optional
        Reads a file as annotated tasks of Prodigy, which carry their answers.
    delimiter : str, optional
        The default character between two values, where users may choose another one.
    is_text : bool
        Whether a file is text, so that users may name its encoding.
    is_hashed : bool
        Whether features are hashed when they are read, so that their names are lost.
    has_pairs : bool
        Whether a row may be an instance ``{"x": ..., "y": ...}`` instead of a record of a table.
    """

    name: str
    chunks: Callable[[ReadRequest], Generator[Chunk]]
    suffixes: tuple[str, ...] = ()
    tables: Callable[[ReadRequest], Generator[ColumnTable]] | None = None
    count: Callable[[ReadRequest], int | None] = count_lines
    scan: Callable[[ReadRequest], tuple[int, int]] | None = None
    columns: Callable[[ColumnChoices], ColumnChoices] = lambda columns: columns
    tasks: Callable[[ReadRequest], Generator[Lines]] | None = None
    delimiter: str | None = None
    is_text: bool = True
    is_hashed: bool = False
    has_pairs: bool = False
