"""The honest accuracy: unbiased, covered, incremental, and only ever from labels that were asked for."""

import itertools

import numpy as np
import pytest
from scipy import stats

import askwhen as aw
from askwhen.betting import (
    CHANCES,
    EARLIER,
    FIRST_RELEASE,
    LEVELS,
    STAKES,
    STANDARD,
    all_unasked,
    bet,
    place_of,
)
from askwhen.evaluate import accuracy, accuracy_curve
from askwhen.evaluate.estimation.accuracy import overall_accuracy
from askwhen.evaluate.estimation.confidence import least, most
from askwhen.evaluate.estimation.tally_views import sides_of, window_of
from tests.reference import interval as reference
from tests.soak import times
from tests.streams import drifting, noisy


def some_trace(seed=0, n=3000, rule=None):
    X, y = drifting(seed, n=n, every=700)
    return aw.Sampler(aw.Lasec(1.0, 30.0), rule or aw.MarginRule(0.1, floor=0.05), seed=seed).run(X, y)


def test_the_estimate_is_unbiased_over_all_coin_sequences():
    """Every sequence of asked and not asked over some rounds, each with its probability: no sampling, no tolerance."""
    rng = np.random.default_rng(1)
    rounds = times(8, 10)
    X = rng.standard_normal((rounds, 2))
    y = np.where(X[:, 0] + 0.5 * rng.standard_normal(rounds) > 0, 1, -1)
    rule = aw.MarginRule(0.7, floor=0.2)
    mean, truth, total = 0.0, 0.0, 0.0
    for asked in itertools.product([True, False], repeat=rounds):
        sampler = aw.Sampler(aw.Perceptron(), rule, seed=0)
        chance, right = 1.0, 0
        for x, label, query in zip(X, y, asked, strict=True):
            coin = 0.0 if query else 1.0 - 1e-12  # ask, or do not, unless the rule is sure
            sampler._engine.draws.ahead[:] = [coin]
            ask = sampler.ask(x)
            chance *= ask.probability if query else 1.0 - ask.probability
            if chance == 0.0:
                break
            right += ask.prediction == label
            if ask.query:
                sampler.tell(ask, label)
        if chance > 0.0:
            total += chance
            mean += chance * accuracy(sampler).overall.unbiased
            truth += chance * right / rounds
    assert total == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(truth, abs=1e-12)


def test_the_wealth_has_mean_one_whatever_the_probability():
    """The outcomes of a coin, averaged, for every stake, place and level, a mistake or not, standard stakes and old."""
    for stakes in (STANDARD, FIRST_RELEASE):
        unasked, k, factors = np.exp(-all_unasked(stakes)), np.exp(stakes), np.zeros(STAKES)
        for P in (2.0**-53, 1e-5, 0.02, 0.3, 0.7072, 0.9, 1.0):
            for level, wrong in itertools.product(range(LEVELS), (False, True)):
                bet(factors, k, -np.expm1(stakes), P, place_of(P), level, wrong, wrong)
                x = k if wrong else 1.0
                mean = (1.0 - P) * unasked[place_of(P), level] * x + P * factors * x
                np.testing.assert_allclose(mean, 1.0, atol=1e-12)
            assert CHANCES[place_of(P)] <= P


def test_a_prediction_of_no_mistakes_is_the_first_release():
    """With a = 0 and its stakes, an answer does what it did there: the factors 1 - gamma/P and 1 + gamma/P."""
    gamma, factors = 0.5 ** np.arange(1, 17), np.zeros(STAKES)
    for P in (0.01, 0.4, 1.0):
        bet(factors, np.exp(FIRST_RELEASE), -np.expm1(FIRST_RELEASE), P, 0, EARLIER, True, True)
        np.testing.assert_allclose(factors, [*np.where(gamma < P, 1 - gamma / P, 1.0), *(1 + gamma / P)], rtol=1e-9)
        bet(factors, np.exp(FIRST_RELEASE), -np.expm1(FIRST_RELEASE), P, 0, EARLIER, False, False)
        np.testing.assert_allclose(factors, 1.0, rtol=1e-9)


