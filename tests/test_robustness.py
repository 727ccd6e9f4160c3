"""What a hostile or hurried user does: odd shapes, corrupt matrices, threads, interrupts, copies, forged files."""

import contextlib
import copy
import pickle
import signal
import sys
import threading
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.engine import batch_run, compiled_session
from askwhen.engine.state_arrays import copy_state
from askwhen.snapshot import file_format
from askwhen.weights import choose_form
from askwhen.weights.choose_form import takes_dual_form
from askwhen.weights.expansion import Expansion
from tests.streams import STREAMS, switching_sphere
from tests.table import ROWS


def perceptron():
    return aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=0)


@pytest.mark.parametrize("first", [None, sp.csr_matrix(np.ones((1, 4))), np.ones(4)], ids=["fresh", "sparse", "dense"])
def test_a_number_is_no_instance(first):
    sampler = perceptron()
    if first is not None:
        sampler.ask(first)
    with pytest.raises(aw.InputError, match="one instance with at least one feature"):
        sampler.ask(np.array(3.0))


def corrupt(make, **changes):
    matrix = make(np.ones((4, 3)))
    for name, (place, value) in changes.items():
        array = getattr(matrix, name).copy()
        array[place] = value
        setattr(matrix, name, array)
    return matrix


@pytest.mark.parametrize(
    "matrix",
    [
        corrupt(sp.csr_matrix, indices=(2, 3)),
        corrupt(sp.csr_matrix, indices=(2, 10**9)),
        corrupt(sp.csr_matrix, indptr=(2, 10**8)),
        corrupt(sp.csc_matrix, indices=(2, 10**9)),
        corrupt(sp.csc_matrix, indptr=(1, 10**8)),
        corrupt(sp.coo_matrix, row=(2, 10**9)),
        corrupt(sp.coo_matrix, col=(2, -7)),
        corrupt(sp.bsr_matrix, indices=(0, 10**9)),
    ],
)
@pytest.mark.parametrize("dense", [True, False])
def test_corrupt_sparse_matrices_are_refused_before_anything_follows_them(matrix, dense):
    sampler = perceptron()
    if dense:
        sampler.run(np.ones((2, 3)), [1, -1])
    before = sampler.round
    for call in (sampler.run, lambda X, _: sampler.margins(X)):
        with pytest.raises(aw.InputError):
            call(matrix, [1] * 4)
    assert sampler.round == before


def test_threads_take_turns():
    X, y = STREAMS["sparse"](1, n=400)
    X = sp.csr_matrix(X)
    sampler = aw.Sampler(aw.BudgetPerceptron(3), aw.Always(), seed=0)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work():
        for i in range(20):
            sampler.run(X, y, trace=False)
            sampler.tell(sampler.ask(X[i]), 1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)
    assert sampler.round == 4 * 20 * 401
    instances, coefficients = sampler.support
    np.testing.assert_allclose(sampler.weights, instances.T @ coefficients, atol=1e-9)


@pytest.mark.parametrize("scale", [1e3, 1e6, 1e8, 1e20])
def test_a_budget_forgets_large_instances_without_a_trace(scale):
    """Against the exact sum over what is kept, where that is not itself a cancellation."""
    rng = np.random.default_rng(1)
    sampler = aw.Sampler(aw.BudgetPerceptron(3), aw.Always(), seed=0)
    for t in range(300):
        x = rng.standard_normal(2) * (scale if t % 7 == 0 else 1.0)
        ask = sampler.ask(x)
        instances, coefficients = sampler.support
        products = [Fraction(c) * Fraction(a) * Fraction(b) for z, c in zip(instances, coefficients, strict=True)
                    for a, b in zip(z, x, strict=True)]  # fmt: skip
        exact, size = float(sum(products)), float(sum(abs(product) for product in products))
        assert ask.margin == pytest.approx(exact, abs=1e-13 * size)
        sampler.tell(ask, rng.choice([-1, 1]))


@pytest.mark.parametrize("learner", [aw.PassiveAggressive(), aw.PassiveAggressive2(1.0), aw.ModifiedPerceptron()])
def test_instances_too_small_to_have_a_direction_count_as_zero(learner):
    trace = aw.Sampler(learner, aw.Always(), seed=0).run([[1e-160, 0.0], [1e-160, 1.0], [1.0, 1.0]], [1, -1, 1])
    assert np.isfinite(trace.margin).all()
    assert trace.updated.tolist()[0] is False


