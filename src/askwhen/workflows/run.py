"""Run an algorithm over a labelled file, as ``askwhen run`` does: go on, stop and save, trace, report."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .. import __version__
from ..algorithms import algorithm as algorithm_of
from ..errors import ArgumentsError, AskwhenError, InputError, argument
from ..evaluate import Progress
from ..prepare import Prepare
from ..report import write_run
from ..sampler import Sampler
from ..trace.trace import Trace
from ..validation import short
from . import notes
from .checkpoints import checkpoint_of, model_of, newest
from .observer import Pace, Progresses, Say, silent, unseen
from .outputs import check_outputs, free_name
from .predict import load
from .run_files import RunFiles
from .source import NothingLeftError, Source, class_names, of_file, share_of
from .stopping import Stopping

_DOUBTFUL = 1000
"""After so many instances without a positive label, the person should know."""


def resumed_as(saved: str, skip: int | None) -> str:
    """How Python goes on from a saved sampler."""
    return f"run(..., resume={saved!r}{'' if skip is None else f', skip={skip}'})"


@dataclass
class Ran:
    """What came of a run.

    Attributes
    ----------
    sampler : Sampler
        As it is after the last round.
    progress : Progress or None
        How it went; None where a killed run had come to its end, and only its files were put right.
    model : str or None
        Where the sampler is saved, if it is.
    seconds, rate : float
        How long it took, and rounds per second without those in which steps were compiled.
    stopped : bool
        Whether somebody interrupted it.
    wrongs : list of AskwhenError
        What could not be written; known when the run has returned.
    remark : str
        Why there was nothing to play.
    words : list or None
        What -1 and +1 are in the file, where that is known.
    """

    sampler: Sampler
    progress: Progress | None
    model: str | None
    seconds: float = 0.0
    rate: float = 0.0
    stopped: bool = False
    wrongs: list[AskwhenError] = field(default_factory=list)
    remark: str = ""
    words: list[Any] | None = None


def run(
    file: str,
    reading: dict[str, Any] | None = None,
    *,
    algorithm: str = "default",
    letters: dict[str, Any] | None = None,
    labels: float | None = None,
    costs: tuple[float, float] | None = None,
    classes: Sequence[str] | None = None,
    seed: int = 0,
    raw: bool = False,
    shuffle: bool = False,
    everything: bool = False,
    window: int = 1000,
    trace: str | None = None,
    model: str | None = None,
    report: str | None = None,
    resume: str | None = None,
    seed_labels: str | None = None,
    skip: int | None = None,
    checkpoint: float | None = 60.0,
    said: Collection[str] | None = None,
    command: str = "",
    say: Say = silent,
    failed: Callable[[AskwhenError], None] = silent,
    progress: Progresses = unseen,
    results: Callable[[Ran], None] = silent,
    going_on: Callable[[str, int | None], str] = resumed_as,
) -> Ran:
    """Run an algorithm over a file in one pass and constant memory, and leave what is needed to go on.

    An interrupt ends the run after the piece that is being played, with the sampler saved; a second one ends it at
    once. Whatever else ends it, the sampler is saved too, and the error goes on to the caller.

    Parameters
    ----------
    file : str
        A file, ``-`` for the standard input, or the name of a data set.
    reading : dict, optional
        Arguments of :func:`askwhen.data.read`.
    algorithm, letters, labels, seed, raw
        For a new sampler: its name, its hyperparameters, how many labels it may ask for (a share, or a number above
        1), the seed of its coins, and whether instances are taken as they are, without scaling them.
    shuffle : bool
        Whether to take the instances in another order, which the seed decides.
    everything, window
        As for :func:`askwhen.evaluate.progressive`.
    trace, model, report : str, optional
        Files to write: what happened in every round, the sampler, and an HTML page.
    resume : str, optional
        A saved sampler to go on from; where a killed run left a newer checkpoint of it, from that.
    seed_labels : str, optional
        A file of instances whose labels are known already, with the same columns: a new sampler learns all of them
        before its first round.
    skip : int, optional
        How many rows to skip; by default those that a resumed sampler has played, if it has played this very file.
    checkpoint : float or None
        Seconds between two checkpoints, or None for none.
    said : names, optional
        Those of ``reading`` that somebody chose: a resumed sampler must have learnt with the same. By default all.
    command : str
        What the trace and the report say of how the run was started.
    say, failed : callable
        Are told sentences for the person who looks on, and errors that do not end the run.
    progress : callable
        Is given the name of the source and its size in bytes, and gives a context with a function that is told how much
        has been read, and a few facts by name.
    results : callable
        Is given what came of the run before any file is written, so that a full disk does not take it away.
    going_on : callable
        Given the file of a sampler, and how many instances to pass over, how to go on from it.
    """
    check_outputs(file, model=model, trace=trace, report=report)
    reading = reading or {}
    found = None if resume is None else newest(resume)
    if found is None:
        note = notes.Note()
        source = Source(file, reading, "binary" if classes is None else "class", shuffle, seed)
        names = class_names("run", classes)
        if names is not None and costs is not None:
            raise ArgumentsError(f"{argument('costs')} are for two labels.", owner="run")
        sampler = _fresh(source, algorithm, letters or {}, labels, seed, raw, say, names, skip or 0)
        if costs is not None:
            sampler = Sampler(*sampler.parts, seed=seed, costs=costs)
        if sampler.learner.regression:
            source.reading["target"] = "number"
        if seed_labels is not None:
            _learn_seeds(sampler, seed_labels, reading, source)
            say(f"Learnt {sampler.volunteered:,} labels of {Path(seed_labels).name}.")
    else:
        sampler, note = load(found), notes.read(found)
        if found != resume:
            say(f"Going on from the checkpoint {found}, after round {sampler.round:,}.")
        source = _same_source(file, reading, reading if said is None else said, note, shuffle)
    if sampler.learner.regression:
        source.reading["target"] = "number"
    elif sampler.engine.classes is not None:
        source.reading["target"] = "class"
        source.classes = None if sampler.engine.most else sampler.classes
    saved = model or (model_of(resume) if resume else free_name(source.name, ".askwhen"))
    begins, identity = sampler.round, source.identity
    passed = _played(source, note, sampler, say) if skip is None and resume is not None else skip or 0
    rows = source.count() if resume is not None else None
    if rows is not None:
        sampler.engine.lengthen(begins + max(rows - passed, 0))
    if resume is not None and passed:
        say(f"Skipping the first {passed:,} rows of {source.name}{', which were played before' * (skip is None)}.")
    if resume is None and Path(checkpoint_of(saved)).exists():
        say(f"An earlier run left a checkpoint, {checkpoint_of(saved)}; to go on from it:\n  {going_on(saved, None)}")

    def told_how() -> str:
        rest = ", with the remaining lines" if file == "-" else ""
        elsewhere = passed != begins and file != "-"
        return f"To go on{rest}:\n  {going_on(saved, passed + sampler.round - begins if elsewhere else None)}"

    files = RunFiles(
        sampler,
        saved,
        trace=trace,
        keep=report is not None,
        checkpoint=checkpoint,
        note=lambda: notes.written(source, identity, 0 if file == "-" else passed - begins),
        about={"sampler": parts_of(sampler), "file": file, "command": command, "version": __version__},
        say=say,
        going_on=f"go on with\n  {going_on(saved, None)}",
    )
    stopping, started = Stopping(say), time.perf_counter()
    try:
        with stopping.listening(), progress(source.name, source.size()) as move:
            watch = Pace(sampler, move, started)
            chunks = stopping.pieces(_doubted(source, passed, move, say))
            made = files.play(chunks, watch, window=window, everything=everything)
    except NothingLeftError as error:
        if found is None or found == resume or skip is not None:
            files.end(save=False, finished=False)
            raise
        remark = f"{error.sentence} The run had come to its end: its sampler is in {saved} now."
        ran = Ran(sampler, None, saved, wrongs=files.end(save=True), remark=remark)
        results(ran)
    except BaseException as error:
        wrongs = files.end(save=sampler.round > begins, finished=False)
        for wrong in wrongs:
            failed(wrong)
        if sampler.round > begins and not wrongs:
            say(f"Saved after round {sampler.round:,}. {told_how()}")
        if isinstance(error, InputError) and stopping.stopped:
            raise KeyboardInterrupt from None
        with of_file(source.name, sampler.round - begins + passed):
            raise
    else:
        kept = model is not None or stopping.stopped or found != resume  # what a crash has spared is not thrown away
        ran = Ran(sampler, made, saved if kept else None, time.perf_counter() - started, watch.rate, stopping.stopped)
        ran.words = source.words
        results(ran)
        ran.wrongs = files.end(save=kept)
        if report is not None:
            try:
                _write_report(report, file, sampler, made, files.trace(), labels, command, source.words)
            except AskwhenError as error:
                ran.wrongs.append(error)
        if ran.stopped and not ran.wrongs:
            say(f"Interrupted after round {sampler.round:,}. {told_how()}")
    for wrong in ran.wrongs:
        failed(wrong)
    return ran


def _played(source: Source, note: notes.Note, sampler: Sampler, say: Say) -> int:
    """How many of the first rows of a source a resumed sampler has played: those of the same file, and of no other."""
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
    with of_file(seeds.name, 0):
        X, y = seeds.load()
        sampler.learn(X, y)
    source.expect(seeds.names, seeds.places)


def _same_source(file: str, reading: dict[str, Any], said: Collection[str], note: notes.Note, shuffle: bool) -> Source:
    """The file as a resumed sampler has read it so far."""
    if shuffle and note.is_known and note.seed is None:
        raise ArgumentsError(
            f"{argument('shuffle')} goes with a new sampler; this one has taken its file as it is.", owner="run"
        )
    again = notes.read_as(note, reading, said, file)
    source = Source(file, again, shuffle=shuffle or note.seed is not None, seed=note.seed)
    source.expect(note.names, note.places)
    return source


def _doubted(source: Source, passed: int, move: Any, say: Say) -> Iterator[tuple[Any, ...]]:
    """The chunks of a source; where many instances have no positive label, that is said, once."""
    positive, n = source.reading.get("positive"), 0
    for chunk in source.chunks(passed, move):
        n += len(chunk[1])
        if positive is not None and (chunk[1] > 0).any():
            positive = None
        elif positive is not None and n >= _DOUBTFUL:
            say(f"None of the first {n:,} instances has the label {positive!r}.")
            positive = None
        yield chunk


def _fresh(
    source: Source,
    name: str,
    letters: dict[str, Any],
    labels: float | None,
    seed: int,
    raw: bool,
    say: Say,
    classes: Any,
    skip: int,
) -> Sampler:
    share, most, prepare = labels, None, None if raw else Prepare()
    found = source.count()
    rows = None if found is None else max(found - skip, 1)
    if labels is not None and labels > 1.0:
        most = int(labels)
        share = 0.1 if rows is None else share_of(labels, rows)
        if rows is None:
            say(f"How many instances there are is not known: asking for one label in ten, until {most:,} are asked.")
    return algorithm_of(name).build(
        letters, share=share, most=most, length=rows, prepare=prepare, seed=seed, classes=classes
    )


def parts_of(sampler: Any) -> dict[str, str]:
    """The parts of a sampler, as they are written in Python."""
    named = ("learner", "rule", "drift", "prepare", "audit")
    found = {name: getattr(sampler, name, None) for name in named}
    costs = getattr(sampler, "costs", None)
    paid = {} if costs is None else {"costs": f"false positive {costs[0]:g}, false negative {costs[1]:g}"}
    return {name: short(part) for name, part in found.items() if part is not None} | paid


def _write_report(
    path: str,
    file: str,
    sampler: Sampler,
    made: Progress,
    trace: Trace,
    labels: float | None,
    command: str,
    words: Any,
) -> None:
    rate = getattr(sampler.rule, "rate", None)
    write_run(
        path,
        made,
        trace,
        title=f"askwhen run: {Path(file).name}",
        facts={"Stream": file, **parts_of(sampler), "askwhen": __version__},
        command=command,
        budget=rate or (labels if labels is not None and labels <= 1.0 else None),
        words=("-1", "+1") if words is None else tuple(map(str, words)),
    )
