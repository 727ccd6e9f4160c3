"""What each column of a raw table is taken for, and why."""

import datetime
import json

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import Kinds, MixedRows
from askwhen.data.column_choices import ColumnChoices
from askwhen.data.inference import infer
from askwhen.data.records import Records
from askwhen.data.schema import ANY_GAP
from askwhen.data.schema_json import from_json, to_json

N = 60
MONTHS = [datetime.date(2015, month, 1).strftime("%B") for month in range(1, 13)]
WORDS = ["the", "quick", "brown", "fox", "jumps", "over", "a", "lazy", "dog", "while", "others", "look"]


def roles_of(schema):
    return {name: role for name, role, _ in schema.described()}


def schema_of(columns, **choices):
    """The schema of columns of values."""
    n = max(map(len, columns.values()))
    records = [{name: values[i] for name, values in columns.items()} for i in range(n)]
    return infer(Records(records, "a.ndjson"), ColumnChoices(labelled=False, **choices), "a.ndjson")


def role(values, name="a", **choices):
    """What one of two columns is taken for, and why."""
    found = schema_of({name: values, "b": [0.5 * i for i in range(len(values))]}, **choices).described()
    return found[0][1:]


RNG = np.random.default_rng(0)
TEXTS = [" ".join(RNG.choice(WORDS, 8)) for _ in range(N)]
NUMBERS = RNG.normal(size=N).round(3).tolist()


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (NUMBERS, "number"),
        ([str(each) for each in NUMBERS], "number"),
        ([*map(str, NUMBERS[:-4]), " ", "NA", "?", None], "number"),
        ([i % 7 for i in range(N)], "number"),
        ([f"{i % 3}" for i in range(N)], "number"),
        ([f"0{i % 3}" for i in range(N)], "category"),
        ([i % 2 == 0 for i in range(N)], "number"),
        (["Yes", "no"] * 30, "number"),
        (["TRUE", "false"] * 30, "number"),
        (["red", "green", "blue"] * 20, "category"),
        (["No phone service", "No", "Yes"] * 20, "category"),
        (["", "red"] * 30, "category"),
        (TEXTS, "text"),
        ([f"user{i % 100}" for i in range(300)], "category"),
        ([f"2015-02-{1 + i % 28:02} 11:{i:02}" for i in range(N)], "date"),
        ([f"{13 + i % 10}.2.2015" for i in range(N)], "date"),
        ([20150101 + i % 28 for i in range(N)], "date"),
        ([None if i == 3 else 20150101.0 + i % 28 for i in range(N)], "date"),
        ([20150132 + i % 28 for i in range(N)], "number"),
        ([f"2015-{1 + i % 12:02}" for i in range(N)], "date"),
        ([f"{1 + i % 12:02}/2015" for i in range(N)], "date"),
        ([f"{1 + i % 28:02} {MONTHS[i % 12]} 2015" for i in range(N)], "date"),
        ([f"{MONTHS[i % 12][:3]} {1 + i % 28}, 2015" for i in range(N)], "date"),
        ([f"{1 + i % 28}-{MONTHS[i % 12][:3].upper()}-15" for i in range(N)], "date"),
        ([f"{1 + i % 28} {MONTHS[i % 12]} 2015 {i % 24:02}:30" for i in range(N)], "date"),
        ([f"{1 + i % 28} {MONTHS[i % 12]} {['2015', 'soon'][i % 2]}" for i in range(N)], "text"),
        ([0.5] * N, "number"),
        ([float(i) for i in range(N)], "number"),
        ([i * 1.5 for i in range(N)], "number"),
        ([1, 2, 3], "number"),
        (["x", "x", "x"], "category"),
    ],
)
def test_what_a_column_is_taken_for(values, expected):
    assert role(values)[0] == expected