def test_a_label_that_would_overflow_is_refused():
    sampler = aw.Sampler(aw.LeastSquares(regression=True), aw.Always(), seed=0)
    for wrong in (1.7e308, 10**400, -1e101):
        with pytest.raises(aw.InputError, match="between -1e.100 and 1e.100"):
            sampler.tell(sampler.ask([1.0, 0.0]), wrong)
    with pytest.raises(aw.InputError, match="got 1e.150 in row 1"):
        sampler.run(np.ones((2, 2)), [1.0, 1e150])


def test_an_interrupt_while_the_first_instance_compiles_leaves_the_sampler_as_it_was(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    sampler = perceptron()
    for module in (compiled_session, batch_run):
        monkeypatch.setattr(module, "entry_point", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sampler.ask(np.ones(3))
    with pytest.raises(KeyboardInterrupt):
        sampler.run(np.ones((2, 3)), [1, 1])
    monkeypatch.undo()
    assert sampler.form == "unknown"
    assert sampler.ask(np.ones(5)).round == 0


def test_rounds_play_on_the_states_as_they_are_and_never_on_replaced_ones():
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    X = np.random.default_rng(0).standard_normal((40, 3))
    for x in X[:20]:
        sampler.tell(sampler.ask(x), 1.0 if x[0] > 0 else -1.0)
    engine, before = sampler._engine, sampler._engine.learner
    engine.learner, weights = copy_state(before), before.w.copy()
    for x in X[20:]:
        sampler.tell(sampler.ask(x), -1.0 if x[0] > 0 else 1.0)
    assert (before.w == weights).all()
    assert (sampler.weights != weights).any()


def test_a_late_label_is_the_first_thing_that_a_copy_learns():
    sampler = perceptron()
    ask = sampler.ask(np.ones(3))
    copied = copy.deepcopy(sampler)
    copied.tell(ask, 1.0)
    sampler.tell(ask, 1.0)
    assert (copied.weights == sampler.weights).all()
    assert copied.updates == 1


@pytest.mark.parametrize("learner", [aw.Lasec(1.0, 300.0, form="primal"), aw.AutoLasec(form="primal")])
@pytest.mark.parametrize("make", [aw.Sampler, lambda *parts, seed: aw.OneVsRest(["a", "b"], *parts, seed=seed)])
def test_matrices_that_do_not_fit_are_refused_before_they_are_made(learner, make):
    sampler = make(learner, aw.MarginRule(0.1), seed=0)
    with pytest.raises(aw.InputError, match=r"matrices take .* GiB, .* there is memory for .*form='dual'"):
        sampler.ask(np.zeros(3 * 10**6))
    assert sampler.ask(np.zeros(2)).round == 0


@pytest.mark.parametrize(("learner", "most"), [(aw.Lasec(1.0, 300.0), 11_585), (aw.AutoLasec(), 4_729)])
def test_dense_instances_whose_matrices_are_too_large_are_learnt_in_dual_form(learner, most):
    assert takes_dual_form(learner, most + 1, sparse=False)
    assert not takes_dual_form(learner, most, sparse=False)
    X, y = STREAMS["noisy"](0, n=12, d=20_000)
    sampler = aw.Sampler(learner, aw.Always(), seed=0)
    sampler.run(X / 200.0, y)
    assert sampler.form == "dual"
    assert sampler.updates > 0


def test_many_classes_take_the_dual_form_where_all_their_matrices_are_too_large():
    X, y = STREAMS["noisy"](0, n=12, d=2_000)
    sampler = aw.OneVsRest([-1.0, 1.0, *range(2, 40)], aw.Lasec(1.0, 300.0), aw.Always(), seed=0)
    sampler.run(X / 50.0, y)
    assert isinstance(sampler.engine.learner.learners[0].w, Expansion)
    assert sampler.learner == aw.Lasec(1.0, 300.0)
    sampler.save("model")
    again = aw.OneVsRest.load("model")
    np.testing.assert_array_equal(sampler.margins(X), again.margins(X))


def test_a_snapshot_in_primal_form_is_loaded_as_one_whatever_the_form_would_be_now(monkeypatch):
    X, y = STREAMS["noisy"](0, n=30)
    sampler = aw.Sampler(aw.Lasec(1.0, 300.0), aw.Always(), seed=0)
    sampler.run(X, y)
    sampler.save("model")
    monkeypatch.setattr(choose_form, "LARGEST_MATRICES", 100)
    again = aw.Sampler.load("model")
    assert aw.Sampler(aw.Lasec(1.0, 300.0), aw.Always()).run(X, y).rounds == 30
    assert again.form == "primal"
    again.save("again")
    assert aw.Sampler.load("again").margins(X).tobytes() == sampler.margins(X).tobytes()


def test_a_switch_restarts_the_learner_before_anything_else_uses_it():
    X, y = switching_sphere(2, n=1000, d=2, at=500)
    letters = {"kappa": 0.9, "L0": 100, "K": 2, "delta": 0.9}
    for name in ("BBQ-SWITCH", "BBQ-SWITCH-FREE"):
        switch = int(aw.paper(name, seed=0, **letters).run(X, y).switches[0])
        sampler, live = aw.paper(name, seed=0, **letters), aw.paper(name, seed=0, **letters)
        sampler.run(X[: switch + 1], y[: switch + 1])
        for x, label in zip(X[: switch + 1], y, strict=False):
            ask = live.ask(x)
            if ask.query:
                live.tell(ask, label)
        assert sampler.switches == live.switches == [switch]
        np.testing.assert_array_equal([0.0, 0.0], sampler.weights)
        np.testing.assert_array_equal([0.0, 0.0], live.weights)


def test_a_margin_that_underflows_keeps_its_sign():
    X = np.array([[1.0, 0.0], [1e-323, 10.0]])
    sampler, live = (aw.Sampler(aw.SecondOrderPerceptron(1.0), aw.Always(), seed=0) for _ in range(2))
    trace = sampler.run(X, [1, 1])
    asks = []
    for x in X:
        asks.append(live.ask(x))
        live.tell(asks[-1], 1)
    assert trace.prediction.tolist() == [ask.prediction for ask in asks] == [-1, 1]
    np.testing.assert_array_equal(sampler.weights, live.weights)
    assert sampler.predict(X[1:]).tolist() == [1]


@pytest.mark.parametrize("name", ["LASEC-SS", "RBP", "pa-1, gaussian", "BBQ-SWITCH-FREE"])
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda s: pickle.loads(pickle.dumps(s))])
def test_copies_share_nothing_and_go_on_with_the_same_bits(name, duplicate):
    X, y = STREAMS["noisy"](0)
    fresh = duplicate(ROWS[name].build(3))
    sampler = ROWS[name].build(3)
    np.testing.assert_array_equal(sampler.run(X[:100], y[:100]).margin, fresh.run(X[:100], y[:100]).margin)
    sampler.ask(X[0])
    twin = duplicate(sampler)
    assert twin.pending == sampler.pending
    first = twin.run(X[100:], y[100:])
    second = sampler.run(X[100:], y[100:])
    np.testing.assert_array_equal(first.margin, second.margin)


