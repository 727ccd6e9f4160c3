"""The pages of measurements show what the files hold, and say which command made it."""

import importlib.util
import json
import pathlib
import re
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[1]
PAGES = ROOT / "docs" / "measurements"
FILES = sorted((PAGES / "data").glob("*.json"))
BY_HAND = {"choosing.md": ["when"], "comparison.md": ["", "", ""], "index.md": ["what"]}


LABELS = "Accuracy in percent at 10% of the labels (standard error), and the labels where they differ"
COVERED = "500 streams of 4000 rounds, 95 % confidence: streams covered, mean width"
W1, W3, SINGLE = (
    "W1: a whole pass through 10,000 x 50",
    "W3: a whole pass through 200,000 x 47,236",
    "W1: one instance at a time, 50 features",
)
QUOTED = {
    ("label-efficiency", LABELS, "default", "mean"): ("86.81", "86.8 %"),
    ("label-efficiency", LABELS, "random", "mean"): ("84.80", "84.8 %"),
    ("label-efficiency", LABELS, "LASEC-SS, queried", "mean"): ("84.51", "84.5 %"),
    ("label-efficiency", LABELS, "LASEC-SS", "mean"): ("82.86", "as published 82.9 %"),
    ("coverage", COVERED, "BudgetRule(0.1), the default", "overall"): ("491, 0.197", "491 of 500"),
    ("peers", W1, "askwhen SEL-P, 10 % asked", "instances/s"): ("6.83 M", "SEL-P 6.8 M rounds/s"),
    ("peers", W1, "askwhen, the default, 10 % asked", "instances/s"): ("128 k", "the default 128 k"),
    ("peers", W3, "askwhen, the default, 10 % asked", "microseconds"): ("0.733", "the default 1.6 times"),
    ("peers", W3, "Vowpal Wabbit --active, 1% asked, from its cache", "microseconds"): ("1.15", "1.6 times"),
    ("peers", W3, "Vowpal Wabbit --active, 1% asked, from its cache", "ratio"): ("6.48", "SEL-P 6.5 times"),
    ("peers", SINGLE, "askwhen Perceptron, every label", "microseconds"): ("4.13", "4.1 microseconds"),
    ("peers", SINGLE, "askwhen, the default, 10 % asked", "microseconds"): ("10.3", "a tenth, 10"),
}
"""Figures of the summary: the cell that each stands for, what it holds, and how the summary says it."""


def module(name, monkeypatch):
    monkeypatch.setattr(sys, "path", [str(ROOT / "benchmarks"), *sys.path])
    spec = importlib.util.spec_from_file_location(name, ROOT / "benchmarks" / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


def test_the_pages_show_what_the_files_hold(monkeypatch):
    tables = module("tables", monkeypatch)
    assert len(tables.pages()) >= 3
    for page in tables.pages():
        text = page.read_text()
        assert text == tables.written(text, PAGES / "data"), f"python benchmarks/tables.py --write: {page.name}"


def test_a_changed_number_shows(monkeypatch, tmp_path):
    tables = module("tables", monkeypatch)
    facts = {"command": "python it.py", "measured": "2026-01-02", "tables": {"T": {"columns": ["", "a"], "rows": []}}}
    facts["tables"]["T"]["rows"] = [["one", "1.5"], ["two", "2"]]
    (tmp_path / "it.json").write_text(json.dumps(facts))
    place, other = (
        "<!-- table: it: T -->\nold\n<!-- end -->",
        "<!-- table: it: T | rows two / one | turned -->\n<!-- end -->",
    )
    page = f"before\n\n{place}\n\n{other}\nafter\n"
    first = tables.written(page, tmp_path)
    assert "|  | a |\n| --- | --- |\n| one | 1.5 |\n| two | 2 |\n\nMeasured 2026-01-02: `python it.py`.\n" in first
    assert "|  | two | one |\n| --- | --- | --- |\n| a | 2 | 1.5 |\n" in first
    assert "old" not in first
    fewer = tables.written("<!-- table: it: T | without a -->\n<!-- end -->", tmp_path)
    assert "|  |\n| --- |\n| one |\n| two |\n" in fewer
    assert first.startswith("before\n")
    assert first.endswith("after\n")
    assert tables.written(first, tmp_path) == first
    facts["tables"]["T"]["rows"][0][1] = "1.6"
    (tmp_path / "it.json").write_text(json.dumps(facts))
    assert tables.written(first, tmp_path) != first


@pytest.mark.parametrize(
    ("place", "why"),
    [
        ("it: no", "has no table 'no'; it has T"),
        ("none: T", "no none.json"),
        ("it: T | rows x / y", "no row 'y'; there are x"),
        ("it: T | without a", "no column 'a'; there are "),
    ],
)
def test_a_table_that_there_is_not_is_refused(monkeypatch, tmp_path, place, why):
    tables = module("tables", monkeypatch)
    (tmp_path / "it.json").write_text(json.dumps({"tables": {"T": {"columns": [""], "rows": [["x"]]}}}))
    with pytest.raises(tables.StaleError, match=why):
        tables.written(f"<!-- table: {place} -->\n<!-- end -->", tmp_path)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_file_says_where_it_comes_from(path):
    facts = json.loads(path.read_text())
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", facts["measured"])
    assert facts["processor"]
    assert facts["versions"]["python"]
    for word in re.findall(r"benchmarks/\w+\.py", facts["command"]):
        assert (ROOT / word).exists()
    assert facts["command"].startswith(("python ", "askwhen "))
    for table in facts["tables"].values():
        assert {len(row) for row in table["rows"]} == {len(table["columns"])}


@pytest.mark.parametrize("cell", QUOTED, ids=lambda cell: f"{cell[0]}, {cell[2]}")
def test_the_summary_quotes_what_the_files_hold(cell):
    (name, title, row, column), (held, said) = cell, QUOTED[cell]
    table = json.loads((PAGES / "data" / f"{name}.json").read_text())["tables"][title]
    found = next(each for each in table["rows"] if each[0] == row)[table["columns"].index(column)]
    assert found == held, "the summary must say something else now"
    assert said in (PAGES / "index.md").read_text()


def test_every_file_is_shown_somewhere():
    shown = {
        name for page in PAGES.parent.rglob("*.md") for name in re.findall(r"<!-- table: ([\w-]+):", page.read_text())
    }
    assert {path.stem for path in FILES} == shown


@pytest.mark.parametrize("page", sorted(PAGES.glob("*.md")), ids=lambda page: page.name)
def test_no_table_of_measurements_is_written_by_hand(page):
    by_hand = re.sub(r"<!-- table: .*?<!-- end -->", "", page.read_text(), flags=re.S)
    first = [line.split("|")[1].strip() for line, rule in re.findall(r"^(\|.*)\n(\|[-:| ]+)$", by_hand, flags=re.M)]
    assert first == BY_HAND.get(page.name, [])


def test_what_is_printed_is_recorded(monkeypatch):
    record = module("record", monkeypatch)
    printed = ["askwhen 0.1.0", "", "**W1: a pass**", "", "| | a |", "|---|---:|", "| b \\| c | 1.5 |", "| - | 2 |", ""]
    found = record.tables_in([*printed, "| what | here |", "|---|---|", "| x | yes |"])
    assert found == {
        "W1: a pass": {"columns": ["", "a"], "rows": [["b \\| c", "1.5"], ["-", "2"]], "right": [1]},
        "what": {"columns": ["what", "here"], "rows": [["x", "yes"]], "right": []},
    }
    assert json.loads(record.one_line_a_row({"tables": found})) == {"tables": found}
