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
direction   v / norm(v), 1          embeddings
==========  ======================  ==========================================

Words have four experts of their own, see :mod:`askwhen.learners.word_experts`.

==========  ==========================================================
c_e         the drift level of expert e
m_e, q_e    its score and quadratic form, p_e = m_e / (1 + q_e) clipped to [-1, 1]
v_e         its weight, see :mod:`askwhen.learners.mixing`; the loss is (p_e - y)^2
scored      the experts whose weight is at least a twentieth of the largest. Only they are scored and mixed in a round;
            the others are scored when a label is learnt
p, q        weighted means of p_e and q_e over the scored experts; the round's m is p (1 + q)
N, S        sums of labels and their number, multiplied by e^(-1/tau) in every round, tau = 3 and 30; f = N / (S + 1/2)
lasting     weights of the experts that a saved model predicts with: those that forget least, without delta and with
            f = 0. What the others know, the last labels and what has just changed, soon means nothing when no
            further labels come
==========  ==========================================================

A regressor's experts learn y - y_bar, see :mod:`askwhen.learners.label_scale`: when y_bar changes, each expert's weight
of the feature 1 is corrected by that, so that predictions hardly change. p_e is clipped to the labels' reach, losses
are in units of their variance, and N sums (y - y_bar) / s. Experts on words learn (y - y_bar) / s.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.kinds import Kinds, check_kinds
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
    score_lasting,
    weights,
)
from ..contracts.views import RECENT_LABELS, Layout, layout_of, layout_of_kinds
from ..errors import InputError
from ..linalg.rows import beginning, rest
from ..linalg.single import form_in_single, product_in_single, take_square_in_single
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, UNSOUND, all_within, clear, inner, lines_of_zeros, measure
from ..validation import check_count, check_flag
from ..weights.choose_form import check_memory
from ..weights.class_slots import MOST_LABELS
from .cluster_expert import NAME as CLUSTERS
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
from .mixing import (
    begin_weights,
    is_lasting_mixture,
    is_mixture,
    lasting_experts,
    note_scored,
    register_mixture,
    shift_lasting,
    shift_weights,
)
from .mixture_classes import SeveralState, has_clusters, recent_label_features, start_several
from .mixture_sparse import start_diagonal
from .mixture_sparse_classes import start_several_diagonal
from .view_blocks import (
    FADE,
    NOTHING_LASTS,
    SCORED,
    begins_before,
    blocks_of,
    is_alike,
    is_lasting,
    is_sound_blocks,
    lasts_of,
    levels_of,
    matrix_bytes,
    ones_of,
    take_in_single,
)
from .word_experts import (
    EXPERTS,
    forget_lines,
    is_sound_lines,
    learn_words,
    margin_for_loss_of_words,
    margin_of_words,
    score_words,
)
from .word_experts import NAMES as OF_WORDS

_LARGEST_RECENT = 1e6
"""Largest mean of recent labels in a file, in units of their spread: with a tiny spread, a label may be far off."""

MOST_CLASSES = 1000
"""Largest number of classes; more are most likely free text."""

WIDEST = 400
"""Sparse instances with more features are learnt by :mod:`askwhen.learners.mixture_sparse`. At 10 % of the labels that
is better by 0.3 to 2.6 points with 512 hashed words (rcv1, spam, reuters), and 50 times as fast; the views are better
by 0.4 with the 300 features of w8a, and by 3.1 with the 256 of usps."""

NARROWEST_DIRECTION, WIDEST_DIRECTION = 100, 4096
"""Instances of so many numbers are also seen by their direction. Wider ones are learnt feature by feature."""

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
    """``seen`` = (m, q, loss) by expert, ``single`` is the row in single precision, up to ``width``.

    told = (N, S) of recent labels for each tau; ``labels`` has the statistics of labels. ``lines`` has a line for each
    feature from ``lines_at`` on, if there are words, whose experts are the last four. ``lasts`` says which experts have
    a weight among ``lasting``.
    """

    linear: Block
    curved: Block
    deviation: Block
    ranks: Block
    direction: Block
    lines: Any
    mix: Any
    lasting: Any
    scored: Any
    lasts: Any
    seen: Any
    single: Any
    told: Any
    labels: Any
    place: int
    width: int
    words: int
    lines_at: int
    alike: bool
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
    if len(state.ranks.drift) > 0:
        dense = beginning(x, state.width)
        for k in range(2):
            dense[state.place + k] = state.told[2 * k] / (state.told[2 * k + 1] + 0.5)


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


