"""Experts that learn how far advice can be trusted, and their mixture with a learner of the instances.

Not from a paper. Each adviser has experts of its own, which see nothing but what it says. A joint block sees what all
advisers say and what the learner of the instances predicts. All of them start from what is said, and learn by how much
to correct it:

==========  ==========================================================
k           number of outputs: one margin for two labels and for numbers, else one for each class
code        log odds of the stated probability of each label, clipped to +-4; +-2 where a label is only named; 0 where
            nothing is said. Of numbers: (advice - y_bar) / s, clipped to +-4
v           (code, 1) of one adviser; jointly (p, codes, who speaks, 1) of the learner's p and of all advisers
trust       what is said as a margin: code / 4, and for numbers the advice itself; jointly, the mean of those who speak
m_e, q_e    w_e v and v'Q_e v of expert e: least squares with the drift level c_e, whose target is y - trust
p_e         trust + m_e / (1 + q_e) of the stillest expert of each block, clipped to [-1, 1], and trust + m_e of the
            others: they are there for advisers that turn, and divided by 1 + q_e their corrections would come too late
mix         the weights of the learner, which comes first, and of all experts: p is the weighted mean
==========  ==========================================================

Where an expert with a higher drift level has far more weight, as after an adviser has turned, those with lower ones go
on from what it knows. An expert that sees nothing sleeps: it has no part in p, and its weight stays as it is, but until
it has learnt its first label it loses weight with every label of the others. So where no adviser speaks, the prediction
is exactly that of the learner alone. Freund, Schapire, Singer, Warmuth: Using and combining predictors that specialize,
1997. Losses are those of :mod:`askwhen.learners.mixing`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..linalg.vectors import all_finite, all_within
from ..weights.class_slots import loss_by_gap
from .label_scale import clipped, loss_of
from .mixing import ETA, SHARE

LEVELS = (1e5, 1e2, 1e1)
"""The drift levels of every block."""

STRONGEST, BARE = 4.0, 2.0
"""The largest log odds, and those of a label that is only named."""

ADVISERS_BEGIN = math.exp(2.0)
"""The weight of all experts on advice before the first label; that of the learner is 1."""

LAGGING = 0.05
"""An expert with less than this share of a drifting one's weight goes on from what that one knows."""

WAITING, LEAST = 0.8, 0.003
"""An expert that has not seen anything yet keeps so much of its weight at each label, while it has more than the
least: those who know something speak before the learner does, and what is fitted to the same labels knows no more."""

LARGEST_VIEW = 300
"""Where v would have more features, as with very many classes, what is said is taken as it is."""

_LARGEST = 1e12


class AdviceBlock(NamedTuple):
    """Experts on advice: ``levels`` of them for each row of ``v``; w by expert, output and feature, Q and g = Q v.

    ``p`` and ``q`` are those of the last round, and ``trust`` is given by row of ``v``.
    """

    w: Any
    Q: Any
    g: Any
    q: Any
    p: Any
    v: Any
    trust: Any
    drift: Any


def new_block(rows: int, features: int, k: int) -> AdviceBlock:
    """Experts before the first label."""
    D = features if features <= LARGEST_VIEW else 0
    drift = np.array([1.0 / c for c in (LEVELS if D else LEVELS[:1])])
    E = rows * len(drift)
    Q = np.tile(np.eye(D), (E, 1, 1))
    return AdviceBlock(
        np.zeros((E, k, D)),
        Q,
        np.zeros((E, D)),
        np.zeros(E),
        np.zeros((E, k)),
        np.zeros((rows, D)),
        np.zeros((rows, k)),
        drift,
    )


def first_mix(experts: int) -> np.ndarray:
    """The weights before the first label, of the learner and of the experts."""
    mix = np.full(1 + experts, ADVISERS_BEGIN / max(experts, 1))
    mix[0] = 1.0
    return np.asarray(mix / mix.sum())


