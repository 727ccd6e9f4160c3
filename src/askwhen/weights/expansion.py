"""Weights as a weighted sum of stored instances, for any Mercer kernel.

w = sum over i of coef_i phi(x_i): the dual form of every first-order learner (Cesa-Bianchi, Gentile, Zaniboni 2006,
section 2; Ezukwoke, Zareian, section 3). An :class:`Expansion` can take the place of a learner's weight vector: the
families of :mod:`askwhen.linalg.vectors` (``look``, ``add_scaled``, ``shrink``, ``clear``) work with both, so that
primal and dual form share the learner's source. The squared norm that ``look`` gives is K(x, x).

==========  ==========================================================
coef        coefficients, one for each stored instance
slots       slot of each stored instance in the store
row         K(x_i, x) for the instance of the last ``look``
primal      w itself for the linear kernel, so that a margin costs O(nnz); empty otherwise
==========  ==========================================================

A budget limits the number of stored instances. When it is full, a random instance (as in the Randomized Budget
Perceptron) or the oldest is dropped; the rest is exactly the sum without it. Random numbers for that are drawn ahead
and stored in the state, because a compiled step does not draw. They come from a separate generator, so that they never
shift the random draws of the rounds.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from ..compiled.steps import Family, apart, step
from ..contracts.learner import LARGEST_COUNT, grow, is_sound
from ..errors import InputError
from ..linalg.rows import SparseRow
from ..linalg.vectors import (
    LARGEST,
    SOUND,
    TOO_LARGE,
    add_scaled,
    all_finite,
    all_within,
    as_vector,
    clear,
    dot,
    has_room,
    inner,
    is_zero,
    look,
    set_row,
    shrink,
    spread,
    unspread,
)
from ..validation import check_choice, check_count
from .instance_store import DenseStore, Store, at, capacity_of, empty_store, fits, is_whole, put, regrow, squares_of
from .kernels import LINEAR, AnyKernel, Gaussian, Kernel, KernelState, Linear, OwnKernelState, Polynomial, kernel_value

HELD, OLDEST, DRAWN, DROPS, BASE, ROW = range(6)
"""Indices in the counts: stored instances, the oldest of them once the budget is full, draws used, drops made; BASE and
ROW see below."""

OWN, BORROWED = 0, -1
"""Values of BASE. OWN: the store belongs to this sum alone, and instances are copied into it. Positive: several tasks
share the store; it already holds the rows of the current block from slot BASE - 1 on, ROW is the current row, and
``block`` may hold their kernel values. BORROWED: the store was shared, and must be copied before anything is added."""

_DRAWS = 256
_LARGEST_DRAW = 1.0 - 2.0**-53
_FIRST_CAPACITY = 16


class Expansion(NamedTuple):
    """w = sum of coef[i] phi(at(store, slots[i])) over the first counts[HELD] instances."""

    kernel: KernelState | OwnKernelState
    store: Store
    norms: Any
    slots: Any
    coef: Any
    row: Any
    block: Any
    scratch: Any
    primal: Any
    draws: Any
    counts: Any
    budget: int
    oldest: bool


@step
def is_linear(w: Any) -> Any:
    """Whether the weight vector itself is stored, as with the linear kernel."""
    return len(w.primal) > 0


@apart
def fill_row(w: Any, x: Any, norm2: float) -> None:
    """row[i] = K(x_i, x) for every stored instance, in place."""
    if w.counts[BASE] > 0 and len(w.block) > 0:
        for i in range(w.counts[HELD]):
            w.row[i] = w.block[w.counts[ROW], w.slots[i]]
        return
    dense = spread(x, w.scratch)
    for i in range(w.counts[HELD]):
        slot = w.slots[i]
        w.row[i] = kernel_value(w.kernel, dot(dense, at(w.store, slot)), norm2, w.norms[slot])
    unspread(x, w.scratch)


@look.of(Expansion, np.ndarray)
@look.of(Expansion, SparseRow)
def _look(w: Any, x: Any) -> Any:
    if is_linear(w):
        return look(w.primal, x)
    _, norm2, status = look(w.scratch, x)
    if status != SOUND:
        return 0.0, 0.0, status
    fill_row(w, x, norm2)
    held = w.counts[HELD]
    m = inner(w.coef[:held], w.row[:held])
    kxx = kernel_value(w.kernel, norm2, norm2, norm2)
    if not (abs(m) <= LARGEST and kxx <= LARGEST):
        return 0.0, 0.0, TOO_LARGE
    return m, kxx, SOUND


@step
def place_to_fill(w: Any) -> Any:
    """Index for the next instance: a new one, or that of the instance which will be dropped."""
    held = w.counts[HELD]
    if w.budget == 0 or held < w.budget:
        return held
    if w.oldest:
        return w.counts[OLDEST]
    return int(w.draws[w.counts[DRAWN]] * w.budget)


@apart
def keep(w: Any, i: int, x: Any, c: float) -> None:
    """Store x at index i with coefficient c, in place, over what was there. The primal w is not changed."""
    counts = w.counts
    if i == counts[HELD]:
        counts[HELD] += 1
    else:
        counts[OLDEST] = (i + 1) % w.budget
        counts[DRAWN] += not w.oldest
    w.coef[i] = c
    if counts[BASE] > 0:
        w.slots[i] = counts[BASE] - 1 + counts[ROW]
    else:
        _, norm2, _ = look(w.scratch, x)
        put(w.store, w.slots[i], x)
        w.norms[w.slots[i]] = norm2


@add_scaled.of(Expansion, np.ndarray)
@add_scaled.of(Expansion, SparseRow)
def _add_scaled(w: Any, c: float, x: Any) -> None:
    i = place_to_fill(w)
    if is_linear(w):
        if i < w.counts[HELD]:
            drop(w, i)
        add_scaled(w.primal, c, x)
    keep(w, i, x, c)


@apart
def drop(w: Any, i: int) -> None:
    """Remove the instance at index i from the primal w, in place.

    Subtracting it leaves a rounding error of its own size. Where it was much larger than the others, and regularly
    after as many drops as the budget has instances, w is recomputed from the rest.
    """
    largest = 0.0
    for j in range(w.counts[HELD]):
        if j != i:
            largest = max(largest, w.coef[j] * w.coef[j] * w.norms[w.slots[j]])
    dropped = w.coef[i] * w.coef[i] * w.norms[w.slots[i]]
    w.counts[DROPS] += 1
    if dropped <= 100.0 * largest and w.counts[DROPS] % max(w.budget, 16) != 0:
        add_scaled(w.primal, -w.coef[i], at(w.store, w.slots[i]))
        return
    clear(w.primal)
    for j in range(w.counts[HELD]):
        if j != i:
            add_scaled(w.primal, w.coef[j], at(w.store, w.slots[j]))


@shrink.of(Expansion)
def _shrink(w: Any, c: float) -> None:
    shrink(w.coef, c)
    shrink(w.primal, c)


@clear.of(Expansion)
def _clear(w: Any) -> None:
    clear(w.primal)
    w.counts[HELD] = 0
    w.counts[OLDEST] = 0


@is_zero.of(Expansion)
def _is_zero(w: Any) -> Any:
    return np.count_nonzero(w.coef[: w.counts[HELD]]) == 0


@set_row.of(Expansion)
def _set_row(w: Any, i: int) -> None:
    w.counts[ROW] = i


@has_room.of(Expansion)
def _has_room(w: Any, x: Any) -> Any:
    if w.counts[BASE] == BORROWED:
        return False
    if not w.oldest and w.budget > 0 and w.counts[DRAWN] >= len(w.draws):
        return False
    i = place_to_fill(w)
    return i < len(w.slots) and (w.counts[BASE] > 0 or fits(w.store, w.slots[i], x))


@is_sound.of(Expansion)
def _is_sound(w: Expansion) -> Any:
    """Whether a sum from a file is possible: within its arrays, and not in the middle of rounds with a shared store."""
    held, capacity, d = int(w.counts[HELD]), len(w.slots), len(w.scratch)
    if not (0 <= held <= capacity == len(w.coef) == len(w.row) and capacity_of(w.store) <= len(w.norms)):
        return False
    used = w.slots[:held]
    own = w.slots if w.counts[BASE] == OWN else used  # borrowed instances get new slots before anything is added
    counted = (
        0 <= w.counts[OLDEST] < max(held, 1)
        and 0 <= w.counts[DRAWN] <= len(w.draws)
        and w.counts[BASE] in (OWN, BORROWED)
        and all_within(w.counts[[DROPS, ROW]], 0, LARGEST_COUNT)
        and (w.budget == 0 or held <= w.budget)
    )
    placed = all_within(w.slots, 0, LARGEST_COUNT) and all_within(used, 0, capacity_of(w.store) - 1)
    return (
        counted
        and placed
        and len(np.unique(own)) == len(own)
        and len(w.block) == 0
        and len(w.primal) == (d if _keeps_vector(w.kernel) else 0)
        and all_within(w.draws, 0.0, _LARGEST_DRAW)
        and all_within(w.norms, 0.0, LARGEST)
        and all_finite(w.coef, w.primal)
        and not w.scratch.any()
        and is_whole(w.store, d)
        and np.allclose(squares_of(w.store, used), w.norms[used], rtol=1e-6, atol=1e-290)
    )


@grow.of(Expansion)
def _grow(w: Expansion, entries: int, randomness: np.random.Generator) -> Expansion:
    held, capacity = int(w.counts[HELD]), len(w.slots)
    if held == capacity:
        capacity = max(_FIRST_CAPACITY, 2 * capacity)
    if w.budget:
        capacity = min(capacity, w.budget)

    def longer(old: np.ndarray) -> np.ndarray:
        new = np.zeros(capacity, old.dtype)
        new[:held] = old[:held]
        return new

    counts = w.counts.copy()
    grown = w._replace(slots=longer(w.slots), coef=longer(w.coef), row=longer(w.row), counts=counts)
    if counts[BASE] <= OWN:
        counts[BASE] = OWN
        grown = grown._replace(
            store=regrow(w.store, w.slots[:held], capacity, entries),
            norms=longer(w.norms[w.slots[:held]]),
            slots=np.arange(capacity),
        )
    if w.budget and not w.oldest and counts[DRAWN] == len(w.draws):
        counts[DRAWN] = 0
        grown = grown._replace(draws=randomness.random(_DRAWS))
    return grown


def new_expansion(d: int, sparse: bool, kernel: AnyKernel, budget: int | None, evict: str) -> Expansion:
    """An empty sum."""
    return Expansion(
        kernel=kernel.state(),
        store=empty_store(d, sparse),
        norms=np.zeros(0),
        slots=np.zeros(0, np.int64),
        coef=np.zeros(0),
        row=np.zeros(0),
        block=np.zeros((0, 0)),
        scratch=np.zeros(d),
        primal=np.zeros(d if isinstance(kernel, Linear) else 0),
        draws=np.zeros(0),
        counts=np.zeros(6, np.int64),
        budget=0 if budget is None else int(budget),
        oldest=evict == "oldest",
    )


def _keeps_vector(kernel: KernelState | OwnKernelState) -> bool:
    return isinstance(kernel, KernelState) and kernel.kind == LINEAR


def weights_are_sound(w: Any) -> bool:
    """Whether the weights of a learner from a file, a vector or a sum, can be used safely."""
    return all_finite(w) if isinstance(w, np.ndarray) else bool(is_sound(w))


def new_weights(d: int, sparse: bool, kernel: AnyKernel | None, budget: int | None, evict: str) -> Any:
    """The weights of a learner before the first round: a vector, or an empty sum where it has a kernel."""
    return np.zeros(d) if kernel is None else new_expansion(d, sparse, kernel, budget, evict)


def check_kernel(owner: Any, kernel: Any, budget: Any, evict: Any) -> None:
    """Refuse an object that is not a kernel, and a budget without a kernel."""
    if not isinstance(kernel, (Linear, Polynomial, Gaussian, Kernel, type(None))):
        raise InputError(
            f"kernel must be None, Linear(), Polynomial(...), Gaussian(...) or Kernel(...), got {kernel!r}.",
            owner=type(owner).__name__,
        )
    check_choice(owner, "evict", evict, ("random", "oldest"))
    if budget is not None:
        check_count(owner, "budget", budget)
        if kernel is None:
            raise InputError(
                "budget limits the instances that a kernel learner stores, but kernel is None; give kernel=Linear().",
                owner=type(owner).__name__,
            )


def check_no_kernel(owner: Any, kernel: Any) -> None:
    """Refuse a kernel for a learner without a dual form."""
    if kernel is not None:
        raise InputError(
            f"kernel must be None, since its weights are not a sum of instances, got {kernel!r}.",
            owner=type(owner).__name__,
        )


@as_vector.of(Expansion)
def _as_vector(w: Expansion) -> Any:
    if len(w.primal) == 0:
        raise InputError(
            "a learner with a kernel that is not linear has no weight vector; see support.", owner="weights"
        )
    return w.primal.copy()


def expansion_of(state: Any) -> Expansion | None:
    """The expansion in a learner's state, or None in primal form."""
    return next((part for part in state if isinstance(part, Expansion)), None)


effective_expansion = Family("effective_expansion", default=expansion_of)
"""effective_expansion(state) -> the expansion with the coefficients used for prediction, or None (Python only)."""


def support_of(w: Expansion) -> tuple[Any, np.ndarray]:
    """The stored instances as an array or a CSR matrix, and their coefficients, both copies."""
    held = int(w.counts[HELD])
    rows = [at(w.store, int(slot)) for slot in w.slots[:held]]
    coef = w.coef[:held].copy()
    if isinstance(w.store, DenseStore):
        return np.array(rows).reshape(held, len(w.scratch)), coef
    indptr = np.cumsum([0] + [row.stop - row.start for row in rows])
    data = np.concatenate([np.zeros(0)] + [row.data[row.start : row.stop] for row in rows])
    indices = np.concatenate([np.zeros(0, np.int64)] + [row.indices[row.start : row.stop] for row in rows])
    return sp.csr_matrix((data, indices.astype(np.int32), indptr), (held, len(w.scratch))), coef