def forged(path, change):
    header, arrays = file_format.read(path)
    change(header, arrays)
    file_format.write(path, header, arrays)


@pytest.mark.parametrize(
    "change",
    [
        lambda header, arrays: arrays["learner.w.counts"].__setitem__(0, -(10**10)),
        lambda header, arrays: arrays["learner.w.counts"].__setitem__(0, 10**10),
        lambda header, arrays: arrays["learner.w.slots"].__setitem__(0, 10**10),
        lambda header, arrays: arrays["learner.w.store.bounds"].__setitem__((0, 1), 10**10),
        lambda header, arrays: arrays["learner.w.store.indices"].__setitem__(0, 10**9),
        lambda header, arrays: arrays["learner.w.draws"].__setitem__(slice(None), 5.0),
        lambda header, arrays: arrays.update({"pending.values": np.ones((3, 3))}),
        lambda header, arrays: arrays["pending.values"].__setitem__(0, np.nan),
        lambda header, arrays: arrays.update({"pending.indices": np.array([-1], np.int64)}),
        lambda header, arrays: header.update(round="x"),
        lambda header, arrays: header.update(round=0),
        lambda header, arrays: header.update(questions=None),
        lambda header, arrays: header.update(switches=None),
        lambda header, arrays: header.update(d=10**12),
    ],
)
def test_forged_snapshots_are_refused(change, tmp_path):
    X, y = STREAMS["sparse"](0)
    sampler = aw.Sampler(aw.BudgetPerceptron(5), aw.Always(), seed=0)
    sampler.run(sp.csr_matrix(X), y)
    sampler.ask(sp.csr_matrix(np.ones((1, 12))))
    sampler.save(tmp_path / "model")
    assert aw.Sampler.load(tmp_path / "model").round == 241
    forged(tmp_path / "model", change)
    with pytest.raises(aw.SnapshotError):
        aw.Sampler.load(tmp_path / "model")


