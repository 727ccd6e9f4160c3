"""AutoLasec: LASEC that chooses its drift level c by itself.

Not from a paper; Moroshko and Crammer 2014 leave the choice of c open. A LASEC for every c of a geometric grid,
infinity included, learns from the same labels. Their margins are mixed by weights that fall exponentially with the
squared loss of the clipped margin, and every label gives a small share of the weight back to all, so that weights can
change when the stream begins to drift, or stops drifting (fixed share: Herbster, Warmuth 1998).

==========  ==========================================================
c_e         the drift level of expert e; c_0 is infinity
m_e, q_e    its score and quadratic form, p_e = m_e / (1 + q_e) clipped to [-1, 1]
v_e         its weight. On a label: v_e *= exp(-eta (p_e - y)^2), normalised, then v_e = (1 - share) v_e + share / E
p           margin of the mixture, sum of v_e p_e
q           sum of v_e q_e; the round divides by 1 + q, so that its m is p (1 + q)
==========  ==========================================================

For every sequence of labels and every expert, the sum of -ln(sum_e v_e exp(-eta loss_e)) / eta is at most that expert's
loss plus (ln E - (n - 1) ln(1 - share + share / E)) / eta.

Each expert is the recursion of :mod:`askwhen.weights.second_order` or :mod:`askwhen.weights.second_order_dual`, on its
own slice of stacked arrays.
A round that learns nothing reads only the lower triangle of each Q. In dual form the experts share the stored instances
and their kernel values.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..compiled.steps import step
from ..contracts.learner import (
    UPDATED,
    epoch,
    experts,
    grow,
    is_sound,
    learn,
    learns,
    note_experts,
    quadratic,
    ready,
    restart,
    score,
    weights,
)
from ..errors import InputError
from ..linalg.triangles import symmetric_form
from ..linalg.vectors import SOUND, TOO_LARGE, all_finite, clear, dot, has_room, inner, look
from ..validation import check_choice, check_number
from ..weights import second_order_dual
from ..weights.choose_form import check_memory, matrix_bytes, takes_dual_form
from ..weights.expansion import (
    HELD,
    Expansion,
    check_kernel,
    effective_expansion,
    fill_row,
    is_linear,
    keep,
    new_expansion,
    place_to_fill,
)
from ..weights.kernels import AnyKernel, Linear
from ..weights.second_order import LIMIT, FullState, RootState, is_bounded, is_root
from ..weights.second_order_dual import DualState, absorb_at, form_of_row, take_out
from .mixing import is_mixture, shift_weights, weigh_alike

GRID = (math.inf, 1e4, 1e3, 1e2, 1e1, 1e0)

BUDGET = 2000
"""Default budget of the dual form: six triangles of 16 MB."""

SEEN_M, SEEN_Q, SEEN_P = range(3)


class AutoState(NamedTuple):
    """Experts in primal form: row e of w, Q (the root S for expert 0), g and bound. ``seen`` = (m, q, p) by expert."""

    w: Any
    Q: Any
    f: Any
    g: Any
    bound: Any
    mix: Any
    seen: Any
    b: float
    c: tuple[float, ...]
    queried: bool


class AutoDualState(NamedTuple):
    """Experts in dual form over the instances stored by w: equal slices of the flat arrays coef, G and v by expert.

    ``numbers`` = (alpha, kxx) by expert. The coefficients and the primal vector of w itself are not used.
    """

    w: Expansion
    coef: Any
    primal: Any
    G: Any
    v: Any
    numbers: Any
    mix: Any
    seen: Any
    b: float
    c: tuple[float, ...]
    queried: bool


@step
def root(state: Any) -> Any:
    """The state of expert 0, which expects no drift, in the form of the recursion."""
    return RootState(state.w[0], state.Q[0], state.f, state.g[0], state.bound[:1], state.b, state.queried)


@step
def drifting(state: Any, e: int) -> Any:
    """The state of expert e > 0, in the form of the recursion."""
    bound = state.bound[e : e + 1]
    return FullState(state.w[e], state.Q[e], state.g[e], bound, state.b, state.c[e], state.queried)


@step
def in_dual(state: Any, e: int) -> Any:
    """The state of expert e in dual form: its coefficients over the instances that all experts share."""
    w = state.w
    count = len(state.mix)
    k, size = len(state.coef) // count, len(state.G) // count
    own = Expansion(
        w.kernel,
        w.store,
        w.norms,
        w.slots,
        state.coef[e * k : (e + 1) * k],
        w.row,
        w.block,
        w.scratch,
        state.primal[e],
        w.draws,
        w.counts,
        w.budget,
        w.oldest,
    )
    G, v = state.G[e * size : (e + 1) * size], state.v[e * k : (e + 1) * k]
    return DualState(own, G, v, state.numbers[e], state.b, state.c[e], state.queried)


@step
def mixed(state: Any, norm2: float) -> Any:
    """(m, |x|^2, SOUND) of the mixture, after every expert's m and q were computed."""
    seen, mix = state.seen, state.mix
    p = q = 0.0
    for e in range(len(mix)):
        seen[SEEN_P, e] = min(max(seen[SEEN_M, e] / (1.0 + seen[SEEN_Q, e]), -1.0), 1.0)
        p += mix[e] * seen[SEEN_P, e]
        q += mix[e] * seen[SEEN_Q, e]
    return p * (1.0 + q), norm2, SOUND


