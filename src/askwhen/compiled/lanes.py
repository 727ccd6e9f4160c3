"""SIMD lanes: four numbers, or eight or sixteen in single precision, that the processor adds and multiplies at once.

A sum of products must be taken in one order everywhere, or its last bits would differ from one compiled place to
another; a compiler that keeps to an order takes the numbers one by one. Here the order is ours, and as wide as lanes
are: number i of a sum goes to lane i modulo 4 of an accumulator. Steps use these functions, which do the same in plain
Python, where lanes are an array:

==================  ==================================================
at(v, i)            the four lanes v[i], v[i + 1], v[i + 2], v[i + 3], whatever kind of numbers v has
eight(v, i)         the eight lanes v[i], ..., v[i + 7] of numbers in single precision
sixteen(v, i)       the sixteen lanes v[i], ..., v[i + 15] of numbers in single precision
beside(a, b)        the eight lanes of a and, behind them, those of b
spread_of_both(a)   for each k below 8, lane k of a eight times and, behind them, lane k + 8 eight times
put(v, i, a)        write lanes there, in place
lanes(a, b, ...)    these four or eight numbers
alike(c)            the number c in all lanes
added_up(a)         (a_0 + a_2) + (a_1 + a_3); of eight, the same of their halves' sum
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

_Array, _Float, _Integer = numba.types.Array, numba.types.Float, numba.types.Integer
_WIDTHS = {numba.types.float64: 4, numba.types.float32: 8}
_SIXTEEN = 16


class LanesType(numba.types.Type):
    """The numba type of lanes of numbers of one kind, as many as ``_WIDTHS`` says or ``width``."""

    def __init__(self, number: Any, width: int | None = None) -> None:
        self.number = number
        self.width = width or _WIDTHS[number]
        super().__init__(f"Lanes({number}, {self.width})")


class _LanesModel(models.PrimitiveModel):
    def __init__(self, manager: Any, kind: Any) -> None:
        cast(Any, super()).__init__(manager, kind, _vector(kind))


cast(Any, register_model)(LanesType)(_LanesModel)


def _vector(kind: LanesType) -> Any:
    return ir.VectorType(ir.DoubleType() if kind.number == numba.types.float64 else ir.FloatType(), kind.width)


def at(v: Any, i: Any) -> Any:
    """The four lanes from place i on."""
    return v[int(i) : int(i) + 4].astype(np.float64)


def eight(v: Any, i: Any) -> Any:
    """The eight lanes from place i on, in single precision."""
    return v[int(i) : int(i) + 8].copy()


def sixteen(v: Any, i: Any) -> Any:
    """The sixteen lanes from place i on, in single precision."""
    return v[int(i) : int(i) + _SIXTEEN].copy()


def beside(a: Any, b: Any) -> Any:
    """Eight lanes and, behind them, eight others."""
    return np.concatenate((a, b))


def spread_of_both(a: Any) -> Any:
    """For each k below 8, lane k of sixteen eight times and, behind them, lane k + 8 eight times."""
    return tuple(np.repeat(a[[k, k + 8]], 8) for k in range(8))


def put(v: Any, i: Any, a: Any) -> None:
    """Write lanes from place i on, in place."""
    v[int(i) : int(i) + len(a)] = a


def lanes(*numbers: float) -> Any:
    """Four or eight numbers side by side."""
    return np.array(numbers)


def alike(c: Any) -> Any:
    """The same number in all lanes."""
    return np.full(8 if isinstance(c, np.float32) else 4, c)


def added_up(a: Any) -> Any:
    """The sum of the lanes, in one order."""
    if len(a) == 8:
        a = a[:4] + a[4:]
    return (a[0] + a[2]) + (a[1] + a[3])


def _typed(function: Any, lower: Any, *wanted: Any, result: Any) -> None:
    """Let compiled code call ``function`` with arguments of these types; ``result`` is found from them."""

    class Template(AbstractTemplate):
        def generic(self, args: Any, kws: Any) -> Any:
            fits = len(args) == len(wanted) and all(map(isinstance, args, wanted))
            kind = result(*args) if fits else None
            return None if kind is None else cast(Any, signature)(kind, *args)

    cast(Any, infer_global)(function)(Template)
    cast(Any, lower_builtin)(function, *wanted)(lower)


def _is_flat(array: Any, number: Any) -> bool:
    """Whether an array holds contiguous numbers of this kind."""
    return bool(array.ndim == 1 and array.layout == "C" and array.dtype == number)


def _pointer(context: Any, builder: Any, kind: Any, array_type: Any, array: Any, place: Any) -> Any:
    data = context.make_array(array_type)(context, builder, value=array).data
    return builder.bitcast(builder.gep(data, [place]), _vector(kind).as_pointer())


def _at(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Load all lanes at once from contiguous numbers, one by one from any other array."""
    array, place = sig.args
    if _is_flat(array, sig.return_type.number):
        found = builder.load(_pointer(context, builder, sig.return_type, array, *args))
        found.align = array.dtype.bitwidth // 8
        return found
    get = context.get_function(operator.getitem, cast(Any, signature)(array.dtype, array, place))
    found = ir.Constant(_vector(sig.return_type), ir.Undefined)
    for i in range(sig.return_type.width):
        here = builder.add(args[1], ir.Constant(args[1].type, i))
        number = context.cast(builder, get(builder, (args[0], here)), array.dtype, sig.return_type.number)
        found = builder.insert_element(found, number, _lane(i))
    return found


