"""Data frames and Arrow tables go in, and traces come out as them."""

import numpy as np
import pytest

import askwhen as aw
from askwhen.trace.files import TraceWriter, read_trace
from askwhen.trace.trace import join
from tests.streams import drifting

pandas = pytest.importorskip("pandas")
polars = pytest.importorskip("polars")
arrow = pytest.importorskip("pyarrow")


def sampler():
    return aw.Sampler(aw.Perceptron(), aw.MarginRule(0.5), seed=1)


def frames(X, y):
    names = [f"f{j}" for j in range(X.shape[1])]
    columns = dict(zip(names, X.T, strict=True))
    yield pandas.DataFrame(X, columns=names), pandas.Series(y)
    yield polars.DataFrame(columns), polars.Series(y)
    yield arrow.table(columns), arrow.chunked_array([y[:100], y[100:]])
    yield X.astype(np.float32).astype(object).tolist(), y.tolist()


def test_frames_and_tables_are_taken_as_arrays_are():
    X, y = drifting(1)
    X = X.astype(np.float32).astype(float)
    expected = sampler().run(X, y)
    for table, labels in frames(X, y):
        found = sampler().run(table, labels)
        np.testing.assert_array_equal(found.margin, expected.margin)
        assert found.questions == expected.questions
    row = pandas.DataFrame(X).iloc[3]
    assert sampler().ask(row).margin == sampler().ask(X[3]).margin


def test_a_frame_with_text_is_refused_in_one_sentence():
    with pytest.raises(aw.InputError, match="X must hold real numbers"):
        sampler().run(pandas.DataFrame({"a": ["x", "y"]}), [1, -1])


def test_traces_come_out_as_tables(tmp_path):
    X, y = drifting(1)
    made = aw.Sampler(seed=1)
    made.run(X[:40], y[:40])
    trace = made.run(X[40:], y[40:])
    tables = (trace.to_pandas(), trace.to_polars(), trace.to_arrow().to_pandas())
    trace.to_parquet(tmp_path / "t.parquet")
    trace.to_csv(tmp_path / "t.csv")
    for table in (*tables, pandas.read_parquet(tmp_path / "t.parquet"), pandas.read_csv(tmp_path / "t.csv")):
        assert list(table.columns)[:3] == ["round", "margin", "prediction"]
        assert list(table.columns)[-2:] == ["drift_weight_11", "drift_weight_12"]
        assert int(table["round"][0]) == 40
        np.testing.assert_array_equal(np.asarray(table["margin"]), trace.margin)
        np.testing.assert_array_equal(np.asarray(table["queried"]), trace.queried)
        assert int(np.asarray(table["mistaken"]).sum()) == trace.mistakes
    with pytest.raises(aw.InputError, match="to_csv: cannot write"):
        trace.to_csv(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(aw.InputError, match="holds only counts"):
        sampler().run(X, y, trace=False).to_pandas()


def test_declared_switches_are_a_column():
    X = np.sign(np.random.default_rng(0).standard_normal((3000, 1)))
    y = X[:, 0] * np.where(np.arange(3000) < 1500, 1.0, -1.0)
    trace = aw.Sampler(aw.LeastSquares(), aw.BBQRule(0.6), aw.SwitchDetector(100, 2, 0.5), seed=1).run(X, y)
    table = trace.to_pandas()
    assert table.loc[table.switched, "round"].tolist() == trace.switches.tolist()
    assert len(trace.switches) > 0


@pytest.mark.parametrize("name", ["t.parquet", "t.csv"])
def test_a_trace_is_written_piece_by_piece_and_read_again(tmp_path, name):
    X, y = drifting(1)
    made = aw.Sampler(seed=1)
    made.run(X[:40], y[:40])
    pieces = [made.run(X[a:b], y[a:b]) for a, b in ((40, 100), (100, 101), (101, len(y)))]
    with TraceWriter(tmp_path / name, {"by": "me"}) as writer:
        for piece in pieces:
            writer.add(piece)
        assert not (tmp_path / name).exists()  # not before all of it is there
    found, about = read_trace(tmp_path / name)
    for column, values in join(pieces).columns().items():
        np.testing.assert_array_equal(found.columns()[column], values)
    assert (found.start, found.rounds, found.questions) == (40, len(y) - 40, sum(piece.questions for piece in pieces))
    assert about == ({"by": "me"} if name.endswith("parquet") else {})
    assert found.floor == (pieces[0].floor if name.endswith("parquet") else 0.0)


def test_a_trace_that_cannot_be_written_or_read_is_refused(tmp_path):
    with pytest.raises(aw.InputError, match=r"a trace must be a .parquet or .csv file, got .*t.txt\.$"):
        TraceWriter(tmp_path / "t.txt")
    with pytest.raises(aw.InputError, match=r"cannot write .*t.csv: No such file or directory\.$"):
        TraceWriter(tmp_path / "nowhere" / "t.csv")
    with pytest.raises(aw.InputError, match="there is no file"):
        read_trace(tmp_path / "t.parquet")
    (tmp_path / "t.parquet").write_text("nonsense")
    with pytest.raises(aw.InputError, match="does not hold a trace: "):
        read_trace(tmp_path / "t.parquet")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    with pytest.raises(aw.InputError, match="does not hold a trace: it lacks the column 'round'"):
        read_trace(tmp_path / "t.csv")
    with pytest.raises(KeyError), TraceWriter(tmp_path / "u.csv"):
        raise KeyError
    assert not list(tmp_path.glob("u.*"))