@pytest.mark.parametrize(
    ("values", "name", "why"),
    [
        ([*range(1, N + 1)], "row", "an identifier: each number is 1 more than the last"),
        ([*range(0, 10 * N, 10)], "row", "an identifier: each number is 10 more than the last"),
        (RNG.permutation(N).tolist(), "row", "an identifier: every value is different"),
        (RNG.permutation(10 * N)[:N].tolist(), "customerID", "an identifier: every value is different"),
        (RNG.integers(10**9, 10**10, 2000).tolist(), "number", "an identifier: every value is different"),
        ([f"7590-{i}" for i in range(N)], "customer", "an identifier: every value is different"),
        ([None] * N, "a", "empty"),
        ([""] * N, "a", "empty"),
        (["NA"] * N, "a", "empty"),
        ([3] * N, "a", "always 3"),
        (["x"] * N, "a", "always 'x'"),
        ([[]] * N, "a", "empty"),
    ],
)
def test_what_says_nothing_is_left_out(values, name, why):
    assert role(values, name) == ("dropped", why)


def test_where_nothing_else_is_left_numbers_are_kept():
    schema = schema_of({"a": [*range(N)], "b": ["x"] * N, "c": [3] * N, "d": [None] * N})
    assert schema.names == ("a", "c", ANY_GAP)
    assert (
        schema.columns[0].why
        == "nothing else is left to learn from, although it is an identifier: each number is 1 more than the last"
    )
    with pytest.raises(aw.InputError, match="a.ndjson has no column to learn from; left out: 'b' .always 'x'."):
        schema_of({"b": ["x"] * N})


def test_whole_numbers_that_differ_by_chance_are_kept():
    cents = (100 * RNG.lognormal(3, 1, size=N)).astype(int)
    assert role(RNG.permutation(10**6)[:N].tolist())[0] == "number"
    assert role(cents.tolist())[0] == "number"
    seconds = np.sort(RNG.integers(0, 10**5, 300)).tolist()
    assert role(seconds)[0] == "number"
    assert role(np.cumsum(RNG.integers(10**6, 10**7, 2000)).tolist(), "created_at")[0] == "number"


def test_numbers_and_the_marks_of_missing_ones():
    schema = schema_of({"a": [1.5, 2.5, None], "b": [1.5, "3.5", 4.5], "c": ["Yes", "No", "yes"]})
    assert schema.names == ("a", "b", "c", "a is missing", ANY_GAP)
    with pytest.warns(aw.errors.InputWarning, match="'c' of the table holds 'unheard' in instance 1, .* 'no' or 'yes'"):
        X = schema.rows(Records([{"a": None, "b": "NA", "c": "no"}, {"a": "2", "b": 3, "c": "unheard"}], "b"))
    assert X.tolist() == [[0, 0, 0, 1, 1], [2, 3, 0, 0, 1]]
    assert schema_of({"a": [1.5, 2.5]}, missing="refuse").names == ("a",)
    every = schema_of({"a": [1.5, 2.5], "b": [1.5, 2.5]}, missing="feature")
    assert every.names == ("a", "b", "a is missing", "b is missing")


def test_a_category_has_a_place_for_each_value_for_any_other_and_for_none():
    schema = schema_of({"a": ["red", "green", "red"] * 20})
    assert schema.names == ("a=red", "a=green", "a is another value", "a is missing")
    rows = [{"a": "green"}, {"a": "blue"}, {"a": ""}, {"a": None}, {"a": "red"}]
    assert schema.rows(Records(rows, "b")).argmax(axis=1).tolist() == [1, 2, 3, 3, 0]


def test_a_category_has_at_most_64_places_and_the_most_frequent_values():
    values = [f"v{i}" for i in range(200) for _ in range(i)]
    schema = schema_of({"a": values, "b": [0.5] * len(values)}, categories=("a",))
    assert schema.kinds == Kinds(2, (), 1 << 18)
    values = [f"v{i}" for i in range(62) for _ in range(i + 2)]
    schema = schema_of({"a": values})
    assert schema.kinds == Kinds(64)
    assert schema.names[:2] == ("a=v61", "a=v60")


