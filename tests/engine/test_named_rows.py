"""Data frames and records as they are: the sampler finds what each column is, and remembers it."""

import datetime
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import askwhen as aw

N = 300
RNG = np.random.default_rng(3)
PLANS = np.array(["basic", "family", "pro"])[RNG.integers(0, 3, N)]
PRICES = np.exp(RNG.normal(3.0, 1.0, N))
TEXTS = [
    f"{['please send the report', 'cheap pills for you now'][i % 2]} {['today', 'friend', 'again'][i % 3]} number {i}"
    for i in range(N)
]
Y = np.where(np.arange(N) % 2, "spam", "ham")
COLUMNS = {"id": list(range(N)), "text": TEXTS, "plan": PLANS.tolist(), "price": PRICES.tolist()}
FRAMES = {
    "pandas": pd.DataFrame(COLUMNS),
    "polars": pl.DataFrame(COLUMNS),
    "arrow": pa.table(COLUMNS),
    "records": [dict(zip(COLUMNS, row, strict=True)) for row in zip(*COLUMNS.values(), strict=True)],
}


def fresh(**given):
    return aw.Sampler(rule=aw.BudgetRule(0.3), seed=7, **given)


@pytest.mark.parametrize("kind", FRAMES)
def test_a_table_is_taken_as_it_is(kind):
    sampler = fresh()
    trace = sampler.run(FRAMES[kind], Y)
    roles = {name: role for name, role, _ in sampler.schema.described()}
    assert roles == {"id": "dropped", "text": "text", "plan": "category", "price": "number"}
    assert trace.mistakes < 60
    first = fresh()
    np.testing.assert_array_equal(trace.margin, first.run(FRAMES["pandas"], Y).margin)


def test_a_file_and_a_frame_have_the_same_features(tmp_path):
    frame = FRAMES["pandas"].assign(label=Y)
    frame.to_csv(tmp_path / "mails.csv", index=False)
    stream = aw.data.read(tmp_path / "mails.csv", positive="spam", encoder="auto")
    X, y, *_ = stream.load()
    sampler = fresh()
    np.testing.assert_array_equal(sampler.run(FRAMES["pandas"], y).margin, fresh().run(X, y).margin)
    assert sampler.schema.kinds == stream.kinds


def test_rows_one_by_one_are_the_rows_of_the_table(tmp_path):
    whole = fresh()
    trace = whole.run(FRAMES["records"], Y)
    live = fresh()
    live.run(FRAMES["pandas"][:200], Y[:200])
    live.save(tmp_path / "half")
    live = aw.Sampler.load(tmp_path / "half")
    half = fresh()
    half.run(FRAMES["pandas"][:200], Y[:200])
    for i in range(200, N):
        row = FRAMES["records"][i] if i % 2 else FRAMES["pandas"].iloc[i]
        ask, other = live.ask(row), half.ask(FRAMES["records"][i])
        assert ask.margin == other.margin
        if ask.query:
            live.tell(ask, Y[i])
            half.tell(other, Y[i])
    assert trace.rounds == live.round == N
    assert live.schema == half.schema


def test_the_order_of_columns_does_not_matter_and_a_missing_one_is_named():
    sampler = fresh()
    sampler.run(FRAMES["pandas"], Y)
    turned = FRAMES["pandas"][["price", "plan", "text", "id"]]
    np.testing.assert_array_equal(sampler.predict(turned), sampler.predict(FRAMES["pandas"]))
    np.testing.assert_array_equal(sampler.predict(turned.drop(columns="id")), sampler.predict(turned))
    with pytest.raises(aw.InputError, match="no column 'plan'.*'plans'"):
        sampler.predict(turned.rename(columns={"plan": "plans"}))
    with pytest.raises(
        aw.InputError,
        match="has no column 'text', and no column 'plan'.*'something'; where a value is missing, give None",
    ):
        sampler.ask({"something": 1})
    assert sampler.round == N


def test_what_columns_are_can_be_said():
    columns = aw.Columns(text=("text",), drop=("plan",), categories=("id",))
    sampler = fresh(columns=columns)
    sampler.run(FRAMES["pandas"], Y)
    roles = {name: role for name, role, _ in sampler.schema.described()}
    assert (roles["plan"], roles["text"], roles["id"]) == ("dropped", "text", "category")
    with pytest.raises(aw.InputError, match="no column 'texts'.*'text'"):
        fresh(columns=aw.Columns(text=("texts",))).run(FRAMES["pandas"], Y)
    with pytest.raises(aw.InputError, match="default learner"):
        aw.Sampler(aw.Perceptron(), columns=columns)


