"""Several classes with any learner, compiled; classes that appear; drift guards; files of the first release."""

import copy
import gzip
import itertools
import json
import pathlib
import pickle

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.engine.round.each_class import EachState
from askwhen.engine.tally.class_tally import EXPECTED, RESIDUAL, UNSEEN
from askwhen.evaluate import accuracy
from askwhen.learners.auto_lasec_classes import AutoClassesState
from askwhen.weights.second_order_classes import SharedState
from askwhen.weights.second_order_dual_classes import SharedDualState
from tests.streams import every_sequence_of_coins

pytestmark = pytest.mark.xdist_group("several classes")  # they compile the same rounds
GOLDEN = pathlib.Path(__file__).parent / "golden"
LEARNERS = {
    "Perceptron": (aw.Perceptron(), EachState),
    "ShiftingPerceptron": (aw.ShiftingPerceptron(0.1), EachState),
    "PassiveAggressive1": (aw.PassiveAggressive1(1.0), EachState),
    "Lasec": (aw.Lasec(1.0, 50.0), EachState),
    "Gaussian": (aw.Perceptron(kernel=aw.Gaussian(0.5), budget=20), EachState),
    "Lasec dual": (aw.Lasec(1.0, 50.0, update="queried", form="dual"), SharedDualState),
    "Lasec Gaussian": (aw.Lasec(1.0, 50.0, update="queried", kernel=aw.Gaussian(0.5), budget=30), SharedDualState),
    "Lasec queried": (aw.Lasec(1.0, 50.0, update="queried"), SharedState),
    "LeastSquares": (aw.LeastSquares(), SharedState),
    "AutoLasec": (aw.AutoLasec(), AutoClassesState),
}
QUERIED = ["Lasec dual", "Lasec Gaussian", "Lasec queried", "LeastSquares", "AutoLasec"]


def data(n=400, k=4, seed=0, noise=0.3):
    rng = np.random.default_rng([seed, 5])
    X = rng.standard_normal((n, max(k, 4)))
    names = np.array([f"class {j}" for j in range(k)])
    return X, names[(X[:, :k] + noise * rng.standard_normal((n, k))).argmax(axis=1)]


def played(sampler, X, y, late=0):
    """What live rounds say, with answers that come so many questions late."""
    asks, waiting = [], []
    for i, label in enumerate(y):
        asks.append(sampler.ask(X[i]))
        if asks[-1].query:
            waiting.append((asks[-1], label))
        while len(waiting) > late:
            sampler.tell(*waiting.pop(0))
    return asks


@pytest.mark.parametrize("name", LEARNERS)
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("classes", ["known", "open"])
def test_live_rounds_are_those_of_a_run(name, form, classes):
    X, y = data()
    X, (learner, kind) = form(X), LEARNERS[name]
    known = sorted(set(y)) if classes == "known" else "open"

    def make():
        return aw.Sampler(learner, aw.BudgetRule(0.3), audit=aw.Audit(0.02), seed=3, classes=known)

    first, second = make(), make()
    trace, asks = first.run(X, y), played(second, X, y)
    assert isinstance(first.engine.learner, kind)
    assert trace.prediction.tolist() == [ask.prediction for ask in asks]
    assert trace.margin.tolist() == [ask.margin for ask in asks]
    assert trace.queried.tolist() == [ask.query for ask in asks]
    assert first.classes == second.classes
    assert set(first.classes) == set(y)
    assert (first.questions, first.updates) == (second.questions, second.updates)
    np.testing.assert_array_equal(first.margins(X), second.margins(X))
    assert accuracy(first) == accuracy(second)
    assert (trace.mistaken == (trace.prediction != y)).all()


@pytest.mark.parametrize("name", LEARNERS)
def test_a_file_goes_on_bit_for_bit_with_questions_open(name, tmp_path):
    X, y = data()
    known = sorted(set(y)) if name in QUERIED else "open"
    whole, half = (aw.Sampler(LEARNERS[name][0], aw.BudgetRule(0.3), seed=3, classes=known) for _ in range(2))
    for sampler in (whole, half):
        sampler.run(X[:150], y[:150])
        for x in X[150:170]:
            sampler.ask(x)
    half.save(tmp_path / "half")
    for again in (aw.Sampler.load(tmp_path / "half"), pickle.loads(pickle.dumps(half)), copy.deepcopy(half)):
        expected = copy.deepcopy(whole)
        for sampler in (expected, again):
            for ask in sampler.pending:
                sampler.tell(ask, y[ask.round])
        assert expected.run(X[170:], y[170:]).margin.tolist() == again.run(X[170:], y[170:]).margin.tolist()
        assert accuracy(expected) == accuracy(again)
        assert expected.classes == again.classes


