"""Streams of named columns: a schema that is given or found from examples, stored and read as the library reads it."""

import json

import msgspec
import numpy as np
import pytest

import askwhen as aw
from askwhen.client.file_rows import FileRows
from askwhen.client.stream_calls import create_stream
from askwhen.data.schema_given import schema_from
from askwhen.data.schema_json import to_json
from askwhen.errors import SnapshotError
from askwhen.service.domain.features import FeatureReader
from askwhen.service.domain.model import Model
from askwhen.service.events.settings import Features, Settings
from askwhen.service.use_cases import instances, questions, replaying, streams
from askwhen.service.use_cases.instances import Raw
from tests.service.coordinators import Time, open_coordinator, run, settings

COLUMNS = {
    "price": "number",
    "city": {"category": ["Rome", "Oslo"]},
    "day": "date",
    "shop": "category",
    "note": "text",
    "photo": {"vector": 3},
    "id": "drop",
}
RECORDS = [
    {
        "price": None if i % 7 == 0 else 1.5 * i,
        "city": ["Rome", "Oslo", "Bern"][i % 3],
        "day": f"2026-01-{i % 28 + 1:02d}",
        "shop": f"s{i % 5}",
        "note": ["two cheap red shoes", "a blue hat for you"][i % 2],
        "photo": [float(i % 4), 1.0, 0.5],
    }
    for i in range(60)
]
NUMBERS = {"price": "number", "city": {"category": ["Rome", "Oslo"]}}


def features(schema=COLUMNS, **more):
    return Features(kind="columns", schema=schema, places=64, vectors=False, **more)


def create(tmp_path, given, **more):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            return (await streams.create(coordinator, "orders", settings(features=given, **more))).settings

    return run(go())


@pytest.mark.parametrize("columns", [COLUMNS, NUMBERS], ids=["several kinds", "numbers"])
def test_a_stream_of_columns_decides_as_the_library_and_goes_on_after_a_restart(tmp_path, columns):
    schema = aw.data.make_schema(columns, places=64)
    sampler = aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, schema=schema)
    time = Time()

    async def part(records, first):
        async with open_coordinator(tmp_path / "log.db", time) as coordinator:
            if first == 0:
                given = settings(features=features(columns), grace=0.0)
                await streams.create(coordinator, "orders", given)
            stream = coordinator.stream("orders")
            assert schema_from(stream.settings.features.schema) == schema
            assert stream.model.sampler.schema == schema
            for i, record in enumerate(records, first):
                decision = await instances.play(coordinator, stream, Raw(record, f"n{i}"))
                ask = sampler.ask(record)
                assert (decision.margin, decision.asked) == (ask.margin, ask.query)
                if ask.query:
                    shown = await questions.next_question(coordinator, stream, "cid")
                    assert shown.x == record
                    await questions.answer(coordinator, stream, shown.question, "cid", "spam", f"c{i}")
                    time.now += 1.0
                    coordinator.tick()
                    sampler.tell(ask, 1)
            if first:
                before = stream.model.sampler.margins(RECORDS)
                assert await replaying.replay(coordinator, stream, "ann") == stream.model.sampler.questions > 3
                np.testing.assert_array_equal(stream.model.sampler.margins(RECORDS), before)

    run(part(RECORDS[:30], 0))
    run(part(RECORDS[30:], 30))


def test_what_does_not_fit_is_refused_and_nothing_is_played(tmp_path):
    async def go():
        async with open_coordinator(tmp_path / "log.db", Time()) as coordinator:
            stream = await streams.create(coordinator, "orders", settings(features=features()))
            wrong = [
                ({"price": "dear"}, "x must have a number as 'price', got 'dear'"),
                ({"city": 5, "note": 5}, "x must have a text as 'note', got 5"),
                ({"day": "soon"}, "a date such as 2026-01-31 as 'day', got 'soon'"),
                ({"photo": [1.0]}, "a list of 3 numbers as 'photo'"),
                ({"photo": [1.0, 2.0, {}]}, "a list of 3 numbers as 'photo'"),
                ({"shop": ["a"]}, "x must have a text as 'shop'"),
            ]
            for change, sentence in wrong:
                with pytest.raises(aw.InputError, match=sentence):
                    await instances.play(coordinator, stream, Raw(RECORDS[1] | change))
            absent = {"prise" if name == "price" else name: value for name, value in RECORDS[1].items()}
            with pytest.raises(aw.InputError, match="x has no column 'price', perhaps 'prise'.*null in JSON"):
                await instances.play(coordinator, stream, Raw(absent))
            for x in ([1.0], "text", None, 5):
                with pytest.raises(aw.InputError, match="an object with the columns of the stream"):
                    await instances.play(coordinator, stream, Raw(x))
            assert stream.state.round == 0
            await instances.play(
                coordinator, stream, Raw(RECORDS[1] | {"city": "never seen", "shop": "new", "more": [1]})
            )

    run(go())


