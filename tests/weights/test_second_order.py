"""Floating point: long runs, huge instances, exact references."""

import math

import mpmath
import numpy as np
import pytest

import askwhen as aw
from askwhen.contracts.learner import quadratic, score
from askwhen.weights import second_order
from askwhen.weights.second_order import FullState
from tests.streams import STREAMS

ROUNDS = 1_000_000


@pytest.mark.parametrize("learner", [aw.Lasec(1.0, 50.0, update="queried"), aw.LeastSquares()], ids=repr)
def test_a_million_rounds_keep_q_symmetric_and_positive(learner):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((ROUNDS, 4)) * [1.0, 1e-3, 1e3, 1.0]
    y = np.where(X @ [1.0, 500.0, 1e-3, -1.0] + rng.standard_normal(ROUNDS) > 0, 1, -1)
    sampler = aw.Sampler(learner, aw.Always(), seed=0)
    trace = sampler.run(X, y)
    assert np.isfinite(trace.margin).all()
    assert trace.updates == ROUNDS
    state = sampler._engine.learner
    Q = state.Q if isinstance(state, FullState) else state.S @ state.S.T
    np.testing.assert_array_equal(Q, Q.T)
    assert np.linalg.eigvalsh(Q).min() >= 0
    assert all(ask.uncertainty >= 0 for ask in map(sampler.ask, X[:1000]))
    assert np.linalg.eigvalsh(Q).max() <= state.bound[0] * (1 + 1e-9)


def test_a_million_rounds_of_least_squares_still_solve_the_normal_equations():
    rng = np.random.default_rng(1)
    X = rng.standard_normal((ROUNDS, 4))
    y = np.where(X @ [1.0, 2.0, 3.0, 4.0] + rng.standard_normal(ROUNDS) > 0, 1.0, -1.0)
    sampler = aw.Sampler(aw.LeastSquares(), aw.Always(), seed=0)
    sampler.run(X, y, trace=False)
    np.testing.assert_allclose(sampler.weights, np.linalg.solve(np.eye(4) + X.T @ X, X.T @ y), rtol=1e-9)


def exact_margins(X, y, b, c):
    """The recursion in 120 digits."""
    with mpmath.workdps(120):
        d = X.shape[1]
        w, Q = mpmath.zeros(d, 1), mpmath.eye(d) / mpmath.mpf(b)
        margins = []
        for x_t, y_t in zip(X, y, strict=True):
            x = mpmath.matrix([mpmath.mpf(float(v)) for v in x_t])
            g = Q * x
            q, m = (x.T * g)[0], (w.T * x)[0]
            margins.append(float(m / (1 + q)))
            w += g * (y_t - m) / (1 + q)
            Q -= g * g.T / (1 + q)
            if c != math.inf:
                Q += mpmath.eye(d) / mpmath.mpf(c)
        return np.array(margins)


@pytest.mark.parametrize("size", [1.0, 1e3, 1e5, 1e8, 1e10, 1e50, 1e99, 1e-8, 1e-80])
@pytest.mark.parametrize("learner", [aw.LeastSquares(), aw.Lasec(1.0, 30.0, update="queried")], ids=repr)
def test_huge_and_tiny_instances_are_survived_or_refused_but_never_mispredicted(learner, size):
    refused = 0
    for seed in range(12):
        X, y = STREAMS["noisy"](seed, n=40, d=3)
        X *= size
        try:
            trace = aw.Sampler(learner, aw.Always(), seed=0).run(X, y)
        except aw.InputError as error:
            assert "scale the instances" in str(error)  # noqa: PT017, either outcome is right
            refused += 1
            continue
        expected = exact_margins(X, y, 1.0, getattr(learner, "c", math.inf))
        clear = np.abs(expected) > 1e-3
        np.testing.assert_array_equal(np.sign(expected[clear]), trace.prediction[clear])
        np.testing.assert_allclose(trace.margin[clear], expected[clear], rtol=0.01)
    assert refused in (0, 12)
    assert (refused == 12) == (size > 1e6)


@pytest.mark.parametrize("size", [1e-100, 1e-50, 1e50, 9e99])
@pytest.mark.parametrize(
    "learner",
    [
        aw.Perceptron(),
        aw.ShiftingPerceptron(3.0),
        aw.ModifiedPerceptron(),
        aw.BudgetPerceptron(5),
        aw.PNormPerceptron(9.0),
        aw.PassiveAggressive(),
    ],
    ids=repr,
)
def test_first_order_learners_do_the_same_at_any_size(learner, size):
    X, y = STREAMS["separable"](0)
    size = 2.0 ** round(math.log2(size))
    expected, trace = (aw.Sampler(learner, aw.Always(), seed=0).run(s * X / 2, y) for s in (1.0, size))
    np.testing.assert_array_equal(expected.prediction, trace.prediction)
    assert np.isfinite(trace.margin).all()


def test_winnow_refuses_what_overflows_and_nothing_before():
    X = np.full((3, 2), 1e90)
    X[:, 1] = -1e90
    sampler = aw.Sampler(aw.Winnow(1e5), aw.Always(), seed=0)
    sampler.run(X, [1, -1, 1])
    assert np.isfinite(sampler.weights).all()
    tight = aw.Sampler(aw.Winnow(1e250), aw.Always(), seed=0)
    ask = tight.ask([1e90, -1e90])
    with pytest.raises(aw.InputError, match="overflow"):
        tight.tell(ask, 1)
    assert tight.pending == [ask]
    np.testing.assert_array_equal(tight.weights, [0.5, 0.5])
    twin = aw.Sampler(aw.Winnow(1e250), aw.Always(), seed=0)
    with pytest.raises(aw.InputError, match="row 1 of X"):
        twin.run([[1.0, 2.0], [1e90, -1e90]], [-1, -1])
    assert twin.round == 0


def test_winnow_and_the_p_norm_perceptron_survive_weights_far_apart():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((400, 4)) * [1e3, 1.0, 1e-3, 1.0]
    y = np.where(rng.random(400) < 0.5, 1, -1)
    for learner in (aw.Winnow(50.0), aw.PNormPerceptron(400.0)):
        sampler = aw.Sampler(learner, aw.Always(), seed=0)
        trace = sampler.run(X, y)
        assert np.isfinite(trace.margin).all()
        assert np.abs(sampler.weights).max() > 0


def test_an_infinite_shift_of_weights_does_not_lose_the_scale_of_the_shifting_perceptron():
    X, y = STREAMS["noisy"](0, n=2000)
    trace = aw.Sampler(aw.ShiftingPerceptron(1e4), aw.Always(), seed=0).run(X, y)
    assert np.isfinite(trace.margin).all()


def test_the_root_form_takes_an_instance_out_again():
    rng = np.random.default_rng(0)
    state = second_order.start(5, 1.0, math.inf, True)

    def move(x, y, sign):
        m, _, _ = score(state, x)
        second_order.absorb(state, m, quadratic(state, x), y, sign)

    for i in range(30):
        move(rng.standard_normal(5), 1.0 if i % 2 else -1.0, 1.0)
    w, Q = state.w.copy(), state.S @ state.S.T
    x = rng.standard_normal(5)
    move(x, 1.0, 1.0)
    assert np.abs(state.w - w).max() > 1e-3
    move(x, 1.0, -1.0)
    np.testing.assert_allclose(state.w, w, atol=1e-14)
    np.testing.assert_allclose(state.S @ state.S.T, Q, atol=1e-14)
