"""Switch detector: restarts the learner when it disagrees with a demo learner that saw only a window of recent labels.

Kravchik 2014, "Algorithm for detecting switch" and "No extra querying version of algorithm".

==========  ==========================================================
t           rounds since the detector was made, from 1; restarts do not set it back
L_t         window length, L0 + floor(sqrt(t))
K           spacing: a period is K L_t rounds, with L_t taken at its first round
h           the demo: regularised least squares (b = 1) on a window of labels
r, r_L      uncertainties of the learner and of the demo
delta_t     delta / (t (t + 1))
C_t         |p - h_p|, both margins with x in their matrix
K_t         (Z s + 1) sqrt(r) + r + (Z s + 1) sqrt(r_L) + r_L with s = sqrt(2 ln(2 / delta_t)); Z = 1 to classify
==========  ==========================================================

C_t > K_t declares a switch. The round is asked and learnt as usual; then the learner and the clock of the rule restart,
while the demo and its window are kept. No switch is declared before the first demo is built.

With extra queries, every label of the last L_t rounds of a period is asked for, and the demo built from them watches
the next period; the learner gets those labels only where its rule asked too. Without extra queries, the demo is built
from the last L_t labels that the rule asked for, and its window slides with every new one.

A label that arrives late goes to the window it was asked for, as long as that window's demo is in use.

With k > 2 classes the demo has k weight vectors over one matrix, and a switch is declared where any class's margins are
further apart than K_t with delta / k allows; with two, their margins are those of two labels, and so is the rule.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compiled.steps import Family, apart, step
from ..contracts.drift import absorb_label, begin, has_room_for, take_due, watch, window_period
from ..contracts.learner import LARGEST_COUNT, grow, is_sound, quadratic, restart, score
from ..errors import InputError
from ..linalg.vectors import SOUND, all_finite, all_within
from ..validation import check_count, check_number, check_positive
from ..weights import second_order
from ..weights.choose_form import check_memory
from ..weights.instance_store import Store, at, capacity_of, empty_store, fits, is_whole, put, regrow
from ..weights.second_order import RootState, absorb
from ..weights.second_order_classes import SharedState, move_all, share

T, BUILT, DUE, PERIOD, WINDOW_FROM, PERIOD_END, HEAD, HELD, TURNED = range(9)
"""Indices in the state's counts."""

LARGEST_DIMENSION = 8192

_CLOSE_TO_ONE = 1e-6
_FIRST_CAPACITY = 64


class SwitchState(NamedTuple):
    """The demo in use, the next one (extra queries) or the window's instances (no extra queries), and counts.

    With several classes, ``margins`` are those of the learner in this round, and ``forms`` its q by class where the
    classes have different ones; both arrays belong to the learner's state.
    """

    demo: RootState | SharedState
    building: RootState | SharedState
    store: Store
    labels: Any
    counts: Any
    window: int
    spacing: int
    delta: float
    noise_bound: float
    extra: bool
    margins: Any
    forms: Any


@take_due.of(SwitchState)
def _take_due(drift: Any) -> Any:
    due = drift.counts[DUE] == 1
    drift.counts[DUE] = 0
    return due


@step
def window_length(window: int, t: int) -> Any:
    """L_t: number of labels in the window in round t."""
    return window + int(math.sqrt(t))


@step
def largest_gap(r: float, r_L: float, t: float, delta: float, Z: float) -> Any:
    """K_t: largest difference of the two margins that chance explains without a switch."""
    s = math.sqrt(2.0 * math.log(2.0 * t * (t + 1.0) / delta))
    return (Z * s + 1.0) * (math.sqrt(r) + math.sqrt(r_L)) + r + r_L


@begin.of(SwitchState)
def _begin(drift: Any) -> None:
    counts = drift.counts
    counts[T] += 1
    if drift.extra and counts[T] > counts[PERIOD_END]:
        if counts[PERIOD] > 0:
            copy_demo(drift.demo, drift.building)
            restart(drift.building)
            counts[BUILT] = 1
        length = window_length(drift.window, counts[T])
        counts[PERIOD] += 1
        counts[PERIOD_END] = counts[T] + drift.spacing * length - 1
        counts[WINDOW_FROM] = counts[PERIOD_END] - length + 1


copy_demo = Family("copy_demo")
"""copy_demo(target, source): copy what a demo has learnt, in place."""

take_in = Family("take_in")
"""take_in(demo, m, q, y, sign): add (sign 1) or remove (sign -1) the label of the instance just scored, in place."""

disagree = Family("disagree")
"""disagree(demo, drift, m, q, h_m, h_q) -> whether the learner and the demo differ more than chance allows."""


@copy_demo.of(SharedState)
def _copy_shared(target: Any, source: Any) -> None:
    copy_root(target.one, source.one)
    for j in range(len(target.m)):
        for i in range(target.weights.shape[1]):
            target.weights[j, i] = source.weights[j, i]