@pytest.mark.parametrize("name", QUERIED)
@pytest.mark.parametrize(
    "rule", [aw.MarginRule(0.3), aw.BudgetRule(0.1), aw.FocusedRule(0.4)], ids=lambda rule: type(rule).__name__
)
def test_two_classes_are_two_labels_bit_for_bit(name, rule):
    X, y = data(1500, k=2)
    y = np.where(y == y[0], 1, -1)
    two, several = (aw.Sampler(LEARNERS[name][0], rule, seed=1, classes=each) for each in (None, [-1, 1]))
    expected, found = two.run(X, y), several.run(X, y)
    for what in ("queried", "prediction", "probability", "updated"):
        np.testing.assert_array_equal(getattr(found, what), getattr(expected, what))
    np.testing.assert_array_equal(found.margin, np.maximum(np.abs(expected.margin), 5e-324))
    np.testing.assert_allclose(
        several.margins(X)[:, 1], two.margins(X), rtol=0, atol=0 if name != "AutoLasec" else 1e-15
    )


@pytest.mark.parametrize("name", ["Lasec queried", "LeastSquares", "Lasec dual", "Lasec Gaussian"])
@pytest.mark.parametrize("k", [3, 10])
def test_a_shared_matrix_is_a_learner_for_each_class(name, k):
    X, y = data(800, k)
    learner, classes = LEARNERS[name][0], sorted(set(y))
    together = aw.Sampler(learner, aw.MarginRule(0.2), seed=2, classes=classes)
    trace = together.run(X, y)
    for j, label in enumerate(classes):
        alone = aw.Sampler(learner, aw.FixedRate(1e-9), seed=2)
        alone.run(X, np.where(y == label, 1, -1), volunteered=trace.queried)
        np.testing.assert_array_equal(together.margins(X)[:, j], alone.margins(X))


def test_skipped_margins_change_no_decision():
    X, y = data(1000, 5)
    every, needed = (aw.Sampler(aw.LeastSquares(), aw.MarginRule(0.05), seed=2, classes=sorted(set(y))) for _ in "ab")
    first, second = every.run(X, y), needed.run(X, y, margins=False)
    for what in ("prediction", "queried", "updated"):
        np.testing.assert_array_equal(getattr(first, what), getattr(second, what))
    assert np.isnan(second.margin).sum() > 50
    np.testing.assert_array_equal(every.margins(X), needed.margins(X))


@pytest.mark.parametrize("name", [*LEARNERS, "default"])
def test_opened_classes_have_learnt_what_those_known_from_the_start_have(name):
    X, y = data(600, 5)
    learner = None if name == "default" else LEARNERS[name][0]
    opened = aw.Sampler(learner, aw.FixedRate(0.3), seed=4, classes="open")
    trace = opened.run(X, y)
    order = [*opened.classes, *(f"never {j}" for j in range(11))]  # more than the told labels are features of
    known = aw.Sampler(learner, aw.FixedRate(0.3), seed=4, classes=order)
    other = known.run(X, y)
    assert trace.queried.tolist() == other.queried.tolist()
    np.testing.assert_allclose(opened.margins(X), known.margins(X)[:, :5], rtol=0, atol=1e-12)
    first = int(np.flatnonzero(trace.queried)[0])
    assert trace.prediction[: first + 1].tolist() == [None] * (first + 1)
    since = {label: int(np.flatnonzero(trace.queried & (y == label))[0]) for label in opened.classes}
    told = np.array([round_ > since.get(label, 600) for round_, label in enumerate(other.prediction)])
    assert told.mean() > 0.8  # in the other rounds a class that was never told leads, which is none to predict
    assert (trace.prediction == other.prediction)[told].all()
    np.testing.assert_allclose(trace.margin[told], other.margin[told], rtol=0, atol=1e-12)


def test_questions_about_what_may_be_a_new_class_come_first():
    rng = np.random.default_rng(0)
    X = np.eye(6)[rng.integers(0, 5, 400)] + 0.05 * rng.standard_normal((400, 6))
    y = np.array(list("abcdef"))[X.argmax(axis=1)]
    sampler = aw.Sampler(aw.LeastSquares(), aw.MarginRule(0.1), seed=0, classes="open")
    sampler.run(X, y)
    ask, usual = sampler.ask(np.eye(6)[5]), sampler.ask(np.eye(6)[0])
    assert ask.margin < 0.1 < 0.5 < usual.margin


