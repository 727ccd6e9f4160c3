"""Names of columns and labels that a file does not have are refused, with the nearest name that it has."""

import json

import pytest

import askwhen as aw
from askwhen.data.unlabelled import read_records

HEAD = "age,city,mail,leak,label\n"
ROWS = "".join(f"{i},york,hello there,{i % 2},{i % 2}\n" for i in range(20))


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture(params=["a.csv", "a.parquet", "a.ndjson"])
def path(here, request):
    (here / "a.csv").write_text(HEAD + ROWS)
    if request.param == "a.parquet":
        from pyarrow import csv, parquet

        parquet.write_table(csv.read_csv("a.csv"), "a.parquet")
    if request.param == "a.ndjson":
        names = HEAD.strip().split(",")
        records = [dict(zip(names, line.split(","), strict=True)) for line in ROWS.splitlines()]
        numbers = ("age", "leak", "label")
        made = [{k: int(v) if k in numbers else v for k, v in record.items()} for record in records]
        (here / "a.ndjson").write_text("\n".join(map(json.dumps, made)))
    return request.param


KNOWN = {"text": "mail", "categories": "city"}


@pytest.mark.parametrize(
    ("said", "sentence"),
    [
        ({"drop": "Leak"}, "'Leak', perhaps 'leak'; .* 'age', 'city', 'mail'"),
        ({"drop": ["leak", "quite else"]}, "'quite else'; "),
        ({"label": "lable"}, "no column 'lable', perhaps 'label'; it has"),
        ({"time": "AGE"}, "no column 'AGE', perhaps 'age'; it has"),
        (
            {"text": "mails", "categories": "citty"},
            "'mails', perhaps 'mail', and no column 'citty', perhaps 'city'; it",
        ),
        ({"names": ["age", "leek", "levk"]}, "'leek', perhaps 'leak', and no column 'levk', perhaps 'leak', features"),
        ({"label": "city", "positive": "york"}, "'city' is label=, and must not be a feature too"),
    ],
)
def test_a_column_that_is_not_there_is_refused(path, said, sentence):
    with pytest.raises(aw.InputError, match=sentence):
        next(iter(aw.data.read(path, **KNOWN | said)))  # before anything is given out


def test_a_column_that_is_not_there_is_refused_where_people_label(path):
    with pytest.raises(aw.InputError, match="'Leak', perhaps 'leak'"):
        next(read_records(path, drop="Leak", **KNOWN))


def test_a_column_that_only_some_records_have_may_be_dropped(here):
    (here / "a.ndjson").write_text('{"a": 1, "label": 1}\n{"a": 2, "label": 0, "note": "x"}\n')
    assert aw.data.read("a.ndjson", drop="note").load()[0].shape == (2, 2)


def test_what_is_prodigys_own_need_not_be_there_to_be_dropped(here):
    (here / "a.jsonl").write_text('{"text": "a b", "label": "x", "answer": "accept"}\n')
    assert aw.data.read("a.jsonl", format="prodigy", drop=["meta", "_task_hash"], positive="x").load()[0].shape[0] == 1


@pytest.mark.parametrize("name", ["label", "time", "text", "drop"])
def test_files_without_columns_take_no_names_of_columns(here, name):
    (here / "a.svm").write_text("+1 1:1\n")
    with pytest.raises(aw.InputError, match=f"{name}= is only for tables, got svmlight"):
        aw.data.read("a.svm", **{name: "b"})


@pytest.mark.parametrize("said", [{"drop": "leak"}, {"time": "when"}])
def test_pairs_have_no_columns(here, said):
    (here / "a.ndjson").write_text('{"x": {"leak": 1}, "y": 1}\n')
    with pytest.raises(aw.InputError, match=f"{next(iter(said))}= is for columns, and a.ndjson has lines such as"):
        aw.data.read("a.ndjson", **said).load()


def test_a_positive_label_that_is_not_there_is_refused(here):
    (here / "a.csv").write_text("a,label\n" + "1,ham\n" * 50 + "2,spam\n" * 50)
    with pytest.raises(aw.InputError, match="'Spam' that is positive=, perhaps 'spam'; its labels are 'ham', 'spam'"):
        aw.data.read("a.csv", positive="Spam").load()
    (here / "a.csv").write_text("a,label\n" + "1,ham\n" * 100 + "2,spam\n")
    with pytest.raises(aw.InputError, match="none of the first 100 instances of a.csv has the label 'spam'"):
        aw.data.read("a.csv", positive="spam").load(100)


def test_a_column_that_is_not_there_is_refused_where_rows_go_to_a_service(path):
    from askwhen.client.file_rows import FileRows

    for reading, sentence in [
        ({"drop": ("Leak", "city", "mail")}, "'Leak', perhaps 'leak'"),
        ({"label": "lable", "drop": ("city", "mail")}, "no column 'lable', perhaps 'label'"),
    ]:
        with pytest.raises(aw.InputError, match=sentence):
            next(FileRows(path, reading, {"kind": "numbers"}).read())
