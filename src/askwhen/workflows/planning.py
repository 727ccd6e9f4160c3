"""See what promises take on a labelled file, as ``askwhen plan`` does: errors against questions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from .. import __version__, evaluate
from ..errors import ArgumentsError, argument
from ..evaluate import PromiseCurve
from ..report import promise_picture, write_promise_curve
from ..report.page import write
from ..sampler import Sampler
from .advice_columns import AdviceColumn, advice_in, without_columns
from .observer import Observer, moving
from .outputs import check_outputs
from .run import RunOptions, begin, parts_of, set_target, unused_share
from .source import Source


@dataclass(frozen=True)
class PlanOptions:
    """Options of a plan.

    ``errors`` are the shares to promise, ``labels`` is the most that may be asked for, a share or a number above 1,
    and ``report`` and ``picture`` are files to write, HTML and SVG. ``within``, ``repeats``, ``shuffle`` and
    ``cluster`` are those of :func:`askwhen.evaluate.promise_curve`; the others are those of a run.
    """

    errors: Sequence[float] = (0.01, 0.02, 0.05, 0.1, 0.2)
    labels: float | None = None
    within: float | None = None
    algorithm: str = "default"
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    classes: Sequence[str] | None = None
    seed: int = 0
    raw: bool = False
    repeats: int = 3
    shuffle: bool = False
    advice: Sequence[AdviceColumn] = ()
    cluster: str | None = None
    report: str | None = None
    picture: str | None = None
    command: str = ""


class PlanResult(NamedTuple):
    """What the promises took, and the sampler whose parts were used."""

    curve: PromiseCurve
    sampler: Sampler


def plan(
    file: str,
    reading: dict[str, Any],
    options: PlanOptions | None = None,
    observer: Observer[PlanResult] | None = None,
) -> PlanResult:
    """Promise several shares of errors on a labelled file, and see how many labels each of them takes."""
    options, observer = options or PlanOptions(), observer or Observer()
    check_outputs(file, report=options.report, picture=options.picture)
    if file == "-":
        raise ArgumentsError("the standard input can be read only once; give a file.", owner="plan")
    reading = without_columns(file, reading, options.advice)
    chosen = RunOptions(
        algorithm=options.algorithm,
        hyperparameters=options.hyperparameters,
        labels=unused_share(options.algorithm, options.hyperparameters),
        classes=options.classes,
        seed=options.seed,
        raw=options.raw,
        advice=options.advice,
    )
    sampler, source = begin(file, reading, chosen, observer.say)
    set_target(source, sampler)
    if options.within is not None and not sampler.learner.regression:
        raise ArgumentsError(f"{argument('within')} is for numbers, as with --algorithm regression.", owner="plan")
    source.announce(observer.say)
    X, y = source.load_known()
    most = None if options.labels is None or options.labels <= 1.0 else int(options.labels)
    with observer.progress(f"promising on {len(y):,} rows", 1) as move:
        curve = evaluate.promise_curve(
            X,
            y,
            map(float, options.errors),
            sampler=sampler,
            most=most,
            rate=options.labels if most is None else None,
            within=options.within,
            repeats=options.repeats,
            shuffle=options.shuffle,
            seed=options.seed,
            advice=advice_in(file, source, options.advice, sampler),
            watch=moving(move),
            cluster=options.cluster,
        )
    result = PlanResult(curve, sampler)
    observer.results(result)
    _write(file, source, options, result)
    return result


def _write(file: str, source: Source, options: PlanOptions, result: PlanResult) -> None:
    """Write the report and the picture."""
    curve = result.curve
    if options.report is not None:
        about = {"Stream": f"{source.name}, {curve.rows:,} rows", **parts_of(result.sampler)}
        about.pop("rule", None)
        about |= {"repeats": str(curve.repeats), "askwhen": __version__}
        title = f"askwhen plan: {Path(file).name}"
        write_promise_curve(options.report, curve, title=title, facts=about, command=options.command)
    if options.picture is not None:
        write("plan", options.picture, promise_picture(curve, title=f"Errors against questions, {source.name}"))
