"""Files as they are found: nothing is named but the label."""

import csv
import datetime
import gzip
import json
import os
import pathlib
import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import askwhen as aw
from askwhen.contracts.kinds import Kinds
from askwhen.errors import InputWarning

arrow = pytest.importorskip("pyarrow")


def real(name):
    folder = os.environ.get("ASKWHEN_DATA")
    path = pathlib.Path(folder or ".") / name
    if folder is None or not path.exists():
        pytest.skip(f"set ASKWHEN_DATA to a folder that holds {name}")
    return path


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def roles(stream):
    return {name: role for name, role, _ in stream.schema.described()}


def test_customers_of_a_telephone_company(here):
    lines = gzip.decompress(real("telco_churn.csv.gz").read_bytes()).decode().splitlines()
    blank = [",".join([*line.split(",")[:19], " ", line.split(",")[20]]) if i % 500 == 3 else line for i, line in
             enumerate(lines)]  # fmt: skip
    (here / "telco.csv").write_text("\n".join(blank))
    stream = aw.data.read("telco.csv", label="Churn")
    X, y = stream.load()
    assert isinstance(X, np.ndarray)
    assert X.shape == (len(lines) - 1, stream.kinds.numbers)
    found = roles(stream)
    assert found["customerID"] == "dropped"
    assert {name for name, role in found.items() if role == "number"} == {
        *("SeniorCitizen", "Partner", "Dependents", "tenure", "PhoneService", "PaperlessBilling"),
        *("MonthlyCharges", "TotalCharges"),
    }
    gaps = X[:, stream.names.index("TotalCharges is missing")]
    assert gaps.sum() == sum(line.split(",")[19] == " " for line in blank) > 10
    assert (X[:, [i for i, name in enumerate(stream.names) if name.startswith("Contract=")]].sum(axis=1) == 1).all()
    assert stream.schema.summary() == ("Columns: 8 numbers, 11 categories; left out customerID (an identifier).")
    assert (y > 0).sum() == sum(line.endswith("Yes") for line in lines)