def test_the_schema_is_found_from_examples_where_it_is_not_given(tmp_path):
    examples = [record | {"id": i, "label": "spam"} for i, record in enumerate(RECORDS)]
    given = features({"shop": {"category": ["s1"]}, "photo": {"vector": 3}}, examples=examples)
    found = create(tmp_path, given).features
    assert found.examples is None
    assert found.text == []
    schema = schema_from(found.schema)
    roles = {name: role for name, role, _ in schema.described()}
    assert roles == {
        "price": "number",
        "city": "category",
        "day": "date",
        "shop": "category",
        "note": "category",
        "photo": "vector",
        "id": "dropped",
        "label": "label",
    }
    assert {column.name: column for column in schema.columns}["shop"].values == ("s1",)
    assert schema.row(RECORDS[0]).shape == (1, schema.kinds.d)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (Features(kind="columns"), "need a schema or examples"),
        (Features(kind="columns", schema={}), "need a schema or examples"),
        (Features(kind="columns", schema=NUMBERS, names=["a"]), "have no names"),
        (Features(kind="text", schema=NUMBERS), "schema and examples are for features of kind columns"),
        (Features(kind="numbers", examples=[{"a": 1}]), "schema and examples are for features of kind columns"),
        (features({"a": "numbre"}), "column 'a' must be \"number\", .*got 'numbre'"),
        (
            features({"columns": [{"type": "number"}], "places": 1, "missing": "auto"}),
            "a stored schema has a column None",
        ),
        (features({"a": {"vector": 60_000}, "b": {"vector": 60_000}}), "at most 100,000 numbers in lists, got 120,000"),
        (
            features({"b": "number"}, examples=[{"a": 1}]),
            "the examples has no column 'b'",
        ),
        (features(None, examples=[{"a": {"b": 1}}] * 3), 'holds objects; name it in "drop" in schema'),
        (features(None, examples=[{"a": "01/02/2026"}] * 3), r'\{"date": "%d/%m/%Y"\} in schema'),
    ],
)
def test_a_schema_that_cannot_be_is_refused(tmp_path, given, sentence):
    with pytest.raises(aw.InputError, match=sentence):
        create(tmp_path, given)


def test_texts_and_vectors_are_for_the_default_algorithm_in_its_newest_version(tmp_path):
    with pytest.raises(aw.InputError, match="for the default learner, got Perceptron"):
        create(tmp_path, features(), algorithm="perceptron-ss")
    with pytest.raises(aw.InputError, match="columns are for streams of the newest version"):
        create(tmp_path, features(), version=1)
    assert create(tmp_path, features(NUMBERS), algorithm="perceptron-ss").features.kind == "columns"


def test_texts_of_columns_are_seen_as_vectors_where_the_extra_is_installed(tmp_path):
    pytest.importorskip("wordllama", reason="the extra text is not installed")
    encoder = aw.encoders.load("static")
    found = create(tmp_path, Features(kind="columns", schema={"note": "text"}, places=64)).features
    schema = schema_from(found.schema)
    assert (schema.encoder._asdict(), schema.kinds) == (encoder.descriptor(), aw.Kinds(0, (256,), 64))
    row = FeatureReader(found, 2).instance({"note": "two red shoes"}).toarray()[0]
    np.testing.assert_array_equal(row[:256], encoder.encode(["two red shoes"])[0])
    changed = found.schema | {"encoder": found.schema["encoder"] | {"checksum": "0" * 64}}
    with pytest.raises(aw.InputError, match="encoder"):
        create(tmp_path / "..", Features(kind="columns", schema=changed))


def test_a_snapshot_of_another_schema_is_refused():
    whole = to_json(aw.data.make_schema(NUMBERS))
    one = settings(features=Features(kind="columns", schema=whole))
    other = settings(features=Features(kind="columns", schema=to_json(aw.data.make_schema({"price": "number"}))))
    content = Model(one).dump()()
    assert Model.load(one, content).sampler.schema == schema_from(whole)
    with pytest.raises(SnapshotError, match="another schema than the settings"):
        Model.load(other, content)


def test_settings_survive_the_log_as_they_are():
    given = settings(features=Features(kind="columns", schema=to_json(aw.data.make_schema(COLUMNS))))
    assert msgspec.json.decode(msgspec.json.encode(given), type=Settings) == given


def test_rows_of_a_file_are_sent_as_they_are(tmp_path):
    given = {"kind": "columns", "schema": to_json(aw.data.make_schema(COLUMNS))}
    lines = [json.dumps(record | {"label": "spam", "id": f"n{i}"}) for i, record in enumerate(RECORDS)]
    (tmp_path / "a.ndjson").write_text("\n".join(lines))
    sent = [row for row in FileRows(str(tmp_path / "a.ndjson"), {}, given).read() if row is not None]
    assert [(row.sent["x"], row.sent["id"], row.label) for row in sent] == [
        (record, f"n{i}", "spam") for i, record in enumerate(RECORDS)
    ]
    flat = {name: value for name, value in COLUMNS.items() if name != "photo"}
    (tmp_path / "a.csv").write_text(
        "price,city,day,shop,note,label\n" + ",Rome,2026-01-03,7,12345,spam\n1.5,?,2026-01-04,08,a b,ham\n"
    )
    given = {"kind": "columns", "schema": to_json(aw.data.make_schema(flat))}
    sent = [row.sent["x"] for row in FileRows(str(tmp_path / "a.csv"), {}, given).read() if row is not None]
    assert sent[0] == {"price": None, "city": "Rome", "day": "2026-01-03", "shop": "7", "note": "12345"}
    schema = schema_from(given["schema"])
    read = aw.data.read(tmp_path / "a.csv", schema=schema, positive="spam").load()[0]
    for i, x in enumerate(sent):
        assert (schema.row(x) != read[i]).sum() == 0
    with pytest.raises(aw.InputError, match="no column 'photo'"):
        next(
            FileRows(
                str(tmp_path / "a.csv"), {}, {"kind": "columns", "schema": to_json(aw.data.make_schema(COLUMNS))}
            ).read()
        )


def test_clients_take_a_schema_for_the_features():
    schema = aw.data.make_schema(NUMBERS)
    request = create_stream("orders", {"labels": ["a", "b"], "schema": schema}).request
    body = json.loads(request.options["content"])
    assert body["settings"] == {"labels": ["a", "b"], "features": {"kind": "columns", "schema": to_json(schema)}}
