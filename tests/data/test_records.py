"""Instances without labels, beside what a person sees of them."""

import json

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.unlabelled import read_records

arrow = pytest.importorskip("pyarrow")

TEXTS = [f'word{i % 7} and, "quoted"\nline {i}' for i in range(700)]


@pytest.fixture(params=["csv", "tsv", "parquet", "ndjson", "csv.gz"])
def path(request, tmp_path):
    import csv
    import gzip

    from pyarrow import parquet

    records = [{"id": f"m{i}", "body": text, "size": i + 0.5, "label": "x"} for i, text in enumerate(TEXTS)]
    found = tmp_path / f"mails.{request.param}"
    if request.param == "ndjson":
        found.write_text("\n".join(json.dumps(record) for record in records))
    elif request.param == "parquet":
        parquet.write_table(arrow.Table.from_pylist(records), found)
    else:
        opened = gzip.open if request.param.endswith("gz") else open
        with opened(found, "wt", newline="") as file:
            writer = csv.DictWriter(file, list(records[0]), delimiter="\t" if request.param == "tsv" else ",")
            writer.writeheader()
            writer.writerows(records)
    return found


def test_records_are_the_rows_and_instances_their_words_and_numbers(path):
    found = list(read_records(path, text="body", n_features=64))
    assert [record["body"] for _, record in found] == TEXTS
    assert list(found[3][1]) == ["id", "body", "size"]  # a label would tell the answer
    words = aw.data.hash_text(TEXTS, 64)
    for i in (0, 255, 256, 699):
        x = found[i][0]
        assert x.shape == (1, 66)
        np.testing.assert_array_equal(x.toarray()[0], [i + 0.5, 0, *words[i].toarray()[0]])


@pytest.mark.parametrize("skip", [1, 256, 300, 700])
def test_some_are_passed_over(path, skip):
    found = list(read_records(path, text="body", skip=skip))
    assert [record["body"] for _, record in found] == TEXTS[skip:]


def test_without_a_text_the_numbers_are_the_features(path):
    x, record = next(read_records(path, drop=("body",)))
    np.testing.assert_array_equal(x, [0.5, 0])
    assert list(record) == ["id", "size"]


def test_what_is_missing_is_named(tmp_path, path):
    with pytest.raises(aw.InputError, match="has no column 'nothing'; it has 'id'"):
        next(read_records(path, text="nothing"))
    with pytest.raises(aw.InputError, match="has no column to learn from; left out: 'id' .an identifier: every"):
        next(read_records(path, drop=("size", "body")))
    bad = tmp_path / "bad.ndjson"
    bad.write_text('{"a": 1}\n[]\n')
    with pytest.raises(
        aw.InputError, match=r"bad.ndjson, line 2, must be an object with a value for each name, got an array; jq"
    ):
        list(read_records(bad))
    bad.write_text('{"a": 1}\n' * 10_000 + '{"a": "x"}\n')
    with pytest.raises(aw.InputError, match=r"must have a number as 'a' in instance 10000, got 'x'\.$"):
        list(read_records(bad))
    with pytest.raises(aw.InputError, match="records come from csv, ndjson, parquet, prodigy or tsv, got svmlight"):
        next(read_records(tmp_path / "x.svm"))
