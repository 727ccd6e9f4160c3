"""Four numbers side by side, as the processor adds and multiplies them at once.

A sum of products must be taken in one order everywhere, or its last bits would differ from one compiled place to
another; a compiler that keeps to an order takes the numbers one by one. Here the order is ours and four wide: number i
of a sum goes to lane i modulo 4 of an accumulator. Steps are written in these words, and mean the same in Python, where
four lanes are an array:

==================  ==================================================
at(v, i)            the lanes v[i], v[i + 1], v[i + 2], v[i + 3]
put(v, i, a)        write four lanes there, in place
lanes(a, b, c, d)   these four numbers
alike(c)            four times the number c
added_up(a)         (a_0 + a_2) + (a_1 + a_3)
==================  ==================================================

Lanes are added, subtracted and multiplied with ``+``, ``-`` and ``*``. Places are not checked.
"""

from __future__ import annotations

import operator
from typing import Any, cast

import numba
import numpy as np
from llvmlite import ir  # type: ignore[import-untyped]
from numba.core.imputils import lower_builtin
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import models, register_model

WIDTH = 4


class LanesType(numba.types.Type):
    """The numba type of four lanes."""

    def __init__(self) -> None:
        super().__init__("Lanes")


LANES = LanesType()
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        cast(Any, super()).__init__(manager, kind, _VECTOR)


cast(Any, register_model)(LanesType)(_LanesModel)


def at(v: Any, i: Any) -> Any:
    """The four lanes from place i on."""
    return v[i : i + WIDTH].copy()


def put(v: Any, i: Any, a: Any) -> None:
    """Write four lanes from place i on, in place."""
    v[i : i + WIDTH] = a


def lanes(a: float, b: float, c: float, d: float) -> Any:
    """Four numbers side by side."""
    return np.array([a, b, c, d])


def alike(c: float) -> Any:
    """The same number in all lanes."""
    return np.full(WIDTH, c)


def added_up(a: Any) -> Any:
    """The sum of the four lanes, in one order."""
    return (a[0] + a[2]) + (a[1] + a[3])


def _typed(function: Any, result: Any, *wanted: Any) -> None:
    """Let compiled code call ``function`` with arguments of these types; an array is one of contiguous numbers."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            fits = len(args) == len(wanted) and all(map(_is, args, wanted))
            return cast(Any, signature)(result, *args) if fits else None

    cast(Any, infer_global)(function)(Template)


def _is(arg: Any, wanted: Any) -> bool:
    if wanted is numba.types.Array:
        return isinstance(arg, wanted) and arg.ndim == 1 and arg.layout == "C" and arg.dtype == numba.types.float64
    return isinstance(arg, wanted)


def _pointer(context: Any, builder: Any, kind: Any, array: Any, place: Any) -> Any:
    data = context.make_array(kind)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [place]), _VECTOR.as_pointer())


def _at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = builder.load(_pointer(context, builder, sig.args[0], *args))
    found.align = 8
    return found


def _put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    builder.store(args[2], _pointer(context, builder, sig.args[0], *args[:2]), align=8)
    return context.get_dummy_value()


def _alike(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    number = context.cast(builder, args[0], sig.args[0], numba.types.float64)
    first = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
    mask = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), None)
    return builder.shuffle_vector(first, ir.Constant(_VECTOR, ir.Undefined), mask)


def _lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = ir.Constant(_VECTOR, ir.Undefined)
    for i in range(WIDTH):
        number = context.cast(builder, args[i], sig.args[i], numba.types.float64)
        found = builder.insert_element(found, number, ir.Constant(ir.IntType(32), i))
    return found


def _added_up(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    lanes = [builder.extract_element(args[0], ir.Constant(ir.IntType(32), i)) for i in range(WIDTH)]
    return builder.fadd(builder.fadd(lanes[0], lanes[2]), builder.fadd(lanes[1], lanes[3]))


_typed(at, LANES, numba.types.Array, numba.types.Integer)
_typed(put, numba.types.none, numba.types.Array, numba.types.Integer, LanesType)
_typed(alike, LANES, numba.types.Number)
_typed(lanes, LANES, *(WIDTH * [numba.types.Number]))
_typed(added_up, numba.types.float64, LanesType)
cast(Any, lower_builtin)(at, numba.types.Array, numba.types.Integer)(_at)
cast(Any, lower_builtin)(put, numba.types.Array, numba.types.Integer, LanesType)(_put)
cast(Any, lower_builtin)(alike, numba.types.Number)(_alike)
cast(Any, lower_builtin)(lanes, *(WIDTH * [numba.types.Number]))(_lanes)
cast(Any, lower_builtin)(added_up, LanesType)(_added_up)


def _operation(name: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, name)(*args)

    return lower


for _operator, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _typed(_operator, LANES, LanesType, LanesType)
    cast(Any, lower_builtin)(_operator, LanesType, LanesType)(_operation(_name))
