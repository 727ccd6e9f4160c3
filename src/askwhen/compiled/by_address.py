"""Steps called by their address, so that a round is compiled once for all learners and not once for each of them.

A step that is compiled into its caller is optimised again wherever it is called from. That is right for the few
operations of a rule and wrong for a learner: the round would be compiled again for every kind of state. A call by
address costs about two nanoseconds. The address is data, read from a frame; compiled code on the disk does not contain
it.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, cast

import numba
from numba.extending import intrinsic

from ..errors import InputError
from .notices import while_compiling
from .steps import likeness, type_of

ADDRESS = "address"
"""Stands for a type: the address of a frame, which is a number for the caller and a state for the step."""

POINTER = numba.types.voidptr
"""The type of an address that a step only passes on."""

_addresses: dict[tuple[Any, ...], int] = {}


def address_of(function: Any, state: Any, *args: Any, what: Any = None) -> int:
    """Address of the compiled step, for a state in a frame (given by its type) and arguments of these types."""
    key = (function, state, *map(likeness, args))
    found = _addresses.get(key)
    if found is None:
        kinds = (state, *(type_of(arg) for arg in args))
        owner = function.__name__ if what is None else type(what).__name__
        try:
            with while_compiling(owner):
                function.compile(kinds)
        except numba.errors.TypingError as error:
            raise InputError(
                f"a step does not compile, see what numba says above; it takes and returns what the contracts say, and "
                f"learn returns UPDATED or UNCHANGED ({_first_reason(error)}).",
                owner=owner,
            ) from error
        made = function.overloads[kinds]
        found = _addresses[key] = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return found


def _first_reason(error: Exception) -> str:
    """The first line of numba's long message that says what is wrong."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines[1:] if not line.startswith(("There", "- Of which", "Overload"))), lines[0])


def calling(returns: Any, *kinds: Any) -> Callable[..., Any]:
    """A function ``call(address, state, ...)`` for compiled code, for steps with these types of result and arguments.

    ``state`` is the address of a state's frame. A kind that is None accepts any type. Steps never raise, so that no
    error is checked after a call.
    """
    pointers = [True, *(kind is ADDRESS for kind in kinds)]

    def typed(_: Any, *given: Any) -> Any:
        number, pointer = numba.types.int64, POINTER
        address = [pointer if came == pointer else number for came in given[2:]]
        named = zip(kinds, address, given[2:], strict=True)
        taken = [where if kind is ADDRESS else kind or came for kind, where, came in named]

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            seen = [
                pointer if is_pointer else kind for is_pointer, kind in zip(pointers, signature.args[1:], strict=True)
            ]
            convention, address = context.call_conv, context.get_value_type(pointer)
            callee = builder.inttoptr(args[0], convention.get_function_type(returns, seen).as_pointer())
            passed = [
                builder.inttoptr(arg, address) if is_pointer and kind == number else arg
                for is_pointer, kind, arg in zip(pointers, signature.args[1:], args[1:], strict=True)
            ]
            return convention.call_function(builder, callee, returns, seen, passed)[1]

        return returns(number, number, *taken), generate

    names = ["context", "address", "state", *(f"argument{i}" for i in range(len(kinds)))]
    parameters = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names]
    cast(Any, typed).__signature__ = inspect.Signature(parameters)
    return cast(Callable[..., Any], cast(Any, intrinsic)(typed))
