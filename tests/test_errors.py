"""Bad parameters and bad calls: one sentence that names who, which parameter, what was expected and what came."""

import math

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw

nan, inf = math.nan, math.inf

BAD_PARTS = {
    "Lasec: b must be smaller than c": [(aw.Lasec, (2.0, 1.0)), (aw.Lasec, (1.0, 1.0))],
    "Lasec: b must be a number from 1e-100 to 1e100": [
        (aw.Lasec, (0.0, 1.0)),
        (aw.Lasec, (nan, 1)),
        (aw.Lasec, (inf, inf)),
    ],
    "Lasec: c must be a positive number": [(aw.Lasec, (1.0, nan)), (aw.Lasec, (1.0, -1.0)), (aw.Lasec, (1.0, None))],
    "Lasec: update must be 'mistake' or 'queried'": [(aw.Lasec, (1.0, 2.0, "always")), (aw.Lasec, (1.0, 2.0, None))],
    "SecondOrderPerceptron: b": [
        (aw.SecondOrderPerceptron, (b,)) for b in (0, -1, nan, inf, "1", None, True, 1e-310, 10**400)
    ],
    "LeastSquares: b": [(aw.LeastSquares, (b,)) for b in (0, -1, nan, inf)],
    "LeastSquares: update": [(aw.LeastSquares, (1.0, "x")), (aw.LeastSquares, (1.0, "mistake", True))],
    "LeastSquares: regression": [(aw.LeastSquares, (1.0, "queried", 1))],
    "ShiftingPerceptron: shift": [(aw.ShiftingPerceptron, (v,)) for v in (-0.1, nan, inf)],
    "BudgetPerceptron: budget": [(aw.BudgetPerceptron, (v,)) for v in (0, -3, 2.5, True, "5", None, 10**20)],
    "PNormPerceptron: p": [(aw.PNormPerceptron, (v,)) for v in (1.9, nan, inf)],
    "Winnow: eta": [(aw.Winnow, (v,)) for v in (0, -1, nan, inf)],
    "PassiveAggressive1: C": [(aw.PassiveAggressive1, (v,)) for v in (0, -1, nan, inf)],
    "PassiveAggressive2: C": [(aw.PassiveAggressive2, (v,)) for v in (0, -1, nan, inf)],
    "FixedRate: rate must be a number from 0 to 1": [(aw.FixedRate, (v,)) for v in (-0.01, 1.01, nan, "0.5")],
    "MarginRule: scale must be a positive number": [(aw.MarginRule, (v,)) for v in (-1, 0, nan, None, [1])],
    "AdaptiveMarginRule: beta": [(aw.AdaptiveMarginRule, (v,)) for v in (-1, 0, nan, inf)],
    "BBQRule: kappa must be a number strictly between 0 and 1": [(aw.BBQRule, (v,)) for v in (0, 1, -0.5, 1.5, nan)],
    "SwitchDetector: window": [(aw.SwitchDetector, (v,)) for v in (0, -1, 2.5)],
    "SwitchDetector: spacing": [(aw.SwitchDetector, (400, v)) for v in (0, -1, 2.5)],
    "SwitchDetector: delta": [(aw.SwitchDetector, (400, 6, v)) for v in (0, 1, nan)],
    "SwitchDetector: extra_queries": [(aw.SwitchDetector, (400, 6, 0.05, "yes"))],
    "SwitchDetector: noise_bound": [(aw.SwitchDetector, (400, 6, 0.05, True, v)) for v in (0, -1, inf)],
}


@pytest.mark.parametrize("message", BAD_PARTS)
def test_bad_parameters_are_named(message):
    for make, arguments in BAD_PARTS[message]:
        with pytest.raises(aw.InputError) as error:
            make(*arguments)
        assert str(error.value).startswith(message)
        assert str(error.value).endswith(".")
        assert "got" in str(error.value) or "regression" in str(error.value)