@apart
def score_experts(state: Any, x: Any, scored: Any) -> Any:
    """Compute m and q of these experts; return |z|^2 and whether the row can be scored."""
    norm2, status = take_in_single(state, x)
    if status != SOUND:
        return norm2, status
    dense, seen, single = beginning(x, state.width), state.seen, state.single
    score_block(state.linear, scored, seen, dense, single)
    score_block(state.curved, scored, seen, dense, single)
    score_block(state.deviation, scored, seen, dense, single)
    score_block(state.ranks, scored, seen, dense, single)
    score_block(state.direction, scored, seen, dense, single)
    if len(state.lines) > 0 and scored[len(scored) - 1]:
        return norm2, look_at_words(state, x)
    return norm2, SOUND


@step
def look_at_words(state: Any, x: Any) -> Any:
    """Compute m and q of the experts on words; return whether the words can be scored."""
    words, offset = rest(x, state.lines_at, len(state.lines))
    norm2, status = measure(words, offset + len(state.lines))
    status = UNSOUND if begins_before(words, offset) else status
    if status == SOUND:
        first = len(state.mix) - EXPERTS
        score_words(state.lines, words, offset, norm2, state.seen[_M, first:], state.seen[_Q, first:])
    return status


@step
def margin_of(state: Any, e: int) -> Any:
    """p_e, within the reach of the labels."""
    m, q, reach = state.seen[_M, e], state.seen[_Q, e], state.labels[REACH]
    first = len(state.mix) - (EXPERTS if len(state.lines) > 0 else 0)
    if e < first:
        return clipped(m / (1.0 + q), reach)
    spread = spread_of(state.labels) if state.regression else 1.0
    return spread * margin_of_words(e - first, m, q, reach / spread, state.regression)


@step
def mixed(state: Any, mix: Any, scored: Any) -> Any:
    """The mixture's m and its q, over the scored experts; experts without a q have no part in it."""
    p = q = total = formed = 0.0
    for e in range(len(mix)):
        if scored[e]:
            p += mix[e] * margin_of(state, e)
            total += mix[e]
            if has_form(state, e):
                q += mix[e] * state.seen[_Q, e]
                formed += mix[e]
    q = q / formed if formed > 0.0 else 0.0
    return (p / total + state.labels[CENTRE]) * (1.0 + q), q


@step
def has_form(state: Any, e: int) -> Any:
    """Whether an expert has a quadratic form: all but the two gradients."""
    first = len(state.mix) - EXPERTS
    return len(state.lines) == 0 or e < first or e >= first + 2


@score.of(MixtureState)
def _score(state: Any, x: Any) -> Any:
    """Compute m and q of the scored experts, and the mixture's m."""
    norm2, status = score_experts(state, x, state.scored)
    if status != SOUND:
        return 0.0, 0.0, status
    m, q = mixed(state, state.mix, state.scored)
    state.seen[_LOSS, 0] = q
    return m, norm2, SOUND if abs(m) <= LARGEST else TOO_LARGE


@score_lasting.of(MixtureState)
def _score_lasting(state: Any, x: Any) -> Any:
    """The m and q of the lasting experts' mixture, and the status, without recent labels."""
    if len(state.lasting) == 0:
        enter(state, x)
    elif len(state.ranks.drift) > 0:
        dense = beginning(x, state.width)
        dense[state.place] = dense[state.place + 1] = 0.0
    mix, lasts = (state.lasting, state.lasts) if len(state.lasting) > 0 else (state.mix, state.scored)
    _, status = score_experts(state, x, lasts)
    if status != SOUND:
        return 0.0, 0.0, status
    m, q = mixed(state, mix, lasts)
    return m, q, SOUND if abs(m) <= LARGEST else TOO_LARGE


@quadratic.of(MixtureState)
def _quadratic(state: Any, x: Any) -> Any:
    return state.seen[_LOSS, 0]


