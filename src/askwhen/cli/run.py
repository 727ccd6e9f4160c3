"""``askwhen run``: a labelled stream through an algorithm, one pass, in constant memory."""

from __future__ import annotations

import re
import shlex
import time
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from . import show
from .command import Out, again, command
from .options import ALGORITHM, RAW, SEED, SETTINGS, AlgorithmName, Share, reading
from .source import Source, Stopping, progress_bar, say_if_compiling
from .writing import check_outputs, free_name

_OF_MODEL = ("algorithm", "settings", "labels", "seed", "raw")


@command
@click.argument("file")
@ALGORITHM(
    "--algorithm", "-a", type=AlgorithmName(), default="default", show_default=True, help="See `askwhen algorithms`."
)
@SETTINGS
@click.option("--labels", type=Share(), metavar="SHARE", help="How many labels it may ask for, as in 10% (or 0.1).")
@SEED
@RAW
@reading
@click.option("--window", type=click.IntRange(1), default=1000, show_default=True, help="Rounds in a window.")
@click.option("--trace", type=click.Path(dir_okay=False), help="Write what happened in every round: .parquet or .csv.")
@click.option("--model", type=click.Path(dir_okay=False), help="Save the sampler here.")
@click.option("--resume", type=click.Path(dir_okay=False), help="Go on from a saved sampler.")
@click.option(
    "--skip", type=click.IntRange(0), metavar="N", help="Pass over N instances; with --resume those that were played."
)
@click.option("--report", type=click.Path(dir_okay=False), help="Write a report, one HTML file.")
def run(
    out: Out,
    file: str,
    algorithm: str,
    settings: tuple[tuple[str, Any], ...],
    labels: float | None,
    seed: int,
    raw: bool,
    reading: dict[str, Any],
    window: int,
    trace: str | None,
    model: str | None,
    resume: str | None,
    skip: int | None,
    report: str | None,
) -> None:
    """Run an algorithm over a file, and say how it did.

    FILE is svmlight, Vowpal Wabbit text, CSV, TSV, Parquet or NDJSON, compressed or not; `-` is the standard input; the
    name of a data set also works, as in `askwhen run elec2`. Labels are all in the file: the algorithm learns only from
    those it asks for, and the rest serve to count mistakes. Ctrl-C saves the sampler and says how to go on.

    \b
    askwhen run mails.csv --label spam --labels 5% --report mails.html
    zcat big.svm.gz | askwhen run - --format svmlight --features 1000 --algorithm sel-p --set b=0.5
    """
    if resume is not None:
        _refuse_settings()
    sampler = _sampler(algorithm, dict(settings), labels, seed, raw) if resume is None else aw.Sampler.load(resume)
    source = Source(file, reading, "number" if sampler.learner.regression else "binary")
    check_outputs(file, model=model, trace=trace, report=report)
    begins, saved = sampler.round, model or resume or free_name(source.name, ".askwhen")
    passed = begins if skip is None else skip
    if resume is not None and file != "-" and passed:
        out.say(f"Passing over the first {passed:,} instances of {source.name}.")
    keeping = _Keeping(trace, report is not None, sampler, file, going_on=resume is not None)
    stopping, started = Stopping(out), time.perf_counter()
    say_if_compiling(out)
    try:
        with (
            keeping,
            stopping.listening(),
            progress_bar(out, source.name, source.size(), "rate", "asked", "honest") as move,
        ):
            watch = _Watch(sampler, keeping, move, started)
            chunks = stopping.pieces(source.chunks(passed, move))
            progress = aw.evaluate.progressive(sampler, chunks, window=window, watch=watch, before=keeping.before)
    except BaseException as error:
        if sampler.round > begins:
            sampler.save(saved)
            how = how_to_go_on(file, saved, passed, begins, sampler.round)
            out.say(f"Saved after round {sampler.round:,}. {how}")
        if isinstance(error, aw.InputError) and stopping.stopped:
            raise KeyboardInterrupt from None
        if isinstance(error, aw.InputError):
            raise _of_file(error, source.name, sampler.round - begins + (0 if file == "-" else passed)) from error
        raise
    if model is not None or stopping.stopped:
        sampler.save(saved)
    facts = show.run_facts(sampler, progress, time.perf_counter() - started, watch.rate)
    facts |= {"model": saved if model or stopping.stopped else None, "trace": trace, "report": report}
    if report is not None:
        _write_report(report, file, sampler, progress, keeping, labels)
    out.result(facts, show.run_table(facts))
    if stopping.stopped:
        how = how_to_go_on(file, saved, passed, begins, sampler.round)
        out.say(f"Interrupted after round {sampler.round:,}. {how}")
        raise click.exceptions.Exit(1)


