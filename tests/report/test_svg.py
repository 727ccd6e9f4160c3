"""Scales, ticks, and names moved apart."""

import numpy as np
import pytest

from askwhen.report.scales import Scale, count, decimals, ends, nice_step, percent, plain, ratio_ticks, ticks, widened
from askwhen.report.svg import shortened, spread, text_width


@pytest.mark.parametrize("seed", range(20))
def test_ticks_are_round_and_between_the_ends(seed):
    rng = np.random.default_rng(seed)
    low = rng.normal() * 10.0 ** rng.integers(-6, 7)
    high = low + abs(rng.normal()) * 10.0 ** rng.integers(-3, 7) + 1e-3
    marks, step = ticks(low, high, 6)
    assert float(f"{step:.0e}"[0]) in (1, 2, 5)
    assert 2 <= len(marks) <= 7
    assert low - 1e-6 * step <= marks[0]
    assert marks[-1] <= high + 1e-6 * step
    assert len({plain(mark, step) for mark in marks}) == len(marks)


def test_whole_numbers_have_no_ticks_between_them():
    assert ticks(0, 1, 10, whole=True) == ([0, 1], 1)


def test_ticks_of_a_logarithmic_scale_are_1_2_5():
    assert pytest.approx(ratio_ticks(0.016, 0.25)) == [0.02, 0.05, 0.1, 0.2]


def test_numbers_have_separators_and_the_decimals_they_need():
    assert plain(45000, 5000) == "45,000"
    assert plain(-0.5, 0.5) == "\N{MINUS SIGN}0.5"
    assert percent(0.025, 0.005) == "2.5%"
    assert count(1234) == "1,234"
    assert [decimals(step) for step in (10, 1, 0.5, 0.01)] == [0, 0, 1, 2]


@pytest.mark.parametrize("pair", [(np.nan, np.nan), (0.0, 0.0), (0.5, 0.5), (-3.0, -3.0), (0.1, 0.9)])
def test_ends_are_made_to_differ(pair):
    low, high = widened(*pair)
    assert low < high
    assert np.isfinite([low, high]).all()
    assert nice_step(high - low, 5) > 0


def test_a_scale_keeps_to_its_ends():
    scale = Scale(0.0, 10.0, 100.0, 0.0)
    assert scale(np.array([0, 5, 10, 11, -1])).tolist() == [100.0, 50.0, 0.0, 0.0, 100.0]
    assert pytest.approx(Scale(0.01, 1.0, 0.0, 100.0, log=True).at(0.1)) == 50.0


@pytest.mark.parametrize("n", [1, 2, 39, 40, 41, 1000])
def test_groups_of_neighbours_are_few_and_end_at_the_end(n):
    found = ends(n, 40)
    assert len(found) <= 40
    assert n == found[-1]
    assert (np.diff(np.append(0, found)) > 0).all()


@pytest.mark.parametrize("seed", range(20))
def test_places_are_moved_apart_and_stay_in_order(seed):
    wanted = np.random.default_rng(seed).uniform(0, 200, 12)
    found = np.array(spread(wanted, 15.0, 0.0, 200.0))
    assert (np.diff(found[np.argsort(wanted)]) > 15 - 1e-9).all()
    assert found.min() >= 0
    assert found.max() <= 200


def test_places_that_are_apart_do_not_move():
    assert spread([10.0, 90.0, 50.0], 15.0, 0.0, 100.0) == [10.0, 90.0, 50.0]


def test_long_names_are_cut_to_fit():
    assert shortened("short", 100) == "short"
    cut = shortened("a name that goes on and on and on", 100)
    assert text_width(cut) <= 100
    assert cut.endswith("\N{HORIZONTAL ELLIPSIS}")
