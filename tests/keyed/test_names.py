"""Names that are not there: of columns, fields, labels, keys, streams and settings; the nearest one is named."""

import json
import pathlib

import pyarrow as pa
import pyarrow.parquet
import pytest

import askwhen as aw
from askwhen.errors import InputError
from askwhen.keyed.sampler_spec import SamplerSpec
from askwhen.keyed.service_questions import AnswerImporter
from tests.keyed.test_processes import make

TIMED = aw.BudgetRule(per=86400, count=5)


def table(**columns):
    pathlib.Path("tables").mkdir()
    pyarrow.parquet.write_table(pa.table(columns), "tables/one.parquet")


def lines(*events):
    pathlib.Path("log").mkdir()
    pathlib.Path("log/one.ndjson").write_text("".join(json.dumps(event) + "\n" for event in events))


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"Key": ["a"], "x": [[1.0]]}, "has no column key, perhaps 'Key'."),
        ({"key": ["a"], "X": [[1.0]]}, "has no column x, perhaps 'X'."),
        ({"key": ["a"], "vector": [[1.0]]}, "has no column x."),
        ({"key": ["a"], "round": [0], "labels": [1]}, "has no column label, perhaps 'labels'."),
        ({"key": ["a"], "x": [[1.0]], "times": [1.0]}, "has no column time, perhaps 'times'."),
    ],
)
def test_a_table_without_a_column_that_is_needed_is_refused(columns, sentence):
    table(**columns)
    rule = TIMED if "times" in columns else aw.Always()
    with pytest.raises(InputError) as error:
        aw.keyed.run("tables", "store", aw.Sampler(aw.Perceptron(), rule, seed=7))
    assert str(error.value) == f"keyed: tables/one.parquet {sentence}"


def test_a_table_of_answers_needs_no_instances_and_one_without_times_needs_none():
    table(key=["a"], round=[0], label=[1])
    assert aw.keyed.run("tables", "store", make(7)).counts.refused == 1  # no question of that round is open


@pytest.mark.parametrize(
    ("event", "sentence"),
    [
        ({"Key": "a", "x": [1]}, "Object missing required field `key`, perhaps 'Key' instead of 'key'."),
        ({"key": "a", "X": [1]}, "or forget: true, perhaps 'X' instead of 'x'."),
        ({"key": "a", "rounds": 1, "label": 1}, "or forget: true, perhaps 'rounds' instead of 'round'."),
        ({"key": "a", "round": 1, "lable": 1}, "or forget: true, perhaps 'lable' instead of 'label'."),
        ({"key": "a", "vector": [1]}, "or forget: true."),
    ],
)
def test_lines_without_a_field_that_is_needed_are_said_after_the_first_batch(caplog, event, sentence):
    lines(event, event)
    found = aw.keyed.run("log", "store", make(7), batch=2, out="decisions")
    assert found.counts.refused == 2
    (said,) = caplog.messages
    assert said.startswith("partition one: all of the first 2 events were refused: ")
    assert said.endswith(sentence)
    first = pathlib.Path("decisions/one/0000000000000000.ndjson").read_text().splitlines()[0]
    assert json.loads(first)["refused"].endswith(sentence)


def test_labels_that_are_none_of_the_classes_are_said_after_the_first_batch(caplog):
    lines({"key": "a", "x": [1]}, {"key": "a", "round": 0, "label": "spam"}, {"key": "a", "x": [1], "label": "spam"})
    sampler = aw.Sampler(aw.Perceptron(), aw.Always(), seed=7, classes=["ham", "spma", "x"])
    aw.keyed.run("log", "store", sampler)
    (said,) = caplog.messages
    assert "all of the first 2 events with labels were refused: the label must be one of the classes 'ham'" in said


def test_nothing_is_said_where_some_events_are_taken_or_later(caplog):
    lines({"key": "a", "x": [1]}, {"key": "a", "X": [1]}, {"key": "a", "round": 0, "label": 1})
    aw.keyed.run("log", "store", make(7))
    with open("log/one.ndjson", "a") as file:
        file.write('{"key": "a", "X": [1]}\n')
    aw.keyed.run("log", "store", make(7))
    assert caplog.messages == []


def test_a_key_that_is_not_there_is_refused_by_the_nearest_in_files(tmp_path):
    lines({"key": "Anna", "x": [1]}, {"key": "bob", "x": [1]})
    aw.keyed.run("log", "store", make(7))
    check_keys("store")


def test_a_key_that_is_not_there_is_refused_by_the_nearest_in_a_database(database):
    lines({"key": "Anna", "x": [1]}, {"key": "bob", "x": [1]})
    aw.keyed.run("log", database, make(7))
    check_keys(database)


def check_keys(store):
    assert aw.keyed.sampler(store, "Anna").round == 1
    for key, hint in (("anna", ", perhaps 'Anna'"), ("carol", "")):
        with pytest.raises(InputError) as error:
            aw.keyed.sampler(store, key)
        assert str(error.value).endswith(f"has no sampler of key {key!r}{hint}.")


def test_streams_and_settings_of_redis_that_are_not_there_are_refused(redis_server):
    redis_server.connection.xadd("clicks:one", {"event": "{}"})
    with pytest.raises(InputError, match="no streams whose names begin with click:, perhaps 'clicks:one'"):
        aw.keyed.run(redis_server.address("click:"), "store", make(7))
    for setting, hint in (("stream=clicks:", "'stream', perhaps 'streams'"), ("streams=a&databse=1", "'databse'")):
        with pytest.raises(InputError, match=f"an address of Redis has no setting {hint}"):
            aw.keyed.run(f"redis://127.0.0.1:{redis_server.port}/0?{setting}", "store", make(7))
    redis_server.connection.delete("clicks:one")


def test_a_label_of_the_service_that_is_no_class_is_refused():
    kind = SamplerSpec.of(
        aw.Sampler(aw.Perceptron(), aw.Always(), seed=7, classes=["ham", "spam", "other"]), None, False
    )
    answers = AnswerImporter("http://127.0.0.1:1/streams/s", None, kind, None, None)
    assert answers._labels_here(["spam", "ham"]) == {"spam": "spam", "ham": "ham"}
    with pytest.raises(InputError, match="the label 'Spam', which is not a class of the samplers, perhaps 'spam'"):
        answers._labels_here(["Spam", "ham"])
    answers.close()