def test_bounds_invert_the_mixture_exactly():
    A = 200.0 * STANDARD + 40.0 * STANDARD**2
    weights = np.array([(1 + max(5 - j, (j - 6) / 2, 0)) ** -3.5 for j in range(16)])
    top, bottom = float(most(A, STANDARD, 400.0, 0.025)), float(least(A, STANDARD, 400.0, 0.025))
    for S, half in ((top, slice(0, 16)), (bottom, slice(16, 32))):
        wealth = (weights * np.exp(STANDARD[half] * S - A[half])).sum() / weights.sum()
        assert wealth == pytest.approx(40.0, rel=1e-6)
    assert 0 < bottom < 200 < top < 400
    assert float(most(A, STANDARD, 5.0, 0.025)) == 5.0


def test_a_tally_is_what_the_reference_sums_up_round_by_round():
    """Every round apart, in plain Python, against cells, products and blocks; overall, by side, and of late."""
    X, y = drifting(3, n=2300, every=700)
    sampler = aw.Sampler(aw.Lasec(1.0, 30.0), aw.MarginRule(0.1, floor=0.05), seed=3)
    trace = sampler.run(X, y)
    found = reference.wealth(trace)
    tally = sampler.tally()[0]
    for side, counted in enumerate(sides_of(tally)):
        np.testing.assert_allclose(counted.A, found.A[found.side == side].sum(axis=0), rtol=1e-9, atol=1e-9)
        assert counted.estimate == pytest.approx(found.estimate[found.side == side].sum(), rel=1e-9)
    for which, size in enumerate((100, 500, 2000)):
        window = window_of(tally, which)
        first = max(2300 - 10 * size, 0) // size * size
        np.testing.assert_allclose(window.A, found.A[first:].sum(axis=0), rtol=1e-9, atol=1e-9)
        assert (window.rounds, window.answered) == (2300 - first, trace.queried[first:].sum())


@pytest.mark.parametrize("delay", [1, 40, 130, 900])
def test_late_answers_find_the_blocks_of_their_rounds(delay):
    """Asked at random and with the lowest level throughout, a round is bet on alike whenever its answer comes."""
    X, _ = noisy(1, n=1500)
    found = []
    for late in (0, delay):
        sampler = aw.Sampler(aw.Perceptron(), aw.FixedRate(0.3), seed=3)
        limits = sampler.engine.tally.limits
        for i, x in enumerate(X):
            sampler.ask(x)
            for ask in sampler.pending:
                if ask.round <= min(i - late, 1499 - delay):
                    sampler.tell(ask, ask.prediction if ask.round % 10 < 7 else -ask.prediction)
                    limits[:] = np.inf
        tally, _, _, waiting = sampler.tally()
        found.append([sum_of(sides_of(tally, waiting)), *(window_of(tally, w, waiting) for w in range(3))])
    for prompt, late in zip(*found, strict=True):
        assert (prompt.rounds, prompt.answered, prompt.open) == (late.rounds, late.answered, late.open)
        np.testing.assert_allclose(late.A, prompt.A, rtol=1e-9, atol=1e-9)
        assert late.estimate == pytest.approx(prompt.estimate, rel=1e-9)


def sum_of(sides):
    negative, positive = sides
    return negative + positive


def test_coverage_at_every_round_of_streams_that_drift():
    """The script benchmarks/coverage.py does this for 500 streams; fewer here, of which one in twenty may fail."""
    missed, streams = 0, times(30, 120)
    for seed in range(streams):
        trace = some_trace(seed, n=600)
        curve = accuracy_curve(trace, points=600)
        true = 1 - np.cumsum(trace.mistaken) / np.arange(1, 601)
        missed += not ((curve.low <= true + 1e-12) & (true <= curve.high + 1e-12)).all()
    assert missed <= stats.binom.ppf(0.99, streams, 0.05)


def test_unasked_labels_are_never_looked_at():
    trace = some_trace()
    blind = dict(vars(trace), mistaken=trace.mistaken & trace.queried)
    assert accuracy(trace) == accuracy(aw.Trace(**blind))


@pytest.mark.parametrize("classes", [None, "open"])
def test_the_overall_accuracy_alone_is_the_same(classes):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((600, 4)), rng.integers(0, 2 if classes is None else 5, 600)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, classes=classes)
    sampler.run(X[:500], y[:500])
    sampler.ask(X[500])
    found, expected = overall_accuracy(sampler, 0.9), accuracy(sampler, confidence=0.9).overall
    assert str(found) == str(expected)
    assert (found.answered, found.unanswered, found.rounds) == (expected.answered, expected.unanswered, 501)


