"""A new rule is one file: a copy of the package with one more file has it, compiled and by itself."""

import os
import pathlib
import shutil
import subprocess
import sys

import askwhen

RULE = """
from dataclasses import dataclass
from typing import ClassVar

from .state import new_kind, new_state


def _threshold(rule, norm2, u):
    return rule.value if u < 0.5 else 0.0


def _chance(rule, m, q, norm2):
    return 0.5 if abs(m) / (1.0 + q) < rule.value else 0.0


_NEAR = new_kind(threshold=_threshold, chance=_chance)


@dataclass(frozen=True)
class NearRule:
    width: float
    needs_uncertainty: ClassVar[bool] = False
    needs_margin: ClassVar[bool] = True

    def start(self):
        return new_state(_NEAR, self.width, 0.0)
"""

USE = """
import numpy as np, askwhen as aw
from askwhen.rules.near import NearRule

X = np.random.default_rng(0).standard_normal((500, 3))
y = np.where(X[:, 0] > 0.0, 1, -1)
run = aw.Sampler(aw.Perceptron(), NearRule(0.3), seed=7).run(X, y)
near = np.abs(run.margin) < 0.3
assert near.any() and not near.all()
assert (run.probability == np.where(near, 0.5, 0.0)).all()
assert (run.queried == (near & (run.coin < 0.5))).all()
old = aw.Sampler(aw.Perceptron(), aw.MarginRule(1.0), seed=7).run(X, y)
assert 0 < old.questions < 500
"""


def test_a_rule_is_one_file(tmp_path):
    copied = tmp_path / "askwhen"
    shutil.copytree(pathlib.Path(askwhen.__file__).parent, copied, ignore=shutil.ignore_patterns("__pycache__"))
    (copied / "rules" / "near.py").write_text(RULE)
    ran = subprocess.run(
        [sys.executable, "-c", USE],
        env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_CACHE_DIR": str(tmp_path / "cache")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr
