"""Rounds that are played ahead in one loop: the same bits as rounds that are played step by step."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.engine.batch_run import RowBatch, plays_ahead
from askwhen.engine.state_arrays import arrays_of
from askwhen.linalg.rows import DenseRows
from tests.streams import drifting

RULES = [aw.Always(), aw.FixedRate(0.3), aw.MarginRule(0.2), aw.MarginRule(0.05, floor=0.1), aw.FocusedRule(0.3)]
LEARNERS = [
    aw.Perceptron(),
    aw.ShiftingPerceptron(0.5),
    aw.ModifiedPerceptron(),
    aw.PassiveAggressive1(0.5),
    aw.Winnow(0.2),
    aw.PNormPerceptron(3.0),
    aw.BudgetPerceptron(20),
    aw.Perceptron(kernel=aw.Gaussian(1.0)),
]


def states_of(sampler):
    engine = sampler.engine
    arrays = {name: arrays_of(getattr(engine, name), name) for name in ("learner", "rule", "tally")}
    return {path: array for found in arrays.values() for path, array in found.items()}


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_rounds_played_ahead_have_the_bits_of_single_steps(rule, form):
    X, y = drifting(3, n=1300, every=400)
    X[np.abs(X) < 0.2] = 0.0
    X[7] = 0.0  # its margin is 0
    rows, parts = form(X), ((0, 1), (1, 700), (700, 1300))
    for learner in LEARNERS:
        ahead, single = (aw.Sampler(learner, rule, seed=3) for _ in range(2))
        for first, last in parts:
            here = slice(first, last)
            one = ahead.run(rows[here], y[here])
            # Unsolicited labels could come after any round, so that rounds are not played ahead.
            other = single.run(rows[here], y[here], volunteered=np.zeros(last - first, bool))
            for name, column in one.columns().items():
                np.testing.assert_array_equal(column, other.columns()[name], err_msg=f"{learner}, {name}")
        expected = states_of(single)
        for path, array in states_of(ahead).items():
            np.testing.assert_array_equal(array, expected[path], err_msg=f"{learner}, {path}")


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, True),
        ({"learner": aw.Lasec(1.0, 100.0)}, False),
        ({"rule": aw.AdaptiveMarginRule(0.1)}, False),
        ({"rule": aw.BudgetRule(0.1)}, False),
        ({"audit": aw.Audit(0.1)}, False),
        ({"costs": (1.0, 2.0)}, False),
    ],
)
def test_only_rounds_that_depend_on_nothing_else_are_played_ahead(more, expected):
    sampler = aw.Sampler(**{"learner": aw.Perceptron(), "rule": aw.MarginRule(0.1), "seed": 3} | more)
    X, y = drifting(1, n=20)
    sampler.run(X, y)
    assert plays_ahead(sampler.engine, RowBatch(DenseRows(X), y, True, True)) == expected


def test_a_row_that_is_refused_takes_back_all_rounds():
    X, y = drifting(1, n=1000)
    X[900, 0] = np.inf
    sampler, other = (aw.Sampler(aw.Perceptron(), aw.MarginRule(0.1), seed=3) for _ in range(2))
    with pytest.raises(aw.InputError, match="row 900"):
        sampler.run(X, y)
    one, two = sampler.run(X[:900], y[:900]), other.run(X[:900], y[:900])
    np.testing.assert_array_equal(one.margin, two.margin)
    assert sampler.round == 900
