"""A Parquet file that is mangled is refused or read, and nothing else."""

import random

import numpy as np
import pytest

import askwhen as aw

arrow = pytest.importorskip("pyarrow")
from pyarrow import parquet  # noqa: E402


@pytest.mark.parametrize("settings", [{"compression": "zstd"}, {"compression": "none", "use_dictionary": False}])
def test_mangled_files_are_refused_or_read(tmp_path, settings):
    n = 60
    columns = {
        "a": np.arange(n) + 0.5,
        "n": np.arange(n),
        "body": [f"wörd {i % 7}" for i in range(n)],
        "place": arrow.array([str(i % 3) for i in range(n)]).dictionary_encode(),
        "vector": [[1.0, 2.0, float(i)] for i in range(n)],
        "y": [i % 2 for i in range(n)],
    }
    parquet.write_table(arrow.table(columns), tmp_path / "a.parquet", **settings)
    whole, rng = (tmp_path / "a.parquet").read_bytes(), random.Random(3)
    refused = 0
    for _ in range(400):
        mangled = bytearray(whole)
        if rng.random() < 0.15:
            del mangled[rng.randrange(len(mangled)) :]
        for _ in range(rng.choice([1, 2, 5])):
            at = rng.randrange(len(mangled) or 1)
            mangled[at : at + 1] = bytes([rng.randrange(256)])
        (tmp_path / "b.parquet").write_bytes(mangled)
        try:
            aw.data.read("b.parquet", text="body", categories="place", rows=25).load()
        except aw.InputError:
            refused += 1
    assert refused > 100


def test_a_type_that_arrow_cannot_read_is_refused(tmp_path):
    parquet.write_table(arrow.table({"a": [1, 2], "y": [0, 1]}), "a.parquet")
    whole, said = (tmp_path / "a.parquet").read_bytes(), set()
    for at in range(whole.rfind(b"ARROW:schema") + 12, len(whole) - 60):  # where the file describes its types
        (tmp_path / "b.parquet").write_bytes(whole[:at] + b"A" + whole[at + 1 :])
        try:
            aw.data.read("b.parquet").load()
        except aw.InputError as error:
            said.add(str(error))
    assert "read: cannot read b.parquet: Integers with less than 8 bits not implemented." in said


def test_lists_of_numbers_are_features(tmp_path):
    lists = [[1.0, 2.0], [3.0, 4.5], [5.0, 6.0]]
    for kind in (arrow.list_(arrow.float64()), arrow.list_(arrow.float32(), 2), arrow.large_list(arrow.float64())):
        table = arrow.table({"e": arrow.array(lists, kind), "a": [7, 8, 9], "y": [0, 1, 0]})
        parquet.write_table(table, "a.parquet")
        stream = aw.data.read("a.parquet", rows=2, missing="refuse")
        X, _ = stream.load()
        assert X.tolist() == [[1, 2, 7], [3, 4.5, 8], [5, 6, 9]]
        assert stream.names == ("e[0]", "e[1]", "a")
    parquet.write_table(arrow.table({"e": [[1.0, 2.0], [3.0]], "y": [0, 1]}), "a.parquet")
    with pytest.raises(aw.InputError, match="column 'e' of a.parquet holds lists of 1 to 2 numbers; name it in drop="):
        aw.data.read("a.parquet", rows=1).load()
    parquet.write_table(arrow.table({"e": [[1.0, 2.0]] * 10_000 + [[3.0]], "y": [0] * 10_001}), "a.parquet")
    with pytest.raises(aw.InputError, match="column 'e' must hold 2 numbers in every row, got 1 in instance 10,000"):
        aw.data.read("a.parquet", rows=100).load()
    parquet.write_table(arrow.table({"e": [["a"], ["b"]], "y": [0, 1]}), "a.parquet")
    with pytest.raises(aw.InputError, match="column 'e' of a.parquet holds list<.*string>; name it in drop="):
        aw.data.read("a.parquet").load()


def test_nan_and_null_are_missing_alike(tmp_path):
    parquet.write_table(arrow.table({"a": [1.0, float("nan"), None], "y": [0, 1, 0]}), "a.parquet")
    with pytest.raises(
        aw.InputError, match="'a' of a.parquet is empty or NaN in instance 1, .*; leave out missing='refuse'"
    ):
        aw.data.read("a.parquet", missing="refuse").load()
    assert aw.data.read("a.parquet").load()[0].tolist() == [[1, 0], [0, 1], [0, 1]]


def test_categories_of_pandas_are_words_and_bytes_are_labels(tmp_path):
    kinds = arrow.array(["ham", "spam"]).dictionary_encode()
    parquet.write_table(arrow.table({"a": [1, 2], "kind": kinds, "raw": [b"ham", b"spam"]}), "a.parquet")
    for name, other in (("kind", "raw"), ("raw", "kind")):
        X, y = aw.data.read("a.parquet", label=name, positive="spam", drop=other, missing="refuse").load()
        assert (X.tolist(), y.tolist()) == ([[1], [2]], [-1, 1])
    parquet.write_table(arrow.table({"a": [1, 2], "raw": [b"ham", b"\xff"]}), "a.parquet")
    with pytest.raises(aw.InputError, match="column 'raw' of a.parquet is not in UTF-8"):
        aw.data.read("a.parquet", label="raw", positive="ham").load()
