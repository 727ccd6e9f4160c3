"""Compiled steps on the disk: damaged files are discarded, and everything works where nothing can be written.

numba's cache has an index (.nbi) and one file for each compiled step (.nbc), all pickles. With numba's own cache a
full disk, a folder that is not writeable or a truncated file would raise an error; here the step is compiled again
instead, with one :class:`askwhen.errors.CacheWarning`. The content of a file is checked by SHA-256 before it is run.
"""

from __future__ import annotations

import contextlib
import hashlib
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

from numba.core import caching
from numba.core.serialize import dumps

from ..errors import CacheWarning
from . import carried
from .sources import UNNAMED

_warned = False


def _warn(sentence: str) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(sentence, CacheWarning, stacklevel=2)


class _CheckedFiles(caching.IndexDataCacheFile):
    """numba's files, with a checksum and the key of its step in each of them."""

    def save(self, key: Any, data: Any) -> None:
        content = cast(Any, dumps)((key, data))
        cast(Any, super()).save(key, (hashlib.sha256(content).digest(), content))

    def load(self, key: Any) -> Any:
        found = cast(Any, super()).load(key)
        if found is None:
            return None
        digest, content = found
        if hashlib.sha256(content).digest() != digest:
            raise ValueError("its checksum does not match")
        saved_as, data = pickle.loads(content)
        if saved_as != key:
            raise ValueError("it holds another step")
        return data


_PACKAGE = Path(__file__).parents[1]


class _OurFolder(caching.UserProvidedCacheLocator):
    """Folder of the files of a step; that it is not writeable is found out only when something is to be stored."""

    @classmethod
    def get_suitable_cache_subpath(cls, py_file: str) -> str:
        """A name for the folder of a module; of ours, the same wherever the package is installed.

        The folder around it is named after a hash of our sources: what one installation compiled serves all others.
        """
        path = Path(py_file).absolute()
        if path.is_relative_to(_PACKAGE):
            return ".".join(path.parent.relative_to(_PACKAGE.parent).parts)
        return cast(str, cast(Any, super()).get_suitable_cache_subpath(py_file))

    def ensure_cache_path(self) -> None:
        try:
            cast(Any, super()).ensure_cache_path()
        except OSError:
            if not Path(cast(Any, self).get_cache_path()).parent.is_dir():
                raise


class _InOurFolder(caching.CompileResultCacheImpl):
    """Stores compiled steps in our folder only, which is named after the sources, so that none of them is stale."""

    _locator_classes = (_OurFolder,)


class StepCache(caching.FunctionCache):
    """The disk cache of one step, which never raises."""

    _impl_class = _InOurFolder

    def __init__(self, function: Callable[..., Any]) -> None:
        cast(Any, super()).__init__(function)
        # The folder is named after a hash of the sources, so their modification times are not needed.
        self._cache_file = cast(Any, _CheckedFiles)(self._cache_path, self._impl.filename_base, 0)

    @contextlib.contextmanager
    def _filed(self, kinds: Any) -> Iterator[None]:
        """Store steps for types of other packages in separate files: reading an index imports all its packages."""
        usual, versions = self._cache_file, "".join(getattr(kind, "version", "") for kind in kinds)
        if versions:
            name = f"{self._impl.filename_base}-{hashlib.sha256(versions.encode()).hexdigest()[:16]}"
            self._cache_file = cast(Any, _CheckedFiles)(self._cache_path, name, 0)
        try:
            yield
        finally:
            self._cache_file = usual

    def load_overload(self, signature: Any, context: Any) -> Any:
        """The compiled step, or None if no usable one is stored; damaged files are discarded."""
        try:
            with self._filed(getattr(signature, "args", signature)):
                found = cast(Any, super()).load_overload(signature, context)
                return self._carried(signature, context) if found is None else found
        except OSError as error:
            self._warn(error)
        except Exception as error:  # a damaged pickle may raise anything
            with contextlib.suppress(OSError):
                cast(Any, self).flush()
            _warn(f"askwhen: a compiled step in {self._cache_path} is damaged ({error}); it is compiled again.")
        return None

    def _carried(self, signature: Any, context: Any) -> Any:
        """The compiled step that came with the package, or None."""
        machine = carried.usable(carried.FOLDER)
        if machine is None:
            return None
        here = carried.FOLDER / Path(self._cache_path).name
        _, _, code = cast(Any, self)._index_key(signature, context.codegen())
        data = cast(Any, _CheckedFiles)(str(here), self._impl.filename_base, 0).load((signature, machine, code))
        return None if data is None else cast(Any, self._impl).rebuild(context, data)

    def save_overload(self, signature: Any, compiled: Any) -> None:
        """Store a compiled step for other processes, if possible."""
        if any(UNNAMED in getattr(kind, "version", "") for kind in compiled.signature.args):
            return
        try:
            with self._filed(compiled.signature.args):
                cast(Any, super()).save_overload(signature, compiled)
        except Exception as error:  # the disk, or an index that was damaged since it was read
            self._warn(error)

    def _warn(self, error: Exception) -> None:
        _warn(
            f"askwhen: compiled steps cannot be kept in {self._cache_path} ({error}), so that every process compiles "
            "them again; make room there, or set XDG_CACHE_HOME to another folder."
        )


def keep_compiled(step: Any, function: Callable[..., Any]) -> None:
    """Let a step use the disk cache, in numba's current cache folder."""
    try:
        step._cache = StepCache(function)
    except (OSError, RuntimeError) as error:
        _warn(f"askwhen: compiled steps cannot be kept ({error}), so that every process compiles them again.")