def test_a_single_record_is_taken_by_the_types_of_its_values():
    row = {"text": "send me the report", "plan": "pro", "price": 3.5, "paid": True, "vector": [0.5, 1.0], "gone": None}
    sampler = fresh()
    ask = sampler.ask(row)
    roles = {name: role for name, role, _ in sampler.schema.described()}
    assert roles == {
        "text": "text",
        "plan": "category",
        "price": "number",
        "paid": "number",
        "vector": "vector",
        "gone": "number",
    }
    sampler.tell(ask, 1)
    assert sampler.ask(row | {"plan": "never seen", "price": None, "text": ""}).round == 1
    with pytest.raises(aw.InputError, match=r"a list of 2 numbers as 'vector', got \[1.0, 2.0, 3.0\]"):
        sampler.ask(row | {"vector": [1.0, 2.0, 3.0]})
    with pytest.raises(aw.InputError, match="holds dict; leave it out"):
        fresh().ask({"inner": {"a": 1}})
    assert sampler.round == 2


def test_frames_of_numbers_alone_are_matrices_with_names():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    sampler = fresh()
    sampler.run(frame, [0, 1])
    assert sampler.schema is None
    assert sampler.feature_names == ("a", "b")
    with pytest.raises(aw.InputError, match="reorder or rename"):
        sampler.predict(frame[["b", "a"]])


def test_dates_missing_values_and_a_column_called_label_are_features():
    days = [datetime.datetime(2024, 1, 1) + datetime.timedelta(hours=7 * i) for i in range(N)]
    frame = pd.DataFrame({"day": days, "price": np.where(np.arange(N) % 7, PRICES, np.nan), "label": PLANS})
    sampler = fresh()
    sampler.run(frame, Y)
    roles = {name: role for name, role, _ in sampler.schema.described()}
    assert roles == {"day": "date", "price": "number", "label": "category"}


def test_a_refused_table_leaves_the_sampler_as_it_was():
    sampler = fresh()
    with pytest.raises(aw.InputError):
        sampler.run(FRAMES["pandas"], Y[:10])
    assert sampler.schema is None
    assert sampler.run(np.ones((2, 3)), [0, 1]).rounds == 2


GAPS = {
    "pandas": lambda a, b: pd.DataFrame({"a": pd.array(a, "Int64"), "b": pd.array(b, "boolean")}),
    "floats": lambda a, b: pd.DataFrame({"a": np.array(a, float), "b": pd.array(b, "boolean")}),
    "polars": lambda a, b: pl.DataFrame({"a": a, "b": b}),
    "arrow": lambda a, b: pa.table({"a": a, "b": b}),
    "records": lambda a, b: [{"a": x, "b": y} for x, y in zip(a, b, strict=True)],
}


@pytest.mark.parametrize("kind", GAPS)
def test_numbers_that_are_missing_are_marked_whatever_holds_them(kind):
    a = [None if i % 7 == 3 else i % 5 for i in range(40)]
    b = [None if i % 9 == 4 else i % 2 == 0 for i in range(40)]
    y = [i % 5 > 2 for i in range(40)]
    sampler = fresh()
    trace = sampler.run(GAPS[kind](a, b), y)
    assert sampler.schema.names == ("a", "b", "a is missing", "b is missing")
    np.testing.assert_array_equal(trace.margin, fresh().run(GAPS["records"](a, b), y).margin)
    np.testing.assert_array_equal(
        sampler.margins([{"a": pd.NA, "b": True}]), sampler.margins(GAPS[kind]([None], [True]))
    )


def test_labels_with_another_index_are_refused():
    X = pd.DataFrame({"a": [0.5, 1.5, 2.5]}, index=[3, 4, 5])
    y = pd.Series([0, 1, 1], index=[5, 4, 3])
    for call in (fresh().run, fresh().learn):
        with pytest.raises(aw.InputError, match=r"y has another index than X; give y.loc\[X.index\] to match"):
            call(X, y)
    fresh().run(X, y.loc[X.index])
    fresh().run(X, y.to_numpy())
    fresh().run(X.to_numpy(), y)


COLUMNS_OF_TEXTS = {
    "list": TEXTS,
    "numpy": np.array(TEXTS),
    "objects": np.array(TEXTS, object),
    "pandas": pd.Series(TEXTS),
    "polars": pl.Series(TEXTS),
    "arrow": pa.array(TEXTS),
    "chunked": pa.chunked_array([TEXTS]),
}


