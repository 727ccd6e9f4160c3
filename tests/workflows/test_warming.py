"""Compiling ahead, and what a person who waits for the compiler is told."""

import os
import subprocess
import sys

import numpy as np
import pexpect
import pytest

import askwhen as aw
from askwhen.compiled.steps import source_hash
from tests.workflows.warm import PLAY


@pytest.mark.xdist_group("compiled ahead")
def test_what_was_compiled_ahead_is_there_and_who_waits_is_told_once(compiled_ahead):
    folder, said = compiled_ahead
    told, misses = said.split("\r\n", 1)
    assert told == "askwhen: compiling steps for PassiveAggressive, once after installation."
    assert misses == "[1, 1, 1, 1]\r\n"
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder)}
    terminal = pexpect.spawn(sys.executable, ["-c", PLAY], env=environment, encoding="utf-8", timeout=300)
    terminal.expect(pexpect.EOF)
    assert terminal.before == "[0, 0, 0, 0]\r\n"
    terminal.close()
    assert [each.name for each in (folder / "askwhen").iterdir()] == [f"steps-{source_hash()}"]


def test_nothing_is_said_where_nobody_looks(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    code = "import askwhen.compiled.notices as n, time\nn.PATIENCE = 0.0\nwith n.while_compiling('it'): time.sleep(0.2)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, env=environment).stderr == b""


def test_every_kind_of_instance_is_played_and_the_sampler_stays_as_it_was():
    sampler = aw.paper("PERCEPTRON", seed=1)
    told = []
    aw.warm(sampler, watch=lambda *facts: told.append(facts))
    kinds = ["dense instances", "sparse instances", "sparse instances of many features", ""]
    assert told == [(i, 3, what) for i, what in enumerate(kinds)]
    assert (sampler.round, sampler.form) == (0, "unknown")
    aw.warm(aw.Sampler(aw.Perceptron(), aw.BudgetRule(per=10, count=3)), np.zeros((1, 2)))


def test_only_samplers_are_warmed():
    with pytest.raises(aw.InputError, match="sampler must be a Sampler, got int"):
        aw.warm(3)
