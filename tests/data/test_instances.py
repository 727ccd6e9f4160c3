"""Columns as instances: the same whatever file they come from, however it is cut."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.data import files
from askwhen.data.hashing import hash_name, hashed_names
from askwhen.data.unlabelled import read_records

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


@pytest.mark.usefixtures("_cut")
@pytest.mark.parametrize("rows", [1, 100])
def test_texts_categories_numbers_and_gaps_side_by_side(path, rows):
    settings = {"text": ["mail", "title"], "categories": ["city"], "missing": "feature", "n_features": 5000}
    stream = aw.data.read(path, rows=rows, **settings)
    assert stream.names is None
    X, y = stream.load()
    assert stream.names == ("age", "flag", "age is missing", "flag is missing")
    assert X.shape == (3, 5004)
    assert X[:, 5000:].toarray().tolist() == [[30.5, 1, 0, 0], [0, 0, 1, 0], [41, 1, 0, 0]]
    words = [{"buy", "now", "title#now", "city=Bern"}, {"see", "you", "city="}, {"title#you", "title#now", "city=Zug"}]
    for row, expected in zip(X[:, :5000].toarray(), words, strict=True):
        assert {*np.flatnonzero(row).tolist()} == {hash_name(word, 5000) for word in expected}
    assert y.tolist() == [1, -1, 1]


def test_categories_beside_numbers_stay_dense_and_cost_no_accuracy(tmp_path):
    X, y = aw.data.switching(3000, 5, seed=2)
    X = 10.0 + X * [1, 5, 25, 100, 400]  # which only instances that are standardised can be learnt from
    lines = [",".join([*map(repr, x.tolist()), "ab"[i % 2], str(int(y[i]))]) for i, x in enumerate(X)]
    (tmp_path / "s.csv").write_text("\n".join(["f0,f1,f2,f3,f4,job,label", *lines]))
    found, labels = aw.data.read(tmp_path / "s.csv", categories="job").load()
    assert isinstance(found, np.ndarray)
    assert found.shape == (3000, 64 + 5)
    assert {hash_name("job=a", 64), hash_name("job=b", 64)} == {*np.flatnonzero(found[:, :64].any(axis=0)).tolist()}
    without, _ = aw.data.read(tmp_path / "s.csv", drop="job").load()
    many, _ = aw.data.read(tmp_path / "s.csv", categories="job", n_features=5000).load()
    assert many.shape == (3000, 5005)
    right = [1 - aw.Sampler(seed=1).run(rows, labels).mistakes / 3000 for rows in (without, found)]
    assert right[0] - 0.05 < right[1]


def test_one_text_alone_is_hashed_without_its_name(path):
    X, _ = aw.data.read(path, text="mail", drop=["title", "city", "age", "flag"], n_features=512).load()
    assert (aw.data.hash_text([row["mail"] for row in ROWS], 512) != X).nnz == 0


def test_gaps_are_refused_with_their_cure(path):
    with pytest.raises(aw.InputError, match="'age' of a.* is empty or NaN in instance 1, .*give missing='feature', or"):
        aw.data.read(path, drop=["mail", "title", "city"]).load()
    with pytest.raises(
        aw.InputError, match="'city' of a.* is empty or NaN in instance 1, .*give missing='feature', or"
    ):
        aw.data.read(path, drop=["mail", "title", "age"], categories="city").load()
    with pytest.raises(aw.InputError, match="column 'city' is needed, and named in drop= too"):
        aw.data.read(path, drop="city", categories="city").load()
    with pytest.raises(aw.InputError, match="missing= must be 'refuse' or 'feature', got 'zero'"):
        aw.data.read(path, missing="zero")


def test_words_that_nobody_spoke_of_are_refused(path):
    with pytest.raises(
        aw.InputError,
        match=r"3 columns of a.* hold no numbers: 'mail', 'title', 'city'; name each in drop=, text= or ca",
    ):
        aw.data.read(path, drop="age").load()


def test_names_bring_the_columns_of_another_file_into_order(path):
    settings = {"text": "mail", "missing": "feature", "n_features": 64}
    stream = aw.data.read(path, drop=["title", "city"], **settings)
    X, _ = stream.load()
    other = [{"new": "word", "flag": row["flag"], "mail": row["mail"], "age": row["age"]} for row in ROWS]
    again = aw.data.read(write(f"b{path[1:]}", other), names=stream.names, target="none", **settings)
    found, y = again.load()
    np.testing.assert_array_equal(dense(found), dense(X))
    assert (again.names, y) == (stream.names, None)
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
        stream = aw.data.read(write(name, rows))
        assert stream.load()[0].tolist() == [[1, 2, 3], [4, 5, 6]]
        assert stream.names == ("e[0]", "e[1]", "a")
        found = aw.data.read(name, names=("a", "e[1]", "e[0]")).load()[0]
        assert found.tolist() == [[3, 2, 1], [6, 5, 4]]
        with pytest.raises(
            aw.InputError, match="column 'e' of .* must hold 3 numbers in every row, got 2 in instance 0"
        ):
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
        ("a.csv", "b,y,label\n1,x,\n2,,x\n", {}, [[1], [2]]),
        ("a.csv", "b,y,spam\n1,4,x\n2,5,\n", {"label": "spam"}, [[1, 4], [2, 5]]),
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
    with pytest.raises(aw.InputError, match="'age' of a.* is empty or NaN in instance 1, .*give missing='feature'"):
        list(read_records(path, text="mail"))
