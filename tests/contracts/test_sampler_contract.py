"""What every sampler promises, over every algorithm of the table."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import askwhen as aw
from askwhen.engine.inputs.registry import PARTS
from tests.soak import times
from tests.streams import STREAMS, switching_sphere
from tests.table import CLASSIFIERS, ONE_OF_EACH_KIND, ROWS

TIE = 1e-9
ARRAYS = ("margin", "prediction", "probability", "coin", "queried", "updated", "mistaken", "switches")

every_row = pytest.mark.parametrize("row", ROWS.values(), ids=str)
few = settings(max_examples=times(6, 60), deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@st.composite
def streams(draw, regression=False, sizes=True):
    """Short streams: ordinary, tiny, huge and zero rows, repeated rows, any labels."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n, d = draw(st.integers(1, 60)), draw(st.integers(1, 6))
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < draw(st.sampled_from([0.3, 0.8, 1.0])))
    X *= 10.0 ** rng.integers(-3, 4, size=(n, 1)) if sizes and draw(st.booleans()) else 1.0
    if draw(st.booleans()):
        X = X[rng.integers(n, size=n)]
    if regression:
        return X, rng.standard_normal(n)
    return X, np.where(X @ rng.standard_normal(d) + rng.standard_normal(n) > 0, 1, -1)


def some_stream(draw, row):
    return draw(streams(regression=row.regression, sizes=row.any_size))


def assert_same_bits(expected, actual):
    for array in ARRAYS:
        np.testing.assert_array_equal(getattr(expected, array), getattr(actual, array), err_msg=array, strict=True)


def learnt(sampler):
    """Everything the learner has learnt, as numbers."""
    instances, coefficients = sampler.support
    w = [] if sampler.form == "dual" and sampler._engine.learner[0].primal.size == 0 else [sampler.weights]
    return np.concatenate([*w, coefficients, np.ravel(instances.toarray() if sp.issparse(instances) else instances)])


def play(sampler, X, y):
    """The stream through ask and tell, as the arrays of a trace."""
    asks, updated = [], []
    for x, label in zip(X, y, strict=True):
        ask = sampler.ask(x)
        before = sampler.updates
        if ask.query:
            sampler.tell(ask, label)
        asks.append(ask)
        updated.append(sampler.updates > before)
    return asks, updated


def test_the_table_holds_every_part():
    used = set()
    for row in ROWS.values():
        used |= {type(part).__name__ for part in row.sampler._engine.parts if part is not None}
    assert used == set(PARTS)
    assert len(PARTS) >= 18


@every_row
@few
@given(data=st.data())
def test_run_equals_an_ask_tell_loop_bit_for_bit(row, data):
    X, y = some_stream(data.draw, row)
    trace = row.build(5).run(X, y)
    sampler = row.build(5)
    asks, updated = play(sampler, X, y)
    assert [ask.margin for ask in asks] == trace.margin.tolist()
    assert [ask.prediction for ask in asks] == trace.prediction.tolist()
    assert [ask.probability for ask in asks] == trace.probability.tolist()
    assert [ask.query for ask in asks] == trace.queried.tolist()
    assert updated == trace.updated.tolist()
    assert sampler.switches == trace.switches.tolist()
    assert [ask.round for ask in asks] == list(range(len(y)))
    assert (sampler.questions, sampler.updates) == (trace.questions, trace.updates)


@every_row
@few
@given(data=st.data())
def test_a_run_split_anywhere_by_save_and_load_gives_the_same_bits(row, data, tmp_path_factory):
    X, y = some_stream(data.draw, row)
    sparse = data.draw(st.booleans())
    X = sp.csr_matrix(X) if sparse else X
    whole = row.build(5).run(X, y)
    path = tmp_path_factory.mktemp("snapshot") / "model.askwhen"
    sampler, parts, at = row.build(5), [], 0
    for cut in [*sorted(data.draw(st.lists(st.integers(0, len(y)), max_size=3))), len(y)]:
        sampler.save(path)
        sampler = aw.Sampler.load(path)
        if cut > at:
            parts.append(sampler.run(X[at:cut], y[at:cut]))
        at = max(at, cut)
    for array in ARRAYS:
        together = np.concatenate([getattr(part, array) for part in parts])
        np.testing.assert_array_equal(getattr(whole, array), together, err_msg=array)