def test_news_beside_columns_of_all_kinds(here):
    with gzip.open(real("agnews.csv.gz"), "rt", newline="") as file:
        rows = list(csv.DictReader(file))
    rng, first = np.random.default_rng(0), datetime.datetime(2004, 8, 1)
    with (here / "news.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "text", "length", "price", "when", "agency", "label"])
        for i, row in enumerate(rows):
            when = (first + datetime.timedelta(hours=i)).isoformat(" ")
            writer.writerow([i + 1, row["text"], len(row["text"]), f"{rng.lognormal(3):.2f}", when, "ap", row["label"]])
    stream = aw.data.read("news.csv", target="class")
    assert roles(stream) == {
        "id": "dropped", "text": "text", "length": "number", "price": "number", "when": "date", "agency": "dropped",
        "label": "label",
    }  # fmt: skip
    X, y = stream.load()
    assert X.kinds == stream.kinds == Kinds(2 + 7 + 1, (), 1 << 18)
    texts = aw.data.hash_text([row["text"] for row in rows])
    assert (X[:, 10:] != texts).nnz == 0
    assert y.tolist() == [row["label"] for row in rows]
    again = aw.data.read("news.csv", schema=stream.schema, target="none").load()[0]
    assert (again != X).nnz == 0


def test_messages_with_unnamed_columns_in_latin_1(here):
    rng = np.random.default_rng(0)
    words = ["free", "prize", "win", "£100", "lunch", "home", "later", "ok"]
    with (here / "spam.csv").open("w", newline="", encoding="latin-1") as file:
        writer = csv.writer(file)
        writer.writerow(["v1", "v2", "", "", ""])
        for i in range(300):
            words_of_it = " ".join(rng.choice(words, 9))
            writer.writerow(["spam" if i % 3 else "ham", words_of_it, "", "", "x" if i == 250 else ""])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", InputWarning)
        assert aw.data.read("spam.csv", label="v1", encoding="latin-1").kinds.words
    unnamed = pytest.warns(InputWarning, match="columns 3, 4, 5 of 5 have no name in the first line, and are left out")
    with unnamed, pytest.raises(aw.InputError, match="name its encoding by encoding=, such as 'latin-1'") as caught:
        aw.data.read("spam.csv", label="v1", positive="spam").load()
    with pytest.warns(InputWarning, match="columns 3, 4, 5 of 5 have no name in the first line, and are left out"):
        X, y = aw.data.read("spam.csv", label="v1", positive="spam", **caught.value.mend).load()
    assert X.kinds == Kinds(0, (), 1 << 18)
    assert (y > 0).sum() == 200
    assert (X.sum(axis=1) >= 9).all()


def test_a_first_line_with_a_label_that_comes_again_has_no_names(here):
    rows = [f"message number {i} came,{['spam', 'ham'][i % 2]}" for i in range(40)]
    (here / "spam.csv").write_text("\n".join(rows))
    with pytest.warns(InputWarning, match="they are called column1 to column2"):
        _, y = aw.data.read("spam.csv", label="column2", positive="spam").load()
    assert (y > 0).tolist() == [True, False] * 20
    (here / "spam.csv").write_text("\n".join(["message,label", *rows]))
    assert len(aw.data.read("spam.csv", label="label", positive="spam").load()[1]) == 40


FLOWERS = [f"{5 + i % 7 / 10},{3 + i % 5 / 10},{['setosa', 'virginica'][i % 2]}" for i in range(40)]


def test_a_file_without_a_line_of_names(here):
    (here / "iris.csv").write_text("\n".join(FLOWERS))
    stream = aw.data.read("iris.csv", label="column3", positive="setosa")
    said = "iris.csv has no line with the names of its columns; they are called column1 to column3."
    with pytest.warns(InputWarning, match=said):
        X, y = stream.load()
    assert X[0].tolist() == [5.0, 3.0, 0.0]
    assert (len(y), stream.names[:2]) == (40, ("column1", "column2"))
    with (
        pytest.warns(InputWarning),
        pytest.raises(
            aw.InputError, match="needs label=, the name of its label column; it has 'column1', 'column2', 'column3'"
        ),
    ):
        aw.data.read("iris.csv").load()
    from askwhen.data.counting import count_rows

    assert count_rows("iris.csv") == 40
    (here / "odd.csv").write_text("\n".join([*FLOWERS, "x,3.1,setosa"] + FLOWERS * 20_000 + ["x,1.5,setosa"]))
    with (
        pytest.warns(InputWarning),
        pytest.raises(aw.InputError, match="'column1' of odd.csv holds 'x' in instance 40"),
    ):
        aw.data.read("odd.csv", label="column3").load()


@pytest.mark.parametrize("names", ["0,1,2", "1,2,3", "a,1,2", "5.5,x,kind"])
def test_a_line_of_names_is_not_taken_for_values(here, names):
    (here / "a.csv").write_text("\n".join([names, *FLOWERS]))
    label = names.split(",")[2]
    assert len(aw.data.read("a.csv", label=label, positive="setosa").load()[1]) == 40


def test_numbers_of_names_that_the_user_names_are_names(here):
    (here / "a.csv").write_text("2019,7,3\n1,2,1\n2,3,0\n")
    assert aw.data.read("a.csv", label="3").load()[0].shape == (2, 3)


@pytest.mark.parametrize("between", [";", "\t", "|"])
def test_what_is_between_columns_is_seen(here, between):
    rows = [f'"a{between}b\nc";{i * i};{i % 2}'.replace(";", between) for i in range(50)]
    (here / "a.csv").write_text("\n".join(["words;n;label".replace(";", between), *rows]))
    stream = aw.data.read("a.csv", categories="words")
    X, y = stream.load()
    assert (X.shape, len(y), stream.names[0]) == ((50, 5), 50, "n")
    from askwhen.data.counting import count_rows

    assert count_rows("a.csv") == 50


def test_numbers_with_a_decimal_comma_are_read(here):
    (here / "a.csv").write_text("x;y;label\n" + "".join(f"{i},5;1.200,{i:02};{i % 2}\n" for i in range(30)))
    X, _ = aw.data.read("a.csv").load()
    assert X[:, :2].tolist() == [[i + 0.5, 1200 + i / 100] for i in range(30)]


def test_texts_of_a_megabyte_and_empty_ones(here):
    texts = ["word " * 200_000, "", "some words here", None]
    for name in ("a.csv", "a.ndjson"):
        with (here / name).open("w", newline="") as file:
            if name == "a.csv":
                csv.writer(file).writerows([["text", "label"], *([text, i % 2] for i, text in enumerate(texts * 9))])
            else:
                file.writelines(json.dumps({"text": text, "label": i % 2}) + "\n" for i, text in enumerate(texts * 9))
        X, _ = aw.data.read(name).load()
        assert X.sum(axis=1).ravel()[:, :4].tolist() == [[200_000, 0, 3, 0]]


def test_bytes_that_are_not_utf_8_are_refused_where_they_matter(here):
    rows = [f"words of a mail {i % 7},{i % 5}.5,{i % 2}".encode() for i in range(60)]
    (here / "a.csv").write_bytes(b"\n".join([b"mail,n,label", *rows, b"caf\xe9 and more words,1.5,1"]))
    with pytest.raises(aw.InputError, match="a.csv is not in UTF-8, as line 62 shows; name its encoding") as caught:
        aw.data.read("a.csv").load()
    assert aw.data.read("a.csv", **caught.value.mend).load()[0].shape[0] == 61
    assert aw.data.read("a.csv", drop="mail").load()[0].shape[0] == 61


@pytest.mark.parametrize("kind", ["parquet", "ndjson"])
def test_vectors_in_lists(here, kind):
    rng = np.random.default_rng(0)
    lists = rng.normal(size=(60, 24)).tolist()
    lists[3], lists[4], lists[5] = None, [float("nan"), *lists[4][1:]], [0.0] * 24
    records = [{"e": each, "size": i % 7, "label": i % 2} for i, each in enumerate(lists)]
    if kind == "parquet":
        from pyarrow import parquet

        parquet.write_table(arrow.Table.from_pylist(records), "a.parquet")
    else:
        (here / "a.ndjson").write_text("\n".join(map(json.dumps, records)))
    stream = aw.data.read(f"a.{kind}")
    X, _ = stream.load()
    assert X.kinds == stream.kinds == Kinds(2, (24,), 0)
    vectors = X[:, 2:].toarray()
    assert not vectors[3:6].any()
    np.testing.assert_array_equal(vectors[6:], lists[6:])
    np.testing.assert_array_equal(stream.schema.row(records[7]).toarray(), X[7].toarray())
    records[9]["e"] = [1.0, 2.0]
    (here / "b.ndjson").write_text("\n".join(map(json.dumps, records)))
    with pytest.raises(aw.InputError, match="column 'e' of b.ndjson holds lists of 2 to 24 numbers; name it in drop="):
        aw.data.read("b.ndjson").load()
    with pytest.raises(aw.InputError, match="column 'e' must hold 24 numbers in every row, got 2 in instance 9"):
        aw.data.read("b.ndjson", schema=stream.schema).load()


@pytest.mark.parametrize(("between", "brackets"), [(", ", "[]"), (" ", "[]"), (",", "{}"), (" ", ("", ""))])
def test_vectors_that_are_written_as_text(here, between, brackets):
    vectors = np.random.default_rng(0).normal(size=(60, 24))
    texts = [brackets[0] + between.join(map(repr, each)) + brackets[1] for each in vectors.tolist()]
    texts[3] = ""
    with (here / "a.csv").open("w", newline="") as file:
        csv.writer(file).writerows(
            [["e", "place", "label"], *([text, f"[{i}.5, 2]", i % 2] for i, text in enumerate(texts))]
        )
    stream = aw.data.read("a.csv")
    assert stream.kinds == Kinds(3, (24,), 0)
    assert aw.data.read("a.csv", vector=["e", "place"]).kinds == Kinds(0, (24, 2), 0)
    X = stream.load()[0].toarray()
    assert not X[3, 3:].any()
    np.testing.assert_array_equal(X[4:, 3:], vectors[4:])
    np.testing.assert_array_equal(X[:, 0], [i + 0.5 for i in range(60)])
    with (here / "b.csv").open("w", newline="") as file:
        csv.writer(file).writerows([["e", "place"], [texts[5], "[1, 2]"], ["nothing", "[1, 2]"]])
    with pytest.raises(aw.InputError, match="b.csv must have a list of numbers as 'e' in instance 1, got 'nothing'"):
        aw.data.read("b.csv", schema=stream.schema, target="none").load()


def test_vectors_in_columns(here):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(80, 32))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = ",".join(["price", *(f"dim_{j}" for j in range(1, 33)), "label"])
    lines = [f"{i % 9}.5,{','.join(f'{v:.4f}' for v in each)},{i % 2}" for i, each in enumerate(vectors)]
    lines[7] = lines[7].replace(f"{vectors[7, 3]:.4f}", "")
    (here / "a.csv").write_text("\n".join([names, *lines]))
    stream = aw.data.read("a.csv")
    X, _ = stream.load()
    assert (stream.kinds, stream.schema.columns[1].name) == (Kinds(2, (32,), 0), "dim_")
    assert not X[7, 2:].toarray().any()
    np.testing.assert_allclose(X[8:, 2:].toarray(), vectors[8:], atol=1e-4)
    assert aw.data.read("a.csv", numbers=names.split(",")[:-1]).load()[0].shape == (80, 33 + 2)
    assert aw.data.read("a.csv", vector="dim_").kinds == stream.kinds


