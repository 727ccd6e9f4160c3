"""A frame: the states of a sampler in one block of memory, whose address is passed to compiled code.

A state is a tuple of many arrays. Converting each of them from Python costs more than a round of a small learner, and
passing them from step to step makes the compiler count references to each of them at every call, which was half of its
work. A frame holds them as compiled code sees them, as pointers to the same memory, so that Python sees what a step
changes, and the other way round. A call is given the address of the block, a plain number; inside, :data:`lend` gives
each state as a pointer, and a field is read where a step names it. Nothing in a frame changes during a call. The caller
must hold references to the block and the states, and make a new frame where a state is replaced, because it grew or was
restored.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from ctypes import addressof, c_char
from typing import Any, cast

import numba
import numpy as np
from numba.core import cgutils
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, intrinsic, lower_getattr_generic, models, register_model, unbox

from .sources import outside_version
from .steps import entry, entry_point, likeness, registered, replaced, type_of, without_counts

_first_byte = c_char.from_buffer
_NAMED = (numba.types.NamedTuple, numba.types.NamedUniTuple)


def _short(kind: Any, version: str) -> str:
    """A short name for a type of many fields, since names of compiled functions repeat it many times."""
    classes = [each.instance_class.__name__ for each in kind if isinstance(each, _NAMED)]
    own = getattr(kind, "instance_class", None)
    shown = classes if own is None else [own.__name__]
    return " ".join([*shown, hashlib.sha256(f"{kind}{version}".encode()).hexdigest()[:12]])


def _version_of(kind: Any) -> str:
    """A text that changes with the sources of states from other packages; empty without such states.

    The folder of the compiled steps is named after our own sources only.
    """
    own = getattr(kind, "instance_class", None)
    found = "" if own is None else outside_version(own)
    if found:
        found += registered(cast(type, own))
    return found + "".join(_version_of(each) for each in kind if isinstance(each, numba.types.BaseTuple))


class AddressType(numba.types.Type):
    """The numba type of the address of a frame, with the type of the tuple of states in it."""

    def __init__(self, states: Any, version: str | None = None) -> None:
        self.states = states
        self.version = _version_of(states) if version is None else version
        self._hash = hash((states, self.version))
        super().__init__(f"Address({_short(states, self.version)})")

    @property
    def key(self) -> Any:
        """Key of equality: not the name, which states of another class may share."""
        return self.states, self.version

    def __hash__(self) -> int:  # hashing many fields takes longer than a short run
        return self._hash

    def __reduce__(self) -> Any:  # hashes differ between processes
        return AddressType, (self.states, self.version)


class LentType(numba.types.Type):
    """The numba type of one state in a frame: a pointer to it. Steps read its fields as those of the tuple itself."""

    def __init__(self, state: Any, version: str | None = None) -> None:
        self.state = state
        self.version = _version_of(state) if version is None else version
        self._hash = hash((state, self.version))
        super().__init__(f"Lent({_short(state, self.version)})")

    @property
    def key(self) -> Any:
        """Key of equality."""
        return self.state, self.version

    def __hash__(self) -> int:
        return self._hash

    def __reduce__(self) -> Any:
        return LentType, (self.state, self.version)

    @property
    def instance_class(self) -> Any:
        """The class of the state, by which the implementation of a step is chosen."""
        return self.state.instance_class


register_model(AddressType)(models.OpaqueModel)
register_model(LentType)(models.OpaqueModel)


def _unbox_address(kind: Any, number: Any, c: Any) -> Any:
    return cast(Any, NativeValue)(c.pyapi.long_as_voidptr(number))


cast(Any, unbox)(AddressType)(_unbox_address)


def _as_lent(kind: Any) -> Any:
    return LentType(kind) if isinstance(kind, _NAMED) else kind


class _Fields(AttributeTemplate):
    key = LentType

    def generic_resolve(self, lent: Any, name: str) -> Any:  # type: ignore[override]
        fields = lent.state.fields
        return _as_lent(lent.state[fields.index(name)]) if name in fields else None


cast(Any, infer_getattr)(_Fields)


def _read_field(context: Any, builder: Any, lent: Any, value: Any, name: str) -> Any:
    place = lent.state.fields.index(name)
    here = builder.bitcast(value, context.get_value_type(lent.state).as_pointer())
    pointer = cast(Any, cgutils).gep_inbounds(builder, here, 0, place)
    if isinstance(lent.state[place], _NAMED):
        return builder.bitcast(pointer, context.get_value_type(numba.types.voidptr))
    found = builder.load(pointer)
    found.set_metadata("invariant.load", builder.module.add_metadata([]))
    return without_counts(context, builder, lent.state[place], found)


cast(Any, lower_getattr_generic)(LentType)(_read_field)


def _lend(_: Any, address: Any) -> Any:
    lent = cast(Any, numba.types.BaseTuple).from_types([_as_lent(state) for state in address.states])

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        frame = builder.bitcast(args[0], context.get_value_type(address.states).as_pointer())
        pointer = context.get_value_type(numba.types.voidptr)
        places = [cast(Any, cgutils).gep_inbounds(builder, frame, 0, i) for i in range(len(address.states))]
        return context.make_tuple(builder, signature.return_type, [builder.bitcast(each, pointer) for each in places])

    return lent(address), generate


lend: Callable[[Any], Any] = cast(Any, intrinsic)(_lend)
"""The states of the frame at an address, during a compiled call."""


def _bytes_of(_: Any, states: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        size = context.get_abi_sizeof(context.get_value_type(signature.args[0]))
        return context.get_constant(numba.types.intp, size)

    return numba.types.intp(states), generate


def _write_states(_: Any, block: Any, states: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        array = context.make_array(signature.args[0])(context, builder, value=args[0])
        value = without_counts(context, builder, signature.args[1], args[1])
        builder.store(value, builder.bitcast(array.data, value.type.as_pointer()))
        return context.get_dummy_value()

    return numba.types.void(block, states), generate


bytes_of: Callable[[Any], int] = cast(Any, intrinsic)(_bytes_of)
"""Number of bytes that these states take in a frame."""

write_states: Callable[[Any, Any], None] = cast(Any, intrinsic)(_write_states)
"""Write states to a block, without their reference counts."""


@entry
def filled(states: Any) -> Any:
    """A block that holds these states."""
    block = np.empty(bytes_of(states), np.uint8)
    write_states(block, states)
    return block


class _Plan:
    """Layout of states of a type in a frame: the compiler's own, that of a structure in C."""

    def __init__(self, kind: Any) -> None:
        self._layout = struct.Struct("@" + _layout(kind))

    def filled(self, states: Any) -> np.ndarray:
        """A block that holds these states."""
        words: list[Any] = []
        _list_words(states, words)
        block = np.empty(self._layout.size, np.uint8)
        self._layout.pack_into(block.data, 0, *words)
        return block