def _sampler(name: str, letters: dict[str, Any], labels: float | None, seed: int, raw: bool) -> aw.Sampler:
    from ..algorithms import algorithm

    return algorithm(name).build(letters, share=labels, prepare=None if raw else aw.Prepare(), seed=seed)


def _of_file(error: aw.InputError, name: str, played: int) -> aw.InputError:
    """The error in terms of the file: the library speaks of rows of a chunk X."""
    said = re.sub(r", in chunk \d+", "", str(error))
    said = re.sub(r"\brow (\d+) of X\b", lambda found: f"instance {played + int(found[1]):,} of {name}", said)
    return aw.InputError(re.sub(r"\bX\b", f"{name}, after instance {played:,},", said))


def _refuse_settings() -> None:
    context = click.get_current_context()
    for name in _OF_MODEL:
        if context.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            option = "--set" if name == "settings" else f"--{name}"
            raise click.UsageError(f"{option} goes with a new sampler; a resumed one keeps what it has.")


def how_to_go_on(file: str, saved: str, passed: int, begins: int, rounds: int) -> str:
    """The command that goes on where a sampler was saved."""
    rest = ", with the remaining lines" if file == "-" else ""
    add = ["--resume", shlex.quote(saved)]
    if passed != begins and file != "-":
        add += ["--skip", str(passed + rounds - begins)]
    return f"To go on{rest}:\n  {again(drop=(*_OF_MODEL, 'resume', 'skip'), add=add)}"


class _Keeping:
    """The trace, to a file, in memory for the report, or neither."""

    def __init__(self, path: str | None, keep: bool, sampler: aw.Sampler, file: str, going_on: bool) -> None:
        self._keep = keep
        self._traces: list[aw.Trace] = []
        self._writer: Any = None
        self.before: aw.Trace | None = None
        if path is None:
            return
        from ..trace_files import TraceWriter, read_trace

        if going_on and Path(path).exists():
            self.before = read_trace(path).trace
            ends = self.before.start + self.before.rounds
            if ends != sampler.round:
                raise aw.InputError(f"trace: {path} ends at round {ends}, but the sampler goes on at {sampler.round}.")
        about = {"sampler": show.parts_of(sampler), "file": file, "command": again(), "version": aw.__version__}
        self._writer = TraceWriter(path, about)
        if self.before is not None:
            self.add(self.before)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        if self._writer is not None:
            self._writer.close()

    def add(self, trace: aw.Trace) -> None:
        if self._writer is not None:
            self._writer.add(trace)
        if self._keep:
            self._traces.append(trace)

    def joined(self) -> aw.Trace:
        from ..trace import join

        return join(self._traces)


class _Watch:
    """Keeps every piece of the trace, and moves the bar a few times a second."""

    def __init__(self, sampler: aw.Sampler, keeping: _Keeping, move: Any, started: float) -> None:
        self._sampler = sampler
        self._keeping = keeping
        self._move = move
        self._begins = sampler.round
        self._started = self._last = started
        self._pieces = 0
        self._shown = started

    @property
    def rate(self) -> float:
        """Rounds per second; those of the first piece, in which steps are compiled, only where there is no other."""
        return (self._sampler.round - self._begins) / max(self._last - self._started, 1e-9)

    def __call__(self, trace: aw.Trace) -> None:
        self._keeping.add(trace)
        self._pieces += 1
        now, sampler = time.perf_counter(), self._sampler
        if self._pieces == 2:
            self._begins, self._started = sampler.round - trace.rounds, self._last
        late, self._last = now - self._shown, now
        if late < 0.15:
            return
        self._shown = now
        facts = {
            "rate": f"{self.rate:,.0f} rounds/s",
            "asked": f"asked {sampler.questions:,} ({sampler.questions / sampler.round:.1%})",
        }
        if not sampler.learner.regression:
            facts["honest"] = f"accuracy {aw.evaluate.accuracy(sampler).overall}"
        self._move(**facts)


def _write_report(
    path: str, file: str, sampler: aw.Sampler, progress: Any, keeping: _Keeping, budget: float | None
) -> None:
    from ..report import write_run

    facts = {"Stream": file, **show.parts_of(sampler), "askwhen": aw.__version__}
    rate = getattr(sampler.rule, "rate", None)
    levels = [f"c = {c:g}" for c in getattr(sampler.learner, "grid", ())]
    write_run(
        path,
        progress,
        keeping.joined(),
        title=f"askwhen run: {Path(file).name}",
        facts=facts,
        command=again(),
        budget=budget if rate is None else rate,
        levels=levels,
    )
