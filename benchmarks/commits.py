"""The package of another commit, to be compared with the current files."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]


def sources(commit: str, folder: Path) -> Path:
    """The package of a commit, in a folder of its own; "." is the one that is here."""
    if commit == ".":
        return ROOT / "src"
    archive = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, check=True, capture_output=True).stdout
    folder.mkdir()
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    return folder / "src"
