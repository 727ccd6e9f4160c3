"""Rounds counted many at a time: every number of the tally has the same bits as round by round."""

import numpy as np
import pytest

from askwhen.betting import place_of
from askwhen.engine.state_arrays import arrays_of
from askwhen.engine.tally.many_rounds import note_rounds
from askwhen.engine.tally.round_tally import count_labelled, new_tally


def rounds(n=1200, seed=0, **kinds):
    """Columns of rounds in which P is 1, 0, or anything else, in stretches or mixed."""
    rng = np.random.default_rng(seed)
    margin = rng.standard_normal(n) * np.where(rng.random(n) < 0.02, 0.0, 2.0)
    margin[[70, 400]] = 1e150, -1e120  # their squares would overflow the sums
    P = {
        "certain": np.ones(n),
        "by margin": 1.0 / (1.0 + np.abs(margin)),
        "stretches": np.where(np.arange(n) // 130 % 2 == 0, 1.0, rng.random(n)),
        "mixed": rng.choice([0.0, 0.05, 0.6, 1.0], n),
        "seldom": np.where(rng.random(n) < 0.1, 0.0, 0.03),
        "contrary": np.full(n, 0.2),
    }
    asked = {name: rng.random(n) < chance for name, chance in P.items()}
    wrong = rng.random(n) < np.minimum(0.5, np.exp(-np.abs(margin)))
    predicted = np.where(margin > 0.0, 1, -1).astype(np.int8)
    found = {name: (P[name], margin, predicted, asked[name], wrong) for name in P}
    found["contrary"] = (P["contrary"], margin, -predicted, asked["contrary"], ~wrong)  # mistakes are expected
    return found


@pytest.mark.parametrize("windows", [(1_000, 5_000), (5,)], ids=["usual windows", "a tiny window"])
@pytest.mark.parametrize("which", ["certain", "by margin", "stretches", "mixed", "seldom", "contrary"])
def test_many_rounds_are_counted_as_one_by_one(which, windows):
    columns = rounds()[which]
    together, single, in_parts = (new_tally(windows) for _ in range(3))
    note_rounds(together, *columns, 0.0, False)
    for first, last in ((0, 1), (1, 333), (333, 1200)):
        note_rounds(in_parts, *(np.ascontiguousarray(column[first:last]) for column in columns), 0.0, False)
    for P, margin, predicted, asked, wrong in zip(*columns, strict=True):
        count_labelled(single, P, margin, predicted > 0, asked, wrong, place_of(0.0), False)
    expected = arrays_of(single, "")
    for tally in (together, in_parts):
        for name, array in arrays_of(tally, "").items():
            np.testing.assert_array_equal(array, expected[name], err_msg=name)