def test_late_answers_open_classes_in_the_order_in_which_they_come(tmp_path):
    X, y = data(60, 4)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0, classes="open")
    asks = played(sampler, X[:8], y[:8], late=99)
    assert [ask.prediction for ask in asks] == [None] * 8
    with pytest.raises(aw.InputError, match="predict: nothing was learnt yet"):
        sampler.predict(X)
    sampler.save(tmp_path / "empty")
    sampler = aw.Sampler.load(tmp_path / "empty")
    order = []
    for ask in sampler.pending[::-1]:
        sampler.tell(ask, y[ask.round])
        order += [] if y[ask.round] in order else [y[ask.round]]
        assert sampler.classes == order
    assert set(sampler.predict(X)) <= set(order)
    assert sampler.probabilities(X).shape == (60, len(order))
    np.testing.assert_allclose(sampler.probabilities(X).sum(axis=1), 1.0)


def test_volunteered_labels_open_classes():
    X, y = data(300, 4)
    sampler = aw.Sampler(seed=0, classes="open")
    sampler.learn(X[:100], y[:100])
    assert set(sampler.classes) == set(y[:100])
    sampler.learn(X[0], "another")
    assert sampler.classes[-1] == "another"
    asked = sampler.run(X[100:], np.char.add(y[100:], "!"), volunteered=np.arange(200) < 50)
    assert set(np.char.add(y[100:150], "!")) <= set(sampler.classes)
    assert asked.rounds == 200


def test_free_text_is_refused_where_it_would_open_too_many_classes():
    X, _ = data(50)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0, classes="open", most_classes=5)
    words = [f"note {i}" for i in range(50)]
    with pytest.raises(aw.InputError, match="row 5 of X would open more than the 5 classes that are allowed"):
        sampler.run(X, words)
    assert (sampler.round, sampler.classes) == (0, [])
    with pytest.raises(aw.InputError, match="learn: .* more than the 5 classes"):
        sampler.learn(X, words)
    assert sampler.classes == []
    for x, word in zip(X[:5], words, strict=False):
        sampler.tell(sampler.ask(x), word)
    ask = sampler.ask(X[5])
    for bad, said in (
        (words[5], "would open more than the"),
        (3, "must be a string, as those before"),
        (None, "must be a string"),
    ):
        with pytest.raises(aw.InputError, match=said):
            sampler.tell(ask, bad)
    assert (sampler.classes, sampler.pending) == (words[:5], [ask])
    sampler.tell(ask, words[0])


def test_a_label_that_is_refused_opens_nothing():
    sampler = aw.Sampler(aw.Winnow(1e290), aw.Always(), seed=1, classes="open")
    sampler.tell(sampler.ask([3e9, -1e9]), "ant")
    ask, before = sampler.ask([9e9, 1e9]), sampler.margins(np.eye(2))
    with pytest.raises(aw.InputError, match="^tell: the instance of round 1"):
        sampler.tell(ask, "bee")
    assert (sampler.classes, sampler.pending) == (["ant"], [ask])
    np.testing.assert_array_equal(sampler.margins(np.eye(2)), before)


def test_who_is_taken_for_whom_is_unbiased_over_all_coin_sequences():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((6, 2)), np.array(list("abacbc"))
    mean, truth, total = np.zeros((3, 3)), np.zeros((3, 3)), 0.0

    def make():
        return aw.Sampler(aw.Perceptron(), aw.MarginRule(0.7, floor=0.2), seed=0, classes=list("abc"))

    for chance, made, predicted in every_sequence_of_coins(X, y, make):
        tally = made.class_tally()
        total += chance
        for (a, one), (b, other) in itertools.product(enumerate("abc"), repeat=2):
            sums = tally.sums[a]
            if a == b:
                found = sums[0] - sums[EXPECTED] - sums[RESIDUAL]
            else:
                found = tally.share * sums[EXPECTED] + sums[UNSEEN] + tally.seen[a, b, 1]
            mean[a, b] += chance * found
            truth[a, b] += chance * ((np.array(predicted) == one) & (y == other)).sum()
    assert total == pytest.approx(1.0)
    np.testing.assert_allclose(mean, truth, atol=1e-9)


