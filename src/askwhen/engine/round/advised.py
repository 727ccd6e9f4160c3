"""A learner with advisers, played as one learner: that of the instances, the experts on advice, and their mixture.

The learner of the instances is called by its address, so that these steps are compiled once for all learners. It is the
same as without advisers, bit for bit, if it is told the same labels. The mathematics is in
:mod:`askwhen.learners.advice_experts`.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...compiled.by_address import POINTER, address_of
from ...compiled.frames import LentType, new_frame
from ...compiled.steps import borrow, by_address, step
from ...contracts.learner import State, experts, grow, is_sound, open_class, ready, restart, weights, widen
from ...learners.advice_experts import (
    STRONGEST,
    AdviceBlock,
    begin_anew,
    first_mix,
    forget_block,
    is_sound_block,
    learn_expert,
    loss_of_outputs,
    moved,
    new_block,
    score_expert,
    shift_awake,
    view_own,
    view_together,
    wait_longer,
    write_named,
    write_stated,
)
from ...learners.label_scale import CENTRE, COUNT, REACH, VARIANCE, clipped, new_scale, spread_of
from ...linalg.vectors import LARGEST, SOUND, TOO_LARGE, all_within
from ...weights.class_slots import TINY, choose, register_classes, repeat_last
from .step_table import (
    FORM,
    LearnerCalls,
    best_at,
    call_learn,
    call_leave,
    call_look,
    call_margins,
    call_note,
    call_opens,
    call_restart,
    learner_calls,
    margins_at,
    predicting,
)

_TRUSTED_AFTER = 10.0
"""After so many labels, advice of a number beyond the reach of the labels is clipped to it."""

_M, _CENTRE, _SPREAD = range(3)


class Given(NamedTuple):
    """The advice of some rounds, see :mod:`askwhen.engine.inputs.advice`: an entry for each round and adviser.

    ``among`` is the number of classes when it was given, 0 for those of today. Where ``places`` is not empty, labels
    are numbers of which it has the class. In rounds beyond the last one all advisers are silent.
    """

    label: Any
    p: Any
    line: Any
    lines: Any
    among: Any
    places: Any


def silence(advisers: int, k: int) -> Given:
    """One round in which no adviser says anything, with a line for the stated probabilities of each."""
    label, p, line = np.full((1, advisers), -1), np.zeros((1, advisers)), np.full((1, advisers), -1)
    return Given(label, p, line, np.zeros((advisers, k)), np.zeros(1, np.int64), np.zeros(0, np.int64))


def rounds_of(given: Given, first: int, last: int) -> Given:
    """The advice of some of the rounds."""
    here = slice(first, last)
    return given._replace(label=given.label[here], p=given.p[here], line=given.line[here], among=given.among[here])


class AdvisedState(NamedTuple):
    """The state ``base`` of a learner, and that of the experts on advice.

    ``code`` and ``said`` by adviser and ``base_p`` by output are those of the last round; ``kept`` = (the learner's m,
    the mean and the spread of a regressor's labels).
    """

    base: Any
    given: Given
    code: Any
    said: Any
    own: AdviceBlock
    joint: AdviceBlock
    mix: Any
    losses: Any
    awake: Any
    kept: Any
    base_p: Any
    target: Any
    mean: Any
    best: Any
    several: bool
    regression: bool
    multi: bool

    @property
    def opened(self) -> Any:
        """The number of classes so far."""
        return self.base.opened


class AdvisedCalls(NamedTuple):
    """The same with the learner by addresses, and with those of its arrays that are read."""

    state: int
    look: int
    learn: int
    restart: int
    note: int
    leave: int
    margins: int
    opens: int
    opened: Any
    labels: Any
    given: Given
    code: Any
    said: Any
    own: AdviceBlock
    joint: AdviceBlock
    mix: Any
    losses: Any
    awake: Any
    kept: Any
    base_p: Any
    target: Any
    mean: Any
    best: Any
    several: bool
    regression: bool
    multi: bool


register_classes(AdvisedCalls)


def start_advised(base: State, advisers: int, several: bool, regression: bool, largest: int) -> AdvisedState:
    """The state before the first round. ``largest`` is the largest number of classes that there may be."""
    k = len(base.mean) if several else 1
    own = new_block(advisers, max(k, largest) + 1, k)
    if own.v.shape[1]:
        own = new_block(advisers, k + 1, k)
    joint = new_block(1, _joint_features(advisers, k), k)
    E = len(own.Q) + len(joint.Q)
    return AdvisedState(
        base,
        silence(advisers, k),
        np.zeros((advisers, k)),
        np.zeros(advisers, np.bool_),
        own,
        joint,
        first_mix(E),
        np.zeros(1 + E),
        np.zeros(1 + E, np.bool_),
        np.zeros(3),
        np.zeros((1, k)),
        np.zeros(k),
        np.zeros(k),
        np.zeros(1, np.int64),
        several,
        regression,
        False,
    )


def _joint_features(advisers: int, k: int) -> int:
    """The learner's p and every code by output, who speaks, and a 1."""
    return k + advisers * k + advisers + 1


def with_size(state: AdvisedState, advisers: int, slots: int) -> AdvisedState:
    """The same state for more advisers, or more slots for classes."""
    A, k = state.code.shape
    new = start_advised(state.base, advisers, state.several, state.regression, slots if state.own.v.shape[1] else 1000)
    own = moved(state.own, new.own, np.r_[np.arange(k), slots])
    codes = [slots + a * slots + np.arange(k) for a in range(A)]
    flags = slots + advisers * slots + np.arange(A)
    joint = moved(state.joint, new.joint, np.r_[np.arange(k), *codes, flags, slots + advisers * slots + advisers])
    return new._replace(own=own, joint=joint, mix=_moved_mix(state, new))


def _moved_mix(old: AdvisedState, new: AdvisedState) -> np.ndarray:
    """Weights as before. An expert of a new adviser begins with the weight it would have at the first round."""
    n = len(old.own.Q)
    if n == 0:  # without advisers, the experts on advice have slept, and have lost weight with every label
        before = first_mix(len(old.mix) - 1)
        mix = np.r_[new.mix[0] * (old.mix[0] / before[0]), new.mix[1:] * (old.mix[1:].sum() / before[1:].sum())]
        return np.asarray(new.mix if np.array_equal(old.mix, before) else mix / mix.sum())
    first = old.mix[1 : 1 + n].reshape(len(old.code), -1).sum(axis=1)
    together, levels, mix = old.mix[1 + n :].sum(), len(new.own.drift), new.mix.copy()
    same_own, same_joint = len(old.own.drift) == levels, len(old.joint.drift) == len(new.joint.drift)
    known = len(old.code) * levels
    share = float(mix[1 + known : 1 + len(new.own.Q)].sum())
    before = np.r_[old.mix[0], old.mix[1 : 1 + n] if same_own else np.repeat(first / levels, levels)]
    mix[: 1 + known] = before * (1.0 - share)
    behind = old.mix[1 + n :] if same_joint else np.full(len(new.joint.drift), together / len(new.joint.drift))
    mix[1 + len(new.own.Q) :] = behind * (1.0 - share)
    return np.asarray(mix / mix.sum())


@step
def take_advice(each: Any, i: int) -> Any:
    """Write the code of what every adviser says in round i; return whether anyone says anything."""
    given, any_said = each.given, False
    for a in range(len(each.said)):
        label = given.label[i, a] if i < len(given.label) else -1
        each.said[a] = label != -1
        if label == -1:
            for j in range(each.code.shape[1]):
                each.code[a, j] = 0.0
            continue
        any_said = True
        if each.regression:
            take_number(each, a, given.p[i, a])
            continue
        if len(given.places) > 0 and label >= 0:
            label = given.places[label]
        if given.line[i, a] >= 0:
            write_stated(each.code[a], given.lines[given.line[i, a]], given.places)
        else:
            among = given.among[i] if given.among[i] > 0 else each.opened[0]
            write_named(each.code[a], label, given.p[i, a], among)
        view_own(each.own, a, each.code[a])
    return any_said


@step
def take_number(each: Any, a: int, number: float) -> None:
    """Write the code of a number, in place: in units of the labels' spread, from their mean."""
    labels = each.labels
    trust = (number - each.kept[_CENTRE]) / each.kept[_SPREAD]
    if labels[COUNT] >= _TRUSTED_AFTER:
        trust = clipped(trust, labels[REACH] / each.kept[_SPREAD])
    each.code[a, 0] = clipped(trust, STRONGEST) if labels[COUNT] > 0.0 else 0.0
    view_own(each.own, a, each.code[a])
    each.own.trust[a, 0] = trust


@by_address
def look_advised(each: Any, rows: Any, i: int, how: int) -> Any:
    """(m, |x|^2, status, q, q) of row i of the rows at the address ``rows``."""
    m, norm2, status, q, _ = call_look(each.look, each.state, rows, i, how | FORM)
    if status != SOUND:
        return 0.0, 0.0, int(status), 0.0, 0.0
    p, mean, labels = each.base_p[0], each.mean, each.labels
    each.kept[_M], each.kept[_CENTRE], each.kept[_SPREAD] = m, labels[CENTRE], 1.0
    if each.regression:
        each.kept[_SPREAD] = spread_of(labels)
    if each.several:
        call_margins(each.margins, each.state, each.base_p, 0)
    else:
        p[0] = (m / (1.0 + q) - labels[CENTRE]) / each.kept[_SPREAD]
    if not take_advice(each, i):
        each.awake[0] = False
        if each.several:
            for j in range(len(mean)):
                mean[j] = p[j]
            choose(mean, each.best, each.opened[0], False)
        return float(m), float(norm2), int(SOUND), float(q), float(q)
    score_all(each)
    if each.regression and labels[COUNT] == 0.0:
        p[0] = each.joint.trust[0, 0]  # the learner knows nothing yet
    mix_all(each)
    if each.several:
        gap = choose(mean, each.best, each.opened[0], False)
        m = max(0.5 * gap * (1.0 + q), TINY)
    else:
        m = (mean[0] * each.kept[_SPREAD] + labels[CENTRE]) * (1.0 + q)
    return float(m), float(norm2), int(SOUND if abs(m) <= LARGEST else TOO_LARGE), float(q), float(q)


@step
def reach_of(each: Any) -> Any:
    """The largest margin of an expert: that of the labels, if they are numbers."""
    if not each.regression:
        return 1.0
    return each.labels[REACH] / each.kept[_SPREAD] if each.labels[COUNT] >= _TRUSTED_AFTER else LARGEST


@step
def score_all(each: Any) -> None:
    """Compute the margins of all experts that see something, and who they are, in place."""
    own, joint, awake, reach = each.own, each.joint, each.awake, reach_of(each)
    first = 1 + len(own.Q)
    awake[0] = True
    for e in range(len(own.Q)):
        awake[1 + e] = each.said[e // len(own.drift)]
        if awake[1 + e]:
            score_expert(own, e, reach)
    view_together(joint, own, each.code, each.said, each.base_p[0])
    for e in range(len(joint.Q)):
        awake[first + e] = True
        score_expert(joint, e, reach)


@step
def margin_of(each: Any, e: int, j: int) -> Any:
    """The margin of the learner, which is the first, or of an expert, for output j."""
    n = len(each.own.Q)
    if e == 0:
        return each.base_p[0, j]
    return each.own.p[e - 1, j] if e <= n else each.joint.p[e - 1 - n, j]


@step
def mix_all(each: Any) -> None:
    """Write the mean margin of those who are awake, in place."""
    mean, total = each.mean, 0.0
    for j in range(len(mean)):
        mean[j] = 0.0
    for e in range(len(each.mix)):
        if each.awake[e]:
            total += each.mix[e]
            for j in range(len(mean)):
                mean[j] += each.mix[e] * margin_of(each, e, j)
    for j in range(len(mean)):
        mean[j] /= total


# Nine arguments: it is called by its address, with the scalars that ``call_learn`` declares.
@by_address
def learn_advised(
    each: Any, rows: Any, i: int, norm2: float, m: float, q: float, y: float, mistaken: bool, chance: float
) -> Any:
    """Learn a label, in place, right after ``look_advised``; return the result of the learner's ``learn``."""
    reduce_waiting(each)
    if each.awake[0]:
        learn_advice(each, y)
    return int(call_learn(each.learn, each.state, rows, i, norm2, each.kept[_M], q, y, mistaken, chance))


@step
def reduce_waiting(each: Any) -> None:
    """Reduce the weights of the experts that sleep and have never learnt, in place."""
    own, joint, mix, speaks = each.own, each.joint, each.mix, each.awake[0]
    reduced, total = False, 0.0
    for e in range(len(own.Q)):
        if not (speaks and each.awake[1 + e]) and wait_longer(own, mix, 1, e):
            reduced = True
    for e in range(len(joint.Q)):
        if not speaks and wait_longer(joint, mix, 1 + len(own.Q), e):
            reduced = True
    if reduced:
        for e in range(len(mix)):
            total += mix[e]
        for e in range(len(mix)):
            mix[e] /= total


@step
def learn_advice(each: Any, y: float) -> None:
    """Let every expert that saw something learn the label, and update the weights, in place."""
    own, joint, target, awake = each.own, each.joint, each.target, each.awake
    for j in range(len(target)):
        target[j] = 1.0 if j == int(y) else -1.0
    variance = 1.0
    if not each.several:
        target[0] = (y - each.kept[_CENTRE]) / each.kept[_SPREAD]
        if each.regression:
            target[0] = clipped(target[0], reach_of(each))
            variance = 1.0 if each.labels[VARIANCE] > 0.0 else 0.0
    p = each.mean  # the margins of one expert; those of the round are no longer needed
    for e in range(len(each.mix)):
        if awake[e]:
            for j in range(len(p)):
                p[j] = margin_of(each, e, j)
            each.losses[e] = loss_of_outputs(p, target, int(y), variance)
    shift_awake(each.mix, each.losses, awake)
    if each.regression and each.labels[COUNT] == 0.0:
        return  # there is no unit yet to learn corrections in
    for e in range(len(own.Q)):
        if awake[1 + e]:
            learn_expert(own, e, target)
    for e in range(len(joint.Q)):
        learn_expert(joint, e, target)
    begin_anew(own, each.mix, 1)
    begin_anew(joint, each.mix, 1 + len(own.Q))


@by_address
def restart_advised(each: Any) -> Any:
    """Forget everything that was learnt, in place."""
    call_restart(each.restart, each.state)
    forget_advice(each)
    return True


@step
def forget_advice(each: Any) -> None:
    """Forget what the experts on advice have learnt, in place; the weights are the first ones again."""
    forget_block(each.own)
    forget_block(each.joint)
    n = len(each.mix) - 1
    for e in range(len(each.mix)):
        each.mix[e] = math.exp(2.0) / n if e > 0 else 1.0
        each.mix[e] /= 1.0 + math.exp(2.0)


@by_address
def leave_advised(each: Any) -> Any:
    """Tell the learner that a round has ended, in place."""
    call_leave(each.leave, each.state)
    return True


@by_address
def note_advised(each: Any, record: Any, i: int) -> Any:
    """Write the weights of the learner's experts and of those on advice to row i of the record, in place."""
    call_note(each.note, each.state, record, i)
    record = borrow(record)
    first = record.shape[1] - (len(each.mix) - 1)
    for e in range(first):
        record[i, e] *= each.mix[0]
    for e in range(1, len(each.mix)):
        record[i, first + e - 1] = each.mix[e]
    return True


@by_address
def opens_advised(each: Any) -> Any:
    """Open a class for a new label, in place, and return its number, or -1 if there is no spare slot."""
    return int(call_opens(each.opens, each.state))


_NO_RECORD = np.zeros((0, 0))
_NO_CLASSES = np.zeros(1, np.int64)


def advised_calls(
    learner: AdvisedState, sparse: bool, has_detector: bool, what: Any = None, lasting: bool = False
) -> tuple[LearnerCalls, Any]:
    """Addresses of a learner with advisers and its steps, and the memory that must stay alive meanwhile."""
    base = learner.base
    found, held = learner_calls(base, sparse, has_detector, what)
    if lasting:
        found = predicting(found, base, sparse, what)
    labels = getattr(base, "labels", None)
    each = AdvisedCalls(
        found.state,
        found.look,
        found.learn,
        found.restart,
        found.note,
        found.leave,
        found.margins,
        found.opens,
        base.opened if learner.several else _NO_CLASSES,
        new_scale(False) if labels is None else labels,
        *learner[1:],
    )
    (block, address), kind = new_frame(each)
    lent = LentType(kind.states[0])
    several = learner.several
    calls = LearnerCalls(
        address,
        look=address_of(look_advised, lent, POINTER, 0, 0),
        form=0,
        learn=address_of(learn_advised, lent, POINTER, 0, 0.0, 0.0, 0.0, 0.0, True, 0.0),
        restart=address_of(restart_advised, lent) if has_detector else 0,
        note=address_of(note_advised, lent, _NO_RECORD, 0),
        leave=address_of(leave_advised, lent) if found.leave else 0,
        best=address_of(best_at, lent) if several else 0,
        margins=address_of(margins_at, lent, _NO_RECORD, 0) if several else 0,
        opens=address_of(opens_advised, lent) if several else 0,
    )
    return calls, (block, held, each)


@experts.of(AdvisedState)
def _experts(state: AdvisedState) -> Any:
    return np.r_[experts(state.base) * state.mix[0], state.mix[1:]]


@weights.of(AdvisedState)
def _weights(state: AdvisedState) -> Any:
    return weights(state.base)


@open_class.of(AdvisedState)
def _open_class(state: AdvisedState) -> Any:
    return open_class(state.base)


@restart.of(AdvisedState)
def _restart(state: AdvisedState) -> None:
    restart(state.base)
    forget_advice(state)


@ready.of(AdvisedState)
def _ready(state: Any, x: Any) -> Any:
    return ready(state.base, x)


@grow.of(AdvisedState)
def _grow(state: AdvisedState, entries: int, randomness: np.random.Generator) -> AdvisedState:
    return state._replace(base=grow(state.base, entries, randomness))


@widen.of(AdvisedState)
def _widen(state: AdvisedState, slots: int) -> AdvisedState:
    wider = state._replace(base=widen(state.base, slots))
    mean = repeat_last(state.mean, slots)
    return with_size(wider, len(state.code), slots)._replace(mean=mean, best=state.best)


@is_sound.of(AdvisedState)
def _is_sound(state: AdvisedState) -> Any:
    mix, (A, k) = state.mix, state.code.shape
    rows = (len(state.said), len(state.own.v), len(state.own.trust), len(state.own.w) // len(state.own.drift))
    lengths = {len(mix) - 1, len(state.losses) - 1, len(state.awake) - 1, len(state.own.w) + len(state.joint.w)}
    each = {len(state.own.w), len(state.own.Q), len(state.own.g), len(state.own.q), len(state.own.p)}
    return (
        is_sound(state.base)
        and set(rows) == {A, state.given.label.shape[1]}
        and len(lengths) == 1
        and len(each) == 1
        and state.kept[_SPREAD] >= 0.0
        and all_within(state.best, -1, max(k - 1, 0))
        and is_sound_block(state.own)
        and is_sound_block(state.joint)
        and all_within(mix, 1e-12, 1.0)
        and all_within(mix.sum(), 1.0 - 1e-9, 1.0 + 1e-9)
    )
