"""Two labels as people write them: the same bits as with -1 and +1, and predictions that come back as they were."""

import copy
import functools
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askwhen as aw
from askwhen.engine.inputs.two_labels import NO_PAIR, SIGNS, signs_of
from askwhen.report import write_run
from askwhen.workflows.predict import predictions
from tests.streams import drifting

X, SIGN = drifting(3, n=400)
SIGN = np.asarray(SIGN, int)
POSITIVE = SIGN > 0
WORDS = np.where(POSITIVE, "spam", "ham")

WRITTEN = {
    "-1 and +1": (SIGN, [-1, 1]),
    "floats": (SIGN.astype(float), [-1, 1]),
    "0 and 1": (POSITIVE.astype(int), [0, 1]),
    "bytes of 0 and 1": (POSITIVE.astype(np.uint8), [0, 1]),
    "0.0 and 1.0": (POSITIVE.astype(float), [0, 1]),
    "truth values": (POSITIVE, [False, True]),
    "a list of truth values": (POSITIVE.tolist(), [False, True]),
    "strings": (WORDS, ["ham", "spam"]),
    "a list of strings": (WORDS.tolist(), ["ham", "spam"]),
    "objects": (WORDS.astype(object), ["ham", "spam"]),
    "numbers as objects": (POSITIVE.astype(int).astype(object), [0, 1]),
    "yes and no": (np.where(POSITIVE, "Yes", "no"), ["no", "Yes"]),
    "+1 and -1 as text": (np.where(POSITIVE, "+1", "-1"), ["-1", "+1"]),
}


def of_tables():
    """The same labels in the columns of other libraries."""
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    words, truths = WORDS.tolist(), POSITIVE.tolist()
    yield from (
        (made, ["ham", "spam"])
        for made in (
            pd.Series(words),
            pd.Series(words, dtype="category", index=range(7, 407)),
            pd.Categorical(words),
            pd.DataFrame({"y": words}),
            pl.Series(words),
            pl.Series(words, dtype=pl.Categorical),
            pl.DataFrame({"y": words}),
            pa.array(words),
            pa.chunked_array([words[:100], words[100:]]),
            pa.array(words).dictionary_encode(),
            pa.table({"y": words}),
        )
    )
    for made in (pd.Series(truths, dtype="boolean"), pl.Series(truths), pa.array(truths)):
        yield made, [False, True]
    for made in (pd.Series(POSITIVE.astype(int), dtype="Int64"), pl.Series(POSITIVE.astype(int))):
        yield made, [0, 1]


def equal(trace, other):
    """Whether two runs made the same decisions, however their labels were written."""
    for name in ("margin", "signs", "probability", "coin", "queried", "updated", "mistaken", "switches"):
        np.testing.assert_array_equal(getattr(trace, name), getattr(other, name))


@functools.cache
def reference():
    """The run with -1 and +1 that all others must equal: its sampler and its trace."""
    sampler = aw.Sampler(seed=2)
    return sampler, sampler.run(X, SIGN)


@pytest.mark.parametrize("name", WRITTEN)
def test_a_run_is_the_same_to_the_bit_and_predictions_are_the_labels(name, tmp_path):
    y, pair = WRITTEN[name]
    sampler = aw.Sampler(seed=2)
    trace = sampler.run(X, y)
    equal(trace, reference()[1])
    assert same(sampler.classes, pair)
    np.testing.assert_array_equal(trace.prediction == np.asarray(y), ~trace.mistaken)
    predicted = sampler.predict(X)
    np.testing.assert_array_equal(predicted == np.asarray(pair)[1], reference()[0].predict(X) == 1)
    np.testing.assert_array_equal(sampler.probabilities(X), reference()[0].probabilities(X))
    sampler.save(tmp_path / "m")
    for other in (aw.Sampler.load(tmp_path / "m"), pickle.loads(pickle.dumps(sampler)), copy.copy(sampler)):
        assert same(other.classes, pair)
        np.testing.assert_array_equal(other.predict(X), predicted)
        assert other.ask(X[0]).prediction in pair


def same(labels, pair):
    """Whether labels are equal and of equal types: True is not 1 here."""
    return [(type(label), label) for label in labels] == [(type(label), label) for label in pair]


def test_columns_of_tables_hold_labels():
    for y, pair in of_tables():
        sampler = aw.Sampler(seed=2)
        equal(sampler.run(X, y), reference()[1])
        assert same(sampler.classes, pair)
        learnt = aw.Sampler(seed=2)
        learnt.learn(X, y)
        assert same(learnt.classes, pair)


