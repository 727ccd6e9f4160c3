"""What is wrong with the columns of a file is said all at once, with the arguments that mend it."""

import json

import numpy as np
import pytest

import askwhen as aw
from askwhen.data.schema import ANY_GAP
from askwhen.errors import InputWarning


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refusal(path, **settings):
    with pytest.raises(aw.InputError) as caught:
        aw.data.read(path, **settings).load()
    return caught.value


def test_all_columns_that_cannot_be_decided_are_refused_at_once_and_what_is_suggested_works(here):
    ages = ["abc" if i == 7 else i for i in range(40)]
    paid = ["?" if i == 29 else i * i for i in range(40)]
    rows = [f"c{i},{'york' if i % 3 else ''},{paid[i]},{ages[i]},{'$€'[i % 2]}1.{i:02},{i % 2}" for i in range(40)]
    (here / "a.csv").write_text("\n".join(["id,city,paid,age,price,label", *rows]))
    found = refusal("a.csv", drop="city")
    assert found.sentence == (
        "column 'age' of a.csv holds 'abc' in instance 7, counted from 0, where a number is expected; correct it, or "
        "name the column in numbers=, so that what is not a number is missing, or in categories=. Column 'price' of "
        "a.csv holds '€1.01' in instance 1, counted from 0, where a number is expected that is written as '$1.00'; "
        "correct it, or name the column in numbers=, so that what is not a number is missing, or in categories=."
    )
    assert found.mend == {"numbers": ("age", "price")}
    assert "Perhaps numbers=['age', 'price']" in str(found)
    stream = aw.data.read("a.csv", drop="city", **found.mend)
    assert stream.load()[0].shape == (40, 6)
    assert stream.names == ("paid", "age", "price", "paid is missing", "age is missing", "price is missing")


def test_a_number_that_is_none_is_shown_with_its_row(here):
    (here / "a.csv").write_text("a,label\n" + "1,1\n2,0\n1,0\n2,1\n" * 100_000 + "abc,1\n")
    found = refusal("a.csv")
    assert found.sentence == (
        "column 'a' of a.csv holds 'abc' in instance 400,000, counted from 0, where a number is expected; correct it, "
        "or name the column in numbers=, so that what is not a number is missing."
    )
    assert (found.row, found.column, found.mend) == (400_000, "a", {"numbers": ("a",)})
    with pytest.warns(InputWarning, match="'a' of a.csv holds 'abc' in instance 400,000, .* is not a number"):
        assert aw.data.read("a.csv", **found.mend).load()[0][-1].tolist() == [0, 1]


