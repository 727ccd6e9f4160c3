"""Every algorithm beside its transcription, round by round, on every stream, dense and CSR, compiled."""

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from tests.streams import STREAMS, switching_sphere
from tests.table import LETTERS, letters_of

from . import drifting, passive_aggressive, switching, worst_case
from .worst_case import margin_chance

SEED = 11
TIE = 1e-9


def surely(_):
    return 1.0


def at_rate(rate):
    return lambda _: rate


def draws(seed):
    generator = np.random.Generator(np.random.PCG64(seed)).spawn(1)[0]
    return generator.random(10_000)


pa = passive_aggressive.algorithm_2
REFERENCES = {
    "PERCEPTRON": lambda X, y, u: worst_case.figure_1(X, y, u, surely),
    "SHIFTING": lambda X, y, u, lam: drifting.shifting_perceptron(X, y, lam),
    "MODIFIED": lambda X, y, u: drifting.modified_perceptron(X, y),
    "RBP": lambda X, y, u, B: drifting.randomized_budget_perceptron(X, y, B, draws(SEED)),
    "SOP": lambda X, y, u, b: worst_case.figure_3(X, y, u, surely, size=b),
    "LASEC": lambda X, y, u, b, c: drifting.figure_1(X, y, u, b, c, surely),
    "WINNOW": lambda X, y, u, eta: worst_case.section_3_winnow(X, y, u, eta, surely),
    "PA": lambda X, y, u: pa(X, y, u, passive_aggressive.tau_pa, surely),
    "PA-I": lambda X, y, u, C: pa(X, y, u, passive_aggressive.tau_pa_1(C), surely),
    "PA-II": lambda X, y, u, C: pa(X, y, u, passive_aggressive.tau_pa_2(C), surely),
    "SEL-P": lambda X, y, u, b: worst_case.figure_1(X, y, u, margin_chance(b)),
    "SEL-P-FIXED": lambda X, y, u, rate: worst_case.figure_1(X, y, u, at_rate(rate)),
    "SEL-ADA": lambda X, y, u, beta: worst_case.figure_2(X, y, u, beta),
    "SEL-2ND": lambda X, y, u, b: worst_case.figure_3(X, y, u, margin_chance(b)),
    "SEL-2ND-FIXED": lambda X, y, u, rate: worst_case.figure_3(X, y, u, at_rate(rate)),
    "SEL-WINNOW": lambda X, y, u, eta, b: worst_case.section_3_winnow(X, y, u, eta, margin_chance(b)),
    "PERCEPTRON-SS": lambda X, y, u, a: worst_case.figure_1(X, y, u, margin_chance(a)),
    "SOP-SS": lambda X, y, u, b, a: worst_case.figure_3(X, y, u, margin_chance(a), size=b),
    "LASEC-SS": lambda X, y, u, b, c, a: drifting.figure_1(X, y, u, b, c, margin_chance(a)),
    "BBQ": lambda X, y, u, kappa: drifting.bbq(X, y, kappa),
    "BBQ-I": lambda X, y, u, kappa: drifting.bbq(X, y, kappa, only_mistakes=True),
    "BBQ-SWITCH": lambda X, y, u, kappa, L0, K, delta: switching.bbq_switch(X, y, kappa, L0, K, delta, True),
    "BBQ-SWITCH-FREE": lambda X, y, u, kappa, L0, K, delta: switching.bbq_switch(X, y, kappa, L0, K, delta, False),
    "PA-ACTIVE": lambda X, y, u, delta: pa(X, y, u, passive_aggressive.tau_pa, margin_chance(delta)),
    "PA-I-ACTIVE": lambda X, y, u, C, delta: pa(X, y, u, passive_aggressive.tau_pa_1(C), margin_chance(delta)),
    "PA-II-ACTIVE": lambda X, y, u, C, delta: pa(X, y, u, passive_aggressive.tau_pa_2(C), margin_chance(delta)),
}


def coins(n, seed=SEED):
    return np.random.Generator(np.random.PCG64(seed)).random(n)


