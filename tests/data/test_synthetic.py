"""Synthetic streams have the shapes, the targets and the noise that they promise."""

import numpy as np
import pytest

import askwhen as aw


@pytest.mark.parametrize("name", ["switching", "drifting", "spherical", "noisy_linear", "zipf_text"])
def test_streams_are_functions_of_their_seed(name):
    make = getattr(aw.data, name)
    (X, y), (same, _), (other, _) = make(n=300, seed=1), make(n=300, seed=1), make(n=300, seed=2)
    assert X.shape[0] == len(y) == 300
    assert abs(X - same).max() == 0 < abs(X - other).max()
    assert set(y.tolist()) == {-1.0, 1.0}
    with pytest.raises(aw.InputError, match="n must be a whole number"):
        make(n=0)
    with pytest.raises(aw.InputError, match="seed must be"):
        make(seed=-1)


def explained(X, y):
    """How many labels one linear target can explain."""
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    return np.mean(np.sign(X @ u) == y)


def test_a_switching_target_is_one_between_switches():
    X, y = aw.data.switching(n=4000, d=5, every=1000, seed=3)
    assert explained(X, y) < 0.9
    assert min(explained(X[a : a + 1000], y[a : a + 1000]) for a in range(0, 4000, 1000)) > 0.97


def test_a_drifting_target_is_nearly_one_for_a_while():
    X, y = aw.data.drifting(n=4000, d=5, turn=0.005, seed=3)
    assert explained(X, y) < 0.75 < 0.9 < explained(X[:150], y[:150])
    still, labels = aw.data.drifting(n=2000, d=5, turn=0.0, seed=3)
    assert explained(still, labels) > 0.97


def test_the_optimal_errors_of_the_slides():
    X, y = aw.data.spherical(n=200_000, at=200_000, seed=1)
    assert np.linalg.norm(X, axis=1) == pytest.approx(1)
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    assert np.mean(np.sign(X @ u) != y) == pytest.approx(0.2881, abs=0.004)
    X, y = aw.data.spherical(n=200_000, at=200_000, regression=True, seed=1)
    u = np.linalg.lstsq(X, y, rcond=None)[0]
    assert np.mean((X @ u - y) ** 2) == pytest.approx(0.1473, abs=0.002)
    assert np.abs(y - X @ u).max() < 0.82


def test_a_switch_is_a_round_of_the_stream():
    for at in ("x", -5, 11):
        with pytest.raises(aw.InputError, match="at must be a round from 0 to 10"):
            aw.data.spherical(n=10, at=at)


def test_noise_turns_its_share_of_labels():
    X, y = aw.data.noisy_linear(n=20_000, d=4, noise=0.2, seed=1)
    assert explained(X, y) == pytest.approx(0.8, abs=0.01)


def test_texts_have_so_many_words_of_unit_norm():
    X, _ = aw.data.zipf_text(n=500, d=2000, words=20, seed=1)
    assert (np.diff(X.indptr) == 20).all()
    assert np.sqrt(X.multiply(X).sum(axis=1)) == pytest.approx(1)
    frequency = np.asarray((X > 0).sum(axis=0)).ravel()
    assert frequency[0] > 5 * frequency[30] > 0