def test_words_come_after_numbers_and_vectors_and_two_texts_do_not_mix():
    embedding = RNG.normal(size=(N, 20))
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    names = [f"user{i % 100}" for i in range(N)]
    columns = {"t": TEXTS, "e": embedding.tolist(), "x": NUMBERS, "u": TEXTS[::-1], "name": names[:-1] + names[:1]}
    schema = schema_of(columns, given_places=1000)
    assert schema.kinds == Kinds(2, (20,), 1000)
    assert schema.names == ("x", ANY_GAP)
    records = [{name: values[i] for name, values in columns.items()} for i in range(N)]
    X = schema.rows(Records(records, "a"))
    assert isinstance(X, MixedRows)
    assert X.kinds == schema.kinds
    np.testing.assert_array_equal(X[:, 2:22].toarray(), embedding)
    words = X[:, 22:].toarray()
    first = aw.data.hash_text(TEXTS, 1000).toarray()
    assert (words >= first).all()
    assert words.sum() == 2 * first.sum() + N


def test_vectors_that_are_missing_are_zero_and_of_another_length_refused():
    values = RNG.normal(size=(30, 16)).tolist()
    schema = schema_of({"e": values})
    assert schema.kinds == Kinds(0, (16,), 0)
    gap = [float("nan"), *values[0][1:]]
    X = schema.rows(Records([{"e": values[1]}, {"e": None}, {}, {"e": gap}, {"e": [0.0] * 16}], "b"))
    assert X.toarray()[1:].tolist() == [[0.0] * 16] * 4
    with pytest.raises(
        aw.InputError, match="column 'e' must hold 16 numbers in every row, got 3 in instance 8, counted"
    ):
        schema.rows(Records([{"e": values[1]}, {"e": [1, 2, 3]}], "b"), 7)


def test_short_lists_and_lists_of_unlike_numbers_are_numbers():
    assert schema_of({"e": [[0.5, 2.0]] * 3}).names == ("e[0]", "e[1]", ANY_GAP)
    unlike = RNG.normal(size=(30, 16)) * np.r_[np.full(15, 1.0), 1000.0]
    assert schema_of({"e": unlike.tolist()}).kinds == Kinds(17)
    assert schema_of({"e": unlike.tolist()}, vector=("e",)).kinds == Kinds(0, (16,))
    assert schema_of({"e": RNG.normal(size=(9, 20)).tolist()}, numbers=("e",)).kinds == Kinds(21)


def test_numbered_columns_are_a_vector_only_if_they_look_like_an_embedding():
    embedding = RNG.normal(size=(N, 20))
    embedding /= np.linalg.norm(embedding, axis=1, keepdims=True)
    for values, expected in [
        (embedding, Kinds(0, (20,))),
        (embedding[:, :12], Kinds(13)),
        (embedding * RNG.lognormal(size=(N, 1)), Kinds(21)),
        (embedding * np.r_[np.ones(19), 100.0], Kinds(21)),
        (np.eye(20)[np.arange(N) % 20], Kinds(21)),
    ]:
        columns = {f"e{j}": values[:, j].tolist() for j in range(values.shape[1])}
        assert schema_of(columns).kinds == expected
    columns = {f"e{j}": embedding[:, j].tolist() for j in range(20)}
    (found,) = schema_of(columns).described()
    assert found == ("e", "vector", "20 columns of numbers, e0 to e19")
    assert schema_of({"e0": NUMBERS, "e1": NUMBERS[::-1]}, vector=("e",)).kinds == Kinds(0, (2,))
    with pytest.raises(aw.InputError, match="no column 'f', and no columns f0, f1 and so on; it has 'e0', 'e1'"):
        schema_of({"e0": NUMBERS, "e1": NUMBERS}, vector=("f",))


