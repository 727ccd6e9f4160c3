"""Keyed events whose instances have named values, by a schema that all samplers share."""

import datetime
import json

import pytest

import askwhen as aw
from askwhen.keyed.errors import StoreError
from askwhen.keyed.sampler_spec import SamplerSpec

COLUMNS = {"price": "number", "city": {"category": ["Rome", "Oslo"]}, "day": "date", "note": "text"}
SCHEMA = aw.data.make_schema(COLUMNS, places=64)
NUMBERS = {"price": "number", "city": {"category": ["Rome", "Oslo"]}}


def rows_of(n):
    return [
        {
            "price": None if i % 7 == 0 else 1.5 * i,
            "city": ["Rome", "Oslo", "Bern"][i % 3],
            "day": f"2026-01-{i % 28 + 1:02d}",
            "note": ["cheap red shoes", "blue"][i % 2],
        }
        for i in range(n)
    ]


def events_of(rows):
    """Events of two keys: instances, and answers to the first questions of each."""
    found = []
    for i, x in enumerate(rows):
        key, number = "ab"[i % 2], i // 2
        found.append({"key": key, "x": x, "id": i})
        if number < 20:
            found.append({"key": key, "round": number, "label": 1 if i % 3 else -1})
    return found


def write(path, events):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in events))


def decided(folder):
    lines = [line for file in sorted((folder / "one").iterdir()) for line in file.read_text().splitlines()]
    return [json.loads(line) for line in lines]


def new_sampler(schema=SCHEMA, **more):
    return aw.Sampler(rule=aw.Always(), schema=schema, seed=3, **more)


@pytest.mark.parametrize("schema", [SCHEMA, aw.data.make_schema(NUMBERS)], ids=["several kinds", "numbers"])
def test_every_key_plays_the_rounds_of_a_sampler_of_its_own(tmp_path, schema):
    rows = rows_of(60)
    write(tmp_path / "log" / "one.ndjson", events_of(rows))
    found = aw.keyed.run(tmp_path / "log", tmp_path / "store", new_sampler(schema), out=tmp_path / "out")
    assert (found.counts.instances, found.counts.answers, found.counts.refused) == (60, 40, 0)
    given = decided(tmp_path / "out")
    for key in "ab":
        alone = aw.Sampler(rule=aw.Always(), schema=schema, seed=aw.keyed.seed_of(3, key))
        mine = rows["ab".index(key) :: 2]
        margins = []
        for i, row in enumerate(mine):
            ask = alone.ask(row)
            margins.append(ask.margin)
            if i < 20:
                alone.tell(ask, 1 if (2 * i + "ab".index(key)) % 3 else -1)
        assert [each["margin"] for each in given if each["key"] == key] == margins
        stored = aw.keyed.sampler(str(tmp_path / "store"), key)
        assert stored.schema == schema
        assert stored.margins(mine[:3]).tolist() == alone.margins(mine[:3]).tolist()


def test_events_in_parquet_are_the_same(tmp_path):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    rows = rows_of(40)
    write(tmp_path / "lines" / "one.ndjson", [{"key": "a", "x": row} for row in rows])
    typed = [{"key": "a", "x": row | {"day": datetime.date.fromisoformat(row["day"])}} for row in rows]
    (tmp_path / "tables").mkdir()
    parquet.write_table(pyarrow.Table.from_pylist(typed), tmp_path / "tables" / "one.parquet")
    for log in ("lines", "tables"):
        aw.keyed.run(tmp_path / log, tmp_path / f"store-{log}", new_sampler(), out=tmp_path / f"out-{log}", batch=7)
    assert decided(tmp_path / "out-lines") == decided(tmp_path / "out-tables")


@pytest.mark.parametrize(
    ("x", "sentence"),
    [
        ({"prise": 3}, "x has no column 'price', perhaps 'prise'"),
        ({"price": "dear"}, "x must have a number as 'price', got 'dear'"),
        ({"note": None, "day": "soon"}, "x must have a date such as 2026-01-31 as 'day'"),
        ({"note": 7}, "x must have a text as 'note', got 7"),
        ([1.0, 2.0], "Expected `object"),
    ],
)
def test_an_event_that_does_not_fit_is_refused_and_the_others_are_played(tmp_path, x, sentence):
    rows = rows_of(5)
    wrong = x if isinstance(x, list) else rows[2] | x
    if isinstance(x, dict) and "prise" in x:
        del wrong["price"]
    write(tmp_path / "log" / "one.ndjson", [{"key": "a", "x": each} for each in (*rows, wrong, rows[0])])
    found = aw.keyed.run(tmp_path / "log", tmp_path / "store", new_sampler(), out=tmp_path / "out")
    assert (found.counts.instances, found.counts.refused) == (6, 1)
    assert sentence in decided(tmp_path / "out")[5]["refused"]


def test_the_schema_belongs_to_the_store(tmp_path):
    write(tmp_path / "log" / "one.ndjson", events_of(rows_of(6)))
    aw.keyed.run(tmp_path / "log", tmp_path / "store", new_sampler())
    spec = SamplerSpec.of(new_sampler(), None, False)
    assert SamplerSpec.read(spec.written()) == spec
    assert (spec.features, spec.sparse) == (SCHEMA.kinds.d, True)
    other = aw.data.make_schema(COLUMNS | {"city": {"category": ["Rome", "Bern"]}}, places=64)
    with pytest.raises(StoreError, match="another kind"):
        aw.keyed.run(tmp_path / "log", tmp_path / "store", new_sampler(other))
    with pytest.raises(aw.InputError, match=f"features must be {SCHEMA.kinds.d}, as the sampler's schema says, got 4"):
        SamplerSpec.of(new_sampler(), 4, False)


def test_people_are_shown_the_named_values(tmp_path):
    from askwhen.keyed.events import parse_lines
    from askwhen.keyed.job import open_store
    from askwhen.keyed.worker import PartitionWorker

    class Reader:
        def __init__(self, spec, events):
            self.events, self.spec = b"".join(json.dumps(each).encode() + b"\n" for each in events), spec

        def read(self, position, most):
            return parse_lines([] if position else self.events.split(b"\n"), self.spec), "end"

    spec, rows = SamplerSpec.of(new_sampler(), None, False), rows_of(3)
    store = open_store(str(tmp_path / "store")).claim("one", spec.written())
    reader = Reader(spec, [{"key": "a", "x": row} for row in rows])
    worker = PartitionWorker("one", reader, store, spec, cache=10, batch=10, shows=True)
    worker.step()
    (_, body), *_ = store.decisions()
    worker.close()
    assert [json.loads(line)["x"] for line in body.splitlines()] == rows


def test_an_encoder_that_is_not_here_stops_the_work(tmp_path):
    write(tmp_path / "log" / "one.ndjson", events_of(rows_of(2)))
    encoder = aw.encoders.load(lambda texts: [[float(len(text))] * 2 for text in texts], name="lengths")
    sampler = new_sampler(aw.data.make_schema(COLUMNS, places=64, encoder=encoder))
    assert aw.keyed.run(tmp_path / "log", tmp_path / "here", sampler).counts.refused == 0
    from askwhen.encoders import loading

    loading._loaded.clear()  # as in a worker process
    with pytest.raises(aw.InputError, match="texts were encoded by 'lengths'"):
        aw.keyed.run(tmp_path / "log", tmp_path / "there", sampler)
    assert not (tmp_path / "there").exists() or aw.keyed.running.open_store(str(tmp_path / "there")).kind() is None