def test_a_sampler_says_the_same_as_its_trace_live_and_resumed(tmp_path):
    X, y = drifting(1, n=2500, every=700)

    def build():
        return aw.Sampler(aw.Lasec(1.0, 30.0), aw.MarginRule(0.1, floor=0.05), seed=3)

    whole = build()
    trace = whole.run(X, y)
    live = build()
    for i in range(1500):
        ask = live.ask(X[i])
        if ask.query:
            live.tell(ask, y[i])
    live.save(tmp_path / "m")
    live = aw.Sampler.load(tmp_path / "m")
    live.run(X[1500:], y[1500:])
    assert accuracy(whole) == accuracy(trace) == accuracy(live)
    for recent in (1000, 5000, 20000):
        assert accuracy(live, recent=recent).recent == accuracy(trace, recent=recent).recent
        assert accuracy(live).windows[recent] == accuracy(live, recent=recent).recent
    short = accuracy(trace, recent=300).recent
    assert 300 <= short.rounds < 330
    assert short.low <= 1 - trace.mistaken[-short.rounds :].mean() <= short.high


def test_late_labels_count_as_both_until_they_come_and_never_if_forgotten():
    X, y = noisy(0, n=800)

    def build():
        return aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.3), seed=3)

    prompt, late = build(), build()
    asks = [(late.ask(x), label) for x, label in zip(X, y, strict=True)]
    waiting = accuracy(late)
    assert waiting.unanswered == waiting.questions == sum(ask.query for ask, _ in asks)
    assert waiting.overall.high == 1.0
    truth = np.mean([ask.prediction == label for ask, label in asks])
    for ask, label in asks:
        if ask.query:
            late.tell(ask, label)
    told = accuracy(late)
    assert told.unanswered == 0
    assert waiting.overall.low < told.overall.low < truth < told.overall.high
    for ask, _ in asks:
        again = prompt.ask(X[ask.round])
        if again.query:
            prompt.forget(again)
    assert accuracy(prompt).overall == waiting.overall
    assert accuracy(prompt).unanswered == waiting.unanswered
    assert accuracy(prompt).recent == waiting.recent


def test_rounds_that_nobody_could_ask_about_widen_the_interval_by_their_share():
    X, y = noisy(0, n=4000)
    free = aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.2), seed=3).run(X, y)
    times = np.where(np.arange(4000) < 3000, np.arange(4000.0), 3000.0)
    budget = aw.BudgetRule(per=1e6, count=250, floor=0.1)
    capped = aw.Sampler(aw.LeastSquares(), budget, seed=3).run(X, y, times=times)
    found = accuracy(capped)
    assert found.unobserved == (capped.probability == 0).mean() > 0.1
    assert found.overall.low <= 1 - capped.mistakes / 4000 <= found.overall.high
    assert found.overall.high - found.overall.low > found.unobserved
    assert accuracy(free).unobserved == 0


def test_a_deterministic_rule_knows_nothing_without_an_audit():
    X, y = noisy(0, n=3000)
    alone = accuracy(aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.4), seed=3).run(X, y)).overall
    assert alone.low < 0.1
    audited = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.4), audit=aw.Audit(0.1, learn=False), seed=3).run(X, y)
    found = accuracy(audited).overall
    assert found.low > 0.6
    assert found.low <= 1 - audited.mistakes / 3000 <= found.high


def test_without_margins_the_floor_stands_in_and_the_interval_stays_valid():
    X, y = drifting(4, n=4000, every=900)
    rule = aw.MarginRule(0.05, floor=0.05)
    full, short = (
        aw.Sampler(aw.Lasec(1.0, 30.0), rule, seed=3).run(X, y, margins=margins) for margins in (True, False)
    )
    a, b = accuracy(full).overall, accuracy(short).overall
    assert short.blind
    assert not full.blind
    assert b.low == pytest.approx(a.low, abs=0.05)
    assert b.low <= 1 - short.mistakes / 4000 <= b.high


