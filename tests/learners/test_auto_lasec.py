"""AutoLasec: the mixture as defined, with explicit inverses; its regret; its dual form; what its weights say."""

import math

import numpy as np
import pytest

import askwhen as aw
from tests.streams import STREAMS, drifting, noisy

GRID = aw.AutoLasec.grid


def reference(X, y, b=1.0, eta=0.5, share=0.01):
    """Margins, weights and per-expert clipped margins, supervised, with explicit inverses."""
    d, E = X.shape[1], len(GRID)
    w, A, mix = np.zeros((E, d)), np.array([b * np.eye(d)] * E), np.full(E, 1.0 / E)
    margins, mixes, clipped = [], [], []
    for x, label in zip(X, y, strict=True):
        Q = np.linalg.inv(A)
        q = np.einsum("i,eij,j->e", x, Q, x)
        p = np.clip(w @ x / (1 + q), -1, 1)
        margins.append(mix @ p)
        mixes.append(mix)
        clipped.append(p)
        mix = mix * np.exp(-eta * (p - label) ** 2)
        mix = (1 - share) * mix / mix.sum() + share / E
        for e, c in enumerate(GRID):
            after = np.linalg.inv(A[e] + np.outer(x, x))
            w[e] = w[e] + after @ x * (label - w[e] @ x)
            A[e] = np.linalg.inv(after + np.eye(d) / c)
    return np.array(margins), np.array(mixes), np.array(clipped)


@pytest.mark.parametrize("form", ["primal", "dual"])
@pytest.mark.parametrize("stream", [name for name in STREAMS if name != "adversarial"])
def test_the_mixture_is_what_it_says_in_both_forms(stream, form):
    X, y = STREAMS[stream](1, n=150)
    margins, mixes, _ = reference(X, y)
    trace = aw.Sampler(aw.AutoLasec(b=1.0, form=form), aw.Always(), seed=1).run(X, y)
    np.testing.assert_allclose(trace.margin, margins, rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(trace.drift_weights, mixes, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("stream", STREAMS)
def test_exponential_weights_keep_their_regret_bound(stream):
    """Mix loss against the best single drift level in hindsight, from what the package did and recorded."""
    X, y = STREAMS[stream](2)
    trace = aw.Sampler(aw.AutoLasec(b=1.0), aw.Always(), seed=1).run(X, y)
    _, _, clipped = reference(X, y)
    losses = (clipped - y[:, None]) ** 2
    mix_loss = -np.log((trace.drift_weights * np.exp(-0.5 * losses)).sum(axis=1)) / 0.5
    n, E = len(y), len(GRID)
    regret = mix_loss.sum() - losses.sum(axis=0).min()
    assert regret <= (math.log(E) - (n - 1) * math.log(1 - 0.01 + 0.01 / E)) / 0.5 + 1e-6
    np.testing.assert_allclose(trace.drift_weights.sum(axis=1), 1.0, rtol=1e-12)
    assert trace.drift_weights.min() >= 0.01 / E * (1 - 1e-12)


def test_a_broken_mixture_would_break_the_bound():
    """Weights that reward losses, on the same stream, exceed it: the test above can fail."""
    X, y = drifting(2, n=600, every=100)
    _, _, clipped = reference(X, y)
    losses = (clipped - y[:, None]) ** 2
    mix, total = np.full(6, 1 / 6), 0.0
    for loss in losses:
        total -= math.log(mix @ np.exp(-0.5 * loss)) / 0.5
        mix = mix * np.exp(0.5 * loss)
        mix = 0.99 * mix / mix.sum() + 0.01 / 6
    assert total - losses.sum(axis=0).min() > (math.log(6) - 599 * math.log(0.99 + 0.01 / 6)) / 0.5


def test_weights_say_how_much_the_world_drifts():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((6000, 5))
    still = np.sign(X @ np.ones(5))
    turning = np.arange(6000) * 0.02
    moving = np.sign(X[:, 0] * np.cos(turning) + X[:, 1] * np.sin(turning))
    found = {}
    for name, y in (("still", still), ("moving", moving)):
        trace = aw.Sampler(aw.AutoLasec(), aw.FixedRate(0.5), prepare=aw.Prepare(), seed=1).run(X, y)
        found[name] = trace.drift_weights[3000:].mean(axis=0)
    assert found["still"][:2].sum() > 0.6  # c from 10,000 up
    assert found["moving"][3:].sum() > 0.6  # c from 100 down
    sampler = aw.Sampler(aw.AutoLasec(), aw.FixedRate(0.5), prepare=aw.Prepare(), seed=1)
    sampler.run(X, moving)
    assert sampler.drift_weights.shape == (6,)
    assert sampler.experts == ["c = inf", "c = 10000", "c = 1000", "c = 100", "c = 10", "c = 1"]
    assert aw.Sampler(aw.Perceptron(), aw.Always(), seed=1).run(X[:9], moving[:9]).drift_weights.shape == (9, 0)


def test_the_dual_form_with_a_full_budget_is_that_of_the_kept_instances():
    """The expert that does not drift, with the oldest dropped, is least squares on the last labels."""
    X, y = noisy(3, n=60)
    sampler = aw.Sampler(aw.AutoLasec(b=0.5, budget=20), aw.Always(), seed=1)
    sampler.run(X, y)
    state = sampler._engine.learner
    last, labels = X[-20:], y[-20:]
    expected = np.linalg.solve(0.5 * np.eye(6) + last.T @ last, last.T @ labels)
    np.testing.assert_allclose(state.primal[0], expected, rtol=1e-6, atol=1e-9)
    kept, coefficients = sampler.support
    np.testing.assert_allclose(coefficients @ kept, sampler.weights, rtol=1e-6, atol=1e-9)
    assert sampler.form == "dual"


def test_high_dimension_takes_the_dual_form_by_itself():
    import scipy.sparse as sp

    X = sp.random_array((300, 5000), density=0.01, rng=np.random.default_rng(0), format="csr")
    y = np.where(X[:, :2500].sum(axis=1) > X[:, 2500:].sum(axis=1), 1, -1)
    sampler = aw.Sampler(aw.AutoLasec(), prepare=aw.Prepare(), seed=1)
    sampler.run(X, y)
    assert sampler.form == "dual"
    assert sampler.weights.shape == (5001,)


@pytest.mark.parametrize(
    "bad",
    [
        {"b": 2.0},
        {"b": 0},
        {"update": "never"},
        {"form": "primal", "budget": 5},
        {"budget": 0},
        {"kernel": 0},
        {"update": np.ones(2)},
    ],
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(aw.InputError, match="AutoLasec: "):
        aw.AutoLasec(**bad)
