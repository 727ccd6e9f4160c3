"""``askwhen plan``: the numbers are those of the library, from a file."""

import pathlib

import numpy as np
import pytest

import askwhen as aw
from tests.cli.running import askwhen, facts, inside, refused

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


@pytest.fixture(autouse=True)
def table():
    """Three features, a label, and what an adviser says of it."""
    rng = np.random.default_rng(3)
    X = rng.standard_normal((1200, 3)).round(6)
    y = X[:, 0] + 0.3 * rng.standard_normal(1200) > 0
    words = np.where(y, "spam", "ham")
    said = np.where(rng.random(1200) < 0.9, words, np.where(y, "ham", "spam"))
    lines = [f"{a},{b},{c},{word},{other},0.9" for (a, b, c), word, other in zip(X, words, said, strict=True)]
    (HERE / "t.csv").write_text("\n".join(["a,b,c,y,gpt,sure", *lines]) + "\n")
    (HERE / "n.csv").write_text("\n".join(["a,b,c,z", *(f"{a},{b},{c},{a + b * c:.6f}" for a, b, c in X)]) + "\n")


def test_a_plan_is_that_of_the_library():
    how = ("--label", "y", "--drop", "gpt,sure", "--seed", "4")
    X, y = aw.data.read("t.csv", label="y", drop=["gpt", "sure"], positive="spam").load()[:2]
    found = facts("plan", "t.csv", *how, "--errors", "20%,10%", "--repeats", "2")
    same = aw.evaluate.promise_curve(X, y, [0.1, 0.2], repeats=2, seed=4)
    assert [point["error"] for point in found["points"]] == [0.1, 0.2]
    for point, each in zip(found["points"], same.points, strict=True):
        assert point["questions"] == each.questions.mean()
        assert (point["asked"], point["saved"], point["coverage"]) == (each.asked, each.saved, 1.0)
        assert (point["wrong_share"], point["certified"]) == (each.errors, each.certified.mean())
        assert point["met"] is True
    assert (found["rows"], found["repeats"], found["confidence"], found["most"]) == (1200, 2, 0.95, None)
    limited = facts("plan", "t.csv", *how, "--errors", "10%", "--labels", "150", "--repeats", "1")
    point = limited["points"][0]
    assert point["questions"] <= limited["most"] == 150
    assert 0.0 < point["coverage"] < 1.0
    advice = ("--advice", "gpt=gpt:sure")
    advised = facts("plan", "t.csv", *how[:2], "--errors", "10%", "--repeats", "1", *advice)["points"][0]
    alone = facts("run", "t.csv", *how[:2], "--errors", "10%", *advice)
    assert advised["questions"] == alone["questions"]
    assert advised["certified"] == alone["promise"]["certified"]


def test_a_plan_shows_a_table_and_a_picture_and_writes_files():
    done = askwhen("plan", "t.csv", "--label", "y", "--repeats", "1", "--report", "plan.html", "--picture", "plan.svg")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("At most 5 % errors take ")
    assert lines[2].split() == [
        "errors",
        "promised",
        "labels",
        "asked",
        "saved",
        "wrong",
        "labels",
        "certified",
        "at",
        "most",
    ]
    assert [line.split()[:2] for line in lines[3:8]] == [[each, "%"] for each in ("1", "2", "5", "10", "20")]
    assert any("\u2801" <= letter <= "\u28ff" for letter in done.stdout)
    assert lines[-2:] == ["report: plan.html", "picture: plan.svg"]
    text = (HERE / "plan.html").read_text()
    assert "askwhen plan t.csv --repeats 1 --label y --report plan.html --picture plan.svg" in text
    assert "Errors against questions" in (HERE / "plan.svg").read_text()


def test_numbers_need_a_tolerance():
    numbers = ("n.csv", "--label", "z", "--algorithm", "regression", "--errors", "20%")
    found = facts("plan", *numbers, "--within", "0.5", "--repeats", "1")
    assert 0.0 <= found["points"][0]["wrong_share"] <= found["points"][0]["certified"] <= 0.2
    promise = facts("run", *numbers, "--within", "0.5")["promise"]
    assert promise["wrong_share"] <= promise["certified"] <= 0.2
    assert promise["classes"] == {}
    for command in ("plan", "run"):
        assert "give within" in refused(command, *numbers).replace("--within", "within")
    assert "--within goes with --errors" in refused("run", *numbers[:5], "--within", "0.5", code=2)
    assert "--within is for numbers" in refused("plan", "t.csv", "--label", "y", "--within", "0.5", code=2)


def test_what_cannot_be_planned_is_refused():
    assert "read only once; give a file" in refused("plan", "-", "--label", "y", stdin="", code=2)
    assert "not a share of errors" in refused("plan", "t.csv", "--label", "y", "--errors", "5%,200%", code=2)
    assert "cannot write" in refused("plan", "t.csv", "--label", "y", "--report", "nowhere/plan.html")
    several = (
        "--label",
        "y",
        "--classes",
        "ham,spam,eggs",
        "--errors",
        "20%",
        "--repeats",
        "1",
        "--algorithm",
        "perceptron",
    )
    assert "has the label 'eggs'" in inside("plan", "t.csv", *several).stderr
