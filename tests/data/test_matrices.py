"""Tables of numbers become one matrix, without a copy of it or of their columns."""

import tracemalloc

import numpy as np
import pytest

import askwhen as aw

arrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402, only where pyarrow is installed

X = np.random.default_rng(7).standard_normal((20_000, 32)) * 10.0 ** (np.arange(32) % 6)
Y = np.where(X[:, 0] > 0.0, 1, -1)
TABLE = arrow.table({f"c{j}x": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])})


def matrices(run):
    """The most memory that a call takes, in matrices like X, and its result."""
    run()  # what is compiled or imported at first
    tracemalloc.start()
    try:
        found = run()
        return tracemalloc.get_traced_memory()[1] / X.nbytes, found
    finally:
        tracemalloc.stop()


def test_a_parquet_file_is_loaded_into_one_matrix(tmp_path):
    parquet.write_table(TABLE.append_column("label", arrow.array(Y)), tmp_path / "t.parquet")
    most, (found, labels) = matrices(lambda: aw.data.read(tmp_path / "t.parquet").load())
    np.testing.assert_array_equal(found[:, :-1], X)  # and whether a number is missing
    np.testing.assert_array_equal(labels, Y)
    assert 1.0 <= most < 1.5


def test_a_table_in_memory_is_run_as_one_matrix():
    def run(rows):
        return aw.Sampler(aw.Perceptron(), aw.FixedRate(0.1), seed=5).run(rows, Y)

    alone, expected = matrices(lambda: run(X))
    most, found = matrices(lambda: run(TABLE))
    assert 1.0 <= most - alone < 1.5
    np.testing.assert_array_equal(found.margin, expected.margin)
    np.testing.assert_array_equal(found.queried, expected.queried)
