"""``askwhen compare``: algorithms side by side, at the same shares of labels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

import askwhen as aw

from ..command import Out, again, command
from ..options import ALGORITHM, RAW, SEED, SETTINGS, STREAMS, AlgorithmName, Labels, Listed, reading, share_of
from ..source import Source, progress_bar, say_if_compiling
from ..terminal import show
from ..writing import check_outputs


@command
@click.argument("file")
@ALGORITHM(
    "--algorithms",
    "-a",
    type=Listed(AlgorithmName(), "name,name,..."),
    default="default,random,lasec-ss,sop-ss,perceptron-ss,bbq",
    show_default=True,
    help="Names with commas between; see `askwhen algorithms`.",
)
@click.option(
    "--labels",
    type=Listed(Labels(below=True), "labels,labels,..."),
    default="5%,10%,20%",
    show_default=True,
    help="Shares, or numbers, of labels with commas between.",
)
@click.option("--repeats", type=click.IntRange(1), default=20, show_default=True, help="How often each is run.")
@click.option("--shuffle", is_flag=True, help="Take the stream in another order in every repeat.")
@click.option("--everything", is_flag=True, help="Play each learner told all labels too, for a baseline.")
@SETTINGS
@SEED
@RAW
@reading(STREAMS)
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report, one HTML file.")
def compare(
    out: Out,
    file: str,
    algorithms: list[str],
    labels: list[float],
    repeats: int,
    shuffle: bool,
    everything: bool,
    settings: tuple[tuple[str, Any], ...],
    seed: int,
    raw: bool,
    reading: dict[str, Any],
    report: str | None,
) -> None:
    """Compare algorithms at the same shares of labels.

    The letter that says how much an algorithm asks is found by bisection, on the whole stream, as the papers do; the
    others have their usual values unless --set says otherwise (`--set c=300` for all that have a c, `--set
    lasec-ss.c=300` for one). Runs on all cores. An algorithm that asks for every label is run too, for reference, and
    the table has simple rules as baselines: the majority so far, the last label told. FILE is as in `askwhen run`.

    \b
    askwhen compare elec2 --labels 1%,5%,10% --report elec2.html
    """
    check_outputs(file, report=report)
    source = Source(file, reading)
    letters = _letters(settings, algorithms)
    say_if_compiling(out)
    X, y = source.load()
    with progress_bar(out, f"comparing on {len(y):,} instances", 1, "last") as move:
        found = aw.evaluate.compare(
            X,
            y,
            algorithms,
            [share_of(each, len(y)) for each in labels],
            repeats=repeats,
            letters=letters,
            prepare=None if raw else aw.Prepare(),
            shuffle=shuffle,
            seed=seed,
            everything=everything,
            watch=lambda done, total, last: move(done / total, last=last),
        )
    facts = show.comparison_facts(found) | {"file": file, "instances": len(y), "report": report}
    closing = [f"report: {report}"] if report else []
    out.result(facts, *show.lead(facts), show.comparison_table(found), "", *show.pictures(found), *closing)
    if report is not None:  # after the results, which are safe now
        from ...report import write_comparison

        about = {"Stream": f"{source.name}, {len(y):,} instances", "repeats": str(repeats), "askwhen": aw.__version__}
        title = f"askwhen compare: {Path(file).name}"
        write_comparison(report, found, title=title, facts=about, command=again())


def _letters(settings: tuple[tuple[str, Any], ...], names: list[str]) -> dict[str, dict[str, Any]]:
    """The letters that were set for each algorithm; one without a name is for all that have it."""
    from ...algorithms import algorithm

    chosen = [algorithm(name) for name in names]
    found: dict[str, dict[str, Any]] = {each.name: {} for each in chosen}
    for setting, value in settings:
        name, dot, letter = setting.rpartition(".")
        takers = [each for each in chosen if (each.name == name.lower() if dot else letter in each.letters)]
        if not takers:
            raise aw.InputError(f"no algorithm here takes {setting!r}.", owner="compare")
        for each in takers:
            found[each.name][letter] = value
    return found