def _layout(kind: Any) -> str:
    """Format for Python's ``struct`` of a tuple of arrays, numbers and such tuples; KeyError for anything else."""
    found = ""
    for each in kind:
        if isinstance(each, numba.types.BaseTuple):
            inside = _layout(each)
            wide = inside.strip("0?") != ""  # a structure of flags alone may begin anywhere
            found += f"0q{inside}0q" if wide else inside
        elif isinstance(each, numba.types.Array):
            found += f"{5 + 2 * each.ndim}q"
        else:
            found += {numba.types.int64: "q", numba.types.float64: "d", numba.types.boolean: "?"}[each]
    return found


def _list_words(states: Any, words: list[Any]) -> None:
    """List the words of memory of these states; arrays have no owner there, so that references are not counted."""
    for value in states:
        if isinstance(value, np.ndarray):
            words += (0, 0, value.size, value.itemsize, _address_of(value), *value.shape, *value.strides)
        elif isinstance(value, tuple):
            _list_words(value, words)
        else:
            words.append(value)


def _address_of(array: np.ndarray) -> int:
    """The address of an array's first number; ctypes finds that of most arrays in a fifth of the time numpy takes."""
    try:
        return addressof(_first_byte(cast(Any, array)))
    except (TypeError, ValueError):  # it is read-only, empty or not contiguous
        return cast(int, array.__array_interface__["data"][0])


_kinds: dict[Any, tuple[AddressType, _Plan | None]] = {}


def _kind_of(states: Any) -> tuple[AddressType, _Plan | None]:
    """The type of the address of a frame of these states, and how to fill it."""
    like = (replaced(), likeness(states))
    if like not in _kinds:
        kind = type_of(states)
        try:
            plan = _Plan(kind)
        except KeyError:  # a field that only the compiler knows how to store, such as a function
            plan = None
        _kinds[like] = AddressType(kind), plan
    return _kinds[like]


def new_frame(*states: Any) -> tuple[tuple[Any, int], AddressType]:
    """A frame of these states: the objects that the caller must hold while it is in use, its address, and its type."""
    kind, plan = _kind_of(states)
    block = entry_point(filled, states)(states) if plan is None else plan.filled(states)
    return ((block, states), block.ctypes.data), kind