@step
def weigh_experts(state: Any, y: float) -> None:
    """Update the weights of the experts by their losses, in place."""
    p = state.seen[SEEN_P]
    for e in range(len(p)):
        p[e] = (p[e] - y) ** 2
    shift_weights(state.mix, p)


@score.of(AutoState)
def _score(state: Any, x: Any) -> Any:
    """Every expert's m and q, and the mixture's m."""
    seen = state.seen
    first = root(state)
    m, norm2, status = score(first, x)
    for e in range(1, len(state.mix)):
        if status == SOUND and norm2 * state.bound[e] > LIMIT:
            status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    seen[SEEN_M, 0] = m
    seen[SEEN_Q, 0] = quadratic(first, x)
    for e in range(1, len(state.mix)):
        seen[SEEN_M, e] = dot(state.w[e], x)
        seen[SEEN_Q, e] = max(symmetric_form(state.Q[e], x), 0.0)
    return mixed(state, norm2)


@score.of(AutoDualState)
def _score_dual(state: Any, x: Any) -> Any:
    """Every expert's m and q over one row of kernel values, and the mixture's m."""
    w, seen, count = state.w, state.seen, len(state.mix)
    _, kxx, status = look(w, x)
    for e in range(count):
        if status == SOUND and not kxx * state.numbers[e, 0] <= second_order_dual.DUAL_LIMIT:
            status = TOO_LARGE
    if status != SOUND:
        return 0.0, 0.0, status
    if is_linear(w):
        fill_row(w, x, kxx)
    kap = w.row[: w.counts[HELD]]
    for e in range(count):
        expert = in_dual(state, e)
        expert.numbers[1] = kxx
        seen[SEEN_M, e] = dot(expert.w.primal, x) if is_linear(w) else inner(expert.w.coef[: len(kap)], kap)
        seen[SEEN_Q, e] = form_of_row(expert.G, kap, expert.numbers)
    return mixed(state, kxx)


@quadratic.of(AutoState)
@quadratic.of(AutoDualState)
def _quadratic(state: Any, x: Any) -> Any:
    return inner(state.mix, state.seen[SEEN_Q])


@epoch.of(AutoState)
@epoch.of(AutoDualState)
def _epoch(state: Any) -> Any:
    return math.nan


@learns.of(AutoState)
@learns.of(AutoDualState)
def _learns(state: Any, mistaken: bool) -> Any:
    return mistaken or state.queried


