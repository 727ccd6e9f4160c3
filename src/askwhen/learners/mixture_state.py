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

from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import apart, step
from ..contracts.learner import (
    LARGEST_COUNT,
    UPDATED,
    enter,
    foresee,
    hear,
    is_sound,
    learn,
    leave,
    quadratic,
    restart,
    score,
    score_lasting,
    weights,
    with_lookahead,
)
from ..contracts.views import Layout
from ..linalg.rows import beginning, rest
from ..linalg.single import EIGHT
from ..linalg.vectors import LARGEST, SOUND, TOO_LARGE, UNSOUND, all_within, clear, lines_of_zeros, measure
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
from .lookahead import (
    Lookahead,
    compute_ahead,
    forget_ahead,
    is_due,
    new_lookahead,
    no_lookahead,
    note_scored_row,
    take_rows,
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
from .mixture_blocks import FORM, LOSS, SCORE, Block, learn_block, restart_block, score_block
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
from .word_experts import (
    EXPERTS,
    forget_lines,
    is_sound_lines,
    learn_words,
    margin_for_loss_of_words,
    margin_of_words,
    score_words,
)

_LARGEST_RECENT = 1e6
"""Largest mean of recent labels in a file, in units of their spread: with a tiny spread, a label may be far off."""


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
    lookahead: Lookahead
    place: int
    width: int
    words: int
    lines_at: int
    alike: bool
    regression: bool


register_mixture(MixtureState)


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
    dense, seen, single, ahead = beginning(x, state.width), state.seen, state.single, state.lookahead
    score_block(state.linear, scored, seen, dense, single, ahead, state.linear.w.shape[1])
    score_block(state.curved, scored, seen, dense, single, ahead, state.curved.w.shape[1])
    score_block(state.deviation, scored, seen, dense, single, ahead, state.deviation.w.shape[1])
    score_block(state.ranks, scored, seen, dense, single, ahead, before_recent(state))
    score_block(state.direction, scored, seen, dense, single, ahead, state.direction.w.shape[1])
    note_scored_row(ahead)
    if len(state.lines) > 0 and scored[len(scored) - 1]:
        return norm2, look_at_words(state, x)
    return norm2, SOUND


@foresee.of(MixtureState)
def _foresee(state: Any, rows: Any, i: int) -> None:
    ahead, scored = state.lookahead, state.scored
    if is_due(ahead, i):
        take_rows(ahead, rows, i, state.width)
        compute_ahead(ahead, state.linear, scored, state.linear.w.shape[1])
        compute_ahead(ahead, state.curved, scored, state.curved.w.shape[1])
        compute_ahead(ahead, state.deviation, scored, state.deviation.w.shape[1])
        compute_ahead(ahead, state.ranks, scored, before_recent(state))
        compute_ahead(ahead, state.direction, scored, state.direction.w.shape[1])


@step
def before_recent(state: Any) -> Any:
    """The features of the block of ranks, up to the eight that hold the first recent labels."""
    f = state.place - state.ranks.start
    return f - f % EIGHT


@with_lookahead.of(MixtureState)
def _with_lookahead(state: MixtureState) -> MixtureState:
    if len(state.lookahead.about) > 0:
        return state
    return state._replace(lookahead=new_lookahead(state.width, len(state.mix)))


@step
def look_at_words(state: Any, x: Any) -> Any:
    """Compute m and q of the experts on words; return whether the words can be scored."""
    words, offset = rest(x, state.lines_at, len(state.lines))
    norm2, status = measure(words, offset + len(state.lines))
    status = UNSOUND if begins_before(words, offset) else status
    if status == SOUND:
        first = len(state.mix) - EXPERTS
        score_words(state.lines, words, offset, norm2, state.seen[SCORE, first:], state.seen[FORM, first:])
    return status


@step
def margin_of(state: Any, e: int) -> Any:
    """p_e, within the reach of the labels."""
    m, q, reach = state.seen[SCORE, e], state.seen[FORM, e], state.labels[REACH]
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
                q += mix[e] * state.seen[FORM, e]
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
    state.seen[LOSS, 0] = q
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
    return state.seen[LOSS, 0]


@learn.of(MixtureState)
def _learn(state: Any, x: Any, norm2: float, m: float, q: float, y: float) -> Any:
    """Let every expert learn, and update the weights of the experts by what they had said, in place."""
    scored, seen, labels, single = state.scored, state.seen, state.labels, state.single
    dense, shift = beginning(x, state.width), labels[SHIFT]
    forget_ahead(state.lookahead)
    target, told = clipped(y - labels[CENTRE], labels[REACH]), score_of_recent(state, dense)
    learn_block(state.linear, scored, seen, dense, single, shift, target)
    learn_block(state.curved, scored, seen, dense, single, shift, target)
    learn_block(state.deviation, scored, seen, dense, single, shift, target)
    learn_block(state.ranks, scored, seen, dense, single, shift, target)
    learn_block(state.direction, scored, seen, dense, single, shift, target)
    labels[SHIFT] = 0.0
    if len(state.lines) > 0 and not scored[len(scored) - 1]:
        look_at_words(state, x)
    weigh_experts(state, told, target)
    if len(state.lines) > 0:
        first, spread = len(scored) - EXPERTS, spread_of(labels) if state.regression else 1.0
        m_words, q_words, y_words = seen[SCORE, first:], seen[FORM, first:], target / spread
        words, offset = rest(x, state.lines_at, len(state.lines))
        learn_words(state.lines, words, offset, m_words, q_words, y_words, state.regression)
    return UPDATED


@step
def score_of_recent(state: Any, dense: Any) -> Any:
    """What recent labels contribute to the score of the stillest expert on ranks."""
    ranks = state.ranks
    if len(ranks.drift) == 0:
        return 0.0
    here, there = state.place, state.place - ranks.start
    return ranks.w[0, there] * dense[here] + ranks.w[0, there + 1] * dense[here + 1]


@apart
def weigh_experts(state: Any, told: float, y: float) -> None:
    """Update the weights by the losses of all experts, and choose which of them are scored from now on, in place.

    ``told`` is what recent labels contribute to the score of the stillest expert on ranks.
    """
    seen, mix, labels = state.seen, state.mix, state.labels
    words = len(mix) - (EXPERTS if len(state.lines) > 0 else 0)
    for e in range(words):
        seen[LOSS, e] = loss_of(margin_of(state, e), y, labels[VARIANCE])
    spread = spread_of(labels) if state.regression else 1.0
    for e in range(words, len(mix)):
        p = margin_for_loss_of_words(e - words, seen[SCORE, e], labels[REACH] / spread, state.regression)
        seen[LOSS, e] = loss_of(p, y / spread, 1.0)
    shift_weights(mix, seen[LOSS])
    ranks = state.ranks
    if (
        len(ranks.drift) > 0 and len(state.lasting) > 0
    ):  # a lasting expert is judged by what it says without recent labels
        e = ranks.first
        p = clipped((seen[SCORE, e] - told) / (1.0 + seen[FORM, e]), labels[REACH])
        seen[LOSS, e] = loss_of(p, y, labels[VARIANCE])
    shift_lasting(state.lasting, state.lasts, seen[LOSS])
    note_scored(mix, SCORED, state.scored, len(mix) - words)


@restart.of(MixtureState)
def _restart(state: Any) -> None:
    forget_ahead(state.lookahead)
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


def start_mixture(layout: Layout, regression: bool, lasting: bool) -> MixtureState:
    """The state before the first round, for rows of this layout.

    ``lasting`` says whether there are weights for models that only predict.
    """
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
    E, lasts = first + (EXPERTS if layout.lines else 0), lasts_of(layout) if lasting else NOTHING_LASTS
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
        new_scale(regression),
        no_lookahead(),
        layout.told,
        layout.width,
        len(lines),
        layout.lines_at,
        is_alike(layout),
        regression,
    )
    begin_mixture(state)
    return state
