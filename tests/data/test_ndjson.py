"""Records of JSON: the first one says what the columns are."""

import json

import pytest

import askwhen as aw
from askwhen.data import files
from askwhen.data.hashing import hash_name
from askwhen.data.schema import ANY_GAP

BODIES = [{"body": f"word{i % 3} hello", "size": i + 0.5, "label": "spam" if i % 2 else "ham"} for i in range(40)]


def write(*records):
    with open("a.ndjson", "w") as file:
        file.write("".join(json.dumps(record) + "\n" for record in records))


@pytest.mark.parametrize("size", [5, 100, 1 << 22])
def test_records_with_a_text_and_a_label(monkeypatch, size):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, size))
    write(*BODIES)
    stream = aw.data.read("a.ndjson", text="body", label="label", positive="spam", n_features=1000)
    X, y = stream.load()
    assert X[:, 0].toarray().ravel().tolist() == [i + 0.5 for i in range(40)]
    assert (X[:, 2 + hash_name("hello", 1000)].sum(), stream.names) == (40, ("size", ANY_GAP))
    assert y.tolist() == [1 if i % 2 else -1 for i in range(40)]
    X, _, times = aw.data.read("a.ndjson", time="size", text="body", positive="spam", n_features=1000).load()
    assert (X.shape, times.tolist()) == ((40, 1000), [i + 0.5 for i in range(40)])
    assert aw.data.read("a.ndjson", drop="body", positive="spam").load()[0].shape == (40, 2)


def test_pairs_stay_pairs_unless_a_column_is_named():
    write({"x": [1, 2], "y": 1, "z": 3}, {"x": [3, 4], "y": 0, "z": 4})
    stream = aw.data.read("a.ndjson")
    assert (stream.load()[0].tolist(), stream.names) == ([[1, 2], [3, 4]], None)
    stream = aw.data.read("a.ndjson", label="y", missing="refuse")
    assert (stream.load()[0].tolist(), stream.names) == ([[1, 2, 3], [3, 4, 4]], ("x[0]", "x[1]", "z"))


@pytest.mark.parametrize(
    ("record", "settings", "sentence"),
    [
        ({"a": "x", "label": 1}, {}, "must have a number as 'a' in instance 10000, got 'x'"),
        ({"label": 1}, {"missing": "refuse"}, "column 'a' of a.ndjson is empty or NaN in instance 10,000"),
        (
            {"a": 1, "label": [1]},
            {},
            r"a number, a text, true or false as 'label' in instance 10000, got \[1\]",
        ),
        ({"a": 10**400, "label": 1}, {}, "has a number in 'a' that is too large"),
        ({"a": [1], "label": 1}, {}, "must have a number as 'a' in instance 10000"),
    ],
)
def test_a_record_unlike_the_first_ones_is_refused(record, settings, sentence):
    write(*[{"a": 1.5, "label": 0}] * 10_000, record)
    with pytest.raises(aw.InputError, match=sentence):
        aw.data.read("a.ndjson", **settings).load()


def test_names_that_the_first_records_lack_are_ignored():
    write(*[{"a": 1.5, "label": 0}] * 10_000, {"a": 2, "b": 2, "label": 1}, {"label": 1})
    assert aw.data.read("a.ndjson").load()[0][-3:].tolist() == [[1.5, 0], [2, 0], [0, 1]]


def test_lists_are_as_long_as_the_first(monkeypatch):
    monkeypatch.setattr(files.blocks_of, "__defaults__", (None, 16))
    write(*[{"e": [1, 2], "y": 1}] * 10_000, {"e": [5], "y": 0})
    with pytest.raises(aw.InputError, match="column 'e' must hold 2 numbers in every row, got 1 in instance 10,000"):
        aw.data.read("a.ndjson").load()
    write(*[{"e": [1, 2], "y": 1}] * 10_000, {"e": ["a", 4], "y": 0})
    with pytest.raises(aw.InputError, match="must have numbers in 'e' in instance 10000"):
        aw.data.read("a.ndjson").load()
    write({"e": [1, 2], "y": 1}, {"y": 0}, {"e": [None, 3], "y": 0})
    X, _ = aw.data.read("a.ndjson", missing="feature").load()
    assert X.tolist() == [[1, 2, 0], [0, 0, 1], [0, 3, 1]]
    write({"e": None, "y": 1}, {"e": [1, 2], "y": 0})
    X, _ = aw.data.read("a.ndjson", missing="feature", names=["e[0]", "e[1]", "e is missing"]).load()
    assert X.tolist() == [[0, 0, 1], [1, 2, 0]]


def test_what_the_first_record_lacks_is_named_by_names():
    write({"a": 1, "label": 0}, {"a": 2, "b": 3, "label": 1})
    names = ["b", "a", "b is missing"]
    X, _ = aw.data.read("a.ndjson", missing="feature", names=names).load()
    assert X.tolist() == [[0, 1, 1], [3, 2, 0]]


@pytest.mark.parametrize("text", ['[{"a": 1, "label": 0},\n{"a": 2, "label": 1}]\n', '[\n{"a": 1, "label": 0}\n]\n'])
def test_an_array_is_refused_with_what_makes_lines_of_it(tmp_path, text):
    path = tmp_path / "a.ndjson"
    path.write_text(text)
    with pytest.raises(aw.InputError, match=r"a.ndjson, line 1, must be an object .* got an array; jq -c '\.\[\]'"):
        aw.data.read(path).load()
