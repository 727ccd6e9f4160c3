"""Mixture, the recommended learner: experts on several views of an instance, each with several drift levels.

Not from a paper. AutoLasec mixes LASECs that differ in how much drift they expect. Here they also differ in the view of
the instance that they see (see :mod:`askwhen.contracts.views`), and the mixture learns which views are useful:

==========  ======================  ==========================================
block       features                useful for
==========  ======================  ==========================================
linear      z, 1                    a linear target
curved      phi(z), z, 1            a target that is not linear
deviation   z, 1, delta             the next label depends on what has changed
ranks       phi(u), u, 1, f         outliers and odd scales; labels that come in runs
==========  ======================  ==========================================

==========  ==========================================================
c_e         the drift level of expert e
m_e, q_e    its score and quadratic form, p_e = m_e / (1 + q_e) clipped to [-1, 1]
v_e         its weight, see :mod:`askwhen.learners.mixing`; the loss is (p_e - y)^2
scored      the experts whose weight is at least a twentieth of the largest. Only they are scored and mixed in a round;
            the others are scored when a label is learnt
p, q        weighted means of p_e and q_e over the scored experts; the round's m is p (1 + q)
N, S        sums of labels and their number, multiplied by e^(-1/tau) in every round, tau = 3 and 30; f = N / (S + 1/2)
==========  ==========================================================

A regressor's experts learn y - y_bar, see :mod:`askwhen.learners.label_scale`: when y_bar changes, each expert's weight
of the feature 1 is corrected by that, so that predictions hardly change. p_e is clipped to the labels' reach, losses
are in units of their variance, and N sums (y - y_bar) / s.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    LARGEST_COUNT,
    UPDATED,
    enter,
    hear,
    is_sound,
    learn,
    leave,
    quadratic,
    restart,
    score,
    weights,
)
from ..contracts.views import Layout, layout_of
from ..errors import InputError
from ..linalg.single import form_in_single, product_in_single, take_square_in_single
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, UNSOUND, all_within, clear, inner
from ..validation import check_count, check_flag
from ..weights.choose_form import check_memory
from ..weights.class_slots import MOST_LABELS
from .label_scale import (
    CENTRE,
    REACH,
    SHIFT,
    VARIANCE,
    clipped,
    forget_scale,
    is_sound_scale,
    loss_of,
    new_scale,
    spread_of,
    take_label,
)
from .mixing import is_mixture, register_mixture, shift_weights, weigh_alike
from .mixture_classes import SeveralState, recent_label_features, start_several
from .mixture_sparse import NAMES as DIAGONAL
from .mixture_sparse import start_diagonal
from .mixture_sparse_classes import start_several_diagonal
from .view_blocks import (
    FADE,
    LIMIT,
    RANKS,
    SCORED,
    blocks_of,
    is_sound_matrices,
    levels_of,
    matrix_bytes,
)

_LARGEST_RECENT = 1e6
"""Largest mean of recent labels in a file, in units of their spread: with a tiny spread, a label may be far off."""

MOST_CLASSES = 1000
"""Largest number of classes; more are most likely free text."""

WIDEST = 400
"""Instances with more features are learnt by :mod:`askwhen.learners.mixture_sparse`. At 10 % of the labels that is
better by 0.3 to 2.6 points with 512 hashed words (rcv1, spam, reuters), and 50 times as fast; the views are better by
0.4 with the 300 features of w8a, and by 3.1 with the 256 of usps."""

_M, _Q, _LOSS = range(3)


class Block(NamedTuple):
    """Experts on one part of the row, from ``start`` on: row e of w, Q (its lower triangle), g and 1/c.

    ``one`` is the index of the feature 1 in that part, and ``first`` the number of the first expert.
    """

    w: Any
    Q: Any
    g: Any
    drift: Any
    start: int
    one: int
    first: int


class MixtureState(NamedTuple):
    """``seen`` = (m, q, loss) by expert, ``single`` is the row in single precision.

    told = (N, S) of recent labels for each tau; ``labels`` has the statistics of labels.
    """

    linear: Block
    curved: Block
    deviation: Block
    ranks: Block
    mix: Any
    scored: Any
    seen: Any
    single: Any
    told: Any
    labels: Any
    place: int
    regression: bool


register_mixture(MixtureState)


@apart
def score_block(block: Any, scored: Any, seen: Any, x: Any, single: Any) -> None:
    """Compute m and q of the scored experts."""
    stop = block.start + block.w.shape[1]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e = block.first + i
        if scored[e]:
            seen[_M, e] = inner(block.w[i], v)
            seen[_Q, e] = max(form_in_single(block.Q[i], in_single), 0.0)


@apart
def ready_block(block: Any, scored: Any, seen: Any, x: Any, single: Any, shift: float) -> None:
    """Compute g of every expert, and m and q of those not scored; correct w by the shift of the labels' mean."""
    stop = block.start + block.w.shape[1]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e, g = block.first + i, block.g[i]
        product_in_single(block.Q[i], in_single, g)
        if not scored[e]:
            q = 0.0
            for j in range(len(g)):
                q += g[j] * v[j]
            seen[_M, e] = inner(block.w[i], v)
            seen[_Q, e] = max(q, 0.0)
        if shift != 0.0:
            block.w[i, block.one] -= shift
            seen[_M, e] -= shift


