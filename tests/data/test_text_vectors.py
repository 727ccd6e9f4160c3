"""Texts of tables as vectors beside their words: in files, records and frames, with a cache, by one encoder only."""

import json

import numpy as np
import pandas as pd
import pytest

import askwhen as aw
from askwhen import encoders
from askwhen.data.schema_json import from_json, to_json

N = 60
TEXTS = [f"{['send the report', 'cheap pills now'][i % 2]} number {i}" for i in range(N)]
FRAME = pd.DataFrame({"body": TEXTS, "size": np.arange(N) % 7 + 0.5, "label": np.arange(N) % 2})


def lengths(texts):
    """A small encoder: the number of characters, of words and of the letter e."""
    return [[len(text), len(text.split()), text.count("e")] for text in texts]


ENCODER = encoders.load(lengths, name="three counts")


@pytest.fixture
def file(tmp_path):
    FRAME.to_csv(tmp_path / "mails.csv", index=False)
    return tmp_path / "mails.csv"


def test_texts_of_a_file_are_words_and_vectors(file):
    stream = aw.data.read(file, encoder=ENCODER)
    X, _ = stream.load()
    words, _ = aw.data.read(file).load()
    assert stream.kinds == aw.Kinds(stream.kinds.numbers, (3,), 1 << 18)
    first = stream.kinds.numbers
    np.testing.assert_array_equal(X[:, first : first + 3].toarray(), lengths(TEXTS))
    assert (X[:, first + 3 :] != words[:, first:]).nnz == 0
    assert X.kinds == stream.kinds


def test_vectors_are_computed_once_and_kept_beside_the_file(file):
    calls = []

    def counted(texts):
        calls.extend(texts)
        return lengths(texts)

    encoder = encoders.load(counted, name="counted")
    first, _ = aw.data.read(file, encoder=encoder).load()
    found = len(calls)
    second, _ = aw.data.read(file, encoder=encoder).load()
    assert found >= N
    assert len(calls) == found
    assert (first != second).nnz == 0
    assert len(list(file.parent.glob("mails.csv.counted-*.parquet"))) == 1
    changed = FRAME.assign(body=["another text altogether", *TEXTS[1:]])
    changed.to_csv(file, index=False)
    aw.data.read(file, encoder=encoder).load()
    assert calls[found:] == ["another text altogether"]


def test_a_schema_says_which_encoder_it_was_and_another_is_refused(file, tmp_path):
    schema = aw.data.read(file, encoder=ENCODER).schema
    assert from_json(json.loads(json.dumps(to_json(schema)))) == schema
    X, _ = aw.data.read(file, schema=schema).load()  # the encoder that this process knows
    same, _ = aw.data.read(file, schema=schema, encoder=ENCODER).load()
    assert (same != X).nnz == 0
    other = encoders.load(lengths, name="other counts")
    with pytest.raises(aw.InputError, match="encoder"):
        aw.data.read(file, schema=schema, encoder=other)
    words = aw.data.read(file).schema
    with pytest.raises(aw.InputError, match="must not be given with a schema of words only"):
        aw.data.read(file, schema=words, encoder=ENCODER)
    (tmp_path / "one.svm").write_text("+1 1:1\n-1 2:1\n")
    with pytest.raises(aw.InputError, match="encoder.* is only for tables"):
        aw.data.read(tmp_path / "one.svm", encoder=ENCODER)


def test_an_encoder_that_is_not_there_must_be_given_again():
    written = {"columns": [], "places": 8, "missing": "auto"}
    unknown = from_json(written | {"encoder": {"name": "mine", "checksum": "f" * 64, "width": 3}})
    with pytest.raises(aw.InputError, match="'mine', which must be given again"):
        encoders.find(unknown.encoder._asdict())
    for wrong in (
        {"name": 1, "checksum": None, "width": 3},
        {"name": "a"},
        "static",
        {"name": "a", "checksum": None, "width": -1},
    ):
        with pytest.raises(aw.InputError, match="must have an encoder"):
            from_json(written | {"encoder": wrong})


def test_frames_and_records_are_encoded_alike(tmp_path):
    columns = aw.Columns(encoder=ENCODER)
    X, y = FRAME.drop(columns="label"), FRAME["label"]
    sampler = aw.Sampler(rule=aw.BudgetRule(0.5), seed=7, columns=columns)
    trace = sampler.run(X, y)
    assert sampler.schema.kinds.vectors == (3,)
    sampler.save(tmp_path / "model")
    again = aw.Sampler.load(tmp_path / "model")
    row = {"body": "a new text", "size": 2.5}
    assert again.ask(row).margin == sampler.ask(row).margin
    plain = aw.Sampler(rule=aw.BudgetRule(0.5), seed=7).run(X, y)
    assert not np.array_equal(plain.margin, trace.margin)


def test_texts_that_are_empty_long_or_odd_are_taken():
    odd = ["", "   ", "x" * 1_000_000, "\U0001f600 \ud83d \x00 caf\u00e9", "word " * 10, None]
    frame = [{"body": text, "size": i % 9 + 0.5} for i, text in enumerate([*TEXTS, *odd])]
    sampler = aw.Sampler(rule=aw.Always(), seed=7, columns=aw.Columns(text="body", encoder=ENCODER))
    trace = sampler.run(frame, np.arange(N + 6) % 2)
    assert np.isfinite(trace.margin).all()


def test_a_first_record_is_encoded_as_it_was_asked():
    sampler = aw.Sampler(rule=aw.Always(), seed=7, columns=aw.Columns(text="body", encoder=ENCODER))
    sampler.ask({"body": "hello", "size": 2.5})
    assert sampler.schema.kinds.vectors == (3,)
    assert sampler.schema.encoder._asdict() == ENCODER.descriptor()