@learn.of(AutoState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    weigh_experts(state, y)
    seen = state.seen
    learn(root(state), x, norm2, seen[SEEN_M, 0], seen[SEEN_Q, 0], y)
    for e in range(1, len(state.mix)):
        expert = drifting(state, e)
        learn(expert, x, norm2, seen[SEEN_M, e], quadratic(expert, x), y)
    return UPDATED


@learn.of(AutoDualState)
def _learn_dual(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place; x is stored once.

    With a full budget, alpha, the uncertainty outside of the stored instances, stays where it was when the budget was
    reached: an expert then forgets by dropping instances.
    """
    weigh_experts(state, y)
    w, seen, count = state.w, state.seen, len(state.mix)
    held, place = w.counts[HELD], place_to_fill(w)
    kap = w.row[:held]
    for e in range(count):
        expert = in_dual(state, e)
        m, q = seen[SEEN_M, e], seen[SEEN_Q, e]
        if place < held:
            take_out(expert, place)
            m = dot(expert.w.primal, x) if is_linear(w) else inner(expert.w.coef[:held], kap)
            q = form_of_row(expert.G, kap, expert.numbers)
        absorb_at(expert, place, x, m, q, y)
        if place == held:
            expert.numbers[0] += 1.0 / expert.c
    keep(w, place, x, state.coef[place])
    return UPDATED


@restart.of(AutoState)
def _restart(state: Any) -> None:
    restart(root(state))
    for e in range(1, len(state.mix)):
        restart(drifting(state, e))
    weigh_alike(state.mix)


@restart.of(AutoDualState)
def _restart_dual(state: Any) -> None:
    clear(state.w)
    for e in range(len(state.mix)):
        clear(state.primal[e])
        state.numbers[e, 0] = 1.0 / state.b
    weigh_alike(state.mix)


@ready.of(AutoDualState)
def _ready(state: Any, x: Any) -> Any:
    rows = place_to_fill(state.w) + 1 if has_room(state.w, x) else 0
    return rows > 0 and rows * (rows + 1) // 2 <= len(state.G) // len(state.mix)


@grow.of(AutoDualState)
def _grow(state: AutoDualState, entries: int, randomness: np.random.Generator) -> AutoDualState:
    w, count = grow(state.w, entries, randomness), len(state.mix)
    k, rows = len(w.slots), min(int(w.counts[HELD]) + 1, len(w.slots))
    old = len(state.G) // count
    size = old
    if rows * (rows + 1) // 2 > size:
        size = min(max(64, 2 * size, rows * (rows + 1) // 2), k * (k + 1) // 2)

    def longer(flat: np.ndarray, length: int) -> np.ndarray:
        before = flat.reshape(count, -1)
        after = np.zeros((count, length))
        after[:, : before.shape[1]] = before
        return after.reshape(-1)

    return state._replace(w=w, coef=longer(state.coef, k), G=longer(state.G, size), v=np.zeros(count * k))


@is_sound.of(AutoState)
def _is_sound(state: AutoState) -> Any:
    drifting_too = all(is_bounded(state.Q[e], state.bound[e]) for e in range(1, len(state.mix)))
    return all_finite(state.w) and is_root(state.Q[0], state.bound[0]) and drifting_too and is_mixture(state.mix)


@is_sound.of(AutoDualState)
def _is_sound_dual(state: AutoDualState) -> Any:
    if not is_sound(state.w):
        return False
    held, k, count = int(state.w.counts[HELD]), len(state.w.slots), len(state.mix)
    whole = len(state.coef) == count * k and len(state.v) == count * k and len(state.G) % count == 0
    alpha = state.numbers[:, 0]
    learnt = all_finite(state.coef, state.primal, state.G, alpha) and bool((alpha > 0.0).all())
    return whole and learnt and is_mixture(state.mix) and len(state.G) // count >= held * (held + 1) // 2


@weights.of(AutoState)
def _weights(state: AutoState) -> Any:
    return state.mix @ state.w


@weights.of(AutoDualState)
def _weights_dual(state: AutoDualState) -> Any:
    if not is_linear(state.w):
        raise InputError(
            "a learner with a kernel that is not linear has no weight vector; see support.", owner="weights"
        )
    return state.mix @ state.primal


@effective_expansion.of(AutoDualState)
def _effective_expansion(state: AutoDualState) -> Expansion:
    return state.w._replace(coef=state.mix @ state.coef.reshape(len(state.mix), -1))


@experts.of(AutoState)
@experts.of(AutoDualState)
def _experts(state: Any) -> Any:
    return state.mix


@note_experts.of(AutoState)
@note_experts.of(AutoDualState)
def _note_experts(state: Any, record: Any, i: int) -> None:
    for e in range(len(state.mix)):
        record[i, e] = state.mix[e]


@dataclass(frozen=True)
class AutoLasec:
    """LASEC that learns how much the stream drifts. No parameter needs a value.

    ``sampler.drift_weights`` and ``trace.drift_weights`` show the result: the weight of each drift level of
    ``AutoLasec.grid``, from infinity (nothing drifts) down to 1 (everything changes all the time).

    Parameters
    ----------
    b : float, optional
        Regularisation: how strongly the first target is held near zero; from 1e-100 up to 1. By default 1 in primal
        form and 0.1 in dual form, where hardly any two instances have a similar direction.
    update : {"queried", "mistake"}, default "queried"
        Learn from every label asked for, or from mistaken questions only.
    kernel : Linear, Polynomial, Gaussian or Kernel, optional
        Learn in dual form with this Mercer kernel.
    budget : int, optional
        Largest number of instances that the dual form stores; 2,000 by default.
    evict : {"oldest", "random"}, default "oldest"
        Which stored instance is dropped for a new one when the budget is full.
    form : {"auto", "primal", "dual"}, default "auto"
        Without a kernel: store a d x d matrix for each drift level ("primal"), or the learnt instances ("dual").
        "auto" takes the dual form for sparse instances of more than 2,048 features, and for dense ones of more than
        4,729, whose matrices would take more than 1 GiB.

    References
    ----------
    Moroshko, Crammer: Selective sampling with drift, 2014. Herbster, Warmuth: Tracking the best expert, 1998.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.AutoLasec(), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=7)
    >>> sampler.tell(sampler.ask([0.3, 40.0]), +1)
    >>> sampler.drift_weights.shape
    (6,)
    """

    b: float | None = None
    update: str = "queried"
    kernel: AnyKernel | None = None
    budget: int | None = None
    evict: str = "oldest"
    form: str = "auto"

    regression: ClassVar[bool] = False
    has_uncertainty: ClassVar[bool] = True
    grid: ClassVar[tuple[float, ...]] = GRID
    matrices: ClassVar[int] = len(GRID)

    def __post_init__(self) -> None:
        if self.b is not None:
            check_number(self, "b", self.b, "a number from 1e-100 to 1", 1e-100, 1.0, open_low=False)
        check_choice(self, "update", self.update, ("queried", "mistake"))
        check_choice(self, "form", self.form, ("auto", "primal", "dual"))
        check_kernel(self, Linear() if self.kernel is None else self.kernel, self.budget, self.evict)
        if self.form == "primal" and (self.kernel is not None or self.budget is not None):
            raise InputError(
                "form must be 'auto' or 'dual' with a kernel or a budget, got 'primal'.", owner="AutoLasec"
            )

    def names(self, d: int, sparse: bool) -> list[str]:
        """The drift level of each expert."""
        return [f"c = {c:g}" for c in GRID]

    def start(self, d: int, sparse: bool) -> AutoState | AutoDualState:
        """The state before the first round."""
        in_dual_form = takes_dual_form(self, d, sparse)
        b, E = float(self.b or (0.1 if in_dual_form else 1.0)), len(GRID)
        mix, seen, queried = np.full(E, 1.0 / E), np.zeros((3, E)), self.update == "queried"
        if not in_dual_form:
            check_memory(self, d, matrix_bytes(self, d, sparse))
            Q = np.zeros((E, d, d))
            np.fill_diagonal(Q[0], 1.0 / math.sqrt(b))
            for e in range(1, E):
                np.fill_diagonal(Q[e], 1.0 / b)
            bound = np.full(E, 1.0 / b)
            return AutoState(np.zeros((E, d)), Q, np.zeros(d), np.zeros((E, d)), bound, mix, seen, b, GRID, queried)
        kernel = Linear() if self.kernel is None else self.kernel
        w = new_expansion(d, sparse, kernel, self.budget or BUDGET, self.evict)
        numbers = np.zeros((E, 2))
        numbers[:, 0] = 1.0 / b
        primal = np.zeros((E, len(w.primal)))
        flat = [np.zeros(0) for _ in range(3)]
        return AutoDualState(w, flat[0], primal, flat[1], flat[2], numbers, mix, seen, b, GRID, queried)