def test_a_category_that_was_never_seen_and_a_flag_that_is_not_one(here):
    rows = [f"{['red', 'green'][i % 2]},{['yes', 'no'][i % 3 % 2]},{i % 7}.5,{i % 2}" for i in range(60)]
    (here / "a.csv").write_text("\n".join(["colour,flag,n,label", *rows]))
    (here / "b.csv").write_text("n,flag,colour\n1,perhaps,blue\n,YES,red\n")
    stream = aw.data.read("a.csv")
    with pytest.warns(InputWarning, match="'flag' of b.csv holds 'perhaps' in instance 0, .* is not 'no' or 'yes'"):
        found = aw.data.read("b.csv", schema=stream.schema, target="none").load()[0]
    assert stream.names == (
        *("flag", "n", "colour=red", "colour=green", "colour is another value", "colour is missing"),
        "another number is missing",
    )
    assert found.tolist() == [[0, 1, 0, 0, 1, 0, 1], [1, 0, 1, 0, 0, 0, 1]]


def test_rows_of_every_format_and_of_programs_are_the_same(here):
    from pyarrow import csv as arrow_csv
    from pyarrow import parquet

    rows = [
        f"m{i},{'' if i % 9 == 4 else i % 6},{['yes', 'no'][i % 2]},2015-02-{1 + i % 28:02} {i % 24:02}:30:00,"
        f"{['Bern', 'Zug', ''][i % 3]},some words {i % 4} and more {i % 5},{i % 2}"
        for i in range(70)
    ]
    (here / "a.csv").write_text("\n".join(["id,n,flag,when,city,mail,label", *rows]))
    stream = aw.data.read("a.csv", n_features=128)
    X, y = stream.load()
    parquet.write_table(arrow_csv.read_csv("a.csv"), "a.parquet")
    with (here / "a.csv").open(newline="") as file:
        records = list(csv.DictReader(file))
    (here / "a.ndjson").write_text("\n".join(map(json.dumps, records)))
    for name in ("a.parquet", "a.ndjson"):
        again = aw.data.read(name, schema=stream.schema)
        found, labels = again.load()
        np.testing.assert_array_equal(found.toarray(), X.toarray())
        if name == "a.parquet":
            np.testing.assert_array_equal(labels, y)
        assert aw.data.read(name, n_features=128).kinds == stream.kinds
    alone = sp.vstack([stream.schema.row(record) for record in records])
    np.testing.assert_array_equal(alone.toarray(), X.toarray())