@pytest.mark.parametrize("row", [row for row in ROWS.values() if row.same_in_csr], ids=str)
@few
@given(data=st.data())
def test_dense_and_csr_decide_alike_but_for_ties(row, data):
    X, y = some_stream(data.draw, row)
    dense, csr = row.build(5).run(X, y), row.build(5).run(sp.csr_matrix(X), y)
    close = np.abs(dense.coin - dense.probability) < TIE
    if not row.regression:
        size = np.abs(dense.margin)
        close |= ((size < TIE) | (np.abs(size - 1) < TIE)) & (dense.margin != csr.margin)
    n = int(np.argmax(close)) if close.any() else len(y)
    np.testing.assert_allclose(csr.margin[:n], dense.margin[:n], rtol=1e-9, atol=1e-9)
    np.testing.assert_array_equal(dense.queried[:n], csr.queried[:n])
    np.testing.assert_array_equal(dense.updated[:n], csr.updated[:n])


@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix])
@every_row
@few
@given(data=st.data())
def test_without_margins_every_decision_stays_the_same(row, form, data):
    X, y = some_stream(data.draw, row)
    full, short = row.build(5).run(form(X), y), row.build(5).run(form(X), y, margins=False)
    for array in ("queried", "updated", "mistaken", "switches", "coin"):
        np.testing.assert_array_equal(getattr(full, array), getattr(short, array), err_msg=array)
    if not row.regression:
        np.testing.assert_array_equal(full.prediction, short.prediction)
    known = ~np.isnan(short.margin)
    assert known[short.updated].all()
    np.testing.assert_array_equal(full.margin[known], short.margin[known])
    np.testing.assert_array_equal(full.probability[known], short.probability[known])


@every_row
@few
@given(data=st.data())
def test_labels_may_come_late_out_of_order_or_never_and_survive_a_snapshot(row, data, tmp_path_factory):
    X, y = some_stream(data.draw, row)
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    path = tmp_path_factory.mktemp("snapshot") / "model.askwhen"
    sampler, twin = row.build(5), row.build(5)
    for i, x in enumerate(X):
        assert sampler.ask(x) == twin.ask(x)
        for ask in sampler.pending:
            fate = rng.random()
            if fate < 0.3:
                sampler.tell(ask, y[ask.round])
                twin.tell(ask.round, y[ask.round])
            elif fate < 0.4:
                sampler.forget(ask)
                twin.forget(ask.round)
        if i % 7 == 0:
            twin.save(path)
            twin = aw.Sampler.load(path)
        assert sampler.pending == twin.pending
    np.testing.assert_array_equal(learnt(sampler), learnt(twin))
    assert np.isfinite(learnt(sampler)).all()


@every_row
def test_wrong_tells_are_refused_and_change_nothing(row, tmp_path):
    X, y = switching_sphere(1, n=60, noise=row.noise)
    sampler, twin = row.build(5), row.build(5)
    other = row.build(6)
    for x, label in zip(X, y, strict=True):
        ask, same = sampler.ask(x), twin.ask(x)
        foreign = other.ask(-x)
        if ask.query:
            wrong_ones = ["1", None, np.nan, np.inf, [1]] + ([True] if row.regression else [2, 0.5])
            if sampler.engine.pair.known == 2:  # before the first -1, the labels may still be 0 and 1
                wrong_ones += [0, True]
            for wrong in wrong_ones:
                with pytest.raises(aw.InputError, match="tell: y (must be|is|has)"):
                    sampler.tell(ask, wrong)
            if foreign.query and foreign != ask:
                with pytest.raises(aw.QuestionError, match="another"):
                    sampler.tell(foreign, label)
            sampler.tell(ask, label)
            twin.tell(same, label)
        with pytest.raises(aw.QuestionError, match="no open question"):
            sampler.tell(ask, label)
        for never in (10_000, -1, "x", None, 0.5, True, tuple(ask)):
            with pytest.raises(aw.QuestionError, match="no open question|must be an Ask or the number"):
                sampler.tell(never, label)
            with pytest.raises(aw.QuestionError, match="no open question|must be an Ask or the number"):
                sampler.forget(never)
    sampler.save(tmp_path / "a")
    twin.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


BAD_INSTANCES = {
    "nan": np.array([[1.0, np.nan, 0.0]]),
    "infinity": np.array([[1.0, -np.inf, 0.0]]),
    "too large": np.array([[1e200, 0.0, 0.0]]),
    "another dimension": np.ones((1, 4)),
    "objects": np.array([[1.0, None, "x"]], dtype=object),
    "strings": np.array([["a", "b", "c"]]),
    "complex": np.ones((1, 3)) * 1j,
    "a mask": np.ma.array(np.ones((1, 3)), mask=[[False, True, False]]),
    "no columns": np.ones((1, 0)),
}