@copy_demo.of(RootState)
def _copy_one(target: Any, source: Any) -> None:
    copy_root(target, source)


@take_in.of(SharedState)
def _take_in_shared(demo: Any, m: float, q: float, y: float, sign: float) -> None:
    absorb(demo.one, demo.own[0], q, -1.0, sign)
    move_all(demo, q, int(y), sign)


@take_in.of(RootState)
def _take_in_one(demo: Any, m: float, q: float, y: float, sign: float) -> None:
    absorb(demo, m, q, y, sign)


@disagree.of(SharedState)
def _disagree_somewhere(demo: Any, drift: Any, m: float, q: float, h_m: float, h_q: float) -> Any:
    k = len(demo.m)
    t, delta = float(drift.counts[T]), drift.delta / (k if k > 2 else 1)
    found = False
    for j in range(k):
        q_j = drift.forms[j] if len(drift.forms) > 0 else q
        gap = abs(drift.margins[j] - demo.mean[j])
        found = found or gap > largest_gap(q_j / (1.0 + q_j), h_q / (1.0 + h_q), t, delta, drift.noise_bound)
    return found


@disagree.of(RootState)
def _disagree(demo: Any, drift: Any, m: float, q: float, h_m: float, h_q: float) -> Any:
    gap, t = abs(m / (1.0 + q) - h_m / (1.0 + h_q)), float(drift.counts[T])
    return gap > largest_gap(q / (1.0 + q), h_q / (1.0 + h_q), t, drift.delta, drift.noise_bound)


@apart
def copy_root(target: Any, source: Any) -> None:
    """Copy what a root state has learnt, in place."""
    target.bound[0] = source.bound[0]
    for i in range(len(target.w)):
        target.w[i] = source.w[i]
        to, of = target.S[i], source.S[i]
        for j in range(len(to)):
            to[j] = of[j]


@window_period.of(SwitchState)
def _window_period(drift: Any) -> Any:
    if drift.extra and drift.counts[T] >= drift.counts[WINDOW_FROM]:
        return drift.counts[PERIOD]
    return 0


@watch.of(SwitchState)
def _watch(drift: Any, x: Any, m: float, q: float) -> Any:
    counts = drift.counts
    if counts[BUILT] == 0:
        return False
    h_m, _, status = score(drift.demo, x)
    if status != SOUND:
        return False
    h_q = quadratic(drift.demo, x)
    if disagree(drift.demo, drift, m, q, h_m, h_q):
        counts[DUE] = 1
        return True
    return False


@absorb_label.of(SwitchState)
def _absorb_label(drift: Any, x: Any, y: float, mistaken: bool, by_rule: bool, period: int) -> None:
    if drift.extra:
        if period > 0 and period == drift.counts[PERIOD]:
            take(drift.building, x, y, 1.0)
        elif period > 0 and period == drift.counts[PERIOD] - 1:
            take(drift.demo, x, y, 1.0)
    elif by_rule:
        slide(drift, x, y)


@apart
def take(demo: Any, x: Any, y: float, sign: float) -> Any:
    """Add a label to a demo (sign 1) or remove it (sign -1), in place; return whether that was numerically sound."""
    m, _, status = score(demo, x)
    if status != SOUND:
        return sign > 0.0
    q = quadratic(demo, x)
    if sign < 0.0 and q > 1.0 - _CLOSE_TO_ONE:  # removing divides by 1 - q
        return False
    take_in(demo, m, q, y, sign)
    return True


@apart
def slide(drift: Any, x: Any, y: float) -> None:
    """Move the window by one label, in place.

    The demo is rebuilt from its window once in every window length, since adding and removing accumulate rounding.
    """
    counts, capacity = drift.counts, len(drift.labels)
    slot = (counts[HEAD] + counts[HELD]) % capacity
    put(drift.store, slot, x)
    drift.labels[slot] = y
    counts[HELD] += 1
    take(drift.demo, x, y, 1.0)
    length = window_length(drift.window, counts[T])
    if counts[HELD] >= length:
        counts[BUILT] = 1
    sound = True
    while counts[HELD] > length:
        oldest = counts[HEAD]
        sound = sound and take(drift.demo, at(drift.store, oldest), drift.labels[oldest], -1.0)
        counts[HEAD] = (oldest + 1) % capacity
        counts[HELD] -= 1
        counts[TURNED] += 1
    if not sound or counts[TURNED] >= length:
        restart(drift.demo)
        for i in range(counts[HELD]):
            again = (counts[HEAD] + i) % capacity
            take(drift.demo, at(drift.store, again), drift.labels[again], 1.0)
        counts[TURNED] = 0


@has_room_for.of(SwitchState)
def _ready(drift: Any, x: Any) -> Any:
    capacity = len(drift.labels)
    if drift.extra:
        return True
    if drift.counts[HELD] >= capacity:
        return False
    return fits(drift.store, (drift.counts[HEAD] + drift.counts[HELD]) % capacity, x)


