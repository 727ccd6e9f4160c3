"""Compilation, caching and dispatch by type of steps.

A *step* is a small pure function in the symbols of its paper, compiled by numba. A :class:`Family` is one step with one
implementation for each type of state (or of row): compiled loops pick the implementation when they are typed, so a
loop written once in a module of its own is specialised for every learner and still found in the disk cache.

The disk cache of numba checks only the file of the function itself, not those of the functions it calls. The cache
folder is therefore named after a hash of every source that steps come from: a changed formula can never meet a stale
loop.
"""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.extending import intrinsic, overload

from . import sources
from .cache import keep_compiled
from .inner import InnerCompiler
from .notices import while_compiling

F = TypeVar("F", bound=Callable[..., Any])

_STALE_AFTER = 30 * 86400.0
_OPTIONS = {"error_model": "numpy", "no_cfunc_wrapper": True}
_INNER = _OPTIONS | {"no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


@cache
def source_hash() -> str:
    """The name of this version of the steps, of Python and of numba."""
    return sources.source_hash(Path(__file__).parents[1], sys.version, numba.__version__)


def _parents() -> Iterator[Path]:
    """Folders that may hold compiled steps, the best first."""
    if os.environ.get("NUMBA_CACHE_DIR"):
        yield Path(os.environ["NUMBA_CACHE_DIR"]) / "askwhen"
    with contextlib.suppress(RuntimeError):  # no home folder is known
        yield Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "askwhen"
    yield Path(tempfile.gettempdir()) / f"askwhen-{os.getuid() if hasattr(os, 'getuid') else 'user'}"


@cache
def cache_folder() -> Path | None:
    """The folder of this version's compiled steps, or None if there is none and nothing can be written."""
    for parent in _parents():
        folder = parent / f"steps-{source_hash()}"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if hasattr(os, "getuid") and parent.stat().st_uid != os.getuid():
                raise PermissionError(parent)  # compiled steps are code: never load them from another user's folder
            with tempfile.TemporaryFile(dir=folder):
                pass
            os.utime(folder)
        except OSError:
            if _is_finished(parent) and _is_finished(folder):
                return folder
            continue
        _forget_old(parent, folder)
        return folder
    return None


def _is_finished(folder: Path) -> bool:
    """Whether a folder that is not writeable can be read, as in an image: only root or this user may own it."""
    try:
        about = folder.stat()
        next(folder.iterdir(), None)
    except OSError:
        return False
    return hasattr(os, "getuid") and about.st_uid in (0, os.getuid()) and not about.st_mode & 0o022


def _forget_old(parent: Path, keep: Path) -> None:
    """Remove folders of other versions that were not used for a month."""
    for other in parent.glob("steps-" + 16 * "[0-9a-f]"):
        with contextlib.suppress(OSError):
            if other != keep and time.time() - other.stat().st_mtime > _STALE_AFTER:
                shutil.rmtree(other, ignore_errors=True)


def step(function: F) -> F:
    """Compile a step into its callers, without fastmath, so that every caller gets the same bits.

    Called from Python, it runs as it is written.
    """
    return cast(F, Family(function.__name__, default=function))


def apart(function: F) -> F:
    """Compile a step without inlining, because it is too large or too seldom called."""
    return cast(F, Family(function.__name__, default=function, forceinline=False))


def by_address(function: F) -> F:
    """Compile a step that is called by its address, see :mod:`askwhen.compiled.by_address`."""
    return _kept(function, no_cpython_wrapper=True)


def entry(function: F) -> F:
    """Compile a step that Python calls; only these get code that converts arguments from Python."""
    return _kept(function, no_cpython_wrapper=False)


def _kept(function: F, **options: bool) -> F:
    """Compile a step, unless it is stored on the disk, and store it there."""
    folder = cache_folder()
    settings: Any = numba.config
    before = settings.CACHE_DIR
    compiled = cast(Any, numba.njit)(**_OPTIONS, nogil=True, **options)(function)
    if folder is not None:
        try:
            settings.CACHE_DIR = str(folder)
            keep_compiled(compiled, function)
        finally:
            settings.CACHE_DIR = before
    compiled.compile = _without_collecting(compiled.compile)
    return cast(F, compiled)


def _without_collecting(function: F) -> F:
    """The same function, during which Python looks for no reference cycles.

    The compiler makes millions of objects that live until it is done. Searching them for cycles again and again took a
    fifth of its time.
    """

    def called(*args: Any) -> Any:
        if not gc.isenabled():  # the caller wants it so, or another thread compiles
            return function(*args)
        gc.disable()
        try:
            return function(*args)
        finally:
            gc.enable()

    return cast(F, called)


if hasattr(
    os, "register_at_fork"
):  # hold numba's lock during fork: a child forked while a thread compiles could never compile
    _compiles = {"after_in_parent": global_compiler_lock.release, "after_in_child": global_compiler_lock.release}
    os.register_at_fork(before=global_compiler_lock.acquire, **_compiles)


def _borrow(_: Any, value: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return without_counts(context, builder, signature.args[0], args[0])

    return value(value), generate


borrow: Callable[[Any], Any] = cast(Any, intrinsic)(_borrow)
"""The same arrays without their reference counts, during a compiled call.

Counting references at every access of a state costs more than a sparse round itself. The caller must hold the arrays.
"""


def without_counts(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """The same value, compiled so that its arrays count no references."""
    if isinstance(kind, numba.types.Array):
        array = context.make_array(kind)(context, builder, value=value)
        array.meminfo = array.meminfo.type(None)
        array.parent = array.parent.type(None)
        return array._getvalue()
    if isinstance(kind, numba.types.BaseTuple):
        for place, part in enumerate(cast(Any, kind)):
            inner = without_counts(context, builder, part, builder.extract_value(value, place))
            value = builder.insert_value(value, inner, place)
    return value


def entry_point(function: Any, *args: Any, what: Any = None) -> Callable[..., Any]:
    """The compiled function of a step for arguments of these types, or of the types of these values.

    It skips numba's dispatch by type (two microseconds for a NamedTuple) and its checks: the caller must give arguments
    of exactly these types, which the validation of a sampler ensures. ``what`` it is for is named in the notice that
    steps are being compiled.
    """
    key = (function, *map(likeness, args))
    compiled = _entry_points.get(key)
    if compiled is None:
        types = tuple(type_of(arg) for arg in args)
        with while_compiling(function.__name__ if what is None else type(what).__name__):
            function.compile(types)
        compiled = _entry_points[key] = function.get_overload(types)
    return compiled


_entry_points: dict[tuple[Any, ...], Callable[..., Any]] = {}
_LAYOUT = 0x503  # contiguous as in C, as in Fortran, aligned, writeable: what distinguishes numba's types


def type_of(arg: Any) -> Any:
    """The numba type of a value, or the type itself where one is given."""
    return arg if isinstance(arg, numba.types.Type) else cast(Any, numba.typeof)(arg)


def likeness(arg: Any) -> Any:
    """A key that is equal for values of one numba type, and found faster than the type itself."""
    if isinstance(arg, np.ndarray):
        return arg.dtype, arg.ndim, arg.flags.num & _LAYOUT
    if isinstance(arg, tuple):
        return type(arg), *map(likeness, arg)
    return type(arg) if isinstance(arg, (bool, int, float)) else type_of(arg)


_registered: dict[Any, dict[str, Any]] = {}
_replacements = [0]


def registered(kind: type) -> str:
    """A short name of all implementations for states of this class, which changes with any of them."""
    digest = hashlib.sha256()
    for name, function in sorted(_registered.get(kind, {}).items()):
        code = function.__code__
        digest.update(f"{name}{code.co_code!r}{code.co_names}{code.co_consts}".encode())
    return digest.hexdigest()[:16]


def replaced() -> int:
    """Number of implementations that were replaced in this process, as happens in notebooks."""
    return _replacements[0]


class Family:
    """One step with one implementation for each type of its first argument (or of those ``on`` counts), or a default.

    ``without_w`` is the default for states that have no field w. Called from Python a family runs the plain
    implementation; called from a compiled step it is compiled.
    """

    def __init__(
        self,
        name: str,
        on: tuple[int, ...] = (0,),
        default: Callable[..., Any] | None = None,
        without_w: Callable[..., Any] | None = None,
        forceinline: bool = True,
    ) -> None:
        self.__name__ = name
        self.__doc__ = default.__doc__ or Family.__doc__ if default is not None else Family.__doc__
        self._on = on
        self._default = default
        self._without_w = without_w
        self._table: dict[tuple[Any, ...], Callable[..., Any]] = {}
        cast(Any, overload)(self, strict=False, jit_options=_INNER | {"forceinline": forceinline})(self._choose)

    def __call__(self, *args: Any) -> Any:  # noqa: D102, the class says what a call does
        kinds = tuple(_plain_type(args[place]) for place in self._on)
        implementation = self._table.get(kinds) or self._fallback(hasattr(args[0], "w"))
        if implementation is None:
            raise TypeError(f"{self.__name__} has no implementation for {', '.join(kind.__name__ for kind in kinds)}")
        return implementation(*args)

    def __contains__(self, kind: type) -> bool:
        """Whether states of this type have an implementation of their own, other than the default."""
        return any(kinds[0] is kind for kinds in self._table)

    def _choose(self, *args: Any) -> Callable[..., Any] | None:
        kinds = tuple(_python_type(args[place]) for place in self._on)
        return self._table.get(kinds) or self._fallback("w" in getattr(kinds[0], "_fields", ()))

    def _fallback(self, has_w: bool) -> Callable[..., Any] | None:
        return self._default if has_w or self._without_w is None else self._without_w

    def of(self, *kinds: type) -> Callable[[F], F]:
        """Register the decorated plain function as the implementation for these types, one for each place."""
        assert len(kinds) == len(self._on)

        def register(function: F) -> F:
            _replacements[0] += kinds in self._table
            _registered.setdefault(kinds[0], {})[self.__name__] = function
            self._table[kinds] = function
            return function

        return register


def _plain_type(value: Any) -> type:
    """The type that chooses an implementation; subclasses of arrays, such as memory maps, count as arrays."""
    return np.ndarray if isinstance(value, np.ndarray) else type(value)


def _python_type(kind: Any) -> Any:
    """The Python type behind a numba type."""
    return np.ndarray if isinstance(kind, numba.types.Array) else getattr(kind, "instance_class", None)