def test_dates_become_days_and_places_in_their_cycles():
    days = [f"2015-02-{1 + i % 28:02}" for i in range(N)]
    assert schema_of({"d": days}).names[:-1] == (
        *("d, in days", "d, sine of day of week", "d, cosine of day of week"),
        *("d, sine of day of year", "d, cosine of day of year"),
    )
    hours = [f"{i % 24}:00" for i in range(N)]
    schema = schema_of({"d": [f"2/24/2015 {hour}" for hour in hours]})
    assert schema.names[:-1] == ("d, in days", "d, sine of hour of day", "d, cosine of hour of day")
    with pytest.warns(aw.errors.InputWarning, match="'soon' in instance 2, .* is not a date written as"):
        rows = schema.rows(Records([{"d": "2/24/2015 6:00"}, {"d": "2/25/2015 0:00"}, {"d": "soon"}], "b"))
    np.testing.assert_allclose(rows, [[0.25, 1, 0, 0], [1, 0, 1, 0], [0, 0, 0, 1]], atol=1e-12)
    moments = [datetime.datetime(2015, 2, 24, i % 24) for i in range(N)]
    assert schema_of({"d": moments}).names == schema.names


def test_a_date_is_never_on_two_days_of_the_year():
    schema = schema_of({"d": [f"20{i:02}-0{1 + i % 9}-0{1 + i % 7}" for i in range(N)]})
    ends = schema.rows(Records([{"d": "2015-12-31"}, {"d": "2016-01-01"}], "b"))
    assert abs(ends[0, 3:5] - ends[1, 3:5]).max() < 0.03


@pytest.mark.parametrize(
    ("values", "sentence", "mend"),
    [
        ([{"b": 1}] * N, "column 'a' of a.ndjson holds objects; name it in drop=.", {"drop": ("a",)}),
        ([["x", "y"]] * N, "column 'a' of a.ndjson holds lists; name it in drop=.", {"drop": ("a",)}),
        ([[1, 2], [1, 2, 3]], "holds lists of 2 to 3 numbers; name it in drop=.", {"drop": ("a",)}),
        ([1, [2]], "holds values of several types; name it in drop=.", {"drop": ("a",)}),
        (
            [*map(str, NUMBERS[:-1]), "abc"],
            "holds 'abc' in instance 59, counted from 0, where a number is expected; correct it, or name the column in "
            "numbers=, so that what is not a number is missing, or in categories=.",
            {"numbers": ("a",)},
        ),
        (
            ["12%", "0.5", "0.75"] * 20,
            "holds '12%' in instance 0, counted from 0, where a number is expected that is written as '0.5'; correct",
            {"numbers": ("a",)},
        ),
        (
            ["$5", "$7", "€7"] * 20,
            "holds '€7' in instance 2, counted from 0, where a number is expected that is written as '$5'; correct",
            {"numbers": ("a",)},
        ),
        (
            ["1,250", "2,750"] * 30,
            "holds '1,250' in instance 0, counted from 0, which may be 1.25 or 1250; give decimal=',' or decimal='.', "
            "the mark before decimals, or name the column in drop=.",
            {"decimal": ","},
        ),
        (
            ["1/2/2015", "3/4/2015"] * 30,
            "no day above 12 shows whether the month or the day is first; give time_format='%m/%d/%Y' or time_format="
            "'%d/%m/%Y', or name the column in drop=.",
            {"time_format": "%m/%d/%Y"},
        ),
    ],
)
def test_what_cannot_be_decided_is_refused_with_a_cure_that_works(values, sentence, mend):
    with pytest.raises(aw.InputError) as found:
        role(values)
    assert sentence in found.value.sentence
    assert found.value.mend == mend
    schema_of({"a": values, "b": NUMBERS[: len(values)]}, **mend)
    lenient = schema_of({"a": values, "b": NUMBERS[: len(values)]}, strict=False)
    assert lenient.described()[0][1] == "dropped"