MESSAGES = [f"{['ham', 'spam', 'ham'][i % 3]}\tCall {i} of you, {'now' if i % 2 else 'later'}!" for i in range(60)]


@pytest.mark.parametrize("turned", [False, True])
def test_labels_and_texts_without_a_line_of_names(here, turned):
    lines = ["\t".join(line.split("\t")[::-1]) if turned else line for line in MESSAGES]
    (here / "SMSSpamCollection").write_text("\n".join(lines))
    label = "column2" if turned else "column1"
    stream = aw.data.read("SMSSpamCollection", label=label, format="tsv")
    with pytest.warns(InputWarning, match="has no line with the names of its columns"):
        y = stream.load()[1]
    assert len(y) == 60
    assert (y > 0).sum() == 20


def test_few_rows_without_names_are_read_by_the_schema_of_many(here):
    (here / "many.tsv").write_text("\n".join(MESSAGES))
    (here / "few.tsv").write_text("ham\tCall 7 of you\n")
    with pytest.warns(InputWarning):
        schema = aw.data.read("many.tsv", label="column1").schema
    with pytest.warns(InputWarning):
        X = aw.data.read("few.tsv", schema=schema, target="none").load()[0]
    assert X.shape[0] == 1
    assert X.nnz == 4
    with pytest.warns(InputWarning):  # the first line never looks like values here: the user's name says it
        assert len(aw.data.read("few.tsv", label="column1", positive="ham").load()[1]) == 1


