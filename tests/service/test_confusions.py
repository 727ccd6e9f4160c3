"""What is taken for what: with two labels as with several, and the worst pairs of very many."""

import math

import numpy as np
import pytest

import askwhen as aw
from askwhen.evaluate.estimation.estimate import Estimate
from askwhen.service.use_cases.confusions import most_confused, of_two


@pytest.fixture(scope="module")
def played():
    """A sampler that asked about every round, and how often each label was taken for each."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((3000, 4))
    y = np.where(X[:, 0] + 0.7 * rng.standard_normal(3000) > 0.5, 1, -1)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=2)
    trace = sampler.run(X, y)
    counts = np.array([[np.sum((trace.prediction == a) & (y == b)) for b in (-1, 1)] for a in (-1, 1)])
    return sampler, counts


def test_where_every_label_is_known_the_shares_are_counts(played):
    sampler, counts = played
    tally, _, _, waiting = sampler.tally()
    classes, rows = of_two(tally, waiting, 0.05)
    shares = counts / counts.sum(axis=1, keepdims=True)
    np.testing.assert_allclose([[cell.value for cell in row] for row in rows], shares, rtol=1e-12)
    assert [[cell.rounds for cell in row] for row in rows] == [[n, n] for n in counts.sum(axis=1)]
    assert all(cell.low <= cell.value <= cell.high for row in rows for cell in row)
    found = aw.evaluate.accuracy(sampler)
    assert (classes[1].precision, classes[1].recall) == (found.precision, found.recall)
    assert classes[0].recall.value == pytest.approx(counts[0, 0] / counts[:, 0].sum())
    assert [each.predicted for each in classes] == counts.sum(axis=1).tolist()


def test_the_worst_pairs_are_those_with_most_instances():
    def cell(value, rounds):
        return Estimate(value, 0.0, 1.0, value, rounds)

    rows = [
        [cell(0.9, 100), cell(0.1, 100), cell(0.0, 100)],
        [cell(0.5, 10), cell(0.5, 10), cell(math.nan, 10)],
        [cell(0.02, 1000), cell(0.0, 1000), cell(0.98, 1000)],
    ]
    found = most_confused("abc", rows)
    assert [(each["predicted"], each["label"], each["instances"]) for each in found] == [
        ("c", "a", 20.0),
        ("a", "b", 10.0),
        ("b", "a", 5.0),
    ]
    assert len(most_confused("abc", rows, most=2)) == 2
