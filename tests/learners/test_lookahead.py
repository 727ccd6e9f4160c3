"""What is computed ahead in a run changes nothing: the same bits as by ask and tell, in pieces, and after a restart."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.learners.lookahead import FREQUENT
from askwhen.snapshot import engine_state
from tests.outside.mistakes import TooManyMistakes
from tests.streams import STREAMS


def stream(d, n=240):
    X = np.random.default_rng(d).standard_normal((n, d))
    return X, np.where(X[:, 0] + 0.3 * X[:, -1] ** 2 > 0.2, 1, -1)


def live(sampler, X, y):
    margins = []
    for x, label in zip(X, y, strict=True):
        ask = sampler.ask(x)
        margins.append(ask.margin)
        if ask.query:
            sampler.tell(ask, label)
    return np.array(margins)


@pytest.mark.parametrize("d", [3, 5, 61, 104])  # recent labels begin at every place among eight features
@pytest.mark.parametrize("rate", [0.05, 0.5])
def test_a_run_has_the_bits_of_live_rounds(d, rate):
    X, y = stream(d)
    sampler = aw.Sampler(rule=aw.BudgetRule(rate), seed=4)
    trace = sampler.run(X, y)
    other = aw.Sampler(rule=aw.BudgetRule(rate), seed=4)
    np.testing.assert_array_equal(trace.margin, live(other, X, y))
    assert len(sampler.engine.learner.lookahead.about) > 0
    assert len(other.engine.learner.lookahead.about) == 0


def test_runs_of_few_rows_never_take_what_was_computed_for_another_run():
    X, y = stream(6)
    whole = aw.Sampler(seed=4).run(X, y)
    sampler, margins, first = aw.Sampler(seed=4), [], 0
    while first < len(y):
        last = first + 1 + len(margins) % 6
        margins.append(sampler.run(X[first:last], y[first:last]).margin)
        first = last
        if len(margins) % 7 == 0:
            margins.append(live(sampler, X[first : first + 1], y[first : first + 1]))
            first += 1
    np.testing.assert_array_equal(np.concatenate(margins), whole.margin)


def test_numbers_and_kinds_have_the_bits_of_live_rounds():
    X, y = stream(6)
    for build, labels in (
        (lambda: aw.Sampler(regression=True, seed=4), X[:, 0] * 3.0 + X[:, 1] ** 2),
        (lambda: aw.Sampler(kinds=aw.Kinds(numbers=2, vectors=(3,), words=1), seed=4), y),
    ):
        trace = build().run(X, labels)
        np.testing.assert_array_equal(trace.margin, live(build(), X, labels))


def test_a_restart_discards_what_was_computed():
    X, y = stream(6)
    y = np.where(np.arange(len(y)) < 120, y, -y)
    parts = aw.Mixture(), aw.FixedRate(0.15), TooManyMistakes(most=4, window=8), aw.Prepare()
    trace = aw.Sampler(*parts, seed=4).run(X, y)
    np.testing.assert_array_equal(trace.margin, live(aw.Sampler(*parts, seed=4), X, y))
    assert len(trace.switches) > 0


def test_where_every_label_is_asked_for_nothing_is_computed_ahead():
    X, y = STREAMS["drifting"](1, n=60)
    often = aw.Sampler(aw.Mixture(), aw.Always(), prepare=aw.Prepare(), seed=3)
    often.run(X, y)
    seldom = aw.Sampler(aw.Mixture(), aw.FixedRate(0.02), prepare=aw.Prepare(), seed=3)
    seldom.run(X, y)
    assert often.engine.learner.lookahead.pace[0] < FREQUENT <= seldom.engine.learner.lookahead.pace[0]


def test_a_snapshot_holds_nothing_of_it(tmp_path):
    X, y = stream(6)
    sampler = aw.Sampler(seed=4)
    sampler.run(X[:150], y[:150])
    _, arrays = engine_state.dump(sampler.engine, [])
    assert not any("lookahead" in name for name in arrays)
    sampler.save(tmp_path / "half.askwhen")
    loaded = aw.Sampler.load(tmp_path / "half.askwhen")
    np.testing.assert_array_equal(loaded.run(X[150:], y[150:]).margin, sampler.run(X[150:], y[150:]).margin)