def test_a_line_of_names_that_comes_again_is_one_of_names(here):
    rows = ["label,text", *(f"{'yes' if i % 2 else 'no'},words {i} here now" for i in range(20))]
    (here / "joined.csv").write_text("\n".join([*rows, *rows[:1], *rows[1:3], *rows[:1], *rows[:1]]))
    assert aw.data.read("joined.csv", target="class").load()[1][0] == "no"


def test_a_table_without_a_label_is_refused_with_the_columns_that_may_be_it(here):
    rows = [f"{i},message {i} says this,{i * 0.5},{'abc'[i % 3]},{'ham' if i % 3 else 'spam'}\n" for i in range(60)]
    (here / "a.csv").write_text("id,body,price,place,kind\n" + "".join(rows))
    sentence = (
        "it has 'id', 'body', 'price', 'place', 'kind'; perhaps 'kind' \\('spam', 'ham'\\) or 'place' \\('a', 'b' "
    )
    with pytest.raises(aw.InputError, match=sentence + "and 1 more\\)") as refused:
        aw.data.read("a.csv").load()
    assert refused.value.mend == {"label": "kind"}
    with pytest.raises(aw.InputError, match="it has 'id', 'body', 'price', 'place', 'kind'\\.$"):
        aw.data.read("a.csv", drop=["place", "kind"]).load()
    with pytest.raises(aw.InputError, match="no column 'plaec', perhaps 'place'"):
        aw.data.read("a.csv", drop="plaec").load()


def test_a_number_beside_the_name_of_a_label_is_warned_of(here):
    rows = [f"{['ham', 'spam'][i % 2]},message {i} says this,{i % 2},{i % 3}\n" for i in range(300)]
    (here / "a.csv").write_text("label,body,label_num,n\n" + "".join(rows))
    sentence = "column 'label_num' of a.csv has one value for each label in the first 300 rows; if that is the label"
    with pytest.warns(InputWarning, match=sentence + " .*: drop='label_num' \\(--drop label_num\\) leaves it out."):
        aw.data.read("a.csv").load()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert aw.data.read("a.csv", drop="label_num").load()[0].shape[0] == 300
        aw.data.read("a.csv", target="none").load()