def test_whole_numbers_and_numpy_numbers_are_parameters_too(tmp_path):
    sampler = aw.Sampler(aw.Lasec(np.float32(1), np.int64(5)), aw.MarginRule(1), seed=np.int64(3))
    sampler.ask([1, 2])
    sampler.save(tmp_path / "model")
    assert aw.Sampler.load(tmp_path / "model").learner == aw.Lasec(1.0, 5)


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ((aw.Perceptron(), aw.BBQRule(0.5)), "needs a learner with an uncertainty"),
        ((aw.Perceptron(), aw.Always(), aw.SwitchDetector()), "needs a learner with an uncertainty"),
        ((aw.LeastSquares(regression=True), aw.MarginRule(1.0)), "decision boundary"),
        ((aw.LeastSquares(regression=True), aw.AdaptiveMarginRule(1.0)), "decision boundary"),
        ((aw.LeastSquares(regression=True), aw.BBQRule(0.5), aw.SwitchDetector()), "noise_bound"),
        ((aw.LeastSquares(), aw.BBQRule(0.5), aw.SwitchDetector(noise_bound=1.0)), "noise_bound"),
        ((aw.MarginRule(1.0), aw.Perceptron()), "learner must be one of askwhen's learners"),
        ((aw.Perceptron, aw.MarginRule(1.0)), "learner must be one of askwhen's learners"),
        ((aw.Perceptron(), "margin"), "rule must be one of askwhen's rules"),
        ((aw.Perceptron(), aw.Audit(0.1)), "rule must be one of askwhen's rules"),
        ((aw.Perceptron(), aw.Always(), None, "standard"), "prepare must be a Prepare"),
        ((aw.Perceptron(), aw.Always(), None, None, 0.1), "audit must be an Audit"),
        ((aw.LeastSquares(regression=True), aw.BudgetRule(0.1)), "decision boundary"),
        ((aw.Perceptron(), aw.BudgetRule(0.1, by="uncertainty")), "needs a learner with an uncertainty"),
        ((aw.LeastSquares(), aw.Always(), aw.Always()), "drift must be one of askwhen's drift"),
    ],
)
def test_parts_that_do_not_fit_are_refused(parts, message):
    with pytest.raises(aw.InputError, match=message):
        aw.Sampler(*parts)


@pytest.mark.parametrize("seed", [-1, 1.5, "7", True])
def test_a_seed_is_a_whole_number(seed):
    with pytest.raises(aw.InputError, match="seed must be a whole number"):
        aw.Sampler(aw.Perceptron(), aw.Always(), seed=seed)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((0, 3)), [], "at least one row and one column"),
        (np.zeros((3, 0)), [1, 1, 1], "at least one row and one column"),
        (np.zeros(3), [1], "matrix with at least one row"),
        ([[1, 2], [3]], [1, 1], "rows of different lengths"),
        (np.ones((2, 2)), [1], "y must hold 2 labels"),
        (np.ones((2, 2)), [[[1]], [[1]]], "y must hold 2 labels"),
        (np.ones((2, 2)), [1, 7], r"y has the labels 1 \(1\) and 7 \(1\), which do not say which of them is positive"),
        (np.ones((2, 2)), [1, np.nan], "y must hold a label in every row, .* got nan in row 1"),
        (np.ones((2, 2)), ["a", None], "y must hold a label in every row, .* got None in row 1"),
        (np.ones((2, 2)), ["a", "a"], "y is 'a' only, and which label is the other one is not known"),
        (np.ones((2, 2)), ["a", 1], "y has the string 'a' beside 1; labels are all strings or all numbers"),
        (np.ones((2, 2)), [b"a", b"b"], "y must hold a label in every row, .* got b'a' in row 0"),
        (np.ones((2, 2)), None, "y must hold 2 labels"),
        ([[1, 2], [3, np.nan]], [1, 1], "row 1 of X must hold finite numbers only, got nan"),
        ([[1, 2], [-np.inf, 1]], [1, 1], "row 1 of X must hold finite numbers only, got -inf"),
        ([[1, 2], [1e101, 1]], [1, 1], "row 1 of X must have a norm of at most 1e100"),
        (sp.csr_matrix((0, 3)), [], "at least one row"),
    ],
)
def test_bad_streams_are_named(X, y, message):
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    with pytest.raises(aw.InputError, match=message):
        sampler.run(X, y)
    assert sampler.round == 0
    assert sampler.ask([1.0]).round == 0


def broken_csr(**changes):
    matrix = sp.csr_matrix(np.eye(3))
    for name, value in changes.items():
        setattr(matrix, name, np.array(value))
    return matrix


@pytest.mark.parametrize(
    "X",
    [
        broken_csr(indices=[0, 1, 7]),
        broken_csr(indices=[0, 1, -1]),
        broken_csr(indices=np.array([0, 1, -1], np.int64)),
        broken_csr(indices=np.array([0, 1, 2**40], np.int64)),
        broken_csr(indptr=[0, 1, 2, 99]),
        broken_csr(indptr=[0, 2, 1, 3]),
        broken_csr(indptr=[1, 1, 2, 3]),
    ],
)
def test_corrupt_csr_matrices_are_refused_and_never_followed(X):
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    with pytest.raises(aw.InputError):
        sampler.run(X, [1, 1, 1])
    assert sampler.round == 0


def test_64_bit_indices_are_taken():
    X = sp.csr_matrix(np.eye(3))
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    assert aw.Sampler(aw.Perceptron(), aw.Always(), seed=0).run(X, [1, 1, 1]).mistakes == 3


def test_margins_and_predict_name_what_is_wrong():
    sampler = aw.Sampler(aw.LeastSquares(), aw.Always(), seed=0)
    sampler.run(np.eye(3), [1, 1, -1])
    with pytest.raises(aw.InputError, match="margins: X must have 3 columns as before, got 2"):
        sampler.margins(np.eye(2))
    with pytest.raises(aw.InputError, match="row 1 of X must hold finite numbers"):
        sampler.predict([[1, 2, 3], [1, 2, np.nan]])