@pytest.mark.parametrize("name", WRITTEN)
def test_asking_and_telling_is_a_run(name):
    y, pair = WRITTEN[name]
    sampler = aw.Sampler(seed=2, labels=pair if isinstance(pair[0], str) else None)
    for x, label, asked in zip(X, list(y), reference()[1].queried, strict=True):
        ask = sampler.ask(x)
        assert ask.query == asked
        assert ask.prediction in (pair if sampler.engine.pair.known == 2 else (-1, 1))
        if ask.query:
            sampler.tell(ask, label)
    assert same(sampler.classes, pair)
    np.testing.assert_array_equal(sampler.margins(X), reference()[0].margins(X))
    assert aw.evaluate.accuracy(sampler) == aw.evaluate.accuracy(reference()[0])


@settings(deadline=None)
@given(st.lists(st.booleans(), min_size=1, max_size=12), st.sampled_from(["0", "t", "-", "a", "n"]), st.data())
def test_any_labels_in_any_pieces_are_the_same_signs(flags, kind, data):
    """However a stream of labels is cut into pieces, each label stands for the same sign or its piece is refused."""
    negative, positive = {"0": (0, 1), "t": (False, True), "-": (-1, 1), "a": ("a", "b"), "n": ("no", "yes")}[kind]
    labels = [positive if flag else negative for flag in flags]
    cuts = sorted(data.draw(st.lists(st.integers(0, len(labels)), max_size=4)))
    pair = NO_PAIR
    for first, last in zip([0, *cuts], [*cuts, len(labels)], strict=True):
        piece = labels[first:last]
        one_word = len(set(piece)) == 1 and isinstance(positive, str) and pair.known == 0
        if one_word:
            with pytest.raises(aw.InputError, match="which label is the other one is not known; give .* labels="):
                signs_of("run", piece, len(piece), pair)
            return
        if piece:
            signs, pair = signs_of("run", piece, len(piece), pair)
            assert signs.tolist() == [1.0 if flag else -1.0 for flag in flags[first:last]]
            if set(flags[:last]) == {True} and kind in "0-":
                assert pair == (-1, 1, 1)
            else:
                assert pair == (negative, positive, 2)


def test_single_numbers_and_truth_values_are_taken_and_single_strings_are_not():
    for label, pair in ((0, [0, 1]), (0.0, [0, 1]), (False, [False, True]), (True, [False, True]), (-1, [-1, 1])):
        for kind in (lambda value: value, np.array, lambda value: np.array(value)[()]):
            sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
            if isinstance(kind(label), np.ndarray):
                sampler.run([[1.0, 2.0]], [label])
            else:
                sampler.tell(sampler.ask([1.0, 2.0]), kind(label))
            assert same(sampler.classes, pair)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    sampler.tell(sampler.ask([1.0, 2.0]), 1)
    assert sampler.classes == [-1, 1], "1 is positive in all codings"
    ask = sampler.ask([1.0, 2.0])
    for wrong in ("spam", None, [1], float("nan"), 3):
        with pytest.raises(aw.InputError, match=r"^tell: y "):
            sampler.tell(ask, wrong)
    assert sampler.predict([[1.0, 2.0]]).tolist() == [1]
    sampler.tell(ask, 0)
    assert sampler.classes == [0, 1]
    assert sampler.predict([[-1.0, -2.0]]).tolist() == [0]


