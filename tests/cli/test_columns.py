"""What commands say about the columns of raw tables, and what models store of it."""

import csv
import json
import pathlib

import numpy as np
import pytest

import askwhen as aw
from askwhen.snapshot import file_format
from tests.cli.running import facts, from_scratch, inside, refused

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled
WORDS = [["meeting", "report", "lunch", "minutes"], ["winner", "prize", "free", "cheap"]]
CHOSEN = ("--algorithm", "sel-p", "--set", "b=1", "--features", "256")
SUMMARY = "Columns: 1 number, 1 category, 1 text; left out id (an identifier), note (empty)."


@pytest.fixture(autouse=True)
def _mails():
    write(HERE / "mails.csv", 120)


def write(path, n, seed=0):
    rng = np.random.default_rng(seed)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "body", "price", "city", "note", "kind"])
        for i in range(n):
            spam = rng.random() < 0.5
            price = "" if i % 11 == 5 else f"{rng.normal() + spam:.3f}"
            body = " ".join(rng.choice(WORDS[spam], 6))
            writer.writerow([f"m{i}", body, price, ["Bern", "Zug"][i % 2], "", "spam" if spam else "ham"])


def options(model="m.askwhen"):
    return ("--label", "kind", "--positive", "spam", "--model", model, *CHOSEN)


def test_a_raw_table_is_run_resumed_and_predicted_at_the_first_try():
    done = inside("run", "mails.csv", *options())
    assert (done.returncode, done.stderr) == (0, f"{SUMMARY}\n")
    assert "rows               120" in done.stdout
    (HERE / "more.csv").write_bytes((HERE / "mails.csv").read_bytes() + b"m120,free prize,?,Wien,now,spam\r\n")
    again = inside("run", "more.csv", "--resume", "m.askwhen", "--model", "m.askwhen")
    assert again.stderr == f"{SUMMARY}\nSkipping the first 120 rows of more.csv, which were played before.\n"
    assert aw.Sampler.load("m.askwhen").round == 121
    (HERE / "new.ndjson").write_text('{"body": "free winner", "city": "Rom"}\n{"price": 3, "body": ""}\n')
    said = inside("predict", "m.askwhen", "new.ndjson").stdout.splitlines()
    assert len(said) == 3
    assert said[1].startswith("0,spam,")
    (HERE / "bad.csv").write_text("body,prize,city\na,1,Bern\n")
    assert "bad.csv has no column 'price', perhaps 'prize', which the features are made of" in refused(
        "predict", "m.askwhen", "bad.csv"
    )


@pytest.mark.parametrize("command", ["run", "compare", "tune", "label"])
def test_the_columns_are_printed_and_nothing_is_learnt(command):
    label = ("--label", "kind") if command != "label" else ("--drop", "kind")
    found = facts(command, "mails.csv", *label, "--columns", "--encoder", "none")
    assert [(each["column"], each["role"]) for each in found["columns"]] == [
        ("id", "dropped"),
        ("body", "text"),
        ("price", "number"),
        ("city", "category"),
        ("note", "dropped"),
        ("kind", "dropped" if command == "label" else "label"),
    ]
    assert found["columns"][0]["why"] == "an identifier: every value is different"
    assert found["features"] == {"numbers": 6, "vectors": [], "words": 1 << 18}
    done = inside(command, "mails.csv", *label, "--columns")
    assert (done.returncode, done.stderr) == (0, f"{SUMMARY}\n")
    assert done.stdout.splitlines()[3].split() == ["price", "number", *done.stdout.splitlines()[3].split()[2:]]
    assert [path.name for path in HERE.iterdir()] == ["mails.csv"]


def test_the_columns_of_a_model_are_printed():
    facts("run", "mails.csv", *options())
    found = facts("predict", "m.askwhen", "mails.csv", "--columns")
    assert found["summary"] == SUMMARY
    (HERE / "s.svm").write_text("+1 1:1\n-1 2:1\n" * 5)
    facts("run", "s.svm", "--model", "s.askwhen", *CHOSEN)
    assert "s.askwhen does not say what the columns of its file were taken for." in refused(
        "predict", "s.askwhen", "s.svm", "--columns"
    )
    assert "--columns is for files with named columns, got s.svm." in refused("run", "s.svm", "--columns")


def test_what_a_model_has_learnt_does_not_change_when_it_is_resumed():
    chosen = ("--text", "city", "--numbers", "price", "--drop", "id")
    facts("run", "mails.csv", *options(), *chosen)
    before = json.loads(file_format.read("m.askwhen")[0]["note"])["schema"]
    facts("run", "mails.csv", "--resume", "m.askwhen", "--skip", 0, "--model", "m.askwhen")
    facts("run", "mails.csv", "--resume", "m.askwhen", "--skip", 0, "--text", "city", "--model", "m.askwhen")
    note = json.loads(file_format.read("m.askwhen")[0]["note"])
    assert note["schema"] == before
    assert note["reading"]["numbers"] == ["price"]
    said = refused("run", "mails.csv", "--resume", "m.askwhen", "--text", "body", code=2)
    assert "--text must be as before: this sampler has learnt with --text city." in said
    said = refused("run", "mails.csv", "--resume", "m.askwhen", "--vector", "x", code=2)
    assert "--vector must be as before: this sampler has learnt without --vector." in said


def test_a_model_whose_schema_was_forged_is_refused():
    facts("run", "mails.csv", *options())
    sampler = aw.Sampler.load("m.askwhen")
    note = json.loads(file_format.read("m.askwhen")[0]["note"])
    note["schema"]["columns"][2]["type"] = "nothing"
    sampler.save("m.askwhen", note=json.dumps(note))
    for command in (("run", "mails.csv", "--resume", "m.askwhen"), ("predict", "m.askwhen", "mails.csv")):
        assert "m.askwhen cannot be used: a stored schema has a column of no known type" in refused(*command)


def test_few_seed_labels_are_read_as_the_file_that_comes_after_them():
    write(HERE / "seeds.csv", 4, seed=5)
    facts("run", "mails.csv", "--seed-labels", "seeds.csv", *options())
    assert aw.Sampler.load("m.askwhen").volunteered == 4


def test_a_pipe_is_read_as_a_file_is():
    text = (HERE / "mails.csv").read_text()
    whole = facts("run", "mails.csv", *options())
    done = inside("run", "-", "--format", "csv", *options("p.askwhen"), stdin=text)
    assert done.stderr == f"{SUMMARY}\n"
    np.testing.assert_array_equal(aw.Sampler.load("p.askwhen").weights, aw.Sampler.load("m.askwhen").weights)
    assert f"{whole['mistakes']:,} mistakes" in done.stdout


def test_a_warning_is_printed_once_however_often_the_file_is_read():
    lines = (HERE / "mails.csv").read_text().splitlines()
    (HERE / "u.csv").write_text("\n".join([f"{lines[0]},", *(f"{line},x" for line in lines[1:])]))
    done = from_scratch("run", "u.csv", *options())
    assert done.stderr == f"u.csv: column 7 of 7 has no name in the first line, and is left out.\n{SUMMARY}\n"
