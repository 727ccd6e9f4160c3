"""The benchmarks' own judgement: what counts as slower, and what a count says."""

import importlib.util
import json
import pathlib
import sys

import pytest

HERE = pathlib.Path(__file__).parents[1] / "benchmarks"


def module(name):
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


@pytest.mark.parametrize(("now", "sound"), [(100.0, True), (104.9, True), (105.1, False), (50.0, True), (None, False)])
def test_a_loop_is_slower_above_five_percent(now, sound):
    found = {} if now is None else {"loop": now}
    lines, answer = module("check").compared({"loop": 100.0}, found)
    assert answer is sound
    assert len(lines) == 1
    assert ("SLOWER" in lines[0]) is (now == 105.1)


def test_a_loop_without_a_baseline_is_not_let_through():
    lines, sound = module("check").compared({}, {"new": 5.0})
    assert lines == ["new: not in the baseline"]
    assert not sound


def test_a_dump_gives_instructions_per_round():
    text = "version: 1\ndesc: Trigger: Client Request: SEL-P, CSR|4000\nsummary: 8000000\n\ntotals: 8000000\n"
    assert module("check")._dump(text) == ("SEL-P, CSR", 2000.0)
    with pytest.raises(SystemExit, match="cannot be read"):
        module("check")._dump("version: 1\n")


def test_the_baseline_has_every_loop(monkeypatch, tmp_path):
    monkeypatch.setattr(sys, "path", [str(HERE), *sys.path])
    baseline = json.loads((HERE / "baseline.json").read_text())
    assert set(module("loops").loops(tmp_path)) == set(baseline)
    assert all(count > 0 for count in baseline.values())