@pytest.mark.parametrize(
    ("labels", "wrong", "says"),
    [
        ([0, 1], -1, "y must be 0 or 1, got -1."),
        ([0, 1], "1", "y must be 0 or 1, got '1'."),
        ([False, True], 2, "y must be False or True, got 2."),
        ([-1, 1], 0, "y must be -1 or +1, got 0."),
        ([-1, 1], True, "y must be -1 or +1, got True."),
        (["ham", "spam"], "eggs", "y must be 'ham' or 'spam', got 'eggs'."),
        (["ham", "spam"], 1, "y must be 'ham' or 'spam', got 1."),
        ([1, 2], 0, "y must be 1 or 2, got 0."),
    ],
)
def test_a_label_outside_of_a_known_pair_is_refused_and_changes_nothing(labels, wrong, says):
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1, labels=labels)
    sampler.run(X[:50], np.where(POSITIVE[:50], labels[1], labels[0]))
    ask, before = sampler.ask(X[50]), sampler.weights
    with pytest.raises(aw.InputError) as told:
        sampler.tell(ask, wrong)
    assert told.value.sentence == says
    many = says.replace("must be", "must hold").replace(" or ", " and ").replace(", got", " only, got")
    for call in (sampler.run, sampler.learn):
        with pytest.raises(aw.InputError) as raised:
            call(X[:3], np.array([labels[0], labels[0], wrong], object))
        assert raised.value.sentence == f"{many.removesuffix('.')} in row 2."
        assert (raised.value.parameter, raised.value.row) == ("y", 2)
    np.testing.assert_array_equal(sampler.weights, before)
    assert (sampler.classes, sampler.round, sampler.volunteered) == (labels, 51, 0)
    sampler.run(X[:2], [labels[1], labels[1]])  # a piece with a single label is fine now


@pytest.mark.parametrize(
    ("y", "says"),
    [
        (
            ["b", "a", "c", "c"],
            "y has 3 different labels, 'c' (2), 'b' (1) and 'a' (1); give classes=['a', 'b', 'c'] or "
            'classes="open" to predict one of them.',
        ),
        (
            [2, 1, 0, 2],
            'y has 3 different labels, 2 (2), 1 (1) and 0 (1); give classes=[0, 1, 2] or classes="open" to predict one '
            "of them, or regression=True to predict numbers.",
        ),
        (
            [1, 2, 1, 1],
            "y has the labels 1 (3) and 2 (1), which do not say which of them is positive; give Sampler the pair, the "
            "positive label second, as labels=(1, 2), or regression=True to predict numbers.",
        ),
        (
            ["spam"] * 4,
            "y is 'spam' only, and which label is the other one is not known; give Sampler the pair, the positive "
            "label second, as labels=('other', 'spam').",
        ),
    ],
)
def test_labels_that_are_no_pair_are_refused_with_what_to_write(y, says):
    for call in ("run", "learn"):
        sampler = aw.Sampler(seed=1)
        with pytest.raises(aw.InputError) as raised:
            getattr(sampler, call)(X[:4], y)
        assert raised.value.sentence == says
        assert (sampler.round, sampler.classes, sampler.feature_names) == (0, [-1, 1], None)


def test_many_labels_are_counted_and_not_all_shown():
    with pytest.raises(
        aw.InputError, match=r'^run: y has 400 different labels, .* and 388 more; give classes="open" to'
    ):
        aw.Sampler(seed=1).run(X, X[:, 0])


@pytest.mark.parametrize("missing", [None, float("nan")])
def test_a_missing_label_is_refused_with_its_row(missing):
    pd = pytest.importorskip("pandas")
    columns = [["a", "b", missing], [1.0, 0.0, missing], [True, False, missing]]
    columns += [pd.Series(["a", "b", missing], dtype=kind) for kind in ("category", "string", object)]
    columns += [pd.Series([1, 0, missing], dtype="Int64"), pd.Series([True, False, missing], dtype="boolean")]
    for y in columns:
        with pytest.raises(aw.InputError, match=r"y must hold a label in every row, .* got .* in row 2\.$") as raised:
            aw.Sampler(seed=1).run(X[:3], y)
        assert raised.value.row == 2


def test_the_pair_can_be_given_beforehand():
    for pair in (("spam", "ham"), (2, 1), (1, 2), (True, False), (2.5, 0.5)):
        y = np.where(POSITIVE, pair[1], pair[0])
        sampler = aw.Sampler(seed=2, labels=pair)
        assert sampler.classes == list(pair)
        assert sampler.ask([0.0] * X.shape[1]).prediction == pair[0]
        sampler = aw.Sampler(seed=2, labels=pair)
        trace = sampler.run(X, y)
        equal(trace, reference()[1])
        np.testing.assert_array_equal(trace.prediction == y, ~trace.mistaken)
        assert aw.evaluate.accuracy(trace) == aw.evaluate.accuracy(reference()[1])
    for wrong in (["a"], ["a", "b", "c"], ["a", "a"], [1, "a"], "ab", {1, 2}, [None, 1]):
        with pytest.raises(aw.InputError, match="^Sampler: labels must be"):
            aw.Sampler(labels=wrong)
    for more in ({"regression": True}, {"classes": ["a", "b"]}, {"learner": aw.LeastSquares(regression=True)}):
        with pytest.raises(aw.InputError, match="^Sampler: .*labels"):
            aw.Sampler(labels=("a", "b"), **more)


