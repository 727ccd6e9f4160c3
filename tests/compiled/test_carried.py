"""Compiled steps that come with the package: used where everything agrees that they depend on, else compiled."""

import json
import os
import subprocess
import sys

import numba
import pytest

from askwhen.compiled import carried

PLAY = """
import pathlib, sys
from askwhen.compiled import carried
carried.FOLDER = pathlib.Path(sys.argv[1])
from askwhen.compiled.steps import entry

@entry
def doubled(x):
    return 2 * x

print(doubled(2.0), sum(doubled.stats.cache_hits.values()))
"""


class Package:
    """A script with a step, and the steps that were compiled for it as for a wheel."""

    def __init__(self, folder):
        self.folder = folder
        (folder / "play.py").write_text(PLAY)
        assert self.played(folder / "made", **carried.target())[0] == "4.0 0\n"
        (self.steps,) = (folder / "made" / "askwhen").iterdir()

    def played(self, cache, **more):
        """What a new process prints and complains of, with compiled steps of its own in another folder."""
        environment = os.environ | {"XDG_CACHE_HOME": str(cache)} | more
        environment.pop("NUMBA_CACHE_DIR", None)
        command = [sys.executable, "play.py", str(getattr(self, "steps", "nowhere"))]
        done = subprocess.run(command, env=environment, cwd=self.folder, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return done.stdout, done.stderr


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    return Package(tmp_path_factory.mktemp("carried"))


@pytest.fixture
def steps(package):
    carried.describe(package.steps)
    yield package.steps
    carried.usable.cache_clear()


def changed(steps, **more):
    found = json.loads((steps / "about.json").read_text())
    (steps / "about.json").write_text(json.dumps(found | more))


def test_steps_that_came_with_the_package_are_not_compiled(package, steps, tmp_path):
    assert package.played(tmp_path) == ("4.0 1\n", "")
    assert list(tmp_path.rglob("*.nb?")) == []


@pytest.mark.parametrize("name", ["sources", "python", "numba", "llvmlite", "system"])
def test_steps_for_anything_else_are_not_used(steps, name):
    assert carried.usable(steps) is not None
    carried.usable.cache_clear()
    changed(steps, **{name: "another"})
    assert carried.usable(steps) is None


def test_steps_for_other_processors_are_compiled(package, steps, tmp_path):
    changed(steps, features=["a-feature-of-2050"])
    assert carried.usable(steps) is None
    assert package.played(tmp_path) == ("4.0 0\n", "")
    assert package.played(tmp_path) == ("4.0 1\n", "")


def test_whoever_names_a_processor_gets_steps_for_it(steps, monkeypatch):
    monkeypatch.setattr(numba.config, "CPU_NAME", "generic")
    assert carried.usable(steps) is None


def test_a_package_for_all_platforms_has_none(tmp_path):
    assert carried.usable(tmp_path) is None


def test_a_damaged_step_is_compiled(package, steps, tmp_path):
    for path in steps.rglob("*.nbc"):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2])
    said, complained = package.played(tmp_path)
    assert said == "4.0 0\n"
    assert "is damaged" in complained
