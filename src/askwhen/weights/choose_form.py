"""Choice of the form of a second-order learner: primal, with a d x d matrix, or dual, with the instances it has learnt.

The primal form costs O(d^2) a round and in memory, the dual form O(k^2) after k updates. For sparse instances the
primal form touches nnz rows of d entries, the dual form k sparse rows and half of a k x k triangle, so they break even
near k = sqrt(2 nnz d): beyond 2,048 features few streams get there before memory forbids the primal form. For dense
instances only memory decides.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from ..contracts.abilities import FormLearner, provides
from ..errors import InputError
from ..system.memory import memory, readable
from ..validation import check_choice, short
from . import second_order, second_order_dual
from .expansion import check_kernel
from .kernels import Linear

LARGEST_PRIMAL = 2048
"""Sparse instances with more features are learnt in dual form, unless the user chooses a form."""


LARGEST_MATRICES = 1 << 30
"""Dense instances whose matrices take more bytes are learnt in dual form, unless the user chooses a form: with one
matrix beyond 11,585 features, with the six of AutoLasec beyond 4,729. The limit is fixed, so that results do not depend
on the memory of the machine."""


def second_order_state(learner: Any, d: int, sparse: bool, c: float) -> Any:
    """The state of a second-order learner before the first round, in the form that the user or the size chooses."""
    queried = learner.update == "queried"
    if takes_dual_form(learner, d, sparse):
        kernel = learner.kernel or Linear()
        return second_order_dual.start(d, sparse, learner.b, c, queried, kernel, learner.budget, learner.evict)
    check_memory(learner, d, matrix_bytes(learner, d, sparse))
    return second_order.start(d, learner.b, c, queried)


def takes_dual_form(learner: Any, d: int, sparse: bool, copies: int = 1) -> bool:
    """Whether this many copies of a second-order learner take the dual form, by the user's choice or by their size."""
    if learner.kernel is not None or learner.budget is not None or learner.form != "auto":
        return bool(learner.form != "primal")
    return d > LARGEST_PRIMAL if sparse else copies * _squares(learner, d) > LARGEST_MATRICES


def fitting(learner: Any, d: int, sparse: bool, copies: int) -> Any:
    """The learner in the form that this many copies of it take."""
    if provides(learner, FormLearner) and takes_dual_form(learner, d, sparse, copies):
        return dataclasses.replace(learner, form="dual")  # type: ignore[type-var]
    return learner


def matrix_bytes(learner: Any, d: int, sparse: bool) -> int:
    """Number of bytes of a learner's matrices; 0 where it has none."""
    return 0 if not provides(learner, FormLearner) or takes_dual_form(learner, d, sparse) else _squares(learner, d)


def _squares(learner: Any, d: int) -> int:
    return int(8 * learner.matrices * d * d)


def check_memory(owner: Any, d: int, size: int) -> None:
    """Refuse matrices that cannot fit in memory; a run needs them twice, since it is undone after an error."""
    if 2 * size > memory():
        dual = "its dual form, form='dual', or " if provides(owner, FormLearner) else ""
        raise InputError(
            f"for {d} features its matrices take {readable(size)}, and a run needs that twice, but "
            f"there is memory for {readable(memory())}; take {dual}fewer features.",
            owner=short(owner),
        )


def check_form(owner: Any, kernel: Any, budget: Any, evict: Any, form: Any) -> None:
    """Refuse a form that contradicts the kernel."""
    check_kernel(owner, kernel, budget, evict)
    check_choice(owner, "form", form, ("auto", "primal", "dual"))
    if form == "primal" and kernel is not None:
        raise InputError("form must be 'auto' or 'dual' with a kernel, got 'primal'.", owner=type(owner).__name__)
