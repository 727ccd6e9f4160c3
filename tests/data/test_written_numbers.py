"""Numbers with a decimal comma, marks between thousands, percent and currency signs."""

import math
import pathlib
import warnings

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.column_choices import ColumnChoices
from askwhen.data.inference import infer
from askwhen.data.records import Records
from askwhen.data.schema_json import from_json, to_json
from askwhen.data.written_numbers import NumberForm, forms_of

pytest.importorskip("pyarrow")


def column_of(texts, **choices):
    records = [{"a": text, "b": 0.5 * i} for i, text in enumerate(texts)]
    return infer(Records(records, "f"), ColumnChoices(labelled=False, **choices), "f").columns[0]


@pytest.mark.parametrize(
    ("text", "form", "number"),
    [
        ("1,64", ",", 1.64),
        (" -1.234.567,8 ", ",", -1234567.8),
        ("1 234,5", ",", 1234.5),
        ("1\u00a0234", ".", 1234),
        ("1'234.5", ".", 1234.5),
        ("12 %", ".%", 12),
        ("12,5%", ",%", 12.5),
        ("$-5", ".$", -5),
        ("-$5", ".$", -5),
        ("7 €", ",€", 7),
        ("0", ",€", 0),
        (",5", ",", 0.5),
        ("5", ".%", None),
        ("5 %", ".", None),
        ("1,23,4", ".", None),
        ("01 234", ".", None),
        ("--5", ".", None),
        ("$5$", ".$", None),
        ("1,5", ".", None),
        ("5 kg", ".", None),
        ("%", ".%", None),
        ("", ".", None),
    ],
)
def test_what_a_text_is_in_a_way_of_writing(text, form, number):
    found = NumberForm(form[0], form[1:]).number(text)
    assert math.isnan(found) if number is None else found == number


def test_numbers_written_in_any_way_are_read_back():
    rng = np.random.default_rng(0)
    for decimal, between in [(",", "."), (",", " "), (".", ","), (".", "'")]:
        for sign in ["", "%", " €"]:
            values = [*np.round(rng.lognormal(5, 3, 200) * rng.choice([-1, 1], 200), 2), 1234567.25]
            marks = {",": between, ".": decimal}
            texts = ["".join(marks.get(c, c) for c in f"{value:,.2f}") + sign for value in values]
            (form,) = forms_of(texts)
            assert form == NumberForm(decimal, sign.strip())
            assert [form.number(text) for text in texts] == values


@pytest.mark.parametrize(
    ("texts", "writing", "why"),
    [
        (["1,64", "2,5"], ",", "numbers from 1.64 to 2.5, written with a decimal comma"),
        (["12 %", "3.5%"], ".%", "numbers from 3.5 to 12, written with the sign %"),
        (["1.234,5 €", "0"], ",€", "numbers from 0 to 1234.5, written with a decimal comma and the sign €"),
        (["1,250", "750"], ".", "numbers from 750 to 1250, written with marks between thousands"),
    ],
)
def test_a_column_that_agrees_is_read_as_numbers_and_says_how(texts, writing, why):
    column = column_of(texts * 30)
    assert (column.role, column.writing, column.why) == ("number", writing, why)


def test_a_comma_that_may_be_either_is_read_as_it_is_said():
    texts = ["1,250", "2,750"] * 30
    assert column_of(texts, decimal=",").why == "numbers from 1.25 to 2.75, written with a decimal comma"
    assert column_of(texts, decimal=".").why == "numbers from 1250 to 2750, written with marks between thousands"
    assert column_of(["1,5", "2,5"] * 30, decimal=",").writing == ","


def test_columns_asked_for_as_numbers_are_never_missing_without_a_word():
    assert column_of(["1,64", "12,5"] * 30, numbers=("a",)).why == "numbers with a decimal comma, as asked"
    assert column_of(["$5", "?"] * 30, numbers=("a",)).why == "numbers with the sign $, as asked"
    assert column_of(["1", "abc"] * 30, numbers=("a",)).why == (
        "numbers, as asked; 30 of the first 60 are taken for missing, such as 'abc'"
    )
    with pytest.raises(aw.InputError, match="column 'a' of f holds no number, as 'abc' in instance 0") as found:
        column_of(["abc", "xyz"] * 30, numbers=("a",))
    assert found.value.mend == {"numbers": (), "drop": ("a",)}


def test_files_of_any_writing_have_the_same_numbers_and_say_what_does_not_fit(tmp_path):
    rng = np.random.default_rng(0)
    prices = np.round(rng.lognormal(5, 2, 300), 2)
    plain, german = tmp_path / "plain.csv", tmp_path / "german.csv"
    plain.write_text("price,y\n" + "".join(f"{x:.2f},{i % 2}\n" for i, x in enumerate(prices)))
    euros = [f"{x:,.2f} €".translate(str.maketrans(",.", ".,")) for x in prices]
    german.write_text("price;y\n" + "".join(f"{x};{i % 2}\n" for i, x in enumerate(euros)))
    stream = aw.data.read(german)
    summary = "Columns: 1 number; price has a decimal comma and the sign €."
    assert stream.schema.summary() == summary
    assert (stream.load()[0] == aw.data.read(plain).load()[0]).all()
    assert from_json(to_json(stream.schema)) == stream.schema
    assert (stream.schema.row({"price": "1.234,50 €"}) == stream.schema.row({"price": 1234.5})).all()
    with pytest.raises(aw.InputError, match="must have a number with a decimal comma and the sign € as 'price'"):
        stream.schema.row({"price": "1,234.50 €"})
    german.write_text("price;y\n" + "12,50 €;0\ncheap;1\n")
    with pytest.raises(aw.InputError, match="column 'price' holds 'cheap' in instance 1, .* name the column in numb"):
        aw.data.read(german, schema=stream.schema).load()


def test_a_later_value_that_is_taken_for_missing_is_said_once(tmp_path):
    path = pathlib.Path(tmp_path / "f.csv")
    rows = [f"{i}.5,{'yes' if i % 3 else 'no'},2015-02-{1 + i % 28:02},{i % 2}\n" for i in range(100_000)]
    rows[70_001] = "1.5,maybe,soon,1\n"
    rows[90_001] = "1.5,perhaps,later,1\n"
    path.write_text("a,member,day,y\n" + "".join(rows))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        aw.data.read(path).load()
    assert sorted(str(each.message).split(":")[0] for each in said) == [
        f"Column {name} in instance 70,001, counted from 0, which is not {what}"
        for name, what in [
            (f"'day' of {path} holds 'soon'", "a date such as 2026-01-31"),
            (f"'member' of {path} holds 'maybe'", "'no' or 'yes'"),
        ]
    ]


def test_a_schema_says_how_numbers_are_written():
    schema = aw.data.make_schema({"price": {"number": ",€"}, "share": {"number": ".%"}})
    assert schema.row({"price": "1.234,5 €", "share": "12 %"}).tolist() == [1234.5, 12.0, 0.0]
    with pytest.raises(aw.InputError, match="column 'a' must be .number."):
        aw.data.make_schema({"a": {"number": "€"}})
