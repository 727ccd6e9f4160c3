"""Columns as instances: the same whatever file they come from, however it is cut."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import Kinds
from askwhen.data import files
from askwhen.data.hashing import hash_name, hashed_names
from askwhen.data.schema import ANY_GAP
from askwhen.data.unlabelled import read_records
from askwhen.errors import InputWarning

arrow = pytest.importorskip("pyarrow")

ROWS = [
    {"age": 30.5, "mail": "Buy now", "title": "now", "city": "Bern", "flag": True, "label": 1},
    {"age": None, "mail": "see you", "title": "", "city": "", "flag": False, "label": 0},
    {"age": 41, "mail": "", "title": "you now", "city": "Zug", "flag": True, "label": 1},
]


def write(name, rows=ROWS):
    if name.endswith("ndjson"):
        text = "".join(json.dumps({k: v for k, v in row.items() if v is not None}) + "\n" for row in rows)
    elif name.endswith("parquet"):
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(rows), name)
        return name
    else:
        written = [
            ["" if v is None else str(v).lower() if v in (True, False) else str(v) for v in row.values()]
            for row in rows
        ]
        text = "".join(",".join(each) + "\n" for each in [list(rows[0]), *written])
    with open(name, "w") as file:
        file.write(text)
    return name


def dense(X):
    return X.toarray() if sp.issparse(X) else X


@pytest.fixture(params=["a.csv", "a.parquet", "a.ndjson"])
def path(request):
    return write(request.param)


@pytest.fixture(params=[20, 1 << 22])
def _cut(request, monkeypatch):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, request.param))


ORDER = ("age", "flag", "city=Bern", "city=Zug", "city is another value", "city is missing", "age is missing", ANY_GAP)


@pytest.mark.usefixtures("_cut")
@pytest.mark.parametrize("rows", [1, 100])
def test_numbers_come_first_then_the_places_of_categories_then_words(path, rows):
    stream = aw.data.read(path, rows=rows, text=["mail", "title"], n_features=5000)
    assert stream.kinds == Kinds(8, (), 5000)
    X, y = stream.load()
    assert stream.names == ORDER
    assert X.kinds == stream.kinds
    numbers = [[30.5, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1, 1, 0], [41, 1, 0, 1, 0, 0, 0, 0]]
    assert X[:, :8].toarray().tolist() == numbers
    words = [{"buy", "now", "title#now"}, {"see", "you"}, {"title#you", "title#now"}]
    for row, expected in zip(X[:, 8:].toarray(), words, strict=True):
        assert {*np.flatnonzero(row).tolist()} == {hash_name(word, 5000) for word in expected}
    assert y.tolist() == [1, -1, 1]
    every = aw.data.read(path, drop=["mail", "title"], missing="feature")
    assert isinstance(every.load()[0], np.ndarray)
    assert every.names == (*ORDER[:-1], "flag is missing")


def test_categories_beside_numbers_stay_dense_and_cost_no_accuracy(tmp_path):
    X, y = aw.data.switching(3000, 5, seed=2)
    X = 10.0 + X * [1, 5, 25, 100, 400]  # which only instances that are standardised can be learnt from
    lines = [",".join([*map(repr, x.tolist()), "ab"[i % 2], str(int(y[i]))]) for i, x in enumerate(X)]
    (tmp_path / "s.csv").write_text("\n".join(["f0,f1,f2,f3,f4,job,label", *lines]))
    found, labels = aw.data.read(tmp_path / "s.csv").load()
    assert isinstance(found, np.ndarray)
    assert found.shape == (3000, 5 + 4 + 1)
    without, _ = aw.data.read(tmp_path / "s.csv", drop="job", missing="refuse").load()
    assert without.shape == (3000, 5)
    right = [1 - aw.Sampler(seed=1).run(rows, labels).mistakes / 3000 for rows in (without, found)]
    assert right[0] - 0.05 < right[1]


def test_one_text_alone_is_hashed_without_its_name(path):
    X, _ = aw.data.read(path, text="mail", drop=["title", "city", "age", "flag"], n_features=512).load()
    assert (aw.data.hash_text([row["mail"] for row in ROWS], 512) != X).nnz == 0


def test_gaps_are_refused_on_request(path):
    cure = "leave out missing='refuse', or name it in drop="
    for name, drop in (("age", ["mail", "title", "city"]), ("city", ["mail", "title", "age"])):
        with pytest.raises(
            aw.InputError, match=f"'{name}' of a.* is empty or NaN in instance 1, counted from 0; {cure}"
        ):
            aw.data.read(path, drop=drop, missing="refuse").load()
    with pytest.raises(aw.InputError, match="column 'city' is needed, and named in drop= too"):
        aw.data.read(path, drop="city", categories="city").load()
    with pytest.raises(aw.InputError, match="missing= must be 'auto' or 'feature' or 'refuse', got 'zero'"):
        aw.data.read(path, missing="zero")


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_a_schema_brings_the_columns_of_another_file_into_order(path, kind):
    stream = aw.data.read(path, text=["mail", "title"], n_features=64)
    X, _ = stream.load()
    other = [{"new": "word", **{name: row[name] for name in reversed(row) if name != "label"}} for row in ROWS]
    again = aw.data.read(write(f"b.{kind}", other), schema=stream.schema, target="none")
    found, y = again.load()
    np.testing.assert_array_equal(dense(found), dense(X))
    assert (again.names, again.schema, y) == (stream.names, stream.schema, None)
    for row, record in zip(dense(X), ROWS, strict=True):
        np.testing.assert_array_equal(stream.schema.row(record).toarray()[0], row)
    write(f"c.{kind}", [{"ages" if name == "age" else name: row[name] for name in row} for row in ROWS])
    with pytest.raises(aw.InputError, match=f"c.{kind} has no column 'age', perhaps 'ages', which the features are"):
        aw.data.read(f"c.{kind}", schema=stream.schema).load()


def test_a_schema_knows_the_label_and_refuses_other_choices(path):
    schema = aw.data.read(path, label="flag", drop=["mail", "title", "age"]).schema
    assert aw.data.read(path, schema=schema).load()[1].tolist() == [1, -1, 1]
    with pytest.raises(aw.InputError, match="text= must not be given with a schema, which says what columns are"):
        aw.data.read(path, schema=schema, text="mail")
    with pytest.raises(aw.InputError, match="column 'city' is a feature of the schema, and must not be in drop="):
        aw.data.read(path, schema=schema, drop=["mail", "city"])
    with pytest.raises(aw.InputError, match="schema= must be the schema of a stream, got dict"):
        aw.data.read(path, schema={})
    with pytest.raises(aw.InputError, match="a schema is only for tables, got svmlight"):
        aw.data.read("a.svm", schema=schema)


def test_what_a_schema_does_not_know_counts_as_missing_or_as_another_value(path):
    schema = aw.data.read(path, drop=["mail", "title"]).schema
    odd = [{"age": 3, "city": "Rom", "flag": None}, {"age": 3, "city": None, "flag": "maybe"}]
    write("b.csv", odd)
    with pytest.warns(InputWarning, match="'flag' of b.csv holds 'maybe' in instance 1, .* is not 'false' or 'true'"):
        found, _ = aw.data.read("b.csv", schema=schema, target="none").load()
    assert found.tolist() == [[3, 0, 0, 0, 1, 0, 0, 1], [3, 0, 0, 0, 0, 1, 0, 1]]


def test_features_of_earlier_versions_are_read_by_their_names(path):
    settings = {"text": "mail", "categories": "city", "missing": "feature", "n_features": 64}
    names = ("age", "flag", "age is missing", "flag is missing")
    X, _ = aw.data.read(path, names=names, **settings).load()
    assert X[:, 64:].toarray().tolist() == [[30.5, 1, 0, 0], [0, 0, 1, 0], [41, 1, 0, 0]]
    words = [{"buy", "now", "city=Bern"}, {"see", "you", "city="}, {"city=Zug"}]
    for row, expected in zip(X[:, :64].toarray(), words, strict=True):
        assert {*np.flatnonzero(row).tolist()} == {hash_name(word, 64) for word in expected}
    narrow = aw.data.read(path, names=names, categories="city").load()[0]
    assert {*np.flatnonzero(narrow[0]).tolist()} == {hash_name("city=Bern", 64), 64, 65}
    hidden = ("title", "label")
    other = [{"new": "word", **{name: row[name] for name in reversed(row) if name not in hidden}} for row in ROWS]
    again = aw.data.read(write(f"b{path[1:]}", other), names=names, target="none", **settings)
    np.testing.assert_array_equal(again.load()[0].toarray(), X.toarray())
    assert (again.names, again.schema) == (names, None)
    with pytest.raises(
        aw.InputError, match="has no column 'size', one of the features that were named; it has 'new', 'flag'"
    ):
        aw.data.read(f"b{path[1:]}", names=["flag", "size"], target="none").load()
    flags = aw.data.read(f"b{path[1:]}", names=["flag"], target="none").load()[0]
    assert flags.tolist() == [[1], [0], [1]]
    with pytest.raises(
        aw.InputError,
        match="'age' of b.* in instance 1, counted from 0; the features that were named have no 'age is missing'",
    ):
        aw.data.read(f"b{path[1:]}", names=["age"], target="none", missing="feature").load()


def test_names_of_lists(tmp_path):
    rows = [{"e": [1.0, 2.0], "a": 3, "y": 1}, {"e": [4.0, 5.0], "a": 6, "y": 0}]
    for name in ("a.parquet", "a.ndjson"):
        stream = aw.data.read(write(name, rows), missing="refuse")
        assert stream.load()[0].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert stream.names == ("e[0]", "e[1]", "a")
        found = aw.data.read(name, names=("a", "e[1]", "e[0]")).load()[0]
        assert found.tolist() == [[3, 2, 1], [6, 5, 4]]
        with pytest.raises(aw.InputError, match="column 'e' must hold 3 numbers in every row, got 2 in instance 0"):
            aw.data.read(name, names=("e[0]", "e[1]", "e[2]")).load()


def test_instances_without_labels(path):
    settings = {"drop": ["mail", "title", "city"], "missing": "feature"}
    X, y = aw.data.read(path, **settings).load()
    found = list(aw.data.read(path, target="none", rows=2, skip=1, **settings))
    np.testing.assert_array_equal(np.concatenate([chunk[0] for chunk in found]), X[1:])
    assert [chunk[1] for chunk in found] == [None] * len(found)
    X, y, times = aw.data.read(path, target="none", time="flag", drop=["title", "city", "age"], text="mail").load()
    assert (y, times.tolist()) == (None, [True, False, True])


@pytest.mark.parametrize(
    ("name", "text", "settings", "expected"),
    [
        ("a.svm", "1:2 3:1\n+1 2:5\n-1\n", {}, [[2, 0, 1], [0, 5, 0], [0, 0, 0]]),
        ("a.csv", "b,y,label\n1,x,\n2,,x\n", {}, [[1, 0], [2, 0]]),
        ("a.csv", "b,y,spam\n1,4,x\n2,5,\n", {"label": "spam", "missing": "refuse"}, [[1, 4], [2, 5]]),
        ("a.ndjson", '{"x": [1, 2]}\n{"x": [3, 4], "y": 1}\n', {}, [[1, 2], [3, 4]]),
        ("a.ndjson", '{"b": 1}\n{"b": 2, "label": "x"}\n', {"names": ["b"]}, [[1], [2]]),
    ],
)
def test_labels_are_not_needed_where_they_are_not_wanted(tmp_path, name, text, settings, expected):
    (tmp_path / name).write_text(text)
    chunks = list(aw.data.read(name, target="none", **settings))
    assert np.concatenate([dense(X) for X, _ in chunks]).tolist() == expected
    assert all(y is None for _, y in chunks)


def test_lines_of_vowpal_wabbit_without_labels(tmp_path):
    (tmp_path / "a.vw").write_text("|a x:2\n1 |a x\n 'tag|a x:3\n")
    ((X, y),) = aw.data.read("a.vw", target="none", n_features=64)
    assert (X[:, hash_name("a#x", 64)].toarray().ravel().tolist(), y) == ([2, 1, 3], None)


def test_settings_that_are_only_for_tables(tmp_path):
    (tmp_path / "a.svm").write_text("1 1:1\n")
    for settings in ({"categories": ["a"]}, {"names": ["a"]}, {"missing": "feature"}):
        with pytest.raises(aw.InputError, match="is only for tables, got "):
            aw.data.read("a.svm", **settings)
    with pytest.raises(aw.InputError, match="text= must be different names of columns, got "):
        aw.data.read("a.svm", text=["a", "a"])


def test_names_are_hashed_compiled_and_plain_alike():
    names = ["", "city=Bern", "größe=ü", "a" * 100]
    assert hashed_names(names, 1000).tolist() == [hash_name(name, 1000) for name in names]


def test_records_are_made_by_the_same_rules(path):
    settings = {"text": ["mail", "title"], "categories": "city", "missing": "feature", "n_features": 5000}
    X, _ = aw.data.read(path, target="none", **settings).load()
    found = list(read_records(path, **settings))
    np.testing.assert_array_equal(np.vstack([x.toarray() for x, _ in found]), X.toarray())
    assert list(found[0][1]) == ["age", "mail", "title", "city", "flag"]
    with pytest.raises(aw.InputError, match="'age' of a.* is empty or NaN in instance 1, .*; leave out missing='ref"):
        list(read_records(path, text="mail", missing="refuse"))