SEEN_BY_STEPS = ("nan", "infinity", "too large")
ALSO_SPARSE = [bad for bad, wrong in BAD_INSTANCES.items() if wrong.dtype.kind in "fc" and bad != "a mask"]


@pytest.mark.parametrize("form", ["dense", "csr"])
@every_row
def test_bad_instances_are_refused_in_one_sentence_and_change_nothing(row, form, tmp_path):
    first = ONE_OF_EACH_KIND[row.kind] is row  # the door is the same for all learners
    tried = [bad for bad in BAD_INSTANCES if first or bad in SEEN_BY_STEPS]
    tried = [bad for bad in tried if form == "dense" or bad in ALSO_SPARSE]
    assert len(tried) >= len(SEEN_BY_STEPS)
    X, y = switching_sphere(1, n=40, noise=row.noise)
    X = sp.csr_matrix(X) if form == "csr" else X
    sampler, twin = row.build(5), row.build(5)
    for begun in (False, True):
        if begun:
            sampler.run(X, y)
            twin.run(X, y)
        twin.save(tmp_path / "twin")
        for bad in tried:
            if not begun and bad == "another dimension":
                continue
            wrong = BAD_INSTANCES[bad] if form == "dense" else sp.csr_matrix(BAD_INSTANCES[bad])
            one = wrong[0] if form == "dense" else wrong
            for call in (lambda one=one: sampler.ask(one), lambda wrong=wrong: sampler.run(wrong, [1])):
                with pytest.raises(aw.InputError) as error:
                    call()
                assert str(error.value).count("\n") == 0
                assert str(error.value).endswith(".")
            if wrong.shape[1] == 3 and bad != "a mask":
                mixed = (sp.vstack if form == "csr" else np.vstack)([X, wrong])
                with pytest.raises(aw.InputError):
                    sampler.run(mixed, np.ones(mixed.shape[0]))
            sampler.save(tmp_path / "sampler")
            assert (tmp_path / "sampler").read_bytes() == (tmp_path / "twin").read_bytes(), bad


@every_row
def test_zero_instances_are_harmless(row):
    X, y = switching_sphere(1, n=120, noise=row.noise)
    X[::3] = 0.0
    trace = row.build(5).run(X, y)
    assert np.isfinite(trace.margin).all()
    assert ((trace.probability >= 0) & (trace.probability <= 1)).all()
    if not row.silent_at_zero:
        return  # zero is an instance like any other there
    assert (trace.margin[::3] == 0).all()
    if not row.regression:
        assert (trace.prediction[::3] == -1).all()


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.bool_, np.float16])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_matrix, sp.csr_array, sp.coo_matrix])
def test_other_numbers_and_other_sparse_formats_are_accepted(dtype, form):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(80, 5)).astype(dtype)
    y = np.where(X.astype(float)[:, 0] > 0, 1, -1).astype(np.int8)
    expected = ROWS["LASEC-SS"].build(5).run(X.astype(float), y)
    sampler = ROWS["LASEC-SS"].build(5)
    trace = sampler.run(form(X) if form is np.asarray or dtype != np.float16 else form(X.astype(np.float32)), y)
    np.testing.assert_array_equal(expected.queried, trace.queried)
    assert sampler.ask(X[0]).round == 80


@pytest.mark.parametrize("row", CLASSIFIERS.values(), ids=str)
def test_csr_with_unsorted_and_duplicate_indices_is_not_miscomputed(row):
    X, y = STREAMS["sparse"](3, n=60)
    tidy = sp.csr_matrix(X)
    data, indices, indptr = [], [], [0]
    for i in range(60):
        for j in reversed(range(tidy.indptr[i], tidy.indptr[i + 1])):
            data += [0.25 * tidy.data[j], 0.75 * tidy.data[j]]
            indices += [tidy.indices[j]] * 2
        indptr.append(len(data))
    messy = sp.csr_matrix((data, indices, indptr), X.shape)
    copy = messy.indices.copy()
    expected = row.build(5).run(tidy, y)
    sampler, live = row.build(5), row.build(5)
    trace = sampler.run(messy, y)
    np.testing.assert_allclose(trace.margin, expected.margin, atol=1e-9)
    np.testing.assert_array_equal(expected.queried, trace.queried)
    play(live, [messy[i] for i in range(60)], y)
    np.testing.assert_array_equal(learnt(sampler), learnt(live))
    np.testing.assert_allclose(sampler.margins(messy), sampler.margins(tidy), atol=1e-9)
    np.testing.assert_array_equal(copy, messy.indices)


