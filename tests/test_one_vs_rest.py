"""Several classes with one question for all: against samplers of single classes, and as a sampler itself."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.engine.tally.class_tally import EXPECTED, RESIDUAL, UNSEEN
from askwhen.evaluate import accuracy
from tests.streams import every_sequence_of_coins

pytestmark = pytest.mark.xdist_group("several classes")  # they compile the same rounds
CLASSES = ["ant", "bee", "cat"]


def data(n=300, d=5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.array(CLASSES)[(X[:, :3] + 0.2 * rng.standard_normal((n, 3))).argmax(axis=1)]


def sampler(rule=None, learner=None, **settings):
    return aw.OneVsRest(CLASSES, learner or aw.Perceptron(), rule or aw.MarginRule(0.5), seed=3, **settings)


@pytest.mark.parametrize("learner", [aw.Perceptron(), aw.Lasec(1.0, 30.0), aw.Perceptron(kernel=aw.Gaussian(0.5))])
def test_every_class_learns_as_a_sampler_of_its_own(learner):
    X, y = data()
    together = sampler(aw.Always(), learner)
    together.run(X, y)
    for k, label in enumerate(CLASSES):
        alone = aw.Sampler(learner, aw.Always(), seed=3)
        alone.run(X, np.where(y == label, 1, -1))
        np.testing.assert_array_equal(together.margins(X)[:, k], alone.margins(X))
    np.testing.assert_array_equal(together.predict(X), np.array(CLASSES)[together.margins(X).argmax(axis=1)])


def test_one_coin_against_half_the_gap_between_the_two_best():
    X, y = data()
    made, coins = sampler(), np.random.Generator(np.random.PCG64(3))
    for x, label in zip(X, y, strict=True):
        p = made.margins(x[None])[0]
        ask = made.ask(x)
        gap = 0.5 * np.subtract(*np.sort(p)[[-1, -2]])
        assert ask.margin == pytest.approx(gap, abs=1e-300)
        assert ask.probability == pytest.approx(0.5 / (0.5 + gap))
        assert ask.query == (coins.random() < ask.probability)
        assert ask.prediction == CLASSES[p.argmax()]
        if ask.query:
            made.tell(ask, label)


@pytest.mark.parametrize(
    "learner",
    [aw.Lasec(1.0, 50.0, update="queried"), aw.LeastSquares(), aw.AutoLasec()],
    ids=lambda each: type(each).__name__,
)
def test_two_classes_ask_what_two_labels_ask(learner):
    X, y = data(500)
    y = np.where(y == CLASSES[0], 1, -1)
    two, several = (
        aw.Sampler(learner, aw.BudgetRule(0.2), seed=4),
        aw.OneVsRest([-1, 1], learner, aw.BudgetRule(0.2), seed=4),
    )
    expected, found = two.run(X, y), several.run(X, y)
    np.testing.assert_array_equal(found.queried, expected.queried)
    np.testing.assert_array_equal(found.prediction, expected.prediction)
    np.testing.assert_allclose(found.probability, expected.probability, atol=1e-12)
    np.testing.assert_allclose(found.margin, np.abs(expected.margin), atol=1e-12)
    of_two, of_several = accuracy(two), accuracy(several).classes[1]
    for name in ("precision", "recall", "f_measure"):
        assert getattr(of_several, name).unbiased == pytest.approx(getattr(of_two, name).unbiased, abs=0.05)


def test_false_and_missed_ones_are_unbiased_over_all_coin_sequences():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((6, 2)), rng.choice(["a", "b", "c"], 6)
    mean, truth, total = np.zeros((3, 2)), np.zeros((3, 2)), 0.0

    def make():
        return aw.OneVsRest(["a", "b", "c"], aw.Perceptron(), aw.MarginRule(0.7, floor=0.2), seed=0)

    for chance, made, predicted in every_sequence_of_coins(X, y, make):
        tally = made.class_tally()
        sums, seen = tally.sums, tally.seen[:, :, 1]
        total += chance
        for c, label in enumerate("abc"):
            rest = sums.sum(axis=0) - sums[c]
            false = sums[c, EXPECTED] + sums[c, RESIDUAL]
            missed = rest[EXPECTED] / 2 + rest[UNSEEN] + seen[:, c].sum()
            mean[c] += chance * np.array([false, missed])
            said = np.array(predicted) == label
            truth[c] += chance * np.array([(said & (y != label)).sum(), (~said & (y == label)).sum()])
    assert total == pytest.approx(1.0)
    np.testing.assert_allclose(mean, truth, atol=1e-9)


def test_precision_recall_and_f_of_every_class_cover_the_truth_and_are_kept(tmp_path):
    missed, of = 0, 0
    for seed in range(6):
        rng = np.random.default_rng([seed, 7])
        X = rng.standard_normal((1500, 4))
        y = np.array(["a", "b", "c"])[(X[:, :3] + 0.5 * rng.standard_normal((1500, 3))).argmax(axis=1)]
        made = aw.OneVsRest(["a", "b", "c"], seed=seed)
        trace = made.run(X, y)
        found = accuracy(made).classes
        made.save(tmp_path / "m")
        assert accuracy(aw.OneVsRest.load(tmp_path / "m")).classes == found
        for label, each in found.items():
            said, true = trace.prediction == label, y == label
            hits = (said & true).sum()
            for estimate, truth in (
                (each.precision, hits / said.sum()),
                (each.recall, hits / true.sum()),
                (each.f_measure, 2 * hits / (said.sum() + true.sum())),
            ):
                of += 1
                missed += not estimate.low <= truth <= estimate.high
            assert each.predicted == said.sum()
            assert each.answered == (trace.queried & said).sum()
        assert "recall" in str(found["a"])
    assert missed <= 0.1 * of


def test_open_and_forgotten_questions_widen_what_is_known_of_a_class():
    X, y = data(300)
    made = aw.OneVsRest(CLASSES, aw.Perceptron(), aw.FixedRate(0.5), seed=3)
    asks = [(made.ask(x), label) for x, label in zip(X, y, strict=True)]
    before = accuracy(made).classes[CLASSES[0]]
    for ask, label in asks:
        if ask.query and ask.round % 7:
            made.tell(ask, label)
    told = accuracy(made).classes[CLASSES[0]]
    assert before.recall.low <= told.recall.low <= told.recall.high <= before.recall.high
    for ask in made.pending:
        made.forget(ask)
    assert accuracy(made).classes[CLASSES[0]].recall == told.recall


def test_by_uncertainty_the_most_uncertain_class_decides():
    X, y = data()
    made = sampler(aw.BBQRule(0.6), aw.LeastSquares())
    alone = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.6), seed=3)
    np.testing.assert_array_equal(made.run(X, y).queried, alone.run(X, np.where(y == "ant", 1, -1)).queried)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
def test_a_run_is_the_same_as_asking_and_telling(form):
    X, y = data()
    X = form(X)
    trace = (first := sampler(prepare=aw.Prepare())).run(X, y)
    second, asks = sampler(prepare=aw.Prepare()), []
    for i, label in enumerate(y):
        asks.append(second.ask(X[i]))
        if asks[-1].query:
            second.tell(asks[-1].round, label)
    assert trace.prediction.tolist() == [ask.prediction for ask in asks]
    assert trace.margin.tolist() == [ask.margin for ask in asks]
    assert trace.queried.tolist() == [ask.query for ask in asks]
    assert (first.round, first.questions, first.updates) == (second.round, second.questions, second.updates)
    np.testing.assert_array_equal(first.margins(X), second.margins(X))
    assert trace.coin.tolist() == np.random.Generator(np.random.PCG64(3)).random(300).tolist()
    assert 0 < trace.updates <= trace.questions < 300
    assert trace.mistakes == np.count_nonzero(trace.prediction != y)


def test_a_budget_holds_for_the_questions():
    X, y = data(4000)
    made = aw.OneVsRest(CLASSES, seed=1)
    trace = made.run(X, y)
    assert 0.08 < trace.questions / 4000 < 0.12
    assert trace.mistakes / 4000 < 0.25
    found = accuracy(made)
    assert found.overall.low <= 1 - trace.mistakes / 4000 <= found.overall.high
    assert accuracy(trace).overall == found.overall


def test_it_goes_on_from_a_file_bit_for_bit(tmp_path):
    X, y = data(600)
    whole, half = aw.OneVsRest(CLASSES, seed=1), aw.OneVsRest(CLASSES, seed=1)
    expected = whole.run(X, y)
    half.run(X[:200], y[:200])
    half.save(tmp_path / "half")
    for again in (aw.OneVsRest.load(tmp_path / "half"), pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        found = again.run(X[200:], y[200:])
        np.testing.assert_array_equal(found.margin, expected.margin[200:])
        np.testing.assert_array_equal(found.queried, expected.queried[200:])
    again = aw.Sampler.load(tmp_path / "half")
    np.testing.assert_array_equal(again.run(X[200:], y[200:]).margin, expected.margin[200:])


def test_late_labels_and_forgotten_questions(tmp_path):
    X, y = data(20)
    made = sampler(aw.Always())
    asks = [made.ask(x) for x in X]
    made.save(tmp_path / "open")
    made = aw.OneVsRest.load(tmp_path / "open")
    assert made.pending == asks
    for ask, label in list(zip(asks, y, strict=True))[::-1]:
        made.tell(ask, label) if ask.round != 7 else made.forget(ask)
    assert made.pending == []
    assert accuracy(made).unanswered == 1
    with pytest.raises(aw.QuestionError, match="round 3 has no open question"):
        made.tell(3, "ant")


def test_a_label_that_one_class_refuses_is_learnt_by_none():
    made = aw.OneVsRest(CLASSES, aw.Winnow(1e290), aw.Always(), seed=1)
    made.tell(made.ask([3e9, -1e9]), "ant")
    before = made.margins(np.eye(2))
    ask = made.ask([9e9, 1e9])
    with pytest.raises(aw.InputError, match="^tell: the instance of round 1"):
        made.tell(ask, "cat")
    np.testing.assert_array_equal(made.margins(np.eye(2)), before)
    assert made.pending == [ask]


def test_a_silent_audit_is_not_learnt_from():
    X, y = data(200)
    made = sampler(aw.FixedRate(1e-9), audit=aw.Audit(0.5, learn=False))
    trace = made.run(X, y)
    assert trace.questions > 50
    assert trace.updates == made.updates == 0


def test_bad_input_is_refused_and_changes_nothing():
    X, y = data(50)

    def refused(sentence, call, *args, error=aw.InputError, **settings):
        with pytest.raises(error, match=sentence):
            call(*args, **settings)

    for classes in (["a"], ["a", "a"], "ab", [["a"], ["b"]], [None, 1], [1, "a"], [np.nan, 1.0], 7):
        refused("classes must be a list of at least two different strings or numbers", aw.OneVsRest, classes)
    assert aw.OneVsRest(np.array(["a", "b"], object)).classes == ["a", "b"]
    refused("does not learn 3 classes", aw.OneVsRest, CLASSES, aw.LeastSquares(regression=True), aw.FixedRate(0.5))
    refused("seed must be", aw.OneVsRest, CLASSES, seed=-1)
    made = sampler(aw.Always())
    refused("must hold finite numbers", made.ask, [np.nan, 1.0])
    ask = made.ask(X[0])  # of another dimension than the one that was refused
    refused("the label must be one of the classes 'ant', 'bee', 'cat', got 'dog'", made.tell, ask, "dog")
    made.tell(ask, "bee")
    before = made.margins(X)
    refused("row 9 of X must hold finite numbers", made.run, np.where(np.arange(50)[:, None] == 9, np.nan, X), y)
    refused("got 'dog'", made.run, X, np.where(np.arange(50) == 9, "dog", y))
    refused("y must hold 50 labels", made.run, X, y[:9])
    refused("5 features as before", made.run, X[:, :2], y)
    refused("5 columns as before", made.margins, X[:, :2])
    assert made.round == 1
    np.testing.assert_array_equal(made.margins(X), before)
    timed = sampler(aw.BudgetRule(per=10, count=2))
    refused("time must be given", timed.ask, X[0])
    refused("times must be given", timed.run, X, y)
    assert timed.run(X, y, times=np.arange(50)).questions <= 10
    refused("ask: time must not go back, got 7.0 after 49.0", timed.ask, X[0], time=7)
    refused("run: times must not go back", timed.run, X, y, times=np.arange(50))
    refused(
        "was asked by another sampler", made.tell, made.ask(X[0])._replace(margin=9.0), "ant", error=aw.QuestionError
    )
