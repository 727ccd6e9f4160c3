"""Tables whose columns have names: the same ones every time, in the same order."""

import numpy as np
import pytest

import askwhen as aw

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
pyarrow = pytest.importorskip("pyarrow")

NAMES = ("age", "height", "pulse")
X = np.random.default_rng(0).standard_normal((30, 3))
Y = np.where(X[:, 0] > 0, 1, -1)

TABLES = {
    "pandas": lambda values, names: pandas.DataFrame(values, columns=list(names)),
    "polars": lambda values, names: polars.DataFrame(values, schema=list(names), orient="row"),
    "arrow": lambda values, names: pyarrow.table(dict(zip(names, values.T, strict=True))),
}


def perceptron():
    return aw.Sampler(aw.Perceptron(), aw.Always(), seed=0)


@pytest.mark.parametrize("make", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("sampler", [perceptron, lambda: aw.OneVsRest([-1, 1], aw.Perceptron(), aw.Always(), seed=0)])
def test_other_columns_are_refused_by_the_first_difference(make, sampler):
    sampler = sampler()
    assert sampler.feature_names is None
    sampler.run(make(X, NAMES), Y)
    assert sampler.feature_names == NAMES
    before, margins = sampler.round, sampler.margins(X)
    for names, said in [
        (("age", "pulse", "height"), "feature 1 was 'height' and now is 'pulse'"),
        (("age", "height", "rate"), "feature 2 was 'pulse' and now is 'rate'"),
    ]:
        for call in (lambda table: sampler.run(table, Y), sampler.margins, sampler.predict):
            with pytest.raises(aw.InputError, match=said):
                call(make(X, names))
        with pytest.raises(aw.InputError, match=f"ask: .*{said}"):
            sampler.ask(pandas.Series(X[0], index=list(names)))
    with pytest.raises(aw.InputError, match="feature 2 was 'pulse' and now is no more"):
        sampler.run(make(X[:, :2], NAMES[:2]), Y)
    assert (sampler.round, sampler.feature_names) == (before, NAMES)
    np.testing.assert_array_equal(margins, sampler.margins(make(X, NAMES)))


def test_names_come_with_the_first_instance_that_has_any_and_arrays_are_always_taken():
    sampler = perceptron()
    sampler.run(X, Y)
    assert sampler.feature_names is None
    sampler.ask(pandas.Series(X[0], index=list(NAMES)))
    assert sampler.feature_names == NAMES
    sampler.run(X, Y)
    sampler.ask(X[0])
    sampler.run(TABLES["pandas"](X, range(3)), Y)


def test_a_refused_table_and_margins_leave_no_names_behind():
    sampler = perceptron()
    sampler.margins(TABLES["pandas"](X, NAMES))
    with pytest.raises(aw.InputError):
        sampler.run(TABLES["pandas"](np.full((30, 3), np.nan), NAMES), Y)
    with pytest.raises(aw.InputError):
        sampler.ask(pandas.Series([np.nan] * 3, index=list(NAMES)))
    assert sampler.feature_names is None


def test_names_are_saved_copied_and_shared_by_tasks(tmp_path):
    sampler = perceptron()
    sampler.run(TABLES["polars"](X, NAMES), np.column_stack([Y, -Y]))
    sampler.save(tmp_path / "model")
    for found in (sampler, aw.Sampler.load(tmp_path / "model")):
        assert [found.feature_names, *(task.feature_names for task in found.tasks)] == [NAMES] * 3
        with pytest.raises(aw.InputError, match="feature 0 was 'age' and now is 'pulse'"):
            found.run(TABLES["polars"](X, NAMES[::-1]), np.column_stack([Y, -Y]))
    several = aw.OneVsRest([-1, 1], aw.Perceptron(), aw.Always(), seed=0)
    several.run(TABLES["arrow"](X, NAMES), Y)
    several.save(tmp_path / "several")
    assert aw.OneVsRest.load(tmp_path / "several").feature_names == NAMES


@pytest.mark.parametrize("how", ["average", "vote", "last"])
def test_one_classifier_out_of_a_run_knows_its_columns(how, tmp_path):
    table = TABLES["pandas"](X, NAMES)
    made = aw.online_to_batch(perceptron(), table, Y, how)
    made.save(tmp_path / "batch")
    for each in (made, aw.BatchClassifier.load(tmp_path / "batch")):
        np.testing.assert_array_equal(each.predict(X), each.predict(table))
        with pytest.raises(aw.InputError, match="feature 0 was 'age' and now is 'pulse'"):
            each.predict(TABLES["pandas"](X[:, ::-1], NAMES[::-1]))


def test_a_table_with_true_and_false_beside_numbers_is_taken():
    table = pandas.DataFrame({"age": X[:, 0], "member": X[:, 1] > 0, "visits": range(30)})
    assert np.asarray(table).dtype == object
    sampler, other = perceptron(), perceptron()
    sampler.run(table, Y)
    other.run(table.astype(float).to_numpy(), Y)
    assert np.array_equal(sampler.margins(table), other.margins(table.astype(float)))


def test_a_column_that_holds_no_numbers_is_named():
    table = pandas.DataFrame({"age": X[:, 0], "city": ["york"] * 30})
    with pytest.raises(aw.InputError, match="run: column 'city' of X must hold real numbers, got 'york'"):
        perceptron().run(table, Y)
    with pytest.raises(aw.InputError, match="run: X must hold real numbers, got None"):
        perceptron().run(np.array([[1.0, None]] * 30, object), Y)
