"""The formulas of the switch detector, each against the slides' own words."""

import numpy as np
import pytest

from askwhen.drift.switch import largest_gap, window_length
from tests.reference import switching


@pytest.mark.parametrize("t", [1, 2, 399, 100_000])
@pytest.mark.parametrize("delta", [0.05, 0.9])
@pytest.mark.parametrize("Z", [1.0, 0.8])
def test_the_largest_gap_is_the_threshold_of_the_slides(t, delta, Z):
    for r, r_L in np.random.default_rng(0).random((20, 2)):
        expected = switching.threshold(r, r_L, t, delta, Z)
        assert largest_gap(r, r_L, float(t), delta, Z) == pytest.approx(expected, rel=1e-12)


def test_the_window_grows_with_the_root_of_the_rounds():
    for t in [*range(1, 200), 10**10]:
        assert window_length(400, t) == switching.window_length(400, t)
