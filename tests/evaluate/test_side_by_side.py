"""Two samplers on one stream: each as if it were alone, one coin, and a difference that is covered."""

import copy
import itertools
import pickle

import numpy as np
import pytest
from scipy import stats

import askwhen as aw
from tests.soak import times
from tests.streams import drifting, noisy


def build(seed=7, **more):
    return aw.SideBySide(
        aw.Sampler(seed=1), aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5, floor=0.05), **more), seed=seed
    )


def test_asking_telling_running_and_loading_are_the_same(tmp_path):
    X, y = drifting(2, n=1200, every=300)
    whole, live = build(audit=aw.Audit(0.02)), build(audit=aw.Audit(0.02))
    a, b = whole.run(X, y)
    for i, x in enumerate(X):
        ask = live.ask(x)
        assert ask.query == (ask.a.query or ask.b.query) == bool(a.queried[i] | b.queried[i])
        assert (ask.a.prediction, ask.b.prediction) == (a.prediction[i], b.prediction[i])
        if ask.query:
            live.tell(ask, y[i])
        if i == 700:
            live.save(tmp_path / "pair")
            live = aw.SideBySide.load(tmp_path / "pair")
    assert live.difference() == whole.difference()
    assert (live.round, live.questions) == (whole.round, whole.questions)
    np.testing.assert_array_equal(live.a.margins(X), whole.a.margins(X))


def test_each_is_what_it_would_be_alone_with_these_coins():
    X, y = drifting(2, n=800, every=300)
    pair = build()
    coins = np.random.Generator(np.random.PCG64(7)).random(800)
    a, b = pair.run(X, y)
    alone = build()
    for trace, sampler in ((a, alone.a), (b, alone.b)):
        expected = sampler.run_on(coins, X, y)
        np.testing.assert_array_equal(trace.margin, expected.margin)
        np.testing.assert_array_equal(trace.queried, expected.queried)
        np.testing.assert_array_equal(trace.queried, coins < trace.probability)


def test_the_difference_is_unbiased_over_all_coin_sequences():
    """The bets know only whether either asked, so all sequences of that, with both told, are enough."""
    rng = np.random.default_rng(1)
    n = times(6, 8)
    X, y = rng.standard_normal((n, 2)), rng.choice([-1, 1], n)
    mean = truth = total = 0.0
    for asked in itertools.product([True, False], repeat=n):
        pair = aw.SideBySide(
            aw.Sampler(aw.Perceptron(), aw.FixedRate(0.4)),
            aw.Sampler(aw.LeastSquares(), aw.MarginRule(0.5, floor=0.2)),
        )
        chance, ahead = 1.0, 0
        for x, label, query in zip(X, y, asked, strict=True):
            pair._draws = Fixed(0.0 if query else 1.0 - 1e-12)
            ask = pair.ask(x)
            chance *= ask.probability if query else 1.0 - ask.probability
            ahead += int(ask.a.prediction == label) - int(ask.b.prediction == label)
            if ask.query:
                pair.tell(ask, label)
            if chance == 0.0:
                break
        if chance > 0.0:
            total += chance
            mean += chance * pair.difference().unbiased
            truth += chance * ahead / n
    assert total == pytest.approx(1.0, abs=1e-12)
    assert mean == pytest.approx(truth, abs=1e-12)


class Fixed:
    """Coins that fall as they are told."""

    def __init__(self, coin):
        self.coin = coin
        self.bit_generator = type("Nothing", (), {"state": None})()

    def random(self):
        return self.coin


def test_the_difference_is_covered_at_every_round():
    missed, streams = 0, times(15, 60)
    for seed in range(streams):
        X, y = drifting(seed, n=900, every=300)
        pair, ahead, kept = build(seed), 0, True
        for part in np.array_split(np.arange(900), 30):
            a, b = pair.run(X[part], y[part])
            ahead += int(b.mistaken.sum()) - int(a.mistaken.sum())
            found = pair.difference()
            kept = kept and found.low - 1e-12 <= ahead / (part[-1] + 1) <= found.high + 1e-12
        missed += not kept
    assert missed <= stats.binom.ppf(0.99, streams, 0.05)