@learn.of(MixtureState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    scored, seen, labels, single = state.scored, state.seen, state.labels, state.single
    dense = beginning(x, state.width)
    ready_block(state.linear, scored, seen, dense, single, labels[SHIFT])
    ready_block(state.curved, scored, seen, dense, single, labels[SHIFT])
    ready_block(state.deviation, scored, seen, dense, single, labels[SHIFT])
    ready_block(state.ranks, scored, seen, dense, single, labels[SHIFT])
    ready_block(state.direction, scored, seen, dense, single, labels[SHIFT])
    labels[SHIFT] = 0.0
    if len(state.lines) > 0 and not scored[len(scored) - 1]:
        look_at_words(state, x)
    target = clipped(y - labels[CENTRE], labels[REACH])
    weigh_experts(state, dense, target)
    learn_block(state.linear, seen, target)
    learn_block(state.curved, seen, target)
    learn_block(state.deviation, seen, target)
    learn_block(state.ranks, seen, target)
    learn_block(state.direction, seen, target)
    if len(state.lines) > 0:
        first, spread = len(scored) - EXPERTS, spread_of(labels) if state.regression else 1.0
        m_words, q_words, y_words = seen[_M, first:], seen[_Q, first:], target / spread
        words, offset = rest(x, state.lines_at, len(state.lines))
        learn_words(state.lines, words, offset, m_words, q_words, y_words, state.regression)
    return UPDATED


@apart
def weigh_experts(state: Any, dense: Any, y: float) -> None:
    """Update the weights by the losses of all experts, and choose which of them are scored from now on, in place."""
    seen, mix, labels = state.seen, state.mix, state.labels
    words = len(mix) - (EXPERTS if len(state.lines) > 0 else 0)
    for e in range(words):
        seen[_LOSS, e] = loss_of(margin_of(state, e), y, labels[VARIANCE])
    spread = spread_of(labels) if state.regression else 1.0
    for e in range(words, len(mix)):
        p = margin_for_loss_of_words(e - words, seen[_M, e], labels[REACH] / spread, state.regression)
        seen[_LOSS, e] = loss_of(p, y / spread, 1.0)
    shift_weights(mix, seen[_LOSS])
    ranks = state.ranks
    if (
        len(ranks.drift) > 0 and len(state.lasting) > 0
    ):  # a lasting expert is judged by what it says without recent labels
        e, here, there = ranks.first, state.place, state.place - ranks.start
        told = ranks.w[0, there] * dense[here] + ranks.w[0, there + 1] * dense[here + 1]
        p = clipped((seen[_M, e] - told) / (1.0 + seen[_Q, e]), labels[REACH])
        seen[_LOSS, e] = loss_of(p, y, labels[VARIANCE])
    shift_lasting(state.lasting, state.lasts, seen[_LOSS])
    note_scored(mix, SCORED, state.scored, len(mix) - words)


@restart.of(MixtureState)
def _restart(state: Any) -> None:
    restart_block(state.linear)
    restart_block(state.curved)
    restart_block(state.deviation)
    restart_block(state.ranks)
    restart_block(state.direction)
    forget_lines(state.lines)
    begin_mixture(state)
    clear(state.told)
    forget_scale(state.labels, state.regression)


@step
def begin_mixture(state: Any) -> None:
    """Set the weights of experts before the first label, in place."""
    words, directions = EXPERTS if len(state.lines) > 0 else 0, len(state.direction.drift)
    begin_weights(state.mix, words, directions, state.alike)
    lasting_experts(state.lasting, state.lasts, state.mix)
    for e in range(len(state.mix)):
        state.scored[e] = True


@is_sound.of(MixtureState)
def _is_sound(state: MixtureState) -> Any:
    mix, words = state.mix, EXPERTS if state.words else 0
    N, S = state.told[::2], state.told[1::2]
    recent = all_within(S, 0.0, LARGEST_COUNT) and all_within(np.abs(N) - _LARGEST_RECENT * S, -LARGEST, 1e-6)
    blocks = (state.linear, state.curved, state.deviation, state.ranks, state.direction)
    if len(state.lines) != state.words or not is_sound_blocks(blocks, len(mix) - words):
        return False
    scored = state.scored.copy()
    note_scored(mix, SCORED, scored, words)
    lasting = is_lasting(blocks, state.lasts, words) and is_lasting_mixture(state.lasting, state.lasts)
    chosen = np.array_equal(state.scored, scored) and lasting
    labels = is_sound_scale(state.labels, state.regression) and is_sound_lines(state.lines)
    return is_mixture(mix) and recent and chosen and labels


@weights.of(MixtureState)
def _weights(state: MixtureState) -> Any:
    found = np.zeros(max(state.width, state.lines_at + len(state.lines)))
    for block in (state.linear, state.curved, state.deviation, state.ranks, state.direction):
        D = block.w.shape[1]
        mix = state.mix[block.first : block.first + len(block.w)]
        found[block.start : block.start + D] += mix @ block.w
    if len(state.lines):
        found[state.lines_at : state.lines_at + len(state.lines)] += state.lines[:, :EXPERTS] @ state.mix[-EXPERTS:]
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
    kinds : Kinds, optional
        How many features are numbers, vectors and words, in this order, where they are not all of one kind.
    version : {2, 1}, default 2
        1 is the learner of release 0.1, which does not see vectors by their direction, and whose predictions after the
        stream still follow the last labels. Files, logs and stores of that release go on with it.

    Notes
    -----
    From up to 400 numbers it learns several views, each with several drift levels: the features, a curved function of
    them, their deviation from recent values, and their ranks with recent labels. From vectors, and from dense instances
    of 100 to 4,096 features, it learns the direction too. From words, and from sparse instances of more than 400
    features, it learns each feature separately, in O(nnz) a round. The names of the experts are in
    ``sampler.experts``, and their weights in ``sampler.drift_weights``.

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
    kinds: Kinds | None = None
    version: int = 2

    has_uncertainty: ClassVar[bool] = True

    def __post_init__(self) -> None:
        check_flag(self, "regression", self.regression)
        check_flag(self, "multi", self.multi)
        if self.version not in (1, 2) or isinstance(self.version, bool):
            raise InputError.about("Mixture", "version", "1 or 2", self.version)
        if self.kinds is not None:
            object.__setattr__(self, "kinds", check_kinds("Mixture", self.kinds))
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
            return list(OF_WORDS)
        names = [f"{view}, c = {c:g}" for view, levels in levels_of(layout).items() for c in levels]
        if self.classes is not None and has_clusters(layout, self.classes, self.multi):
            names.append(f"direction, {CLUSTERS}")
        return names + [f"words, {name}" for name in OF_WORDS if layout.lines]

    def with_kinds(self, kinds: Kinds) -> Mixture:
        """The same learner for instances of these kinds; those of numbers or of words alone need no kinds."""
        if self.kinds is not None or self.version == 1 or not (kinds.vectors or (kinds.numbers and kinds.words)):
            return self
        return dataclasses.replace(self, kinds=kinds)

    def layout(self, d: int, sparse: bool) -> Layout | None:
        """The layout of the views of instances with d features, or None where it learns from the instance itself."""
        told = RECENT_LABELS if self.classes is None else recent_label_features(self.classes)
        if self.kinds is not None:
            return layout_of_kinds(self.kinds, told)
        has_direction = self.version > 1 and NARROWEST_DIRECTION <= d <= WIDEST_DIRECTION
        if d > WIDEST and (sparse or not has_direction):
            return None
        return layout_of(d, told, has_direction)

    def start_views(self, layout: Layout) -> MixtureState | SeveralState:
        """The state before the first round, for rows of this layout."""
        k = 1 if self.classes is None else max(self.classes, 1)
        check_memory(self, layout.features, matrix_bytes(layout) + 64 * layout.lines * k)
        if self.classes is not None:
            return start_several(layout, self.classes, self.multi, self.version > 1)
        blocks: list[Block] = []
        levels, first, ones = levels_of(layout), 0, ones_of(layout)
        for name, (start, stop) in blocks_of(layout).items():
            E, D = len(levels[name]), stop - start
            Q, g = np.tile(np.eye(D, dtype=np.float32), (E, 1, 1)), np.zeros((E, D), np.float32)
            drift = np.array([1.0 / c for c in levels[name]])
            blocks.append(Block(np.zeros((E, D)), Q, g, drift, start, ones[name] - start, first))
            first += E
        lines = lines_of_zeros(layout.lines)
        linear, curved, deviation, ranks, direction = blocks
        E, lasts = first + (EXPERTS if layout.lines else 0), lasts_of(layout) if self.version > 1 else NOTHING_LASTS
        state = MixtureState(
            linear,
            curved,
            deviation,
            ranks,
            direction,
            lines,
            np.zeros(E),
            np.zeros(len(lasts)),
            np.ones(E, np.bool_),
            lasts,
            np.zeros((3, E)),
            np.zeros(layout.width, np.float32),
            np.zeros(4),
            new_scale(self.regression),
            layout.told,
            layout.width,
            len(lines),
            layout.lines_at,
            is_alike(layout),
            self.regression,
        )
        begin_mixture(state)
        return state

    def start(self, d: int, sparse: bool) -> Any:
        """The state before the first round, for instances of dimension d that are too wide for several views."""
        if self.classes is not None:
            check_memory(self, d, 48 * d * max(self.classes, 1))
            return start_several_diagonal(d, self.classes, self.multi)
        return start_diagonal(d, self.regression)
