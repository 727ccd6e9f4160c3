"""Refitted models beside a run and a comparison: the same rows, the same number of labels, nothing of the future."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.linear_model import LogisticRegression
from threadpoolctl import threadpool_limits

import askwhen as aw
from askwhen.contracts.kinds import Kinds, MixedRows
from askwhen.evaluate.comparison.model_rows import HeldRows, ModelRows
from askwhen.evaluate.comparison.refitted import RefittedModel, fitting, models_for, play_refitted
from askwhen.evaluate.comparison.refitted_runs import RefittedWork
from tests.reference.refitted import play

RNG = np.random.default_rng(3)
X = RNG.standard_normal((300, 3)) * [1.0, 50.0, 1.0] + [0.0, 1000.0, 0.0]
TWO = (X[:, 0] + 0.3 * RNG.standard_normal(300) > 0).astype(int)
THREE = np.digitize(X[:, 0] + 0.2 * RNG.standard_normal(300), [-0.6, 0.6])
NUMBERS = X[:, 0] - 0.02 * X[:, 1]
NAMES = [
    "logistic regression, refitted, labels at random",
    "logistic regression, refitted, labels by margin",
    "gradient boosting, refitted, labels at random",
    "gradient boosting, refitted, labels by margin",
]


def played(model, X, y, labels, seed=0, tick=None):
    with fitting():
        return play_refitted(model, ModelRows.of("test", X), y, labels, seed, tick)


@pytest.mark.parametrize(
    ("y", "kind", "by_margin"),
    [
        (TWO, "logistic", False),
        (TWO, "logistic", True),
        (THREE, "logistic", True),
        (TWO, "trees", True),
        (NUMBERS, "ridge", False),
        (NUMBERS, "trees", False),
    ],
    ids=["two-random", "two-margin", "three-margin", "trees-margin", "ridge", "trees-numbers"],
)
def test_a_play_is_its_naive_transcription(y, kind, by_margin):
    n = 90 if kind == "trees" else 140
    model = RefittedModel(kind != "trees", by_margin, y.dtype.kind == "f")
    found = played(model, X[:n], y[:n], 40, seed=7)
    prediction, asked, fits = play(X[:n], y[:n], 40, 7, kind, by_margin)
    assert np.flatnonzero(found.queried).tolist() == asked.tolist()
    np.testing.assert_allclose(found.prediction, prediction, rtol=1e-9)
    assert found.refits == fits > 10


@pytest.mark.parametrize("labels", [0, 1, 2, 7, 40, 299, 300, 1000])
@pytest.mark.parametrize("by_margin", [False, True])
def test_exactly_the_budget_is_asked_for(labels, by_margin):
    for y in (TWO, np.zeros(300, int)):
        found = played(RefittedModel(True, by_margin), X, y, labels, seed=labels)
        assert found.queried.sum() == min(labels, 300)
        assert (y.any() and labels > 1) == (found.refits > 0)


def test_equal_gaps_are_asked_about_at_random():
    """Instances that are all the same have equal gaps under every model: no part of the stream gets all labels."""
    found = played(RefittedModel(True, True), np.ones((1000, 2)), RNG.integers(0, 2, 1000), 200)
    assert all(20 <= found.queried[at : at + 250].sum() <= 80 for at in range(0, 1000, 250))


def test_no_row_sees_its_own_label_or_a_later_one():
    model = RefittedModel(True, True)
    before = played(model, X, TWO, 60)
    other_X, other_y = X.copy(), TWO.copy()
    other_X[200:], other_y[200:] = 1e3 * other_X[200:], 1 - other_y[200:]
    after = played(model, other_X, other_y, 60)
    np.testing.assert_array_equal(before.prediction[:200], after.prediction[:200])
    np.testing.assert_array_equal(before.queried[:200], after.queried[:200])


def test_models_start_with_the_same_labels_and_end_where_the_tick_raises():
    plays = [played(RefittedModel(True, by_margin), X, TWO, 40, seed=2).queried for by_margin in (False, True)]
    first = [np.flatnonzero(queried)[:10].tolist() for queried in plays]
    assert first[0] == first[1]
    heard = []

    def tick(t):
        heard.append(t)
        if t > 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        played(RefittedModel(True, False), X, TWO, 40, tick=tick)
    assert heard[0] == 0
    assert heard[-1] < 300


def test_instances_of_several_kinds_are_scaled_each_in_its_own_way():
    matrix = sp.csr_matrix([[1.0, 3.0, 4.0, 0.0, 2.0], [5.0, 0.0, 0.0, 6.0, 8.0], [3.0, 1.0, 0.0, 0.0, 0.0]])
    rows = ModelRows.of("test", MixedRows.of(matrix, Kinds(1, (2,), 2)))
    scaling = rows.scaling(2)
    words = rows.words_in([0, 1])
    expected = [[-1.0, 0.6, 0.8, 0.0, 1.0], [1.0, 0.0, 0.0, 0.6, 0.8], [0.0, 1.0, 0.0, 0.0, 0.0]]
    np.testing.assert_allclose(rows.linear(slice(0, 3), scaling, words).toarray(), expected)
    np.testing.assert_allclose(rows.trees([0, 2], rows.varying([0, 1, 2])), [[1.0, 0.6, 0.8], [3.0, 1.0, 0.0]])
    assert rows.varying([0, 1]).tolist() == [0, 1, 2]
    assert rows.trees([0, 0], rows.varying([0, 0])).tolist() == [[1.0], [1.0]]
    np.testing.assert_allclose(rows.taken([2, 0]).numbers, [[3.0], [1.0]])
    wide = ModelRows.of("test", sp.csr_matrix(([3.0, 4.0], ([0, 0], [2, 500])), (2, 600)))
    assert (wide.numbers.shape, wide.vectors.shape) == ((2, 0), (2, 0))
    np.testing.assert_allclose(wide.words[0, [2, 500]].toarray(), [[0.6, 0.8]])
    narrow = ModelRows.of("test", sp.csr_matrix(np.eye(4)))
    np.testing.assert_array_equal(narrow.numbers, np.eye(4))


def test_an_enormous_number_is_clipped():
    rows = ModelRows.of("test", np.array([[1.0], [2.0], [1e300], [-1e300]]))
    assert rows.scaling(2)(rows.numbers).ravel().tolist() == [-1.0, 1.0, 10.0, -10.0]
    assert np.isfinite(rows.scaling(4)(rows.numbers)).all()


def test_words_that_were_never_asked_about_change_nothing():
    texts = sp.random(200, 5000, 0.01, format="csr", random_state=1)
    y = (np.asarray(texts[:, :2500].sum(axis=1)).ravel() > np.asarray(texts[:, 2500:].sum(axis=1)).ravel()).astype(int)
    found = played(RefittedModel(True, False), texts, y, 50)
    asked = np.flatnonzero(found.queried)
    rows = ModelRows.of("test", texts)
    few, used = rows.words_in(asked), asked[:-1]
    with threadpool_limits(1):
        whole = LogisticRegression(C=10.0, max_iter=1000).fit(rows.words[used], y[used])
        part = LogisticRegression(C=10.0, max_iter=1000).fit(rows.words[used][:, few], y[used])
    np.testing.assert_allclose(whole.coef_[:, few], part.coef_, atol=1e-4)


def test_trees_ignore_features_that_do_not_vary():
    constant = np.hstack([np.zeros((90, 3)), X[:90], np.ones((90, 2))])
    found, alone = (played(RefittedModel(False, True), each, TWO[:90], 40) for each in (constant, X[:90]))
    np.testing.assert_array_equal(found.prediction, alone.prediction)
    np.testing.assert_array_equal(found.queried, alone.queried)


def test_gradient_boosting_is_left_out_where_it_does_not_suit():
    both = [RefittedModel(is_linear, by_margin) for is_linear in (True, False) for by_margin in (False, True)]
    assert models_for(ModelRows.of("test", X)) == (both, [])
    assert [model.name for model in both] == NAMES
    words = ModelRows.of("test", sp.csr_matrix((5, 600)))
    found, (why,) = models_for(words)
    assert found == both[:2]
    assert why == "Gradient boosting is left out: it takes numbers and vectors, and these rows have only words."
    wide = ModelRows.of("test", np.ones((5, 300)))
    assert models_for(wide)[0] == both
    found, (why,) = models_for(wide, 4)
    assert found == both[:2]
    assert why == "Gradient boosting is left out: refitting it would take too long with 300 features and 4 classes."
    mixed = ModelRows.of("test", MixedRows.of(sp.csr_matrix((5, 600)), Kinds(2, (), 598)))
    assert models_for(mixed) == (both, ["Gradient boosting is given the numbers and vectors only, and not the words."])
    numbers = models_for(ModelRows.of("test", X), regression=True)[0]
    assert [model.name for model in numbers] == [
        "ridge regression, refitted, labels at random",
        "gradient boosting, refitted, labels at random",
    ]


def test_held_chunks_know_the_kinds_of_the_first():
    held = HeldRows()
    matrix = MixedRows.of(sp.csr_matrix(np.arange(12.0).reshape(4, 3)), Kinds(1, (), 2))
    list(held.holding([(matrix[:1], [1]), (matrix[1:], [2, 3, 4])]))
    rows, y = held.all()
    assert rows.kinds == Kinds(1, (), 2)
    np.testing.assert_array_equal(rows.toarray(), matrix.toarray())
    assert y.tolist() == [1, 2, 3, 4]


def test_a_comparison_has_each_model_at_each_share_and_in_each_order():
    y = np.where(TWO == 1, 1, -1)
    heard = []
    found = aw.evaluate.compare(
        X[:150],
        y[:150],
        ["sel-p"],
        [0.1, 0.3],
        repeats=2,
        seed=4,
        shuffle=True,
        baselines=True,
        watch=lambda *word: heard.append(word),
    )
    assert [(cell.algorithm, cell.share) for cell in found.refitted] == [
        (n, part) for part in (0.1, 0.3) for n in NAMES
    ]
    assert [word[:2] for word in heard] == [(k, 22) for k in range(1, 23)]
    assert sum("refitted" in name for *_, name in heard) == 16
    assert found.left_out == []
    for cell in found.refitted:
        assert cell.asked.tolist() == [cell.share] * 2
        assert cell.accuracy == pytest.approx(cell.windows @ np.diff(found.rounds, prepend=0) / 150)
    order = np.random.default_rng([4, 1]).permutation(150)
    one = played(RefittedModel(True, True), X[order], TWO[order], 45, seed=5)
    cell = found.refitted[5]
    assert cell.accuracy[1] == (one.prediction == TWO[order]).mean()
    plain = aw.evaluate.compare(X[:150], y[:150], ["sel-p"], [0.1], repeats=1)
    assert plain.refitted == []
    assert plain.cells[0].refits is None


def test_a_comparison_of_classes_has_them_too():
    labels = np.array(["ant", "bee", "cat"])[THREE]
    classes = ["cat", "ant", "bee"]
    found = aw.evaluate.compare(
        X, labels, ["perceptron-ss"], [0.2], repeats=1, prepare=aw.Prepare(), classes=classes, baselines=True
    )
    codes = np.array([classes.index(label) for label in labels])
    assert (
        found.refitted[0].accuracy[0] == (played(RefittedModel(True, False), X, codes, 60).prediction == codes).mean()
    )
    assert found.refitted[0].mean > 0.6


def test_an_interrupt_ends_the_plays_of_a_comparison():
    class Interrupted:
        def all(self, work):
            self.work = work
            raise KeyboardInterrupt

    workers = Interrupted()
    made = aw.evaluate.comparison.plans.ComparisonWork(X, np.where(TWO, 1, -1), None, False, None, 0, {})
    otherwise = RefittedWork.of(made, [0.1], 1)
    with pytest.raises(KeyboardInterrupt):
        otherwise.play(workers)
    with pytest.raises(KeyboardInterrupt):
        workers.work[0][1]()


def test_a_run_has_models_with_as_many_labels_as_it_asked_for():
    y = np.where(TWO == 1, 1, -1)
    whole = aw.evaluate.progressive(aw.Sampler(seed=5), X, y, baselines=True)
    chunks = [(X[:100], y[:100]), (X[100:], y[100:])]
    assert aw.evaluate.progressive(aw.Sampler(seed=5), chunks, baselines=True).refitted == whole.refitted
    asked = int(whole.running.question_rate[-1] * 300 + 0.5)
    assert [(each.name, each.labels) for each in whole.refitted] == [(name, asked) for name in NAMES]
    one = played(RefittedModel(True, True), X, TWO, asked, seed=5)
    assert (whole.refitted[1].score, whole.refitted[1].refits) == ((one.prediction == TWO).mean(), one.refits)
    without = aw.evaluate.progressive(aw.Sampler(seed=5), X, y)
    assert without.refitted == []
    np.testing.assert_array_equal(without.counts, whole.counts)


def test_a_run_over_classes_or_numbers_has_models_too():
    labels = np.array(["ant", "bee", "cat"])[THREE]
    found = aw.evaluate.progressive(aw.Sampler(seed=5, classes="open"), X, labels, baselines=True)
    assert [each.name for each in found.refitted] == NAMES
    assert found.refitted[0].score > 0.6
    made = aw.Sampler(aw.LeastSquares(regression=True), aw.FixedRate(0.3), seed=1)
    found = aw.evaluate.progressive(made, X[:100], NUMBERS[:100], baselines=True)
    asked = int(found.running.question_rate[-1] * 100 + 0.5)
    one = played(RefittedModel(True, False, True), X[:100], NUMBERS[:100], asked, seed=1)
    assert found.refitted[0].score == ((one.prediction - NUMBERS[:100]) ** 2).mean()
    assert [each.labels for each in found.refitted] == [asked] * 2


def test_what_can_have_no_baselines_is_refused_before_a_row_is_played():
    y = np.where(TWO == 1, 1, -1)
    made = aw.Sampler(seed=5)
    made.run(X[:5], y[:5])
    seeded = aw.Sampler(seed=5)
    seeded.learn(X[:5], y[:5])
    for sampler in (made, seeded):
        with pytest.raises(aw.InputError, match="baselines= needs a sampler that has not learnt before"):
            aw.evaluate.progressive(sampler, X, y, baselines=True)
    with pytest.raises(aw.InputError, match="baselines= are compared by accuracy, and not by costs"):
        aw.evaluate.progressive(aw.Sampler(seed=5, costs=(1.0, 2.0)), X, y, baselines=True)
    several = aw.Sampler(seed=5)
    with pytest.raises(aw.InputError, match="baselines are for one task"):
        aw.evaluate.progressive(several, X, np.column_stack([y, y]), baselines=True)
    assert several.round == 0
    with pytest.raises(aw.InputError, match="baselines must be True or False"):
        aw.evaluate.compare(X, y, baselines=1)
