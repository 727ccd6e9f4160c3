"""The rows of a file are counted as they are read, whatever is in their values."""

import gzip
import pathlib

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.counting import count_rows

HERE = pathlib.Path()

FILES = {
    "plain.csv": b"a,label\n1,0\n2,1\n\n3,0\n",
    "windows.csv": b"a,label\r\n1,0\r\n2,1\r\n",
    "quoted.csv": b'a,text,label\n1,"two\nlines, ""quoted""",0\n2,"",1\n',
    "no-end.tsv": b"a\tlabel\n1\t0\n2\t1",
    "empty.csv": b"a,label\n",
    "lines.svm": b"+1 1:2\n\n-1 2:3 # remark\n# only a remark\n",
    "lines.vw": b"1 | a:1 b\n-1 | c\n",
    "lines.ndjson": b'{"a": 1, "label": 1}\n\n{"a": 2, "label": 0}\n',
}
COUNTS = {"plain.csv": 3, "quoted.csv": 2, "empty.csv": 0}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_rows_are_counted_as_they_are_read(name, packed):
    path = HERE / (name + ".gz" * packed)
    path.write_bytes(gzip.compress(FILES[name]) if packed else FILES[name])
    assert count_rows(path) == COUNTS.get(name, 2)
    if name != "empty.csv":
        text = ("text",) if name == "quoted.csv" else None
        assert sum(len(y) for _, y, *_ in aw.data.read(path, text=text)) == count_rows(path)


def test_a_table_of_another_kind_is_counted_and_what_cannot_be_read_is_not():
    arrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(arrow.table({"a": np.arange(7.0)}), "t.parquet")
    assert count_rows("t.parquet") == 7
    pathlib.Path("bad.parquet").write_bytes(b"PAR1 nothing")
    pathlib.Path("bad.csv.gz").write_bytes(b"\x1f\x8b nothing")
    assert [count_rows(name) for name in ("bad.parquet", "bad.csv.gz", "nothing.csv", "-")] == [None] * 4
