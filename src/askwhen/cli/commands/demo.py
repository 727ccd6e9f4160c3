"""``askwhen demo``: a generated pile, labelled with at most 5 % errors, beside a fixed number of labels; in seconds."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import askwhen as aw

from ..command import Output, command, command_line
from ..terminal.progress import is_cold, progress_bar

if TYPE_CHECKING:
    from ...workflows.demo import Demonstration, Way

_ELSEWHERE = """
import numpy as np, askwhen as aw
X = np.random.default_rng(0).standard_normal((100, 10))
for rule in (aw.BudgetRule(0.1), aw.FixedRate(0.1)):
    aw.Sampler(rule=rule, seed=0).run(X, np.where(X[:, 0] > 0, 1, -1))
"""


@command
@click.option(
    "--report", default="askwhen-demo.html", show_default=True, type=click.Path(dir_okay=False), help="Report to write."
)
@click.option("--picture", type=click.Path(dir_okay=False), help="Also write the picture to this SVG file.")
def demo(out: Output, report: str, picture: str | None) -> None:
    """Show what asking for the right labels is worth.

    Needs no data: 10,000 generated rows get a label each. A person gives the few that are worth it, the others are
    predictions, and at any time at most 5 % of all labels are wrong, with 95 % confidence. Beside it, what a fixed
    number of labels would have given. Prints a table and a picture, and writes a report as one HTML file.
    """
    from ...workflows import demo as played
    from ...workflows.outputs import check_outputs
    from ..terminal import promises

    check_outputs(None, report=report, picture=picture)
    started, errors = time.perf_counter(), f"{100 * played.ERROR:g}"
    out.say(f"A pile of {played.ROWS:,} rows. Which must a person label, so that at most {errors} % of all are wrong?")
    with progress_bar(out, "labelling", 3, "last") as move:
        helper = None
        if is_cold():
            move(last="compiling, since this is the first run")
            helper = subprocess.Popen([sys.executable, "-c", _ELSEWHERE], stderr=subprocess.DEVNULL)
        X, y = played.pile()
        found = played.promised(X, y)
        if helper is not None:
            helper.wait()
        move(1, last="fixed numbers of labels")
        ways = found.ways + played.budgets(found, X, y)
        move(2, last="other promises")
        curve = aw.evaluate.promise_curve(X, y, repeats=1, seed=played.SEED)
    facts: dict[str, Any] = {
        "rows": played.ROWS,
        "promise": promises.promise_facts(found.sampler.promise, found.history),
        "ways": [each._asdict() for each in ways],
        "plan": promises.curve_facts(curve),
        "report": str(Path(report).resolve()),
        "picture": picture,
        "total_seconds": time.perf_counter() - started,
    }
    drawn = [promises.ways_shown(ways), "", promises.certificate_shown(found.history, ways[1]), ""]
    closing = f"Report: {facts['report']}  ({facts['total_seconds']:.1f} seconds in all)"
    out.result(facts, facts["promise"]["sentence"], "", *drawn, promises.others_shown(curve), closing)
    _write(found, ways, report, picture)


def _write(found: Demonstration, ways: list[Way], report: str, picture: str | None) -> None:
    """Write the report and the picture."""
    from ...report import certificate_picture, write_run
    from ...report.page import write

    history, rows = found.history, f"{found.trace.rounds:,}"
    ends = {
        each.name: f"{each.questions:,} labels asked for, {each.wrong:.1%} wrong; as far as those labels say, at most "
        f"{each.at_most:.1%}"
        for each in ways
    }
    about = {"Stream": f"{rows} generated rows", **ends, "askwhen": aw.__version__}
    title = f"askwhen demo: at most {history.error:.0%} errors"
    write_run(report, found.progress, found.trace, title=title, facts=about, command=command_line())
    if picture is not None:
        title = f"At most {history.error:.0%} errors promised: {found.trace.questions:,} of {rows} labels asked for"
        others = {f"wrong, {ways[1].name}": ways[1].over_time}
        write("picture", picture, certificate_picture(history, others, title=title))