@every_row
def test_predict_and_margins_change_nothing_and_agree_with_ask(row):
    X, y = switching_sphere(1, n=60, noise=row.noise)
    sampler, twin = row.build(5), row.build(5)
    assert sampler.margins(X).shape == (60,)
    with pytest.raises(aw.InputError, match="predict: nothing was learnt yet"):
        sampler.predict(X)
    sampler.run(X[:50], y[:50])
    twin.run(X[:50], y[:50])
    lasting = sampler.margins(X[50:])
    p, labels = sampler.margins(X[50:], live=True), sampler.predict(X[50:], live=True)
    np.testing.assert_array_equal(sampler.margins(X[50:]), lasting)
    assert lasting.shape == p.shape
    assert row.views or np.array_equal(lasting, p)
    ask = sampler.ask(X[50])
    assert ask == twin.ask(X[50])
    if not ask.query or sampler.drift is None:
        assert (p[0], labels[0]) == (ask.margin, ask.prediction)


@every_row
def test_without_a_trace_the_counts_and_the_state_are_the_same(row):
    X, y = switching_sphere(1, n=300, noise=row.noise)
    kept, skipped = row.build(5), row.build(5)
    trace, counts = kept.run(X, y), skipped.run(X, y, trace=False)
    assert len(counts.margin) == len(counts.queried) == 0
    for count in ("start", "rounds", "questions", "updates", "mistakes"):
        assert getattr(trace, count) == getattr(counts, count)
    assert trace.switches.tolist() == counts.switches.tolist()
    assert kept.ask(X[0]) == skipped.ask(X[0])
    assert repr(trace) == repr(counts)


def test_two_algorithms_with_one_seed_see_the_same_coins():
    X, y = STREAMS["noisy"](0)
    coins = {name: row.build(9).run(X, y).coin for name, row in CLASSIFIERS.items()}
    for coin in coins.values():
        np.testing.assert_array_equal(np.random.Generator(np.random.PCG64(9)).random(len(y)), coin)


def test_samplers_without_a_seed_toss_their_own_coins():
    X, y = STREAMS["noisy"](0)
    first, second = (aw.paper("SEL-P", b=1.0).run(X, y).coin for _ in range(2))
    assert (first != second).any()


def test_a_long_run_crosses_chunks_without_a_seam():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((150_000, 3))
    y = np.where(X @ [1, 2, 3] + rng.standard_normal(len(X)) > 0, 1, -1)
    whole, parts = ROWS["LASEC-SS"].build(5), ROWS["LASEC-SS"].build(5)
    trace = whole.run(X, y)
    pieces = [parts.run(X[i : i + 40_000], y[i : i + 40_000]) for i in range(0, len(X), 40_000)]
    np.testing.assert_array_equal(trace.margin, np.concatenate([piece.margin for piece in pieces]))
    assert [piece.start for piece in pieces] == [0, 40_000, 80_000, 120_000]


def test_an_instance_given_to_ask_may_be_changed_afterwards():
    sampler, twin = (aw.Sampler(aw.Perceptron(), aw.Always(), seed=1) for _ in range(2))
    x = np.array([1.0, 2.0])
    ask = sampler.ask(x)
    twin.tell(twin.ask(x), 1)
    x[:] = 99.0
    sampler.tell(ask, 1)
    np.testing.assert_array_equal(twin.weights, sampler.weights)


def test_read_only_and_strided_instances_are_taken():
    X, y = STREAMS["noisy"](0)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.asfortranarray(np.repeat(X, 2, axis=1))
    expected = ROWS["SEL-P"].build(5).run(X, y)
    assert_same_bits(expected, ROWS["SEL-P"].build(5).run(frozen, y))
    assert_same_bits(expected, ROWS["SEL-P"].build(5).run(wide[:, ::2], y))
    sampler = ROWS["SEL-P"].build(5)
    assert [sampler.ask(x).margin for x in (frozen[0], wide[0, ::2], list(X[0]))] == [0.0] * 3