@pytest.mark.parametrize("classes", ["known", "open"])
def test_the_confusion_matrix_covers_the_truth_and_its_rows_sum_to_one(classes):
    missed = of = 0
    for seed in range(8):
        X, y = data(2000, 3, seed, noise=0.6)
        sampler = aw.Sampler(seed=seed, classes=sorted(set(y)) if classes == "known" else "open")
        trace = sampler.run(X, y)
        found = accuracy(sampler).confusion
        for a, one in enumerate(sampler.classes):
            said = trace.prediction == one
            assert found[a][0].rounds == said.sum()
            for b, other in enumerate(sampler.classes):
                of += 1
                missed += not found[a][b].low <= (y[said] == other).mean() <= found[a][b].high
            if classes == "known":
                assert sum(cell.unbiased for cell in found[a]) == pytest.approx(1.0)
    assert missed <= 0.1 * of
    assert accuracy(aw.Sampler(seed=0)).confusion is None
    many = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0, classes=range(200))
    many.run(X, np.arange(2000) % 200)
    assert accuracy(many).confusion is None
    assert len(accuracy(many).classes) == 200


def test_open_classes_beyond_those_kept_by_pairs_still_have_precision_and_recall():
    X, _ = data(3000, 4)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0, classes="open", most_classes=300)
    trace = sampler.run(X, np.arange(3000) % 200)
    found = accuracy(sampler)
    assert found.confusion is None
    said = trace.prediction[200:]
    assert sum(each.predicted for each in found.classes.values()) == 3000 - (trace.prediction == None).sum()  # noqa: E711
    assert len(set(said)) > 20


def switching(n=6000, d=3):
    """Three classes told by single features, that change places in the middle."""
    rng = np.random.default_rng(0)
    X = np.eye(d)[rng.integers(0, d, n)]
    return X, (X.argmax(axis=1) + np.where(np.arange(n) < n // 2, 0, 1)) % 3


@pytest.mark.parametrize(
    "learner", [aw.LeastSquares(), aw.Lasec(1.0, 1e4), aw.AutoLasec()], ids=lambda each: type(each).__name__
)
@pytest.mark.parametrize("extra", [True, False])
def test_a_guard_finds_the_switch_of_several_classes(learner, extra, tmp_path):
    X, y = switching()
    guard = aw.SwitchDetector(window=200, spacing=2, delta=0.2, extra_queries=extra)

    def make():
        return aw.Sampler(learner, aw.FixedRate(0.5), guard, seed=3, classes=range(3))

    whole, live = make(), make()
    trace = whole.run(X, y)
    asks = played(live, X, y)
    assert trace.queried.tolist() == [ask.query for ask in asks]
    assert whole.switches == live.switches
    if isinstance(learner, aw.LeastSquares):  # the others follow, or learn from too few labels to be sure
        assert len(whole.switches) >= 1
    assert all(3000 <= number < 4500 for number in whole.switches)
    half = make()
    half.run(X[:3050], y[:3050])
    half.save(tmp_path / "half")
    again = aw.Sampler.load(tmp_path / "half")
    again.run(X[3050:], y[3050:])
    assert again.switches == whole.switches
    np.testing.assert_array_equal(again.margins(X), whole.margins(X))


@pytest.mark.parametrize("extra", [True, False])
def test_a_guard_of_two_classes_is_that_of_two_labels(extra):
    X, y = switching()
    y = np.where(y == 0, 1, -1)
    guard = aw.SwitchDetector(window=200, spacing=2, delta=0.2, extra_queries=extra)
    two, several = (
        aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.7), guard, seed=3, classes=each) for each in (None, [-1, 1])
    )
    expected, found = two.run(X, y), several.run(X, y)
    assert expected.switches.tolist() == found.switches.tolist() != []
    np.testing.assert_array_equal(expected.queried, found.queried)
    np.testing.assert_array_equal(expected.prediction, found.prediction)


def test_a_guard_must_know_the_classes():
    with pytest.raises(aw.InputError, match="SwitchDetector.* must know all classes from the start"):
        aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.7), aw.SwitchDetector(), classes="open")


