"""Memory for whole numbers that a compiled step needs while it runs: on the stack, so that nothing is allocated."""

from __future__ import annotations

from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core import cgutils
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.np.arrayobj import populate_array

SIZE = 64
"""How many numbers it holds."""

_ARRAY = cast(Any, numba.types.Array)(numba.types.int64, 1, "C")


def scratch() -> np.ndarray:
    """An array of ``SIZE`` numbers that are not set; it must not outlive the step."""
    return np.empty(SIZE, np.int64)


class _Template(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        return None if args else cast(Any, signature)(_ARRAY)


def _lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    block = cast(Any, cgutils).alloca_once(builder, ir.ArrayType(ir.IntType(64), SIZE))
    array = context.make_array(_ARRAY)(context, builder)
    first = builder.bitcast(block, ir.IntType(64).as_pointer())
    size, width = (context.get_constant(numba.types.intp, number) for number in (SIZE, 8))
    cast(Any, populate_array)(array, data=first, shape=[size], strides=[width], itemsize=width, meminfo=None)
    return array._getvalue()


cast(Any, infer_global)(scratch)(_Template)
cast(Any, lower_builtin)(scratch)(_lower)
