"""``--baselines`` of run and compare: refitted models of scikit-learn, with as many labels, in tables and as JSON."""

import pathlib

import numpy as np
import pytest

import askwhen as aw
from tests.cli.running import askwhen, facts, refused

HERE = pathlib.Path()
N = 240
NAMES = [
    "logistic regression, refitted, labels at random",
    "logistic regression, refitted, labels by margin",
    "gradient boosting, refitted, labels at random",
    "gradient boosting, refitted, labels by margin",
]
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled
X = np.random.default_rng(0).standard_normal((N, 3))
KIND = np.digitize(X[:, 0], [-0.5, 0.5])


def write(words, name="s.csv"):
    rows = [",".join([*(repr(float(value)) for value in x), str(word)]) for x, word in zip(X, words, strict=True)]
    (HERE / name).write_text("\n".join(["a,b,c,y", *rows]) + "\n")
    return name


def test_a_file_with_two_strings_has_models_with_as_many_labels():
    path = write(np.where(X[:, 0] > 0, "yes", "no"))
    args = ("run", path, "--label", "y", "--positive", "yes", "--labels", "20%", "--baselines")
    found = facts(*args)
    assert [each["model"] for each in found["refitted"]] == NAMES
    assert {each["labels"] for each in found["refitted"]} == {found["questions"]}
    assert all(each["refits"] > 10 and each["accuracy"] > 0.7 for each in found["refitted"])
    assert found["left_out"] == []
    best = max(found["refitted"], key=lambda each: each["accuracy"])
    assert found["summary"].endswith(f"; {best['model']}, in {100 * best['accuracy']:.1f} %.")
    shown = askwhen(*args, "--report", "r.html").stdout
    gap = 100 * abs(found["accuracy"] - best["accuracy"])
    row = next(line for line in shown.splitlines() if line.startswith(best["model"]))
    assert f"{best['labels']} {100 * best['accuracy']:.1f} % {gap:.1f} points " in " ".join(row.split())
    assert "what you would have had otherwise" in shown
    assert "What you would have had otherwise" in (HERE / "r.html").read_text()
    plain = facts(*args[:-1])
    assert plain["refitted"] == []
    assert plain["accuracy"] == found["accuracy"]


def test_a_file_with_three_classes_and_one_with_numbers_have_models():
    three = write(np.array(["ant", "bee", "cat"])[KIND])
    found = facts("run", three, "--label", "y", "--classes", "ant,bee,cat", "--labels", "20%", "--baselines")
    assert [each["model"] for each in found["refitted"]] == NAMES
    assert found["refitted"][0]["accuracy"] > 0.6
    numbers = write(2.0 * X[:, 0] + X[:, 1])
    found = facts("run", numbers, "--label", "y", "-a", "regression", "--labels", "20%", "--baselines")
    models = {each["model"]: each for each in found["refitted"]}
    assert list(models) == ["ridge regression, refitted, labels at random", NAMES[2]]
    assert models["ridge regression, refitted, labels at random"]["squared_error"] < found["label_variance"] / 2
    assert found["summary"].endswith(
        f"; ridge regression, refitted, labels at random, by {found['refitted'][0]['squared_error']:.4g}."
    )
    shown = askwhen("run", numbers, "--label", "y", "-a", "regression", "--labels", "20%", "--baselines").stdout
    assert "times this error" in shown


def test_a_comparison_has_the_models_of_the_library():
    path = write(np.where(X[:, 0] > 0, "yes", "no"))
    args = ("compare", path, "--label", "y", "--positive", "yes", "-a", "sel-p", "--labels", "20%", "--repeats", 2)
    found = facts(*args, "--baselines", "--report", "c.html")
    y = np.where(X[:, 0] > 0, 1, -1)
    expected = aw.evaluate.compare(X, y, ["sel-p"], [0.2], repeats=2, prepare=aw.Prepare(), baselines=True)
    assert [cell["algorithm"] for cell in found["refitted"]] == NAMES
    assert [cell["accuracies"] for cell in found["refitted"]] == [cell.accuracy.tolist() for cell in expected.refitted]
    assert [cell["refits"] for cell in found["refitted"]] == [cell.refits for cell in expected.refitted]
    assert {cell["asked"] for cell in found["refitted"]} == {0.2}
    assert facts(*args)["refitted"] == []
    shown = askwhen(*args, "--baselines").stdout
    cell = expected.refitted[1]
    row = next(line for line in shown.splitlines() if NAMES[1] in line and "refits" in line)
    assert "20.0 %" in row
    assert f"48 labels, {cell.refits:.0f} refits" in row
    assert "What you would have had otherwise" in (HERE / "c.html").read_text()


def test_words_leave_gradient_boosting_out_with_a_line():
    rows = [f"{'good fine' if x[0] > 0 else 'bad awful'} word{i % 7},{int(x[0] > 0)}" for i, x in enumerate(X)]
    (HERE / "t.csv").write_text("\n".join(["body,y", *rows]) + "\n")
    args = ("t.csv", "--label", "y", "--text", "body", "--encoder", "none", "--positive", "1", "--baselines")
    line = "Gradient boosting is left out: it takes numbers and vectors, and these rows have only words."
    found = facts("run", *args)
    assert [each["model"] for each in found["refitted"]] == NAMES[:2]
    assert found["left_out"] == [line]
    assert line in askwhen("compare", *args, "-a", "sel-p", "--labels", "20%", "--repeats", 1).stdout


def test_what_goes_with_no_models_is_refused():
    path = write(np.where(X[:, 0] > 0, 1, -1))
    said = refused("run", path, "--label", "y", "--costs", "1,5", "--baselines")
    assert said == "askwhen: --baselines are compared by accuracy, and not by costs."
    assert "--baselines needs a sampler that has not learnt before" in refused(
        "run", path, "--label", "y", "--seed-labels", path, "--baselines"
    )
    facts("run", path, "--label", "y", "--model", "m.askwhen")
    said = refused("run", path, "--resume", "m.askwhen", "--baselines", code=2)
    assert "--baselines goes with a new sampler" in said
    said = refused("run", path, "--server", "http://127.0.0.1:1", "--stream", "s", "--baselines", code=2)
    assert "--baselines" in said