def test_all_columns_that_cannot_be_decided_are_refused_at_once():
    columns = {"a": [{"b": 1}] * N, "b": [*NUMBERS[:-1], "abc"], "c": [["x"]] * N, "d": NUMBERS}
    with pytest.raises(aw.InputError) as found:
        schema_of(columns, drop=("d",))
    assert found.value.sentence.lower().count("column '") == 3
    assert found.value.mend == {"drop": ("d", "a", "c"), "numbers": ("b",)}
    assert schema_of(columns, **found.value.mend).kinds == Kinds(2)


def test_many_columns_that_cannot_be_decided_are_named_in_short():
    columns = {f"c{i}": ["1,5", "2.5"] * 30 for i in range(20)} | {"d": NUMBERS}
    with pytest.raises(aw.InputError) as found:
        schema_of(columns)
    assert found.value.sentence.lower().count("column 'c") == 4
    assert "There is something to say about 16 more columns too: 'c4', 'c5'," in found.value.sentence
    assert schema_of(columns, **found.value.mend).kinds == Kinds(22 + 20)


def test_the_user_decides():
    columns = {"a": [*range(N)], "b": TEXTS, "c": ["x"] * N, "d": [*NUMBERS[:-1], "abc"], "e": NUMBERS}
    schema = schema_of(columns, numbers=("a", "d"), categories=("c",), text=("b",), drop=("e",), given_places=64)
    assert [column.role for column in schema.columns] == ["number", "text", "category", "number", "dropped"]
    assert schema.names == ("a", "d", "c=x", "c is another value", "c is missing", "d is missing", ANY_GAP)
    with pytest.warns(aw.errors.InputWarning, match="'d' of the table holds 'odd' in instance 0, .* is not a number"):
        rows = schema.rows(Records([{"a": 5, "b": "fox", "c": "y", "d": "odd"}], "b"))
    assert rows.toarray()[0, :7].tolist() == [5, 0, 0, 1, 0, 1, 0]
    with pytest.raises(aw.InputError, match="column 'a' is named twice, and must be one thing"):
        schema_of(columns, numbers=("a",), text=("a",))
    with pytest.raises(aw.InputError, match="no column 'bb', perhaps 'b'"):
        schema_of(columns, text=("bb",))


def test_the_label_and_the_time_are_no_features():
    records = [{"when": f"2015-02-{1 + i % 28:02}", "a": x, "class": i % 2} for i, x in enumerate(NUMBERS)]
    schema = infer(Records(records, "a"), ColumnChoices(time="when"), "a")
    assert [each[:2] for each in schema.described()] == [("when", "time"), ("a", "number"), ("class", "label")]
    assert (schema.label, schema.names) == ("class", ("a", ANY_GAP))
    with pytest.raises(aw.InputError, match="a has no feature besides its label; left out: 'a' .as asked."):
        infer(Records(records, "a"), ColumnChoices(time="when", drop=("a",)), "a")


def everything():
    """A table with a column of each kind."""
    return {
        "id": [f"c{i}" for i in range(N)],
        "age": [None if i == 3 else i % 7 for i in range(N)],
        "paid": NUMBERS,
        "flag": ["yes", "no"] * 30,
        "when": [f"2015-02-{1 + i % 28:02} {i % 24:02}:00" for i in range(N)],
        "city": ["Bern", "Zug", "", "Wien"] * 15,
        "mail": TEXTS,
        "title": TEXTS[::-1],
        "user": [f"u{i % 25}" for i in range(N - 1)] + ["other"],
        "place": [[0.5, i] for i in range(N)],
        "e": RNG.normal(size=(N, 16)).tolist(),
    }


def test_a_schema_is_stored_and_read_back_unchanged():
    schema = schema_of(everything(), given_places=256)
    again = from_json(json.loads(json.dumps(to_json(schema))))
    assert again == schema
    assert again.described() == schema.described()