@pytest.mark.parametrize("mark", ["?", "-", " ", "   ", "NA", "N/A", "null", "None", ""])
@pytest.mark.parametrize("before", [20, 200_000])
def test_marks_of_missing_numbers_are_taken_as_missing(here, mark, before):
    (here / "a.csv").write_text("a,label\n" + "1,1\n2,0\n1,0\n2,1\n" * (before // 2) + f"{mark},1\n")
    X, _ = aw.data.read("a.csv").load()
    assert X[-1].tolist() == [0, 1]
    (here / "a.ndjson").write_text("\n".join(json.dumps({"a": a, "label": 1}) for a in (1, mark, 2)))
    assert aw.data.read("a.ndjson").load()[0].tolist() == [[1, 0], [0, 1], [2, 0]]
    for name in ("a.csv", "a.ndjson"):
        assert "'a' of a" in refusal(name, missing="refuse").sentence
        assert refusal(name, missing="refuse").mend == {"missing": "auto"}


@pytest.mark.parametrize(("between", "named"), [(";", "';'"), ("\t", r"'\t'"), ("|", "'|'")])
def test_another_character_between_columns_is_seen(here, between, named):
    (here / "a.csv").write_text("a,b,label\n1,2,1\n2,1,0\n".replace(",", between))
    assert aw.data.read("a.csv").load()[0].shape == (2, 3)
    (here / "b.csv").write_text("a,x;b;label\n1;2;1\n2;1;0\n".replace(";", between))
    found = refusal("b.csv")
    assert f"give delimiter={named} if that separates columns" in found.sentence
    assert aw.data.read("b.csv", **found.mend).load()[0].shape == (2, 3)


def test_empty_columns_without_a_name_are_left_out(here):
    (here / "a.csv").write_text("a,label,,,\n1,1,,,\n2,0,,,\n" + "3,1,,,\n" * 700_000)
    stream = aw.data.read("a.csv")
    assert (stream.load()[0].shape, stream.names) == ((700_002, 2), ("a", ANY_GAP))
    (here / "a.csv").write_text(",a,label,\n0,1,1,\n1,2,0,x\n")
    with pytest.warns(InputWarning, match="a.csv: columns 1, 4 of 4 have no name in the first line, and are left out"):
        assert aw.data.read("a.csv", missing="refuse").load()[0].tolist() == [[1], [2]]


def test_true_and_false_are_numbers(here):
    (here / "a.csv").write_text("a,b,label\nTrue,false,1\nFalse,true,0\n,TRUE,1\n")
    found = aw.data.read("a.csv", missing="feature").load()[0]
    assert found.tolist() == [[1, 0, 0, 0], [0, 1, 0, 0], [0, 1, 1, 0]]


def test_a_label_column_with_a_capital_is_suggested(here):
    (here / "a.csv").write_text("a,Class\n1,1\n")
    assert refusal("a.csv").mend == {"label": "Class"}


def test_labels_that_are_no_pair_are_counted(here):
    (here / "a.csv").write_text("a,label\n" + "1,3\n" * 3 + "2,5\n")
    found = refusal("a.csv")
    assert "or name the one that is positive=; the labels of the first 4 instances are 3 (3), 5 (1)." in str(found)
    assert found.mend == {"positive": 5}
    (here / "a.csv").write_text("a,label\n" + "1,ant\n" * 3 + "2,bee\n2,cow\n")
    found = refusal("a.csv")
    assert "give target='class' to predict one of them; the labels of the first 5 instances are 'ant' (3)," in str(
        found
    )
    assert (found.mend, found.got) == ({"target": "class"}, ("ant", "bee", "cow"))
    (here / "a.csv").write_text("a,label\n" + "".join(f"1,{i}.5\n" for i in range(50)))
    found = refusal("a.csv")
    assert "give target='number' to predict numbers; there are 50 different ones from 0.5 to 49.5." in str(found)
    assert aw.data.read("a.csv", **found.mend).load()[1][-1] == 49.5


NOON = np.datetime64("2015-02-24T11:35")


@pytest.mark.parametrize(
    "text",
    [
        "2015-02-24 11:35",
        "2015-02-24T11:35:00",
        "2015-02-24T13:35:00+02:00",
        "2015-02-24 11:35:00Z",
        "2/24/2015 11:35",
        "02/24/2015 11:35:00",
        "2/24/15 11:35 AM",
        "24/2/2015 11:35",
        "24-02-2015 11:35",
        "24.2.2015 11:35",
        "2015/02/24 11:35:00.0",
    ],
)
@pytest.mark.parametrize("kind", ["csv", "ndjson"])
def test_times_in_the_usual_forms(here, text, kind):
    if kind == "csv":
        (here / "a.csv").write_text(f"a,when,label\n1,{text},1\n2,{text},0\n")
    else:
        (here / "a.ndjson").write_text(f'{{"a": 1, "when": "{text}", "label": 1}}\n' * 2)
    times = aw.data.read(f"a.{kind}", time="when").load()[2]
    assert (times.astype("datetime64[us]") == NOON).all()


def test_the_first_rows_decide_which_is_the_day(here):
    (here / "a.csv").write_text("a,when,label\n1,1/2/2015,1\n2,13/2/2015,0\n")
    assert aw.data.read("a.csv", time="when").load()[2][0] == np.datetime64("2015-02-01")
    (here / "a.csv").write_text("a,when,label\n1,1/2/2015,1\n2,3/2/2015,0\n")
    with pytest.raises(aw.InputError, match="first; give time_format='%m/%d/%Y' or time_format='%d/%m/%Y'"):
        aw.data.read("a.csv", time="when").load()
    times = aw.data.read("a.csv", time="when", time_format="%d/%m/%Y").load()[2]
    assert times.tolist() == np.array(["2015-02-01", "2015-02-03"], "datetime64[us]").tolist()


def test_what_is_no_time_is_refused_by_its_row(here):
    (here / "a.csv").write_text("a,when,label\n1,24.2.2015,1\n2,soon,0\n")
    with pytest.raises(
        aw.InputError, match="'when' of a.csv holds 'soon' in instance 1, counted from 0, which is not a t"
    ):
        aw.data.read("a.csv", time="when").load()
    (here / "a.ndjson").write_text('{"x": [1], "y": 1, "time": "2015-02-24"}\n{"x": [1], "y": 0, "time": "soon"}\n')
    with pytest.raises(
        aw.InputError, match="'time' of a.ndjson holds 'soon' in instance 1, counted from 0, which is not"
    ):
        aw.data.read("a.ndjson").load()


def test_a_name_that_is_nearly_right_is_put_right(here):
    (here / "a.csv").write_text("age,Churn,leak\n1,1,2\n2,0,3\n")
    found = refusal("a.csv", label="churn", drop=["Leak"])
    assert found.mend == {"label": "Churn", "drop": ("leak",)}
    assert aw.data.read("a.csv", **found.mend).load()[0].tolist() == [[1, 0], [2, 0]]
    assert refusal("a.csv", label="churn", drop=["nothing"]).mend == {}