@apart
def learn_block(block: Any, seen: Any, y: float) -> None:
    """Let every expert learn, in place, after ``ready_block``."""
    for i in range(len(block.drift)):
        e = block.first + i
        w, g = block.w[i], block.g[i]
        gain, shrink = (y - seen[_M, e]) / (1.0 + seen[_Q, e]), np.float32(1.0 / math.sqrt(1.0 + seen[_Q, e]))
        for j in range(len(w)):
            w[j] += gain * g[j]
            g[j] *= shrink
        take_square_in_single(block.Q[i], g, block.drift[i])


@apart
def restart_block(block: Any) -> None:
    """Forget everything, in place."""
    for i in range(len(block.drift)):
        clear(block.w[i])
        for j in range(block.w.shape[1]):
            clear(block.Q[i, j])
            block.Q[i, j, j] = 1.0


@enter.of(MixtureState)
def _enter(state: Any, x: Any) -> None:
    for k in range(2):
        x[state.place + k] = state.told[2 * k] / (state.told[2 * k + 1] + 0.5)


@leave.of(MixtureState)
def _leave(state: Any) -> None:
    for k in range(2):
        state.told[2 * k] *= FADE[k]
        state.told[2 * k + 1] *= FADE[k]


@hear.of(MixtureState)
def _hear(state: Any, y: float, chance: float) -> None:
    if state.regression:
        take_label(state.labels, y, chance)
        y = (y - state.labels[CENTRE]) / spread_of(state.labels)
    for k in range(2):
        state.told[2 * k] += y
        state.told[2 * k + 1] += 1.0


@score.of(MixtureState)
def _score(state: Any, x: Any) -> Any:
    """Compute m and q of the scored experts, and the mixture's m."""
    linear = state.linear
    z = x[linear.start : linear.start + linear.one + 1]
    norm2 = inner(z, z)
    if not norm2 <= LARGEST:
        return 0.0, 0.0, UNSOUND
    if norm2 > LIMIT:
        return 0.0, 0.0, TOO_LARGE
    scored, seen, mix, single = state.scored, state.seen, state.mix, state.single
    for j in range(len(x)):
        single[j] = x[j]
    score_block(linear, scored, seen, x, single)
    score_block(state.curved, scored, seen, x, single)
    score_block(state.deviation, scored, seen, x, single)
    score_block(state.ranks, scored, seen, x, single)
    p = q = total = 0.0
    reach = state.labels[REACH]
    for e in range(len(mix)):
        if scored[e]:
            p += mix[e] * clipped(seen[_M, e] / (1.0 + seen[_Q, e]), reach)
            q += mix[e] * seen[_Q, e]
            total += mix[e]
    q /= total
    seen[_LOSS, 0] = q
    m = (p / total + state.labels[CENTRE]) * (1.0 + q)
    return m, norm2, SOUND if abs(m) <= LARGEST else TOO_LARGE


