"""``askwhen run``: a labelled stream through an algorithm, one pass, in constant memory."""

from __future__ import annotations

import shlex
import time
from pathlib import Path
from typing import Any

import click

import askwhen as aw

from .. import notes
from ..command import Out, again, command, fail
from ..options import ALGORITHM, RAW, SEED, SETTINGS, STREAMS, AlgorithmName, Labels, Seconds, reading, share_of
from ..source import NothingLeftError, Source, Stopping, of_file, progress_bar, say_if_compiling
from ..terminal import show
from ..writing import check_outputs, free_name

_OF_MODEL = ("algorithm", "settings", "labels", "seed", "raw", "everything")


@command
@click.argument("file")
@ALGORITHM(
    "--algorithm", "-a", type=AlgorithmName(), default="default", show_default=True, help="See `askwhen algorithms`."
)
@SETTINGS
@click.option(
    "--labels", type=Labels(), help="How many labels it may ask for: a share, as in 10% or 0.1, or a number, as in 500."
)
@SEED
@RAW
@reading(STREAMS)
@click.option("--shuffle", is_flag=True, help="Take the instances in another order, which the seed decides.")
@click.option("--everything", is_flag=True, help="Play the same learner told all labels too, for a baseline.")
@click.option("--window", type=click.IntRange(1), default=1000, show_default=True, help="Rounds in a window.")
@click.option("--trace", type=click.Path(dir_okay=False), help="Write what happened in every round: .parquet or .csv.")
@click.option("--model", type=click.Path(dir_okay=False), help="Save the sampler here.")
@click.option("--resume", type=click.Path(dir_okay=False), help="Go on from a saved sampler, or from its checkpoint.")
@click.option(
    "--skip", type=click.IntRange(0), metavar="N", help="Pass over N instances; with --resume those that were played."
)
@click.option(
    "--checkpoint",
    type=Seconds(),
    default="60s",
    show_default=True,
    help="How often to save the sampler beside its file, so that a crash loses no more: 60s, 5m, 1h, never.",
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
    shuffle: bool,
    everything: bool,
    window: int,
    trace: str | None,
    model: str | None,
    resume: str | None,
    skip: int | None,
    checkpoint: float | None,
    report: str | None,
) -> None:
    """Run an algorithm over a file, and say how it did.

    FILE is svmlight, Vowpal Wabbit text, CSV, TSV, Parquet or NDJSON, compressed or not; `-` is the standard input; the
    name of a data set also works, as in `askwhen run elec2`. Labels are all in the file: the algorithm learns only from
    those it asks for, and the rest serve to count mistakes. Ctrl-C saves the sampler and says how to go on; after a
    crash --resume goes on from the last checkpoint.

    \b
    askwhen run mails.csv --label spam --labels 5% --report mails.html
    zcat big.svm.gz | askwhen run - --format svmlight --features 1000 --algorithm sel-p --set b=0.5
    """
    from ...workflows.run import Run, checkpoint_of, model_of, newest

    if resume is not None:
        _refuse_settings()
    check_outputs(file, model=model, trace=trace, report=report)
    found = None if resume is None else newest(resume)
    if found is None:
        note = notes.Note()
        source = Source(file, reading, shuffle=shuffle, seed=seed)
        sampler = _sampler(out, source, algorithm, dict(settings), labels, seed, raw)
    else:
        sampler, note = _loaded(found), notes.read(found)
        if found != resume:
            out.say(f"Going on from the checkpoint {found}, after round {sampler.round:,}.")
        if shuffle and note.is_known and note.seed is None:
            raise click.UsageError("--shuffle goes with a new sampler; this one has taken its file as it is.")
        source = Source(
            file, notes.read_as(note, reading, file), shuffle=shuffle or note.seed is not None, seed=note.seed
        )
        source.expect(note.names, note.places)
    if sampler.learner.regression:
        source.reading["target"] = "number"
    saved = model or (model_of(resume) if resume else free_name(source.name, ".askwhen"))
    begins, passed = sampler.round, sampler.round + note.offset if skip is None else skip
    if file == "-" and skip is None:
        passed = 0  # what comes now is what has not come before
    if resume is not None and passed:
        out.say(f"Passing over the first {passed:,} instances of {source.name}.")
    if resume is None and Path(checkpoint_of(saved)).exists():
        out.say(f"An earlier run left a checkpoint, {checkpoint_of(saved)}; --resume {saved} would go on from it.")
    about = {"sampler": show.parts_of(sampler), "file": file, "command": again(), "version": aw.__version__}
    played = Run(
        sampler,
        saved,
        trace=trace,
        keep=report is not None,
        checkpoint=checkpoint,
        note=lambda: notes.written(source, 0 if file == "-" else passed - begins),
        about=about,
        say=out.say,
        going_on=f"go on with\n  {_going_on('--resume', shlex.quote(saved))}",
    )
    stopping, started = Stopping(out), time.perf_counter()
    say_if_compiling(out)
    try:
        with (
            stopping.listening(),
            progress_bar(out, source.name, source.size(), "rate", "asked", "honest") as move,
        ):
            watch = _Watch(sampler, move, started)
            chunks = stopping.pieces(source.chunks(passed, move))
            progress = played.play(chunks, watch, window=window, everything=everything)
    except NothingLeftError as error:
        if found is None or found == resume or skip is not None:
            played.end(save=False, finished=False)
            raise
        _end_again(out, played, str(error), trace)
        return
    except BaseException as error:
        wrongs = played.end(save=sampler.round > begins, finished=False)
        for wrong in wrongs:
            fail(out, wrong)
        if sampler.round > begins and not wrongs:
            how = how_to_go_on(file, saved, passed, begins, sampler.round)
            out.say(f"Saved after round {sampler.round:,}. {how}")
        if isinstance(error, aw.InputError) and stopping.stopped:
            raise KeyboardInterrupt from None
        with of_file(source.name, sampler.round - begins + passed):
            raise
    name = None if resume else algorithm
    facts = show.run_facts(sampler, progress, time.perf_counter() - started, watch.rate, name)
    kept = model is not None or stopping.stopped or found != resume  # what a crash has spared is not thrown away
    facts |= {"model": saved if kept else None, "trace": trace, "report": report}
    out.result(facts, show.run_table(facts))
    wrongs = played.end(save=kept)  # after the results, which are safe now
    if report is not None:
        try:
            _write_report(report, file, sampler, progress, played.trace(), labels)
        except aw.AskwhenError as error:
            wrongs.append(error)
    if stopping.stopped and not wrongs:
        how = how_to_go_on(file, saved, passed, begins, sampler.round)
        out.say(f"Interrupted after round {sampler.round:,}. {how}")
    for wrong in wrongs:
        fail(out, wrong)
    if wrongs or stopping.stopped:
        raise click.exceptions.Exit(1)


