"""Mixture for several classes: the same views and drift levels, with matrices that all classes share.

Every asked label is learnt by all classes, as +1 by its own and as -1 by the others. Then Q, q and g depend only on
the instances: an expert has one Q, and a weight vector w_j for each class. A round costs O(D^2 + k D).

==========  ==========================================================
m_ej        w_ej.v of expert e and class j
p_ej        m_ej / (1 + q_e), clipped to [-1, 1]
p_j         the mean of p_ej over the scored experts, by their weights; the largest is predicted, the first among equals
z           half the gap between the two largest p_j, which is used as the margin
loss_e      ((p_ec - the largest p_ej of another class) / 2 - 1)^2 for a label of class c; where there are clusters,
            half the sum of (p_ej -+ 1)^2 over the classes with a label: with many classes most first predictions are
            wrong, and the gap would favour the experts that hardly tell classes apart
f_tau,j     N_j / (S + 1/2) for class j: recent labels, +1 for its own and -1 for others; of every class but the first,
            up to nine
==========  ==========================================================

The experts on words are those of :mod:`askwhen.learners.word_classes`. Directions have one more expert where there are
more than two classes, of which one applies: :mod:`askwhen.learners.cluster_expert`.

With two classes this is :mod:`askwhen.learners.mixture_state`, except for the sign. Open classes have spare slots,
which learn -1 from every label. A new class takes the next spare slot, whose weights are exactly those that the class
would have had if it had been known from the start.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    LARGEST_COUNT,
    UPDATED,
    enter,
    grow,
    hear,
    is_sound,
    learn,
    leave,
    quadratic,
    ready,
    restart,
    score,
    score_lasting,
    weights,
    widen,
)
from ..contracts.views import Layout
from ..linalg.rows import beginning, rest, size
from ..linalg.single import form_in_single, product_in_single, take_square_in_single
from ..linalg.vectors import LARGEST, SOUND, UNSOUND, all_within, clear, inner, measure
from ..weights.class_slots import (
    FIRST_SLOTS,
    TINY,
    choose,
    is_labelled,
    is_opened,
    loss_by_gap,
    register_classes,
    repeat_last,
)
from .cluster_expert import (
    ClusterBlock,
    begin_clusters,
    forget_clusters,
    is_sound_clusters,
    learn_clusters,
    loss_by_squares,
    new_clusters,
    score_clusters,
    widen_clusters,
)
from .label_scale import clipped
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
    ones_of,
    take_in_single,
)
from .word_classes import (
    forget_classes,
    has_room_for_words,
    is_sound_classes,
    learn_word_classes,
    mixed_lines,
    new_lines,
    note_word_gains,
    score_word_classes,
    with_room,
)
from .word_experts import EXPERTS, margin_for_loss_of_words, margin_of_words

RECENT_CLASSES = 9
"""Largest number of classes whose recent labels are features."""

_Q, _LOSS = 0, 1


class ClassBlock(NamedTuple):
    """Experts on one part of the row, from ``start`` on: w by expert and class, Q (lower triangle), g and 1/c.

    ``one`` is the index of the feature 1 in that part, and ``first`` the number of the first expert.
    """

    w: Any
    Q: Any
    g: Any
    drift: Any
    start: int
    one: int
    first: int


class SeveralState(NamedTuple):
    """``m`` by expert and class, ``mean`` = p_j; ``seen`` = (q, loss) by expert; told = (N_j by tau, S).

    ``opened`` is the number of classes so far: all of them, unless classes are open. ``lines``, ``taken``, ``where``
    and ``used`` are those of words, if there are any, and ``gain`` has the steps of their experts by class.
    """

    linear: ClassBlock
    curved: ClassBlock
    deviation: ClassBlock
    ranks: ClassBlock
    direction: ClassBlock
    clusters: ClusterBlock
    lines: Any
    taken: Any
    where: Any
    used: Any
    gain: Any
    mix: Any
    lasting: Any
    scored: Any
    lasts: Any
    m: Any
    mean: Any
    seen: Any
    single: Any
    told: Any
    best: Any
    opened: Any
    margins: Any
    place: int
    width: int
    words: int
    lines_at: int
    alike: bool
    multi: bool


register_mixture(SeveralState)
register_classes(SeveralState)


def recent_label_features(k: int) -> int:
    """Number of features for the recent labels of k classes; 0 means open classes."""
    return 2 * (min(k - 1, RECENT_CLASSES) if k > 0 else RECENT_CLASSES)


def has_clusters(layout: Layout, opened: int, multi: bool) -> bool:
    """Whether directions have an expert for clusters: not for two classes, which least squares learns as well."""
    return bool(layout.vectors) and opened != 2 and not multi


def start_several(layout: Layout, opened: int, multi: bool = False, lasts: bool = True) -> SeveralState:
    """The state before the first round, for rows of this layout and ``opened`` classes or labels; 0 means open ones.

    ``lasts`` says whether there are weights for models that only predict.
    """
    k, numbers = opened or FIRST_SLOTS, recent_label_features(opened) // 2 + 1
    blocks, levels, ones, first = [], levels_of(layout), ones_of(layout), 0
    for name, (start, stop) in blocks_of(layout).items():
        E, D = len(levels[name]), stop - start
        Q, g = np.tile(np.eye(D, dtype=np.float32), (E, 1, 1)), np.zeros((E, D), np.float32)
        drift = np.array([1.0 / c for c in levels[name]])
        blocks.append(ClassBlock(np.zeros((E, k, D)), Q, g, drift, start, ones[name] - start, first))
        first += E
    start, stop = blocks_of(layout)["direction"]
    clusters = new_clusters(k, stop - start if has_clusters(layout, opened, multi) else 0, start, first)
    first += len(clusters.P) > 0
    words = layout.lines
    linear, curved, deviation, ranks, direction = blocks
    E, lasting = first + (EXPERTS if words else 0), NOTHING_LASTS
    if lasts:
        lasting = lasts_of(layout, len(clusters.P) > 0)
    state = SeveralState(
        linear,
        curved,
        deviation,
        ranks,
        direction,
        clusters,
        *new_lines(words, k),
        np.zeros((EXPERTS if words else 0, k)),
        np.zeros(E),
        np.zeros(len(lasting)),
        np.ones(E, np.bool_),
        lasting,
        np.zeros((E, k)),
        np.zeros(k),
        np.zeros((2, E)),
        np.zeros(layout.width, np.float32),
        np.zeros((2, numbers)),
        np.zeros(1, np.int64),
        np.array([opened]),
        np.zeros(k),
        layout.told,
        layout.width,
        words,
        layout.lines_at,
        is_alike(layout),
        multi,
    )
    begin_mixture(state)
    return state


@apart
def score_classes(block: Any, scored: Any, m: Any, seen: Any, x: Any, single: Any) -> None:
    """Compute m by class, and q, of the scored experts."""
    stop = block.start + block.w.shape[2]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e = block.first + i
        if scored[e]:
            for j in range(m.shape[1]):
                m[e, j] = inner(block.w[i, j], v)
            seen[_Q, e] = max(form_in_single(block.Q[i], in_single), 0.0)


@apart
def ready_classes(block: Any, scored: Any, m: Any, seen: Any, x: Any, single: Any) -> None:
    """Compute g of every expert, and m and q of those that were not scored."""
    stop = block.start + block.w.shape[2]
    v, in_single = x[block.start : stop], single[block.start : stop]
    for i in range(len(block.drift)):
        e, g = block.first + i, block.g[i]
        product_in_single(block.Q[i], in_single, g)
        if not scored[e]:
            q = 0.0
            for j in range(len(g)):
                q += g[j] * v[j]
            seen[_Q, e] = max(q, 0.0)
            for j in range(m.shape[1]):
                m[e, j] = inner(block.w[i, j], v)


@apart
def learn_classes(block: Any, m: Any, seen: Any, c: int, multi: bool) -> None:
    """Let every expert learn the label c, in place, after ``ready_classes``."""
    for i in range(len(block.drift)):
        e = block.first + i
        g, whole = block.g[i], 1.0 + seen[_Q, e]
        for j in range(m.shape[1]):
            gain, w = ((1.0 if is_labelled(c, j, multi) else -1.0) - m[e, j]) / whole, block.w[i, j]
            for f in range(len(w)):
                w[f] += gain * g[f]
        shrink = np.float32(1.0 / math.sqrt(whole))
        for f in range(len(g)):
            g[f] *= shrink
        take_square_in_single(block.Q[i], g, block.drift[i])


@apart
def restart_classes(block: Any) -> None:
    """Forget everything, in place."""
    for i in range(len(block.drift)):
        for j in range(block.w.shape[1]):
            clear(block.w[i, j])
        for f in range(block.w.shape[2]):
            clear(block.Q[i, f])
            block.Q[i, f, f] = 1.0


@enter.of(SeveralState)
def _enter(state: Any, x: Any) -> None:
    if len(state.ranks.drift) > 0:
        told, dense = state.told, beginning(x, state.width)
        T = told.shape[1] - 1
        for tau in range(2):
            for j in range(T):
                dense[state.place + tau * T + j] = told[tau, j] / (told[tau, T] + 0.5)


@leave.of(SeveralState)
def _leave(state: Any) -> None:
    for tau in range(2):
        for j in range(state.told.shape[1]):
            state.told[tau, j] *= FADE[tau]


@hear.of(SeveralState)
def _hear(state: Any, y: float, chance: float) -> None:
    told = state.told
    T = told.shape[1] - 1
    for tau in range(2):
        for j in range(T):
            told[tau, j] += 1.0 if is_labelled(int(y), j + 1, state.multi) else -1.0
        told[tau, T] += 1.0


@apart
def score_several(state: Any, x: Any, scored: Any) -> Any:
    """Compute m by class and q of these experts; return |z|^2 and whether the row can be scored."""
    norm2, status = take_in_single(state, x)
    if status != SOUND:
        return norm2, status
    dense, seen, m, single = beginning(x, state.width), state.seen, state.m, state.single
    score_classes(state.linear, scored, m, seen, dense, single)
    score_classes(state.curved, scored, m, seen, dense, single)
    score_classes(state.deviation, scored, m, seen, dense, single)
    score_classes(state.ranks, scored, m, seen, dense, single)
    score_classes(state.direction, scored, m, seen, dense, single)
    if len(state.clusters.P) > 0 and scored[state.clusters.first]:
        score_clusters(state.clusters, m[state.clusters.first], dense, single)
    if len(state.where) > 0 and scored[len(scored) - 1]:
        return norm2, look_at_words(state, x)
    return norm2, SOUND


@step
def look_at_words(state: Any, x: Any) -> Any:
    """Compute m by class and q of the experts on words; return whether the words can be scored."""
    words, offset = rest(x, state.lines_at, len(state.where))
    _, status = measure(words, offset + len(state.where))
    status = UNSOUND if begins_before(words, offset) else status
    if status == SOUND:
        first = len(state.mix) - EXPERTS
        m, q = state.m[first:], state.seen[_Q, first:]
        score_word_classes(state.lines, state.taken, state.where, words, offset, m, q)
    return status


@step
def margin_of(state: Any, e: int, j: int) -> Any:
    """p_ej, between -1 and 1."""
    first = len(state.mix) - (EXPERTS if len(state.where) > 0 else 0)
    m, q = state.m[e, j], state.seen[_Q, e]
    return clipped(m / (1.0 + q), 1.0) if e < first else margin_of_words(e - first, m, q, 1.0, False)


@step
def mix_margins(state: Any, mix: Any, scored: Any) -> Any:
    """Write p_j of the mixture of the scored experts, and its best class; return half the gap, and q."""
    mean = state.mean
    clear(mean)
    q = total = formed = 0.0
    first, clusters = len(mix) - EXPERTS, state.clusters.first if len(state.clusters.P) > 0 else -1
    for e in range(len(mix)):
        if scored[e]:
            for j in range(len(mean)):
                mean[j] += mix[e] * margin_of(state, e, j)
            total += mix[e]
            if e != clusters and (len(state.where) == 0 or e < first or e >= first + 2):
                q += mix[e] * state.seen[_Q, e]
                formed += mix[e]
    q = q / formed if formed > 0.0 else 0.0
    gap = choose(mean, state.best, state.opened[0], state.multi) / total
    for j in range(len(mean)):
        mean[j] /= total
    return 0.5 * gap, q


@score.of(SeveralState)
def _score(state: Any, x: Any) -> Any:
    """Compute m and q of the scored experts, p_j of the classes, the best class, and half its gap to the next."""
    norm2, status = score_several(state, x, state.scored)
    if status != SOUND:
        return 0.0, 0.0, status
    z, q = mix_margins(state, state.mix, state.scored)
    state.seen[_LOSS, 0] = q
    return max(z * (1.0 + q), TINY), norm2, SOUND


@score_lasting.of(SeveralState)
def _score_lasting(state: Any, x: Any) -> Any:
    """The m and q of the lasting experts' mixture, and the status, without recent labels."""
    if len(state.lasting) == 0:
        enter(state, x)
    elif len(state.ranks.drift) > 0:
        dense = beginning(x, state.width)
        for k in range(2 * (state.told.shape[1] - 1)):
            dense[state.place + k] = 0.0
    mix, lasts = (state.lasting, state.lasts) if len(state.lasting) > 0 else (state.mix, state.scored)
    _, status = score_several(state, x, lasts)
    if status != SOUND:
        return 0.0, 0.0, status
    z, q = mix_margins(state, mix, lasts)
    return max(z * (1.0 + q), TINY), q, SOUND