def test_a_dense_sampler_takes_csr_and_the_other_way_round():
    X = np.eye(3)
    for first, second in ((X, sp.csr_matrix(X)), (sp.csr_matrix(X), X)):
        sampler = aw.Sampler(aw.LeastSquares(), aw.Always(), seed=0)
        sampler.run(first, [1, 1, -1])
        sampler.run(second, [1, 1, -1])
        assert sampler.ask(second[0]).prediction == sampler.ask(first[0]).prediction == 1


def test_an_interrupted_run_leaves_the_sampler_as_it_was(monkeypatch):
    sampler, twin = (aw.paper("LASEC-SS", b=1.0, c=30.0, a=0.3, seed=2) for _ in range(2))
    X = np.random.default_rng(0).standard_normal((50, 3))
    for each in (sampler, twin):
        each.run(X, np.ones(50))

    def interrupt(**_):
        raise KeyboardInterrupt

    monkeypatch.setattr("askwhen.engine.batch_run.Trace", interrupt)
    with pytest.raises(KeyboardInterrupt):
        sampler.run(X, -np.ones(50))
    monkeypatch.undo()
    assert sampler.ask(X[0]) == twin.ask(X[0])


def caught(call):
    with pytest.raises(aw.InputError) as found:
        call()
    return found.value


def test_programs_read_fields_and_people_the_sentence_made_of_them(tmp_path):
    error = caught(lambda: aw.MarginRule(-1))
    assert (error.owner, error.parameter, error.got) == ("MarginRule", "scale", -1)
    assert str(error) == f"MarginRule: {error.parameter} must be {error.expected}, got {error.got!r}."
    assert error.sentence == str(error).removeprefix("MarginRule: ")
    error = caught(lambda: aw.Sampler(aw.Perceptron()).run([[1.0], [np.nan]], [1, 1]))
    assert (error.owner, error.row) == ("run", 1)
    assert "row 1 of X must hold finite numbers only" in str(error)
    error = caught(lambda: aw.Sampler(aw.Perceptron()).run([[1.0], [2.0]], [1, 7]))
    assert (error.parameter, error.row, error.got) == ("y", 1, 7.0)
    (tmp_path / "s.svm").write_text("+1 1:1\n-1 x\n")
    error = caught(lambda: aw.data.read(tmp_path / "s.svm", n_features=1).load())
    assert (error.owner, error.file, error.line) == ("read", str(tmp_path / "s.svm"), 2)
    (tmp_path / "s.csv").write_text("a,y\n1,1\n,0\n")
    error = caught(lambda: aw.data.read(tmp_path / "s.csv", missing="refuse").load())
    assert (error.file, error.column, error.row) == (str(tmp_path / "s.csv"), "a", 1)
    assert "leave out missing='refuse'" in str(error)


def test_an_error_keeps_its_fields_through_pickle_and_names_its_chunk():
    import pickle

    error = caught(lambda: aw.evaluate.progressive(aw.Sampler(aw.Perceptron()), [([[1.0]], [1]), ([[np.inf]], [1])]))
    assert (error.chunk, error.row) == (1, 0)
    assert str(error).endswith(", in chunk 1.")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.owner, again.chunk) == (str(error), error.owner, 1)


def test_who_speaks_in_other_words_says_the_same():
    from askwhen.cli.command import OptionNames
    from askwhen.errors import INSTANCES, argument, at_row

    raised = aw.InputError(
        f"{INSTANCES} and {at_row(3)} need {argument('positive')} or {argument('missing', 'feature')}."
    )
    assert str(raised) == "X and row 3 of X need positive= or missing='feature'."
    assert raised.told(OptionNames(raised)) == "the input and instance 3 need --positive or --missing feature."


def test_what_a_debugger_shows_is_the_sentence_too():
    error = caught(lambda: aw.Sampler(aw.Perceptron()).run([[1.0], [np.nan]], [1, 1]))
    assert repr(error) == "InputError('row 1 of X must hold finite numbers only, got nan.')"
    assert error.args == (error.sentence,)


def test_errors_begin_with_what_was_called():
    X, y = aw.data.switching(60, 3, seed=0)
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)
    sampler.run(X, y)
    made = aw.online_to_batch(aw.Sampler(aw.Perceptron(), aw.Always(), seed=0), X, y)
    for thing, name in [
        (sampler, "margins"),
        (sampler, "predict"),
        (sampler, "probabilities"),
        (made, "predict"),
        (made, "decision_function"),
    ]:
        for strange in (np.ones((2, 4)), [["a"] * 3], np.full((1, 3), np.nan)):
            with pytest.raises(aw.InputError, match=f"^{name}: (row 0 of )?X must ") as caught:
                getattr(thing, name)(strange)
            assert caught.value.owner == name