def _sampler(
    out: Out, source: Source, name: str, letters: dict[str, Any], labels: float | None, seed: int, raw: bool
) -> aw.Sampler:
    from ...algorithms import algorithm

    share, most = labels, None
    if labels is not None and labels > 1.0:
        most = int(labels)
        rounds = source.count()
        share = 0.1 if rounds is None else share_of(labels, rounds)
        if rounds is None:
            out.say(
                f"How many instances there are is not known: asking for one label in ten, until {most:,} are asked."
            )
    return algorithm(name).build(letters, share=share, most=most, prepare=None if raw else aw.Prepare(), seed=seed)


def _end_again(out: Out, played: Any, why: str, trace: str | None) -> None:
    """Do what a run that was killed at its very end left undone: its checkpoint becomes the sampler."""
    wrongs = played.end(save=True)
    facts = {"rounds": 0, "first_round": played.sampler.round, "model": played.saved, "trace": trace}
    out.result(facts, f"{why} The run had come to its end: its sampler is in {played.saved} now.")
    for wrong in wrongs:
        fail(out, wrong)
    if wrongs:
        raise click.exceptions.Exit(1)


def _loaded(path: str) -> aw.Sampler:
    from ...workflows.predict import load

    found = load(path)
    if not isinstance(found, aw.Sampler):
        raise aw.InputError(
            f"{path} holds a sampler for several classes, and run plays two labels or numbers; predict and label take "
            "it."
        )
    return found


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
    return f"To go on{rest}:\n  {_going_on(*add)}"


def _going_on(*add: str) -> str:
    return again(drop=(*_OF_MODEL, "resume", "skip"), add=add)


class _Watch:
    """Moves the bar a few times a second."""

    def __init__(self, sampler: aw.Sampler, move: Any, started: float) -> None:
        self._sampler = sampler
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
    path: str, file: str, sampler: aw.Sampler, progress: Any, trace: aw.Trace, budget: float | None
) -> None:
    from ...report import write_run

    facts = {"Stream": file, **show.parts_of(sampler), "askwhen": aw.__version__}
    rate = getattr(sampler.rule, "rate", None)
    levels = [f"c = {c:g}" for c in getattr(sampler.learner, "grid", ())]
    write_run(
        path,
        progress,
        trace,
        title=f"askwhen run: {Path(file).name}",
        facts=facts,
        command=again(),
        budget=rate or (budget if budget is not None and budget <= 1.0 else None),
        levels=levels,
    )
