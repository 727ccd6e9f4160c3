"""Cohen's and Krippendorff's coefficients against the definitions, and against published examples."""

import itertools

import numpy as np
import pytest

from askwhen.evaluate.agreement import cohen, krippendorff

sklearn = pytest.importorskip("sklearn.metrics")

# Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units, gaps.
PUBLISHED = [
    "1 2 3 3 2 1 4 1 2 . . .",
    "1 2 3 3 2 2 4 1 2 5 . 3",
    ". 3 3 3 2 3 4 2 2 5 1 .",
    "1 2 3 3 2 4 4 1 2 5 1 .",
]


def by_definition(things):
    """1 - observed over expected disagreement, pair by pair."""
    things = [labels for labels in things if len(labels) > 1]
    everything = list(itertools.chain(*things))
    n = len(everything)
    observed = sum(sum(a != b for a, b in itertools.permutations(labels, 2)) / (len(labels) - 1) for labels in things)
    expected = sum(a != b for a, b in itertools.permutations(everything, 2)) / (n - 1)
    return 1 - observed / expected


def test_the_published_example():
    columns = zip(*(line.split() for line in PUBLISHED), strict=True)
    found = krippendorff([[label for label in column if label != "."] for column in columns])
    assert round(found, 3) == 0.743


@pytest.mark.parametrize("seed", range(5))
def test_both_are_what_their_definitions_say(seed):
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=200)
    people = [np.where(rng.random(200) < 0.7, truth, rng.integers(4, size=200)) for _ in range(3)]
    pairs = list(zip(people[0].tolist(), people[1].tolist(), strict=True))
    table = {pair: pairs.count(pair) for pair in set(pairs)}
    assert np.isclose(sklearn.cohen_kappa_score(people[0], people[1]), cohen(table))
    things = [[int(labels[i]) for labels in people if rng.random() < 0.8] for i in range(200)]
    assert np.isclose(by_definition(things), krippendorff(things))


def test_where_nothing_can_be_said_there_is_none():
    assert cohen({}) is None
    assert cohen({("a", "a"): 5}) is None
    assert krippendorff([]) is None
    assert krippendorff([["a"], ["b"]]) is None
    assert krippendorff([["a", "a"], ["a", "a"]]) is None
