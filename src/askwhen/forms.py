"""Which form a second-order learner takes: a d x d matrix, or the instances it has learnt.

The primal form costs O(d^2) a round and in memory, the dual form O(k^2) after k updates. For sparse instances the
primal form touches nnz rows of d entries, the dual form k sparse rows and half of a k x k triangle, so they break even
near k = sqrt(2 nnz d): beyond 2,048 features few streams get there before memory forbids the primal form.
"""

from __future__ import annotations

from typing import Any

from . import dual, second_order
from .errors import InputError
from .expansion import check_kernel
from .kernels import Linear
from .validation import check_choice

LARGEST_PRIMAL = 2048
"""Sparse instances of more features are learnt in dual form, unless the user says otherwise."""


def second_order_state(
    d: int,
    sparse: bool,
    b: float,
    c: float,
    queried: bool,
    kernel: Any,
    budget: int | None,
    evict: str,
    form: str,
) -> Any:
    """The state of a second-order learner before the first round, in the form that fits."""
    if takes_dual_form(d, sparse, kernel, form):
        return dual.start(d, sparse, b, c, queried, kernel or Linear(), budget, evict)
    return second_order.start(d, b, c, queried)


def takes_dual_form(d: int, sparse: bool, kernel: Any, form: str) -> bool:
    """Whether the dual form fits instances of this kind, where the user leaves the choice."""
    return kernel is not None or form == "dual" or (form == "auto" and sparse and d > LARGEST_PRIMAL)


def check_form(owner: Any, kernel: Any, budget: Any, evict: Any, form: Any) -> None:
    """Refuse a form that contradicts the kernel."""
    check_kernel(owner, kernel, budget, evict)
    check_choice(owner, "form", form, ("auto", "primal", "dual"))
    if form == "primal" and kernel is not None:
        raise InputError(f"{type(owner).__name__}: form must be 'auto' or 'dual' with a kernel, got 'primal'.")