def test_a_better_one_is_known_to_be_and_said_to_be():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((8000, 4))
    pair = aw.SideBySide(aw.Sampler(seed=1), aw.Sampler(aw.Perceptron(), aw.FixedRate(0.01)), seed=2)
    assert "nothing is known" in str(pair.difference())
    pair.run(X, np.where(X[:, 0] * X[:, 1] > 0, 1, -1))
    assert pair.difference().low > 0.1
    assert str(pair.difference()).startswith("a is better")


def test_late_forgotten_and_unknown_answers():
    X, y = noisy(0, n=600)
    pair = build()
    asks = [(pair.ask(x), label) for x, label in zip(X, y, strict=True)]
    waiting = pair.difference()
    open_ = [(ask, label) for ask, label in asks if ask.query]
    assert len(pair.pending) == len(open_) == pair.questions
    for ask, label in reversed(open_[:-5]):
        pair.tell(ask, label)
    told = pair.difference()
    assert waiting.low <= told.low <= told.high <= waiting.high
    for ask, _ in open_[-5:]:
        pair.forget(ask.round)
    assert pair.difference().low == pytest.approx(told.low)
    assert pair.pending == []
    with pytest.raises(aw.QuestionError):
        pair.tell(asks[0][0], 1)


def test_what_is_refused_leaves_both_as_they_were():
    X, y = noisy(0, n=300)
    narrow = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    narrow.run(X[:10, :3], y[:10])
    pair = aw.SideBySide(aw.Sampler(aw.Perceptron(), aw.Always(), seed=1), narrow, seed=3)
    for _ in range(2):
        with pytest.raises(aw.InputError):
            pair.ask(X[0])
        with pytest.raises(aw.InputError):
            pair.run(X, y)
    assert (pair.round, pair.a.round, pair.a.questions, pair.a.pending, narrow.round) == (0, 0, 0, [], 10)
    classes = aw.Sampler(classes=[1, 2, 3])
    for a, b in ((narrow, narrow), (0.5, narrow), (narrow, aw.Sampler(regression=True)), (narrow, classes)):
        with pytest.raises(aw.InputError):
            aw.SideBySide(a, b)


def test_a_file_of_another_kind_or_a_forged_one_is_refused(tmp_path):
    narrow = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    narrow.save(tmp_path / "one")
    with pytest.raises(aw.SnapshotError, match="use Sampler.load"):
        aw.SideBySide.load(tmp_path / "one")
    pair = build()
    pair.save(tmp_path / "two")
    with pytest.raises(aw.SnapshotError, match=r"use SideBySide\.load"):
        aw.Sampler.load(tmp_path / "two")


def test_a_question_that_one_of_them_lost_can_be_told_forgotten_saved_and_loaded(tmp_path):
    X, y = noisy(0, n=60)
    pair = aw.SideBySide(
        aw.Sampler(aw.Perceptron(), aw.Always(), seed=1), aw.Sampler(aw.LeastSquares(), aw.Always(), seed=1), seed=3
    )
    asks = [pair.ask(x) for x in X]
    pair.a.tell(asks[0].a, 1)
    pair.b.forget(asks[1].b)
    pair.a.forget(asks[2].a)
    pair.save(tmp_path / "pair")
    pair = aw.SideBySide.load(tmp_path / "pair")
    pair.tell(asks[0], 1)
    pair.forget(asks[1])
    pair.tell(asks[2].round, y[2])
    assert len(pair.pending) == 57


def test_copies_share_nothing_and_pickles_go_on():
    X, y = noisy(0, n=100)
    pair = build()
    pair.run(X[:50], y[:50])
    for other in (copy.copy(pair), copy.deepcopy(pair), pickle.loads(pickle.dumps(pair))):
        other.run(X[50:], y[50:])
        assert (pair.round, pair.a.round, other.round, other.a.round) == (50, 50, 100, 100)
    pair.run(X[50:], y[50:])
    assert pair.difference() == other.difference()


