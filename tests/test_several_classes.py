"""Several classes over one matrix: as two labels where there are two, as k learners where there are more."""

import copy
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.evaluate import accuracy
from tests.reference import several as reference
from tests.table import ROWS

pytestmark = pytest.mark.xdist_group(ROWS["default"].group)
CLASSES = ["ant", "bee", "cat"]


def stream(n=400, d=4, k=3, seed=0):
    rng = np.random.default_rng([seed, 11])
    X = rng.standard_normal((n, d))
    targets = rng.standard_normal((2, d, k))
    y = np.array([(x @ targets[i * 2 // n]).argmax() for i, x in enumerate(X)])
    return X, np.array((CLASSES + [f"c{j}" for j in range(3, k)])[:k])[y]


def wide(n=300, d=900, seed=0):
    rng = np.random.default_rng([seed, 12])
    X = sp.random(n, d, 0.02, "csr", rng=rng)
    return X, np.array(CLASSES)[(X @ rng.standard_normal((d, 3))).argmax(axis=1)]


def build(k=3, rate=0.3, **more):
    return aw.Sampler(rule=aw.BudgetRule(rate), seed=5, classes=(CLASSES + [f"c{j}" for j in range(3, k)])[:k], **more)


@pytest.mark.parametrize("data", [stream, wide])
def test_two_classes_are_two_labels(data):
    """The same questions, predictions, chances and weights of experts; margins differ in their sign."""
    X, y = data()
    y = np.where(y == "ant", 1, -1)
    two, several = aw.Sampler(seed=3), aw.Sampler(seed=3, classes=[-1, 1])
    expected, found = two.run(X, y), several.run(X, y)
    np.testing.assert_array_equal(found.queried, expected.queried)
    np.testing.assert_array_equal(found.prediction, expected.prediction)
    np.testing.assert_allclose(found.probability, expected.probability, rtol=1e-9)
    np.testing.assert_allclose(found.margin, np.abs(expected.margin), rtol=1e-9, atol=1e-300)
    np.testing.assert_allclose(found.drift_weights, expected.drift_weights, rtol=1e-9)
    np.testing.assert_allclose(several.margins(X)[:, 1], two.margins(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_one_matrix_is_k_learners_with_explicit_inverses(k):
    X, y = stream(120, d=3, k=k)
    sampler = build(k)
    trace = sampler.run(X, y)
    found = reference.play(sampler.classes, X, y, trace.queried, seed=5)
    np.testing.assert_allclose(trace.margin, found.gap, rtol=2e-3, atol=2e-4)
    sure = found.gap > 1e-3
    assert sure.mean() > 0.8
    np.testing.assert_array_equal(trace.prediction[sure], found.prediction[sure])
    np.testing.assert_allclose(trace.drift_weights, found.weights, rtol=2e-2, atol=1e-4)


@pytest.mark.parametrize("data", [stream, wide])
def test_asking_telling_running_loading_and_copying_are_the_same(data, tmp_path):
    X, y = data()
    whole, live = build(), build()
    trace = whole.run(X, y)
    asks = []
    for i in range(X.shape[0]):
        asks.append(live.ask(X[i]))
        if asks[-1].query:
            live.tell(asks[-1], y[i])
        if i == 150:
            live.save(tmp_path / "half")
            live = pickle.loads(pickle.dumps(copy.deepcopy(aw.Sampler.load(tmp_path / "half"))))
            assert live.classes == CLASSES
    np.testing.assert_array_equal([ask.margin for ask in asks], trace.margin)
    np.testing.assert_array_equal([ask.prediction for ask in asks], trace.prediction)
    np.testing.assert_array_equal([ask.query for ask in asks], trace.queried)
    np.testing.assert_array_equal(live.margins(X), whole.margins(X))
    assert accuracy(live) == accuracy(whole)
    assert accuracy(trace).overall == accuracy(whole).overall
    np.testing.assert_array_equal(trace.mistaken, trace.prediction != y)
    np.testing.assert_array_equal(whole.predict(X), np.array(CLASSES)[whole.margins(X).argmax(axis=1)])


def test_narrow_csr_is_dense_with_the_same_bits():
    X, y = stream()
    X = np.where(np.abs(X) < 0.5, 0.0, X)
    dense, sparse = build().run(X, y), build().run(sp.csr_matrix(X), y)
    np.testing.assert_array_equal(dense.margin, sparse.margin)
    np.testing.assert_array_equal(dense.queried, sparse.queried)


def test_late_and_forgotten_labels_and_questions_that_survive_a_file(tmp_path):
    X, y = stream(200)
    sampler = build(rate=0.5)
    asks = [sampler.ask(x) for x in X]
    waiting = accuracy(sampler)
    assert waiting.unanswered == len(sampler.pending) == sampler.questions
    sampler.save(tmp_path / "m")
    sampler = aw.Sampler.load(tmp_path / "m")
    for ask in reversed(sampler.pending):
        if ask.round % 5:
            sampler.tell(ask, y[ask.round])
        else:
            sampler.forget(ask)
    told = accuracy(sampler)
    assert told.overall.low > waiting.overall.low
    assert set(told.classes) == set(CLASSES)
    assert all(ask.prediction in CLASSES for ask in asks)


def test_what_is_learnt_predicts_and_probabilities_say_how_likely():
    X, y = stream(3000)
    sampler = build(rate=0.2)
    trace = sampler.run(X, y)
    assert trace.mistakes / 3000 < 0.25
    assert trace.questions <= 0.2 * 3000 + 0.2 * 520 + 15
    shares = sampler.probabilities(X[-500:])
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares.argmax(axis=1) == sampler.margins(X[-500:]).argmax(axis=1)).all()
    found = accuracy(sampler)
    assert found.overall.low <= 1 - trace.mistakes / 3000 <= found.overall.high


def test_volunteered_labels_teach_classes():
    X, y = stream(300)
    sampler = build()
    sampler.learn(X[:150], y[:150])
    assert (sampler.round, sampler.volunteered) == (0, 150)
    assert (sampler.predict(X[:150]) == y[:150]).mean() > 0.8


def test_audits_budgets_by_time_and_every_rule_serve_classes():
    X, y = stream(400)
    audited = aw.Sampler(rule=aw.BudgetRule(0.1), audit=aw.Audit(0.05), seed=1, classes=CLASSES).run(X, y)
    assert (audited.probability >= 0.05).all()
    timed = aw.Sampler(rule=aw.BudgetRule(per=100, count=10), seed=1, classes=CLASSES)
    assert timed.run(X, y, times=np.arange(400.0)).questions <= 40
    for rule in (aw.Always(), aw.FixedRate(0.2), aw.MarginRule(0.1), aw.FocusedRule(0.2), aw.BBQRule(0.3)):
        assert aw.Sampler(rule=rule, seed=1, classes=CLASSES).run(X, y, margins=False).rounds == 400


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"classes": ["a"]}, "at least two different"),
        ({"classes": ["a", "a"]}, "at least two different"),
        ({"classes": "ab"}, "at least two different"),
        ({"classes": CLASSES, "learner": aw.Mixture()}, "is for two labels; leave it out, or use Mixture.classes=3."),
        ({"classes": CLASSES, "learner": aw.Mixture(classes=2)}, "does not learn 3 classes"),
        ({"classes": CLASSES, "learner": aw.Mixture(True)}, "does not learn 3 classes"),
        ({"classes": CLASSES, "regression": True}, "cannot be combined with regression"),
        ({"classes": CLASSES, "costs": (1, 2)}, "cannot be combined with costs"),
        ({"classes": "open", "most_classes": 2}, "most_classes must be a whole number from 3 to 1,000, got 2"),
        ({"classes": range(1001)}, "there must be 2 to 1,000 classes"),
    ],
)
def test_what_does_not_go_together_is_said(more, said):
    with pytest.raises(aw.InputError, match=said):
        aw.Sampler(**more)


def test_a_wrong_label_is_refused_and_nothing_changes():
    X, y = stream(50)
    sampler = build()
    sampler.run(X, y)
    before = sampler.margins(X)
    ask = next(ask for ask in map(sampler.ask, np.tile(X, (5, 1))) if ask.query)
    for wrong in ("dog", 3, None, ["ant"]):
        with pytest.raises(aw.InputError, match="must be one of the classes 'ant', 'bee', 'cat'"):
            sampler.tell(ask, wrong)
    with pytest.raises(aw.InputError, match="got 'dog'"):
        sampler.run(X, np.where(y == "ant", "dog", y))
    with pytest.raises(aw.InputError, match="tasks are for two labels"):
        sampler.run_tasks(X, np.column_stack([y, y]))
    with pytest.raises(aw.InputError, match="holdout and before"):
        aw.evaluate.progressive(sampler, X, y, holdout=(X, y))
    assert np.isfinite(before).all()
    sampler.tell(ask, "bee")


def test_forged_files_are_refused(tmp_path):
    from askwhen.snapshot import file_format

    X, y = stream(60)
    sampler = build()
    sampler.run(X, y)
    sampler.save(tmp_path / "m")
    header, arrays = file_format.read(tmp_path / "m")
    for change in (
        lambda h, a: h.update(classes=["a", "b"]),
        lambda h, a: h.pop("classes"),
        lambda h, a: a["learner.best"].__setitem__(0, 7),
        lambda h, a: a.pop("classes.cells"),
        lambda h, a: a["classes.sums"].__setitem__((0, 0), -1.0),
        lambda h, a: a["learner.told"].__setitem__((0, 0), 1e9),
    ):
        forged, parts = copy.deepcopy(header), {name: array.copy() for name, array in arrays.items()}
        change(forged, parts)
        file_format.write(tmp_path / "forged", forged, parts)
        with pytest.raises(aw.SnapshotError):
            aw.Sampler.load(tmp_path / "forged")


def test_progress_counts_classes_by_window_beside_baselines_and_confusion():
    X, y = stream(1000)
    sampler = build(rate=0.2)
    progress = aw.evaluate.progressive(sampler, [(X[:300], y[:300]), (X[300:], y[300:])], window=250, everything=True)
    alone = build(rate=0.2).run(X, y)
    assert progress.error == alone.mistakes / 1000
    np.testing.assert_allclose(progress.windows.accuracy, 1 - alone.mistaken.reshape(4, 250).mean(axis=1))
    expected = [[(alone.prediction[y == label] == said).sum() for said in CLASSES] for label in CLASSES]
    np.testing.assert_array_equal(progress.confusion, expected)
    assert progress.classes == CLASSES
    assert np.isnan(progress.running.f_measure).all()
    assert progress.estimate.overall == accuracy(sampler).overall
    assert progress.estimate.classes == accuracy(sampler).classes
    counts, right = np.zeros(3, int), 0
    for label in y:
        right += CLASSES[counts.argmax()] == label
        counts[CLASSES.index(label)] += 1
    assert progress.baselines["majority so far"] == right / 1000
    assert progress.baselines["all labels"] > progress.baselines["majority so far"]
    assert "3 classes" in str(progress)
    assert progress.order_warning is None
    in_blocks = aw.evaluate.progressive(build(rate=0.2), X[np.argsort(y)], np.sort(y))
    assert "sorted or in blocks" in in_blocks.order_warning
