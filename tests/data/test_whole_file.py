"""Columns that are empty or constant in the first rows, and not in the whole file."""

import json

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from askwhen.data import csv_layout, inference
from askwhen.data.formats import csv, ndjson, parquet
from askwhen.engine.inputs.named_rows import schema_of

arrow = pytest.importorskip("pyarrow")

ROWS, LATE, HEAD = 3000, 2500, 1000
COLUMNS = {
    "level": [1.5 if i < LATE else 1.5 + i % 7 for i in range(ROWS)],
    "city": ["Bern" if i < LATE else ["Zug", "Wien", "Bern"][i % 3] for i in range(ROWS)],
    "month": [i // LATE for i in range(ROWS)],
    "note": ["" if i < LATE else f"please call {['me', 'us'][i % 2]} back" for i in range(ROWS)],
    "same": ["x"] * ROWS,
    "none": [""] * ROWS,
    "a": [i % 11 / 2 for i in range(ROWS)],
    "y": [i % 2 for i in range(ROWS)],
}


@pytest.fixture(autouse=True)
def _few_rows_decide(monkeypatch):
    for module in (inference, parquet, ndjson):
        monkeypatch.setattr(module, "ROWS", HEAD)
    for module in (csv, csv_layout):
        monkeypatch.setattr(module, "HEAD", 1 << 14)


def written(path):
    frame = pd.DataFrame(COLUMNS)
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path)
    else:
        path.write_text("".join(json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in frame.to_numpy()))
    return path


def roles(schema):
    return {name: role for name, role, _ in schema.described()}


@pytest.mark.parametrize("kind", ["csv", "parquet", "ndjson"])
def test_a_column_that_changes_late_is_not_left_out(tmp_path, kind):
    stream = aw.data.read(written(tmp_path / f"f.{kind}"))
    X, _ = stream.load()
    found = roles(stream.schema)
    assert found == {
        "level": "number",
        "city": "category",
        "month": "number",
        "note": "category",
        "a": "number",
        "same": "dropped",
        "none": "dropped",
        "y": "label",
    }
    assert X.shape == (ROWS, stream.kinds.d)
    if kind == "csv":
        dense = X if isinstance(X, np.ndarray) else X.toarray()
        cities = [name for name in stream.names if name.startswith("city=")]
        assert sorted(cities) == ["city=Bern", "city=Wien", "city=Zug"]
        assert dense[LATE + 1, stream.names.index("level")] == COLUMNS["level"][LATE + 1]
        assert dense[:LATE, stream.names.index("city=Bern")].all()


def test_a_frame_is_seen_as_a_whole():
    frame = pd.DataFrame(COLUMNS)[["level", "city", "same"]]
    assert roles(schema_of(frame, None)) == {"level": "number", "city": "category", "same": "dropped"}
    assert roles(schema_of(frame[:LATE], None))["city"] == "dropped"


def test_the_columns_that_are_printed_are_those_that_are_learnt_from(tmp_path):
    path = written(tmp_path / "f.csv")
    stream = aw.data.read(path)
    assert stream.schema.summary() == "Columns: 3 numbers, 2 categories; left out same (always 'x'), none (empty)."
    stream.load(100)
    assert roles(aw.data.read(path).schema) == roles(stream.schema)
