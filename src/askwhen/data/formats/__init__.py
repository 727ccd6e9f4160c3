"""The file formats. Each module here is one format: it provides a :class:`~askwhen.data.format.Format` as ``FORMAT``.

The name of the module is the name of the format. Nothing else has to be changed for a new one: all modules in this
directory are found, and the command line lists their names.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from pathlib import Path

from ...errors import InputError, argument
from ...validation import check_choice
from ..files import COMPRESSED
from ..format import Format

FORMATS: dict[str, Format] = {
    each.name: importlib.import_module(f"{__name__}.{each.name}").FORMAT for each in pkgutil.iter_modules(__path__)
}
"""All formats by name."""


def _by_name(path: str | os.PathLike[str]) -> Format | None:
    """The format that the name of a file says, or None."""
    suffixes = [suffix.lower() for suffix in Path(path).suffixes]
    if suffixes and suffixes[-1] in COMPRESSED:
        suffixes.pop()
    return next((each for each in FORMATS.values() if suffixes and suffixes[-1] in each.suffixes), None)


def is_known(path: str | os.PathLike[str]) -> bool:
    """Whether the name of a file says its format."""
    return _by_name(path) is not None


def format_of(path: str | os.PathLike[str], name: str | None) -> Format:
    """The format of a file: the one that was given by name, or the one that the file's name says."""
    if name is not None:
        check_choice("read", argument("format"), name, tuple(FORMATS))
        return FORMATS[name]
    found = _by_name(path)
    if found is None:
        is_json = Path(path).suffix.lower() == ".json"
        hint = "; where every line is an object of its own, it is ndjson" if is_json else ""
        raise InputError(
            f"the format of {path} cannot be seen from its name; give {argument('format')}, one of "
            f"{', '.join(FORMATS)}{hint}.",
            owner="read",
            mend={"format": "ndjson"} if is_json else {},
        )
    return found