def test_a_kernel_of_ones_own_is_given_again(tmp_path):
    X, y = noisy(0, n=60)
    kernel = aw.Kernel(squared)
    pair = aw.SideBySide(
        aw.Sampler(aw.Perceptron(kernel=kernel), aw.MarginRule(1.0)), aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0))
    )
    pair.run(X, y)
    pair.save(tmp_path / "pair")
    again = aw.SideBySide.load(tmp_path / "pair", kernel=kernel)
    assert again.difference() == pair.difference()


def squared(inner, _a, _b):
    return (1.0 + inner) ** 2


@pytest.mark.parametrize("bad", [None, 3, [[1.0], [1.0, 2.0]]])
def test_what_is_no_stream_is_refused_in_a_sentence(bad):
    X, y = noisy(0, n=20)
    pair = build()
    with pytest.raises(aw.InputError):
        pair.run(bad, y)
    with pytest.raises(aw.InputError, match="one label for each row"):
        pair.run(X, np.column_stack([y, y]))
    pair.run(X, y)
    assert pair.round == pair.a.round == pair.b.round == 20


def three(seed, n=900):
    rng = np.random.default_rng([seed, 4])
    X = rng.standard_normal((n, 4))
    return X, np.array(["a", "b", "c"])[(X[:, :3] + 0.4 * rng.standard_normal((n, 3))).argmax(axis=1)]


def several(seed=7):
    rules = aw.BudgetRule(0.2), aw.FixedRate(0.03)
    return aw.SideBySide(*(aw.Sampler(rule=rule, classes=list("abc"), seed=1) for rule in rules), seed=seed)


def test_with_several_classes_each_is_bounded_and_live_is_simulated(tmp_path):
    X, y = three(0)
    whole, live = several(), several()
    a, b = whole.run(X, y)
    for i, x in enumerate(X):
        ask = live.ask(x)
        if ask.query:
            live.tell(ask, y[i])
        if i == 400:
            live.save(tmp_path / "pair")
            live = aw.SideBySide.load(tmp_path / "pair")
    assert live.difference() == whole.difference()
    assert whole.difference().apart == (a.prediction != b.prediction).sum()
    missed = 0
    for seed in range(times(10, 40)):
        X, y = three(seed)
        pair, ahead, kept = several(seed), 0, True
        for part in np.array_split(np.arange(900), 15):
            a, b = pair.run(X[part], y[part])
            ahead += int(b.mistaken.sum()) - int(a.mistaken.sum())
            found = pair.difference()
            kept = kept and found.low - 1e-12 <= ahead / (part[-1] + 1) <= found.high + 1e-12
        missed += not kept
    assert missed <= stats.binom.ppf(0.99, times(10, 40), 0.05)


def test_with_several_classes_open_and_forgotten_questions_widen():
    X, y = three(1, 300)
    pair = several()
    asks = [(pair.ask(x), label) for x, label in zip(X, y, strict=True)]
    waiting = pair.difference()
    for ask, label in asks:
        if ask.query and ask.round % 4:
            pair.tell(ask, label)
    told = pair.difference()
    assert waiting.low <= told.low <= told.high <= waiting.high
    for ask in pair.pending:
        pair.forget(ask)
    assert (pair.difference().low, pair.difference().high) == pytest.approx((told.low, told.high))


def test_a_refused_question_leaves_no_names_and_a_wrong_label_no_answer():
    pd = pytest.importorskip("pandas")
    timed = aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=100, count=10))
    pair = aw.SideBySide(aw.Sampler(aw.Perceptron(), aw.Always()), timed)
    with pytest.raises(aw.InputError, match="time must be given"):
        pair.ask(pd.Series([1.0, 2.0], ["a", "b"]))
    assert pair.a.feature_names is None
    both = aw.SideBySide(*(aw.Sampler(aw.Perceptron(), aw.Always()) for _ in range(2)))
    ask = both.ask([1.0, 2.0])
    both.a.forget(ask.a)
    both.b.forget(ask.b)
    for wrong in ("spam", 7, None):
        with pytest.raises(aw.InputError, match="^tell: y (is|must)"):
            both.tell(ask, wrong)
    assert len(both.pending) == 1
