"""The folder of compiled steps, damaged, unwritable or full: everything goes on, and a warning says so once."""

import gc
import os
import pathlib
import shutil
import subprocess
import sys

import numba
import pytest
from numba.core.caching import NullCache

import askwhen
from askwhen.compiled import steps

DAMAGES = {
    "truncated": lambda content: content[: len(content) // 2],
    "garbled": lambda content: b"\x80\x04 nothing that anybody wrote",
    "flipped": lambda content: content[:-200] + bytes([content[-200] ^ 1]) + content[-199:],
    "empty": lambda content: b"",
}

STEPS = "from askwhen.compiled.steps import cache_folder, entry\n" + "".join(
    f"@entry\ndef {name}_{kind}(x):\n    return 2 * x\n" for name in DAMAGES for kind in ("nbi", "nbc")
)

CALLS = "print(" + ", ".join(f"{name}_{kind}(2.0)" for name in DAMAGES for kind in ("nbi", "nbc")) + ")\n"

VANISHING = "import pathlib, shutil\nshutil.rmtree(cache_folder())\npathlib.Path(cache_folder()).touch()\n"

RIGHT = " ".join(["4.0"] * 8) + "\n"


def run(folder, script):
    """What a process with its compiled steps in this folder prints, and what it warns of."""
    (folder / "steps.py").write_text(script)
    os.utime(folder / "steps.py", (0, 0))  # so that the file is not thought to have changed
    environment = os.environ | {"XDG_CACHE_HOME": str(folder / "cache"), "PYTHONWARNINGS": "default"}
    environment.pop("NUMBA_CACHE_DIR", None)
    command = [sys.executable, "-c", "import steps"]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout, done.stderr


def test_damaged_files_are_discarded_with_one_warning(tmp_path):
    assert run(tmp_path, STEPS + CALLS) == (RIGHT, "")
    for name, damage in DAMAGES.items():
        for kind in ("nbi", "nbc"):
            (path,) = (tmp_path / "cache").rglob(f"*{name}_{kind}*.{kind}")
            path.write_bytes(damage(path.read_bytes()))
    said, warned = run(tmp_path, STEPS + CALLS)
    assert said == RIGHT
    assert warned.count("CacheWarning: ") == 1
    assert "is damaged" in warned
    assert run(tmp_path, STEPS + CALLS) == (RIGHT, "")


def test_a_folder_that_is_gone_in_the_middle_of_a_run_is_no_trouble(tmp_path):
    said, warned = run(tmp_path, STEPS + VANISHING + CALLS)
    assert said == RIGHT
    assert warned.count("CacheWarning: ") == 1
    assert "cannot be kept" in warned


NEWLINES = """
import numpy as np
from askwhen.data.lines import newlines
newlines(np.frombuffer(b"one line\\n", np.uint8))
print(newlines.py_func.__code__.co_filename, sum(newlines.stats.cache_misses.values()))
"""


def test_what_one_installation_compiled_serves_another_one(tmp_path):
    package = pathlib.Path(askwhen.__file__).parent
    elsewhere = tmp_path / "elsewhere"
    shutil.copytree(package, elsewhere / "askwhen", ignore=shutil.ignore_patterns("__pycache__"))
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    for root, misses in ((package.parent, 1), (elsewhere, 0), (package.parent, 0)):
        own = environment | {"PYTHONPATH": str(root)}
        done = subprocess.run([sys.executable, "-c", NEWLINES], env=own, capture_output=True, text=True)
        assert done.stdout == f"{root / 'askwhen/data/lines.py'} {misses}\n", done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a small disk")
def test_a_full_disk_is_no_trouble(tmp_path):
    disk = tmp_path / "cache"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        (disk / "ballast").write_bytes(b"x" * 57_000)
        said, warned = run(tmp_path, STEPS + CALLS)
        assert said == RIGHT
        assert warned.count("CacheWarning: ") == 1
        assert "No space left" in warned
        assert not list(disk.rglob("*.tmp.*"))
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may mount a folder read-only")
def test_a_finished_folder_is_read_where_nothing_can_be_written(tmp_path):
    assert run(tmp_path, STEPS + CALLS) == (RIGHT, "")
    disk = tmp_path / "cache"
    mounted = subprocess.run(["mount", "--bind", disk, disk], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("nothing can be mounted here")
    try:
        subprocess.run(["mount", "-o", "bind,remount,ro", disk], check=True)
        where = f"print(str(cache_folder()).startswith({str(disk)!r}))\n"
        assert run(tmp_path, STEPS + CALLS + where) == (RIGHT + "True\n", ""), (
            "nothing was compiled, so nothing is said"
        )
        more = "@entry\ndef other(x):\n    return 3 * x\nprint(other(1.0))\n"
        said, warned = run(tmp_path, STEPS + CALLS + more)
        assert said == RIGHT + "3.0\n"
        assert warned.count("CacheWarning: ") == 1
        assert "Read-only file system" in warned
    finally:
        subprocess.run(["umount", disk], check=True)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root may give a folder away")
def test_a_finished_folder_is_read_only_where_nobody_else_could_have_filled_it(tmp_path):
    for owner, mode, is_read in ((0, 0o755, True), (12345, 0o755, False), (0, 0o777, False), (0, 0o775, False)):
        os.chown(tmp_path, owner, owner)
        os.chmod(tmp_path, mode)
        assert steps._is_finished(tmp_path) is is_read
    os.chown(tmp_path, 0, 0)
    assert steps._is_finished(tmp_path / "nowhere") is False


def test_reference_cycles_are_not_searched_for_while_compiling():
    @steps.entry
    def doubled(x):
        return 2 * x

    doubled._cache = NullCache()  # an earlier run would have stored it
    before = []

    def note(phase, about):
        before.append(not doubled.signatures)

    gc.callbacks.append(note)
    try:
        doubled.compile((numba.types.float64,))
    finally:
        gc.callbacks.remove(note)
    assert not any(before)
    assert gc.isenabled()
    gc.disable()
    try:
        assert doubled(2) == 4
        assert not gc.isenabled()  # as the caller wants it
    finally:
        gc.enable()
