"""Run an algorithm over a labelled file, as ``askwhen run`` does: resume, stop and save, trace, report."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..algorithms import algorithm as algorithm_of
from ..errors import ArgumentsError, AskwhenError, InputError, argument
from ..evaluate import Progress
from ..evaluate.estimation.promise_history import rows_until_next
from ..prepare import Prepare
from ..report import write_run
from ..rules import PromiseRule
from ..sampler import Sampler
from ..trace.trace import Trace
from ..validation import short
from . import notes
from .advice_columns import AdviceColumn, AdviceColumns, beside, known_columns, without_columns
from .checkpoints import Checkpoints, checkpoint_of, model_of, newest
from .observer import Move, Observer, RunProgress, Say
from .outputs import check_outputs, free_name
from .predict import load
from .run_baselines import RunBaselines
from .run_files import RunFiles
from .source import NothingLeftError, Source, class_names, of_file, promise_of, share_of
from .stopping import Stopping

_DOUBTFUL = 1000
"""After so many instances without a positive label, the user is warned."""


@dataclass(frozen=True)
class RunOptions:
    """Options of a run.

    Parameters
    ----------
    algorithm, hyperparameters, labels, costs, classes, seed, raw
        For a new sampler: its name, its hyperparameters, how many labels it may ask for (a share, or a number above
        1), the costs of a false positive and a false negative, its labels where there are several, its random seed, and
        whether instances are taken as they are, without scaling them.
    errors : float, optional
        Promise that at most this share of the delivered labels is wrong, see :class:`askwhen.PromiseRule`; ``labels``
        is then the most that may be asked for.
    within : float, optional
        With ``errors``, for numbers: how far a prediction may be off without being wrong.
    shuffle : bool
        Whether to take the instances in another order, which the seed decides.
    everything, baselines, window
        As for :func:`askwhen.evaluate.progressive`.
    trace, model, report : str, optional
        Files to write: every round, the sampler, and an HTML page.
    resume : str, optional
        A saved sampler to continue from; where a killed run left a newer checkpoint of it, from that.
    advice : sequence of AdviceColumn
        Columns of the file in which advisers say what the labels are; they are not learnt from as features. A resumed
        sampler takes those that it has had before, if none are given.
    seed_labels : str, optional
        A file of instances whose labels are known already, with the same columns: a new sampler learns all of them
        before its first round.
    skip : int, optional
        Number of rows to skip; by default those that a resumed sampler has played, if it has played this very file.
    checkpoint : float or None
        Seconds between two checkpoints, or None for none.
    chosen : names, optional
        The arguments in ``reading`` that the user chose: a resumed sampler must have learnt with the same. By default
        all of them.
    command : str
        The command that started the run, for the trace and the report.
    """

    algorithm: str = "default"
    hyperparameters: dict[str, Any] = field(default_factory=dict)
    labels: float | None = None
    errors: float | None = None
    within: float | None = None
    costs: tuple[float, float] | None = None
    classes: Sequence[str] | None = None
    seed: int = 0
    raw: bool = False
    shuffle: bool = False
    everything: bool = False
    baselines: bool = False
    window: int = 1000
    trace: str | None = None
    model: str | None = None
    report: str | None = None
    resume: str | None = None
    advice: Sequence[AdviceColumn] = ()
    seed_labels: str | None = None
    skip: int | None = None
    checkpoint: float | None = 60.0
    chosen: Collection[str] | None = None
    command: str = ""


@dataclass
class RunResult:
    """The result of a run.

    Attributes
    ----------
    sampler : Sampler
        As it is after the last round.
    progress : Progress or None
        The scores; None if a killed run had come to its end, and only its files were completed.
    model : str or None
        Where the sampler is saved, if it is.
    seconds, rate : float
        Duration, and rounds per second without those in which steps were compiled.
    stopped : bool
        Whether it was interrupted.
    errors : list of AskwhenError
        Errors in writing files; complete when the run has returned.
    remark : str
        Why there was nothing to play.
    words : (str, str) or None
        What -1 and +1 are in the file, where that is known.
    """

    sampler: Sampler
    progress: Progress | None
    model: str | None
    seconds: float = 0.0
    rate: float = 0.0
    stopped: bool = False
    errors: list[AskwhenError] = field(default_factory=list)
    remark: str = ""
    words: tuple[str, str] | None = None


class RunObserver(Observer[RunResult]):
    """Receives what a run reports, and says how to continue one; the results come before any file is written."""

    def resume_command(self, saved: str, skip: int | None) -> str:
        """The command that continues from the file of a sampler; it skips ``skip`` rows, unless that is None."""
        return f"run(..., resume={saved!r}{'' if skip is None else f', skip={skip}'})"


def run(
    file: str,
    reading: dict[str, Any] | None = None,
    options: RunOptions | None = None,
    observer: RunObserver | None = None,
) -> RunResult:
    """Run an algorithm over a file in one pass and constant memory, and leave what is needed to continue.

    An interrupt ends the run after the piece that is being played, with the sampler saved; a second one ends it at
    once. Whatever else ends it, the sampler is saved too, and the error goes on to the caller.

    Parameters
    ----------
    file : str
        A file, ``-`` for the standard input, or the name of a data set.
    reading : dict, optional
        Arguments of :func:`askwhen.data.read`.
    options : RunOptions, optional
        What to play, and which files to write.
    observer : RunObserver, optional
        Receives messages, errors, progress and the results.
    """
    return _Run(file, reading or {}, options or RunOptions(), observer or RunObserver()).play()


class _Run:
    """One run: its sampler, its source, and what is needed to save and continue it."""

    def __init__(self, file: str, reading: dict[str, Any], options: RunOptions, observer: RunObserver) -> None:
        check_outputs(file, model=options.model, trace=options.trace, report=options.report)
        reading = without_columns(file, reading, options.advice)
        self.file, self.options, self.observer = file, options, observer
        self.resumed = None if options.resume is None else newest(options.resume)
        if self.resumed is None:
            note = notes.Note()
            self.sampler, self.source = begin(file, reading, options, observer.say)
        else:
            self.sampler, note = load(self.resumed), notes.read(self.resumed)
            if self.resumed != options.resume:
                observer.say(f"Going on from the checkpoint {self.resumed}, after {self.sampler.round:,} rows.")
            chosen = reading if options.chosen is None else options.chosen
            self.source = _same_source(file, reading, chosen, note, options.shuffle)
        set_target(self.source, self.sampler)
        if self.resumed is not None:
            notes.expect(self.source, note, self.sampler)
        self.source.announce(observer.say)
        self.advice = options.advice or known_columns(file, self.source.reading, note.advice, observer.say)
        self.baselines = RunBaselines(self.sampler, observer) if options.baselines else None
        resume = options.resume
        self.saved = options.model or (model_of(resume) if resume else free_name(self.source.name, ".askwhen"))
        self.begins, self.identity = self.sampler.round, self.source.identity
        self.skipped = self._skip(note)
        if resume is None and Path(checkpoint_of(self.saved)).exists():
            command = observer.resume_command(self.saved, None)
            observer.say(
                f"An earlier run left a checkpoint, {checkpoint_of(self.saved)}; to go on from it:\n  {command}"
            )

    def _advice_columns(self) -> AdviceColumns:
        """What advisers say, once it is known what the labels of the source are."""
        source = self.source
        return AdviceColumns(self.file, source.reading | source.found, self.advice, self.sampler, source.words)

    def _skip(self, note: notes.Note) -> int:
        """The number of rows to skip; a resumed sampler learns how many rows there are in all."""
        skip, sampler, source, say = self.options.skip, self.sampler, self.source, self.observer.say
        if self.options.resume is None:
            return skip or 0
        skipped = _played(source, note, sampler, say) if skip is None else skip
        rows = source.count()
        if rows is not None:
            sampler.engine.lengthen(self.begins + max(rows - skipped, 0))
        if skipped:
            say(f"Skipping the first {skipped:,} rows of {source.name}{', which were played before' * (skip is None)}.")
        return skipped

    def _files(self) -> RunFiles:
        """The files that the run leaves."""
        offset, say = 0 if self.file == "-" else self.skipped - self.begins, self.observer.say

        def note() -> str:
            return notes.written(self.source, self.identity, offset, self.advice)

        how = f"go on with\n  {self.observer.resume_command(self.saved, None)}"
        about = {"file": self.file, "command": self.options.command, "version": __version__}
        return RunFiles(
            self.sampler,
            self.saved,
            Checkpoints(self.sampler, self.saved, self.options.checkpoint, note, say, how),
            trace=self.options.trace,
            keep=self.options.report is not None,
            note=note,
            about={"sampler": parts_of(self.sampler)} | about,
        )

    def play(self) -> RunResult:
        """Play the stream to its end, or until it is interrupted, and write the files."""
        files = self._files()
        stopping, started = Stopping(self.observer.say), time.perf_counter()
        scoring = {"window": self.options.window, "everything": self.options.everything}
        try:
            with stopping.listening(), self.observer.progress(self.source.name, self.source.size()) as move:
                watch = RunProgress(self.sampler, move, started)
                read = _doubted(self.source, self.skipped, move, self.observer.say)
                chunks = stopping.pieces(_as_written(read, self.sampler))
                chunks = self._often_enough(chunks)
                chunks = chunks if self.baselines is None else self.baselines.holding(chunks)
                if self.advice:
                    chunks = beside(chunks, self._advice_columns, self.skipped, self.source.order)
                made = files.play(chunks, watch, **scoring)
            took, stopped = time.perf_counter() - started, stopping.stopped
            if self.baselines is not None and not stopped:
                with stopping.listening():
                    made = self.baselines.beside(made, stopping)
        except NothingLeftError as error:
            result = self._nothing_left(error, files)
        except BaseException as error:
            self._save_after(files)
            if isinstance(error, InputError) and stopping.stopped:
                raise KeyboardInterrupt from None
            with of_file(self.source.name, self.sampler.round - self.begins + self.skipped):
                raise
        else:
            result = self._finish(files, made, took, watch.rate, stopped)
        for wrong in result.errors:
            self.observer.failed(wrong)
        return result

    def _often_enough(self, chunks: Iterator[tuple[Any, ...]]) -> Iterator[tuple[Any, ...]]:
        """Chunks small enough for a curve of what is promised, where a report draws one."""
        draws, played = self.options.report is not None and isinstance(self.sampler.rule, PromiseRule), 0
        for chunk in chunks:
            at, n = 0, len(chunk[1])
            while at < n:
                size = rows_until_next(played) if draws else n
                yield tuple(part[at : at + size] for part in chunk)
                played, at = played + len(chunk[1][at : at + size]), at + size

    def _nothing_left(self, error: NothingLeftError, files: RunFiles) -> RunResult:
        """There was no row to play: fine only where a killed run had come to its end, and its sampler is saved now."""
        if self.resumed is None or self.resumed == self.options.resume or self.options.skip is not None:
            files.end(save=False, finished=False)
            raise error
        remark = f"{error.sentence} The run had come to its end: its sampler is in {self.saved} now."
        result = RunResult(self.sampler, None, self.saved, errors=files.end(save=True), remark=remark)
        self.observer.results(result)
        return result

    def _save_after(self, files: RunFiles) -> None:
        """Save what was played before an error."""
        played = self.sampler.round > self.begins
        errors = files.end(save=played, finished=False)
        for wrong in errors:
            self.observer.failed(wrong)
        if played and not errors:
            self.observer.say(f"Saved after {self.sampler.round:,} rows. {self._how_to_resume()}")

    def _finish(self, files: RunFiles, made: Progress, seconds: float, rate: float, stopped: bool) -> RunResult:
        """Report the results, then write the files."""
        options = self.options
        keeps = options.model is not None or stopped or self.resumed != options.resume  # a crash left a checkpoint
        model = self.saved if keeps else None
        result = RunResult(self.sampler, made, model, seconds, rate, stopped, words=self.source.words)
        self.observer.results(result)
        result.errors = files.end(save=keeps)
        if self.baselines is not None and self.baselines.interrupted is not None:
            result.errors.append(self.baselines.interrupted)
        if options.report is not None:
            try:
                self._write_report(options.report, made, files.trace())
            except AskwhenError as error:
                result.errors.append(error)
        if stopped and not result.errors:
            self.observer.say(f"Interrupted after {self.sampler.round:,} rows. {self._how_to_resume()}")
        return result

    def _how_to_resume(self) -> str:
        """A message with the command that continues this run."""
        rest = ", with the remaining lines" if self.file == "-" else ""
        elsewhere = self.skipped != self.begins and self.file != "-"
        skip = self.skipped + self.sampler.round - self.begins if elsewhere else None
        return f"To go on{rest}:\n  {self.observer.resume_command(self.saved, skip)}"

    def _write_report(self, path: str, made: Progress, trace: Trace) -> None:
        rate, labels, words = getattr(self.sampler.rule, "rate", None), self.options.labels, self.source.words
        write_run(
            path,
            made,
            trace,
            title=f"askwhen run: {Path(self.file).name}",
            facts={"Stream": self.file, **parts_of(self.sampler), "askwhen": __version__},
            command=self.options.command,
            budget=rate or (labels if labels is not None and labels <= 1.0 else None),
            words=("-1", "+1") if words is None else tuple(map(str, words)),
        )


def begin(file: str, reading: dict[str, Any], options: RunOptions, say: Say) -> tuple[Sampler, Source]:
    """A new sampler, which has learnt the seed labels, and its source."""
    target = "binary" if options.classes is None else "class"
    source = Source(file, reading, target, options.shuffle, options.seed)
    names = class_names("run", options.classes, reading)
    if options.within is not None and options.errors is None:
        raise ArgumentsError(f"{argument('within')} goes with {argument('errors')}.", owner="run")
    if names is not None and options.costs is not None:
        raise ArgumentsError(f"{argument('costs')} are for two labels.", owner="run")
    sampler = _new_sampler(source, options, names, say)
    if options.errors is not None:
        rule = promise_of(options.errors, options.labels, _rows(source, options) or None, options.within)
        sampler = Sampler(*sampler.parts._replace(rule=rule), seed=options.seed, classes=names)
    if options.advice:
        sampler = _advised(sampler, options, names)
    elif options.costs is not None:
        sampler = Sampler(*sampler.parts, seed=options.seed, costs=options.costs)
    if sampler.learner.regression:
        source.reading["target"] = "number"
    if options.seed_labels is not None:
        _learn_seeds(sampler, options.seed_labels, reading, source)
        say(f"Learnt {sampler.volunteered:,} labels of {Path(options.seed_labels).name}.")
    return sampler, source


def set_target(source: Source, sampler: Sampler) -> None:
    """Let a source give labels as its sampler takes them."""
    if sampler.learner.regression:
        source.reading["target"] = "number"
    elif sampler.engine.classes is not None:
        source.reading["target"] = "class"
        source.classes = None if sampler.engine.most else sampler.classes


def _played(source: Source, note: notes.Note, sampler: Sampler, say: Say) -> int:
    """The number of the first rows of a source that a resumed sampler has played: 0 if it has played another file."""
    if source.name == "standard input":
        return 0  # what comes now is what has not come before
    if source.is_known_as(note.source):
        return sampler.round + note.offset
    if note.source is None:
        why = "The saved sampler does not say which file it has played"
    else:
        why = "This is not the file that the saved sampler has played"
    say(f"{why}: all rows of {source.name} are played.")
    return 0


def _learn_seeds(sampler: Sampler, file: str, reading: dict[str, Any], source: Source) -> None:
    """Let a sampler learn all labels of a file, whose columns the source must then have."""
    seeds = Source(file, reading, target=source.reading["target"])
    seeds.expect(source.schema)
    with of_file(seeds.name, 0):
        X, y = seeds.load()
        sampler.learn(X, y)
    source.expect(seeds.schema, seeds.names, seeds.places)
    source.reading["positive"] = seeds.found.get("positive", source.reading.get("positive"))


def _same_source(
    file: str, reading: dict[str, Any], chosen: Collection[str], note: notes.Note, shuffle: bool
) -> Source:
    """The file, read as a resumed sampler has read it so far."""
    if shuffle and note.is_known and note.seed is None:
        raise ArgumentsError(
            f"{argument('shuffle')} goes with a new sampler; this one has taken its file as it is.", owner="run"
        )
    reading = notes.read_as(note, reading, chosen, file)
    return Source(file, reading, shuffle=shuffle or note.seed is not None, seed=note.seed)


def _doubted(source: Source, skipped: int, move: Move, say: Say) -> Iterator[tuple[Any, ...]]:
    """The chunks of a source; the user is warned once where many instances lack the positive label."""
    positive, n = source.reading.get("positive"), 0
    for chunk in source.chunks(skipped, move):
        n += len(chunk[1])
        if positive is not None and (chunk[1] > 0).any():
            positive = None
        elif positive is not None and n >= _DOUBTFUL:
            say(f"None of the first {n:,} instances has the label {positive!r}.")
            positive = None
        yield chunk


def _as_written(chunks: Iterator[tuple[Any, ...]], sampler: Sampler) -> Iterator[tuple[Any, ...]]:
    """Chunks whose -1 and +1 are the two labels that a resumed sampler has learnt in Python."""
    pair = sampler.engine.pair
    for X, y, *times in chunks:
        yield (X, y if pair.written is None else pair.decode(y), *times)


def unused_share(algorithm: str, hyperparameters: dict[str, Any]) -> float | None:
    """A share of labels for an algorithm whose rule a promise replaces, so that its scale need not be given."""
    return None if algorithm_of(algorithm).scale in hyperparameters else 0.1


def _rows(source: Source, options: RunOptions) -> int | None:
    """The number of rows that are played, where they can be counted."""
    found = source.count()
    return None if found is None else max(found - (options.skip or 0), 0)


def _new_sampler(source: Source, options: RunOptions, classes: Any, say: Say) -> Sampler:
    """A sampler that has played nothing; its budget is for the rows that there are, where they can be counted."""
    share, most = options.labels, None
    found = _rows(source, options)
    rows = None if found is None else max(found, 1)
    if options.errors is not None:
        share = unused_share(options.algorithm, options.hyperparameters)
    elif share is not None and share > 1.0:
        most = int(share)
        share = 0.1 if rows is None else share_of(share, rows)
        if rows is None:
            say(f"How many instances there are is not known: asking for one label in ten, until {most:,} are asked.")
    return algorithm_of(options.algorithm).build(
        options.hyperparameters,
        share=share,
        most=most,
        length=rows,
        prepare=None if options.raw else Prepare(),
        seed=options.seed,
        classes=classes,
    )


def _advised(sampler: Sampler, options: RunOptions, classes: Any) -> Sampler:
    """The same sampler with advisers."""
    names = [each.name for each in options.advice]
    how = {"seed": options.seed, "costs": options.costs, "classes": classes, "advisers": names}
    return Sampler(*sampler.parts, **how)


def parts_of(sampler: Any) -> dict[str, str]:
    """The parts of a sampler, as they are written in Python."""
    named = ("learner", "rule", "drift", "prepare", "audit")
    found = {name: getattr(sampler, name, None) for name in named}
    costs = getattr(sampler, "costs", None)
    paid = {} if costs is None else {"costs": f"false positive {costs[0]:g}, false negative {costs[1]:g}"}
    return {name: short(part) for name, part in found.items() if part is not None} | paid