@pytest.mark.parametrize("dense", [False, True])
def test_a_record_is_the_same_instance_as_in_a_table(dense):
    columns = everything()
    drop = ("mail", "title", "user", "e") if dense else ()
    schema = schema_of(columns, drop=drop, given_places=256)
    records = [{name: values[i] for name, values in columns.items()} for i in range(N)]
    X = schema.rows(Records(records, "a"))
    rows = [schema.row(record) for record in records]
    if dense:
        np.testing.assert_array_equal(np.array(rows), X)
    else:
        assert all(row.kinds == schema.kinds for row in rows)
        np.testing.assert_array_equal(sp.vstack(rows).toarray(), X.toarray())
    written = [{name: str(value) for name, value in record.items() if name not in ("place", "e")} for record in records]
    as_text = [schema.row(text | {"place": record["place"], "e": record["e"]}) for text, record in
               zip(written, records, strict=True)]  # fmt: skip
    for row, other in zip(rows, as_text, strict=True):
        assert (row != other).sum() == 0
    with pytest.raises(
        aw.InputError,
        match="the record has no column 'age', perhaps 'ages', .*; it has 'ages'; where a value is missing",
    ):
        schema.row({"ages": 3})


def test_another_table_must_have_the_columns_in_any_order():
    schema = schema_of({"age": NUMBERS, "mail": TEXTS})
    schema.check(["new", "mail", "age"], "b.csv")
    with pytest.raises(
        aw.InputError, match="b.csv has no column 'age', perhaps 'ages', which the features are made of"
    ):
        schema.check(["ages", "mail"], "b.csv")


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found.update(more=1),
        lambda found: found.update(missing="some"),
        lambda found: found.update(places=-1),
        lambda found: found.update(places=True),
        lambda found: found.update(columns={}),
        lambda found: found["columns"].append("a"),
        lambda found: found["columns"].append({"type": "other"}),
        lambda found: found["columns"].append({"type": "nothing", "name": "x"}),
        lambda found: found["columns"].append({"type": "number", "name": 3}),
        lambda found: found["columns"].append({"type": "number", "name": "age"}),
        lambda found: found["columns"].append({"type": "number", "name": "x", "salt": "y"}),
        lambda found: found["columns"].append({"type": "number", "name": "x", "width": 1.5}),
        lambda found: found["columns"].append({"type": "number", "name": "x", "width": 1 << 31}),
        lambda found: found["columns"].append({"type": "vector", "name": "x", "width": 0}),
        lambda found: found["columns"].append({"type": "vector", "name": "x", "width": 2, "parts": ["x0"]}),
        lambda found: found["columns"].append({"type": "vector", "name": "x", "width": 2, "parts": ["age", "x1"]}),
        lambda found: found["columns"].append({"type": "category", "name": "x", "values": ["a", "a"]}),
        lambda found: found["columns"].append({"type": "category", "name": "x", "values": "ab"}),
        lambda found: found["columns"].append({"type": "flag", "name": "x", "words": ["a"]}),
        lambda found: found["columns"].append({"type": "other", "name": "x", "what": "number"}),
        lambda found: found["columns"].append({"type": "date", "name": "x", "form": {"format": ""}}),
        lambda found: found["columns"].append(
            {"type": "date", "name": "x", "form": {"format": "", "origin": float("inf"), "cycles": []}}
        ),
        lambda found: found["columns"].append(
            {"type": "date", "name": "x", "form": {"format": "", "origin": 0.0, "cycles": ["hour of week"]}}
        ),
    ],
)
def test_a_stored_schema_that_was_changed_is_refused(change):
    found = to_json(schema_of({"age": NUMBERS}))
    found = json.loads(json.dumps(found))
    change(found)
    with pytest.raises(aw.InputError, match="a stored schema (must|has)"):
        from_json(found)


