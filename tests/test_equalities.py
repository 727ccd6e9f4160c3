"""Equalities that the mathematics promises between algorithms."""

import math

import numpy as np
import pytest

import askwhen as aw
from tests.streams import STREAMS
from tests.table import CLASSIFIERS, letters_of

LEARNERS = {
    "perceptron": aw.Perceptron(),
    "shifting": aw.ShiftingPerceptron(0.5),
    "modified": aw.ModifiedPerceptron(),
    "budget": aw.BudgetPerceptron(7),
    "p-norm": aw.PNormPerceptron(3.0),
    "winnow": aw.Winnow(0.2),
    "pa": aw.PassiveAggressive(),
    "pa-1": aw.PassiveAggressive1(0.3),
    "pa-2": aw.PassiveAggressive2(0.3),
    "second order": aw.SecondOrderPerceptron(0.7),
    "lasec": aw.Lasec(0.7, 25.0),
    "least squares": aw.LeastSquares(0.7),
}


def run(learner, rule, X, y, seed=3):
    return aw.Sampler(learner, rule, seed=seed).run(X, y)


def assert_same_bits(first, second):
    for array in ("margin", "prediction", "queried", "updated", "mistaken"):
        np.testing.assert_array_equal(getattr(first, array), getattr(second, array), err_msg=array)


@pytest.fixture(params=STREAMS)
def stream(request):
    return STREAMS[request.param](8)


@pytest.mark.parametrize("rule", [aw.FixedRate(1.0), aw.MarginRule(math.inf), aw.MarginRule(1e300)], ids=repr)
@pytest.mark.parametrize("learner", LEARNERS)
def test_a_rule_that_always_asks_is_the_supervised_learner(learner, rule, stream):
    assert_same_bits(run(LEARNERS[learner], aw.Always(), *stream), run(LEARNERS[learner], rule, *stream))


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_rate_of_zero_never_asks_and_never_learns(learner, stream):
    trace = run(LEARNERS[learner], aw.FixedRate(0.0), *stream)
    assert (trace.questions, trace.updates) == (0, 0)


def test_c_of_infinity_is_the_second_order_perceptron(stream):
    rule = aw.MarginRule(0.2)
    assert_same_bits(run(aw.SecondOrderPerceptron(0.7), rule, *stream), run(aw.Lasec(0.7, math.inf), rule, *stream))


def test_a_large_c_approaches_the_second_order_perceptron():
    X, y = STREAMS["noisy"](8)
    expected, trace = (run(lrn, aw.Always(), X, y) for lrn in (aw.SecondOrderPerceptron(0.7), aw.Lasec(0.7, 1e12)))
    np.testing.assert_allclose(trace.margin, expected.margin, atol=1e-8)


def test_least_squares_is_the_second_order_perceptron_that_learns_every_label(stream):
    expected = run(aw.LeastSquares(0.7), aw.BBQRule(0.5), *stream)
    assert_same_bits(expected, run(aw.SecondOrderPerceptron(0.7, update="queried"), aw.BBQRule(0.5), *stream))


def test_shift_of_zero_and_p_of_two_are_the_perceptron(stream):
    expected = run(aw.Perceptron(), aw.MarginRule(0.5), *stream)
    assert_same_bits(expected, run(aw.ShiftingPerceptron(0.0), aw.MarginRule(0.5), *stream))
    assert_same_bits(expected, run(aw.PNormPerceptron(2.0), aw.MarginRule(0.5), *stream))


def test_a_small_shift_approaches_the_perceptron():
    X, y = STREAMS["noisy"](8)
    expected, trace = (run(lrn, aw.Always(), X, y) for lrn in (aw.Perceptron(), aw.ShiftingPerceptron(1e-13)))
    np.testing.assert_allclose(trace.margin, expected.margin, atol=1e-8)


def test_a_budget_that_is_never_reached_is_the_perceptron(stream):
    expected = run(aw.Perceptron(), aw.Always(), *stream)
    assert_same_bits(expected, run(aw.BudgetPerceptron(10_000), aw.Always(), *stream))


def test_a_large_c_makes_pa_1_and_pa_2_the_plain_pa():
    X, y = STREAMS["noisy"](8)
    expected = run(aw.PassiveAggressive(), aw.Always(), X, y)
    assert_same_bits(expected, run(aw.PassiveAggressive1(1e300), aw.Always(), X, y))
    trace = run(aw.PassiveAggressive2(1e300), aw.Always(), X, y)
    np.testing.assert_allclose(trace.margin, expected.margin, atol=1e-9)


