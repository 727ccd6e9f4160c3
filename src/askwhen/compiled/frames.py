"""A frame: the states of a sampler, handed to compiled code once instead of at every call.

A state is a tuple of many arrays, and taking each of them over from Python costs more than a round of a small learner.
A frame is a block of bytes that holds them as compiled code sees them: pointers to the same memory, so that what a step
changes, Python sees, and the other way round. A call is given the address of the block, a plain number. Whoever calls
holds the block and the states, and makes a new frame where a state is replaced, since it grew or was restored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, cast

import numba
import numpy as np
from numba.extending import NativeValue, intrinsic, models, register_model, unbox

from .steps import entry_point, likeness, step, type_of, without_counts


class AddressType(numba.types.Type):
    """The numba type of the address of a frame: that of the tuple of states which is there."""

    def __init__(self, states: Any) -> None:
        self.states = states
        super().__init__(f"Address({states})")

    @property
    def key(self) -> Any:
        """What makes it equal to another one: not the name, which states of another class may share."""
        return self.states


register_model(AddressType)(models.OpaqueModel)


def _unbox_address(kind: Any, number: Any, c: Any) -> Any:
    return cast(Any, NativeValue)(c.pyapi.long_as_voidptr(number))


cast(Any, unbox)(AddressType)(_unbox_address)


def _room(_: Any, states: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0]))
        return context.get_constant(numba.types.intp, size)

    return numba.types.intp(states), generate


def _put(_: Any, block: Any, states: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        value = without_counts(context, builder, signature.args[1], args[1])
        builder.store(value, builder.bitcast(array.data, value.type.as_pointer()))
        return context.get_dummy_value()

    return numba.types.void(block, states), generate


def _lend(_: Any, address: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        kind = context.get_value_type(signature.args[0].states)
        return builder.load(builder.bitcast(args[0], kind.as_pointer()))

    return address.states(address), generate


room: Callable[[Any], int] = cast(Any, intrinsic)(_room)
"""How many bytes these states take in a frame."""

put: Callable[[Any, Any], None] = cast(Any, intrinsic)(_put)
"""Write states to a block, without their reference counts."""

lend: Callable[[Any], Any] = cast(Any, intrinsic)(_lend)
"""The states of the frame at an address, for the length of a compiled call."""


@step
def filled(states: Any) -> Any:
    """A block that holds these states."""
    block = np.empty(room(states), np.uint8)
    put(block, states)
    return block


_kinds: dict[Any, AddressType] = {}


def new_frame(*states: Any) -> tuple[tuple[np.ndarray, int], AddressType]:
    """A frame of these states, which the caller keeps: its block and its address; and the type of the address."""
    block = entry_point(filled, states)(states)
    like = likeness(states)
    if like not in _kinds:
        _kinds[like] = AddressType(type_of(states))
    return (block, block.ctypes.data), _kinds[like]
