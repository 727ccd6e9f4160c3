"""Compiling ahead, and what a person who waits for the compiler is told."""

import os
import subprocess
import sys

import numpy as np
import pexpect
import pytest

import askwhen as aw

PLAY = """
import numpy as np, askwhen as aw
from askwhen.engine.round import ask_round, run_rounds, score_rows, tell_round
sampler = aw.paper("PA", seed=1)
sampler.tell(sampler.ask(np.ones(3)), 1)
sampler.run(np.eye(3), [1, 1, 1])
sampler.predict(np.eye(3))
print([sum(each.stats.cache_misses.values()) for each in (ask_round, tell_round, run_rounds, score_rows)])
"""
WARM = "import numpy as np, askwhen as aw; aw.warm(aw.paper('PA'), np.zeros((1, 5)))"


def test_what_was_compiled_ahead_is_there_and_who_waits_is_told_once(tmp_path):
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    terminal = pexpect.spawn(sys.executable, ["-c", WARM], env=environment, encoding="utf-8", timeout=300)
    terminal.expect(pexpect.EOF)
    terminal.close()
    assert terminal.exitstatus == 0
    assert terminal.before == "askwhen: compiling steps for PassiveAggressive, once after installation.\r\n"
    terminal = pexpect.spawn(sys.executable, ["-c", PLAY], env=environment, encoding="utf-8", timeout=300)
    terminal.expect(pexpect.EOF)
    assert terminal.before == "[0, 0, 0, 0]\r\n"


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