@pytest.mark.parametrize("form", ["%Y%m%d", "%d %B %Y", "%b %d, %Y", "%d-%b-%y", "%Y-%m-%d"])
def test_a_date_is_the_same_however_it_is_written(form):
    days = [datetime.date(2015, 1, 1) + datetime.timedelta(3 * i) for i in range(N)]
    texts = [day.strftime(form) for day in days]
    values = [int(text) for text in texts] if form == "%Y%m%d" else texts
    schema = schema_of({"a": values})
    rows = schema.rows(Records([{"a": value} for value in values], "b"))
    iso = schema_of({"a": [day.isoformat() for day in days]})
    np.testing.assert_array_equal(rows, iso.rows(Records([{"a": day.isoformat()} for day in days], "b")))
    assert from_json(to_json(schema)) == schema


@pytest.mark.parametrize(
    "form",
    ["%a, %d %b %Y %H:%M:%S +0000", "%a, %d %b %Y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y", "%a %b %d %H:%M:%S +0000 %Y"],
)
def test_dates_as_programs_write_them(form):
    moments = [datetime.datetime(2015, 1, 1, 7) + datetime.timedelta(hours=31 * i) for i in range(N)]
    schema = schema_of({"a": [moment.strftime(form) for moment in moments]})
    rows = schema.rows(Records([{"a": moment.strftime(form)} for moment in moments], "b"))
    iso = schema_of({"a": [moment.isoformat() for moment in moments]})
    np.testing.assert_array_equal(rows, iso.rows(Records([{"a": moment.isoformat()} for moment in moments], "b")))


@pytest.mark.parametrize(("unit", "name"), [(1, "timestamp"), (1, "created_at"), (1000, "ts"), (1, "phone")])
def test_seconds_since_1970_are_dates_where_their_name_says_so(unit, name):
    start = 1_700_000_000
    seconds = [start + 3600 * i * i for i in range(N)]
    schema = schema_of({name: [unit * each for each in seconds], "x": [0.5 * i for i in range(N)]})
    if name == "phone":
        assert roles_of(schema) == {"phone": "number", "x": "number"}
        return
    assert roles_of(schema) == {name: "date", "x": "number"}
    texts = [datetime.datetime.fromtimestamp(each, datetime.UTC).isoformat() for each in seconds]
    iso = schema_of({name: texts, "x": [0.5 * i for i in range(N)]})
    records = [{name: unit * each, "x": 1.0} for each in seconds]
    expected = iso.rows(Records([{name: each, "x": 1.0} for each in texts], "b"))
    np.testing.assert_array_equal(schema.rows(Records(records, "b")), expected)
    np.testing.assert_array_equal(schema.row(records[7]), expected[7])
    assert from_json(to_json(schema)) == schema


@pytest.mark.parametrize("form", ["%H:%M", "%H:%M:%S", "%I:%M %p"])
def test_times_of_the_day_are_places_in_the_day(form):
    times = [datetime.time(i % 24, 7 * i % 60) for i in range(N)]
    schema = schema_of({"a": [time.strftime(form) for time in times]})
    assert schema.names[:3] == ("a, in days", "a, sine of hour of day", "a, cosine of hour of day")
    noon = schema.row({"a": datetime.time(12).strftime(form)})
    np.testing.assert_allclose(noon[:3], [0.5, 0.0, -1.0], atol=1e-12)


def test_the_name_of_a_column_is_cut_where_a_file_is_no_table(tmp_path):
    (tmp_path / "no.csv").write_text("D" * 100_000)
    for given in ({"label": "y"}, {"target": "none"}):
        with pytest.raises(aw.InputError) as error:
            aw.data.read(tmp_path / "no.csv", **given).load()
        assert "DDD ...'" in error.value.sentence
        assert len(error.value.sentence) < 300 + len(str(tmp_path))


def test_a_very_long_line_of_names_is_read(tmp_path):
    names = [f"{each}{'x' * 40_000}" for each in "abc"]
    (tmp_path / "long.csv").write_text(",".join(names) + "\n1,2,0\n3,4,1\n5,6,0\n")
    X, _ = aw.data.read(tmp_path / "long.csv", label=names[2], numbers=names[:2]).load()
    assert X[:, :2].tolist() == [[1, 2], [3, 4], [5, 6]]