@quadratic.of(MixtureState)
def _quadratic(state: Any, x: Any) -> Any:
    return state.seen[_LOSS, 0]


@learn.of(MixtureState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    scored, seen, labels, single = state.scored, state.seen, state.labels, state.single
    ready_block(state.linear, scored, seen, x, single, labels[SHIFT])
    ready_block(state.curved, scored, seen, x, single, labels[SHIFT])
    ready_block(state.deviation, scored, seen, x, single, labels[SHIFT])
    ready_block(state.ranks, scored, seen, x, single, labels[SHIFT])
    labels[SHIFT] = 0.0
    target = clipped(y - labels[CENTRE], labels[REACH])
    weigh_experts(state, target)
    learn_block(state.linear, seen, target)
    learn_block(state.curved, seen, target)
    learn_block(state.deviation, seen, target)
    learn_block(state.ranks, seen, target)
    return UPDATED


@step
def weigh_experts(state: Any, y: float) -> None:
    """Update the weights by the losses of all experts, and choose which of them are scored from now on, in place."""
    seen, mix, labels = state.seen, state.mix, state.labels
    for e in range(len(mix)):
        p = clipped(seen[_M, e] / (1.0 + seen[_Q, e]), labels[REACH])
        seen[_LOSS, e] = loss_of(p, y, labels[VARIANCE])
    shift_weights(mix, seen[_LOSS])
    top = 0.0
    for e in range(len(mix)):
        top = max(top, mix[e])
    for e in range(len(mix)):
        state.scored[e] = mix[e] >= SCORED * top


@restart.of(MixtureState)
def _restart(state: Any) -> None:
    restart_block(state.linear)
    restart_block(state.curved)
    restart_block(state.deviation)
    restart_block(state.ranks)
    weigh_alike(state.mix)
    for e in range(len(state.mix)):
        state.scored[e] = True
    clear(state.told)
    forget_scale(state.labels, state.regression)


@is_sound.of(MixtureState)
def _is_sound(state: MixtureState) -> Any:
    mix, blocks = state.mix, (state.linear, state.curved, state.deviation, state.ranks)
    N, S = state.told[::2], state.told[1::2]
    recent = all_within(S, 0.0, LARGEST_COUNT) and all_within(np.abs(N) - _LARGEST_RECENT * S, -LARGEST, 1e-6)
    scored = np.array_equal(state.scored, mix >= SCORED * mix.max())
    labels = is_sound_scale(state.labels, state.regression)
    return is_mixture(mix) and recent and scored and labels and all(map(is_sound_matrices, blocks))


@weights.of(MixtureState)
def _weights(state: MixtureState) -> Any:
    found = np.zeros(state.ranks.start + state.ranks.w.shape[1])
    for block in (state.linear, state.curved, state.deviation, state.ranks):
        D = block.w.shape[1]
        mix = state.mix[block.first : block.first + len(block.w)]
        found[block.start : block.start + D] += mix @ block.w
    return found


@dataclass(frozen=True)
class Mixture:
    """The default learner of ``Sampler()``: mixes linear and curved, steady and drifting experts as the stream needs.

    Parameters
    ----------
    regression : bool, default False
        Predict numbers instead of -1 and +1.
    classes : int, optional
        Predict one of this many classes, 0, 1, .. instead; ``Sampler(classes=[...])`` gives them names. 0 for open
        classes.
    multi : bool, default False
        With ``classes``: several of them may apply at once, see :class:`askwhen.MultiLabel`.

    Notes
    -----
    From instances of up to 400 features it learns several views, each with several drift levels: the features, a curved
    function of them, their deviation from recent values, and their ranks with recent labels; sparse instances are made
    dense. From wider instances, mostly text, it learns each feature separately, in O(nnz) a round. The names of the
    experts are in ``sampler.experts``, and their weights in ``sampler.drift_weights``.

    References
    ----------
    Moroshko, Crammer: Selective sampling with drift, 2014. Herbster, Warmuth: Tracking the best expert, 1998. Rahimi,
    Recht: Random features for large-scale kernel machines, 2007. Duchi, Hazan, Singer: Adaptive subgradient methods,
    2011.

    Examples
    --------
    >>> import numpy as np, askwhen as aw
    >>> X = np.random.default_rng(0).standard_normal((2000, 3))
    >>> y = np.where((X ** 2).sum(axis=1) < 2.4, 1, -1)
    >>> sampler = aw.Sampler(aw.Mixture(), aw.BudgetRule(0.1), prepare=aw.Prepare(), seed=7)
    >>> sampler.run(X[:1500], y[:1500]).questions <= 165
    True
    >>> bool((sampler.predict(X[1500:]) == y[1500:]).mean() > 0.9)
    True
    """

    regression: bool = False
    classes: int | None = None
    multi: bool = False

    has_uncertainty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "regression", self.regression)
        check_flag(self, "multi", self.multi)
        if self.multi and (self.classes is None or not 2 <= self.classes <= MOST_LABELS):
            raise InputError(
                f"multi needs classes from 2 to {MOST_LABELS}, got classes={self.classes!r}.", owner="Mixture"
            )
        if self.classes is not None:
            if self.classes != 0 or isinstance(self.classes, bool):
                check_count(self, "classes", self.classes)
            if self.regression or not (self.classes == 0 or 2 <= self.classes <= MOST_CLASSES):
                raise InputError(
                    f"there must be 2 to {MOST_CLASSES:,} classes, which cannot be combined with regression, got "
                    f"{self.classes!r}.",
                    owner="Mixture",
                )

    def names(self, d: int, sparse: bool) -> list[str]:
        """The names of the experts, for instances of d features: the view and the drift level, or the algorithm."""
        layout = self.layout(d, sparse)
        if layout is None:
            return list(DIAGONAL)
        return [f"{view}, c = {c:g}" for view, levels in levels_of(layout).items() for c in levels]

    def layout(self, d: int, sparse: bool) -> Layout | None:
        """The layout of the views of instances with d features, or None where it learns from the instance itself."""
        if d > WIDEST:
            return None
        return layout_of(d) if self.classes is None else layout_of(d, recent_label_features(self.classes))

    def start_views(self, layout: Layout) -> MixtureState | SeveralState:
        """The state before the first round, for rows of this layout."""
        check_memory(self, layout.d, matrix_bytes(layout))
        if self.classes is not None:
            return start_several(layout, self.classes, self.multi)
        blocks: list[Block] = []
        levels, first = levels_of(layout), 0
        for name, (start, stop) in blocks_of(layout).items():
            E, D = len(levels[name]), stop - start
            one = layout.told - 1 if name == RANKS else layout.linear + layout.d
            Q, g = np.tile(np.eye(D, dtype=np.float32), (E, 1, 1)), np.zeros((E, D), np.float32)
            drift = np.array([1.0 / c for c in levels[name]])
            blocks.append(Block(np.zeros((E, D)), Q, g, drift, start, one - start, first))
            first += E
        mix, scored, seen = np.full(first, 1.0 / first), np.ones(first, np.bool_), np.zeros((3, first))
        single = np.zeros(layout.width, np.float32)
        linear, curved, deviation, ranks = blocks
        numbers = (mix, scored, seen, single, np.zeros(4), new_scale(self.regression), layout.told, self.regression)
        return MixtureState(linear, curved, deviation, ranks, *numbers)

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round, for instances of dimension d that are too wide for several views."""
        if self.classes is not None:
            check_memory(self, d, 48 * d * max(self.classes, 1))
            return start_several_diagonal(d, self.classes, self.multi)
        return start_diagonal(d, self.regression)
