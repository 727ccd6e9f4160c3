"""Mangled files of every format: whatever is in them, reading succeeds or raises an error of askwhen."""

import gzip
import json
import sys
import warnings

import numpy as np
import pyarrow as arrow
import pytest
from pyarrow import parquet

import askwhen as aw
from askwhen.data.unlabelled import read_records
from askwhen.errors import InputWarning

ROWS = 30
FILES = 60
"""So many for each format."""

RECORD = {"a": 0.5, "b": -1.25, "city": "köln", "when": "2015-02-24 11:35", "mail": 'some, "words"\nand ☃', "label": 1}
INSERTED = (b"\xff", b'"', b"\0", b"\r", b",", b"nan", b"1e999", b"\xe9", b"{", b"\xed\xa0\x80", b"\n")
TABLE = {"text": "mail", "categories": "city", "time": "when", "missing": "feature"}


def records():
    return [RECORD | {"a": i / 7, "mail": f"{RECORD['mail']} {i}", "label": i % 2} for i in range(ROWS)]


def separated(between):
    def cell(value):
        return '"{}"'.format(value.replace('"', '""')) if isinstance(value, str) else str(value)

    rows = [between.join(map(cell, record.values())) for record in records()]
    return "\n".join([between.join(RECORD), *rows, ""]).encode()


def lines(made):
    return "".join(f"{json.dumps(each, ensure_ascii=False)}\n" for each in made).encode()


def as_parquet():
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.Table.from_pylist(records()), sink)
    return sink.getvalue().to_pybytes()


CONTENTS = {
    "a.csv": (lambda: separated(","), TABLE),
    "a.tsv": (lambda: separated("\t"), TABLE),
    "a.csv.gz": (lambda: gzip.compress(separated(","), mtime=0), TABLE),
    "a.parquet": (as_parquet, TABLE),
    "a.ndjson": (lambda: lines(records()), TABLE),
    "pairs.ndjson": (lambda: lines({"x": [r["a"]], "y": r["label"], "time": r["when"]} for r in records()), {}),
    "tasks.jsonl": (
        lambda: lines({"text": r["mail"], "label": "x", "answer": ("accept", "reject")[r["label"]]} for r in records()),
        {"format": "prodigy", "positive": "x"},
    ),
    "a.svm": (lambda: "".join(f"{2 * r['label'] - 1:+d} 1:{r['a']} 3:2\n" for r in records()).encode(), {}),
    "a.vw": (lambda: "".join(f"{2 * r['label'] - 1} |n a:{r['a']} köln\n" for r in records()).encode(), {}),
}


def mangled(content, rng):
    found = bytearray(content)
    for _ in range(rng.integers(1, 5)):
        at, length = int(rng.integers(len(found) + 1)), int(rng.integers(1, 60))
        kind = rng.integers(5)
        if kind == 0:
            del found[at : at + length]
        elif kind == 1:
            found[at:at] = rng.bytes(length % 8)
        elif kind == 2:
            found[at:at] = found[at : at + length]
        elif kind == 3:
            found = found[:at] if rng.integers(4) == 0 else found
        else:
            found[at:at] = INSERTED[rng.integers(len(INSERTED))]
    return bytes(found)


@pytest.mark.parametrize("name", CONTENTS)
def test_only_errors_of_askwhen_come_out(tmp_path, monkeypatch, name):
    made, settings = CONTENTS[name]
    content, path, rng = made(), tmp_path / name, np.random.default_rng(7)
    path.write_bytes(content)
    assert aw.data.read(path, **settings).load()[0].shape[0] == ROWS
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    refused = []
    for i in range(FILES):
        path.write_bytes(mangled(content, rng))
        chosen = {name: settings[name] for name in settings if name in ("format", "positive") or i % 4}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)
            try:
                aw.data.read(path, **chosen).load()
                if settings is TABLE:
                    list(read_records(path, text="mail"))
            except aw.AskwhenError as error:
                refused.append(str(error))
    assert not ignored
    assert len(refused) > FILES / 4


def test_a_line_that_is_not_in_utf8_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},k{'ö' if i == 200 else 'o'}ln,{i % 2}" for i in range(300)]
    (tmp_path / "a.csv").write_bytes("\n".join(["a,city,label", *rows]).encode("latin-1"))
    with pytest.raises(aw.InputError, match="a.csv is not in UTF-8, as line 202 shows; .* by encoding=") as caught:
        aw.data.read("a.csv", categories="city").load()
    assert (caught.value.line, caught.value.mend) == (202, {"encoding": "latin-1"})
    assert aw.data.read("a.csv", categories="city", encoding="latin-1").load()[0].shape[0] == 300
    assert aw.data.read("a.csv", drop="city").load()[0].shape == (300, 2)  # what is left out need not be in UTF-8
    (tmp_path / "a.ndjson").write_bytes('{"a": 1, "label": 1}\n{"a": 1, "label": 1, "n": "ö"}\n'.encode("latin-1"))
    with pytest.raises(aw.InputError, match="a.ndjson is not in UTF-8, as line 2 shows"):
        aw.data.read("a.ndjson").load()
    (tmp_path / "c.csv").write_text("a,label\n1,1\n", encoding="utf-16-le")
    with pytest.raises(aw.InputError, match="c.csv is not in UTF-8; .*, such as 'utf-16'"):
        aw.data.read("c.csv").load()