@pytest.mark.parametrize("kind", COLUMNS_OF_TEXTS)
def test_texts_without_a_name_are_a_column_of_texts(kind):
    sampler, named = fresh(), fresh()
    trace = sampler.run(COLUMNS_OF_TEXTS[kind], Y)
    np.testing.assert_array_equal(trace.margin, named.run(pd.DataFrame({"text": TEXTS}), Y).margin)
    assert sampler.schema.described()[0][:2] == ("text", "text")
    np.testing.assert_array_equal(sampler.predict(TEXTS[:5]), named.predict([{"text": text} for text in TEXTS[:5]]))
    assert sampler.ask(TEXTS[0]).prediction == named.ask({"text": TEXTS[0]}).prediction


def test_the_first_instance_may_be_a_text():
    sampler, named = fresh(labels=("ham", "spam")), fresh(labels=("ham", "spam"))
    for text, label in zip(TEXTS[:60], Y, strict=False):
        ask, other = sampler.ask(text), named.ask({"text": text})
        assert (ask.margin, ask.query) == (other.margin, other.query)
        if ask.query:
            sampler.tell(ask, label)
            named.tell(other, label)
    missing = sampler.predict(pd.Series([TEXTS[0], None, float("nan")]))
    assert missing.tolist()[1:] == sampler.predict([{"text": None}] * 2).tolist()
    with pytest.raises(aw.InputError, match="X must hold real numbers"):
        fresh().run(["a", 3], [0, 1])


def test_a_column_that_is_the_label_written_otherwise_is_warned_of():
    frame = FRAMES["pandas"].assign(kind=np.where(Y == "spam", 2, 1), other=np.arange(N) % 3)
    with pytest.warns(aw.errors.InputWarning, match="column 'kind' of X has one value for each label in the first"):
        fresh().run(frame, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fresh(columns=aw.Columns(drop="kind")).run(frame, Y)
        almost = np.where(np.arange(N) == 7, 1, frame.kind)
        fresh().run(frame.assign(kind=almost), Y)


def test_a_lazy_frame_is_refused_with_what_to_give():
    with pytest.raises(aw.InputError, match=r"got a LazyFrame; give X.collect\(\)"):
        fresh().run(FRAMES["polars"].lazy(), Y)


def test_rows_without_names_are_refused_with_the_names_that_they_need():
    sampler = fresh()
    sampler.run(FRAMES["pandas"][["text", "price"]], Y)
    d = sampler.schema.kinds.d
    with pytest.raises(
        aw.InputError, match=f"'text', 'price' by name, or the {d:,} features that are made of them, got"
    ):
        sampler.predict(np.ones((2, 3)))
    with pytest.raises(
        aw.InputError, match="X must have the columns 'text', 'price' by name, got texts without a name"
    ):
        sampler.predict(TEXTS[:2])
    rows = sampler.schema.row({"text": TEXTS[0], "price": 2.0})
    assert sampler.predict(rows).tolist() == sampler.predict([{"text": TEXTS[0], "price": 2.0}]).tolist()


def test_texts_have_vectors_where_the_extra_is_installed_unless_said_otherwise(monkeypatch, tmp_path):
    pytest.importorskip("wordllama")
    frame, static = FRAMES["pandas"][["text", "price"]], aw.encoders.load("static")
    sampler = fresh()
    sampler.run(frame, Y)
    assert sampler.schema.encoder._asdict() == static.descriptor()
    assert sampler.schema.kinds.vectors == (256,)
    plain = fresh(columns=aw.Columns(encoder=None))
    plain.save(tmp_path / "new.askwhen")
    for each in (plain, aw.Sampler.load(tmp_path / "new.askwhen")):
        each.run(frame, Y)
        assert each.schema.encoder is None
        assert each.schema.kinds.vectors == ()
    monkeypatch.setattr(aw.encoders.loading, "is_installed", lambda: False)
    bare = fresh()
    bare.run(frame, Y)
    assert bare.schema.kinds == plain.schema.kinds


def test_no_encoder_is_loaded_where_there_are_no_texts(monkeypatch, tmp_path):
    monkeypatch.setattr(aw.encoders.loading, "_installed", lambda: pytest.fail("loaded"))
    frame = FRAMES["pandas"][["plan", "price"]]
    fresh().run(frame, Y)
    frame.assign(label=Y).to_csv(tmp_path / "plans.csv", index=False)
    assert aw.data.read(tmp_path / "plans.csv", encoder="auto").schema.encoder is None