@pytest.mark.parametrize("name", ["perceptron", "lasec", "gaussian", "auto"])
def test_files_of_the_first_release_go_on(name, tmp_path):
    path = tmp_path / "model.askwhen"
    path.write_bytes(gzip.decompress((GOLDEN / f"classes-{name}.askwhen.gz").read_bytes()))
    known = json.loads((GOLDEN / "classes.json").read_text())[name]
    X = np.random.default_rng(3).standard_normal((60, 3))
    y = np.array(list("abc"))[X.argmax(axis=1)]
    sampler = aw.OneVsRest.load(path)
    assert (sampler.round, sampler.questions) == (known["round"], known["questions"])
    assert [ask.round for ask in sampler.pending] == known["pending"] != []
    if name != "auto":  # there all classes have one mixture now
        np.testing.assert_allclose(sampler.margins(X)[:5], np.array(known["margins"]), rtol=0, atol=1e-14)
    for ask in sampler.pending:
        sampler.tell(ask, y[ask.round])
    sampler.run(X[50:], y[50:])
    sampler.save(path)
    np.testing.assert_array_equal(aw.Sampler.load(path).margins(X), sampler.margins(X))
    assert (sampler.predict(X) == y).mean() > 0.6


def test_labels_that_are_none_are_refused_with_their_row():
    X, y = data(6, 3)
    known = ["class 0", "class 1", "class 2"]

    def refused(sentence, labels, **settings):
        sampler = aw.Sampler(aw.Perceptron(), seed=1, **settings)
        for call in (sampler.run, sampler.learn):
            with pytest.raises(aw.InputError, match=sentence):
                call(X, labels)
        assert (sampler.round, sampler.volunteered) == (0, 0)

    odd = y.astype(object)
    odd[3] = None
    refused("got None in row 3", odd, classes=known)
    refused("a string, as those before, got None in row 3", odd, classes="open")
    odd[3] = np.nan
    refused("got nan in row 3", odd, classes=known)
    refused("got nan in row 3", odd, classes="open")
    odd[3] = 5
    refused("as those before, got 5 in row 3", odd, classes="open")
    odd[3] = "x" * 1000
    refused("at most 200 characters, and no NUL character, got 'xxx.*in row 3", odd, classes="open")
    odd[3] = "a\0"
    refused("no NUL character", odd, classes="open")
    refused("got a masked one; fill it first", np.ma.array(np.ones(6), mask=np.arange(6) == 2), classes=[1, 2])
    for classes in ({"a", "b"}, ["a", 1], ["a\0", "a"]):
        with pytest.raises(aw.InputError, match="a list of at least two different strings or numbers, not both"):
            aw.Sampler(classes=classes)
    for learner in (aw.Mixture(classes=3, multi=True),):
        with pytest.raises(aw.InputError, match="is for several labels at once; use MultiLabel"):
            aw.Sampler(learner, classes=known)
    with pytest.raises(aw.InputError, match="multi needs classes from 2 to 52"):
        aw.Mixture(multi=True)


def test_two_samplers_side_by_side_open_classes_as_they_are_told(tmp_path):
    X, y = data(200, 3)
    pair = aw.SideBySide(
        *(aw.Sampler(aw.Perceptron(), aw.BudgetRule(rate), seed=1, classes="open") for rate in (0.2, 0.5))
    )
    for i, x in enumerate(X):
        ask = pair.ask(x)
        if ask.query and i % 3:
            pair.tell(ask, y[i])
    pair.save(tmp_path / "pair")
    again = aw.SideBySide.load(tmp_path / "pair")
    assert set(pair.b.classes) == set(y)
    for ask in again.pending:
        again.tell(ask, y[ask.round])
    assert again.pending == []


def test_what_a_learner_of_each_class_keeps_is_told():
    X, y = data(60, 3)
    sampler = aw.Sampler(aw.Perceptron(kernel=aw.Gaussian(1.0)), seed=1, classes=sorted(set(y)))
    sampler.run(X, y)
    assert sampler.form == "dual"
    with pytest.raises(aw.InputError, match="support is not available with several classes"):
        _ = sampler.support
    assert np.isnan(accuracy(sampler).precision.value)


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix], ids=["dense", "csr"])
@pytest.mark.parametrize("classes", ["open", ["class 0", "class 1", "class 2"]])
def test_late_answers_find_room_for_what_is_kept(form, classes):
    X, y = data(60, 3)
    late, early = (aw.Sampler(aw.BudgetPerceptron(40), aw.BudgetRule(1.0), seed=3, classes=classes) for _ in range(2))
    X = form(X)
    played(late, X, y, late=60)
    for round, label in enumerate(y):  # none of them had room when the last instance came
        late.tell(round, label)
    played(early, X, y)
    assert late.pending == []
    assert late.updates > 0
    assert late.classes == early.classes
