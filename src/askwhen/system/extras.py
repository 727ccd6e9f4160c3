"""Optional dependencies: a module that is missing is reported in one sentence, with the line that installs it.

``pip install 'askwhen[service]'`` installs the extra ``service``. Code that imports a module of an extra does it inside
:func:`needs_extra`, or lets the command line find the extra by :func:`extra_of`.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.metadata
import traceback
from collections.abc import Iterator
from typing import Any

from ..errors import MissingExtraError

_OURS = __name__.partition(".")[0]
_EXTRAS = {"client": "service"}  # packages whose extra has another name


@contextlib.contextmanager
def needs_extra(extra: str, what: str, owner: str = "") -> Iterator[None]:
    """Turn a failed import in this block into a :class:`MissingExtraError`.

    Parameters
    ----------
    extra : str
        The extra that has the modules.
    what : str
        Subject of the message: what needs them.
    owner : str, optional
        The function that was called.
    """
    try:
        yield
    except ImportError as error:
        if isinstance(error, MissingExtraError) or _root(error) == _OURS:
            raise
        raise missing_extra(error, extra, what, owner) from error


def missing_extra(error: ImportError, extra: str, what: str, owner: str = "") -> MissingExtraError:
    """The error for a module of an extra that cannot be imported."""
    sentence = f"{what} needs {_root(error)}: pip install 'askwhen[{extra}]'."
    return MissingExtraError(sentence, owner=owner, name=_root(error), extra=extra)


def extra_of(error: ImportError) -> str | None:
    """The extra whose module could not be imported: most are named like the package of askwhen that imports it."""
    importers = [str(frame.f_globals.get("__name__", "")) for frame, _ in traceback.walk_tb(error.__traceback__)]
    packages = [name.split(".")[1] for name in importers if name.startswith(f"{_OURS}.")]
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        extras = importlib.metadata.metadata(_OURS).get_all("Provides-Extra") or []
        extra = _EXTRAS.get(packages[-1], packages[-1]) if packages else None
        if extra in extras and _root(error) != _OURS:
            return extra
    return None


def optional(module: str, what: str, owner: str, extra: str | None = "data") -> Any:
    """Import a module of an extra; without an extra, one that is installed by itself."""
    if extra is not None:
        with needs_extra(extra, what, owner):
            return importlib.import_module(module)
    try:
        return importlib.import_module(module)
    except ImportError as error:
        name = _root(error)
        raise MissingExtraError(f"{what} needs {name}: pip install {name}.", owner=owner, name=name) from error


def _root(error: ImportError) -> str:
    """The package that cannot be imported."""
    return (error.name or "").partition(".")[0]
