"""The name of the compiled steps changes with whatever they come from, and with nothing else."""

import pathlib
import shutil

import pytest

import askwhen
from askwhen.compiled.sources import source_hash, step_sources

PACKAGE = pathlib.Path(askwhen.__file__).parent


@pytest.fixture
def package(tmp_path):
    return pathlib.Path(shutil.copytree(PACKAGE, tmp_path / "askwhen", ignore=shutil.ignore_patterns("__pycache__")))


def add(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


@pytest.mark.parametrize(
    "name", ["papers.py", "sampler.py", "cli/commands/run.py", "evaluate/estimation/accuracy.py", "learners/lasec.py"]
)
def test_what_holds_no_step_compiles_nothing_anew(package, name):
    before = source_hash(package)
    add(package / name, '\n"""Another word."""\n')
    assert source_hash(package) == before


@pytest.mark.parametrize(
    "name",
    ["rules/state.py", "rules/bbq.py", "linalg/vectors.py", "adapters/river/columns.py", "engine/tally/round_tally.py"],
)
def test_a_step_and_the_constants_it_takes_from_elsewhere_count(package, name):
    before = source_hash(package)
    add(package / name, "\nANOTHER = 1\n")
    assert source_hash(package) != before


def test_a_step_in_a_new_or_moved_file_is_found(package):
    before = source_hash(package)
    room = package / "new_room"
    room.mkdir()
    (room / "deep.py").write_text(
        "from ..compiled.steps import step\nfrom .numbers import TWO\n\n\n@step\ndef f(x):\n    ...\n"
    )
    (room / "numbers.py").write_text("TWO = 2\n")
    (room / "other.py").write_text("THREE = 3\n")
    found = {path.name for path in step_sources(package) if path.parent == room}
    assert found == {"deep.py", "numbers.py"}
    added = source_hash(package)
    (room / "deep.py").rename(room / "moved.py")
    assert len({before, added, source_hash(package)}) == 3


def test_versions_of_python_and_numba_have_names_of_their_own():
    assert source_hash(PACKAGE, "3.11") != source_hash(PACKAGE, "3.12")