@quadratic.of(SeveralState)
def _quadratic(state: Any, x: Any) -> Any:
    return state.seen[_LOSS, 0]


@learn.of(SeveralState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Update the weights of the experts, then let every expert learn, in place."""
    scored, seen, single, each, c = state.scored, state.seen, state.single, state.m, int(y)
    dense = beginning(x, state.width)
    ready_classes(state.linear, scored, each, seen, dense, single)
    ready_classes(state.curved, scored, each, seen, dense, single)
    ready_classes(state.deviation, scored, each, seen, dense, single)
    ready_classes(state.ranks, scored, each, seen, dense, single)
    ready_classes(state.direction, scored, each, seen, dense, single)
    if len(state.clusters.P) > 0 and not scored[state.clusters.first]:
        score_clusters(state.clusters, each[state.clusters.first], dense, single)
    if len(state.where) > 0 and not scored[len(scored) - 1]:
        look_at_words(state, x)
    weigh_by_gap(state, dense, c)
    learn_classes(state.linear, each, seen, c, state.multi)
    learn_classes(state.curved, each, seen, c, state.multi)
    learn_classes(state.deviation, each, seen, c, state.multi)
    learn_classes(state.ranks, each, seen, c, state.multi)
    learn_classes(state.direction, each, seen, c, state.multi)
    if len(state.clusters.P) > 0:
        learn_clusters(state.clusters, dense, c)
    if len(state.where) > 0:
        first = len(scored) - EXPERTS
        words, offset = rest(x, state.lines_at, len(state.where))
        for j in range(len(state.mean)):
            label = 1.0 if is_labelled(c, j, state.multi) else -1.0
            note_word_gains(state.gain, each[first:], seen[_Q, first:], j, label)
        learn_word_classes(state.lines, state.taken, state.where, state.used, words, offset, state.gain)
    return UPDATED


@step
def loss_of_classes(state: Any, c: int) -> Any:
    """The loss of an expert whose p_ej are in ``margins``."""
    if len(state.clusters.P) > 0:
        return loss_by_squares(state.margins, state.clusters.counts, c)
    return loss_by_gap(state.margins, c, state.multi)


@apart
def weigh_by_gap(state: Any, dense: Any, c: int) -> None:
    """Update the weights by the losses of all experts, and choose which of them are scored from now on, in place."""
    seen, mix, m, ranks = state.seen, state.mix, state.m, state.ranks
    words = len(mix) - (EXPERTS if len(state.where) > 0 else 0)
    for e in range(len(mix)):
        for j in range(m.shape[1]):
            at_loss = margin_of(state, e, j)
            if e >= words:
                at_loss = margin_for_loss_of_words(e - words, m[e, j], 1.0, False)
            state.margins[j] = at_loss
        seen[_LOSS, e] = loss_of_classes(state, c)
    shift_weights(mix, seen[_LOSS])
    if (
        len(ranks.drift) > 0 and len(state.lasting) > 0
    ):  # a lasting expert is judged by what it says without recent labels
        e, there = ranks.first, state.place - ranks.start
        for j in range(m.shape[1]):
            told = 0.0
            for k in range(2 * (state.told.shape[1] - 1)):
                told += ranks.w[0, j, there + k] * dense[state.place + k]
            state.margins[j] = clipped((m[e, j] - told) / (1.0 + seen[_Q, e]), 1.0)
        seen[_LOSS, e] = loss_of_classes(state, c)
    shift_lasting(state.lasting, state.lasts, seen[_LOSS])
    note_scored(mix, SCORED, state.scored, len(mix) - words)


@restart.of(SeveralState)
def _restart(state: Any) -> None:
    restart_classes(state.linear)
    restart_classes(state.curved)
    restart_classes(state.deviation)
    restart_classes(state.ranks)
    restart_classes(state.direction)
    forget_clusters(state.clusters)
    forget_classes(state.lines, state.taken, state.where, state.used)
    begin_mixture(state)
    for tau in range(2):
        clear(state.told[tau])


@step
def begin_mixture(state: Any) -> None:
    """Set the weights of experts before the first label, in place."""
    words, directions = EXPERTS if len(state.where) > 0 else 0, len(state.direction.drift)
    if len(state.clusters.P) > 0:
        directions += 1
    begin_weights(state.mix, words, directions, state.alike)
    if len(state.clusters.P) > 0:
        begin_clusters(state.mix, state.direction.first, state.clusters.first)
    lasting_experts(state.lasting, state.lasts, state.mix)
    for e in range(len(state.mix)):
        state.scored[e] = True


@is_sound.of(SeveralState)
def _is_sound(state: SeveralState) -> Any:
    mix, S, words = state.mix, state.told[:, -1:], EXPERTS if state.words else 0
    recent = all_within(S, 0.0, LARGEST_COUNT) and all_within(np.abs(state.told[:, :-1]) - S, -LARGEST, 1e-6)
    lengths = (len(state.where), len(state.gain)) == (state.words, words)
    clusters, D = int(len(state.clusters.P) > 0), len(state.clusters.P)
    if not lengths or not is_sound_blocks(_blocks(state), len(mix) - words - clusters):
        return False
    if not is_sound_clusters(
        state.clusters, len(state.mean) if clusters else 0, state.direction.w.shape[2] if D else 0
    ):
        return False
    scored = state.scored.copy()
    note_scored(mix, SCORED, scored, words)
    lasting = is_lasting(_blocks(state), state.lasts, clusters + words) and is_lasting_mixture(
        state.lasting, state.lasts
    )
    chosen = np.array_equal(state.scored, scored) and lasting
    lines = is_sound_classes(state.lines, state.taken, state.where, state.used)
    return is_mixture(mix) and recent and chosen and lines and is_opened(state)


def _blocks(state: SeveralState) -> tuple[ClassBlock, ...]:
    return state.linear, state.curved, state.deviation, state.ranks, state.direction


@ready.of(SeveralState)
def _ready(state: Any, x: Any) -> Any:
    words, _offset = rest(x, state.lines_at, len(state.where))
    return len(state.where) == 0 or has_room_for_words(state.lines, state.used, size(words))


@grow.of(SeveralState)
def _grow(state: SeveralState, entries: int, randomness: Any) -> SeveralState:
    lines, taken = with_room(state.lines, state.taken, state.used, entries)
    return state._replace(lines=lines, taken=taken)


@widen.of(SeveralState)
def _widen(state: SeveralState, slots: int) -> SeveralState:
    wider = {
        name: getattr(state, name)._replace(w=repeat_last(getattr(state, name).w, slots, 1))
        for name in ("linear", "curved", "deviation", "ranks", "direction")
    }
    lines, gain, m = (repeat_last(array, slots, 1) for array in (state.lines, state.gain, state.m))
    mean, margins = repeat_last(state.mean, slots), np.zeros(slots)
    clusters = widen_clusters(state.clusters, slots)
    return state._replace(clusters=clusters, lines=lines, gain=gain, m=m, mean=mean, margins=margins, **wider)


@weights.of(SeveralState)
def _weights(state: SeveralState) -> Any:
    k = int(state.opened[0])
    found = np.zeros((k, max(state.width, state.lines_at + len(state.where))))
    for block in _blocks(state):
        mix = state.mix[block.first : block.first + len(block.w)]
        found[:, block.start : block.start + block.w.shape[2]] += np.tensordot(mix, block.w[:, :k], 1)
    if len(state.where):
        last = state.lines_at + len(state.where)
        found[:, state.lines_at : last] += mixed_lines(state.lines, state.where, k, state.mix[-EXPERTS:])
    return found