def _put(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    there = _pointer(context, builder, sig.args[2], sig.args[0], *args[:2])
    builder.store(args[2], there, align=sig.args[0].dtype.bitwidth // 8)
    return context.get_dummy_value()


def _lane(i: int) -> Any:
    return ir.Constant(ir.IntType(32), i)


def _lanes(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = ir.Constant(_vector(sig.return_type), ir.Undefined)
    for i, number in enumerate(args):
        found = builder.insert_element(found, number, _lane(i))
    return found


def _alike(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    nothing = ir.Constant(_vector(sig.return_type), ir.Undefined)
    first = builder.insert_element(nothing, args[0], _lane(0))
    return builder.shuffle_vector(
        first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), sig.return_type.width), None)
    )


def _beside(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    places = ir.Constant(ir.VectorType(ir.IntType(32), _SIXTEEN), list(range(_SIXTEEN)))
    return builder.shuffle_vector(*args, places)


def _shuffled(builder: Any, a: Any, places: list[int]) -> Any:
    nothing = ir.Constant(a.type, ir.Undefined)
    return builder.shuffle_vector(a, nothing, ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places))


def _spread_of_both(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    found = [_shuffled(builder, args[0], [k] * 8 + [k + 8] * 8) for k in range(8)]
    return context.make_tuple(builder, sig.return_type, found)


def _added_up(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    parts = [builder.extract_element(args[0], _lane(i)) for i in range(sig.args[0].width)]
    if len(parts) == 8:
        parts = [builder.fadd(a, b) for a, b in zip(parts[:4], parts[4:], strict=True)]
    return builder.fadd(builder.fadd(parts[0], parts[2]), builder.fadd(parts[1], parts[3]))


def _operation(name: str) -> Any:
    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        return getattr(builder, name)(*args)

    return lower


def _all_alike(*args: Any) -> Any:
    return LanesType(args[0]) if len(set(args)) == 1 and len(args) == _WIDTHS.get(args[0]) else None


def _both(a: Any, b: Any) -> Any:
    return a if a == b else None


def _four(array: Any, _: Any) -> Any:
    return LanesType(numba.types.float64) if array.ndim == 1 else None


def _eight(array: Any, _: Any) -> Any:
    return LanesType(numba.types.float32) if _is_flat(array, numba.types.float32) else None


def _sixteen(array: Any, _: Any) -> Any:
    return LanesType(numba.types.float32, _SIXTEEN) if _is_flat(array, numba.types.float32) else None


def _both_eight(a: Any, b: Any) -> Any:
    return LanesType(numba.types.float32, _SIXTEEN) if a == b == LanesType(numba.types.float32) else None


def _eight_times(a: Any) -> Any:
    return cast(Any, numba.types.UniTuple)(a, 8) if a.width == _SIXTEEN else None


def _nothing(array: Any, _: Any, a: Any) -> Any:
    return numba.types.none if _is_flat(array, a.number) else None


def _number(a: Any) -> Any:
    return a.number


_typed(at, _at, _Array, _Integer, result=_four)
_typed(eight, _at, _Array, _Integer, result=_eight)
_typed(sixteen, _at, _Array, _Integer, result=_sixteen)
_typed(beside, _beside, LanesType, LanesType, result=_both_eight)
_typed(spread_of_both, _spread_of_both, LanesType, result=_eight_times)
_typed(put, _put, _Array, _Integer, LanesType, result=_nothing)
_typed(alike, _alike, _Float, result=LanesType)
_typed(added_up, _added_up, LanesType, result=_number)
for _operator, _name in ((operator.add, "fadd"), (operator.sub, "fsub"), (operator.mul, "fmul")):
    _typed(_operator, _operation(_name), LanesType, LanesType, result=_both)


class _LanesTemplate(AbstractTemplate):
    def generic(self, args: Any, kws: Any) -> Any:
        kind = _all_alike(*args) if all(isinstance(arg, _Float) for arg in args) else None
        return None if kind is None else cast(Any, signature)(kind, *args)


cast(Any, infer_global)(lanes)(_LanesTemplate)
cast(Any, lower_builtin)(lanes, cast(Any, numba.types.VarArg)(_Float))(_lanes)
