"""Tables of text: rows that are cut anywhere, and what stands between values."""

import csv
import io

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import askwhen as aw
from askwhen.data import files
from askwhen.data.csv_layout import row_end
from askwhen.data.formats import csv as csv_format

arrow = pytest.importorskip("pyarrow")


@pytest.mark.parametrize("delimiter", [";", "|", "\t", ":"])
def test_another_delimiter(tmp_path, delimiter):
    (tmp_path / "t.csv").write_text('a;b;label\n1,5;"x;y";1\n'.replace(";", delimiter).replace(",", "."))
    X, _ = aw.data.read("t.csv", delimiter=delimiter, categories="b").load()
    assert X[0, 0] == 1.5
    if delimiter != ":":
        np.testing.assert_array_equal(aw.data.read("t.csv", categories="b").load()[0], X)


@pytest.mark.parametrize("delimiter", ["", ";;", "ä", '"', "\n", 3])
def test_a_delimiter_that_cannot_be_is_refused(tmp_path, delimiter):
    (tmp_path / "t.csv").write_text("a,y\n1,1\n")
    with pytest.raises(aw.InputError, match="delimiter= must be one character"):
        aw.data.read("t.csv", delimiter=delimiter)
    with pytest.raises(aw.InputError, match="delimiter= is only for csv and tsv, got format='ndjson'"):
        aw.data.read("t.csv", format="ndjson", delimiter=";")


VALUES = st.text(st.sampled_from("ab \",\n\r'x"), max_size=6)


@settings(max_examples=60, deadline=None)
@given(st.lists(VALUES, min_size=1, max_size=40), st.integers(1, 30), st.booleans())
def test_rows_are_the_same_however_the_file_is_cut(values, size, dos):
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\r\n" if dos else "\n", quoting=csv.QUOTE_NONNUMERIC)
    writer.writerow(["n", "words", "label"])
    writer.writerows([i, value, i % 2] for i, value in enumerate(values))
    with open("t.csv", "w", newline="") as file:
        file.write(text.getvalue())
    stream = aw.data.read("t.csv", text="words", numbers="n", n_features=1 << 20)
    whole, labels = stream.load()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files.blocks_of, "__defaults__", (None, size))
        cut, others = stream.load()
    assert whole.shape[0] == len(values)
    assert (whole != cut).nnz == 0
    np.testing.assert_array_equal(labels, others)


@pytest.mark.parametrize(
    ("text", "whole"),
    [
        ("a,b\nc", "a,b\n"),
        ('a,"b\nc', ""),
        ('a,"b\nc"\nd', 'a,"b\nc"\n'),
        ('a,"b""\nc"\n', 'a,"b""\nc"\n'),
        ('5" disk\n6" disk\n', '5" disk\n6" disk\n'),
        ('"a"b"\nc\n', '"a"b"\nc\n'),
        ("a\rb", "a\r"),
    ],
)
def test_a_quote_counts_only_where_a_value_begins(text, whole):
    assert text[: row_end(np.frombuffer(text.encode(), np.uint8), ord(","), len(text))] == whole


def test_a_quote_that_is_never_closed_is_refused(tmp_path, monkeypatch):
    from askwhen.data.formats import csv as csv_format

    monkeypatch.setattr(csv_format, "LONGEST", 1 << 20)
    (tmp_path / "t.csv").write_text('a,y\n"1,1\n' + "1,1\n" * 3_000_000)
    with pytest.raises(aw.InputError, match="a row is longer than 1 MB; perhaps a quote is not closed"):
        aw.data.read("t.csv").load()


def test_a_bad_row_far_down_is_named(tmp_path):
    (tmp_path / "t.csv").write_text("a,label\n" + "1.25,1\n" * 1_500_000 + "1,1,1\n")
    with pytest.raises(aw.InputError, match="Row #1500002: Expected 2 columns, got 3"):
        aw.data.read("t.csv").load()


def test_a_value_that_is_no_number_is_named_by_its_own_column_behind_one_that_is_left_out(tmp_path):
    lines = [f"key-{i},{i % 7}.5,{i % 5}.5,{i % 2}" for i in range(100)]
    (tmp_path / "a.csv").write_text("\n".join(["id,tenure,size,label", *lines]) + "\n")
    schema = aw.data.read(tmp_path / "a.csv").schema
    assert schema.needed == ("tenure", "size")
    (tmp_path / "b.csv").write_text("id,tenure,size,label\nkey-1,abc,2.5,1\nkey-2,1.5,2.5,0\n")
    with pytest.raises(aw.InputError, match="column 'tenure' of .* holds 'abc' in instance 0"):
        aw.data.read(tmp_path / "b.csv", schema=schema).load()


def test_the_columns_of_a_file_are_found_once_in_each_reading(tmp_path, monkeypatch):
    made, layout = [], csv_format.CsvLayout
    monkeypatch.setattr(csv_format, "CsvLayout", lambda *facts: made.append(facts) or layout(*facts))
    rows = [f"{i}.5,{i % 3},{i % 2}\n" for i in range(40)]
    (tmp_path / "t.csv").write_text("a,b,label\n" + "".join(rows))
    stream = aw.data.read("t.csv")
    X, y = stream.load()
    assert len(made) == 1
    again, labels = stream.load()
    assert len(made) == 2
    np.testing.assert_array_equal(again, X)
    np.testing.assert_array_equal(labels, y)
    other = aw.data.read("t.csv")
    assert other.schema == stream.schema
    assert len(made) == 3