@step
def log_odds_of(p: float) -> Any:
    """The log odds of a probability, clipped."""
    if p <= 0.0 or p >= 1.0:
        return STRONGEST if p > 0.5 else -STRONGEST
    return clipped(math.log(p / (1.0 - p)), STRONGEST)


@step
def write_named(code: Any, label: int, p: float, k: int) -> None:
    """Write the code of a label that is named, with probability p or, where p is NaN, without one, in place.

    k is the number of classes; with two labels there is one output, and the labels are 0 and 1.
    """
    own = BARE if math.isnan(p) else log_odds_of(p)
    if len(code) == 1:
        code[0] = own if label == 1 else -own
        return
    others = -BARE if math.isnan(p) else log_odds_of((1.0 - p) / max(k - 1, 1))
    for j in range(len(code)):
        code[j] = own if j == label else others


@step
def write_stated(code: Any, line: Any, places: Any) -> None:
    """Write the code of a probability for each class, or for each label whose class is in ``places``, in place."""
    for j in range(len(code)):
        code[j] = -STRONGEST
    if len(places) == 0:
        for j in range(min(len(code), len(line))):
            code[j] = log_odds_of(line[j])
        return
    for number in range(min(len(places), len(line))):
        if places[number] >= 0:
            code[places[number]] = log_odds_of(line[number])


@step
def view_own(block: Any, a: int, code: Any) -> None:
    """Write v and trust of one adviser from its code, in place."""
    v = block.v[a]
    if len(v) > 0:
        for j in range(len(code)):
            v[j] = code[j]
        v[len(code)] = 1.0
    for j in range(len(code)):
        block.trust[a, j] = code[j] / STRONGEST


@apart
def view_together(block: Any, own: Any, codes: Any, said: Any, p: Any) -> None:
    """Write v and trust of the joint block, in place; p is the learner's, by output."""
    v, trust, A, k = block.v[0], block.trust[0], codes.shape[0], codes.shape[1]
    speaking = 0
    for j in range(k):
        trust[j] = 0.0
    for a in range(A):
        if said[a]:
            speaking += 1
            for j in range(k):
                trust[j] += own.trust[a, j]
    for j in range(k):
        trust[j] /= max(speaking, 1)
    if len(v) == 0:
        return
    for j in range(k):
        v[j] = p[j]
    for a in range(A):
        for j in range(k):
            v[k + a * k + j] = codes[a, j]
        v[k + A * k + a] = 1.0 if said[a] else 0.0
    v[len(v) - 1] = 1.0


@apart
def score_expert(block: Any, e: int, reach: float) -> None:
    """Compute g, q and the p of every output of expert e, in place."""
    row = e // len(block.drift)
    v, w, g = block.v[row], block.w[e], block.g[e]
    q = 0.0
    for i in range(len(v)):
        total = 0.0
        for j in range(len(v)):
            total += block.Q[e, i, j] * v[j]
        g[i] = total
        q += total * v[i]
    block.q[e] = max(q, 0.0)
    careful = 1.0 + block.q[e] if e % len(block.drift) == 0 else 1.0
    for j in range(w.shape[0]):
        m = 0.0
        for i in range(len(v)):
            m += w[j, i] * v[i]
        block.p[e, j] = clipped(block.trust[row, j] + m / careful, reach)


@apart
def learn_expert(block: Any, e: int, target: Any) -> None:
    """Let expert e learn the target of every output, in place, after ``score_expert``."""
    row = e // len(block.drift)
    v, w, g, whole = block.v[row], block.w[e], block.g[e], 1.0 + block.q[e]
    for j in range(w.shape[0]):
        m = 0.0
        for i in range(len(v)):
            m += w[j, i] * v[i]
        gain = (target[j] - block.trust[row, j] - m) / whole
        for i in range(len(v)):
            w[j, i] += gain * g[i]
    for i in range(len(v)):
        g[i] /= math.sqrt(whole)
    for i in range(len(v)):
        for j in range(len(v)):
            block.Q[e, i, j] -= g[i] * g[j]
        block.Q[e, i, i] += block.drift[e % len(block.drift)]