def test_saving_through_a_link_keeps_the_link(tmp_path):
    perceptron().save(tmp_path / "real")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    sampler = perceptron()
    sampler.ask([1.0])
    sampler.save(tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert aw.Sampler.load(tmp_path / "real").round == 1


def test_odd_numbers_and_odd_names_get_a_sentence(tmp_path):
    for make in (lambda: aw.MarginRule(10**400), lambda: aw.Lasec(1, 10**400), lambda: aw.SwitchDetector(10**20)):
        with pytest.raises(aw.InputError):
            make()
    sampler = aw.Sampler(aw.Perceptron(), aw.MarginRule(Fraction(1, 2)), seed=0)
    sampler.save(tmp_path / "model")
    assert aw.Sampler.load(tmp_path / "model").rule == aw.MarginRule(0.5)
    for call in (sampler.save, aw.Sampler.load):
        with pytest.raises(aw.SnapshotError, match="path must be the name of a file"):
            call(None)
    for flags in ({"margins": "no"}, {"trace": 1}):
        with pytest.raises(aw.InputError, match="must be True or False"):
            sampler.run([[1.0]], [1], **flags)
    with pytest.raises(aw.InputError, match="paper: SEL-P: MarginRule: scale must be"):
        aw.paper("sel-p", b=-1)


def test_the_window_of_a_huge_detector_never_comes():
    detector = aw.SwitchDetector(2**31 - 1, 2**31 - 1)
    sampler = aw.Sampler(aw.LeastSquares(), aw.FixedRate(0.0), detector, seed=0)
    assert sampler.run(np.ones((50, 2)), [1] * 50).questions == 0


def odd_rows(d):
    """The same row of a CSR matrix in every form that scipy allows, and some that it should not."""
    data, indices = np.array([1.0, -2.0, 0.5]), np.array([1, 4, 6], np.int32)
    plain = sp.csr_matrix((data, indices, [0, 3]), (1, d))
    mixed = sp.csr_matrix((data[[2, 0, 1]], indices[[2, 0, 1]], [0, 3]), (1, d))
    twice = sp.csr_matrix((np.array([0.5, 0.5, -2.0, 0.5]), np.array([1, 1, 4, 6], np.int32), [0, 4]), (1, d))
    longer = sp.csr_matrix((1, d))
    longer.data, longer.indices, longer.indptr = np.append(data, 9.0), np.append(indices, 7), np.array([0, 3])
    wide = plain.copy()
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    single = plain.astype(np.float32)
    return [plain, mixed, twice, longer, wide, single, sp.csr_array(plain), plain.tocoo(), plain.toarray()[0]]


@pytest.mark.parametrize("prepare", [None, aw.Prepare()], ids=["as it is", "prepared"])
def test_a_sparse_row_means_the_same_in_every_form(prepare):
    asks = []
    for k in range(len(odd_rows(8))):
        sampler = aw.Sampler(aw.Perceptron(), aw.Always(), prepare=prepare, seed=0)
        sampler.tell(sampler.ask(sp.csr_matrix(np.ones((1, 8)))), 1.0)
        ask = sampler.ask(odd_rows(8)[k])
        sampler.tell(ask, -1.0)
        asks.append((ask, sampler.weights.tolist()))
    assert all(found == asks[0] for found in asks)


@pytest.mark.parametrize("indices", [[1, 4, 8], [-1, 4, 6]])
def test_a_sparse_row_that_points_outside_is_refused(indices):
    sampler = perceptron()
    sampler.ask(sp.csr_matrix(np.ones((1, 8))))
    bad = sp.csr_matrix((1, 8))
    bad.data, bad.indices, bad.indptr = np.ones(3), np.array(indices, np.int32), np.array([0, 3], np.int32)
    with pytest.raises(aw.InputError):
        sampler.ask(bad)
    bad.indices, bad.indptr = np.array([1, 4, 6], np.int32), np.array([0, 5], np.int32)
    with pytest.raises(aw.InputError):
        sampler.ask(bad)
    assert sampler.round == 1


def test_a_sparse_vector_of_one_dimension_is_no_trouble_for_a_dense_sampler():
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    sampler.tell(sampler.ask(np.ones(4)), 1.0)
    assert sampler.ask(sp.csr_array(np.array([0.0, 2.0, 0.0, 0.0]))).margin == 2.0


def test_a_refused_first_instance_leaves_nothing_behind_wherever_an_interrupt_comes(monkeypatch):
    """Every state must change together: half of a new beginning would be played on memory of another shape."""
    sampler = aw.Sampler(aw.Lasec(1.0, 300.0), aw.Always(), seed=0)
    with pytest.raises(aw.InputError):
        sampler.ask(np.array([np.nan, 1.0, 2.0]))
    engine = sampler._engine
    assert (engine.learner, engine.plain, engine.session.frame, engine.session.ask) == (None, None, None, None)
    assert sampler.ask(np.ones(5)).round == 0
    # A frame is never played with rounds that were compiled for states of another kind.
    engine.learner = aw.Perceptron().start(5, False)
    assert sampler.ask(np.ones(5)).margin == 0.0


def test_an_interrupt_never_leaves_a_sampler_locked():
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    x = np.ones(3)
    sampler.tell(sampler.ask(x), 1.0)
    before = signal.signal(signal.SIGALRM, signal.default_int_handler)
    try:
        for k in range(300):
            with contextlib.suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, 1e-5 + 1e-7 * k)
                while True:
                    sampler.forget(sampler.ask(x))
            assert not sampler._lock.locked()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