def test_precision_recall_and_f_cover_the_truth():
    for seed in range(5):
        X, y = noisy(seed, n=6000)
        trace = aw.Sampler(seed=seed).run(X, y)
        found = accuracy(trace)
        positive = trace.prediction > 0
        fp, fn = (trace.mistaken & positive).sum(), (trace.mistaken & ~positive).sum()
        tp = positive.sum() - fp
        for estimate, truth in (
            (found.precision, tp / (tp + fp)),
            (found.recall, tp / (tp + fn)),
            (found.f_measure, 2 * tp / (2 * tp + fp + fn)),
            (found.recent, 1 - trace.mistaken[-found.recent.rounds :].mean()),
        ):
            assert estimate.low <= truth <= estimate.high
            assert estimate.low <= estimate.value <= estimate.high


def test_nothing_yet_and_wrong_questions_are_answered_in_a_sentence():
    fresh = accuracy(aw.Sampler(seed=1))
    assert (fresh.overall.low, fresh.overall.high, fresh.rounds) == (0.0, 1.0, 0)
    X, y = noisy(0, n=50)
    regressor = aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.5), seed=1)
    many = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    many.run(X, np.column_stack([y, y]))
    counts_only = aw.Sampler(seed=1).run(X, y, trace=False)
    for source, message in (
        (regressor, "regressor"),
        (regressor.run(X, y), "regressor"),
        (many, "tasks"),
        (counts_only, "only counts"),
        (0.9, "must be a Sampler or a Trace"),
    ):
        with pytest.raises(aw.InputError, match=message):
            accuracy(source)
    for bad in ({"confidence": 1.0}, {"recent": 0}, {"recent": 30_000}):
        with pytest.raises(aw.InputError):
            accuracy(aw.Sampler(seed=1), **bad)
    with pytest.raises(aw.InputError, match="must be a Trace"):
        accuracy_curve(aw.Sampler(seed=1))
    assert "accuracy" in str(accuracy(some_trace()))
    assert "not known yet" in str(accuracy(aw.Sampler(seed=1)))


def test_what_nobody_could_ask_about_is_unknown_and_not_right():
    rng = np.random.default_rng([7, 7])
    X = rng.standard_normal((6000, 4))
    y = np.where(X[:, 0] + rng.standard_normal(6000) > 0, 1, -1)
    trace = aw.Sampler(rule=aw.BudgetRule(0.1, most=100), costs=(1, 2), seed=5).run(X, y)
    found, positive = accuracy(trace), trace.prediction > 0
    assert found.precision.unbiased == pytest.approx(1 - trace.mistaken[positive].mean(), abs=0.2)
    assert np.isnan(found.windows[1000].value)
    assert str(found.windows[1000]) == "not known yet (0.0% to 100.0%)"
    never = accuracy(aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.0), seed=5).run(X, y))
    assert "not known yet" in str(never.overall)
    assert never.unobserved == 1.0
    silent = aw.Sampler(aw.LeastSquares(), aw.Always(), seed=5)
    silent.learn(X[200:400], y[200:400])  # so that it says +1 too
    for x in X[:200]:
        silent.ask(x)
    waiting = accuracy(silent)
    for estimate in (waiting.overall, waiting.recent, waiting.precision, waiting.recall, waiting.f_measure):
        assert str(estimate).startswith("not known yet")


def test_chances_below_every_coin_are_none():
    X, y = noisy(8, n=3000)
    trace = aw.Sampler(aw.LeastSquares(), aw.FocusedRule(0.02), prepare=aw.Prepare(), seed=1).run(X, y)
    assert accuracy(trace).unobserved == (trace.probability < 2.0**-53).mean() > 0.1


def test_an_accuracy_is_not_known_while_its_interval_is_wider_than_thirty_points():
    wide, narrow = (aw.evaluate.Estimate(0.9, low, 0.95, 0.9, 100) for low in (0.6, 0.65))
    assert (wide.is_known, narrow.is_known) == (False, True)
    assert str(wide) == "not known yet (60.0% to 95.0%)"
    assert str(narrow) == "90.0% (65.0% to 95.0%)"
    sampler = aw.Sampler(seed=1)
    for _ in range(50):
        ask = sampler.ask([1.0, 2.0])
    sampler.tell(ask.round if ask.query else 0, 1)
    assert str(accuracy(sampler).overall).startswith("not known yet (")
