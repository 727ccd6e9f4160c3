"""A whole pass of Vowpal Wabbit that asks for labels as it reads its file."""

from __future__ import annotations

from pathlib import Path


def simulated(options: str, path: Path) -> tuple[int, list[str]]:
    """How many labels it asked for, and its prediction for every line of the file."""
    from vowpalwabbit import pyvw

    out = path.with_suffix(".out")
    model = pyvw.Workspace(f"{options} --simulation --noconstant -d {path} -p {out}", enable_logging=True)
    model.finish()
    asked = next(int(line.split("=")[1]) for line in model.get_log() if line.startswith("total queries"))
    return asked, out.read_text().splitlines()
