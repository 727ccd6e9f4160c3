"""Schemas that are given beforehand, and single records that do not fit them."""

import json

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.schema_given import make_schema, schema_from
from askwhen.data.schema_json import to_json

COLUMNS = {
    "price": "number",
    "city": {"category": ["Rome", "Oslo"]},
    "day": "date",
    "when": {"date": "%d/%m/%Y"},
    "shop": "category",
    "note": "text",
    "photo": {"vector": 3},
    "id": "drop",
}
RECORD = {
    "price": 2.5,
    "city": "Oslo",
    "day": "2026-01-31",
    "when": "31/01/2026",
    "shop": "s17",
    "note": "two red shoes",
    "photo": [1.0, 0.0, 2.0],
}


def test_columns_are_what_they_are_said_to_be():
    schema = make_schema(COLUMNS, places=64)
    assert [role for _, role, _ in schema.described()] == [
        *("number", "category", "date", "date", "category", "text", "vector", "dropped")
    ]
    assert (schema.kinds.vectors, schema.kinds.words, schema.needed) == ((3,), 64, tuple(RECORD))
    row = dict(zip(schema.names, schema.row(RECORD).toarray()[0].tolist(), strict=False))
    assert (row["price"], row["city=Oslo"], row["city is another value"]) == (2.5, 1.0, 0.0)
    assert (
        row["day, in days"] == row["when, in days"] == (np.datetime64("2026-01-31") - np.datetime64(0, "D")).astype(int)
    )
    assert schema_from(schema) is schema
    assert schema_from({"schema": json.loads(json.dumps(to_json(schema)))}) == schema


def test_what_is_missing_or_never_seen_has_a_place():
    schema = make_schema({"price": "number", "city": {"category": ["Rome"]}})
    assert schema.names == (
        "price",
        "city=Rome",
        "city is another value",
        "city is missing",
        "another number is missing",
    )
    assert schema.row({"price": None, "city": "Bern"}).tolist() == [0.0, 0.0, 1.0, 0.0, 1.0]
    assert schema.row({"price": float("nan"), "city": None, "more": 1}).tolist() == [0.0, 0.0, 0.0, 1.0, 1.0]
    assert schema.row({"price": "3", "city": "?"}).tolist() == [3.0, 0.0, 0.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"price": "abc"}, "must have a number as 'price', got 'abc'"),
        ({"price": [1]}, "must have a number as 'price'"),
        ({"city": ["Rome"]}, "must have a text as 'city'"),
        ({"shop": {}}, "must have a text as 'shop'"),
        ({"day": "yesterday"}, "must have a date such as 2026-01-31 as 'day', got 'yesterday'"),
        ({"when": "2026-01-31"}, "must have a date written as %d/%m/%Y as 'when'"),
        ({"note": 5}, "must have a text as 'note', got 5"),
        ({"photo": [1.0]}, r"must have a list of 3 numbers as 'photo', got \[1.0\]"),
        ({"photo": [1.0, 2.0, "3"]}, "must have a list of 3 numbers as 'photo'"),
    ],
)
def test_a_value_of_another_type_is_refused(wrong, sentence):
    with pytest.raises(aw.InputError, match=sentence):
        make_schema(COLUMNS).row(RECORD | wrong)


@pytest.mark.parametrize("name", RECORD)
def test_a_column_that_is_absent_is_refused_alone_and_among_others(name):
    record = {key: value for key, value in RECORD.items() if key != name} | {f"{name}s": 1}
    with pytest.raises(aw.InputError, match=f"no column '{name}', perhaps '{name}s'.*give None"):
        make_schema(COLUMNS).row(record)
    sampler = aw.Sampler(schema=make_schema(COLUMNS, places=64), seed=7)
    with pytest.raises(aw.InputError, match=f"row 1 of X has no column '{name}', perhaps '{name}s'"):
        sampler.run([RECORD, record | {"more": 1}], [0, 1])
    assert sampler.round == 0


@pytest.mark.parametrize(
    "wrong",
    [
        {},
        [],
        {"": "number"},
        {"a": "numbers"},
        {"a": {"vector": 0}},
        {"a": {"vector": True}},
        {"a": {"category": []}},
        {"a": {"category": ["b", "b"]}},
        {"a": {"category": [str(i) for i in range(63)]}},
        {"a": {"date": "day"}},
        {"a": {"number": 3}},
        {"a": None},
        {"a": "drop"},
        {"columns": [{"type": "number"}], "places": 4, "missing": "auto"},
    ],
)
def test_a_schema_that_says_nothing_is_refused(wrong):
    with pytest.raises(aw.InputError):
        schema_from(wrong)


def test_a_sampler_with_a_schema_takes_records_from_the_first_one_on(tmp_path):
    schema = make_schema(COLUMNS, places=64)
    rows = [RECORD | {"price": i, "city": ["Rome", "Oslo", "Bern"][i % 3]} for i in range(60)]
    y = [i % 2 for i in range(60)]
    whole, single = aw.Sampler(schema=schema, seed=7), aw.Sampler(schema=COLUMNS, seed=7)
    single.save(tmp_path / "new")
    loaded = aw.Sampler.load(tmp_path / "new")
    assert loaded.schema == single.schema == make_schema(COLUMNS)
    single = aw.Sampler(schema=schema, seed=7)
    single.save(tmp_path / "new")
    single = aw.Sampler.load(tmp_path / "new")
    with pytest.raises(aw.InputError, match="a number as 'price'"):
        single.ask(RECORD | {"price": "x"})
    trace = whole.run(rows, y)
    for i, row in enumerate(rows):
        ask = single.ask(row)
        assert (ask.margin, ask.query) == (trace.margin[i], trace.queried[i])
        if ask.query:
            single.tell(ask, y[i])
    assert single.schema == whole.schema == schema


def test_schemas_that_a_learner_cannot_have_are_refused():
    with pytest.raises(aw.InputError, match="for the default learner, got Perceptron"):
        aw.Sampler(aw.Perceptron(), schema=COLUMNS)
    with pytest.raises(aw.InputError, match="leave out kinds and columns"):
        aw.Sampler(schema=COLUMNS, columns=aw.Columns())
    assert aw.Sampler(aw.Perceptron(), aw.Always(), schema={"a": "number"}, seed=1).ask({"a": 1.0}).query
