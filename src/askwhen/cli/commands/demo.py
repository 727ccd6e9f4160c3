"""``askwhen demo``: compare algorithms on a synthetic stream that switches, in less than a minute."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import click

import askwhen as aw

from ..command import Output, command, command_line
from ..terminal import show
from ..terminal.progress import is_cold, progress_bar

NAMES = ("default", "random", "lasec-ss", "sop-ss", "perceptron-ss", "bbq")
HYPERPARAMETERS = {
    "lasec-ss": {"b": 0.1, "c": 100.0},
    "sop-ss": {"b": 10.0},
}  # the best of a grid on this stream, in hindsight
SHARE, REPEATS = 0.1, 10
ROUNDS, DIMENSION, EVERY, SEED = 20_000, 20, 5_000, 3
_ELSEWHERE = """
import askwhen as aw
from askwhen.algorithms import algorithm
X, y = aw.data.switching(100, 20, seed=0)
for name in ("lasec-ss", "sop-ss", "perceptron-ss"):
    algorithm(name).build(share=0.5, seed=0).run(X, y, margins=False)
"""


@command
@click.option(
    "--report", default="askwhen-demo.html", show_default=True, type=click.Path(dir_okay=False), help="Report to write."
)
@click.option("--picture", type=click.Path(dir_okay=False), help="Also write the picture to this SVG file.")
def demo(out: Output, report: str, picture: str | None) -> None:
    """Show what asking for the right labels is worth.

    Needs no data. Compares the default with the same learner asking at random and with the papers' algorithms, on a
    synthetic stream whose target changes, with one label in ten for each: prints a table and a picture, and writes a
    report as one HTML file.
    """
    from ...workflows.outputs import check_outputs

    check_outputs(None, report=report, picture=picture)
    started = time.perf_counter()
    out.say(
        f"A stream of {ROUNDS:,} rows; the target is replaced every {EVERY:,} rows. One label in ten may be asked for."
    )
    with progress_bar(out, "running", 1, "last") as move:
        if is_cold():
            move(last="compiling, since this is the first run")
            helper = subprocess.Popen([sys.executable, "-c", _ELSEWHERE], stderr=subprocess.DEVNULL)
        else:
            helper = None
        X, y = aw.data.switching(ROUNDS, DIMENSION, EVERY, SEED)
        aw.Sampler(seed=0).run(X[:100], y[:100], margins=False)
        if helper is not None:
            helper.wait()
        found = aw.evaluate.compare(
            X,
            y,
            NAMES,
            [SHARE],
            repeats=REPEATS,
            letters=HYPERPARAMETERS,
            prepare=aw.Prepare(),
            watch=lambda done, total, last: move(done / total, last=last),
        )
    facts = show.comparison_facts(found) | {"report": str(Path(report).resolve()), "picture": picture}
    facts["total_seconds"] = time.perf_counter() - started
    closing = f"Report: {facts['report']}  ({facts['total_seconds']:.1f} seconds in all)"
    out.result(facts, *show.lead(facts), show.comparison_table(found), "", *show.pictures(found), closing)
    from ...report import picture as drawn
    from ...report import write_comparison
    from ...report.page import write

    about = {
        "Stream": f"{ROUNDS:,} Gaussian instances of {DIMENSION} features; a new target every {EVERY:,} rounds",
        "repeats": str(REPEATS),
        "askwhen": aw.__version__,
    }
    write_comparison(report, found, title="askwhen demo: one label in ten", facts=about, command=command_line())
    if picture is not None:
        title = f"Accuracy at one label in ten; the target is replaced every {EVERY:,} rounds"
        write("picture", picture, drawn(found, SHARE, title=title))
