"""The interval of a share holds at all times at once."""

import numpy as np
import pytest
from scipy import integrate, special

from askwhen.evaluate.estimation.share import share_interval


@pytest.mark.parametrize("p", [0.02, 0.5, 0.9, 1.0])
def test_it_holds_at_every_moment_of_nearly_all_lives(p):
    lives, ends = 400, {}
    missed = 0
    for seed in range(lives):
        hits = np.cumsum(np.random.default_rng(seed).random(150) < p).tolist()
        for n, k in enumerate(hits, 1):
            if (k, n) not in ends:
                ends[k, n] = share_interval(k, n)
            low, high = ends[k, n]
            if not low <= p <= high:
                missed += 1
                break
    assert missed <= 0.05 * lives


def test_its_ends_are_where_the_mixture_is_twenty_times_as_likely():
    for k, n in ((3, 9), (45, 50), (0, 7), (12, 12)):
        whole = integrate.quad(lambda p, k=k, n=n: p**k * (1.0 - p) ** (n - k), 0.0, 1.0)[0]
        assert whole == pytest.approx(special.beta(k + 1, n - k + 1), rel=1e-6)
        for end in share_interval(k, n):
            if 0.0 < end < 1.0:
                assert whole / (end**k * (1.0 - end) ** (n - k)) == pytest.approx(20.0, rel=1e-6)