@grow.of(SwitchState)
def _grow(drift: Any, entries: int, randomness: Any) -> Any:
    capacity, held = len(drift.labels), int(drift.counts[HELD])
    slots = (drift.counts[HEAD] + np.arange(held)) % max(capacity, 1)
    if held >= capacity:
        capacity = max(_FIRST_CAPACITY, 2 * capacity)
    labels = np.zeros(capacity)
    labels[:held] = drift.labels[slots]
    counts = drift.counts.copy()
    counts[HEAD] = 0
    return drift._replace(store=regrow(drift.store, slots, capacity, entries), labels=labels, counts=counts)


@is_sound.of(SwitchState)
def _is_sound(drift: SwitchState) -> Any:
    counts, capacity = drift.counts, len(drift.labels)
    return (
        capacity == capacity_of(drift.store)
        and 0 <= counts[HELD] <= capacity
        and 0 <= counts[HEAD] < max(capacity, 1)
        and all_within(counts[[BUILT, DUE]], 0, 1)
        and all_within(counts[[T, PERIOD, TURNED]], 0, LARGEST_COUNT)
        and bool((counts >= 0).all())
        and all_finite(drift.labels)
        and is_whole(drift.store, len(_matrix(drift.demo).w))
        and is_sound(drift.demo)
        and is_sound(drift.building)
    )


@dataclass(frozen=True)
class SwitchDetector:
    """Restart the learner when it and a demo learner on recent labels disagree more than chance allows.

    For learners that know their uncertainty (least squares and the second-order ones).

    Parameters
    ----------
    window : int, default 400
        L0 in the slides: the window holds window + floor(sqrt(t)) labels.
    spacing : int, default 6
        K in the slides: one round in ``spacing`` belongs to a window. Only with extra queries.
    delta : float, default 0.05
        The probability of a false detection over the whole stream is at most 2 delta.
    extra_queries : bool, default True
        Ask for every label of a window; if False, the window consists of the labels that the rule asked for.
    noise_bound : float, optional
        Z in the slides, for regression: the noise on a label is at most this large.

    References
    ----------
    Kravchik: Learning drifting data using selective sampling, 2014.
    """

    window: int = 400
    spacing: int = 6
    delta: float = 0.05
    extra_queries: bool = True
    noise_bound: float | None = None

    def __post_init__(self) -> None:
        check_count(self, "window", self.window)
        check_count(self, "spacing", self.spacing)
        check_number(self, "delta", self.delta, "a number strictly between 0 and 1", 0.0, 1.0, open_high=True)
        if not isinstance(self.extra_queries, bool):
            raise InputError(
                f"extra_queries must be True or False, got {self.extra_queries!r}.", owner="SwitchDetector"
            )
        if self.noise_bound is not None:
            check_positive(self, "noise_bound", self.noise_bound)

    @property
    def needs_uncertainty(self) -> bool:
        """Always True: the threshold depends on the uncertainties of the learner and of the demo."""
        return True

    def check_learner(self, learner: Any) -> None:
        """Refuse a regressor without ``noise_bound``, and a classifier with one."""
        if learner.regression != (self.noise_bound is not None):
            raise InputError(
                "a SwitchDetector needs noise_bound for a regressor, and only for a regressor.", owner="Sampler"
            )

    def start(self, d: int, sparse: bool) -> SwitchState:
        """The state before the first round."""
        return self._start(d, sparse, 0)

    def start_classes(self, d: int, sparse: bool, k: int) -> SwitchState:
        """The state before the first round, for k classes."""
        return self._start(d, sparse, k)

    def _start(self, d: int, sparse: bool, k: int) -> SwitchState:
        if d > LARGEST_DIMENSION:
            raise InputError(
                f"instances must have at most {LARGEST_DIMENSION} features, since the demo stores a matrix of "
                f"features by features, got {d}; hash them into fewer, or leave the detector out.",
                owner="SwitchDetector",
            )
        check_memory(self, d, 2 * 8 * d * d)
        return SwitchState(
            _new_demo(d, k),
            _new_demo(d if self.extra_queries else 1, k),
            empty_store(d, sparse),
            np.zeros(0),
            np.zeros(9, np.int64),
            int(self.window),
            int(self.spacing),
            float(self.delta),
            1.0 if self.noise_bound is None else float(self.noise_bound),
            self.extra_queries,
            np.zeros(k),
            np.zeros(0),
        )


def _new_demo(d: int, k: int) -> RootState | SharedState:
    demo = second_order.start(d, 1.0, math.inf, True)
    assert isinstance(demo, RootState)
    return demo if k == 0 else share(demo, k)


def _matrix(demo: RootState | SharedState) -> RootState:
    return demo if isinstance(demo, RootState) else demo.one
