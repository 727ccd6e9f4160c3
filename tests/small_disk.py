"""A disk that is soon full: a file system in memory of a size of one's choice."""

import contextlib
import pathlib
import subprocess

import pytest


@contextlib.contextmanager
def mounted(name, size):
    """A folder on a disk of this size; the test is skipped where nobody may mount one."""
    folder = pathlib.Path(name)
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], capture_output=True)
    if done.returncode != 0:
        pytest.skip("this user may not mount a file system in memory")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
