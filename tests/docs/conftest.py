"""The site is built once for all tests of it."""

import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site(tmp_path_factory):
    """The site, built from a copy, since the gallery writes among its sources; warnings are errors."""
    folder = tmp_path_factory.mktemp("site")
    for part in ("docs", "examples"):
        shutil.copytree(ROOT / part, folder / part, ignore=shutil.ignore_patterns("examples", "__pycache__"))
    done = subprocess.run(
        [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", folder / "docs", folder / "site"],
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (0, "")
    return folder / "site"
