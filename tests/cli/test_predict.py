"""``askwhen predict``: what the library predicts, for every kind of sampler, format and way of writing."""

import csv
import json
import pathlib

import numpy as np
import pytest

import askwhen as aw
from tests.cli.running import D, N, as_read, facts, inside, refused, stream, write_csv, write_svmlight, write_table

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled
WORDS = [["meeting", "report", "lunch"], ["winner", "prize", "free"]]


def predicted(*args, **more):
    done = inside("predict", *args, "--quiet", **more)
    assert done.returncode == 0, done.stderr
    return list(csv.DictReader(done.stdout.splitlines()))


@pytest.fixture
def model():
    """A sampler that has learnt from a table, with the first columns of yes and no."""
    write_csv(HERE / "s.csv")
    facts("run", "s.csv", "--label", "spam", "--model", "m.askwhen")
    return aw.Sampler.load("m.askwhen")


def test_labels_margins_and_probabilities_are_those_of_the_library(model):
    X, _ = stream()
    found = predicted("m.askwhen", "s.csv")
    X = as_read(X)
    p = model.margins(X)
    assert [int(row["row"]) for row in found] == list(range(N))
    assert [row["label"] for row in found] == np.where(p > 0, "yes", "no").tolist()
    np.testing.assert_array_equal([float(row["margin"]) for row in found], p)
    chance = model.probabilities(X)
    np.testing.assert_allclose([float(row["probability"]) for row in found], np.where(p > 0, chance, 1 - chance))
    assert aw.Sampler.load("m.askwhen").round == N  # nothing was played


def test_columns_are_found_by_their_names_whatever_their_order(model):
    whole = predicted("m.askwhen", "s.csv")
    rows = list(csv.DictReader((HERE / "s.csv").read_text().splitlines()))
    names = [f"f{j}" for j in reversed(range(D))]
    with (HERE / "other.csv").open("w") as file:
        writer = csv.DictWriter(file, ["remark", *names], extrasaction="ignore")
        writer.writeheader()
        writer.writerows({"remark": "no number", **row} for row in rows)
    assert predicted("m.askwhen", "other.csv") == whole
    lines = [json.dumps({name: float(row[name]) for name in names}) for row in rows]
    (HERE / "other.ndjson").write_text("\n".join(lines))
    assert predicted("m.askwhen", "other.ndjson") == whole
    (HERE / "less.csv").write_text("f0,f1\n1,2\n")
    assert "less.csv has no column 'f2'" in refused("predict", "m.askwhen", "less.csv")
    assert "s.csv has no column 'nope'; it has" in refused("predict", "m.askwhen", "s.csv", "--label", "nope")
    assert predicted("m.askwhen", "s.csv", "--label", "spam") == whole


def test_the_rest_of_a_file_is_what_comes_after_the_rounds_that_were_played(model):
    whole = predicted("m.askwhen", "s.csv")
    assert predicted("m.askwhen", "s.csv", "--skip", 2990) == whole[2990:]
    assert "holds no instance after the first 3,000" in refused("predict", "m.askwhen", "s.csv", "--rest")


@pytest.mark.parametrize("name", ["out.csv", "out.ndjson", "out.parquet"])
def test_a_file_holds_what_is_printed(model, name):
    whole = predicted("m.askwhen", "s.csv")
    found = facts("predict", "m.askwhen", "s.csv", "--out", name)
    assert (found["rows"], sum(found["labels"].values())) == (N, N)
    lines = (HERE / name).read_bytes().splitlines()
    if name.endswith("csv"):
        assert list(csv.DictReader(line.decode() for line in lines)) == whole
    elif name.endswith("ndjson"):
        assert [json.loads(line)["label"] for line in lines] == [row["label"] for row in whole]
    else:
        from pyarrow import parquet

        assert parquet.read_table(name).column("label").to_pylist() == [row["label"] for row in whole]


def test_a_stream_is_predicted_as_its_lines_come():
    path = write_svmlight(HERE / "s.svm")
    facts("run", path, "--algorithm", "sel-p", "--set", "b=0.5", "--model", "m.askwhen", "--features", D)
    whole = predicted("m.askwhen", path)
    assert all(0.0 < float(row["probability"]) < 1.0 for row in whole)  # by the labels, whatever scale margins have
    bare = "".join(line.partition(" ")[2] for line in path.read_text().splitlines(keepends=True))
    assert predicted("m.askwhen", "-", "--format", "svmlight", stdin=bare) == whole


def mails(path, n=60):
    rng = np.random.default_rng(1)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "subject", "body", "size"])
        for i in range(n):
            words = " ".join(rng.choice(WORDS[i % 3 == 0], 6))
            writer.writerow([f"mail-{i}", "re", words, 6])
    return path


@pytest.mark.parametrize("build", [aw.OneVsRest, lambda classes, seed: aw.Sampler(classes=classes, seed=seed)])
def test_several_classes_have_a_margin_each(build):
    X, _ = stream()
    sampler = build(["ant", "bee", "cat"], seed=1)
    sampler.run(X[:500], np.array(["ant", "bee", "cat"])[np.argmax(X[:500, :3], axis=1)])
    sampler.save("m.askwhen")
    write_table(HERE / "x.csv", "abcdef", X[500:600])
    found = predicted("m.askwhen", "x.csv")
    assert [row["label"] for row in found] == sampler.predict(X[500:600]).tolist()
    margins = np.array([[float(row[f"margin_{name}"]) for name in sampler.classes] for row in found])
    np.testing.assert_array_equal(margins, sampler.margins(X[500:600]))
    assert all(1 / 3 <= float(row["probability"]) <= 1 for row in found)