@step
def loss_of_outputs(p: Any, target: Any, label: int, variance: float) -> Any:
    """The loss of one margin, or by the gap between the label's class and the best other one."""
    return loss_of(p[0], target[0], variance) if len(p) == 1 else loss_by_gap(p, label, False)


@apart
def shift_awake(mix: Any, losses: Any, awake: Any) -> None:
    """Update the weights of those who are awake by their losses, in place; the others keep theirs."""
    before = after = count = 0.0
    for e in range(len(mix)):
        if awake[e]:
            before += mix[e]
            mix[e] *= math.exp(-ETA * losses[e])
            after += mix[e]
            count += 1.0
    for e in range(len(mix)):
        if awake[e]:
            mix[e] = before * ((1.0 - SHARE) * mix[e] / after + SHARE / count)


@step
def wait_longer(block: Any, mix: Any, first: int, e: int) -> Any:
    """Reduce the weight of expert e of a block, in place, if it has learnt nothing yet; return whether it was."""
    D = block.Q.shape[1]
    if D == 0 or block.Q[e, D - 1, D - 1] != 1.0 or mix[first + e] <= LEAST:
        return False
    mix[first + e] *= WAITING
    return True


@apart
def begin_anew(block: Any, mix: Any, first: int) -> None:
    """Let experts that lag far behind a drifting one go on from what that one knows, in place.

    When an adviser turns, those that forget little would need as many labels again to unlearn what they know. They get
    half of the drifting one's weight: at that moment both say the same.
    """
    L = len(block.drift)
    for row in range(len(block.v)):
        best = 0
        for i in range(1, L):
            if mix[first + row * L + i] > mix[first + row * L + best]:
                best = i
        there = row * L + best
        for i in range(best):
            here = row * L + i
            if mix[first + here] < LAGGING * mix[first + there]:
                for j in range(block.w.shape[1]):
                    for f in range(block.w.shape[2]):
                        block.w[here, j, f] = block.w[there, j, f]
                for j in range(block.Q.shape[1]):
                    for f in range(block.Q.shape[2]):
                        block.Q[here, j, f] = block.Q[there, j, f]
                both = 0.5 * (mix[first + here] + mix[first + there])
                mix[first + here] = mix[first + there] = both


@step
def forget_block(block: Any) -> None:
    """Forget everything, in place."""
    for e in range(len(block.Q)):
        for i in range(block.Q.shape[1]):
            for j in range(block.w.shape[1]):
                block.w[e, j, i] = 0.0
            for j in range(block.Q.shape[1]):
                block.Q[e, i, j] = 1.0 if i == j else 0.0


def is_sound_block(block: AdviceBlock) -> bool:
    """Whether the experts of a file are possible."""
    variances = np.diagonal(block.Q, axis1=1, axis2=2)
    largest = np.sqrt(np.maximum(variances, 0.0))
    covariances = np.abs(block.Q) - largest[:, :, None] * largest[:, None, :]
    return (
        all_finite(block.w)
        and all_within(block.Q, -_LARGEST, _LARGEST)
        and all_within(variances, -1e-6, _LARGEST)
        and all_within(covariances, -2.0 * _LARGEST, 1e-3 * max(float(variances.max(initial=0.0)), 1.0))
        and all_within(block.drift, 0.0, 1.0)
    )


def moved(old: AdviceBlock, new: AdviceBlock, columns: np.ndarray) -> AdviceBlock:
    """A new block with what an old one has learnt: its features are those at ``columns``, and further rows follow.

    Outputs beyond the old ones are like its last. If only one of the two sees features, nothing is kept.
    """
    k, n = old.w.shape[1], len(old.Q)
    if old.v.shape[1] == 0 or new.v.shape[1] == 0:
        return new
    outputs = np.minimum(np.arange(new.w.shape[1]), k - 1)
    new.w[:n][:, :, columns] = old.w[:, outputs]
    new.Q[np.ix_(np.arange(n), columns, columns)] = old.Q
    return new
