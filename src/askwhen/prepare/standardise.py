"""Preparation of raw features, which most learners need: standardise, scale to unit norm, add a bias.

==========  ==========================================================
k           number of instances seen, this one included; from 10,000 on, older ones fade
mean, var   running mean and variance of each feature, this instance included (Welford)
            For sparse instances the mean square takes their place; zeros are never touched, so nothing is centred
reach       the largest distance from the mean so far. A value beyond four times that is clipped to it: one outlier does
            not spoil the statistics, and after a few the reach has grown
a           number of features that have ever varied (ever been non-zero, for sparse instances)
==========  ==========================================================

"standard": z_i = (x_i - mean_i) / (sd_i sqrt(a)), so that |z|^2 is 1 on average in any dimension; for sparse instances
x_i / (rms_i sqrt(a)). If z is longer than ``clip``, it is shortened to that length: an outlier keeps its direction and
loses its weight. "unit": x / |x|. The bias is an additional last feature that is always 1.

Every instance is transformed with statistics that include it: ``transform`` does not change the statistics, and writes
to ``ahead`` what they will be; ``absorb_statistics``, called right after it, updates them. Both cost O(d), or O(nnz)
for sparse instances.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..compiled.frames import lend
from ..compiled.steps import Family, apart, borrow, entry, step
from ..contracts.learner import LARGEST_COUNT, is_sound
from ..linalg.rows import SparseRow, position, row, size, value
from ..linalg.vectors import LARGEST, NO_DIRECTION, SOUND, UNSOUND, all_finite, all_within, inner, look, measure
from ..validation import check_choice, check_flag, check_number

NONE, UNIT, STANDARD = 0, 1, 2

_NEGLIGIBLE = 1e-14
"""A standard deviation below this share of the mean is a rounding error, not variation."""

_MEMORY = 10_000.0
_OUTLYING, _TRUSTED_AFTER = 4.0, 10.0

K, ACTIVE = 0, 1


class PrepareState(NamedTuple):
    """counts = (k, a). For sparse instances ``var`` holds the sums of squares, and ``reach`` is not used.

    ``ahead`` holds mean, var and reach including the instance that was transformed last.
    """

    mean: Any
    var: Any
    reach: Any
    counts: Any
    ahead: Any
    kind: int
    bias: bool
    clip: float


@is_sound.of(PrepareState)
def _is_sound(state: PrepareState) -> Any:
    never_negative = all_within(state.var, 0.0, np.inf) and all_within(state.reach, 0.0, np.inf)
    return all_finite(state.mean, state.var, state.reach) and never_negative and _counted(state)


def _counted(state: PrepareState) -> bool:
    """Whether the counts of a file are possible: no more features vary than there are."""
    return all_within(state.counts[K], 0.0, LARGEST_COUNT) and all_within(state.counts[ACTIVE], 0.0, len(state.mean))


transform = Family("transform", on=(0, 1))
"""transform(state, x, out) -> the status of x; writes the prepared instance to the row ``out``."""

absorb_statistics = Family("absorb_statistics", on=(0, 1))
"""absorb_statistics(state, x): update the running statistics with the instance that was just transformed, in place."""


@step
def scale_to(kind: int, norm2: float, active: int, clip: float) -> Any:
    """The factor that scales a row of this squared norm to its final length."""
    if kind == NONE or norm2 <= NO_DIRECTION:
        return 1.0
    if kind == UNIT:
        return 1.0 / math.sqrt(norm2)
    factor = 1.0 / math.sqrt(max(active, 1))
    length = factor * math.sqrt(norm2)
    return factor * clip / length if length > clip else factor


@step
def moved(mean: float, var: float, reach: float, k: float, value: float) -> Any:
    """Mean, variance and reach of a feature with one more value, the k-th."""
    gap = value - mean
    if k > _TRUSTED_AFTER and reach > 0.0:
        gap = min(max(gap, -_OUTLYING * reach), _OUTLYING * reach)
    step_size = 1.0 / min(k, _MEMORY)
    after = mean + step_size * gap
    return after, max(var + step_size * (gap * (gap - step_size * gap) - var), 0.0), max(reach, abs(gap))


@transform.of(PrepareState, np.ndarray)
def _transform_dense(state: Any, x: Any, out: Any) -> Any:
    mean, d = state.mean, len(state.mean)
    _, norm2, status = look(mean, x)
    if status != SOUND:
        return status
    active = 0
    z = out[:d]
    if state.kind == STANDARD:
        active = standardise(mean, state.var, state.reach, state.counts[K] + 1.0, x, z, state.ahead)
        norm2 = inner(z, z)
        if not norm2 <= LARGEST:  # only statistics from a damaged file lead to this
            return UNSOUND
    else:
        for i in range(d):
            z[i] = x[i]
    factor = scale_to(state.kind, norm2, active, state.clip)
    for i in range(d):
        z[i] *= factor
    if state.bias:
        out[d] = 1.0
    return SOUND


@apart
def standardise(mean: Any, var: Any, reach: Any, k: float, x: Any, z: Any, ahead: Any) -> Any:
    """Write each feature's distance from its mean, in standard deviations, to z; return how many features vary."""
    active = 0
    means, variances, reaches = ahead[0], ahead[1], ahead[2]
    for i in range(len(mean)):
        centre, variance, reached = moved(mean[i], var[i], reach[i], k, x[i])
        means[i], variances[i], reaches[i] = centre, variance, reached
    for i in range(len(mean)):
        spread = math.sqrt(variances[i])
        varies = spread > _NEGLIGIBLE * abs(means[i])
        gap = (x[i] - means[i]) / spread
        z[i] = gap if varies else 0.0
        active += 1 if varies else 0
    return active