def test_a_large_b_makes_the_second_order_perceptron_predict_as_the_perceptron():
    X, y = STREAMS["noisy"](8)
    expected, trace = (
        run(learner, aw.Always(), X, y) for learner in (aw.Perceptron(), aw.SecondOrderPerceptron(b=1e9))
    )
    np.testing.assert_array_equal(expected.prediction, trace.prediction)
    np.testing.assert_allclose(1e9 * trace.margin, expected.margin, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("row", [row for row in CLASSIFIERS.values() if not row.views], ids=str)
def test_the_order_of_features_does_not_matter(row):
    """Views draw frequencies for each feature in turn, so that there it does."""
    X, y = STREAMS["noisy"](8)
    order = np.random.default_rng(0).permutation(X.shape[1])
    expected, trace = row.build(3).run(X, y), row.build(3).run(X[:, order], y)
    np.testing.assert_allclose(trace.margin, expected.margin, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(expected.queried, trace.queried)


@pytest.mark.parametrize("row", [row for row in CLASSIFIERS.values() if row.starts_at_zero], ids=str)
def test_a_feature_that_is_always_zero_does_not_matter(row):
    X, y = STREAMS["noisy"](8)
    expected, trace = row.build(3).run(X, y), row.build(3).run(np.hstack([X, np.zeros((len(y), 1))]), y)
    np.testing.assert_allclose(trace.margin, expected.margin, rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(expected.queried, trace.queried)


def test_scaling_instances_scales_the_perceptrons_margins_by_the_square():
    X, y = STREAMS["noisy"](8)
    for learner in (aw.Perceptron(), aw.ShiftingPerceptron(0.5), aw.BudgetPerceptron(9), aw.PNormPerceptron(4.0)):
        expected, trace = run(learner, aw.MarginRule(1.0), X, y), run(learner, aw.MarginRule(4.0), 2 * X, y)
        np.testing.assert_allclose(trace.margin, 4 * expected.margin, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(expected.queried, trace.queried)


def test_scaling_instances_leaves_the_adaptive_rule_as_it_is():
    X, y = STREAMS["noisy"](8)
    expected, trace = (run(aw.Perceptron(), aw.AdaptiveMarginRule(0.3), s * X, y) for s in (1.0, 2.0))
    np.testing.assert_array_equal(expected.queried, trace.queried)


def test_scaling_instances_with_b_and_c_leaves_second_order_learners_as_they_are():
    X, y = STREAMS["noisy"](8)
    for first, second in (
        (aw.SecondOrderPerceptron(0.5), aw.SecondOrderPerceptron(2.0)),
        (aw.Lasec(0.5, 20.0), aw.Lasec(2.0, 80.0)),
        (aw.LeastSquares(0.5), aw.LeastSquares(2.0)),
    ):
        expected, trace = run(first, aw.MarginRule(0.2), X, y), run(second, aw.MarginRule(0.2), 2 * X, y)
        np.testing.assert_allclose(trace.margin, expected.margin, rtol=1e-12, atol=1e-12)
        np.testing.assert_array_equal(expected.queried, trace.queried)


def test_scaling_instances_leaves_the_modified_perceptron_and_pa_as_they_are():
    X, y = STREAMS["noisy"](8)
    for learner, power in ((aw.ModifiedPerceptron(), 1), (aw.PassiveAggressive(), 0)):
        expected, trace = (run(learner, aw.Always(), s * X, y) for s in (1.0, 2.0))
        np.testing.assert_allclose(trace.margin, 2**power * expected.margin, rtol=1e-12, atol=1e-12)


def test_flipping_every_label_flips_every_margin_where_nothing_is_predicted_from_zero():
    X, y = STREAMS["noisy"](8)
    expected, trace = (run(aw.LeastSquares(), aw.Always(), X, s * y) for s in (1.0, -1.0))
    np.testing.assert_array_equal(-expected.margin, trace.margin)


def test_the_modified_perceptron_keeps_its_norm():
    X, y = STREAMS["noisy"](8)
    sampler = aw.Sampler(aw.ModifiedPerceptron(), aw.Always(), seed=3)
    assert sampler.run(X, y).updates > 20
    assert np.linalg.norm(sampler.weights) == pytest.approx(1.0, abs=1e-12)


def test_winnow_stays_on_the_simplex(stream):
    sampler = aw.Sampler(aw.Winnow(0.5), aw.Always(), seed=3)
    sampler.run(*stream)
    assert sampler.weights.min() >= 0
    assert sampler.weights.sum() == pytest.approx(1.0, abs=1e-12)


def test_weights_give_the_margin_of_first_order_learners(stream):
    X, y = stream
    for name, learner in LEARNERS.items():
        sampler = aw.Sampler(learner, aw.Always(), seed=3)
        sampler.run(X, y)
        if not learner.has_uncertainty:
            np.testing.assert_allclose(sampler.margins(X), X @ sampler.weights, atol=1e-9, rtol=1e-9, err_msg=name)


def test_papers_are_found_in_any_case_and_ask_for_their_letters():
    assert repr(aw.paper("lasec-ss", **letters_of("LASEC-SS"))) == repr(aw.paper("LASEC-SS", **letters_of("LASEC-SS")))
    with pytest.raises(aw.InputError, match="takes b, c, a, and 'c' is missing"):
        aw.paper("LASEC-SS", b=1.0, a=0.1)
    with pytest.raises(aw.InputError, match="takes b, got 'scale'"):
        aw.paper("SEL-P", b=1.0, scale=2.0)
    for wrong in ("NOPE", 3, None):
        with pytest.raises(aw.InputError, match="name must be one of"):
            aw.paper(wrong)
