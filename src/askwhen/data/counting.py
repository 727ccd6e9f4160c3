"""Count the rows of a file without reading its values, so that a share of labels can be a share of the whole file."""

from __future__ import annotations

import csv
import os

from ..errors import InputError
from .files import is_piped
from .formats import format_of
from .read_request import ReadRequest


def count_rows(
    path: str | os.PathLike[str], format: str | None = None, delimiter: str | None = None, encoding: str | None = None
) -> int | None:
    """The number of rows; None where they can be read only once, or cannot be read at all.

    Errors are not raised here: what reads the values of the file raises a better one.
    """
    if is_piped(path):
        return None
    try:
        request = ReadRequest(os.fspath(path), delimiter=delimiter, encoding=encoding)
        return format_of(path, format).count(request)
    except (InputError, OSError, EOFError, LookupError, UnicodeError, csv.Error):
        return None