def test_a_file_says_the_pair_only_where_labels_were_not_those_of_earlier_versions(tmp_path):
    def header(sampler):
        sampler.save(tmp_path / "m")
        found = aw.Sampler.load(tmp_path / "m")
        assert found.engine.pair == sampler.engine.pair
        return aw.snapshot.file_format.read(tmp_path / "m")[0].get("pair")

    assert header(aw.Sampler(seed=1)) is None
    assert header(reference()[0]) is None
    for learner in (None, aw.LeastSquares(regression=True)):
        sampler = aw.Sampler(learner, aw.Always(), seed=1, regression=learner is not None)
        sampler.run(X, SIGN)
        assert header(sampler) is None
    only_1 = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    only_1.tell(only_1.ask(X[0]), 1)
    assert header(only_1) == [1]
    assert header(aw.Sampler(labels=("ham", "spam"), seed=1)) == ["ham", "spam"]
    assert header(aw.Sampler(labels=(-1, 1), seed=1)) == [-1, 1]


def test_a_question_that_is_older_than_the_pair_stays_as_it_was(tmp_path):
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=1)
    old = sampler.ask(X[0])
    sampler.learn(X[:50], WORDS[:50])
    new = sampler.ask(X[1])
    assert old.prediction == -1
    assert new.prediction in ("ham", "spam")
    sampler.save(tmp_path / "m")
    again = aw.Sampler.load(tmp_path / "m")
    assert again.pending == sampler.pending == [old, new]
    for each in (sampler, again):
        each.tell(old, "spam")
        each.tell(new, "ham")
    np.testing.assert_array_equal(sampler.weights, again.weights)
    assert aw.evaluate.accuracy(sampler) == aw.evaluate.accuracy(again)


def test_tasks_have_a_pair_each():
    Y = np.column_stack([POSITIVE.astype(int), POSITIVE, SIGN]).astype(object)
    sampler, plain = aw.Sampler(seed=2), aw.Sampler(seed=2)
    traces = sampler.run_tasks(X, Y)
    for trace, other in zip(traces, plain.run_tasks(X, np.column_stack([SIGN] * 3)), strict=True):
        equal(trace, other)
    assert [task.classes for task in sampler.tasks] == [[0, 1], [False, True], [-1, 1]]
    with pytest.raises(aw.InputError, match="y must hold 0 and 1 only, got 2 in row 0"):
        sampler.run_tasks(X[:1], [[2, True, 1]])
    given = aw.Sampler(seed=2, labels=("ham", "spam"))
    assert given.run_tasks(X[:2], [["spam", "spam"], ["ham", "spam"]])[1].prediction.dtype.kind == "U"


def test_evaluation_takes_labels_as_they_are():
    def scores(y):
        held = (X[:50], y[:50])
        return aw.evaluate.progressive(aw.Sampler(seed=2), X, y, window=100, holdout=held, everything=True)

    wanted = scores(SIGN)
    for y, _ in WRITTEN.values():
        found = scores(np.asarray(y))
        np.testing.assert_array_equal(found.counts, wanted.counts)
        assert found.baselines == wanted.baselines
        assert found.holdout_error == wanted.holdout_error
        assert found.order_warning == wanted.order_warning
    compared = [aw.evaluate.compare(X, y, ["sel-p"], [0.3], repeats=1) for y in (SIGN, WORDS)]
    assert compared[0].cells[0].accuracy == compared[1].cells[0].accuracy
    assert compared[0].majority == compared[1].majority
    with pytest.raises(aw.InputError, match="holdout: y must hold 'ham' and 'spam' only, got 'eggs' in row 1"):
        aw.evaluate.progressive(aw.Sampler(seed=2), X, WORDS, holdout=(X[:2], ["ham", "eggs"]))