def test_a_sampler_that_prepares_can_be_mapped_from_a_file(tmp_path):
    joblib = pytest.importorskip("joblib")
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), prepare=aw.Prepare(), seed=0)
    sampler.tell(sampler.ask(np.ones(4)), 1.0)
    joblib.dump(sampler, tmp_path / "model")
    mapped = joblib.load(tmp_path / "model", mmap_mode="r")
    assert mapped.ask(np.arange(4.0)) == sampler.ask(np.arange(4.0))


def test_several_classes_begin_again_after_an_interrupted_first_instance(monkeypatch):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    sampler = aw.OneVsRest(["a", "b", "c"], aw.Perceptron(), aw.Always(), seed=0)
    monkeypatch.setattr(compiled_session, "entry_point", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sampler.ask(np.ones(8))
    monkeypatch.undo()
    with pytest.raises(aw.InputError):
        sampler.ask([np.nan, 1.0])
    ask = sampler.ask(sp.csr_matrix(np.ones((1, 3))))
    sampler.tell(ask, "b")
    assert ask.round == 0


def test_a_forged_ask_is_refused_in_a_sentence():
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    ask = sampler.ask(np.ones(3))
    with pytest.raises(aw.QuestionError, match="must be an Ask or the number of its round"):
        sampler.tell(ask._replace(round=[0]), 1.0)
    sampler.tell(ask, 1.0)


def test_a_refused_first_instance_does_not_take_what_was_learnt():
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    sampler.learn([[1.0, 0.0], [0.0, 1.0]], [1, -1])
    before = sampler.margins(np.eye(2))
    with pytest.raises(aw.InputError, match="finite"):
        sampler.ask([np.nan, 1.0])
    np.testing.assert_array_equal(sampler.margins(np.eye(2)), before)


@pytest.mark.parametrize("seeds", [(1, 2), (7, 7), (None, None)])
@pytest.mark.parametrize("classes", [None, ["a", "b", "c"], "open"])
def test_an_answer_to_another_samplers_question_is_refused(seeds, classes, tmp_path):
    one, other = (aw.Sampler(seed=seed, classes=classes) for seed in seeds)
    label = 1 if classes is None else "a"
    ask = one.ask([1.0, 2.0])
    other.ask([3.0, 4.0])
    assert ask.query
    for refused in (other.tell, lambda ask, _: other.forget(ask)):
        with pytest.raises(aw.QuestionError, match="was asked by another sampler; answer it there"):
            refused(ask, label)
    assert len(other.pending) == 1
    one.save(tmp_path / "m.askwhen")
    for same in (copy.deepcopy(one), pickle.loads(pickle.dumps(one)), aw.Sampler.load(tmp_path / "m.askwhen"), one):
        same.tell(ask, label)  # a copy has the same questions
        assert same.pending == []
    other.save(tmp_path / "other.askwhen")
    if seeds == (1, 2):
        with pytest.raises(aw.QuestionError, match="another sampler"):
            aw.Sampler.load(tmp_path / "other.askwhen").tell(ask, label)


def test_pairs_and_labels_of_others_are_refused():
    X = np.ones((1, 2))
    pairs = [aw.evaluate.SideBySide(aw.Sampler(seed=1), aw.Sampler(seed=2), seed=3) for _ in range(2)]
    asks = [pair.ask(X[0]) for pair in pairs]
    with pytest.raises(aw.QuestionError, match="another sampler"):
        pairs[1].tell(asks[0], 1)
    several = [aw.MultiLabel(["a", "b"], question="each", seed=1) for _ in range(2)]
    asked = [each.ask(X[0]) for each in several]
    with pytest.raises(aw.QuestionError, match="another sampler"):
        several[1].tell(asked[0], ["a"])
    assert all(len(task.pending) == 1 for task in several[1].tasks.values())  # none of them has learnt


def test_nothing_is_predicted_before_anything_was_learnt():
    X = np.array([[1.0, 2.0], [-1.0, 0.5]])
    for made in (aw.Sampler(seed=1), aw.Sampler(seed=1, classes=["a", "b", "c"]), aw.Sampler(seed=1, classes="open")):
        for played in (False, True):
            if played:
                made.forget(made.ask(X[0]))
            with pytest.raises(aw.InputError, match="^predict: nothing was learnt yet; give it a label first"):
                made.predict(X)
        label = (made.classes or ["a"])[0]
        made.learn(X[0], label)
        assert made.predict(X).tolist() == [label, label] or len(made.classes) > 1
    sampler = aw.Sampler(aw.Perceptron(), aw.Always())
    sampler.tell(sampler.ask(X[0]), -1)  # a right prediction moves nothing, and is learnt all the same
    assert sampler.predict(X[:1]).tolist() == [-1]
    with pytest.raises(aw.InputError, match="nothing was learnt yet"):
        aw.Sampler(regression=True).predict(X)
    with pytest.raises(aw.InputError, match="nothing was learnt yet"):
        aw.MultiLabel(["a", "b"]).predict(X)


def test_what_predict_refuses_it_refuses_in_its_own_name():
    sampler = aw.Sampler(seed=1)
    sampler.learn([[0.0, 1.0], [1.0, 0.0]], [-1, 1])
    for call, name in (
        (sampler.predict, "predict"),
        (sampler.probabilities, "probabilities"),
        (sampler.margins, "margins"),
    ):
        with pytest.raises(aw.InputError, match=f"^{name}: "):
            call(np.ones((2, 3)))
        with pytest.raises(aw.InputError, match=f"^{name}: "):
            call(np.array([[np.nan, 1.0]]))


@pytest.mark.parametrize("table", ["pandas", "polars", "pyarrow"])
def test_labels_in_a_table_of_one_column_are_one_task(table):
    library = pytest.importorskip(table)
    X = np.random.default_rng(0).standard_normal((60, 3))
    y = np.where(X[:, 0] > 0, 1, -1)
    made = library.table({"y": y}) if table == "pyarrow" else library.DataFrame({"y": y})
    assert aw.Sampler(seed=1).run(X, made).mistakes == aw.Sampler(seed=1).run(X, y).mistakes
    sampler = aw.Sampler(seed=1)
    sampler.learn(X, made)
    assert sampler.volunteered == 60