def test_what_is_wrong_is_said_in_one_sentence(model):
    assert "--out takes a .csv, .ndjson or .parquet file, got x.txt." in refused(
        "predict", "m.askwhen", "s.csv", "--out", "x.txt", code=2
    )
    assert "give either --rest or --skip." in refused("predict", "m.askwhen", "s.csv", "--rest", "--skip", 3, code=2)
    assert "--out s.csv is the input too" in refused("predict", "m.askwhen", "s.csv", "--out", "s.csv")
    assert "s.csv is not an askwhen snapshot." in refused("predict", "s.csv", "s.csv")
    (HERE / "m.csv").write_bytes((HERE / "m.askwhen").read_bytes())
    assert "--out m.csv is the model" in refused("predict", "m.csv", "s.csv", "--out", "m.csv")


def test_a_model_that_was_saved_in_python_finds_its_columns_by_name():
    import pandas as pd

    X, y = stream()
    table = pd.DataFrame(X, columns=list("abcdef"))
    sampler = aw.Sampler(seed=1)
    sampler.run(table, y)
    sampler.save("m.askwhen")
    table.iloc[:, ::-1].assign(remark="no number").to_csv("reversed.csv", index=False)
    found = [float(row["margin"]) for row in predicted("m.askwhen", "reversed.csv")]
    np.testing.assert_array_equal(found, sampler.margins(X))


def test_a_model_that_was_saved_in_python_reads_a_file_by_its_schema():
    import pandas as pd

    X, y = stream()
    table = pd.DataFrame(X, columns=list("abcdef")).assign(city=np.where(X[:, 0] > 0, "Bern", "Zug"))
    sampler = aw.Sampler(seed=1)
    sampler.run(table, y)
    sampler.save("m.askwhen")
    assert sampler.schema is not None
    table.iloc[::-1, ::-1].to_csv("reversed.csv", index=False)
    found = [float(row["margin"]) for row in predicted("m.askwhen", "reversed.csv")]
    np.testing.assert_array_equal(found[::-1], sampler.margins(table))


def test_instances_are_passed_over_in_a_pipe_too(model):
    whole, text = predicted("m.askwhen", "s.csv"), (HERE / "s.csv").read_text()
    assert predicted("m.askwhen", "-", "--format", "csv", "--skip", 2990, stdin=text) == whole[2990:]
    alike = ("--label", "spam", "--algorithm", "sel-p", "--set", "b=0.5", "--skip", 2000)
    facts("run", "s.csv", *alike, "--model", "later.askwhen")
    facts("run", "-", "--format", "csv", *alike, "--model", "p.askwhen", stdin=text)
    X, later = as_read(stream()[0]), aw.Sampler.load("later.askwhen")
    np.testing.assert_array_equal(aw.Sampler.load("p.askwhen").margins(X), later.margins(X))


def test_what_was_said_of_a_pipe_need_not_be_said_again():
    path = write_svmlight(HERE / "s.svm")
    alike = ("--algorithm", "sel-p", "--set", "b=0.5", "--model", "m.askwhen")
    facts("run", path, *alike)
    whole = predicted("m.askwhen", path)
    assert predicted("m.askwhen", "-", "--format", "svmlight", stdin=path.read_text()) == whole
    facts("run", "-", "--format", "svmlight", "--features", D, *alike, stdin=path.read_text())
    assert predicted("m.askwhen", "-", stdin=path.read_text()) == whole
    write_csv(HERE / "s.csv")
    said = refused("predict", "m.askwhen", "s.csv")
    assert "must have 6 columns as before, got 8" in said  # read as the table that its name says it is


def test_a_sampler_of_several_classes_is_run_on_with_its_labels_only():
    X, _ = stream()
    sampler = aw.OneVsRest(["ant", "bee"], seed=1)
    sampler.run(X[:100], np.where(X[:100, 0] > 0, "ant", "bee"))
    sampler.save("m.askwhen")
    write_csv(HERE / "s.csv")
    said = refused("run", "s.csv", "--label", "spam", "--resume", "m.askwhen")
    assert "in instance 0, counted from 0, which is not one of the classes 'ant', 'bee'; " in said


def test_a_regressor_gives_numbers():
    X, _ = stream()
    rows = [",".join(map(repr, [*x.tolist(), float(2 * x[0] - x[1] + 5)])) for x in X[:500]]
    (HERE / "n.csv").write_text("\n".join([",".join([*"abcdef", "y"]), *rows]))
    facts("run", "n.csv", "--algorithm", "regression", "--model", "m.askwhen")
    found = [float(row["value"]) for row in predicted("m.askwhen", "n.csv")]
    np.testing.assert_array_equal(found, aw.Sampler.load("m.askwhen").predict(as_read(X[:500])))