@pytest.mark.parametrize("how", ["last", "average", "vote", "random"])
def test_a_classifier_of_all_hypotheses_predicts_the_labels(how, tmp_path):
    learner = (aw.Perceptron(), aw.MarginRule(1.0))
    wanted = aw.online_to_batch(aw.Sampler(*learner, seed=2), X, SIGN, how)
    pieces = [(X[:3], [1, 1, 1]), (X[3:], POSITIVE[3:])]
    made = aw.online_to_batch(aw.Sampler(*learner, seed=2), pieces, how=how)
    assert made.classes_.tolist() == [False, True]
    made = aw.online_to_batch(aw.Sampler(*learner, seed=2), X, WORDS, how)
    np.testing.assert_array_equal(made.predict(X), np.where(wanted.predict(X) > 0, "spam", "ham"))
    assert made.score(X, WORDS) == wanted.score(X, SIGN)
    made.save(tmp_path / "b")
    again = aw.BatchClassifier.load(tmp_path / "b")
    assert again.classes_.tolist() == ["ham", "spam"]
    np.testing.assert_array_equal(again.predict(X), made.predict(X))


def test_two_samplers_side_by_side_may_know_the_labels_or_not(tmp_path):
    def pair(first=None, second=None):
        makes = (aw.Perceptron(), aw.Lasec(1.0, 30.0))
        given = zip(makes, (first, second), strict=True)
        return aw.SideBySide(*(aw.Sampler(m, aw.MarginRule(0.3), seed=1, labels=labels) for m, labels in given), seed=1)

    wanted = pair()
    wanted.run(X, SIGN)
    for known in ((), (("ham", "spam"),), (None, ("ham", "spam"))):
        ran = pair(*known)
        a, b = ran.run(X, WORDS)
        assert set(a.prediction) | set(b.prediction) == {"ham", "spam"}
        live = pair(("ham", "spam"), *known[1:])
        for i, x in enumerate(X):
            ask = live.ask(x)
            if ask.query:
                live.tell(ask, WORDS[i])
        assert ran.difference() == live.difference() == wanted.difference()
        live.save(tmp_path / "pair")
        assert aw.SideBySide.load(tmp_path / "pair").difference() == wanted.difference()
    with pytest.raises(aw.InputError, match="a and b must predict the same labels"):
        pair(("ham", "spam"), ("no", "yes"))
    ask = next(ask for ask in map(wanted.ask, X) if ask.query)
    with pytest.raises(aw.InputError, match=r"tell: y must be -1 or \+1, got 0"):
        wanted.tell(ask, 0)


@pytest.mark.parametrize("name", ["t.csv", "t.parquet"])
def test_a_trace_in_a_file_keeps_the_labels(name, tmp_path):
    pytest.importorskip("pyarrow")
    from askwhen.trace.files import TraceWriter, read_trace

    for form, (y, _) in WRITTEN.items():
        if form == "+1 and -1 as text" and name == "t.csv":
            continue  # CSV does not tell them from numbers
        trace = aw.Sampler(seed=2).run(X, np.asarray(y))
        with TraceWriter(tmp_path / name) as writer:
            writer.add(trace)
        found = read_trace(tmp_path / name).trace
        np.testing.assert_array_equal(found.signs, reference()[1].signs)
        assert found.pair == trace.pair
        assert not found.several
        assert found.prediction.tolist() == trace.prediction.tolist()
        assert aw.evaluate.accuracy(found) == aw.evaluate.accuracy(reference()[1])


def test_traces_are_joined_in_the_labels_that_became_known():
    from askwhen.trace.trace import join

    sampler = aw.Sampler(seed=2)
    first = int(np.argmin(POSITIVE))
    traces = [sampler.run(X[:first], SIGN[:first])] if first else []
    traces.append(sampler.run(X[first:], POSITIVE[first:]))
    whole = join(traces)
    assert whole.pair == (False, True)
    equal(whole, reference()[1])
    np.testing.assert_array_equal(whole.prediction == POSITIVE, ~whole.mistaken)


def test_a_report_names_the_labels(tmp_path):
    progress = aw.evaluate.progressive(aw.Sampler(seed=2), X, WORDS, window=100)
    about = {"title": "A run", "facts": {}, "command": "run"}
    texts = []
    for y in (SIGN, WORDS):
        write_run(tmp_path / "r.html", progress, aw.Sampler(seed=2).run(X, y), **about)
        texts.append((tmp_path / "r.html").read_text(encoding="utf-8"))
    assert "precision, recall and F are those of +1" in texts[0]
    assert "precision, recall and F are those of spam" in texts[1]


def test_tables_of_predictions_hold_the_labels():
    sampler = aw.Sampler(seed=2)
    sampler.run(X, WORDS)
    np.testing.assert_array_equal(predictions(sampler, X)["label"], sampler.predict(X))
    assert sampler.engine.pair != SIGNS
