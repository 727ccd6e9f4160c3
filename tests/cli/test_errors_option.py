"""``--errors``: a promise on delivered labels from the command line, simulated and by hand."""

import csv
import pathlib

import numpy as np
import pexpect
import pytest

import askwhen as aw
from askwhen.trace.files import read_trace
from askwhen.workflows.observer import silent
from askwhen.workflows.run import RunOptions, begin
from tests.cli.running import environment, facts, inside, refused
from tests.forking import Terminal

HERE = pathlib.Path()
pytestmark = pytest.mark.xdist_group("cli")  # they share what is compiled


@pytest.fixture(autouse=True)
def _table():
    X = np.random.default_rng(3).standard_normal((1500, 3))
    rows = np.column_stack([X, X[:, 0] > 0])
    np.savetxt(HERE / "t.csv", rows, fmt="%.6f,%.6f,%.6f,%d", header="a,b,c,y", comments="")
    np.savetxt(HERE / "pile.csv", X[:90], delimiter=",", header="a,b,c", comments="")


def test_a_simulated_run_says_what_it_promises_and_traces_what_it_delivers():
    found = facts("run", "t.csv", "--label", "y", "--errors", "10%", "--seed", 3, "--trace", "t.parquet")
    promise, trace = found["promise"], read_trace("t.parquet").trace
    assert promise["certified"] <= promise["error"] == 0.1
    assert promise["delivered"] == 1500
    assert set(promise["classes"]) == {"0", "1"}
    assert promise["answered"] == found["questions"] < 1000
    assert promise["sentence"].startswith(f"1,500 labels delivered, {found['questions']:,} by you; at most ")
    y = np.where(np.loadtxt("t.csv", delimiter=",", skiprows=1)[:, 3] > 0, 1, -1)
    assert (trace.delivered != y).mean() <= promise["certified"]
    assert not trace.withheld.any()
    assert promise["wrong"] == (trace.delivered != y).sum()
    assert promise["wrong_share"] == promise["wrong"] / 1500
    shown = " ".join(inside("run", "t.csv", "--label", "y", "--errors", "10%", "--seed", 3).stdout.split())
    assert promise["sentence"] in shown
    assert f"% right, {promise['wrong']} wrong, all labels of the file counted" in shown
    few = ("--labels", "200", "--trace", "few.parquet")
    limited = facts("run", "t.csv", "--label", "y", "--errors", "10%", *few, "--seed", 3)
    assert limited["questions"] <= 200
    trace = read_trace("few.parquet").trace
    assert [label is None for label in trace.delivered] == trace.withheld.tolist()
    delivered = ~trace.withheld
    assert (trace.delivered[delivered] != y[delivered]).mean() <= 0.1
    assert limited["promise"]["withheld"] > 0
    assert "leave out costs" in refused("run", "t.csv", "--label", "y", "--errors", "10%", "--costs", "1,5")
    assert "not a share of errors" in refused("run", "t.csv", "--label", "y", "--errors", "100%", code=2)


def test_an_algorithm_needs_no_scale_beside_a_promise_and_rows_that_are_skipped_do_not_count():
    few = ("--label", "y", "--errors", "20%")
    for name in ("sel-p", "lasec-ss"):
        found = facts("run", "t.csv", *few, "--algorithm", name)
        assert found["promise"]["certified"] <= 0.2
        assert found["promise"]["delivered"] == 1500
    sampler, _ = begin(str(HERE / "t.csv"), {"label": "y"}, RunOptions(errors=0.2, skip=1400), silent)
    assert sampler.rule == aw.PromiseRule(0.2, length=100)
    (HERE / "empty.csv").write_text("a,b,c,y\n")
    assert "length" not in refused("run", "empty.csv", *few)


def test_labelling_by_hand_ends_when_every_row_has_a_label():
    command = ("label", "pile.csv", "--classes", "no,yes", "--errors", "20%", "--out", "labels.csv", "--seed", "1")
    terminal = Terminal([*command], environment(TERM="xterm"))
    while terminal.expect([r"pile.csv, row ([\d,]+) ", r"labels delivered, ([\d,]+) by you"]) == 0:
        row = int(terminal.match[1])
        terminal.expect(r"rows asked about \([\d.]+%\), at most ([\d.]+) % of ([\d,]+) delivered labels are wrong")
        assert int(terminal.match[2]) == row
        assert float(terminal.match[1]) <= 20.0 or row == 0
        terminal.expect("quit")
        terminal.send("y" if np.loadtxt("pile.csv", delimiter=",", skiprows=1)[row, 0] > 0 else "n")
    terminal.expect("of them are wrong, 95 % confidence")
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    with (HERE / "labels.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(each["row"]) for each in rows] == list(range(90))
    assert {each["label"] for each in rows} == {"no", "yes"}
    assert sum(each["by"] == "person" for each in rows) == aw.Sampler.load("pile.askwhen").questions
    assert "goes with --errors" in refused("label", "pile.csv", "--out", "labels.csv", code=2)