@transform.of(PrepareState, SparseRow)
def _transform_sparse(state: Any, x: Any, out: Any) -> Any:
    """Write to the arrays of ``out`` from its start on; they must have space for one more entry than x has."""
    start, n = out.start, size(x)
    norm2, status = measure(x, len(state.mean))
    if status != SOUND:
        return status
    indices, data = out.indices[start : start + n + state.bias], out.data[start : start + n + state.bias]
    from_indices, from_data = x.indices[x.start : x.stop], x.data[x.start : x.stop]
    for j in range(n):
        indices[j] = from_indices[j]
    active = state.counts[ACTIVE]
    if state.kind == STANDARD:
        norm2, active = root_mean_square(state.var, state.counts[K] + 1.0, x, data, active)
        from_data = data
    factor = scale_to(state.kind, norm2, active, state.clip)
    for j in range(n):
        data[j] = factor * from_data[j]
    if state.bias:
        indices[n] = len(state.mean)
        data[n] = 1.0
    return SOUND


@apart
def root_mean_square(squares: Any, k: float, x: Any, z: Any, active: float) -> Any:
    """Write each entry, divided by the root mean square of its feature, to z: (|z|^2, number of nonzero features)."""
    norm2 = 0.0
    for j in range(size(x)):
        i, z[j] = position(x, j), value(x, j)
        if z[j] != 0.0:
            active += squares[i] == 0.0
            z[j] /= math.sqrt((squares[i] + z[j] * z[j]) / k)
            norm2 += z[j] * z[j]
    return norm2, active


@absorb_statistics.of(PrepareState, np.ndarray)
def _absorb_dense(state: Any, x: Any) -> None:
    state.counts[K] += 1.0
    if state.kind == STANDARD:
        means, variances, reaches = state.ahead[0], state.ahead[1], state.ahead[2]
        for i in range(len(state.mean)):
            state.mean[i], state.var[i], state.reach[i] = means[i], variances[i], reaches[i]


@absorb_statistics.of(PrepareState, SparseRow)
def _absorb_sparse(state: Any, x: Any) -> None:
    state.counts[K] += 1.0
    if state.kind == STANDARD:
        for j in range(size(x)):
            i, z = position(x, j), value(x, j)
            state.counts[ACTIVE] += z != 0.0 and state.var[i] == 0.0
            state.var[i] += z * z


@entry
def transform_row(address: Any, x: Any, out: Any) -> Any:
    """``transform`` for one instance; the state is in a frame."""
    (state,) = lend(address)
    return transform(state, borrow(x), borrow(out))


@entry
def absorb_row(address: Any, x: Any) -> None:
    """``absorb_statistics`` for one instance, in place; the state is in a frame."""
    (state,) = lend(address)
    absorb_statistics(state, borrow(x))


@entry
def transform_rows(state: Any, rows: Any, n: int, out: Any, learns: bool) -> Any:
    """Transform n rows, and update the statistics with each if ``learns``: (number of sound rows, the status)."""
    state, rows, out = borrow(state), borrow(rows), borrow(out)
    for i in range(n):
        x = row(rows, i)
        status = transform(state, x, row(out, i))
        if status != SOUND:
            return i, status
        if learns:
            absorb_statistics(state, x)
    return n, SOUND


@dataclass(frozen=True)
class Prepare:
    """Scale raw features as they stream in, and add a bias.

    Learners of this package need instances of moderate length, and have no intercept. The running statistics are of all
    instances, asked about or not, and are part of the snapshot.

    Parameters
    ----------
    scale : {"auto", "standard", "unit", "none"}, default "auto"
        "standard" brings every feature to mean 0 and standard deviation 1 (sparse features are not centred), divided
        by the square root of their number; "unit" brings every instance to length 1; "auto" is "standard" for dense
        instances and "unit" for sparse ones, which are mostly text.
    bias : bool, default True
        Add a last feature that is always 1.
    clip : float, default 2.0
        With "standard": shorten instances that are longer than this; their length is about 1 on average.

    Examples
    --------
    >>> import askwhen as aw
    >>> sampler = aw.Sampler(aw.Lasec(b=1.0, c=300.0), aw.MarginRule(0.05), prepare=aw.Prepare(), seed=7)
    >>> sampler.ask([1995.0, 0.001]).query
    True
    """

    scale: str = "auto"
    bias: bool = True
    clip: float = 2.0

    def __post_init__(self) -> None:
        check_choice(self, "scale", self.scale, ("auto", "standard", "unit", "none"))
        check_flag(self, "bias", self.bias)
        check_number(self, "clip", self.clip, "a positive number, perhaps infinity", 0.0)

    def start(self, d: int, sparse: bool, like_text: bool = False) -> PrepareState:
        """The state before the first round, for instances of dimension d; if ``like_text``, "auto" means "unit"."""
        auto = "unit" if sparse or like_text else "standard"
        kind = {"none": NONE, "unit": UNIT, "standard": STANDARD}[auto if self.scale == "auto" else self.scale]
        ahead = np.zeros((3, d if kind == STANDARD and not sparse else 0))
        statistics = (np.zeros(d), np.zeros(d), np.zeros(d), np.zeros(2), ahead)
        return PrepareState(*statistics, kind, bool(self.bias), float(self.clip))
