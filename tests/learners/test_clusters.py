"""Vectors of more than two classes: beside least squares, each class is a cluster."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import MixedRows
from tests.reference.clusters import play

KINDS = aw.Kinds(0, (12,))


def stream(n=150, k=4, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, k, n)
    return rng.standard_normal((k, 12))[y] + 0.8 * rng.standard_normal((n, 12)), y


def rows(vectors):
    return MixedRows.of(sp.csr_matrix(vectors), KINDS)


@pytest.mark.parametrize("classes", [[0, 1, 2, 3], "open"])
def test_margins_and_weights_are_those_of_the_naive_form(classes):
    vectors, y = stream()
    if classes == "open":  # in the order in which they open
        first = {label: place for place, label in enumerate(dict.fromkeys(y.tolist()))}
        y = np.array([first[label] for label in y.tolist()])
    sampler = aw.Sampler(rule=aw.Always(), seed=1, classes=classes)
    trace = sampler.run(rows(vectors), y)
    means, weights = play(4, vectors, y)
    assert sampler.experts[-1] == "direction, clusters"
    np.testing.assert_allclose(trace.drift_weights, weights, rtol=5e-3, atol=5e-4)
    later = slice(20, None) if classes == "open" else slice(None)  # before, spare classes have no part in the gap
    best = np.sort(means, axis=1)[later]
    np.testing.assert_allclose(trace.margin[later], 0.5 * (best[:, -1] - best[:, -2]), rtol=2e-3, atol=2e-3)
    np.testing.assert_array_equal(trace.prediction[20:], means.argmax(axis=1)[20:])


def test_many_classes_need_few_labels():
    """Least squares alone is wrong in 30 % of the last 200 rows."""
    rng = np.random.default_rng(0)
    centres, y = rng.standard_normal((40, 12)), rng.integers(0, 40, 320)
    X = rows(centres[y] + 0.4 * rng.standard_normal((320, 12)))
    trace = aw.Sampler(rule=aw.Always(), seed=1, classes=list(range(40))).run(X, y)
    assert trace.mistaken[120:].mean() < 0.05


def test_two_classes_and_sets_of_labels_have_no_clusters():
    vectors, y = stream(n=40)
    for made in ({"classes": [0, 1]}, {}):
        sampler = aw.Sampler(rule=aw.Always(), seed=1, **made)
        sampler.run(rows(vectors), y % 2)
        assert "direction, clusters" not in sampler.experts


def test_clusters_of_a_file_are_checked(tmp_path):
    vectors, y = stream(n=40)
    sampler = aw.Sampler(rule=aw.Always(), seed=1, classes=[0, 1, 2, 3])
    sampler.run(rows(vectors), y)
    clusters = sampler.engine.learner.clusters
    clusters.counts[1] = 0.5
    sampler.save(tmp_path / "odd")
    with pytest.raises(aw.SnapshotError):
        aw.Sampler.load(tmp_path / "odd")