def first_tie(trace, expected, u, regression=False):
    """The first round that rounding may decide, or the number of rounds. Equal bits are no tie."""
    close = np.abs(u - expected.probability) < TIE
    if not regression:
        size = np.abs(expected.margin)
        # A sign is decided at 0, and whether PA has a loss at 1.
        close |= ((size < TIE) | (np.abs(size - 1.0) < TIE)) & (expected.margin != trace.margin)
    return int(np.argmax(close)) if close.any() else len(u)


def assert_same(trace, expected, u, regression=False):
    n = first_tie(trace, expected, u, regression)
    difference = np.abs(trace.margin[:n] - expected.margin[:n]) / np.maximum(1.0, np.abs(expected.margin[:n]))
    assert difference.max(initial=0.0) <= 1e-9
    np.testing.assert_allclose(trace.probability[:n], expected.probability[:n], atol=1e-9)
    np.testing.assert_array_equal(expected.queried[:n], trace.queried[:n])
    np.testing.assert_array_equal(expected.updated[:n], trace.updated[:n])
    assert [s for s in expected.switches if s < n] == [s for s in trace.switches if s < n]
    return n


def test_every_paper_name_has_a_transcription():
    assert set(aw.paper_names()) == set(REFERENCES)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("name", REFERENCES)
def test_equals_its_transcription_round_by_round(name, stream, form):
    X, y = STREAMS[stream](3)
    u = coins(len(y))
    expected = REFERENCES[name](X, y, u, **letters_of(name))
    trace = aw.paper(name, seed=SEED, **letters_of(name)).run(X if form == "dense" else sp.csr_matrix(X), y)
    compared = assert_same(trace, expected, u)
    assert compared == len(y) or stream in ("adversarial", "sparse")


@pytest.mark.parametrize("stream", STREAMS)
@pytest.mark.parametrize("p", [2.0, 2.5, 7.0])
def test_p_norm_perceptron_equals_its_transcription(p, stream):
    X, y = STREAMS[stream](4)
    u = coins(len(y))
    expected = worst_case.section_3_p_norm(X, y, u, p, margin_chance(0.7))
    trace = aw.Sampler(aw.PNormPerceptron(p), aw.MarginRule(0.7), seed=SEED).run(X, y)
    assert_same(trace, expected, u)


@pytest.mark.parametrize("stream", STREAMS)
def test_lasec_that_learns_every_label_equals_its_transcription(stream):
    X, y = STREAMS[stream](5)
    u = coins(len(y))
    expected = drifting.figure_1(X, y, u, 0.5, 20.0, margin_chance(0.3), queried_policy=True)
    trace = aw.Sampler(aw.Lasec(0.5, 20.0, update="queried"), aw.MarginRule(0.3), seed=SEED).run(X, y)
    assert_same(trace, expected, u)


@pytest.mark.parametrize("form", ["dense", "csr"])
@pytest.mark.parametrize("extra", [True, False])
@pytest.mark.parametrize("noise", [None, 0.3])
def test_switch_detector_equals_its_transcription_through_a_switch(extra, noise, form):
    X, y = switching_sphere(2, n=1000, d=2, at=500, noise=noise)
    letters = {"kappa": 0.9, "L0": 100, "K": 2, "delta": 0.9}
    name = "BBQ-SWITCH" if extra else "BBQ-SWITCH-FREE"
    regression = {"regression": True, "Z": noise} if noise else {}
    expected = switching.bbq_switch(X, y, *letters.values(), extra, Z=noise or 1.0)
    trace = aw.paper(name, seed=SEED, **letters, **regression).run(X if form == "dense" else sp.csr_matrix(X), y)
    assert len(expected.switches) > 0, "the stream must be hard enough to be detected"
    assert assert_same(trace, expected, coins(len(y)), regression=bool(noise)) == len(y)


def test_the_letters_of_the_table_make_every_rule_ask_and_pass():
    """A table in which a rule always asked would compare too little."""
    X, y = STREAMS["noisy"](3)
    for name in ("SEL-P", "SEL-ADA", "SEL-2ND", "LASEC-SS", "BBQ", "PA-ACTIVE"):
        queried = REFERENCES[name](X, y, coins(len(y)), **letters_of(name)).queried
        assert 0.05 < queried.mean() < 0.95, (name, LETTERS)
