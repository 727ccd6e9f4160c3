"""Mercer kernels: linear, polynomial, Gaussian, and the user's own.

==========  ==========================================================
x, z        two instances
s           their inner product x.z
X2, Z2      their squared norms
==========  ==========================================================

Every kernel here is a function of s, X2 and Z2, so that dense and sparse instances share it exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numba

from ..compiled.steps import Family
from ..errors import InputError
from ..validation import check_count, check_number, check_positive

LINEAR, POLYNOMIAL, GAUSSIAN = 0, 1, 2

_NO_PICKLE = "a sampler with a custom Kernel holds code; save it, and load it with kernel= again."


class KernelState(NamedTuple):
    """A kernel of this package inside a step: plain data, so that one compiled loop serves all of them."""

    kind: int
    degree: float
    gamma: float
    coef0: float


class OwnKernelState(NamedTuple):
    """A user's kernel inside a step: code, which copies share and which cannot be pickled."""

    function: Any

    def __deepcopy__(self, _: Any) -> OwnKernelState:
        return self

    def __reduce__(self) -> Any:
        raise InputError(_NO_PICKLE, owner="pickle")


kernel_value = Family("kernel_value")
"""kernel_value(kernel, s, X2, Z2) -> K(x, z)."""


@kernel_value.of(KernelState)
def _evaluate(kernel: Any, s: float, X2: float, Z2: float) -> Any:
    if kernel.kind == GAUSSIAN:
        return math.exp(-kernel.gamma * max(X2 + Z2 - 2.0 * s, 0.0))
    if kernel.kind == POLYNOMIAL:
        return (kernel.gamma * s + kernel.coef0) ** kernel.degree
    return s


@kernel_value.of(OwnKernelState)
def _evaluate_own(kernel: Any, s: float, X2: float, Z2: float) -> Any:
    return kernel.function(s, X2, Z2)


@dataclass(frozen=True)
class Linear:
    """K(x, z) = x.z: the dual form of a linear learner."""

    def state(self) -> KernelState:
        """The kernel inside a step."""
        return KernelState(LINEAR, 1.0, 1.0, 0.0)


@dataclass(frozen=True)
class Polynomial:
    """K(x, z) = (gamma x.z + coef0)^degree.

    Parameters
    ----------
    degree : int
        At least 1.
    gamma : float, default 1.0
        Positive.
    coef0 : float, default 1.0
        At least 0; with a negative one it would not be a Mercer kernel.
    """

    degree: int
    gamma: float = 1.0
    coef0: float = 1.0

    def __post_init__(self) -> None:
        check_count(self, "degree", self.degree)
        check_positive(self, "gamma", self.gamma)
        check_number(self, "coef0", self.coef0, "a finite number of at least 0", 0.0, open_low=False, open_high=True)

    def state(self) -> KernelState:
        """The kernel inside a step."""
        return KernelState(POLYNOMIAL, float(self.degree), float(self.gamma), float(self.coef0))


@dataclass(frozen=True)
class Gaussian:
    """``K(x, z) = exp(-gamma |x - z|^2)``.

    Parameters
    ----------
    gamma : float
        Positive.
    """

    gamma: float

    def __post_init__(self) -> None:
        check_positive(self, "gamma", self.gamma)

    def state(self) -> KernelState:
        """The kernel inside a step."""
        return KernelState(GAUSSIAN, 1.0, float(self.gamma), 0.0)


@dataclass(frozen=True)
class Kernel:
    """A custom kernel, compiled by numba.

    A snapshot holds no code: give the kernel again to ``Sampler.load(path, kernel=...)``.

    Parameters
    ----------
    function : callable
        Takes ``x.z``, ``|x|^2`` and ``|z|^2``, all floats, and returns K(x, z). It must be a Mercer kernel. It cannot
        raise: a division by zero gives infinity or NaN, and an instance for which that happens is refused.

    Examples
    --------
    >>> import askwhen as aw
    >>> rational = aw.Kernel(lambda s, X2, Z2: 1.0 / (1.0 + X2 + Z2 - 2.0 * s))
    >>> sampler = aw.Sampler(aw.Perceptron(kernel=rational), aw.MarginRule(1.0), seed=0)
    >>> sampler.tell(sampler.ask([1.0, 0.0]), +1)
    >>> sampler.ask([1.0, 0.0]).margin
    1.0
    """

    function: Callable[[float, float, float], float] = field(repr=False)

    @cached_property
    def _compiled(self) -> Any:
        try:
            compiled: Any = numba.cfunc("float64(float64, float64, float64)", error_model="numpy")
            return compiled(getattr(self.function, "py_func", self.function))
        except Exception as error:  # numba raises many kinds
            raise InputError(
                "function must compile as float64(float64, float64, float64), got an error of type "
                f"{type(error).__name__}.",
                owner="Kernel",
            ) from error

    def __copy__(self) -> Kernel:
        return self

    def __deepcopy__(self, _: Any) -> Kernel:
        return self

    def __reduce__(self) -> Any:
        raise InputError(_NO_PICKLE, owner="pickle")

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"function must be callable, got {self.function!r}.", owner="Kernel")
        value = self._compiled.ctypes(1.0, 1.0, 1.0)
        if not math.isfinite(value) or value < 0.0:
            raise InputError(f"function must be a Mercer kernel, got K(x, x) = {value} for |x| = 1.", owner="Kernel")

    def state(self) -> OwnKernelState:
        """The kernel inside a step."""
        return OwnKernelState(self._compiled)


AnyKernel = Linear | Polynomial | Gaussian | Kernel
"""Any kernel of a learner."""
