"""All methods and streams: what the files in ``methods`` and ``streams`` offer, and files named besides."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from . import methods, streams
from .contract import Method, Source

ORDER = ("askwhen_sampler", "river_models", "scikit_activeml", "vowpal_wabbit", "capymoa_models", "refitted")
"""The first files of ``methods``, in the order of the tables; others follow."""


def modules(package: ModuleType) -> list[ModuleType]:
    """The files of a package."""
    names = [found.name for found in pkgutil.iter_modules(package.__path__)]
    names.sort(key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]


def besides(paths: Sequence[Path]) -> list[ModuleType]:
    """Files that are not in the folders."""
    found = []
    for path in paths:
        spec = importlib.util.spec_from_file_location(f"field_{path.stem}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        found.append(module)
    return found


def registered(paths: Sequence[Path] = ()) -> tuple[dict[str, Method], dict[str, Source]]:
    """The methods and the streams by their names."""
    others = besides(paths)

    def offered(package: ModuleType, what: str) -> dict[str, Any]:
        listed = [each for module in [*modules(package), *others] for each in getattr(module, what, [])]
        found = {each.name: each for each in listed}
        if len(found) < len(listed):
            raise SystemExit(f"field_table: two {what.lower()} have the same name among {', '.join(found)}.")
        return found

    return offered(methods, "METHODS"), offered(streams, "STREAMS")


def missing(method: Method) -> list[str]:
    """What a method needs that is not installed."""
    return [name for name in method.needs if importlib.util.find_spec(name) is None]
